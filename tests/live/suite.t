#!/usr/bin/env bash
# btgen test: cases that pass and cases that fail, each for what is wrong with it; nothing is left running or lying about.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"

cat >"$tmp/queue.c" <<'END'
#include <btgen/usdt.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 3;
	printf("the program's own line\n");
	for (int depth = 1; depth <= n; depth++)
		USDT_PROBE(app, push, depth);
	for (int depth = n; depth--;)
		USDT_PROBE(app, pop, depth);
	if (argc > 2) {
		FILE *f = fopen(argv[2], "w");
		fprintf(f, "%d\n", (int)getpid());
		fclose(f);
		pause();
		USDT_PROBE(app, woken, n);
	}
	return 0;
}
END
name=queue$$ # which no other test runs
gcc -g -O1 -I"$top/include" -o "$tmp/$name" "$tmp/queue.c" || exit 1
cd "$tmp" || exit 1
mkdir cases
export TMPDIR=$tmp/left
mkdir "$TMPDIR"

# test_of OPTION...: btgen test of the cases in stdin; $out, $err, $rc
test_of() {
	cat >cases/q.cases
	out=$(guard "$btgen" test "$@" cases/q.cases 2>err)
	rc=$?
	err=$(cat err)
}
push='PROG usdt:__EXE__:app:push { printf("depth %d\n", args.depth); }'
printf 'depth 1\ndepth 2\n' >cases/want.txt
printf 'usdt:__EXE__:app:pop { printf("pop %%d\\n", args.depth); }\n' >cases/pop.bt

test_of <<END
# What passes

NAME in order
RUN ./$name 3
TRACE app:push app:pop
EXPECT app:push depth=1
EXPECT app:push depth=3
EXPECT_REGEX app:pop depth=[02]\$
EXPECT_NONE depth=4
EXPECT_LEAST 3 app:push

NAME exactly, # and all
RUN ./$name 2
$push
EXPECT_FILE want.txt

NAME a script beside the cases
RUN ./$name 2
SCRIPT pop.bt
EXPECT pop 1
EXPECT pop 0

NAME a program that goes on
RUN ./$name 1 started
TRACE app:push
EXPECT depth=1
AFTER until [ -s started ]; do sleep 0.1; done
END
is "$rc $err" "0 " "all pass: status 0"
is "$out" '1..4
ok 1 - in order
ok 2 - exactly, \# and all
ok 3 - a script beside the cases
ok 4 - a program that goes on' "as TAP"

test_of --junit junit.xml <<END
NAME the wrong way round
RUN ./$name 3
$push
EXPECT depth 3
EXPECT depth 1
NAME one too many
RUN ./$name 3
$push
EXPECT depth 1
EXPECT_NONE depth 3
NAME too few
RUN ./$name 3
$push
EXPECT_LEAST 4 depth
NAME another file
RUN ./$name 3
$push
EXPECT_FILE want.txt
NAME no such <probe>
RUN ./$name
TRACE app:gone
EXPECT x
NAME no such program
RUN ./gone
TRACE app:push
EXPECT x
NAME too long
RUN ./$name 1 started
TRACE app:push
EXPECT push
TIMEOUT 2
NAME no such regular expression
RUN ./$name
$push
EXPECT_REGEX ^epth
END
is "$rc" 1 "some fail: status 1"
is "$(grep -c '^not ok' <<<"$out")" 8 "these do"
is "$(grep -E '^# [^ ]' <<<"$out")" "# cases/q.cases:5: EXPECT depth 1: not found after the line of the previous EXPECT
# cases/q.cases:10: EXPECT_NONE depth 3: found
# cases/q.cases:14: EXPECT_LEAST 4 depth: found in 3 lines
# cases/q.cases:18: EXPECT_FILE cases/want.txt: the output differs
# btgen's exit status is 1
# btgen's exit status is 1
# RUN did not end within 2 s
# cases/q.cases:35: EXPECT_REGEX ^epth: not found" "each for its reason"
like "$out" "#   btgen: error: .*app:gone" "with what btgen reports"
like "$out" "#   the program's own line" "and what the program prints"
is "$(grep -A 5 'the wrong way' <<<"$out" | tail -n 3)" "#     depth 1
#     depth 2
#     depth 3" "and what the probes printed"
is "$(python3 - junit.xml <<'END'
import sys
import xml.etree.ElementTree as tree
suite = tree.parse(sys.argv[1]).getroot()[0]
print(suite.get("tests"), suite.get("failures"), suite.get("skipped"), [c.get("name") for c in suite if c.find("failure") is None], suite[4].get("name"))
END
)" "8 8 0 [] no such <probe>" "JUnit's file has them all"
is "$(ls "$TMPDIR")$(pgrep -x "$name")" "" "nothing is left"

