#!/usr/bin/env bash
# Events that come faster than bpftrace reads them: none are lost that bpftrace alone would deliver.
. "$(dirname "$0")/../lib.sh"
. "$top/tests/live.sh"
can_trace || skip_all "needs root and bpftrace"

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
	wait_for 60 grep -q "done" "$tmp/answers"
}

lines() { grep -c 'a string of some length' "$1"; }

# bpftrace alone
waits() { grep -qE '^(22|232|281) ' "/proc/$1/syscall"; } # epoll_wait, epoll_pwait
has_all() {
	local before=$got
	got=$(wc -c <"$tmp/bare")
	[ "$got" = "$before" ] && sleep 0.5 && [ "$(wc -c <"$tmp/bare")" = "$got" ]
}
"$bpftrace" -p "$live_pid" -e "usdt:/proc/$live_pid/exe:burst:hit $script" >"$tmp/bare" 2>"$tmp/bare-said" 8>&- &
bare=$!
own $bare
wait_for 60 waits $bare
burst 3000 4
got=''
wait_for 60 has_all
kill -INT $bare
wait $bare

ok "it attaches" live_trace "$live_pid" -e "usdt:__EXE__:hit $script"
burst 3000 4
live_wait INT
printf '# a burst of 3000 events: %s alone has %s lines, btgen %s\n' "$version" "$(lines "$tmp/bare")" "$(lines "$tmp/trace")"
ok "a burst of 3000 events from 4 threads: not fewer lines than bpftrace has alone" \
	test "$(lines "$tmp/trace")" -ge "$(lines "$tmp/bare")"

live_quit
done_testing
