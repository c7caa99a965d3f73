#!/usr/bin/env bash
# Whose events a script for one process sees: what bpftrace does with -p differs between versions.
. "$(dirname "$0")/../lib.sh"

# said VERSION SCRIPT: what is said of it for a process (any will do), without the lines below
said() {
	"$btgen" check -p $$ --for "$1" -e "$2" 2>&1 | grep -oE '(warning|error): .*' | sed "s/process $$/process PID/"
}

all='warning: this fires for every process: add /pid == __PID__/, or write #pragma scope host  [scope]'
lost='warning: this fires in interrupts, in any process, and only those in process PID are traced: #pragma scope host traces all  [scope]'
for clause in 'tracepoint:raw_syscalls:sys_enter { @[args->id] = count(); }' 'profile:hz:99 { @[kstack] = count(); }' \
	'kprobe:vfs_read { @ = hist(arg2); }' 'software:cpu-clock:1000000 { @[cpu] = count(); }'; do
	is "$(said 0.17 "$clause")" "$all" "0.17 has no filter for ${clause%% *}"
	is "$(said 0.23 "$clause")" "$all" "nor has 0.23"
	is "$(said 0.27 "$clause")" "" "0.27 has one"
	is "$(said 0.23 "#pragma scope host
$clause")" "" "all of them may be meant"
done
for clause in 'tracepoint:raw_syscalls:sys_enter /pid == __PID__/ { @ = count(); }' 'profile:hz:99 { @[comm] = count(); }' \
	'tracepoint:sched:sched_switch { @[args->prev_pid] = count(); }' 'kprobe:vfs_read { if (uid == 0) { @ = count(); } }' \
	'interval:s:1 { printf("tick\n"); }'; do
	is "$(said 0.23 "$clause")" "" "what tells processes apart is right: $clause"
done
for clause in 'tracepoint:irq:softirq_entry { @[args->vec] = count(); }' 'tracepoint:block:block_rq_complete /pid/ { @ = count(); }'; do
	is "$(said 0.27 "$clause")" "$lost" "0.27 drops events of ${clause%% *}"
	is "$(said 0.27 "#pragma scope host
$clause")" "" "... not of the whole host"
done

# What -p does for these was measured: a watchpoint is set for its process only, an iterator goes through all tasks, and its pid is bpftrace's.
is "$(said 0.23 'iter:task { @ = count(); }')" "warning: this covers the whole machine, not only process PID: test ctx, as in /ctx->task->tgid == __PID__/, or write #pragma scope host  [scope]" "an iterator is not the process'"
for clause in 'iter:task /ctx->task->tgid == __PID__/ { @ = count(); }' 'watchpoint:0x10000000:8:w { @ = count(); }' \
	'self:signal:SIGUSR1 { @ = count(); }'; do
	is "$(said 0.23 "$clause")" "" "nothing else is seen: $clause"
done
is "$(said 0.17 'app:hit { printf("x\n"); }')" "error: unknown probe type app" "of an unknown type nothing else is said"
sleep 600 &
one=$!
sleep 600 &
two=$!
# is_sleep PID: it has left the shell that it was
is_sleep() { [[ $(readlink "/proc/$1/exe") != */bash ]]; }
wait_for is_sleep $one
wait_for is_sleep $two
is "$("$btgen" check -p $one -p $two --for 0.23 -e 'watchpoint:0x10000000:8:w { @ = count(); }' 2>&1 | grep -oE '(warning|error): .*')" \
	"$all" "where two processes are traced bpftrace is given neither"
for word in leader_comm leader_tid; do
	is "$("$btgen" check -p $one -p $two --for 0.27 -e "kprobe:vfs_read { @[$word] = count(); }" 2>&1)" "" "... and $word distinguishes them"
done
kill $one $two

# check -x knows what run -x refuses. The script may be meant for a PID, as one surely is that tells processes apart.
refused='with -x this would fire for every process on the machine: give a PID  [scope]'
for clause in 'watchpoint:0x10000000:8:w' iter:task profile:hz:99 tracepoint:raw_syscalls:sys_enter kprobe:vfs_read; do
	if can_trace; then
		"$btgen" run -x "$btgen" -e "$clause { @ = count(); }" >"$tmp/said" 2>&1
		is "$? $(grep -oE '(warning|error): .*' "$tmp/said")" "1 error: $refused" "run -x of ${clause%%:*}"
	else
		skip_tracing "run -x of ${clause%%:*}"
	fi
	"$btgen" check --for 0.23 -x "$btgen" -e "$clause { @ = count(); }" >"$tmp/said" 2>&1
	is "$? $(grep -oE '(warning|error): .*' "$tmp/said")" "0 warning: $refused" "check -x of ${clause%%:*}"
	is "$("$btgen" check --for 0.23 -x "$btgen" -e "$clause /@on[tid]/ { @ = count(); } uprobe:__EXE__:main { @on[tid] = 1; }" 2>&1)" "" \
		"... of one process"
	is "$("$btgen" check --for 0.23 -x "$btgen" -e "#pragma scope host
$clause { @ = count(); }" 2>&1)" "" "... of all of them"
done
is "$("$btgen" check --for 0.23 -x "$btgen" -e 'self:signal:SIGUSR1 { @ = count(); } uprobe:__EXE__:main { @ = count(); }' 2>&1)" "" \
	"what is the trace's own, or of the file, is not refused"
done_testing