test_of -x ./$name <<END
NAME pushes
RUN ./$name
$push
EXPECT depth 1
NAME a probe that is gone
RUN ./$name
TRACE app:gone
EXPECT x
END
is "$rc $(grep -vE '^#  ' <<<"$out")" "1 1..2
ok 1 - pushes
not ok 2 - a probe that is gone
# cases/q.cases:5: does not match ./$name
# no case traces app:pop
# no case traces app:woken" "-x: cases without a probe and probes without a case are named"
test_of -x ./$name --all <<END
NAME pushes
RUN ./$name
TRACE app:p*
EXPECT depth=1
END
is "$rc $out" "1 1..2
ok 1 - pushes
not ok 2 - each probe is traced by a case
# these are not:
#   app:woken" "--all: that is a failure"

"./$name" 1 started &
pid=$!
own $pid
wait_for test -s started
test_of <<END
NAME a process that is there
PROCESS $pid
TRACE app:woken
AFTER kill -CONT $pid
EXPECT_NONE woken
END
is "$rc $out" "0 1..1
ok 1 - a process that is there" "PROCESS: the trace ends with AFTER"
ok "and the process goes on" kill -0 $pid
kill $pid

# An AFTER that lets nobody end it.
test_of <<END
NAME a program that ends first
RUN ./$name 1
TRACE app:push
AFTER trap '' TERM; exec sleep 4714
EXPECT depth=1
END
is "$rc $out" "0 1..1
ok 1 - a program that ends first" "AFTER goes on: the case has ended with its program"
is "$(pgrep -fx 'sleep 4714')" "" "and so has AFTER, which ignores SIGTERM"

# What AFTER leaves in the background ends with it, and with a test that is interrupted.
rm started
test_of <<END
NAME leaves something
RUN ./$name 1 started
TRACE app:push
AFTER sleep 4711 & sleep 4712 & until [ -s started ]; do sleep 0.1; done # AFTER ends the trace
EXPECT depth=1
END
is "$rc $out $(pgrep -fx 'sleep 471[12]')" "0 1..1
ok 1 - leaves something " "AFTER leaves nothing behind"
printf '%s\n' 'NAME long' "RUN ./$name 1 started" 'TRACE app:push' 'EXPECT push' 'AFTER sleep 4713; true' >cases/q.cases
"$btgen" test cases/q.cases >/dev/null 2>&1 &
pid=$!
own $pid
wait_for pgrep -fx 'sleep 4713' >/dev/null
kill -TERM $pid
wait $pid 2>/dev/null
ok "interrupted, it takes AFTER with it" wait_for eval '! pgrep -fx "sleep 4713" >/dev/null'

test_of <<END
NAME what should have caused it
RUN ./$name 1
TRACE app:push
AFTER exit 3
EXPECT_NONE pop
END
is "$rc $(head -n 3 <<<"$out")" "1 1..1
not ok 1 - what should have caused it
# the exit status of AFTER is 3" "AFTER fails, and so does the case"

# It ends when it is killed, and so does what it has started.
cat >cases/q.cases <<END
NAME long
RUN ./$name 1 again
TRACE app:push
EXPECT push
END
rm -f again
mkdir own
TMPDIR=$PWD/own "$btgen" test cases/q.cases >/dev/null 2>&1 &
pid=$!
own $pid
wait_for test -s again
kill -KILL $pid
wait $pid 2>/dev/null
ok "killed, it leaves no program, and so no trace of it" wait_for eval '! pgrep -x "$name" >/dev/null'
is "$(ls own)" "" "and no file"
done_testing
