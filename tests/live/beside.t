#!/usr/bin/env bash
# What goes on beside a trace: hundreds of threads, a thousand processes, a busy machine, a shell that suspends it. Nothing is
# lost, and nothing is left. What happens to one process and one btgen is in lifecycle.py.
. "$(dirname "$0")/../lib.sh"
. "$top/tests/live.sh"

# many PROCESSES THREADS: each thread fires ROUNDS times, whenever it gets a byte of the input, and says so. It is no PIE: the
# semaphore has the same address in each process.
cat >"$tmp/many.c" <<'E2'
#define _GNU_SOURCE
#include <btgen/usdt.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>
static void *work(void *arg)
{
	char c, line[64];
	for (int i = 0; i < ROUNDS && read(0, &c, 1) == 1; i++) {
		USDT_PROBE_LAZY(many, hit, i);
		int n = snprintf(line, sizeof(line), "%d %d\n", getpid(), gettid());
		if (write(1, line, n) != n)
			return arg;
	}
	return pause() ? arg : NULL;
}
int main(int argc, char **argv)
{
	pthread_t t;
	pthread_attr_t small;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	for (int i = argc > 1 ? atoi(argv[1]) : 1; i > 1; i--)
		if (fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			break;
		}
	for (int i = argc > 2 ? atoi(argv[2]) : 1; i > 1; i--)
		if (pthread_create(&t, &small, work, NULL))
			return 1;
	work(NULL);
	return 0;
}
E2
gcc -O2 -g -fno-pie -no-pie -pthread -DROUNDS=3 -I"$top/include" -o "$tmp/many" "$tmp/many.c" &&
	gcc -O2 -g -fno-pie -no-pie -pthread -DROUNDS=1000 -I"$top/include" -o "$tmp/one" "$tmp/many.c" || exit 1
semaphore=$(readelf -n "$tmp/many" "$tmp/one" | sed -n 's/.*Semaphore: //p' | sort -u)
[[ $semaphore == 0x* && $semaphore != *$'\n'* ]] || exit 1
script='usdt:__EXE__:many:hit { @n[pid, tid] = count(); }'

# What a trace here has started says so in its environment.
left() { grep -slzxF "BESIDE=$tmp" /proc/[0-9]*/environ; }
trace() { BESIDE=$tmp live_trace "$@" -e "$script"; }
# The values that the semaphore has in these processes, each once
semaphores() {
	python3 -c '
import sys
values = set()
for pid in sys.argv[2:]:
    with open(f"/proc/{pid}/mem", "rb") as mem:
        mem.seek(int(sys.argv[1], 16))
        values.add(int.from_bytes(mem.read(2), "little"))
print(*sorted(values))' "$semaphore" "$@"
}
none_left() { ! left >/dev/null; }
is_down() { [ "$(semaphores "$@")" = 0 ]; }
# is_clean PID...: no process of the trace is left, and the semaphore of each of these is as it was
is_clean() {
	wait_for none_left && wait_for is_down "$@" && return
	left | sed 's/^/# left: /'
	echo "# semaphores: $(semaphores "$@")"
	return 1
}

