#!/usr/bin/env bash
# A trace that ends by itself: after some time, when nobody reads it; what is said meanwhile, and the status of lost events.
. "$(dirname "$0")/../lib.sh"
. "$top/tests/live.sh"

# Fires one event for each byte of its input, with 60 functions to attach to.
{
	printf '#include <btgen/usdt.h>\n#include <unistd.h>\n'
	printf '__attribute__((noinline)) void step%d(void) { __asm__ volatile(""); }\n' {1..60}
	cat <<'E2'
int main(void)
{
	char c;
	while (read(0, &c, 1) == 1) {
		step1();
		for (long i = c == 'F' ? 200000 : 1; i > 0; i--)
			USDT_PROBE(test, hit, i);
		if (c == 'F' && write(1, "done\n", 5) != 5)
			return 1;
	}
	return 0;
}
E2
} >"$tmp/hit.c"
gcc -O2 -g -I"$top/include" -o "$tmp/hit" "$tmp/hit.c" || exit 1
live_start "$tmp/hit"

# -T: as ^C. What is elapsed counts from BEGIN on, which is before the probes are attached.
script='BEGIN { @start = nsecs; }
usdt:__EXE__:hit { @hits = count(); }
END { printf("ran %d ms\n", (nsecs - @start) / 1000000); clear(@start); }'
ok "-T 1.5: it attaches" live_trace -T 1.5 "$live_pid" -e "$script"
printf A >&8
live_wait
is "$live_rc" 0 "-T: status 0"
is "$(grep . "$tmp/trace" | sed 's/ran .*/ran/' | sort | paste -sd,)" "@hits: 1,ran" "and END has run, and the maps are printed"
took=$(sed -n 's/^ran \(.*\) ms/\1/p' "$tmp/trace")
ok "and it has run for that long ($took ms)" test "${took:-0}" -ge 1500
unlike "$(cat "$tmp/messages")" 'error:|interrupted|press .C' "and nothing is said about it"
live_trace -T 0.3 "$live_pid" -t hit
live_wait
is "$live_rc $(grep -c . "$tmp/trace")" "0 0" "-T 0.3 with -t, and no event"
guard "$live_sh" -q -T 1 "$live_pid" -e "$script" >"$tmp/trace" 2>"$tmp/messages"
is "$? $(grep -c ran "$tmp/trace") $(wc -l <"$tmp/messages")" "0 1 0" "-q -T: END has run, and no message"

# -N: as many lines of events, whatever else is printed. What comes behind them is not lost.
script='BEGIN { printf("head\n"); }
usdt:__EXE__:hit { printf("%d ", arg0); printf("hit\n"); @hits = count(); }
END { printf("end\n"); }'
live_trace -v -N 3 "$live_pid" -e "$script"
printf AAAAAAAA >&8
live_wait
is "$live_rc $(grep . "$tmp/trace" | sed 's/@hits: [0-9]*/@hits/' | paste -sd,)" "0 head,1 hit,1 hit,1 hit,end,@hits" \
	"-N 3: BEGIN's line, three lines of events that are printed in two pieces, END's, and the map; status 0"
like "$(cat "$tmp/messages")" '^btgen: 3 events in [0-9.]+ s, 0 lost$' "-v: the number of events, the time, and how many were lost"
live_trace -N 5 "$live_pid" -t hit
printf F >&8
live_wait
is "$live_rc $(grep -c test:hit "$tmp/trace") $(grep -vc test:hit "$tmp/trace")" "0 5 0" "-N 5 with -t, of 200000: five lines"
unlike "$(cat "$tmp/messages")" 'lost|events' "and nothing is said where no terminal is"
for format in "-f json" -s; do
	# shellcheck disable=SC2086
	live_trace -N 2 $format "$live_pid" -e "$script"
	printf AAAAAAAA >&8
	live_wait
	is "$live_rc $(grep -c '1 hit' "$tmp/trace") $(grep -cE 'head|end' "$tmp/trace")" "0 2 2" "-N 2 with $format"
done

