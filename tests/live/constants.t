#!/usr/bin/env bash
# Macros and enumerators of C headers, and enumerators of a script's own enums, are numbers as C has them.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$top/tests/live.sh"

cat >"$tmp/k.h" <<'E2'
#ifndef K_H
#define K_H
#define M_N (-5)
#define M_OPEN -6
#define M_P 7
#define M_TOP 0x80000000
#define M_MOST 0x7fffffffffffffff
#define M_SUM (M_N - M_P)
#define M_NOT (~M_P)
#ifdef NEVER
#define M_ONE (-1)
#else
#define M_ONE (-1)
#endif
enum { H_N = -5, H_NEXT, H_P = 4, H_TOP = 3000000000, H_FAR = 6000000000 };
enum numbers { G_N = M_N, G_NEXT, G_SUM = H_N + M_SUM * 2, G_HEX = -0x10, G_CHOICE = M_N < 0 ? -3 : 3 };
struct with { enum inner { I_N = -9, I_P } i; };
#endif
E2
printf 'enum of_script { S_N = -5, S_NEXT, S_P = 9 };\n' >"$tmp/s.h"
names='M_N M_OPEN M_P M_TOP M_MOST M_SUM M_NOT G_CHOICE M_ONE H_N H_NEXT H_P H_TOP H_FAR G_N G_NEXT G_SUM G_HEX I_N I_P S_N S_NEXT S_P'

# What C makes of each, and of it beside members: a row of numbers
cat >"$tmp/c.awk" <<'E2'
BEGIN { n = split(names, name, " "); for (i = 1; i <= n; i++) {
	x = name[i]
	row = what == "c" ? "(long)(" x ")" : x
	value = "CONST"
	gsub(/CONST/, row, value)
	printf "%s\"%s %%ld %%ld %%d %%d %%d %%d %%ld\\n\", %s, %s%s / %s, %s%s < %s, %s%s > %s, %s%s == %s, %s < 0, %s + %s%s);\n",
		"printf(", x, value, cast, "o->i32", value, cast, "o->u8", value, "", "o->i8", value, "", "o->rc", value, value, value, cast, "o->i8"
} }
E2
{
	printf '#include <stdint.h>\n#include <stdio.h>\n#include "k.h"\n#include "s.h"\n'
	printf 'struct st { int32_t i32; uint8_t u8; int8_t i8; int rc; };\n'
	printf '__attribute__((noipa)) int hit(struct st *o) { return o->rc; }\n'
	printf 'int main(int n, char **v) { static struct st s = {-70000, 200, -9, -5}, *o = &s; if (n > 1) {\n'
	awk -v names="$names" -v what=c -v cast='(long)' -f "$tmp/c.awk"
	printf '} return hit(o) == 0; }\n'
} >"$tmp/prog.c"
gcc -w -g -O1 -o "$tmp/prog" "$tmp/prog.c" || exit 1
"$tmp/prog" told >"$tmp/want"

# traced NAMES: what a trace prints of them
traced() {
	{
		printf '#include "k.h"\n'
		cat "$tmp/s.h"
		awk -v names="$1" -v what=trace -v cast='$' -f "$tmp/c.awk" |
			sed 's/, o->/, $o->/g; s/\$\$o/$o/g; s/.*/uprobe:__EXE__:hit { $o = args.o; & }/'
	} >"$tmp/prog.bt"
	"$live_sh" -q -c "$tmp/prog" "$tmp/prog.bt" 2>"$tmp/err" | grep .
}
traced "$names" >"$tmp/got"
for name in $names; do
	is "$(grep "^$name " "$tmp/got")" "$(grep "^$name " "$tmp/want")" "$name is what C makes of it" || sed 's/^/# /' "$tmp/err"
done
is "$(grep warning "$tmp/err")" '' 'and nothing is unsure about them'

# What holds it, by itself and beside others
script='#include "'"$tmp"'/k.h"
uprobe:__EXE__:hit { @a = H_N; @m = M_N; @s = sum(H_N); @t = sum(M_SUM); @u = min(G_N); @k[H_N] = 1; @l[M_N] = 1; @p = (H_N, M_N);
	$x = H_N; if ($x < 0) { @x = 1; } @i = I_N; if (args.o->rc == H_N) { @eq = 1; } }'
is "$("$live_sh" -q -c "$tmp/prog" -e "$script" 2>&1 | grep . | sort | paste -sd' ')" \
	'@a: -5 @eq: 1 @i: -9 @k[-5]: 1 @l[-5]: 1 @m: -5 @p: (-5, -5) @s: -5 @t: -12 @u: -5 @x: 1' 'maps, sums, keys and tuples have them'

# Where the header does not say
cat >"$tmp/u.h" <<'E2'
#ifdef WHO_KNOWS
#define TWO (-5)
#else
#define TWO 5
#endif
#define BROAD (1 << 31)
#define LOOP_A LOOP_B
#define LOOP_B LOOP_A
#define SIZE ((int)sizeof(long))
#define WORD "abc"
enum { A = 2,
#ifdef WHO_KNOWS
	B = -7,
#endif
	C, D = -3 };
E2
for name in TWO BROAD SIZE LOOP_A C; do
	"$btgen" check -e "#include \"$tmp/u.h\"
uprobe:$tmp/prog:hit { printf(\"%d\", args.o->i32 / $name); }" --for 0.23 >"$tmp/out" 2>&1
	like "$(<"$tmp/out")" 'signedness of this operand is unknown' "$name is not guessed: a warning where its sign matters"
done
is "$("$live_sh" -q -c "$tmp/prog" -e "#include \"$tmp/u.h\"
uprobe:__EXE__:hit { printf(\"%d %d %d %s\n\", args.o->i32 / D, args.o->i32 / A, args.o->rc == -TWO, WORD); }" 2>&1 | grep .)" \
	'23333 -35000 1 abc' 'others of that header are known'
done_testing
