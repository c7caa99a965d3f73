#!/usr/bin/env bash
# What a template's macros, conditionals and includes come to is what `gcc -E -P` makes of the same text:
# each tests/pp/cases/*.in goes through both, and the tokens are compared. One idea a file.
# It is C17's, as for bpftrace's clang: in C23, gcc 15's own, `true` of an #if is 1.
. "$(dirname "$0")/../lib.sh"
command -v gcc >/dev/null || skip_all "gcc is not installed"

cd "$top/tests/pp/cases" || exit 1
for f in *.in; do
	name=${f%.in}
	gcc -std=gnu17 -E -P -undef -w -x c -Iinc "$f" >"$tmp/want" 2>"$tmp/want.err" ||
		tap_result 1 "gcc takes $name" || sed 's/^/#   /' "$tmp/want.err"
	if ! "$build/tests/ppcat" -w -Iinc "$f" >"$tmp/got" 2>"$tmp/got.err"; then
		tap_result 1 "$name" || sed 's/^/#   /' "$tmp/got.err"
		continue
	fi
	[ -s "$tmp/want" ] || tap_result 1 "$name leaves something to compare"
	python3 "$top/tests/pp/tokens.py" "$tmp/got" "$tmp/want"
	tap_result $? "${name//-/ }"
done
ok "at least 60 cases were compared ($tap_n)" test "$tap_n" -ge 60
done_testing
