#!/usr/bin/env bash
# What btgen refuses, or warns of, as wrong in a bpftrace (tests/check/wrong-values.cases) is wrong there, and right in the others.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"

gcc -O1 -g -I"$top/include" -o "$tmp/app" "$top/tests/check/broken.c" || exit 1
version=$("$bpftrace" --version | sed 's/.*v0\.\([0-9]*\).*/\1/')

# bare SCRIPT PATTERN: does bpftrace alone print it?
bare() {
	guard "$bpftrace" -c "$tmp/app" -e "${1//APP/$tmp/app}" </dev/null >"$tmp/bare" 2>&1
	grep -qE "$2" "$tmp/bare"
}
# refused SCRIPT: does btgen say anything of it?
refused() {
	"$btgen" check --for "0.$version" -x "$tmp/app" -e "${1//APP/__EXE__}" >"$tmp/said" 2>&1
	grep -qE 'bpftrace 0\.[0-9]+' "$tmp/said"
}
# agree SINCE SCRIPT WRONG CLAIM: bpftrace alone does what is wrong just where btgen says so
agree() {
	local wrong=no said=no
	if [ "$version" -lt "$1" ]; then
		skip "$4" "bpftrace 0.$version has no such word"
		return
	fi
	bare "$2" "$3" && wrong=yes
	refused "$2" && said=yes
	is "$said" "$wrong" "$4"
}
agree 17 'usdt:APP:app:all { printf("<%d>\n", (1, 2) == (1, 2)); }' '<0>' "tuples that are equal differ"
agree 17 'usdt:APP:app:all { @ = lhist(92, 0, 95, 10); }' '\[95, \.\.\.\)' "the last interval of a histogram"
agree 17 'usdt:APP:app:all { printf("<%d>\n", *(int32 *)uaddr("answer")); }' '<0>' "a global variable of a position-independent program"
agree 17 'uretprobe:APP:half { printf("<%s>\n", func); }' '<main' "the function that returns"
agree 25 'usdt:APP:app:all { @m[1] = 5; let $r; if (find(@m, 1, $r)) { printf("<%d>\n", $r); } }' '<0>' "what find() has found"
agree 17 'usdt:APP:app:all { @c = count(); @m[@c] = 1; }' 'invalid mapkey argument type' "what count() keeps as a key"
agree 23 'usdt:APP:app:all { @s = stats(5); print((1, @s)); }' '[.]count = 0' "what stats() keeps in a tuple"
share='profile:hz:99 { @c = count(); } interval:ms:500 { @n++; printf("<%d\n", @n); print((7, @c)); print(@c); exit(); }'
guard "$bpftrace" -e "$share" </dev/null >"$tmp/bare" 2>&1
is_share=$(awk -F'[ )]' '/^\(7, / { part = $2 } /^@c: / { whole = whole ? whole : $2 } END { print part < whole ? "yes" : "no" }' "$tmp/bare")
if [ "$(nproc)" = 1 ]; then
	skip "what count() keeps in a tuple" "one processor"
else
	refused "$share" && said=yes || said=no
	is "$said" "$is_share" "what count() keeps in a tuple is one processor's share"
fi
if [ "$version" -ge 24 ]; then
	ok "a struct that ends in a string is refused in a map" refused 'usdt:APP:app:all { @m[1] = *args.l; }'
	ok "... for bpftrace aborts" bare 'struct last { int id; char name[8]; } usdt:APP:app:all { @m[1] = *(struct last *)arg0; }' bad_alloc
fi
done_testing
