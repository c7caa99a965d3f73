#!/usr/bin/env bash
# Probes that fire equally often are counted equally often, however long bpftrace takes to attach and to detach them: in what -t
# prints, counts and times, and in a script with #pragma gate.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"

# Each turn of a loop fires six probes, of which three are its start, its middle and its end. A line begins an operation, the next
# one ends it.
cat >"$tmp/turns.c" <<'END'
#include <btgen/usdt.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static void *turn(void *unused)
{
	for (long i = 0;; i++) {
		USDT_PROBE(turn, start, i);
		USDT_PROBE(turn, a, i);
		USDT_PROBE(turn, middle, i);
		USDT_PROBE(turn, b, i);
		USDT_PROBE(turn, c, i);
		USDT_PROBE(turn, end, i);
		usleep(500);
	}
	return unused;
}
int main(void)
{
	pthread_t id;
	pthread_create(&id, NULL, turn, NULL);
	for (int c; (c = getchar()) != EOF;)
		if (c == 'b')
			USDT_PROBE(op, begun, c);
		else if (c == 'e')
			USDT_PROBE(op, ended, c);
	return 0;
}
END
gcc -O1 -g -pthread -I"$top/include" -o "$tmp/turns" "$tmp/turns.c" || exit 1
live_start "$tmp/turns"

# are_equal N CLAIM: lines "COUNT PROBE" of N probes, whose counts are one thread's: what was in flight makes a difference of 1
are_equal() {
	local said
	said=$(awk -v n="$1" '{ if (NR == 1 || $1 < least) least = $1; if ($1 > most) most = $1 }
		END { print (NR == n && least > 50 && most - least <= 1) ? "equal" : "between " least " and " most ", of " NR }')
	is "$said" equal "$2"
}
counts() { sed -n 's/^@count\[\(.*\)\]: \([0-9]*\)$/\2 \1/p' "$tmp/trace"; }
lines() { sed -n 's/.* \(turn:[a-z]*\) .*/\1/p' "$tmp/trace" | sort | uniq -c; }

# trace_for_a_second ARG...
trace_for_a_second() {
	live_trace "$live_pid" -T 1 "$@"
	live_wait
}

trace_for_a_second -t 'turn:*' --count
are_equal 6 "--count: probes that fire equally often" < <(counts)
unlike "$(cat "$tmp/trace")" gate "what makes them so is not printed"
trace_for_a_second -t 'turn:*'
are_equal 6 "-t: lines of probes that fire equally often" < <(lines)
is "$(grep -c 'lost\|missing' "$tmp/messages")" 0 "... and none comes while the trace is being ended"
for sig in INT TERM; do
	live_trace "$live_pid" -t 'turn:*' --count
	sleep 0.5
	live_wait $sig
	are_equal 6 "SIG$sig ends all counts at once" < <(counts)
done
live_trace -x "$tmp/turns" -t 'turn:*' --count
sleep 0.5
live_wait INT
are_equal 6 "-x" < <(counts)
trace_for_a_second --children -t 'turn:*' --count
are_equal 6 "--children" < <(counts)
trace_for_a_second -f json -t 'turn:*' --count
python3 -c '
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
for e in rows[-1]["entries"]: print(e["value"], *e["key"])' "$tmp/trace" >"$tmp/rows"
are_equal 6 "-f json" <"$tmp/rows"
is "$(grep -c gate "$tmp/trace")" 0 "... in which there is no other map"

trace_for_a_second --latency turn:start turn:end
like "$(cat "$tmp/trace")" '^@us: count [0-9]{2}' "--latency: it times turns"
unlike "$(cat "$tmp/trace")" unpaired "... and each start has its end, and each end its start"
live_trace "$live_pid" --latency op:begun op:ended
live_say beb # a whole one, and half of one
live_settle
live_wait INT
like "$(cat "$tmp/trace")" '^@us: count 1,' "--latency: one that has ended is counted"
is "$(grep -c '^btgen: 1 operation still in progress at the end of the trace is not counted$' "$tmp/messages")" 1 "one that has not is said to be under way"
live_say e

cat >"$tmp/counts.bt" <<'END'
#pragma gate
BEGIN { printf("from here\n"); }
usdt:__EXE__:turn:start, usdt:__EXE__:turn:a { @count[probe] = count(); }
usdt:__EXE__:turn:middle /arg0 >= 0/ { @count[probe] = count(); }
usdt:__EXE__:turn:b { @count[probe] = count(); }
usdt:__EXE__:turn:c { @count[probe] = count(); }
usdt:__EXE__:turn:end { @count[probe] = count(); }
interval:s:1 { printf("a second\n"); exit(); }
END
live_trace "$live_pid" "$tmp/counts.bt"
live_wait
are_equal 6 "a script with #pragma gate, which ends itself" < <(counts)
is "$(grep -c 'from here\|a second' "$tmp/trace")" 2 "its BEGIN and interval have no gate"
"$btgen" expand -p "$live_pid" "$tmp/counts.bt" >"$tmp/alone.bt"
is "$(grep -c gate "$tmp/alone.bt") $(grep -c count "$tmp/alone.bt")" "0 5" "a program for bpftrace alone has none"
"$live_sh" -n "$live_pid" -t 'turn:*' --count >"$tmp/own.bt"
trace_for_a_second "$tmp/own.bt"
are_equal 6 "the script that -n prints of --count" < <(counts)

# A script of bpf/ whose probes are attached one by one, on a program that calls all functions equally often
for script in "$top"/bpf/*.bt; do
	grep -qE '^(usdt|uprobe|uretprobe|tracepoint|kprobe|profile)' "$script" || continue # one to include
	is "$(grep -c '^#pragma gate$' "$script")" 1 "${script##*/} counts from when all of its probes are attached"
done
cat >"$tmp/heap.c" <<'END'
#include <stdlib.h>
#include <unistd.h>
int main(void)
{
	while (usleep(500) == 0) {
		free(realloc(malloc(10), 20));
		free(calloc(10, 20));
	}
}
END
gcc -O1 -fno-builtin -o "$tmp/heap" "$tmp/heap.c" || exit 1
"$tmp/heap" &
heap=$!
own $heap
live_trace $heap -T 1 malloc.bt
live_wait
are_equal 3 "malloc.bt: calls of functions called equally often" < <(sed -n 's/^@calls\[\(.*alloc\)\]: \([0-9]*\)$/\2 \1/p' "$tmp/trace")

exec 8>&-
done_testing
