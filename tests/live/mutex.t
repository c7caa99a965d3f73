#!/usr/bin/env bash
# mutex.bt: as many locks and waits as a program made that made its threads wait.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"
can_trace || skip_all "needs root and bpftrace"

# In each round a thread waits 20 ms for a mutex that main holds; then both take it 10 times, free.
cat >"$tmp/app.c" <<'END'
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void __attribute__((noinline)) take(void)
{
	pthread_mutex_lock(&lock);
	__asm__ volatile("");
}

static void *worker(void *arg)
{
	take();
	pthread_mutex_unlock(&lock);
	return arg;
}

int main(void)
{
	char c;
	while (read(0, &c, 1) == 1 && c != 'q') {
		for (int i = 0; i < 3; i++) {
			pthread_t t;
			take();
			pthread_create(&t, NULL, worker, NULL);
			usleep(20000);
			pthread_mutex_unlock(&lock);
			pthread_join(t, NULL);
		}
		for (int i = 0; i < 10; i++) {
			take();
			pthread_mutex_unlock(&lock);
		}
		if (dprintf(1, "done %p\n", (void *)&lock) < 0)
			return 1;
	}
}
END
gcc -O1 -pthread -fno-omit-frame-pointer -rdynamic -o "$tmp/app" "$tmp/app.c" 2>"$tmp/err" || skip_all "gcc failed: $(head -n 1 "$tmp/err")"
live_start "$tmp/app"
ok "it attaches" live_trace -D MIN_US=5000 $live_pid mutex.bt
printf x >&8
wait_for 10 grep -q 'done' "$tmp/answers"
live_wait INT
is $live_rc 0 "^C is status 0"
exec 8>&-
wait $live_pid
lock=$(printf '%d' "$(sed 's/done //' "$tmp/answers")")
is "$(grep '^@calls.take' "$tmp/trace")" "@calls[take]: 16" "every lock is counted, by who took it"
is "$(awk -v m="@wait_us[take, $lock]:" '/^@/ { sub(/ *$/, ""); on = $0 == m; next } on && /^\[/ { sub(/\|.*/, ""); n += $NF } END { print n + 0 }' "$tmp/trace")" \
	3 "each wait, with the mutex and who waited"
is_sample mutex.bt

done_testing
