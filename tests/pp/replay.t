#!/usr/bin/env bash
# The fuzz target of the preprocessor (tests/fuzz/pp.c) on all templates of these tests, whole and cut off:
# nothing crashes, and what is printed is cut into the same tokens again.
. "$(dirname "$0")/../lib.sh"

out=$("$build/tests/fuzz/pp" "$top"/tests/pp/{cases,errors,bpftrace}/*.in "$top"/tests/pp/cases/inc/*.bt 2>&1)
is "$?" 0 "every template, whole and cut off at 16 places: $(tail -n 1 <<<"$out")" || head -n 20 <<<"$out"
like "$out" '^[1-9][0-9]{3} runs$' "more than a thousand texts were tried"
done_testing
