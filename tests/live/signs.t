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
			LINE("i8", n.i8), LINE("i16", n.i16), LINE("i32", n.i32), LINE("i64", n.i64), LINE("bits", n.bits), LINE("element", n.arr[1]);
			LINE("a8", (int8_t)v), LINE("a16", (int16_t)v), LINE("a32", (int32_t)v), LINE("a64", v);
		}
		fflush(stdout);
		while (pass == 0 && read(0, &c, 1) == 1 && c != 'x')
			;
	}
	return 0;
}
E2
gcc -O1 -g -I"$top/include" -o "$tmp/s" "$tmp/s.c" || exit 1

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
same() { is "$(grep -E "^($1) " "$tmp/trace")" "$(grep -E "^($1) " "$tmp/answers")" "$2"; }

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
done_testing
