#!/usr/bin/env bash
# The fuzz target of what is printed (tests/fuzz/writer.c) on its words in many orders, whole and cut off: JSON is objects of UTF-8,
# and -t prints no control characters.
. "$(dirname "$0")/../lib.sh"
[ -x "$build/tests/fuzz/writer" ] || skip_all "$build/tests/fuzz/writer is not built (make check builds it)"
mapfile -t words < <(sed -n 's/^"\(.*\)"$/\1/p' "$top/tests/fuzz/writer.dict")
RANDOM=1
for ((i = 0; i < 256; i++)); do
	{
		printf '%b' "\\x$(printf %x $i)"
		for ((k = 0; k < 25; k++)); do printf '%b' "${words[RANDOM % ${#words[@]}]}"; done
	} >"$tmp/$i"
done
out=$("$build/tests/fuzz/writer" "$tmp"/[0-9]* 2>&1 | tail -n 20)
is "$out" "$((256 * 17)) runs" "whatever is printed, the output is well formed"
done_testing
