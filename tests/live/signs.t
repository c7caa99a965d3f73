#!/usr/bin/env bash
# Division, remainder and right shift of numbers that may be below 0 are what C makes of them, whatever they come from.
. "$(dirname "$0")/../lib.sh"
. "$top/tests/live.sh"

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
				printf("predicate %d\nblock %d\n", (int32_t)v, (int32_t)v);
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

members='i8 i16 i32 i64 bits' element=element
# 0.20 and 0.21 do not load a clause that reads one argument in so much arithmetic: LLVM computes an address in what the kernel lets read
# at fixed places only
case $("$bpftrace" --version) in *v0.20.* | *v0.21.*) members=i8 element='' ;; esac
{
	probe
	for a in a8 a16 a32 a64; do line $a args.$a; done
	echo '}'
	for m in $members; do probe && line $m "args.p->$m" && echo '}'; done
	# 0.17 has room for few of these in one clause
	[ -z "$element" ] || { probe && echo '	$i = 1;' && line element 'args.p->arr[$i]' && echo '}'; }
} >"$tmp/args.bt"
ok "arguments and members: the program is accepted and attached" traced "$tmp/args.bt"
same 'a8|a16|a32|a64' "arguments of each width"
same "${members// /|}|${element:-i8}" "members, a bit-field, an element behind a variable index"

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
	probe && echo '	if (args.a32 / 1000 == -1000) { printf("block %d\n", args.a32); } ++@steps; if (args.a16 == 0) { @steps = 0; } --@steps; }'
	echo 'END { clear(@steps); }'
} >"$tmp/nested.bt"
ok "expressions: the program is accepted and attached" traced "$tmp/nested.bt"
same 'a16|a32|a64|element' "sums, casts and indices"
same assigned "/=, %= and >>="
same signs "what comes out has a sign"
same both "by a number that may be below 0"
same predicate "a predicate"
same block "a condition before ++ and --"

# What has a sign meets what has none: bpftrace up to 0.23 would make unsigned numbers of both.
cat >"$tmp/m.c" <<'E2'
#include <btgen/usdt.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>
struct leaf { int v; short w; };
struct mix { int8_t i8; uint8_t u8; int16_t i16; uint16_t u16; int32_t i32; uint32_t u32; int64_t i64; uint64_t u64;
	int *ip; struct leaf its[3]; int rows[2][3]; signed char bytes[4]; struct mix *self; };
static int two[2] = {-77, -78};
static struct mix m = {-1, 255, -300, 65000, -7, 4000000000u, -5000000000, 0xffffffffffffff00, two, {{1, 1}, {2, 2}, {-500, -6}},
	{{1, 2, 3}, {4, 5, -11}}, {-1, -2, -3, -5}, &m};
