#!/usr/bin/env bash
# nvmf_tgt traced by the scripts for SPDK: every event that the program fired, once, with its values.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"
readelf -n "$targets/nvmf_tgt" 2>/dev/null | grep -q 'Provider: spdk' || skip_all "built with --without-usdt"

answered() {
	[ "$(grep -cE '^(ok|error)' "$tmp/answers")" -ge "$1" ]
}

# lines: the trace without stamps, sorted; what has no stamp stays as it is and will be noticed
lines() {
	grep -v '^$' "$tmp/trace" | sed -E 's/^[0-9]+\.[0-9]{6}: //' | sort
}

for build in nvmf_tgt nvmf_tgt_shared; do
	live_nvmf $build
	ok "$build: target and tracer end with status 0" live_tour $live_pid nvmf.bt nvme.bt
	unlike "$(cat "$tmp/messages")" warning "$build: without a warning"
	is "$(lines)" "$(python3 "$top/tests/live/nvmf_lines.py" "$tmp/log" lines | sort)" \
		"$build, nvmf.bt and nvme.bt: each event once, with the values that the program passed"
	is_sample nvmf.bt
	is_sample nvme.bt
	not_ok "$build: every line has a stamp in seconds and microseconds" \
		grep -qvE '^$|^[0-9]+\.[0-9]{6}: ' "$tmp/trace"

	# All 50 probes at once, those of threads, timers, events and the scheduler too.
	readelf -n "$targets"/lib{nvmf,bdev_nvme,thread}.so 2>/dev/null | sed -n '/Provider: spdk/{n;s/.*Name: //p}' |
		sort -u | while read -r name; do
		printf 'usdt:__EXE__:spdk:%s { @n["%s"] = count(); }\n' "$name" "$name"
	done >"$tmp/count.bt"
	live_nvmf $build --interrupt-mode
	live_tour $live_pid "$tmp/count.bt"
	is "$(sed -n 's/^@n\[\(.*\)\]: /\1 /p' "$tmp/trace" | sort)" \
		"$(python3 "$top/tests/live/nvmf_lines.py" "$tmp/log" count)" \
		"$build: each of 50 probes is counted as often as it fired"

	# SPDK's usdt guide: null1 is made and added while send_msg.bt counts.
	live_nvmf $build
	live_say start
	cat "$targets/cnode1.txt" >&8
	wait_for answered 6
	before=$(wc -l <"$tmp/log")
	live_trace $live_pid send_msg.bt
	live_say 'bdev_null_create null1 1000 512' 'nvmf_subsystem_add_ns nqn.2016-06.io.spdk:cnode1 null1'
	wait_for answered 8
	live_wait INT
	is $live_rc 0 "$build, send_msg.bt: ^C is status 0"
	is "$(grep . "$tmp/trace" | sort)" "@for_each_channel[subsystem_state_change_on_pg]: 2
@send_msg[_call_channel]: 4
@send_msg[_call_completion]: 2
@send_msg[_finish_unregister]: 1
@send_msg[put_io_channel]: 4" "$build, send_msg.bt: the counts of SPDK's guide, by function"
	is_sample send_msg.bt
	is "$(sed "1,${before}d" "$tmp/log" | grep -c 'send_msg()')" 11 "$build: the program sent as many messages"
	live_quit
done

# A name of as many characters as one may have: up to 0.22 bpftrace has no room for it, and names of subsystems may begin alike.
version=$("$bpftrace" --version | sed 's/.*v0\.\([0-9]*\).*/\1/')
long=nqn.2016-06.io.spdk:$(printf 'x%.0s' {1..203})
shown=$long
# names: of each event of that subsystem its name; with dots where it was cut
names() {
	if [ "$1" = text ]; then
		grep -oE 'nqn\.2016\S+' "$tmp/trace"
	else
		python3 -c '
import json, sys
for record in map(json.loads, sys.stdin):
	for name, value in record.get("fields", {}).items():
		if str(value).startswith("nqn.2016"):
			print(value + "..." * (name in record.get("cut", [])))' <"$tmp/trace"
	fi | sort | uniq -c
}
for form in text json; do
	[ $form = text ] && args=() || args=(-f json)
	live_nvmf nvmf_tgt
	ok "$form, a long name: it attaches" live_trace ${args[@]+"${args[@]}"} $live_pid nvmf.bt
	live_say start "nvmf_create_subsystem $long -a"
	wait_for answered 2
	live_quit
	live_wait
	read -r n name <<<"$(names $form)"
	if [ "$version" -lt 23 ]; then
		like "$name" '^nqn.*x\.\.\.$' "$form: a long name is cut, and marked"
		shown=${long:0:$((${#name} - 3))}...
	fi
	is "$n $name" "$(grep -c "$long" "$tmp/log") $shown" "$form: each event has all that there is room for"
done

done_testing
