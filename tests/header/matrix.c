/*
 * Every kind of argument, in C and in C++. Each probe that a tracer is run on is printed too, with its name first: the
 * tracer's lines must be these. tests/header/matrix.t has the types.
 */
#include <btgen/usdt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum color { RED, GREEN = 70000 };
enum sign { MINUS = -1, PLUS = 1 };
typedef int (*handler_t)(int);
typedef struct item item_t;
struct item {
	char name[16];
	const char *label;
	item_t *next;
	enum color color;
	unsigned flags : 3;
	int delta : 5;
	uint64_t wide : 40;
	uint16_t port;
};

int global_count = 7;
static long numbers[4] = { 10, -20, 30, -40 };
static int evaluated;

static int costly(int x)
{
	evaluated++;
	return x + 1;
}

static int handle(int x)
{
	return x;
}

static inline __attribute__((always_inline)) void inlined(const struct item *it, int n)
{
	USDT_PROBE(m, inlined, it->label, n);
	printf("inlined %s %d\n", it->label, n);
}

static __attribute__((noinline)) void integers(int i)
{
	signed char sc = (signed char)(-5 - i);
	unsigned char uc = (unsigned char)(250 + i);
	short s = (short)(-300 - i);
	unsigned short us = (unsigned short)(65000 + i);
	unsigned u = 4000000000U + (unsigned)i;
	long l = -5000000000L - i;
	unsigned long ul = ~0UL - (unsigned long)i;
	long long ll = -7;
	unsigned long long ull = 8;
	char c = 'x';
	bool b = i != 0;

	USDT_PROBE(m, integers, sc, uc, s, us, i, u, l, ul, ll, ull, c, b);
	printf("integers %d %d %d %d %d %u\n", sc, uc, s, us, i, u);
	printf("beyond.integers %ld %lu %lld %llu %c %d\n", l, ul, ll, ull, c, b);
	USDT_PROBE(m, longs, l, ul, b, c);
	printf("longs %ld %lu %d %c\n", l, ul, b, c);
}

static __attribute__((noinline)) void fixed(int64_t i64, uint32_t u32, int8_t i8, uint16_t u16, size_t sz, const int ci,
					    volatile unsigned *vp)
{
	USDT_PROBE(m, fixed, i64, u32, i8, u16, sz, ci, *vp);
	printf("fixed %ld %u %d %u %zu %d\n", (long)i64, u32, i8, u16, sz, ci);
	printf("beyond.fixed %u\n", *vp);
}

static __attribute__((noinline)) void pointers(struct item *it, const struct item *cit, void *ptr, handler_t fn, int i)
{
	USDT_PROBE(m, pointers, it->name, it->label, cit->next, fn, handle, ptr);
	printf("pointers %s %s %lx %lx %lx %lx\n", it->name, it->label, (unsigned long)(uintptr_t)cit->next,
	       (unsigned long)(uintptr_t)fn, (unsigned long)(uintptr_t)handle, (unsigned long)(uintptr_t)ptr);
	USDT_PROBE(m, places, global_count, numbers[i], numbers[3], 42, -1L, &it->port, it->port);
	printf("places %d %ld %ld 42 -1 %lx\n", global_count, numbers[i], numbers[3], (unsigned long)(uintptr_t)&it->port);
	printf("beyond.places %d\n", it->port);
	USDT_PROBE(m, bits, it->flags, it->delta, it->wide);
	printf("bits %d %d %lu\n", it->flags, it->delta, (unsigned long)it->wide);
	USDT_PROBE(m, enums, it->color, (enum sign)(i - 2), GREEN);
	printf("enums %d %d %d\n", (int)it->color, i - 2, (int)GREEN);
}

static __attribute__((noinline)) void counts(int a, float f, double d)
{
	USDT_PROBE(m, n0);
	puts("n0");
	USDT_PROBE(m, n1, a);
	USDT_PROBE(m, n2, a, a);
	USDT_PROBE(m, n3, a, a, a);
	USDT_PROBE(m, n4, a, a, a, a);
	USDT_PROBE(m, n5, a, a, a, a, a);
	USDT_PROBE(m, n6, a, a, a, a, a, a);
	USDT_PROBE(m, n7, a, a, a, a, a, a, a);
	USDT_PROBE(m, n8, a, a, a, a, a, a, a, a);
	USDT_PROBE(m, n9, a, a, a, a, a, a, a, a, a);
	USDT_PROBE(m, n10, a, a, a, a, a, a, a, a, a, a);
	USDT_PROBE(m, n11, a, a, a, a, a, a, a, a, a, a, a);
	USDT_PROBE(m, n12, a, a + 1, a + 2, a + 3, a + 4, a + 5, a + 6, a + 7, a + 8, a + 9, a + 10, a + 11);
	for (int n = 1; n < 12; n++)
		printf("n%d %d %d\n", n, a, a);
	printf("n12 %d %d\n", a, a + 5);
	printf("beyond.n12 %d %d\n", a + 6, a + 11);
	USDT_PROBE(m, floats, USDT_BITS(f), USDT_BITS(d));
	printf("floats %x %lx\n", USDT_BITS(f), (unsigned long)USDT_BITS(d));
	USDT_PROBE(m, named, USDT_ARG(a % 3, "rest", "what is left", "items"), USDT_ARG(-a, "minus"));
	printf("named %d %d\n", a % 3, -a);
	USDT_PROBE_LAZY(m, lazy, costly(a));
}

#ifdef __cplusplus
enum class shade : unsigned char { LIGHT, DARK = 200 };

template <class T> static T generic(T v)
{
	USDT_PROBE(m, generic, v, sizeof(T));
	printf("generic %lx %d\n", (unsigned long)v, (int)sizeof(T));
	return v;
}

namespace outer
{
struct thing {
	int id;
	int method(const shade &s) const
	{
		USDT_PROBE(m, method, this, id, s);
		printf("method %d %d\n", id, (int)s);
		return id;
	}
};
}

static __attribute__((noinline)) void classes(struct item *it, int i)
{
	generic(it);
	generic(i);
	generic((short)i);
	generic((unsigned long)i);
	outer::thing t = { i };
	t.method(shade::DARK);
	auto l = [&](int k) {
		USDT_PROBE(m, lambda, k, it->color, &t);
		printf("lambda %d %d\n", k, (int)it->color);
	};
	l(i + 1);
	l(i + 2);
}
#endif

int run(int argc)
{
	static struct item next, it;
	volatile unsigned v = 9;

	snprintf(it.name, sizeof(it.name), "first");
	snprintf(next.name, sizeof(next.name), "second");
	it.label = next.name;
	it.next = &next;
	it.color = GREEN;
	it.flags = 6;
	it.delta = -3;
	it.wide = 0xabcdef0123ULL;
	it.port = 4420;

	integers(argc);
	fixed(-1 - argc, 4000000000U, -100, 50000, 12345, -6, &v);
	pointers(&it, &it, numbers, handle, argc);
	counts(argc + 100, 1.5f, -2.25);
	inlined(&it, argc);
	for (int i = 0; i < 2; i++)
		inlined(&it, i * 10);
#ifdef __cplusplus
	classes(&it, argc);
#endif
	fprintf(stderr, "evaluated %d\n", evaluated);
	return 0;
}

#ifndef NO_MAIN
int main(int argc, char **argv)
{
	(void)argv;
	return run(argc);
}
#endif