int main(void)
{
	struct mix *p = &m;
	int down = -4;
	unsigned up = 4;
	long far = -6000000000;
	unsigned long top = (unsigned long)getpid();
	char c;
	while (read(0, &c, 1) == 1 && c != 'x')
		;
	for (int i = 0; i < 3; i++)
		USDT_PROBE(signs, mix, p, USDT_ARG(m.i8, "i8"), USDT_ARG(m.u8, "u8"), USDT_ARG(m.i64, "i64"), USDT_ARG(m.u64, "u64"));
	USDT_PROBE(signs, sites, down);
	USDT_PROBE(signs, sites, up);
	USDT_PROBE(signs, sites, far);
	USDT_PROBE(signs, sites, 0);
	USDT_PROBE(signs, torn, far);
	USDT_PROBE(signs, torn, top);
	for (int i = 0; i < 3; i++) {
		printf("less %d%d%d%d%d%d\n", m.i8 < m.u8, m.i16 >= m.u16, (int64_t)m.i32 < (int64_t)m.u32, m.i64 < m.u64, m.u64 > m.i64, m.u8 > m.i8 - 1);
		printf("sum %ld %ld %d\n", (long)(m.i8 + m.u8), (long)(m.u8 * m.i16), m.i16 + m.u8 < 0);
		printf("fall %d\n", 1);
		printf("either %ld %ld\n", (long)m.u32 ^ m.i8, (long)m.u32 * m.i16);
		printf("minus %d %ld %d %d %d %d\n", m.u8 - m.u16, m.u8 - (long)m.u32, (m.u8 - m.u16) / 2, (m.u8 - m.u16) / 2, m.u8 - m.u16 < 0, (3 - 10) / 2);
		printf("truth %d %d %d %d %d %d %d\n", (m.i8 < 0) + 1, 1 - (m.i8 == -1), (m.i8 < m.u8) * 7, m.i8 < 0 && m.i16 < 0, 1, -(m.i8 < 0), m.i8 != -1);
		printf("large %d%d%d %ld %ld %ld\n", m.i32 < 3000000000, 0x80000000L > m.i8, m.u8 - 3000000000 < 0, m.i32 * 3000000000, m.u8 - 3000000000, -3000000000);
		printf("pointed %d %d %d %d %d\n", *p->ip / 3, p->ip[0] / 2, p->ip[1] % 5, *(int32_t *)p->ip / 2, p->self->ip[0] >> 1);
		printf("copied %d %d %d %d %d\n", p->its[2].v / 7, p->its[2].w % 4, p->rows[1][2] / 5, p->bytes[3] / 2, p->i32 / 2);
		printf("kept %d %d %d %d %d\n", p->its[2].v / 7, p->its[2].w % 4, p->rows[1][2] / 5, p->bytes[3] / 2, p->i32 / 2);
		printf("tuple %d\n", p->i32 / 2);
		printf("wide %ld %lu %lx|%15ld|%-14lx|%d %u %x %d\n", m.i64, m.u64, m.u64, m.i64, m.u64, m.i32, m.u32, m.i32, m.i8);
		printf("more %ld %lx %ld %ld %lx %d\n", m.i64, (unsigned long)p, m.i64 / 1000, m.i64 + 1, m.u64, (int32_t)m.i64);
	}
	printf("site 1\nsite 0\nsite 1\nsite 0\n");
	printf("@acc: %d\n@c: %d\n@far: %ld\n@mixed: %d\n@neg: %d\n", m.i8 * 3, -3, 3 * m.i64, m.u8, -m.u8);
	printf("@less: %d\n@lessmap: %d\n@lessmost: %ld\n@lesssum: %d\n", m.u8 - m.u16, m.u8 - m.u16, m.u8 - 3000000000, 3 * (m.u8 - m.u16));
	printf("@is: 1\n@isall: 3\n@iskey[1]: 1\n@iseither: 1\ndone\n");
	return 0;
}
E2
gcc -O1 -g -fwrapv -I"$top/include" -o "$tmp/m" "$tmp/m.c" || exit 1
mixed() {
	live_start "$tmp/m"
	live_trace "$live_pid" "$1" || return 1
	live_say x
	exec 8>&-
	live_wait
}
mix() { echo "usdt:__EXE__:mix { \$p = args.p; $1 }"; }
{
	mix 'printf("less %d%d%d%d%d%d\n", args.i8 < args.u8, $p->i16 >= $p->u16, $p->i32 < $p->u32, args.i64 < args.u64, args.u64 > args.i64, args.u8 > args.i8 - 1);'
	mix 'printf("sum %d %d %d\n", args.i8 + args.u8, args.u8 * $p->i16, $p->i16 + args.u8 < 0);'
	mix '@fall[tid] -= args.u8; if (@fall[tid] < 0) { printf("fall 1\n"); }'
	mix '$r = $p; if (args.i8 < 0) { $r = $p->self; } $w = $r->u32; printf("either %ld %ld\n", $w ^ args.i8, $w * $p->i16);'
	mix '@acc += args.i8; @c -= 1; @neg = -args.u8; @far += args.i64;'
	mix '@mixed = args.i8; @mixed = args.u8;'
	mix '$d = args.u8 - $p->u16; printf("minus %d %ld %d %d %d %d\n", args.u8 - $p->u16, args.u8 - $p->u32, (args.u8 - $p->u16) / 2, $d / 2, args.u8 - $p->u16 < 0, (3 - 10) / 2);'
	mix '@less = args.u8 - $p->u16; @a = args.u8; @b = $p->u16; @lessmap = @a - @b; @lesssum = sum(args.u8 - $p->u16); @lessmost = min(args.u8 - 3000000000);'
	mix '$t = args.i8 < 0; printf("truth %d %d %d %d %d %d %d\n", (args.i8 < 0) + 1, 1 - (args.i8 == -1), (args.i8 < args.u8) * 7, args.i8 < 0 && $p->i16 < 0, $t, -(args.i8 < 0), args.i8 != -1);'
	mix '@is = args.i8 < 0; @isall += args.i8 == -1; @iskey[$p->i32 != 3] = 1; @iseither = args.u8 == 255 ? args.i8 < 0 : args.i8 > 0;'
	mix 'printf("large %d%d%d %ld %ld %ld\n", args.p->i32 < 3000000000, 0x80000000 > args.i8, args.u8 - 3000000000 < 0, args.p->i32 * 3000000000, args.u8 - 3000000000, -3000000000);'
	echo 'usdt:__EXE__:sites { printf("site %d\n", arg0 < 0); }'
	echo 'END { clear(@fall); clear(@a); clear(@b); }'
} >"$tmp/mixed.bt"
ok "signs that meet: the program is accepted and attached" mixed "$tmp/mixed.bt"
same less "a comparison of numbers with and without a sign"
same sum "what is computed of them"
same either "a variable of what one of two pointers leads to"
same fall "a map that is counted down"
same minus "a difference of numbers without a sign"
same truth "what a comparison is as a number"
same large "constants of more than 31 bits"
same site "an argument that has a sign at some sites only"
sed -i '/^@is/s/true/1/' "$tmp/trace" # 0.27 has a type for them
for map in is isall 'iskey\[1]' iseither; do same "@$map:" "at exit a comparison that is true is 1: @$map"; done
for map in acc c neg far mixed less lessmap lesssum lessmost; do same "@$map:" "at exit @$map has a sign"; done
unlike "$(cat "$tmp/messages")" 'different signs' "bpftrace has nothing to say of it"
like "$("$btgen" expand --for 0.17 -x "$tmp/m" -e 'usdt:__EXE__:torn { if (arg0 < 0) { exit(); } }' 2>&1)" \
	'warning: bpftrace compares unsigned, and the signedness of this operand is unknown' \
	"where one site passes a long and another an unsigned long, that is said"

