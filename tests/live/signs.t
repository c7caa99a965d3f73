#!/usr/bin/env bash
# Division, remainder and right shift of numbers that may be below 0 are what C makes of them, whatever they come from.
. "$(dirname "$0")/../lib.sh"
. "$top/tests/live.sh"
can_trace || skip_all "needs root and bpftrace"

cat >"$tmp/s.c" <<'E2'
#include <btgen/usdt.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>
struct nums { int8_t i8; int16_t i16; int32_t i32; int64_t i64; int bits : 9; struct nums *self; int32_t arr[2]; };
static const int64_t values[] = {0, 1, -1, 7, -7, 8, -8, 127, -128, 255, -256, 999, -700, 32767, -32768, -65536, INT32_MAX, INT32_MIN,
	1000003, -1000003, -4294967297, INT64_MAX, INT64_MIN, INT64_MIN + 1};
static volatile int shown;
#define SHOW(what, v) (what), (long)(v), (long)((v) / 7), (long)((v) % 3), (long)((v) / 1000 * 3 % 10), (long)((v) >> 1), (long)((v) >> 3 >> 2)
#define LINE(what, v) printf("%s %ld: %ld %ld %ld %ld %ld\n", SHOW(what, v))
int main(void)
{
	static struct nums n;
	char c;
	n.self = &n;
	for (unsigned pass = 0; pass < 2; pass++) {
		for (unsigned i = 0; i < sizeof(values) / sizeof(*values); i++) {
			long v = values[i];
			struct nums *p = &n;
			n.i8 = (int8_t)v, n.i16 = (int16_t)v, n.i32 = (int32_t)v, n.i64 = v, n.bits = (int)v, n.arr[1] = (int)v;
			if (pass) {
				USDT_PROBE(signs, nums, p, USDT_ARG((int8_t)v, "a8"), USDT_ARG((int16_t)v, "a16"), USDT_ARG((int32_t)v, "a32"),
					   USDT_ARG(v, "a64"));
				continue;
			}
			int odd = n.i8 | 1;	// what comes of / 0 differs between versions
			LINE("i8", n.i8), LINE("i16", n.i16), LINE("i32", n.i32), LINE("i64", n.i64), LINE("bits", n.bits), LINE("element", n.arr[1]);
			printf("assigned %d %d %d\n", (int32_t)v / -3, (int32_t)v % 1000, (int32_t)v >> 4);
			printf("signs %d%d%d%d\n", (int32_t)v / 7 < 0, (v >> 1) < 0, (int32_t)v % 10 < 0, -(long)(int32_t)v / 3 > 0);
			printf("both %ld %ld\n", odd == -1 ? -v : v / odd, odd == -1 ? 0 : v % odd);
			if ((int32_t)v / 1000 == -1000)
				printf("predicate %d\n", (int32_t)v);
			LINE("a8", (int8_t)v), LINE("a16", (int16_t)v), LINE("a32", (int32_t)v), LINE("a64", v);
		}
		fflush(stdout);
		while (pass == 0 && read(0, &c, 1) == 1 && c != 'x')
			;
	}
	return 0;
}
E2
gcc -O1 -g -fwrapv -I"$top/include" -o "$tmp/s" "$tmp/s.c" || exit 1

# line NAME EXPRESSION: a printf of what is done with it
line() { printf '\tprintf("%s %%ld: %%ld %%ld %%ld %%ld %%ld\\n", %s, %s / 7, %s %% 3, %s / 1000 * 3 %% 10, %s >> 1, %s >> 3 >> 2);\n' "$1" "$2" "$2" "$2" "$2" "$2" "$2"; }
probe() { echo 'usdt:__EXE__:nums {'; }

# traced SCRIPT: with all values; what was printed of NAME is what the program says
traced() {
	live_start "$tmp/s"
	live_trace "$live_pid" "$1" || return 1
	live_say x
	exec 8>&-
	live_wait
}
same() { is "$(grep -sE "^($1) " "$tmp/trace" | sort)" "$(grep -E "^($1) " "$tmp/answers" | sort)" "$2"; }

{
	probe
	for a in a8 a16 a32 a64; do line $a args.$a; done
	echo '}'
	for m in i8 i16 i32 i64 bits; do probe && line $m "args.p->$m" && echo '}'; done
	# 0.17 has room for few of these in one clause
	probe && echo '	$i = 1;' && line element 'args.p->arr[$i]' && echo '}'
} >"$tmp/args.bt"
ok "arguments and members: the program is accepted and attached" traced "$tmp/args.bt"
same 'a8|a16|a32|a64' "arguments of each width"
same 'i8|i16|i32|i64|bits|element' "members, a bit-field, an element behind a variable index"

for reach in '@m[tid]' '@m[tid]->self' '$p' '$p->self'; do
	{
		probe
		echo '	$p = args.p; @m[tid] = args.p;'
		line i32 "$reach->i32"
		line i64 "$reach->i64"
		echo '}'
		echo 'END { clear(@m); }'
	} >"$tmp/reach.bt"
	ok "reached by $reach: the program is accepted and attached" traced "$tmp/reach.bt"
	same 'i32|i64' "members reached by $reach"
done

# What a variable or a map holds has the sign of what it was given, in the clauses above, too.
{
	for m in i8 i32 i64; do probe && line $m "@late_${m}[tid]" && echo '}'; done
	for a in a8 a16 a32 a64; do probe && echo "	\$x = args.$a;" && line $a '$x' && echo '}'; done
	for m in i8 i32 i64; do probe && echo "	@late_${m}[tid] = args.p->$m; }"; done
	probe && echo '	$p = args.p; $b = $p->bits; $y = $b;' && line bits '$y' && echo '}'
	echo 'END { clear(@late_i8); clear(@late_i32); clear(@late_i64); }'
} >"$tmp/kept.bt"
ok "kept in variables and maps: the program is accepted and attached" traced "$tmp/kept.bt"
same 'a8|a16|a32|a64|bits' "variables"
for m in i8 i32 i64; do # those of the event before
	is "$(grep -s "^$m " "$tmp/trace" | tail -n +2)" "$(grep "^$m " "$tmp/answers" | head -n -1)" "a map that a later clause fills: $m"
done

{
	probe && line a16 '(args.a16 + 5 - 5)' && echo '}'
	probe && line a32 '(int32)arg3' && echo '}'
	probe && line a64 '(int64)((uint64)arg4)' && echo '}'
	probe && echo '	$p = args.p; $i = 1;' && line element '$p->arr[$i / 1 + 0]' && echo '}'
	probe && echo '	$d = args.a32; $d /= -3; $r = args.a32; $r %= 1000; $s = args.a32; $s >>= 4;'
	echo '	printf("assigned %ld %ld %ld\n", $d, $r, $s); }'
	probe && echo '	printf("signs %d%d%d%d\n", args.a32 / 7 < 0, (args.a64 >> 1) < 0, args.a32 % 10 < 0, -args.a32 / 3 > 0); }'
	probe && echo '	printf("both %ld %ld\n", args.a64 / (args.p->i8 | 1), args.a64 % (args.p->i8 | 1)); }'
	echo 'usdt:__EXE__:nums /args.a32 / 1000 == -1000/ { printf("predicate %d\n", args.a32); }'
} >"$tmp/nested.bt"
ok "expressions: the program is accepted and attached" traced "$tmp/nested.bt"
same 'a16|a32|a64|element' "sums, casts and indices"
same assigned "/=, %= and >>="
same signs "what comes out has a sign"
same both "by a number that may be below 0"
same predicate "a predicate"
done_testing
