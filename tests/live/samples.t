#!/usr/bin/env bash
# Numbers that hist(), min() and max() of old versions cannot take: what is wrong of them is not printed as if it were right.
# shellcheck source=tests/lib.sh disable=SC2154
. "$(dirname "$0")/../lib.sh"
need_tracing
version=$("$bpftrace" --version | sed 's/.*v0\.\([0-9]*\).*/\1/')

# maps SCRIPT: the lines of maps, through btgen
maps() { guard "$btgen" run -q --bpftrace "$bpftrace" -e "$1" 2>/dev/null </dev/null | grep '^[@[]' | sed 's/ *|@.*//; s/ *$//'; }
# as VERSION OLD NEW: what is expected up to that version, and of newer ones
as() { if [ "$version" -le "$1" ]; then echo "$2"; else echo "$3"; fi; }
# min OLD NEW: what is expected of min() where it is kept in another way, in 0.17, 0.20 and 0.21
min() { case $version in 17 | 20 | 21) echo "$1" ;; *) echo "$2" ;; esac }

is "$(maps 'BEGIN { @ = hist(1099511627776); exit(); }')" "@:
$(as 17 '[2G, ...)              1' '[1T, 2T)               1')" "hist(): the bucket with all that is more says so"
small='BEGIN { @lo = min(7); @hi = max(7); @mix = max(-5); @mix = max(3); @below = min(-5); exit(); }'
is "$(maps "$small")" "@below: -5
@hi: 7
@lo: 7
@mix: 3" "min() and max() of what they take"
is "$(maps 'BEGIN { @ = max(-5); exit(); }')" "@: -5" "max() of negative numbers alone"
is "$(maps 'BEGIN { @ = min(4294967296); exit(); }')" "@: 4294967296" "min() from 2^32 on"
edge=4611686018427387903
is "$(maps "BEGIN { \$k = (int64)$edge; @a = max(\$k - 1); @b = min(\$k - 1); @c = max(1 - \$k); @d = min(1 - \$k); @e = max(\$k); @f = min(\$k);
	@g = max(-\$k); @h = min(-\$k); @i = max(\$k + 5); @j = min(-\$k - 5); @k = max(3); @k = max(\$k); @l = min(3); @l = min(-\$k); exit(); }")" "@a: 4611686018427387902
@b: 4611686018427387902
@c: -4611686018427387902
@d: -4611686018427387902
@e: $(as 21 '>= ' '')4611686018427387903
@f: $(min '>= ' '')4611686018427387903
@g: $(as 21 '<= ' '')-4611686018427387903
@h: $(min '<= ' '')-4611686018427387903
@i: $(as 21 '>= 4611686018427387903' 4611686018427387908)
@j: $(min '<= -4611686018427387903' -4611686018427387908)
@k: $(as 21 '>= ' '')4611686018427387903
@l: $(min '<= ' '')-4611686018427387903" "max() and min() of numbers of 63 bits: what is out of reach is no number"
# Each processor has a least of its own: 0.20 printed that of the first alone.
is "$(maps 'profile:hz:99 { @n[cpu] = count(); @a = min(cpu + 5); @b = min(99 - cpu); @c = min(-5 - (int64)cpu); @d = max(-5 - (int64)cpu); }
	interval:ms:500 { exit(); }' | sed -n 's/^@[a-d]/&/p; s/^@n\[\(.*\)\]:.*/\1/p' | sort -n >"$tmp/processors"
	last=$(grep -v @ "$tmp/processors" | tail -n 1) first=$(grep -v @ "$tmp/processors" | head -n 1)
	printf '@a: %d\n@b: %d\n@c: %d\n@d: %d\n' $((first + 5)) $((99 - last)) $((-5 - last)) $((-5 - first)) |
		diff - <(grep @ "$tmp/processors" | sort))" "" "min() and max() of several processors"
is "$(maps 'BEGIN { @e[1] = max(-1); @e[2] = max(-2); @f[1] = min((int64)4294967295); @f[2] = min(-1); @g = max(-3); @h = max(-3); @i[1] = max(-3);
	zero(@g); clear(@h); delete(@i[1]); print(@e, 1); clear(@e); exit(); }' | sort)" "@e[1]: -1
@f[1]: 4294967295
@f[2]: -1
@g: 0" "print(), zero(), clear() and delete() of max() and min()"
zero='zero(@f); ' # which 0.22 and 0.23 do not survive
case $version in 22 | 23) zero='' ;; esac
is "$(maps 'BEGIN { @a = avg((uint64)18446744073709551615); @b = stats((uint64)9223372036854775809); @c = stats(-5); @d[1] = avg((uint64)3);
	@e[1] = avg((uint64)18446744073709551615); @f = avg((uint64)5); '"$zero"'$i = 0;
	while ($i < 32) { @h = avg((uint64)576460752303423487); $i++; } print(@e, 1); exit(); }' |
	sort -u)" "@a: 18446744073709551615
@b: count 1, average 9223372036854775809, total 9223372036854775809
@c: count 1, average -5, total -5
@d[1]: 3
@e[1]: $(as 23 overflow 18446744073709551615)
@f: $([ "$zero" ] && echo 0 || echo 5)
@h: 576460752303423487" "averages of unsigned numbers of 64 bits, and stats() in one form"
# alone SCRIPT: what btgen says of it as a program for bpftrace alone
alone() {
	local out
	out=$("$btgen" run -n --bpftrace "$bpftrace" -e "$1" 2>&1)
	echo "$? $(sed -nE 's/^.*: (error|warning|note): //p' <<<"$out" | sed "s/0\.$version/0.N/")"
}
case $version in
20 | 21)
	is "$(alone 'BEGIN { @ = max(-5); }')" '0 max() of bpftrace 0.N takes negative numbers for large ones before 0.21.2  [call]
cast it to uint64 if it is never negative, or let btgen run the script, or use a newer bpftrace' "a program for bpftrace alone: a warning"
	is "$(alone 'BEGIN { @ = min(pid); }')" '0 min() of bpftrace 0.N ignores all processors but one before 0.21.2  [call]
let btgen run the script, or use a newer bpftrace' "... of min(), too"
	;;
*)
	is "$(alone 'BEGIN { @ = max(-5); }')" "$(as 19 '1 max() of bpftrace 0.N ignores negative numbers  [call]
cast it to uint64 if it is never negative, or let btgen run the script, or use a newer bpftrace' '0 ')" "a program for bpftrace alone: an error"
	is "$(alone 'BEGIN { @ = min(pid); }')" "0 " "... not of min()"
	;;
esac
done_testing
