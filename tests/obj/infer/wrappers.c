/* Macros around probes that pass on, swap, cast, add, take members and sizes; shadowing; inlining. Built with systemtap's
 * header, and, for what is right, with the one that declares types. */
#define SDT_USE_VARIADIC
#include <sys/sdt.h>
struct inner { char tag[4]; int v; };
struct req { struct inner in; char *name; unsigned long len; int id; enum kind { RD, WR } kind; short pos[4]; struct req *next; };
static struct req pool[3];
int counter;
long now;
volatile int sink;
#define KEEP __attribute__((noinline))
#define TRACE_REQ(probe, req) DTRACE_PROBE1(mm, probe, (req)->name)
#define TRACE_LEN(probe, req) DTRACE_PROBE1(mm, probe, (req)->len)
#define TRACE_FN(probe, fd) DTRACE_PROBE1(mm, probe, lookup(fd))
#define TRACE_DELTA(probe, t0) DTRACE_PROBE1(mm, probe, now - (t0))
#define PR(n, x, y) DTRACE_PROBE2(mm, n, y, x)
#define PASS(n, x, y) DTRACE_PROBE2(mm, n, x, (y))
#define PASSV(n, ...) STAP_PROBEV(mm, n, ##__VA_ARGS__)
#define DEEP(n, x, y) PASS(n, x, y)
#define DEEPR(n, x, y) PR(n, x, y)
#define SIZEOF(n, x) DTRACE_PROBE1(mm, n, sizeof(*(x)))
#define CAST(n, x) DTRACE_PROBE1(mm, n, (long)(x))
#define FRONT(n, ...) STAP_PROBEV(mm, n, now, ##__VA_ARGS__)
#define PAIR(n, x, y) do { if (sink) DTRACE_PROBE1(mm, n##_a, x); DTRACE_PROBE1(mm, n, y); } while (0)
#define HIDE(n, x) DTRACE_PROBE1(mm, n, (struct hidden *)(x))
#define VALUE(n, x) DTRACE_PROBE2(mm, n, (unsigned long)(x), (char *)(x))
#define AFTER(r) r->next
#ifdef OTHER
#define FIELD(r) r->next
#define EITHER(n, x, y) DTRACE_PROBE2(mm, n, x, y)
#define PASSED(n, x, y) DTRACE_PROBE2(mm, n, x, y)
#else
#define FIELD(r) r->name
#define EITHER(n, x, y) DTRACE_PROBE2(mm, n, y, x)
#ifdef NOTHING
#define PASSED(n, x, y)
#else
#define PASSED(n, x, y) \
	do { \
		DTRACE_PROBE2(mm, n, x, y); \
	} while (0)
#endif
#endif
#define MM_START2__UP(r, n) DTRACE_PROBE2(mm, start2__up, n, r)
KEEP static long lookup(int fd) { return fd + sink; }
KEEP static void one(struct req *r, int n, unsigned char flag, const char *text, struct req *other)
{
	TRACE_REQ(req, r);
	TRACE_LEN(len, r);
	TRACE_FN(fn, n);
	TRACE_DELTA(delta, (long)n);
	PR(swapped, r, n);
	PR(swapped2, r, other);
	PR(swapped3, text, r);
	PASS(pass, r, n);
	PASS(pass2, r->name, n);
	PASSV(passv, r, text, flag);
	DEEP(deep, r, text);
	DEEPR(deepr, r, text);
	SIZEOF(size, r);
	SIZEOF(size2, text);
	CAST(cast, r);
	CAST(cast2, n);
	FRONT(front, r, n);
	FRONT(front0);
	PAIR(pair, r, n);
	MM_START2__UP(r, n);
	DTRACE_PROBE3(mm, direct, r, n, text);
	DTRACE_PROBE3(mm, members, r->id, r->kind, r->len);
	DTRACE_PROBE3(mm, nested, r->in.v, r->in.tag, &r->in);
	DTRACE_PROBE3(mm, index, r->pos[1], pool[n & 1].id, &pool[1]);
	DTRACE_PROBE2(mm, sum, n + 1, n * 2L);
	DTRACE_PROBE2(mm, tern, n ? r : other, n > 3);
	DTRACE_PROBE2(mm, globals, counter, &counter);
	DTRACE_PROBE2(mm, cast3, (struct inner *)r, (unsigned)flag);
	DTRACE_PROBE2(mm, deref, *text, r->next->id);
	DTRACE_PROBE1(mm, call, lookup(n));
	DTRACE_PROBE2(mm, consts, 5, sizeof(struct req));
	DTRACE_PROBE2(mm, strings, "x", "abc");
	HIDE(hide, r);
	VALUE(value, r);
	EITHER(either, r, text);
	PASSED(passed, other, FIELD(r));
	sink = (int)r->len + n + flag + *text + (int)other->len;
}
#undef AFTER
#define AFTER(r) r->name
#define current other
KEEP static void two(struct req *r, struct req *other, char *current_)
{
	PASS(after, AFTER(r), r);
	PASS(after2, AFTER(r)
	     /* (one */, current); // and (another
	sink += r->id + other->id + *current_;
}
#undef current
typedef struct { int x; } nameless;
KEEP static void word(nameless *this) { DTRACE_PROBE1(mm, word, this); sink += this->x; }
KEEP static void shadow(struct req *counter, int now)
{
	DTRACE_PROBE2(mm, shadow, counter, now);
	{
		char *counter = pool[sink & 1].name;
		DTRACE_PROBE2(mm, shadow2, counter, now);
		sink += counter != 0;
	}
	for (short now = 0; now < 2; now++)
		DTRACE_PROBE2(mm, shadow3, counter, now);
	sink += counter->id + now;
}
static inline __attribute__((always_inline)) void inl(struct req *p, unsigned n)
{
	DTRACE_PROBE2(mm, inlined, p, n);
	DTRACE_PROBE2(mm, inlined2, p->next, n + 1);
}
KEEP static void caller(struct req *r, struct req *p, int n) { inl(r, (unsigned)n); inl(p, 7); sink += r->id + p->id; }
int main(int argc, char **argv)
{
	struct req r = {{"abc", argc}, argv[0], (unsigned long)argc, argc, argc > 1 ? RD : WR, {1}, pool};
	one(&r, argc, (unsigned char)argc, argv[0], pool);
	two(&r, pool, argv[0]);
	word(&(nameless){argc});
	shadow(&r, argc);
	caller(&r, pool, argc);
	return 0;
}
