#!/usr/bin/env bash
# Two clauses on one probe see the same events, from the first one to the last: they are attached, and detached, as one.
. "$(dirname "$0")/../lib.sh"
. "$top/tests/live.sh"

# 16 threads that fire without a pause, before it attaches and after it has ended; at the end of the input it ends
cat >"$tmp/load.c" <<'E2'
#include <btgen/usdt.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static _Atomic int stop;
__attribute__((noinline)) static long step(long n) { __asm__ volatile("" : "+r"(n)); return n; }
static void *work(void *from)
{
	long i = (long)from;
	while (!stop) {
		i = step(i) + 1;
		USDT_PROBE(load, hit, i, "some text");
	}
	return NULL;
}
int main(void)
{
	pthread_t id[16];
	for (long i = 0; i < 16; i++)
		pthread_create(&id[i], NULL, work, (void *)i);
	while (getchar() != EOF)
		;
	stop = 1;
	for (int i = 0; i < 16; i++)
		pthread_join(id[i], NULL);
	return 0;
}
E2
gcc -O2 -g -pthread -I"$top/include" -o "$tmp/load" "$tmp/load.c" || exit 1
live_start "$tmp/load"

# value MAP: what is behind its name in the trace
value() { sed -n "s/^@$1: //p" "$tmp/trace"; }

for probe in usdt:__EXE__:hit uprobe:__EXE__:step; do
	ok "two clauses on $probe: it attaches" live_trace -T 1 "$live_pid" -e "$probe { @a = count(); }
usdt:__EXE__:hit { @other = count(); }
$probe /arg0 % 2 == 0/ { @even = count(); }
$probe { \$n = arg0 % 2; if (\$n == 1) { @odd = count(); } }
$probe /1 == 1/ { \$n = arg0; @b = count(); @last[cpu] = \$n; }"
	live_wait
	printf '# %s\n' "$(grep '^@' "$tmp/trace" | paste -sd' ')"
	ok "there are events" test "$(value a)" -gt 0
	is "$(value b)" "$(value a)" "the first and the last have counted the same"
	is $(($(value even) + $(value odd))) "$(value a)" "and the two halves, with a predicate and without, are the whole"
done
exec 8>&-
wait_end "$live_pid"
done_testing
