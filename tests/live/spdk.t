#!/usr/bin/env bash
# sched.bt, intr-wakeups.bt and nvmf_timeout.bt on nvmf_tgt: what they print is what the program logged.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"
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

# answered N: `start`, each line of the tour, and N more
answered() {
	[ "$(grep -cE '^(ok|error)' "$tmp/answers")" -ge "$((1 + $(grep -vc '^#' "$targets/tour.txt") + $1))" ]
}

# is_over: in $tmp/log.then, each message that was sent has run. Some run on the other core, after the last answer.
is_over() {
	cp "$tmp/log" "$tmp/log.then"
	[ "$(grep -cF $'\tsend_msg()\t' "$tmp/log.then")" = "$(grep -c $'\tmsg_exec\t' "$tmp/log.then")" ]
}

# has_lines: bpftrace has printed all that the log has
has_lines() {
	[ $lines = 0 ] || [ "$(grep -v nvmf_poll_group_poll "$tmp/trace" | grep -cE ': (message|event) runs|\(descriptor ')" = \
		"$(grep -v nvmf_poll_group_poll "$tmp/log.then" | grep -cE $'\t(msg_exec|event_exec|interrupt_fd_process)\t')" ]
}

# is_round HOW CLAIM: sched.bt prints what the program says that the scheduler saw and did; parts are of the core's time
is_round() {
	is "$(sed -nE 's/^[0-9.]+: ((round|core|thread) .*)/\1/p' "$tmp/trace")" \
		"$(awk -F'\t' -v how="$1" '
			function part(busy) { return all ? int(busy * 100 / all) : 0 }
			$3 == "dynsched_balance" { print "round 1"; printf "%s", cores }
			$3 == "core()" {
				all = $5 + $6
				cores = cores sprintf("core %d busy %d%%, %s, threads: %d\n", $4, part($5), how, $4 == 2 ? 2 : 1)
			}
			$3 == "core_thread()" { cores = cores sprintf("core %d busy %d%% with thread %d\n", $4, part($6), $5) }
			$3 == "move()" { printf "thread %d moves from core %d to core %d\n", $4, $5, $6 }' "$tmp/log.then")" \
		"$2, sched.bt: a round, its cores, their threads, what moved"
	is "$(grep -c ' moves ' "$tmp/trace") of $(grep -c dynsched_move "$tmp/log.then")" "1 of 3" \
		"... the one thread that is not on the main core, of three that are asked for"
}

for build in nvmf_tgt nvmf_tgt_shared; do
	live_nvmf $build --interrupt-mode
	lines=0
	[ $build = nvmf_tgt ] || lines=1
	live_trace -D all -D LINES=$lines $live_pid sched.bt intr-wakeups.bt nvmf_timeout.bt
	live_say start
	cat "$targets/tour.txt" >&8
	wait_for answered 0
	live_say 'bdev_null_create null9 100 512' # the tour may have been read in one piece, this wakes the thread that reads
	wait_for answered 1
	cp /proc/$live_pid/maps "$tmp/maps"
	wait_for is_over
	wait_for has_lines
	live_wait INT
	is $live_rc 0 "$build: ^C is status 0"
	unlike "$(cat "$tmp/trace" "$tmp/messages")" 'WARNING' "$build: nothing that bpftrace would warn of while it runs"
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
		is "$(sed -nE 's/^@descriptors\[(.*), (.*)\]: /\1 \2 /p' "$tmp/trace" | sort)" \
			"$(awk -F'\t' '$3 == "interrupt_fd_process" && $5 != "nvmf_poll_group_poll" { n[$5 " " $6]++ } END { for (k in n) print k, n[k] }' "$tmp/log.then" | sort)" \
			"$build, intr-wakeups.bt: @descriptors has each as often as it was handled, those of timers too"
	else
		is "$(sed -nE 's/^[0-9.]+: (.*) \(descriptor (.*)\) runs .*/\1 \2/p' "$tmp/trace")" \
			"$(awk -F'\t' '$3 == "interrupt_fd_process" && $5 != "nvmf_poll_group_poll" { print $5, $6 }' "$tmp/log.then")" \
			"$build, intr-wakeups.bt: a line for each descriptor that was handled"
		is "$(grep -cE '^[0-9.]+: (message|event) runs [a-z_0-9]+ with 0x' "$tmp/trace")" \
			"$(grep -cE $'\t(msg|event)_exec\t' "$tmp/log.then")" "... and for each message and event"
	fi

	is_round sleeps "$build, in interrupt mode"
	is "$(sed -nE 's/^[0-9.]+: (Nvme[01] .*)/\1/p' "$tmp/trace" | sed -E 's/[0-9]+\.[0-9]{6} s/T s/')" \
		"Nvme0 127.0.0.1:4422 reset
Nvme0 127.0.0.1:4422 connects, attempt 1, T s after the reset
Nvme0 127.0.0.1:4422 connected, attempt 1, T s after the reset
Nvme0 127.0.0.1:4422 reset
Nvme0 127.0.0.1:4422 connects, attempt 1, T s after the reset
Nvme0 127.0.0.1:4422 failed, attempt 1, T s after the reset
Nvme0 127.0.0.1:4422 has waited after attempt 1, T s after the reset
Nvme0 127.0.0.1:4422 connects, attempt 2, T s after the reset
Nvme0 127.0.0.1:4422 failed, attempt 2, T s after the reset
Nvme0 127.0.0.1:4422 has waited after attempt 2, T s after the reset
Nvme0 127.0.0.1:4422 connects, attempt 3, T s after the reset
Nvme0 127.0.0.1:4422 failed, attempt 3, T s after the reset
Nvme0 127.0.0.1:4422 has waited after attempt 3, T s after the reset
Nvme0 127.0.0.1:4422 connects, attempt 4, T s after the reset
Nvme0 127.0.0.1:4422 failed, attempt 4, T s after the reset
Nvme0 127.0.0.1:4422 deleted
Nvme1 127.0.0.1:4422 deleted" "$build, nvmf_timeout.bt: a reset with success, a lost controller, its four attempts, the last one's failure ends it"
	[ $lines = 1 ] || is "$(grep -E '^@(resets|attempts|failures)' "$tmp/trace" | sort)" "@attempts[Nvme0, 127.0.0.1, 4422]: 5
@failures[Nvme0, 127.0.0.1, 4422]: 4
@resets[Nvme0, 127.0.0.1, 4422]: 2" "$build, nvmf_timeout.bt: the sums"
done
is_sample intr-wakeups.bt "$tmp"/trace-*
is_sample nvmf_timeout.bt "$tmp"/trace-*

# In poll mode time is counted: that of the first round since the start, with all that was done then.
live_nvmf nvmf_tgt
live_trace $live_pid sched.bt
live_say start
for n in {1..40}; do echo "bdev_null_create disk$n 100 512"; done >&8
live_say 'framework_set_scheduler dynamic -p 0'
wait_for grep -q dynsched_move "$tmp/log"
wait_for grep -q moves "$tmp/trace"
cp "$tmp/log" "$tmp/log.then"
live_wait INT
is_round polls "in poll mode"
unlike "$(grep 'core 2 busy' "$tmp/trace")" 'busy 0%, polls' "... the main core was busy"
is "$(grep '^@moves' "$tmp/trace")" '@moves[3, 2]: 1' "sched.bt: the moves are counted"
is_sample sched.bt
live_quit

done_testing
