#!/usr/bin/env bash
# Whose events a script for one process sees: what bpftrace does with -p differs between versions.
. "$(dirname "$0")/../lib.sh"

# said VERSION SCRIPT: what is said of it for a process (any will do), without the lines below
said() {
	"$btgen" check -p $$ --for "$1" -e "$2" 2>&1 | grep -oE '(warning|error): .*' | sed "s/process $$/process PID/"
}

all='warning: this fires for every process: add /pid == __PID__/, or say #pragma scope host  [scope]'
lost='warning: this comes with interrupts, in any process, of which only those in process PID are seen: #pragma scope host takes all  [scope]'
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
done_testing
