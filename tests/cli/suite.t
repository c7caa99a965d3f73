#!/usr/bin/env bash
# btgen test without any tracing: files of cases that are wrong, what is checked against a program, what is skipped.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

cd "$tmp" || exit 1
printf '#include <btgen/usdt.h>\nint main(int n, char **v) { USDT_PROBE(app, push, n); return v == 0; }\n' >app.c
gcc -g -I"$top/include" -o app app.c || exit 1

# wrong TEXT WANT CLAIM: a file of that text
wrong() {
	printf '%b' "$1" >x.cases
	out=$("$btgen" test x.cases 2>&1)
	is "$? $out" "1 $2" "$3"
}
wrong '' 'x.cases: error: no cases: a case begins with NAME' "an empty file"
wrong 'RUN ./app\n' 'x.cases:1: error: a case begins with NAME' "a line before the first case"
wrong 'NAME a\nRUM ./app\n' "x.cases:2: error: unknown word 'RUM', did you mean 'RUN'?" "a misspelled word"
wrong 'NAME a\nTRACE x\nEXPECT y\n' 'x.cases:1: error: give a program: RUN COMMAND, or PROCESS PID or name' "no program"
wrong 'NAME a\nRUN b\nPROCESS c\nTRACE x\nEXPECT y\n' 'x.cases:1: error: give a program: RUN COMMAND, or PROCESS PID or name' "two programs"
wrong 'NAME a\nRUN b\nEXPECT y\n' 'x.cases:1: error: give what to trace: TRACE, SCRIPT or PROG' "nothing to trace"
wrong 'NAME a\nRUN b\nTRACE x\nPROG y\nEXPECT y\n' 'x.cases:1: error: give what to trace: TRACE, SCRIPT or PROG' "two things"
wrong 'NAME a\nRUN b\nTRACE x\n' 'x.cases:1: error: no EXPECT line' "nothing expected"
wrong 'NAME a\nPROCESS b\nTRACE x\nEXPECT y\n' 'x.cases:1: error: PROCESS needs AFTER: the trace ends when that command exits' "a process that would be traced for ever"
wrong 'NAME a\nRUN b\nRUN c\n' 'x.cases:3: error: given twice in one case' "RUN twice"
wrong 'NAME a\nRUN b\nEXPECT_REGEX (\n' 'x.cases:3: error: EXPECT_REGEX: Unmatched ( or \(' "a regular expression"
wrong 'NAME a\nEXPECT_LEAST x y\n' 'x.cases:2: error: EXPECT_LEAST takes a number and a text' "no number"
wrong 'NAME a\nTIMEOUT 0\n' "x.cases:2: error: TIMEOUT: '0' is not a time, such as 10 or 2m" "no time"
wrong 'NAME a\nREQUIRES b\nREQUIRES c\n' 'x.cases:3: error: given twice in one case' "REQUIRES twice"
wrong 'NAME\n' 'x.cases:1: error: NAME needs a value' "no name"
like "$("$btgen" test /nowhere 2>&1)" '/nowhere: error: no such file' "no file"
like "$("$btgen" test 2>&1)" '^btgen test: give a file of cases$' "none given"
like "$("$btgen" test --all x.cases 2>&1)" '^btgen test: --all needs -x FILE$' "--all alone"

