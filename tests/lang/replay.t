#!/usr/bin/env bash
# The fuzz target of the parser (tests/fuzz/lang.c) on the cases of these tests and our scripts, whole and cut off: the tree
# is sound, it prints what was read, and nothing crashes.
. "$(dirname "$0")/../lib.sh"

grep -vE $'^(##|\t|$)' "$top/tests/lang/programs.lang" | split -l 5 - "$tmp/program."
cat "$top"/tests/lang/[es]*.lang | grep -vE $'^(##|\t|$)' | sed 's/.*/BEGIN { & }/' | split -l 10 - "$tmp/statements."
out=$("$build/tests/fuzz/lang" "$tmp"/program.* "$tmp"/statements.* "$top"/bpf/*.bt 2>&1)
is "$?" 0 "every case, whole and cut off at 16 places: $(tail -n 1 <<<"$out")" || head -n 20 <<<"$out"
like "$out" '^[1-9][0-9]{3} runs$' "more than a thousand texts were tried"
done_testing
