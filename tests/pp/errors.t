#!/usr/bin/env bash
# What the preprocessor says about wrong templates: tests/pp/errors/*.in with the messages in *.err.
# UPDATE=1 rewrites the messages; git diff is the review.
. "$(dirname "$0")/../lib.sh"

cd "$top/tests/pp/errors" || exit 1
for f in *.in; do
	name=${f%.in}
	"$build/tests/ppcat" "$f" >"$tmp/out" 2>"$tmp/err"
	status=$?
	if [ "${UPDATE:-}" = 1 ]; then
		cp "$tmp/err" "$name.err"
	fi
	is "$(cat "$tmp/err")" "$(cat "$name.err" 2>&1)" "${name//-/ }: the messages"
	[ $status = 1 ] && [ ! -s "$tmp/out" ] && grep -q ' error: ' "$tmp/err"
	tap_result $? "${name//-/ }: status 1, an error, no program"
done
done_testing
