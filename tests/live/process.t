#!/usr/bin/env bash
# files.bt, syscall-latency.bt and offcpu.bt on a program that says what it did.
# shellcheck source=tests/lib.sh
[ -e /sys/kernel/tracing/available_events ] || [ -n "${BTGEN_IN_TRACEFS-}" ] ||
	exec "$(dirname "$0")/../matrix/tracefs.sh" "$0" "$@"
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"
[ -e /sys/kernel/tracing/events/raw_syscalls ] || skip_all "this kernel has no system call tracepoints, or tracefs is not mounted"

cat >"$tmp/work.c" <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static long now(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

// Says how long it took, longer than the call: on a busy machine a short one may be slow, too. And for how much of what was
// asked for this thread surely had no processor: one that is halted as the call begins makes that less.
static void nap(int us)
{
	long used = now(CLOCK_THREAD_CPUTIME_ID), from = now(CLOCK_MONOTONIC);
	usleep(us);
	long to = now(CLOCK_MONOTONIC);
	used = now(CLOCK_THREAD_CPUTIME_ID) - used;
	printf("nap %ld %ld\n", to - from + 1, to - from - used < us ? to - from - used : us);
}

static void __attribute__((noinline)) short_nap(void)
{
	nap(10000);
	__asm__ volatile("");
}

static void __attribute__((noinline)) long_nap(void)
{
	nap(60000);
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	char line[16], buf[256] = "";
	struct iovec two[2] = {{buf, 10}, {buf, 20}};
	while (argc > 2 && fgets(line, sizeof(line), stdin)) {
		int log = open(argv[2], O_WRONLY | O_CREAT | O_APPEND, 0600);
		int fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
		for (int i = 0; i < 4; i++)
			if (write(log, buf, 128) != 128)
				return 1;
		for (int i = 0; i < 3; i++)
			if (write(fd, buf, 100) != 100)
				return 1;
		if (pwrite(fd, buf, 50, 0) != 50 || writev(fd, two, 2) != 30 || pread(fd, buf, 64, 0) != 64)
			return 1;
		lseek(fd, 0, SEEK_SET);
		if (read(fd, buf, 64) != 64 || readv(fd, two, 2) != 30)
			return 1;
		dup2(fd, 77);
		close(fd);
		if (write(77, buf, 7) != 7 || open("/no/such", O_RDONLY) >= 0)
			return 1;
		for (int i = 0; i < 5; i++)
			short_nap();
		long_nap();
		long_nap();
		puts("done");
		fflush(stdout);
	}
}
END
gcc -O1 -fno-omit-frame-pointer -o "$tmp/work" "$tmp/work.c" 2>"$tmp/err" || skip_all "gcc failed: $(head -n 1 "$tmp/err")"

# traced ARG...: the trace of one round of the work
traced() {
	rm -f "$tmp/answers"
	live_start "$tmp/work" "$tmp/data" "$tmp/app.log"
	live_trace "${@:1:$#-1}" $live_pid "${!#}"
	live_say work
	wait_for grep -q 'done' "$tmp/answers"
	live_wait INT
	is $live_rc 0 "${!#}: ^C is status 0"
	exec 8>&-
	wait_end "$live_pid"
}

traced files.bt
is "$(sed -nE "s/^[0-9.]+: //; s|: $tmp/data\$||; s|$tmp/||; s/^(opens|closes)/\1/p" "$tmp/trace")" "opens app.log as 3
opens data as 4
closes 4 after 3 reads of 158 bytes, 5 writes of 380 bytes
opens /no/such, error 2" "files.bt: what was opened and closed, with what was read and written"
is "$(grep -E '^@(file|writes|write_bytes)\[(3|77)\]' "$tmp/trace" | sed "s|$tmp/||" | LC_ALL=C sort)" "@file[3]: app.log
@write_bytes[3]: 512
@write_bytes[77]: 7
@writes[3]: 4
@writes[77]: 1" "files.bt: what is still open, by descriptor"
path=()
[[ $("$bpftrace" --version) != *v0.1[0-9].* && $("$bpftrace" --version) != *v0.2[01].* ]] ||
	path=(-x ' closes 4 ') # without its path there
is_sample files.bt ${path[@]+"${path[@]}"}

traced -D SLOW_US=50000 syscall-latency.bt
is "$(histogram 'us[clock_nanosleep]') $(histogram 'us[write]') $(histogram 'us[pwrite64]')" "7 9 1" \
	"syscall-latency.bt: each call is in its histogram"
sed -nE 's/^[0-9.]+: [0-9]+ clock_nanosleep ([0-9]+) us, returned 0$/\1/p' "$tmp/trace" >"$tmp/slow"
least=$(sort -n "$tmp/slow" | head -n 1) lines=$(wc -l <"$tmp/slow")
by_program=$(awk '$1 == "nap" && $2 >= 50000' "$tmp/answers" | wc -l)
ok "syscall-latency.bt: a line for each that was slow ($lines, by the program's own clock $by_program; the least ${least:-no} us)" \
	test "$lines" -ge 2 -a "$lines" -le "$by_program" -a "${least:-0}" -ge 50000
is "$(grep -cE '^[0-9.]+: .*nanosleep' "$tmp/trace")" "$lines" "syscall-latency.bt: each with what it returned"
longest=$(sed -n 's/^@longest_us\[clock_nanosleep\]: //p' "$tmp/trace")
ok "syscall-latency.bt: the longest took 60 ms ($longest us)" test "${longest:-0}" -ge 60000
is_sample syscall-latency.bt

traced -D MIN_US=5000 offcpu.bt
# Those that were so long by the program's own clocks: all 7, 170 ms together, but for a processor that is not always there.
# One of the short ones may be missing: where a hypervisor takes the processor away while the call sets its timer, which is
# when it gets control, the thread comes to wait when the time is over, and its own clock does not run either.
read -r waits waited <<<"$(awk '$1 == "nap" && $3 >= 5000 { n++; us += $3 } END { print n + 0, us + 0 }' "$tmp/answers")"
ok "offcpu.bt: each wait is in the histogram ($(histogram 'wait_us[work]') of $waits)" test \
	"$(histogram 'wait_us[work]')" -ge $((waits - 1)) -a "$waits" -ge 3
total=$(awk '/^@off_us/ { on = 1 } on && /^\]: / { n += $2; on = 0 } END { print n + 0 }' "$tmp/trace")
ok "offcpu.bt: the waits sum up to $waited us ($total us)" test "$total" -ge $((waited - 10000)) ||
	sed 's/^/# /' "$tmp/answers" "$tmp/trace"
# A stack begins in the C library's function, which has no frame: its caller is skipped. Since glibc 2.41 that is the one which
# all calls go through that a thread can be cancelled in.
like "$(tr '\n' ' ' <"$tmp/trace")" '@off_us\[work, +([a-z_]*nanosleep|__internal_syscall_cancel)[^ ]* +([a-z_]+\+[0-9]+ +)*main\+' "offcpu.bt: by the stack that waited"
is_sample offcpu.bt

# More threads than a map has room for, which come, wait once, and go
cat >"$tmp/brief.c" <<'END'
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static void *once(void *p) { pthread_setname_np(pthread_self(), "brief"); usleep(20000); return p; }
int main(void)
{
	pthread_t threads[100];
	if (getchar() < 0)
		return 1;
	for (int round = 0; round < 50; round++) {
		for (int i = 0; i < 100; i++)
			pthread_create(&threads[i], 0, once, 0);
		for (int i = 0; i < 100; i++)
			pthread_join(threads[i], 0);
	}
	puts("done");
	fflush(stdout);
	return getchar() == 'x';
}
END
gcc -D_GNU_SOURCE -O1 -fno-omit-frame-pointer -pthread -o "$tmp/brief" "$tmp/brief.c"
live_start "$tmp/brief"
live_trace -D MIN_US=10000 -D STACK=2 $live_pid offcpu.bt
echo >&8
wait_for grep -q 'done' "$tmp/answers"
live_wait INT
exec 8>&-
wait_end "$live_pid"
n=$(histogram 'wait_us[brief]')
ok "offcpu.bt: a thread that has ended makes room for others: $n waits of 5000 threads" test "${n:-0}" -ge 4900

done_testing
