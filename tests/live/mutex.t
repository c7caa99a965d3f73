#!/usr/bin/env bash
# mutex.bt: as many locks and waits as a program made that made its threads wait.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"

# In each round a thread waits 20 ms at least for a mutex that main holds; then both take it 10 times, free.
cat >"$tmp/app.c" <<'END'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static atomic_int waiter;
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;

void __attribute__((noinline)) take(void)
{
	pthread_mutex_lock(&log_lock);
	__asm__ volatile("");
}

static void *worker(void *arg)
{
	waiter = gettid();
	take();
	pthread_mutex_unlock(&log_lock);
	return arg;
}

// Does this thread sleep?
static int sleeps(int tid)
{
	char path[64], state = 0;
	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	FILE *f = fopen(path, "r");
	if (f == NULL || fscanf(f, "%*d (app) %c", &state) != 1)
		state = 0;
	if (f != NULL)
		fclose(f);
	return state == 'S';
}

int main(void)
{
	char c;
	while (read(0, &c, 1) == 1 && c != 'q') {
		for (int i = 0; i < 3; i++) {
			pthread_t t;
			take();
			waiter = 0;
			pthread_create(&t, NULL, worker, NULL);
			while (waiter == 0 || !sleeps(waiter))
				usleep(1000);
			usleep(20000);
			pthread_mutex_unlock(&log_lock);
			pthread_join(t, NULL);
		}
		for (int i = 0; i < 10; i++) {
			take();
			pthread_mutex_unlock(&log_lock);
		}
		if (dprintf(1, "done\n") < 0)
			return 1;
	}
}
END
gcc -O1 -pthread -fno-omit-frame-pointer -rdynamic -o "$tmp/app" "$tmp/app.c" 2>"$tmp/err" || skip_all "gcc failed: $(head -n 1 "$tmp/err")"
live_start "$tmp/app"
live_round -D MIN_US=5000 $live_pid mutex.bt
is "$(grep '^@calls.take' "$tmp/trace")" "@calls[take]: 16" "every lock is counted, by who took it"
is "$(histogram "wait_us[take, log_lock]")" 3 "each wait, with the mutex and who waited"
is_sample mutex.bt

done_testing