# Lines that bpftrace prints itself are lines of events, too.
for format in "" "-f json" -s "--time wall"; do
	# shellcheck disable=SC2086
	live_trace -N 2 $format "$live_pid" -e 'BEGIN { print((7, 7)); } usdt:__EXE__:hit { print((1, 5)); } END { print((8, 8)); }'
	printf AAAAAAAA >&8
	live_wait
	is "$live_rc $(grep -c '(1, 5)' "$tmp/trace") $(grep -cE '\(7, 7\)|\(8, 8\)' "$tmp/trace")" "0 2 2" "-N 2 of tuples with ${format:-no format}"
done

# What fires after exit() is no event of the trace: neither printed nor lost.
live_trace "$live_pid" -e 'usdt:__EXE__:hit { printf("hit %d\n", ++@n); if (@n == 3) { exit(); } } usdt:__EXE__:hit { printf("and\n"); }'
printf 'AAAAAAAAAAAAAAAAAAAAAAAA' >&8
live_wait
is "$live_rc $(grep -c 'hit' "$tmp/trace") $(sed -n '/hit 3/,$!d; /hit/d; /^@n/p' "$tmp/trace")" "0 3 @n: 3" "exit() ends it in the third event"
unlike "$(cat "$tmp/messages")" 'lost|missing' "... and those after it are no loss"

# The sum of it, where somebody looks at it.
script_of() { script -qec "$1" /dev/null </dev/null; }
if command -v script >/dev/null; then
	like "$(script_of "$live_sh -o $tmp/trace -T 0.5 $live_pid -e 'usdt:__EXE__:hit { @n = count(); }'" | tr '\r' '\n' | sed 's/^\x1b\[K//')" \
		'^btgen: (traced for|no events:).* [0-9.]+ s' "on a terminal there is a line at the end"
else
	skip "on a terminal there is a line at the end" "no script(1)"
fi
live_trace -T 0.2 "$live_pid" -e 'BEGIN { printf("head\n"); } usdt:__EXE__:hit { printf("hit\n"); }
uprobe:__EXE__:step1, uprobe:__EXE__:step2, uprobe:__EXE__:step3 { printf("hit\n"); } interval:s:60 { printf("hit\n"); }'
live_wait
like "$(cat "$tmp/messages")" \
	'^btgen: no events: only BEGIN or END printed anything in 0\.[2-9][0-9]* s while usdt:hit, uprobe:step1, uprobe:step2 and 1 other were attached$' \
	"no events: a line has the time and what was attached, also when BEGIN prints"
live_trace -T 0.2 "$live_pid" -e 'usdt:__EXE__:hit { printf("hit\n"); }'
live_wait
like "$(cat "$tmp/messages")" '^btgen: no events: nothing was printed in 0\.[2-9][0-9]* s while usdt:hit was attached$' "... or when nothing does"
# A busy machine: ^C comes before all is attached, and bpftrace attaches it all the same.
cat >"$tmp/late" <<'END'
#!/bin/bash
[ "$1" != --version ] || { echo bpftrace v0.27.1; exit; }
trap : INT
: >"$LATE"
sleep 0.3; sleep 0.3
echo "Attached 1 probe" >&2
END
chmod +x "$tmp/late"
LATE=$tmp/late.began "$btgen" run --bpftrace "$tmp/late" "$live_pid" -e 'usdt:__EXE__:hit { printf("hit\n"); }' >/dev/null 2>"$tmp/messages" 8>&- &
live_tracer=$!
own $live_tracer
wait_for test -e "$tmp/late.began"
live_wait INT
like "$(cat "$tmp/messages")" '^btgen: no events: nothing was printed in 0\.00 s while usdt:hit was attached$' "^C before all is attached: no time has passed"
is "$("$live_sh" -e 'BEGIN { printf("hi\n"); } interval:ms:100 { exit(); }' 2>&1)" 'btgen: attached
hi' "a script that waits for no event does not lack any"

out=$("$live_sh" --ready-file "$tmp/none/ready" -T 5 "$live_pid" -e 'usdt:__EXE__:hit { printf("hit\n"); }' 2>&1)
is "$? $out" "1 btgen: error: --ready-file: no such directory: $tmp/none" "--ready-file that cannot be written is an error before all else"
out=$("$live_sh" --ready-file "$tmp" -T 5 "$live_pid" -e 'usdt:__EXE__:hit { printf("hit\n"); }' 2>&1)
is "$? $out" "1 btgen: error: --ready-file: cannot write $tmp: Is a directory" "... also where a folder has its name"

