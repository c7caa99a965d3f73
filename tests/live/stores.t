#!/usr/bin/env bash
# What a variable, map, key, tuple or aggregation holds that gets values of different types is what C makes of it.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$top/tests/live.sh"

version=$("$bpftrace" --version | sed 's/.*v0\.\([0-9]*\).*/\1/')
ROWS=${ROWS:-120} # of each kind; another seed has others
choose_seed 1
parts=$(python3 "$top/tests/live/stores.py" "$tmp" "$version" -n "$ROWS" --seed "$SEED") || exit 1
gcc -O0 -g -fwrapv -w -I"$top/include" -o "$tmp/numbers" "$tmp/stores.c" || exit 1
# shellcheck source=tests/live/rows.sh
. "$top/tests/live/rows.sh"
rows_check $parts

# held BODY WANT CLAIM: the maps at the end
held() {
	echo "$head usdt:__EXE__:numbers:all { \$p = args.p; $1 }" >"$tmp/held.bt"
	ok "$3: the program is accepted and attached" traced held
	is "$(grep -E '^@[a-z]+(\[.*\])?:' "$tmp/trace" | sort | tr '\n' ' ')" "$2 " "$3"
}
head=
held '$a = (int32 *)$p->a_i32; @first = sum(*(int32 *)$p->a_i32 == $p->a_i32[0]); @is = sum($a[1] == $p->i32); @not = sum($a[1] == 0);' \
	"@first: 1 @is: 1 @not: 0" "a cast of an array is one of its address"
held '$q = args.q; @added += $q->ue; @added += $q->ue; @last = $q->ue; @last += 4294967296; @plain = $q->ue;' \
	"@added: 4294967298 @last: 6442450945 @plain: COLOR_TOP" "a map of enumerators that numbers are added to is one of numbers"
held '$x = -($p->u8 ? 1 : 8); @half = $x / 2; @less = -($p->u8 ? 1 : 300); @minus = $x; @truth = sum(-($p->u8 ? 1 : 8) < 0);' \
	"@half: 0 @less: -1 @minus: -1 @truth: 1" "a choice of literals has a sign when it gets one"
held '@k[18446744073709551615] = 1; @k[args.u8] = 2; @l[args.u8] = 3; @l[18446744073709551615] = 4; delete(@l[18446744073709551615]); @v = @k[200];' \
	"@k[18446744073709551615]: 1 @k[200]: 2 @l[200]: 3 @v: 2" "a key may be a literal above INT64_MAX in one place and an argument in another"
held '$t = ($p->u64, 1); $u = ($p->u64, 1); $t = ($u.1, args.i16); @v = ($t.0, $t.1);' "@v: (1, -300)" \
	"a literal in a tuple is as unsigned as the element that it is assigned to"
held '@k[2, 2] = 1; @k[2, $p->u32 & 7] = 2; @k[2, -1] = 3;' "@k[2, -1]: 3 @k[2, 0]: 2 @k[2, 2]: 1" \
	"a key may be a negative literal in one place and computed of an unsigned number in another"
held '@k[0, $p->i8] = 1; @k[$p->u8, 1] = 2; @k[-2, 2] = 3; @k[3 + ($p->u8 & 1), -2] = 4;' "@k[-2, 2]: 3 @k[0, -9]: 1 @k[200, 1]: 2 @k[3, -2]: 4" \
	"a column of a literal, an unsigned member and a negative literal keeps each"
held '$v = $p->u64; $w = 0; $w++; $v = $w; @v = $v; $l = 5; $l -= 7; $v = $l; @l = $v; @w = $p->u64; @w = $w;' "@l: 18446744073709551614 @v: 1 @w: 1" \
	"a counter of literals goes into a store of unsigned numbers"
held '@k[1] = $p->u8 > 3; @m[1] = $p->u32 ? ($p->i8 > 3) : @k[1]; @m[2] = $p->i8 > 3 ? ($p->u8 > 3) : @k[1]; $x = @k[1]; @m[3] = $x; $x = $p->i8 > 3; @m[4] = $x; @m[5] = $p->i8 > 3 ? $x : !$x;' \
	"@k[1]: 1 @m[1]: 0 @m[2]: 1 @m[3]: 1 @m[4]: 0 @m[5]: 1" "a condition beside what a map or a variable keeps of one"
held '$t = ($p->u8 > 3, 2); $x = $t.0; @m[1] = $p->i8 > 3 ? ($p->u8 > 3) : $t.0; @m[2] = $p->u8 > 3 ? $x : !$x; if ($p->u8 ? ($p->i8 > 3) : $t.0) { @m[3] = 1; }' \
	"@m[1]: 1 @m[2]: 1" "... or an element of a tuple"
if [ "$version" -ge 23 ]; then
	held '@k[1] = $p->u8 > 3; for ($kv : @k) { @m[1] = $p->i8 > 3 ? ($p->u8 > 3) : $kv.1; $x = $kv.1; $x = $p->i8 > 3; @m[2] = $x; }' \
		"@k[1]: 1 @m[1]: 1 @m[2]: 0" "... or a loop over a map"
	held '@t = (5, 0); @a[1] = max(@t.1); @a[2] = max($p->u64);' "@a[1]: 0 @a[2]: 18446744073709551600 @t: (5, 0)" \
		"max() of a literal in a tuple is as unsigned as the largest one"
	held '@m[1, $p->u8 > 3] = 5; @sum = sum(has_key(@m, (1, $p->i8 < 0))); @v = -has_key(@m, (2, 5 > 3)); @w = has_key(@m, (1, 5 > 3)); @w = $p->u8; delete(@m[1, 5 > 3]);' \
		"@sum: 1 @v: 0 @w: 200" "has_key() is 0 or 1, and its key may be a condition"
	held '@k[$p->u8 > 3]++; @k[-7] += 1; for ($kv : @k) { @half = sum($kv.0 / 2); } @k[$p->u8]++; for ($kv : @k) { @more = sum(-$kv.0); @l = $kv.1; } clear(@k)' \
		"@half: -3 @l: 1 @more: -194" "the key of a loop is a number whatever sets the map, and wherever"
fi
if [ "$version" -ge 27 ]; then
	held 'for ($i : 0..2) { @r = $i; } @r = $p->u64;' "@r: 18446744073709551600" "the variable of a range is a number"
	head='macro less(a, b) { a < b }'
	held '$v = $p->u32; @l = 1 & less($p->u8, $v); $v = $p->i8 > 3; @v = $v + 1;' "@l: 1 @v: 1" \
		"an argument of the script's own macro keeps its type"
	head='macro plus(a, b) { a + b }'
	held '@two = plus($p->u8 > 3, $p->i8 < 0); @three = plus(plus($p->u8 > 3, 2 > 1), $p->u8 != 0); @truth = sum(plus($p->u8 > 3, 0) > 0);' \
		"@three: 3 @truth: 1 @two: 2" "... and a truth is a number there"
fi
done_testing
