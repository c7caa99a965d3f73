#!/usr/bin/env bash
# spdk.bt: every event of nvmf_tgt's 50 probes once, with the values that it logged.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
export live_partly=yes
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"
readelf -n "$targets/nvmf_tgt" 2>/dev/null | grep -q 'Provider: spdk' || skip_all "built with --without-usdt"
is "$("$top/tests/spdk-script.py")" "$(cat "$top/bpf/spdk.bt")" "bpf/spdk.bt is what tests/spdk-script.py makes of the target's probes"
can_trace || {
	skip_tracing "events"
	done_testing
}

# The log has addresses of functions, which tests/live/spdk.t looks up, and the constant first argument.
same() {
	sed -E 's/^([0-9]+ (msg|timerfd|event)_exec) [^ ]+/\1 FN/; s/^([0-9]+ interrupt_fd_process [^ ]+ [^ ]+) [^ ]+/\1 FN/' | sort
}

live_start nvmf_tgt -m 0xC --wait --interrupt-mode --log "$tmp/log"
wait_for grep -q waiting "$tmp/answers"
ok "it attaches" live_trace $live_pid spdk.bt
live_say start
cat "$targets/tour.txt" >&8
live_quit
live_wait
is $live_rc 0 "the trace ends with the program, status 0"
is "$(sed -n 's/^usdt:__EXE__:spdk://p' "$top/bpf/spdk.bt" | sort)" \
	"$({
		cut -f 3 "$tmp/log" | grep -v '()'
		printf '%s\n' bdev_nvme_destroy_qpair nvmf_ns_change nvmf_request_io_exec_path
	} | sort -u)" "a clause for each probe that fired, and for those of older releases"
sed -nE 's/^[0-9]+\.[0-9]{6}: ([0-9]+) (\w+)/00:00:00.000000 x[\1] spdk:\2/p' "$tmp/trace" >"$tmp/text"
is "$("$top/tests/live/args.py" text "$tmp/text" "$targets"/*.h "$targets"/*.c | same)" \
	"$("$top/tests/live/args.py" log "$tmp/log" | sed -E 's/^([0-9]+ \w+) 0 /\1 /' | same)" \
	"each event of 50 probes once, each value the one that the program passed ($(wc -l <"$tmp/log") events)"
named=$(grep -cE ' (msg|timerfd|event)_exec fn=[a-z_]+ ' "$tmp/trace") all=$(grep -cE ' (msg|timerfd|event)_exec fn=' "$tmp/trace")
ok "functions by name, also of what is printed after the program's end ($named of $all)" test "$all" -gt 100 -a "$named" -eq "$all"
is_sample spdk.bt

# Who may have few descriptors keeps them for bpftrace: 0.17's symbols are protected with some that are left over.
printf '#!/bin/sh\nexec setpriv --bounding-set=-sys_resource --inh-caps=-sys_resource prlimit --nofile=250:250 "%s" "$@"\n' "$live_sh" >"$tmp/few"
chmod +x "$tmp/few"
live_sh=$tmp/few
live_start nvmf_tgt -m 0xC --wait
wait_for grep -q waiting "$tmp/answers"
ok "it attaches with 250 descriptors and no right to have more" live_trace $live_pid spdk.bt
live_quit
live_wait
is $live_rc 0 "and ends with the program"

done_testing
