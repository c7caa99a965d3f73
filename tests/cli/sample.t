#!/usr/bin/env bash
# tests/sample.py, which the tests of the scripts rely on: it takes a sample for that of a run if they differ in numbers only.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

cat >"$tmp/app.bt" <<'END'
/*
 * app.bt - a script
 *
 * SAMPLE OUTPUT (one)
 *   0.098063: backend 28219 0.369 ms failed: SELECT 1/0
 *   0.098099: worker-1 opens /tmp/app.log as 3
 *   ...
 *   @stacks[Oops, parse(int),
 *       __cxa_throw+0
 *       main+54
 *   ]: 20
 *
 * SAMPLE OUTPUT (two)
 *   @us[read]:
 *   [8, 16)               45 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
 *   @next: 0x7f00
 *
 * CAVEATS
 *   This is no sample: 5.
 */
BEGIN { }
END
cat >"$tmp/trace" <<'END'

12.5: backend 3 10.002 ms failed: SELECT 1/0
12.5: worker-0 opens /var/tmp/btgen-test.Ab3xYz/app.log as 17
@next: 0x55aa01
@stacks[Oops, parse(int), 
    __cxa_throw+0
    handle(int)+14
    main+1
]: 1
@us[read]: 
[1K, 2K)               1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|

END

# said OPTION...: what is complained about
said() { python3 "$top/tests/sample.py" "$@" "$tmp/app.bt" "$tmp/other"; }
# changed EXPRESSION: the same of a trace that sed has changed
changed() {
	sed -E "$1" "$tmp/trace" >"$tmp/other"
	said
}

is "$(changed '')" "" "other numbers, a private folder, more frames, other buckets: the same shape"
like "$(changed 's/backend/process/')" '^the run printed nothing like: 0.098063: backend' "a word of a line that changes"
like "$(changed 's/ as 17//')" 'nothing like: 0.098099: worker-1 opens' "a part that goes"
like "$(changed 's/Oops/Other/')" 'nothing like: @stacks' "another key"
like "$(changed '/^    /d')" 'nothing like: __cxa_throw\+0' "a stack without frames"
like "$(changed '/^\[1K/d')" 'nothing like: \[8, 16\)' "a histogram without rows"
like "$(changed 's/^@us.*/@ms[read]:/')" 'nothing like: \[8, 16\)' "rows of another map are not those of the sample"
is "$(changed '/next/d')" "the run printed nothing like: @next: 0x7f00" "a line that is missing"
is "$(said -x '^@next')" "" "one that may be"
is "$(said -x '^@next' -x gone)" "no line of the sample matches gone" "what no line needs any more is said"
: >"$tmp/other"
is "$(said -x .)" "the run printed no line of the sample" "a run without any line proves nothing"
done_testing