# What a reader that ends has not taken was not lost.
for quiet in -q ''; do
	mkfifo "$tmp/reader"
	# shellcheck disable=SC2086
	"$live_sh" $quiet --strict --max-cost none --ready-file "$tmp/ready-3" "$live_pid" -e 'usdt:__EXE__:hit { printf("hit\n"); }' >"$tmp/reader" 2>"$tmp/messages" 8>&- &
	tracer=$!
	own $tracer
	grep -m 1 hit <"$tmp/reader" >"$tmp/first" &
	wait_for test -s "$tmp/ready-3"
	for _ in {1..20}; do
		live_say "$(printf 'A%.0s' {1..400})"
		sleep 0.05
	done
	wait $tracer
	is "$? $(cat "$tmp/first")" "0 hit" "a reader that ends ends the trace"
	is "$(grep -vE 'attached|detaching' "$tmp/messages")" "${quiet:+}$([ -n "$quiet" ] || echo 'btgen: the reader of the output exited, which ended the trace')" \
		"... which is said${quiet:+, but with -q}, and no event is said to be lost"
	rm "$tmp/reader" "$tmp/ready-3"
done

# A reader that goes away is noticed before there is something to write.
mkfifo "$tmp/reader"
"$live_sh" --ready-file "$tmp/ready-2" "$live_pid" -e 'usdt:__EXE__:hit { printf("hit\n"); }' >"$tmp/reader" 2>"$tmp/messages" 8>&- &
own $!
head -c 0 <"$tmp/reader" # opens it, and goes
wait $!
is $? 0 "a reader that has gone ends a trace without events"

# The probes are detached after the results: nobody waits for it.
script='uprobe:__EXE__:step* { @n[func] = count(); }'
ok "60 functions: it attaches" live_trace "$live_pid" -e "$script"
live_wait INT
unlike "$(cat "$tmp/messages")" 'detaching' "a detach that is not waited for is not said"
live_trace -q "$live_pid" -e "$script"
live_wait INT
is "$(cat "$tmp/messages")" "" "but not with -q"
live_trace "$live_pid" -t hit
from=${EPOCHREALTIME/./}
live_wait INT
took=$(((${EPOCHREALTIME/./} - from) / 1000))
if [ $took -lt 1000 ]; then
	unlike "$(cat "$tmp/messages")" 'detaching' "nor one that does not"
else
	skip "nor one that does not" "this machine is so busy that it took $took ms"
fi

# --strict: 64 pages for a flood that comes while bpftrace does not run.
flood() {
	local tracer
	read -r tracer _ <"/proc/$live_tracer/task/$live_tracer/children"
	kill -STOP "$tracer"
	: >"$tmp/answers"
	printf F >&8
	wait_for grep -q "done" "$tmp/answers"
	kill -CONT "$tracer"
}
export BPFTRACE_PERF_RB_PAGES=64
for what in "-t hit" '-e usdt:__EXE__:hit { printf("hit %d\n", arg0); }'; do
	live_trace --strict --max-cost none "$live_pid" "${what%% *}" "${what#* }"
	flood
	live_wait INT
	is "$live_rc" 3 "--strict: lost events are status 3 (${what%% *})"
	like "$(cat "$tmp/messages")" '[0-9]+ of 200000 events were lost' "and it is said that there were"
done
live_trace --max-cost none "$live_pid" -t hit
flood
live_wait INT
is "$live_rc" 0 "without --strict they are status 0"
unset BPFTRACE_PERF_RB_PAGES
live_trace --strict --max-cost none "$live_pid" -t hit
printf A >&8
live_settle
live_wait INT
is "$live_rc $(grep -c test:hit "$tmp/trace")" "0 1" "--strict without lost events: status 0"

