#!/usr/bin/env bash
# Events that come faster than bpftrace reads them: none are lost that bpftrace alone would deliver, and those that are lost
# are counted.
. "$(dirname "$0")/../lib.sh"
. "$top/tests/live.sh"

cat >"$tmp/burst.c" <<'E2'
#include <btgen/usdt.h>
#include <pthread.h>
#include <stdio.h>
static long each;
static void *work(void *from)
{
	for (long i = 0; i < each; i++)
		USDT_PROBE(burst, hit, (long)from + i, "a string of some length");
	return NULL;
}
/* a line "N T": T threads fire N events together, then "done" */
int main(void)
{
	long n, threads;
	pthread_t id[64];
	while (scanf("%ld %ld", &n, &threads) == 2) {
		each = n / threads;
		for (long i = 0; i < threads; i++)
			pthread_create(&id[i], NULL, work, (void *)(i * each));
		for (long i = 0; i < threads; i++)
			pthread_join(id[i], NULL);
		USDT_PROBE(burst, end, n, "x\nLost 99 events\ny");
		printf("done\n");
		fflush(stdout);
	}
	return 0;
}
E2
gcc -O2 -g -pthread -I"$top/include" -o "$tmp/burst" "$tmp/burst.c" || exit 1
version=$("$bpftrace" --version)
script='{ printf("%d %s\n", arg0, str(arg1)); }'
live_start "$tmp/burst"

# burst N THREADS: they have been fired
burst() {
	: >"$tmp/answers"
	live_say "$*"
	wait_for grep -q "done" "$tmp/answers"
}

# flood N THREADS: while bpftrace does not run, so that its buffer overflows
flood() {
	local tracer
	read -r tracer _ <"/proc/$live_tracer/task/$live_tracer/children"
	kill -STOP "$tracer"
	burst "$@"
	kill -CONT "$tracer"
}

lines() { grep -c 'a string of some length' "$1"; }
# lost: how many are said to be
lost() { sed -nE 's/.*warning: (at least )?([0-9]+) (of [0-9]+ )?events were lost.*/\2/p' "$tmp/messages" | grep . || echo 0; }

bare_start "$bpftrace" -p "$live_pid" -e "usdt:/proc/$live_pid/exe:burst:hit $script"
burst 3000 4
bare_end

ok "it attaches" live_trace "$live_pid" -e "usdt:__EXE__:hit $script"
burst 3000 4
live_wait INT
printf '# a burst of 3000 events: %s alone has %s lines, btgen %s\n' "$version" "$(lines "$tmp/bare")" "$(lines "$tmp/trace")"
ok "a burst of 3000 events from 4 threads: not fewer lines than bpftrace has alone" \
	test "$(lines "$tmp/trace")" -ge "$(lines "$tmp/bare")"
is $(($(lines "$tmp/trace") + $(lost))) 3000 "and those that are missing are said to be lost"

ok "-t attaches" live_trace "$live_pid" -t hit
burst 3000 4
live_wait INT
is $(($(lines "$tmp/trace") + $(lost))) 3000 "-t: lines and lost ones are what was fired, in a burst"
unlike "$(cat "$tmp/trace")" 'fired|Lost' "and nothing else is among the lines"

export BPFTRACE_PERF_RB_PAGES=64 # the user's own wish: it will not do
ok "-t attaches to two probes" live_trace "$live_pid" -t 'burst:*'
flood 200000 16
live_wait INT
n=$(lost)
printf '# a flood of 200000 events: %s: %s lines, %s lost\n' "$version" "$(lines "$tmp/trace")" "$n"
ok "a flood of 200000 events from 16 threads overflows the buffer that the user wants" test "$n" -gt 0
is $(($(grep -c 'burst:' "$tmp/trace") + n)) 200001 "-t: lines and lost ones are what was fired, in a flood"
like "$(cat "$tmp/messages")" "warning: $n of 200001 events were lost" "and the message says of how many"

ok "-t -f json attaches" live_trace -q "$live_pid" -t 'burst:*' -f json
flood 200000 16
live_wait INT
like "$(cat "$tmp/messages")" '^btgen: warning: [0-9]+ of 200001 events were lost' "-q does not hide that events were lost"
is "$(python3 - "$tmp/trace" <<'E2'
import json, sys
_, *lines = [json.loads(line) for line in open(sys.argv[1])]
lost = lines.pop()["lost"]
others = [l for l in lines if "probe" not in l]
lines = [l for l in lines if "probe" in l]
print(*others, end="")
print(len([l for l in lines if l["probe"] == "burst:hit"]) + lost["burst:hit"],
      len([l for l in lines if l["probe"] == "burst:end"]) + lost.get("burst:end", 0))
E2
)" "200000 1" "-f json: the last object has the lost events of each probe, exactly"

ok "a script attaches" live_trace -q "$live_pid" -e "usdt:__EXE__:hit $script"
flood 200000 16

live_wait INT
sum=$(($(lines "$tmp/trace") + $(lost)))
like "$(cat "$tmp/messages")" 'warning: [0-9]+ of 200000 events were lost' "a script: the number of lost events is said"
is $sum 200000 "and with the lines it makes what was fired"
printf '# a script: %s: %s lines, %s lost, %s fired\n' "$version" "$(lines "$tmp/trace")" "$(lost)" 200000

# Words of bpftrace that the traced program says.
unset BPFTRACE_PERF_RB_PAGES
ok "a script attaches" live_trace "$live_pid" -e 'usdt:__EXE__:end { printf("%s\n", str(arg1)); }'
burst 2 1
live_wait INT
is "$(paste -sd, "$tmp/trace")" "x,Lost 99 events,y" "a string that says \"Lost 99 events\" is printed"
unlike "$(cat "$tmp/messages")" 'were lost' "and nothing is said to be lost"
ok "-t attaches" live_trace "$live_pid" -t 'burst:end'
burst 2 1
live_wait INT
like "$(cat "$tmp/trace")" 'burst:end n=2 arg1="x\\nLost 99 events\\ny"$' "-t prints it as one string"
unlike "$(cat "$tmp/messages")" 'were lost' "and nothing is said to be lost"
live_quit

# Two threads on two processors come to each of 60 probes for the first time, together.
{
	cat <<'E2'
#include <btgen/usdt.h>
#include <pthread.h>
#include <stdio.h>
static _Atomic int here;
static void *work(void *none)
{
	int n = 0;
#define MEET(name) for (n += 2, here++; here < n;); USDT_PROBE(first, name, n);
E2
	printf 'MEET(p%d)\n' {1..60}
	cat <<'E2'
	return none;
}
int main(void)
{
	pthread_t id[2];
	getchar();
	for (int i = 0; i < 2; i++)
		pthread_create(&id[i], NULL, work, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(id[i], NULL);
	printf("done\n");
	fflush(stdout);
	while (getchar() != EOF)
		;
	return 0;
}
E2
} >"$tmp/first.c"
gcc -O2 -g -pthread -I"$top/include" -o "$tmp/first" "$tmp/first.c" || exit 1
live_start "$tmp/first"
ok "-t attaches to 60 probes" live_trace "$live_pid" -t 'first:*'
live_say go
wait_for grep -q "done" "$tmp/answers"
live_wait INT
is $(($(grep -c 'first:p' "$tmp/trace") + $(lost))) 120 \
	"-t: an event that is the first of its probe on two processors at once is counted on both"
is "$(grep -cv 'first:p[0-9]* n=' "$tmp/trace")" 0 "and nothing else is among the lines"
live_quit
done_testing