cat >app.cases <<'END'
NAME right
RUN ./app
PROG usdt:__EXE__:app:push { printf("%d\n", args.n); }
EXPECT 1
NAME a name that is none
RUN ./app
PROG usdt:__EXE__:app:push { printf("%d\n", args.m); }
EXPECT 1
END
is "$(BTGEN_BPFTRACE=/nowhere/bpftrace "$btgen" test -x ./app app.cases | sed 's/SKIP .*/SKIP/')" "1..2
ok 1 - right # SKIP
not ok 2 - a name that is none
# app.cases:5: does not match ./app
#   <command line>:1:45: error: probe app:push has no argument m
#       usdt:__EXE__:app:push { printf(\"%d\n\", args.m); }
#                                                   ^
#   btgen: note: it is app:push(int n)" "without bpftrace what can be checked is, and the rest is skipped"
like "$(BTGEN_BPFTRACE=/nowhere/bpftrace "$btgen" test app.cases)" 'ok 1 - right # SKIP .*/nowhere/bpftrace' "with the reason"
out=$(BTGEN_BPFTRACE=/nowhere/bpftrace "$btgen" test --no-skip app.cases)
is "$? $(grep -c '^not ok' <<<"$out")" "1 2" "--no-skip: that is a failure"
cat >app.cases <<'END'
NAME what is not here
REQUIRES exec test -e gone # ever
RUN ./app
PROG usdt:__EXE__:app:push { printf("%d\n", args.m); }
EXPECT 1
END
is "$("$btgen" test -x ./app app.cases | head -n 2)" "1..1
ok 1 - what is not here # SKIP REQUIRES exec test -e gone # ever" "a case that requires what is not here is skipped, and not looked at"
out=$("$btgen" test --no-skip --junit x.xml app.cases)
is "$? $(grep -v '^1' <<<"$out") $(grep -c 'failure message="REQUIRES exec' x.xml)" "1 not ok 1 - what is not here
# REQUIRES exec test -e gone # ever 1" "--no-skip: that is a failure, too"
printf '%s\n' 'NAME ^C' 'REQUIRES echo $$ >required; sleep 1000; true' 'RUN ./app' 'TRACE nosuch' 'TIMEOUT 1000' 'EXPECT 1' >app.cases
"$btgen" test -x ./app app.cases >/dev/null &
wait_for test -s required
kill -TERM $!
wait $! 2>/dev/null
wait_for sh -c '! kill -0 -$(cat required) 2>/dev/null' && ended=yes || ended=no
is $ended yes "a signal ends what REQUIRES runs"
for since in 0.17 9.9; do
	printf '%s\n' 'NAME a version' "REQUIRES $btgen check -e '#pragma require bpftrace >= $since' -e 'BEGIN { }'" 'RUN ./app' 'TRACE nosuch' 'EXPECT 1' >app.cases
	"$btgen" test -x ./app app.cases
done >versions
is "$(grep -o '^[a-z ]*1 - a version\( # SKIP\)*' versions)" "not ok 1 - a version
ok 1 - a version # SKIP" "a version of bpftrace"
printf '%s\n' 'NAME hangs' 'REQUIRES sleep 1000; true' 'TIMEOUT 1' 'RUN ./app' 'TRACE push' 'EXPECT 1' >app.cases
is "$(guard "$btgen" test app.cases)" "1..1
ok 1 - hangs # SKIP REQUIRES sleep 1000; true" "REQUIRES that does not end is not waited for after TIMEOUT"

# A bpftrace that attaches at once; an AFTER that becomes another user, as sudo does, whom who runs the test may not signal.
printf '%s\n' '#!/bin/bash' '[ "$1" != --version ] || exec echo bpftrace v0.24.0' 'trap "exit 0" INT' 'echo Attached 1 probe >&2' \
	'while :; do sleep 0.1; done' >bpftrace
chmod +x bpftrace
sleep 1000 &
own $!
printf '%s\n' 'NAME another user' "PROCESS $!" 'PROG BEGIN { }' 'AFTER exec setpriv --reuid 65534 --clear-groups true' 'TIMEOUT 600' \
	'EXPECT_NONE x' >app.cases
if ! can_trace; then
	skip_tracing "AFTER of another user"
elif ! setpriv --bounding-set -kill --inh-caps -kill true 2>/dev/null; then
	skip "AFTER of another user" "no setpriv"
else
	out=$(BTGEN_BPFTRACE=$tmp/bpftrace setpriv --bounding-set -kill --inh-caps -kill "$btgen" test app.cases 2>&1)
	is "$out" "1..1
ok 1 - another user" "the end of an AFTER of another user is seen"
fi
done_testing