# BEGIN and END in one list, beside a BEGIN of btgen's: before 0.25 a program has one.
ok "BEGIN, END: it attaches" live_trace "$live_pid" -e 'BEGIN, END { $n = 1; printf("an end %d\n", $n) }
usdt:__EXE__:hit { printf("%d hit\n", arg0); }'
printf A >&8
wait_for grep -q hit "$tmp/trace"
live_wait INT
is "$live_rc $(grep . "$tmp/trace" | paste -sd,)" "0 an end 1,1 hit,an end 1" "BEGIN, END: runs at both ends"

# -o FILE.json is JSON, unless -f says otherwise.
for format in "" "-f text" "-f json"; do
	rm -f "$tmp/ready" "$tmp/out.json"
	# shellcheck disable=SC2086
	"$live_sh" --ready-file "$tmp/ready" -o "$tmp/out.json" $format "$live_pid" -e 'usdt:__EXE__:hit { printf("hit\n"); }' 2>/dev/null 8>&- &
	own $!
	wait_for test -s "$tmp/ready"
	printf A >&8
	wait_for test -s "$tmp/out.json"
	kill -INT $!
	wait $!
	want=json
	[ "$format" != "-f text" ] || want=text
	is "$(python3 -c 'import json, sys; json.loads(open(sys.argv[1]).readline()); print("json")' "$tmp/out.json" 2>/dev/null || echo text)" \
		$want "-o FILE.json ${format:-with no -f} is $want"
done
exec 8>&-
wait_end "$live_pid"

# A script for the whole host that filters by one process has nothing more to show when that has exited.
filter='#pragma scope host
#ifdef __PID__
#define OURS pid == __PID__ || curtask->real_parent->tgid == __PID__
#endif
usdt:__EXE__:hit /OURS/ { printf("hit %d\n", arg0); }'
# ends_with_target CLAIM SCRIPT...
ends_with_target() {
	live_start "$tmp/hit"
	live_trace --strict --max-cost none -T 60 "$live_pid" "${@:2}"
	printf A >&8
	wait_for are_idle "$live_pid"
	exec 8>&-
	live_wait
	is "$live_rc $(grep '^btgen: p' "$tmp/messages")" "0 btgen: process $live_pid (hit) has exited" "$1 ends with its process, and says so"
}
ends_with_target "a script for the whole host that filters by a PID" -e "$filter"
is "$(grep . "$tmp/trace")" "hit 1" "... and shows what came before"
if [ -e /sys/kernel/tracing/events/sched ] || [ -e /sys/kernel/debug/tracing/events/sched ]; then
	ends_with_target "offcpu.bt" offcpu.bt
	like "$(cat "$tmp/trace")" '@wait_us\[hit\]' "... and prints its maps"
else
	skip "offcpu.bt ends with its process" "tracefs is not mounted here"
fi
live_start "$tmp/hit"
ok "one that does not filter: it attaches" live_trace "$live_pid" -e '#pragma scope host
usdt:__EXE__:hit { printf("hit %d\n", arg0); }'
exec 8>&-
wait_end "$live_pid"
printf A | "$tmp/hit" &
wait_for grep -q hit "$tmp/trace"
live_wait INT
is "$live_rc $(grep -c 'has exited' "$tmp/messages")" "0 0" "... and goes on with the others that run the program"

# Several processes: the last one's end.
mkfifo "$tmp/second"
"$tmp/hit" <"$tmp/second" &
second=$!
own $second
exec 7>"$tmp/second"
live_start "$tmp/hit"
wait_for are_idle "$second"
ok "two processes: it attaches" live_trace --strict --max-cost none -T 60 "$live_pid" "$second" -e 'usdt:__EXE__:hit { printf("%d hit\n", pid); }'
printf A >&8
exec 8>&-
wait_end "$live_pid"
printf A >&7
wait_for grep -q "$second hit" "$tmp/trace"
kill "$second"
live_wait
exec 7>&-
is "$live_rc $(grep . "$tmp/trace" | paste -sd,)" "0 $live_pid hit,$second hit" "... goes on when the first has exited"
is "$(tail -n 1 "$tmp/messages")" "btgen: all 2 processes have exited" "... and ends with the last one, and says so"
done_testing
