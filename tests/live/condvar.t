#!/usr/bin/env bash
# condvar.bt: each wait once, with its end and its time, though the C library has two functions of the name.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"

# In each round take() waits 20 times for 10 ms or so, wait_a_while() 5 times for 5 ms in vain. The last argument makes take() call
# what programs of 2002 called.
cat >"$tmp/app.c" <<'END'
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#ifdef OLD
__asm__(".symver pthread_cond_wait, pthread_cond_wait@GLIBC_2.2.5");
__asm__(".symver pthread_cond_signal, pthread_cond_signal@GLIBC_2.2.5");
#endif
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER, never = PTHREAD_COND_INITIALIZER;
static int items, is_waiting, waits;
void __attribute__((noinline)) take(void)
{
	while (items == 0) {
		is_waiting = 1;
		pthread_cond_wait(&ready, &lock);
		is_waiting = 0;
		waits++;
	}
}
int __attribute__((noinline)) wait_a_while(void)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += 5000000;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	int rc = pthread_cond_timedwait(&never, &lock, &t);
	__asm__ volatile("");
	return rc;
}
static void *consume(void *arg)
{
	pthread_mutex_lock(&lock);
	for (int i = 0; i < 20; i++) {
		take();
		items--;
	}
	for (int i = 0; i < 5; i++)
		wait_a_while();
	pthread_mutex_unlock(&lock);
	return arg;
}
int main(void)
{
	char c;
	while (read(0, &c, 1) == 1 && c != 'q') {
		pthread_t t;
		waits = 0;
		pthread_create(&t, NULL, consume, NULL);
		for (int i = 0; i < 20; i++) {
			for (int has = 0; !has; usleep(1000)) {
				pthread_mutex_lock(&lock);
				has = is_waiting;
				pthread_mutex_unlock(&lock);
			}
			usleep(10000);
			pthread_mutex_lock(&lock);
			items++;
			is_waiting = 0;
			pthread_cond_signal(&ready);
			pthread_mutex_unlock(&lock);
		}
		pthread_join(t, NULL);
		if (dprintf(1, "%d waits\ndone\n", waits) < 0)
			return 1;
	}
}
END
build() { gcc -O1 -pthread -fno-omit-frame-pointer -rdynamic "$@" "$tmp/app.c" 2>"$tmp/err"; }
build -o "$tmp/app" || skip_all "gcc failed: $(head -n 1 "$tmp/err")"
calls() { sed -n 's/^@calls\[take\]: //p' "$tmp/trace"; }
waits() { sed -n 's/ waits$//p' "$tmp/answers"; }
live_start "$tmp/app"
live_round -D MIN_US=1000 $live_pid condvar.bt
is "$(calls)" "$(waits)" "each wait is counted once, by who waits"
is "$(histogram "wait_us[take, ready]")" 20 "... with its time and the variable"
# Before 0.23 bpftrace attaches to the first of the two, which may be the other one.
if grep -q 'warning: 2 of these functions may not be traced: ' "$tmp/messages" && ! grep -q wait_a_while "$tmp/trace"; then
	excuse=(-x 'wait_a_while' -x '4K')
	skip "waits with a time limit" "this bpftrace attaches to the older function, which it says"
else
	excuse=()
	is "$(grep '^@.*\[wait_a_while\]' "$tmp/trace" | sort)" "@calls[wait_a_while]: 5
@timeouts[wait_a_while]: 5" "waits with a time limit, which are over"
fi
is_sample condvar.bt "${excuse[@]}"

if build -DOLD -o "$tmp/old"; then
	live_start "$tmp/old"
	live_round $live_pid condvar.bt
	is "$(calls)" "$(waits)" "a wait by the older function, which calls the newer one, is counted once"
else
	skip "the older function" "this C library has none"
fi
done_testing
