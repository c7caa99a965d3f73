#!/usr/bin/env bash
# Narrow numbers, signed and unsigned, are what C makes of them: each pair of types with each operator, each way to reach a value with
# each use of it.
. "$(dirname "$0")/../lib.sh"
. "$top/tests/live.sh"

version=$("$bpftrace" --version | sed 's/.*v0\.\([0-9]*\).*/\1/')
parts=$(python3 "$top/tests/live/numbers.py" "$tmp" "$version") || exit 1
gcc -O0 -g -fwrapv -w -I"$top/include" -o "$tmp/numbers" "$tmp/numbers.c" || exit 1

# shellcheck source=tests/live/rows.sh
. "$top/tests/live/rows.sh"
rows_check $parts

# sampled STATEMENTS WANT CLAIM: what maps hold at the end; the probe fires once
sampled() {
	echo "usdt:__EXE__:numbers:all { $1 }" >"$tmp/samples.bt"
	ok "$3: the program is accepted and attached" traced samples
	is "$(grep -E '^@[a-z]+(\[.*\])?:' "$tmp/trace" | sort | tr '\n' ' ')" "$2 " "$3"
}
sampled '@sum = sum(args.i8 < 0); @max = max(args.u32 == 0); @avg = avg(args.i32 != 0);' "@avg: 1 @max: 0 @sum: 1" \
	"comparisons are 0 or 1 in aggregations"
sampled '@max = max(args.u8 / 3); @min = min((int64)args.u16); @avg = avg(args.u32 / 7);' "@avg: 571428571 @max: 66 @min: 60000" \
	"quotients of narrow numbers are right in aggregations"
sampled '@m = args.p->ue; @m *= args.p->u32; @key[@m] = 1; $v = args.p->ue; $v *= args.p->u32; @var[$v] = 1; @m = 0;' "@key[12000000000]: 1 @m: 0 @var[12000000000]: 1" \
	"what is added to an enumerator is a number of 64 bits, in keys, too"
sampled '$p = args.p; $i = 1; @k[$p->g_i64[1][1], $p->r_i64[$i], $p->s[$i].i64, $p->sp[$i].i8, $p->spp[$i]->i16] = $p->a_i64[$i]; @min = min($p->g_i64[$i][1]);' \
	"@k[-5000000001, -5000000001, -5000000001, -9, -300]: -5000000001 @min: -5000000001" "what is read by its address has a sign in keys, maps and aggregations"
sampled '@late = args.p->u64 + 1; @keyed[1] = args.p->u64 - 1; @keyed[2] = args.p->u64; clear(@late); delete(@keyed[1]); zero(@keyed);' \
	"@keyed[2]: 0" "a map of unsigned numbers is a map to what clears it"
done_testing
