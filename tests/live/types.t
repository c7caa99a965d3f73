#!/usr/bin/env bash
# Members of every kind, read by bpftrace through the definitions that btgen types writes, are what the program set.
. "$(dirname "$0")/../lib.sh"
. "$top/tests/live.sh"
bpftrace=${BTGEN_BPFTRACE:-bpftrace}
# bpftrace 0.24 and newer need tracefs: run.sh starts tests by way of tracefs.sh where it is not mounted.

# The program prints what bpftrace must print, member by member.
cat >"$tmp/t.c" <<'END'
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
enum st { ST_NEG = -3, ST_B = 7 };
enum __attribute__((packed)) tiny { TINY = 200 };
struct in { char a; int b; };
typedef struct { short q; long r; } anon_t;
struct item {
	signed char sc; unsigned char uc; short sh; unsigned short us; int i; unsigned u; long l; unsigned long ul; bool ok;
	enum st st; enum tiny tiny; struct in in; struct in ins[3];
	struct { int x; union { int y; float z; } u; } named;
	struct { int y2; struct { char deep; } d; } other[2];
	union { int l1; char l2[8]; };
	unsigned b1 : 3, b2 : 6; unsigned long b3 : 40; unsigned b4 : 1; unsigned short b5 : 11;
	anon_t an; anon_t *anp; struct item *next; struct in *arr[4]; char name[224]; int nums[5]; void (*fn)(int);
	const char *text; int unroll, int32, linux_word; long after;
} __attribute__((aligned(32)));
struct __attribute__((packed)) pk { char a; long b; unsigned short c : 9; int d; };
static void fn(int x) { (void)x; }
__attribute__((noinline)) void here(struct item *it, struct pk *pk) { __asm__ volatile("" ::"r"(it), "r"(pk) : "memory"); }
int main(void)
{
	static struct in in = {'q', 4242};
	static anon_t an = {-5, 1L << 40};
	static struct item next = {.i = 99, .l = -1, .ins = {{0}, {0}, {'z', -77}}};
	static struct item it = {.sc = -100, .uc = 200, .sh = -30000, .us = 60000, .i = -2000000000, .u = 4000000000u, .l = -4611686018427387904L, .ul = 18446744073709551615ul,
		.ok = true, .st = ST_NEG, .tiny = TINY, .in = {'a', -8}, .ins = {{'b', 1}, {'c', 2}, {'d', 3}}, .named = {11, {.y = 12}}, .other = {{1, {'x'}}, {2, {'y'}}}, .l1 = 0x41424344,
		.b1 = 5, .b2 = 33, .b3 = 0x8000000001ul, .b4 = 1, .b5 = 2047, .an = {-7, 70}, .anp = &an, .next = &next, .arr = {0, &in}, .nums = {1, 2, 3, 4, 55}, .fn = fn,
		.text = "some text", .unroll = 21, .int32 = 22, .linux_word = 23, .after = 24};
	static struct pk pk = {'p', -9000000000L, 511, -6};
	memset(it.name, 'n', 63);
	setvbuf(stdout, NULL, _IONBF, 0);
	printf("%d %d %d %d %d %u %ld %lu %d|", it.sc, it.uc, it.sh, it.us, it.i, it.u, it.l, it.ul, it.ok);
	printf("%d %d %d %d %d %d|", it.st, it.tiny, it.in.a, it.in.b, it.ins[2].a, it.ins[1].b);
	printf("%d %d %d %d %d|", it.named.x, it.named.u.y, it.other[1].y2, it.other[1].d.deep, it.l1);
	printf("%d %d %ld %d %d|", it.b1, it.b2, (long)it.b3, it.b4, it.b5);
	printf("%d %ld %d %ld %d %ld %d %d|", it.an.q, it.an.r, it.anp->q, it.anp->r, it.next->i, it.next->l, it.next->ins[2].b, it.arr[1]->b);
	printf("%s %d %d %s %d %d %d %ld|", it.name, it.nums[4], it.fn == fn, it.text, it.unroll, it.int32, it.linux_word, it.after);
	printf("%d %ld %d %d\n", pk.a, pk.b, pk.c, pk.d);
	here(&it, &pk);
	return 0;
}
END
gcc -g -O1 -o "$tmp/t" "$tmp/t.c" || exit 1
# bpftrace 0.17 reads the DWARF of a uprobe's binary itself, and aborts on anonymous members: it gets one without.
strip --strip-debug -o "$tmp/run" "$tmp/t"
"$btgen" types -x "$tmp/t" --bpftrace --follow 1 item pk >"$tmp/t.bt" || exit 1
cat >>"$tmp/t.bt" <<END
uprobe:$tmp/run:here
{
	\$p = (struct item *)arg0; \$k = (struct pk *)arg1;
	printf("%d %d %d %d %d %u %ld %lu %d|", \$p->sc, \$p->uc, \$p->sh, \$p->us, \$p->i, \$p->u, \$p->l, \$p->ul, \$p->ok);
	printf("%d %d %d %d %d %d|", \$p->st, \$p->tiny, \$p->in.a, \$p->in.b, \$p->ins[2].a, \$p->ins[1].b);
	printf("%d %d %d %d %d|", \$p->named.x, \$p->named.u.y, \$p->other[1].y2, \$p->other[1].d.deep, \$p->l1);
	printf("%d %d %ld %d %d|", \$p->b1, \$p->b2, \$p->b3, \$p->b4, \$p->b5);
	printf("%d %ld %d %ld %d %ld %d %d|", \$p->an.q, \$p->an.r, \$p->anp->q, \$p->anp->r, \$p->next->i, \$p->next->l, \$p->next->ins[2].b, \$p->arr[1]->b);
	printf("%s %d %d ", \$p->name, \$p->nums[4], \$p->fn != 0);
	printf("%s %d %d %d %ld|", str(\$p->text), \$p->unroll_, \$p->int32_, \$p->linux_word, \$p->after);
	printf("%d %ld %d %d\n", \$k->a, \$k->b, \$k->c, \$k->d);
	exit();
}
END
got=$(BPFTRACE_STR_TRUNC_TRAILER='' guard "$bpftrace" -c "$tmp/run" "$tmp/t.bt" 2>"$tmp/err" | grep -a '|')
want=$("$tmp/t")
split() { printf '%s\n' "$1" | tail -n 1 | tr '|' '\n'; }
# The program's own line comes first, bpftrace's last.
is "$(split "$got")" "$(split "$want")" "every kind of member has the program's value"
[ -n "$got" ] || sed 's/^/#   /' "$tmp/err"

