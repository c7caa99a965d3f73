#!/usr/bin/env bash
# -s: events of two threads on two processors, which take turns, come out in the order in which they were, all of them.
. "$(dirname "$0")/../lib.sh"
. "$top/tests/live.sh"
[ "$(nproc)" -ge 2 ] || skip_all "needs two processors"

cat >"$tmp/pingpong.c" <<'E2'
#define _GNU_SOURCE
#include <btgen/usdt.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>

static sem_t turn[2];
static long end, pause_every;

/* on the first or the second processor that it may use */
static void pin(long which)
{
	cpu_set_t allowed, mine;
	CPU_ZERO(&mine);
	sched_getaffinity(0, sizeof(allowed), &allowed);
	for (int i = 0; i < CPU_SETSIZE && which >= 0; i++)
		if (CPU_ISSET(i, &allowed) && which-- == 0)
			CPU_SET(i, &mine);
	sched_setaffinity(0, sizeof(mine), &mine);
}

/* the thread of even numbers, or that of odd ones */
static void *play(void *odd)
{
	pin((long)odd);
	for (long n = (long)odd; n < end; n += 2) {
		sem_wait(&turn[(long)odd]);
		USDT_PROBE(pingpong, hit, n);
		if (pause_every && n % pause_every == 0)
			usleep(10000);
		sem_post(&turn[!odd]);
	}
	return NULL;
}

/* a line "N P": N events from 0 on, with 10 ms after P each, then "done" */
int main(void)
{
	pthread_t id[2];
	while (scanf("%ld %ld", &end, &pause_every) == 2) {
		sem_init(&turn[0], 0, 1);
		sem_init(&turn[1], 0, 0);
		for (long i = 0; i < 2; i++)
			pthread_create(&id[i], NULL, play, (void *)i);
		for (long i = 0; i < 2; i++)
			pthread_join(id[i], NULL);
		printf("done\n");
		fflush(stdout);
	}
	return 0;
}
E2
gcc -O2 -g -pthread -I"$top/include" -o "$tmp/pingpong" "$tmp/pingpong.c" || exit 1
n=20000
script='usdt:__EXE__:pingpong:hit { printf("hit %d\n", arg0); @hits = count(); }'
live_start "$tmp/pingpong"

# events N PAUSE: they have been fired
events() {
	: >"$tmp/answers"
	live_say "$*"
	wait_for grep -q "done" "$tmp/answers"
}

# game OPTION...: what bpftrace finds in its buffers, two seconds of one processor and then of the other, and then all of them
game() {
	local tracer
	live_trace --max-cost none "$@" -e "$script" "$live_pid" || return 1
	read -r tracer _ <"/proc/$live_tracer/task/$live_tracer/children"
	# What it finds later it has to read at once, beside whatever else runs here.
	renice -n -15 -p "$tracer" "$live_tracer" >/dev/null
	kill -STOP "$tracer"
	events 1000 5
	kill -CONT "$tracer"
	events "$n" 1000
	live_wait INT
}
# numbers: of the hits in the order of $tmp/trace; steps_back: how many are less than the one before
numbers() { sed -n 's/.*hit \([0-9]*\)$/\1/p' "$tmp/trace"; }
steps_back() { awk 'NR > 1 && $1 < last { n++ } { last = $1 } END { print n + 0 }'; }
expected() {
	seq 0 999
	seq 0 $((n - 1))
}

ok "a trace without -s" game
numbers >"$tmp/plain"
ok "it has all events" cmp -s <(sort -n "$tmp/plain") <(expected | sort -n)
unordered=$(steps_back <"$tmp/plain")
echo "# steps back without -s: $unordered, of which one is between the two bursts"
if [[ $("$bpftrace" --version) == *v0.1[0-9].* ]]; then # newer ones have one buffer for all processors
	ok "not in their order" test "$unordered" -gt 1
fi

ok "a trace with -s" game -s
numbers >"$tmp/sorted"
ok "it has all events, in their order" cmp -s "$tmp/sorted" <(expected)
like "$(head -n 1 "$tmp/trace")" \
	"^[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{9} \[[0-9]{3}\] $live_pid [0-9]+ [^ ]*pingpong:hit: hit 0$" "each with its time, processor, process, thread and probe"
is "$(grep -c late "$tmp/trace")" 0 "none is late"
is "$(tail -n 1 "$tmp/trace")" "@hits: $((n + 1000))" "the map is behind them"

ok "the same as JSON" game -s -f json
is "$(python3 - "$tmp/trace" 2>&1 <<'E3'
import json, sys
capture, *rows = [json.loads(line) for line in open(sys.argv[1])]
hits = [row for row in rows if "fields" in row]
times = [row["time"] for row in hits]
print(len(rows) - len(hits), times == sorted(times), len({row["cpu"] for row in hits}), rows[-1])
print([row["fields"]["n"] for row in hits] == [*range(1000), *range(20000)])
E3
)" "1 True 2 {'map': '@hits', 'entries': [{'value': 21000}]}
True" "all that is in each object"

# shellcheck disable=SC2016 # bpftrace's
script='usdt:__EXE__:pingpong:hit {
	if (arg0 == 0) { printf("begin "); } else if (arg0 == 998) { printf("end\n"); }
	if (arg0 % 2 == 1) { printf("hit %d\n", arg0); }
}'
ok "a line that one thread begins, and ends two seconds later" live_trace -s -e "$script" "$live_pid"
events 1000 5
live_wait INT
like "$(tr '\n' '~' <"$tmp/trace")" "hit [0-9]+~[0-9:.]* \[[0-9]*\] $live_pid [0-9]+ late [^ ]*pingpong:hit: begin end~" \
	"has the time of its beginning, and is marked as late"
is "$(numbers)" "$(seq 1 2 999)" "the others are in their order"
like "$(cat "$tmp/messages")" 'warning: 1 line came after later ones had been printed: look for "late"' "a warning says so"
live_quit
done_testing
