#!/usr/bin/env bash
# The end of a trace: results are there before the probes are detached, nothing counts meanwhile, and a trace that begins meanwhile
# has all of its events.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"

n=40
{
	echo '#include <btgen/usdt.h>'
	echo '#include <pthread.h>'
	echo '#include <unistd.h>'
	for ((i = 0; i < n; i++)); do echo "__attribute__((noinline)) void f$i(void) { __asm__ volatile(\"nop\"); }"; done
	cat <<'E2'
static volatile int floods;
static void *flood(void *x)
{
	for (long i = 0;; i++)
		if (floods)
			USDT_PROBE(test, hit, i);
		else
			usleep(1000);
	return x;
}
int main(void)
{
	pthread_t t;
	char c;
	for (int i = 0; i < 3; i++)
		pthread_create(&t, 0, flood, 0);
	while (read(0, &c, 1) == 1) {
		floods = c == 'F';
E2
	for ((i = 0; i < n; i++)); do echo "f$i();"; done
	echo 'if (write(1, "done\n", 5) != 5) return 1; } return 0; }'
} >"$tmp/many.c"
gcc -O2 -g -pthread -I"$top/include" -o "$tmp/many" "$tmp/many.c" || exit 1
live_start "$tmp/many"
for ((i = 0; i < n; i++)); do echo "uprobe:__EXE__:f$i { @[$i] = count(); }"; done >"$tmp/many.bt"

tell() { # COMMAND
	: >"$tmp/answers"
	printf %s "$1" >&8
	wait_for grep -q "done" "$tmp/answers"
}
export ATONCE=$tmp # the processes of this test
helper() {
	local pid
	for pid in $(pgrep -x btgen-detach); do
		! grep -qzxF "ATONCE=$tmp" "/proc/$pid/environ" 2>/dev/null || echo "$pid"
	done
}
has_helper() { [ "$(helper)" ]; }
detached() { ! has_helper; }
# code: the first instruction of the first function, as it is in the process
start=$(sed -n "s|-.* 00000000 .*$tmp/many\$||p" "/proc/$live_pid/maps")
at=$((0x$start + 0x$(nm "$tmp/many" | sed -n 's/ T f0$//p')))
code() { dd "if=/proc/$live_pid/mem" bs=4 count=1 skip=$at iflag=skip_bytes 2>/dev/null | od -A n -t x1; }
bpftrace_pid() { pgrep -P "$live_tracer" -f '^[^ ]*bpftrace '; }

original=$(code)
ok "$n functions: it attaches" live_trace "$live_pid" "$tmp/many.bt"
traced=$(code)
not_ok "which have breakpoints" test "$traced" = "$original"
tell x
# The helper is kept from detaching until btgen has ended, and bpftrace from ending until it is.
pid=$(bpftrace_pid)
kill -STOP "$pid"
kill -INT "$live_tracer"
ok "^C: there is a process that is to detach them" wait_for has_helper
helper=$(helper)
kill -STOP "$helper"
kill -CONT "$pid"
live_wait
is "$live_rc $(grep -c '^@\[[0-9]*\]: 1$' "$tmp/trace")" "0 $n" "btgen ends, and each function is counted once"
is "$(code)" "$traced" "before they are detached"
unlike "$(cat "$tmp/messages")" 'detaching|remain' "and nothing is said about it"
tell x
kill -CONT "$helper"
restored() { [ "$(code)" = "$original" ]; } # a process that is ending can no longer be found by its environment
ok "they are detached then, and the code is as it was" wait_for restored

ok "two traces, one after the other: the first attaches" live_trace "$live_pid" "$tmp/many.bt"
tell x
live_wait INT
ok "the second attaches, while the probes of the first are being detached or not" live_trace "$live_pid" "$tmp/many.bt"
tell x
live_wait INT
is "$live_rc $(grep -c '^@\[[0-9]*\]: 1$' "$tmp/trace")" "0 $n" "and has counted each once, too"

# In a flood: what is printed, what is lost and what a map has counted end at one instant.
for way in INT -T -N; do
	case $way in
	INT) options=() ;;
	-T) options=(-T 1) ;;
	-N) options=(-N 500) ;;
	esac
	live_trace -v --max-cost none "${options[@]}" "$live_pid" -e 'usdt:__EXE__:test:hit { printf("hit %d\n", arg0); @n = count(); }'
	tell F
	if [ $way = INT ]; then
		wait_for grep -q hit "$tmp/trace"
		live_wait INT
	else
		live_wait
	fi
	tell x
	counted=$(sed -n 's/^@n: //p' "$tmp/trace")
	printed=$(grep -c '^hit' "$tmp/trace")
	lost=$(sed -nE 's/.*warning: ([0-9]+) of [0-9]+ events.*/\1/p' "$tmp/messages")
	echo "# $way: $counted counted, $printed printed, ${lost:-0} lost"
	is "$live_rc" 0 "a flood, $way: status 0"
	if [ $way = -N ]; then
		is "$printed" 500 "as many lines as were wanted"
	else
		is $((printed + ${lost:-0})) "$counted" "each event that was counted is printed or said to be lost"
	fi
done
ok "nothing is left" wait_for detached
done_testing