# Two source files with types of their own under the same names: each clause reads what its probe's file has.
cat >"$tmp/u1.c" <<'END'
#include <btgen/usdt.h>
#include <stdio.h>
enum color { RED = 1, BLUE = 5 };
struct odd { int a; long b; };
void one(void) { static struct odd o = {-41, 4100000000}; enum color c = RED; USDT_PROBE(t, one, &o, c); printf("one %d %ld %d %d %zu", o.a, o.b, c == RED, BLUE, sizeof(o)); puts(" RED"); }
END
cat >"$tmp/u2.c" <<'END'
#include <btgen/usdt.h>
#include <stdio.h>
enum color { BLUE = 6, RED = 2 };
struct odd { char b; short a; };
void one(void);
void two(void) { static struct odd o = {'x', -42}; enum color c = RED; USDT_PROBE(t, two, &o, c); printf("two %d %d %d %d %zu", o.a, o.b, c == RED, BLUE, sizeof(o)); puts(" RED"); }
int main(void) { getchar(); one(); two(); return 0; }
END
gcc -g -O1 -I "$top/include" -o "$tmp/two" "$tmp/u1.c" "$tmp/u2.c" || exit 1
live_start "$tmp/two"
ok "types of two source files under one name: the program is accepted and attached" live_trace "$live_pid" -e '
usdt:__EXE__:one { $o = (struct odd *)arg0; printf("one %d %ld %d %d %d %s\n", $o->a, $o->b, arg1 == RED, BLUE, sizeof(struct odd), enum_name(color, arg1)); }
usdt:__EXE__:two { $o = (struct odd *)arg0; printf("two %d %d %d %d %d ", $o->a, $o->b, arg1 == RED, BLUE, sizeof(struct odd)); printf("%s\n", @other[arg1]); }
#pragma enum other color'
printf x >&8
exec 8>&-
live_wait
is "$(grep -E '^(one|two)' "$tmp/trace")" "$(cat "$tmp/answers")" "each clause has the values and names of its own file"
unlike "$(cat "$tmp/messages")" 'warning' "... without a warning"

# A function with types of its own under names that its file has, too, one that is inlined with more, and probes beside them.
cat >"$tmp/inner.c" <<'END'
#include <btgen/usdt.h>
#include <stdio.h>
enum mode { FIRST = 1, NOPE = 5, LAST = 7 };
struct box { int a; int b; } file_box = {-3, 2};
__attribute__((noinline)) void inner(int i)
{
	struct box { char pad[12]; int a; } x = {"inner", -700 - i};
	enum mode { ON = 5, OFF = 6 } m = i ? ON : OFF;
	USDT_PROBE(t, inner, &x, m);
	printf("inner %d %zu %d %d ON\n", x.a, sizeof(struct box), m == ON, ON);
	__asm__ volatile("" ::"r"(&x), "r"(m) : "memory");
}
static inline __attribute__((always_inline)) void inlined(int i)
{
	enum mode m = NOPE;
	{
		struct box { char pad[20]; int a; } x = {"deep", -800 - i};
		enum mode { ON = 7 } m = ON;
		USDT_PROBE(t, deep, &x, m);
		printf("deep %d %zu %d %d ON\n", x.a, sizeof(struct box), m == ON, ON);
		__asm__ volatile("" ::"r"(&x), "r"(m) : "memory");
	}
	USDT_PROBE(t, beside, &file_box, m);
	printf("beside %d %zu %d %d NOPE\n", file_box.a, sizeof(struct box), m == NOPE, NOPE);
}
int main(void) { getchar(); inner(1); inlined(2); return 0; }
END
if [ "$(gcc -dumpversion | cut -d. -f1)" -gt 12 ]; then
	skip "types that functions have to themselves" "this gcc does not record their blocks"
	done_testing
	exit
fi
gcc -g -O2 -w -I "$top/include" -o "$tmp/inner" "$tmp/inner.c" || exit 1
live_start "$tmp/inner"
script=
for probe in inner deep beside; do
	on=ON
	[ $probe != beside ] || on=NOPE
	script+="usdt:__EXE__:$probe { \$o = (struct box *)arg0; printf(\"$probe %d %d %d %d %s\\n\", \$o->a, sizeof(struct box), arg1 == $on, $on, enum_name(mode, arg1)); }
"
done
ok "types that functions have to themselves: the program is accepted and attached" live_trace "$live_pid" -e "$script"
printf x >&8
exec 8>&-
live_wait
is "$(grep -E '^(inner|deep|beside)' "$tmp/trace")" "$(cat "$tmp/answers")" \
	"each clause has the struct, the values and the names that its probe's block has"
unlike "$(cat "$tmp/messages")" 'warning' "... without a warning"
done_testing
