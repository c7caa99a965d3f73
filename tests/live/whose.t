#!/usr/bin/env bash
# Whose events a kind of probe has, as btgen believes (the column `whose` of gen/lang/vocabulary.c): bpftrace itself is asked.
. "$(dirname "$0")/../lib.sh"
need_tracing

cat >"$tmp/writer.c" <<'E2'
#include <sys/mman.h>
#include <unistd.h>
int main(void)
{
	volatile long *p = mmap((void *)0x10000000, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	for (;; usleep(20000))
		++*p;
}
E2
gcc -O1 -o "$tmp/writer" "$tmp/writer.c" || skip_all "needs a compiler"
"$tmp/writer" &
one=$!
"$tmp/writer" &
two=$!
trap 'kill $one $two 2>/dev/null; tap_cleanup' EXIT

# traced CLAUSE ARGS...: which of the two processes it fires for within two seconds; empty where this machine has no such probe
key=pid
traced() {
	local clause=$1
	shift
	guard "$btgen" run -q --bpftrace "$bpftrace" -T 2 "$@" -e "$clause { @[$key] = count(); }" 2>/dev/null |
		sed -n "s/^@\[$one\]: .*/one/p; s/^@\[$two\]: .*/two/p" | sort | paste -sd ' '
}
version=$(guard "$bpftrace" --version | sed -E 's/.*v0\.([0-9]+).*/\1/')

watchpoint='watchpoint:0x10000000:8:w'
all=$(traced "#pragma scope host
$watchpoint")
if [ -n "$all" ]; then
	is "$all" "one two" "a watchpoint is every process' ..."
	is "$(traced $watchpoint -p $one)" one "... and with -p that one's"
	is "$(traced "#pragma scope host
$watchpoint /pid == $two/")" two "... or that of a test"
fi
is "$(traced 'tracepoint:raw_syscalls:sys_enter' -p $one)" "$([ "$version" -ge 24 ] && echo one || echo one two)" \
	"a tracepoint is every process', which -p keeps to one from 0.24 on"

key='ctx->task->tgid'
all=$(traced '#pragma scope host
iter:task')
if [ -n "$all" ] && [ "$version" -lt 24 ]; then
	is "$(traced iter:task -p $one)" "one two" "an iterator goes through all tasks, with -p too"
	is "$(traced 'iter:task /ctx->task->tgid == __PID__/' -p $one)" one "... unless it tests them"
fi

if [ "$version" -ge 22 ]; then
	is "$(guard "$btgen" run -q --bpftrace "$bpftrace" -T 2 -x "$tmp/writer" \
		-e 'self:signal:SIGUSR1 { printf("told\n"); } interval:s:1 { printf("tick\n"); exit(); }' 2>&1)" tick \
		"with -x, a signal to bpftrace is the trace's own"
fi
done_testing