{
	mix 'printf("pointed %d %d %d %d %d\n", *args.p->ip / 3, $p->ip[0] / 2, $p->ip[1] % 5, *(int32 *)args.p->ip / 2, $p->self->ip[0] >> 1);'
	mix '$c = *args.p; printf("copied %d %d %d %d %d\n", $c.its[2].v / 7, $c.its[2].w % 4, $c.rows[1][2] / 5, $c.bytes[3] / 2, $c.i32 / 2);'
	mix '@k[1] = *args.p; printf("kept %d %d %d %d %d\n", @k[1].its[2].v / 7, @k[1].its[2].w % 4, @k[1].rows[1][2] / 5, @k[1].bytes[3] / 2, @k[1].i32 / 2);'
	echo 'END { clear(@k); }'
} >"$tmp/places.bt"
ok "behind pointers and in copies: the program is accepted and attached" mixed "$tmp/places.bt"
same pointed "numbers that a pointer leads to"
same copied "members of a copy"
same kept "members of a copy in a map"
if "$bpftrace" --version | grep -q '0\.2[4-9]'; then
	mix '$t = (1, *args.p); printf("tuple %d\n", $t.1.i32 / 2);' >"$tmp/tuple.bt"
	ok "a copy in a tuple: the program is accepted and attached" mixed "$tmp/tuple.bt"
	same tuple "a member of it"
else
	skip "a copy in a tuple" "bpftrace up to 0.23 refuses it, or ends by a signal"
fi

# %d and its kin print 32 bits: what has more gets the conversion for it.
{
	mix 'printf("wide %d %u %x|%15d|%-14x|%d %u %x %d\n", args.i64, $p->u64, args.u64, $p->i64, args.u64, $p->i32, $p->u32, $p->i32, args.i8);'
	mix '$x = args.i64; @u[1] = args.u64; printf("more %d %x %d %d %x %d\n", $x, args.p, $p->i64 / 1000, args.i64 + 1, @u[1], (int32)args.i64);'
	echo 'END { clear(@u); }'
} >"$tmp/wide.bt"
ok "64 bits: the program is accepted and attached" mixed "$tmp/wide.bt"
same wide "%d, %u and %x of arguments and members, as wide as they are"
same more "of variables, maps, pointers and what is computed"

# A macro's map stands for those that it is called with, in both directions.
if "$bpftrace" --version | grep -q '0\.2[7-9]'; then
	{
		echo 'macro half(@e) { @e[1] / 2 }'
		echo 'macro put(@e, v) { @e[1] = v }'
		echo 'macro less(@e, v) { @e[1] -= v }'
		echo 'macro twice(@e, v) { put(@e, v) }'
		echo 'BEGIN { @s[1] = (int64)-7; $n = (int64)-9; put(@p, $n); less(@l, 5); twice(@t, $n); @u[1] = (uint64)7;'
		echo '	printf("%d %d %d %d %d %d\n", half(@s), @p[1] / 2, @l[1] / 2, @t[1] / 2, half(@s) < 0, @l[1] % 2); exit(); }'
	} >"$tmp/macros.bt"
	is "$("$top/scripts/bpftrace.sh" -q -x "$tmp/m" "$tmp/macros.bt" 2>&1 | head -1)" "-3 -4 -2 -4 1 -1" "maps that a macro reads and sets"
else
	skip "maps that a macro reads and sets" "bpftrace below 0.27 has no such macros"
fi
done_testing