start_many() {
	live_start "$tmp/many" "$1" "$2"
	wait_for has_all "$1" "$2"
	read -ra pids <<<"$live_pid $(pgrep -P "$live_pid" | tr '\n' ' ')"
}
has_all() { # PROCESSES THREADS
	local threads=("/proc/$live_pid/task/"*)
	[ ${#threads[@]} = "$2" ] && [ "$(pgrep -cP "$live_pid")" = $(($1 - 1)) ]
}
end_many() {
	exec 8>&-
	kill -KILL "$live_pid"
	wait_end "$live_pid" 2>/dev/null
}
# fire N: all of them fire as often as they can, N times together
fire() {
	printf "%$1s" '' >&8
	wait_for has_fired "$1"
}
has_fired() { [ "$(wc -l <"$tmp/answers")" -ge "$1" ]; }
# How often each thread has fired: by the trace, by what the program says
counted() { sed -nE 's/^@n\[([0-9]+), ([0-9]+)\]: ([0-9]+)$/\1 \2 \3/p' "$tmp/trace" | sort; }
passed() { sort "$tmp/answers" | uniq -c | awk '{ print $2, $3, $1 }' | sort; }
# Once with ^C, once with KILL. WHO... is what is to be traced; each of N threads fires three times.
count_all() {
	local claim=$1 n=$2
	shift 2
	ok "$claim: it attaches" trace "$@"
	is "$(semaphores "${pids[@]}")" 1 "the semaphore is raised everywhere"
	fire $((n * 3))
	live_wait INT
	is "$live_rc $(counted | wc -l)" "0 $n" "each thread is in the map"
	is "$(counted)" "$(passed)" "with all of its events"
	ok "nothing is left" is_clean "${pids[@]}"
	ok "once more" trace "$@"
	kill -KILL "$live_tracer"
	wait "$live_tracer" 2>/dev/null
	ok "KILL to btgen: the semaphore is down everywhere, and no process is left" is_clean "${pids[@]}"
}

start_many 1 500
count_all "500 threads" 500 "$live_pid"
end_many
start_many 1000 1
count_all "1000 processes, -x" 1000 -x "$tmp/many"
end_many
start_many 1000 1
count_all "1000 PIDs" 1000 "${pids[*]}"
end_many

hogs=()
for ((i = 0; i < 4 * $(nproc); i++)); do
	(while :; do :; done) 8>&- &
	hogs+=($!)
	own $!
done
start_many 1 50
count_all "a busy machine" 50 "$live_pid"
end_many
kill "${hogs[@]}"
wait "${hogs[@]}" 2>/dev/null

# --- a shell with job control, on a terminal of its own: types go to it with `keys`, $tmp/screen has what it shows
mkfifo "$tmp/keys"
keys() { printf '%b' "$1" >&7; }
shows() { tr -d '\r' <"$tmp/screen" | grep -qE "$1"; }
start_shell() {
	: >"$tmp/screen"
	# What is started in the background ignores ^C, and so would all of the terminal.
	python3 -c '
import pty, signal
signal.signal(signal.SIGINT, signal.SIG_DFL)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)
pty.spawn(["bash", "--norc", "--noprofile", "--noediting", "-i"])' \
		<"$tmp/keys" >"$tmp/screen" 2>&1 8>&- &
	terminal_pid=$!
	own $!
	exec 7>"$tmp/keys"
	keys "PS1=; stty -echo; echo; echo in \$\$\n"
	wait_for shows '^in [0-9]'
	shell_pid=$(tr -d '\r' <"$tmp/screen" | sed -n 's/^in \([0-9][0-9]*\)$/\1/p' | head -n 1)
}
end_shell() {
	keys 'exit\nexit\n'
	exec 7>&-
	wait "$terminal_pid"
}
# trace_there ARG...: bpftrace.sh in that shell; $btgen_pid and $bpftrace_pid of it
trace_there() {
	rm -f "$tmp/ready"
	keys "BESIDE=$tmp $live_sh --ready-file $tmp/ready $* -e 'usdt:__EXE__:many:hit { printf(\"hit %d\\\\n\", arg0); }'; echo status \$?\n"
	wait_for test -s "$tmp/ready" || return 1
	btgen_pid=$(pgrep -x btgen -P "$shell_pid")
	bpftrace_pid=$(cut -d ' ' -f 1 "/proc/$btgen_pid/task/$btgen_pid/children")
}
is_in() { [[ $(sed 's/.*) \(.\).*/\1/' "/proc/$1/stat") == ["$2"] ]]; }
suspend() {
	keys '\032'
	wait_for shows 'Stopped' && wait_for is_in "$btgen_pid" T
}
# The lines of the trace, and statuses that the shell had
lines() { tr -d '\r' <"${1-$tmp/screen}" | grep -E '^(hit|status)' | paste -sd,; }
start_one() {
	live_start "$tmp/one"
	start_shell
	ok "$1: it attaches" trace_there "${@:2}" "$live_pid"
}
end_one() {
	end_shell
	ok "nothing is left" is_clean "$live_pid"
	end_many
}
hit() { # N: for the Nth time
	printf x >&8
	wait_for has_fired "$1"
}

start_one "^Z"
hit 1
wait_for shows '^hit 0'
ok "it stops btgen" suspend
ok "but not bpftrace" is_in "$bpftrace_pid" SRD
hit 2
keys 'fg; echo status $?\n'
wait_for shows '^hit 1'
hit 3
wait_for shows '^hit 2'
is "$(lines)" "hit 0,status 148,hit 1,hit 2" "fg: what came meanwhile is printed, and it goes on"
keys '\003'
wait_for shows '^status 0'
is "$(lines)" "hit 0,status 148,hit 1,hit 2,status 0" "^C ends it, with status 0"
end_one

start_one "^Z and bg"
suspend
keys 'bg\n'
wait_for is_in "$btgen_pid" SR
hit 1
ok "it goes on" wait_for shows '^hit 0'
keys 'kill %1; wait %1; echo status $?\n'
wait_for shows '^status 0'
is "$(lines)" "status 148,hit 0,status 0" "TERM ends it, with status 0"
end_one

start_one "^Z and KILL" -o "$tmp/trace"
hit 1
wait_for grep -qs 'hit 0' "$tmp/trace"
suspend
keys 'kill -9 %1\n'
ok "bpftrace ends" wait_for none_left
is "$(lines "$tmp/trace")" "hit 0" "what was captured is kept"
end_one

start_one "^Z, and the target ends"
suspend
end_many
keys 'fg; echo status $?\n'
wait_for shows '^status 0'
ok "fg: it says so, and ends" shows "process $live_pid .* has exited"
end_shell
ok "nothing is left" wait_for none_left

start_one "^\\"
hit 1
wait_for shows '^hit 0'
keys '\034'
wait_for shows '^status'
is "$(lines)" "hit 0,status 0" "it is status 0"
end_one

# The terminal goes: the shell and its jobs get SIGHUP, what is suspended SIGCONT, too.
for how in "" "^Z, and "; do
	start_one "${how}the terminal is closed" -o "$tmp/trace"
	hit 1
	wait_for grep -qs 'hit 0' "$tmp/trace"
	[ -z "$how" ] || suspend
	kill -KILL "$terminal_pid"
	wait "$terminal_pid" 2>/dev/null
	exec 7>&-
	ok "nothing is left" is_clean "$live_pid"
	is "$(lines "$tmp/trace")" "hit 0" "what was captured is kept"
	end_many
done

# What -c has started belongs to the same job.
cat >"$tmp/ticks.c" <<'E2'
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	FILE *f = fopen(argv[argc - 1], "w");
	for (; f && fputs("tick\n", f) > 0 && fflush(f) == 0; usleep(20000))
		;
	return 1;
}
E2
gcc -O2 -o "$tmp/ticks" "$tmp/ticks.c" || exit 1
start_shell
# An interval, because 0.27 ends a program of nothing but BEGIN at once: ^C would find the command alone.
keys "BESIDE=$tmp $live_sh -c '$tmp/ticks $tmp/tick' -e 'BEGIN { printf(\"hit 0\\\\n\"); } interval:s:999 { exit(); }'; echo status \$?\n"
wait_for grep -qs tick "$tmp/tick"
ok "-c: it attaches" wait_for shows '^hit 0'
btgen_pid=$(pgrep -x btgen -P "$shell_pid")
command_pid=$(pgrep -x ticks -P "$btgen_pid")
ok "^Z stops btgen" suspend
ok "and the program of -c" wait_for is_in "$command_pid" T
n=$(wc -l <"$tmp/tick")
has_gone_on() { [ "$(wc -l <"$tmp/tick")" -gt $((n + 3)) ]; }
keys 'fg; echo status $?\n'
ok "fg goes on with both" wait_for has_gone_on
keys '\003'
wait_for shows '^status 0'
is "$(lines)" "hit 0,status 148,status 0" "^C ends both, with status 0"
end_shell
ok "nothing is left" wait_for none_left
done_testing
