#!/usr/bin/env bash
# Runs a command where tracefs is mounted, as it is on any machine that systemd has booted.
#
#   tests/matrix/tracefs.sh COMMAND...
#
# In a container or a bare VM it may not be: then bpftrace 0.17 finds no tracepoint and 0.24 and newer start
# no script at all. The mount is made in a mount namespace of the command's own: nothing is left behind.
# When it cannot be made (not root), the command runs as it is, and its tests say what they miss.
#
# The kernel attaches and detaches one uprobe after the other, whoever asks, and waits for a grace period of RCU with each: tests
# side by side wait for each other. While such a command runs these waits are short (/sys/kernel/rcu_expedited). A process that
# outlives the last of them, however it ends, sets that back; so not in a container, with which all of its processes end.
set -euo pipefail

tracefs=/sys/kernel/tracing
debugfs=/sys/kernel/debug
expedited=/sys/kernel/rcu_expedited
machine='pid:[4026531836]' # the PID namespace that is no container's (PROC_PID_INIT_INO)

# join_expedited: shares a lock on it, as descriptor $lock, with the others that want it 1, and makes it so; false where an administrator
# did, it cannot be written, or a stranger holds the lock
join_expedited() {
	local tries=0
	[ -w $expedited ] && exec {lock}<$expedited || return
	until flock -n -x $lock; do
		if flock -n -s $lock; then return; fi # others have it
		[ $((tries += 1)) -lt 100 ] || return
		sleep 0.01 # one of them sets it, or sets it back
	done
	[ "$(cat $expedited)" = 0 ] && echo 1 >$expedited && flock -s $lock
} 2>/dev/null

# run COMMAND...: in place of this shell
run() {
	local lock=''
	if [ "$(readlink /proc/self/ns/pid 2>/dev/null)" = "$machine" ] && join_expedited; then
		setsid bash -c "tail --pid=$$ -f /dev/null; ! flock -n -x $lock || echo 0 >$expedited" </dev/null >/dev/null 2>&1 &
	fi
	[ -z "$lock" ] || exec {lock}<&-
	exec "$@"
}

if [ -e $tracefs/available_events ] && [ -e $debugfs/tracing ]; then
	run "$@"
elif [ "${BTGEN_IN_TRACEFS-}" = "" ] && unshare -m true 2>/dev/null; then
	export BTGEN_IN_TRACEFS=1
	exec unshare -m -- "${BASH_SOURCE[0]}" "$@"
fi
if [ "${BTGEN_IN_TRACEFS-}" = 1 ]; then
	# debugfs, where bpftrace up to 0.23 looks, mounts tracefs below itself on first use
	[ -e $tracefs/available_events ] || mount -t tracefs tracefs $tracefs 2>/dev/null || :
	[ -e $debugfs/tracing ] || mount -t debugfs debugfs $debugfs 2>/dev/null || :
fi
export BTGEN_IN_TRACEFS=${BTGEN_IN_TRACEFS:-no} # tests that start this themselves do so once
run "$@"
