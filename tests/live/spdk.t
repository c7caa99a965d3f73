#!/usr/bin/env bash
# sched.bt, intr-wakeups.bt and nvmf_timeout.bt on nvmf_tgt: what they print is what the program logged.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"
can_trace || skip_all "needs root and bpftrace"
readelf -n "$targets/nvmf_tgt" 2>/dev/null | grep -q 'Provider: spdk' || skip_all "built with --without-usdt"

# The log says which function ran by its address, nm what is there.
cat >"$tmp/functions.py" <<'END'
import collections, os, subprocess, sys

log, maps, probe, argument = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
start, where = {}, {}
for line in open(maps):
    fields = line.split()
    if len(fields) == 6 and "targets/" in fields[5]:
        low = int(fields[0].split("-")[0], 16) - int(fields[2], 16)
        start.setdefault(fields[5], low)
for path, low in start.items():
    for line in subprocess.check_output(["nm", path], text=True).splitlines():
        words = line.split()
        if len(words) == 3 and words[1] in "tT":
            where[low + int(words[0], 16)] = words[2]
count = collections.Counter()
for line in open(log):
    _, _, name, *args = line.rstrip("\n").split("\t")
    if name == probe:
        count[where[int(args[argument], 16)]] += 1
for name in sorted(count):
    print(name, count[name])
END

# answered N: each line of the tour, and N more
answered() {
	[ "$(grep -cE '^(ok|error)' "$tmp/answers")" -ge "$(($(grep -vc '^#' "$targets/tour.txt") + $1))" ]
}

# has_lines: bpftrace has printed all that the log has
has_lines() {
	[ $lines = 0 ] || [ "$(grep -cE ': (message|event) runs' "$tmp/trace")" = "$(grep -cE $'\t(msg|event)_exec\t' "$tmp/log.then")" ]
}

nothing_moved=(-x ' moves ' -x '@moves')
for build in nvmf_tgt nvmf_tgt_shared; do
	live_nvmf $build --interrupt-mode
	lines=0
	[ $build = nvmf_tgt ] || lines=1
	live_trace -D all -D LINES=$lines $live_pid sched.bt intr-wakeups.bt nvmf_timeout.bt
	live_say start
	cat "$targets/tour.txt" >&8
	wait_for 10 answered 0
	live_say 'bdev_null_create null9 100 512' # the tour may have been read in one piece, this wakes the thread that reads
	wait_for 10 answered 1
	cp /proc/$live_pid/maps "$tmp/maps"
	cp "$tmp/log" "$tmp/log.then"
	wait_for 30 has_lines
	live_wait INT
	is $live_rc 0 "$build: ^C is status 0"
	live_quit

	cp "$tmp/trace" "$tmp/trace-$build"
	# A poll group with a queue pair polls for ever, also after the log was copied.
	sed -i '/nvmf_poll_group_poll/d' "$tmp/trace"
	if [ $lines = 0 ]; then
		for map in 'messages msg_exec 1' 'events event_exec 1' 'timers timerfd_exec 1'; do
			read -r map probe argument <<<"$map"
			is "$(sed -nE "s/^@$map\[(.*)\]: /\1 /p" "$tmp/trace" | sort)" \
				"$(python3 "$tmp/functions.py" "$tmp/log.then" "$tmp/maps" "$probe" "$argument" |
					grep -v nvmf_poll_group_poll | sort)" \
				"$build, intr-wakeups.bt: @$map has each function as often as it ran"
		done
	else
		is "$(sed -nE 's/^[0-9.]+: (.*) \(descriptor (.*)\) runs .*/\1 \2/p' "$tmp/trace")" \
			"$(awk -F'\t' '$3 == "interrupt_fd_process" { print $5, $6 }' "$tmp/log.then")" \
			"$build, intr-wakeups.bt: a line for each descriptor that was handled"
		is "$(grep -cE '^[0-9.]+: (message|event) runs [a-z_0-9]+ with 0x' "$tmp/trace")" \
			"$(grep -cE $'\t(msg|event)_exec\t' "$tmp/log.then")" "... and for each message and event"
	fi

	# An idle thread is moved to core 2, a busy one away from it (but for thread 1): mostly thread 3 is idle, on a busy
	# machine there may be none, or another one. Where to says who, for each core has one that can be moved.
	moved=$(awk -F'\t' '$3 == "dynsched_move" { print $6 == 2 ? "thread 3 moves from core 3 to core 2" : "thread 2 moves from core 2 to core 3" }' \
		"$tmp/log.then")
	[ -z "$moved" ] || nothing_moved=()
	is "$(sed -nE 's/^[0-9.]+: (round .*)/\1/p; s/^[0-9.]+: (core . busy )[0-9]+(%.*)/\1N\2/p; s/^[0-9.]+: (thread .* moves.*)/\1/p' "$tmp/trace")" \
		"round 1 of 2 cores
core 2 busy N%, sleeps, threads: 2
core 2 busy N% with thread 1
core 2 busy N% with thread 2
core 3 busy N%, sleeps, threads: 1
core 3 busy N% with thread 3${moved:+
$moved}" "$build, sched.bt: a round, its cores, their threads, what moved"
	[ $lines = 1 ] || is "$(grep '^@moves' "$tmp/trace" | sort)" "$(sed -nE 's/thread (.) .* to core (.)/@moves[\1, \2]: 1/p' <<<"$moved" | sort)" "$build, sched.bt: the moves are counted"

	is "$(sed -nE 's/^[0-9.]+: (Nvme0 .*)/\1/p' "$tmp/trace" | sed -E 's/[0-9]+\.[0-9]{6} s/T s/')" \
		"Nvme0 reset
Nvme0 connects, attempt 1, T s after the reset
Nvme0 failed, attempt 1, T s after the reset: waits
Nvme0 connects, attempt 2, T s after the reset
Nvme0 failed, attempt 2, T s after the reset: waits
Nvme0 connects, attempt 3, T s after the reset" "$build, nvmf_timeout.bt: a reset, two attempts that fail, one that does not"
	[ $lines = 1 ] || is "$(grep -E '^@(resets|attempts|failures)' "$tmp/trace" | sort)" "@attempts[Nvme0]: 3
@failures[Nvme0]: 2
@resets[Nvme0]: 1" "$build, nvmf_timeout.bt: the sums"
done
is_sample sched.bt ${nothing_moved[@]+"${nothing_moved[@]}"} "$tmp"/trace-*
is_sample intr-wakeups.bt "$tmp"/trace-*
is_sample nvmf_timeout.bt "$tmp"/trace-*

done_testing
