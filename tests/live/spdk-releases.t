#!/usr/bin/env bash
# nvmf_tgt with the probes of several releases of SPDK: their signatures, and what the scripts print, are right in each.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
export live_partly=yes
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"
echo '#include <sys/sdt.h>' | "${CC:-gcc}" -E -xc - >/dev/null 2>&1 || skip_all "no <sys/sdt.h> (systemtap-sdt-dev)"

# lines: what nvmf.bt and nvme.bt print, without stamps
lines() { sed -nE 's/^[0-9]+\.[0-9]{6}: //p' "$tmp/trace" | sort; }
# plain: functions have names in the trace and addresses in the log
plain() { sed -E 's/^([0-9]+ (msg|timerfd|event)_exec( [0-9]{9,})?) [^ ]+/\1 FN/; s/^([0-9]+ interrupt_fd_process( [0-9]{9,})? [^ ]+ [^ ]+) [^ ]+/\1 FN/' | sort; }
# logged: the log as lines; without the first argument where it is the constant
logged() { "$top/tests/live/args.py" log "$tmp/log" | sed -E 's/^([0-9]+ \w+) 0 /\1 /' | plain; }
# common: of `logged`, the arguments that spdk.bt prints: those that all releases have
stamped=$(grep -ohE 'PROBE_TICKS\(\w+' "$targets"/*.c | cut -d'(' -f 2 | sort -u)
common() {
	awk -v stamped="$stamped bdev_nvme_destroy_qpair" -v release="$release" '
		BEGIN { n = split(stamped, names, /[ \n]/); for (i = 1; i <= n; i++) keeps[names[i]] = 1 }
		{ drop = release < 2305 && !keeps[$2] ? 3 : $2 == "nvmf_ctrlr_destruct" && NF == 6 ? 5 : 0; line = ""
		  for (i = 1; i <= NF; i++) if (i != drop) line = line (i > 1 ? " " : "") $i; print line }'
}

# By its number an argument would be another one where a release moves it, by its name that is an error. Only one, whose
# name and type changed, is looked at before it is used.
is "$(grep -nE '\barg[0-9]' "$top"/bpf/{nvmf,nvme,nvmf_timeout,sched,qpair,spdk,intr-wakeups}.bt |
	grep -v 'nvmf_timeout.bt.*\$i = (struct spdk_io_channel_iter \*)arg0;')" "" "the scripts have arguments by name"

# How many probes a release has, and the arguments of two, from its sources: the first, one between, the newest.
declare -A probes=([2201]=42 [2401]=50 [2609]=50) destruct=(
	[2201]='uint64_t ticks, struct spdk_nvmf_ctrlr *ctrlr, char *subnqn, uint64_t thread_id'
	[2401]='uint64_t ticks, struct spdk_nvmf_ctrlr *ctrlr, char *subnqn, uint64_t thread_id'
	[2609]='uint64_t ticks, struct spdk_nvmf_ctrlr *ctrlr, uint64_t thread_id'
) state=([2201]='uint64_t ticks, enum nvmf_tgt_state g_tgt_state' [2401]='int arg0, enum nvmf_tgt_state g_tgt_state'
	[2609]='int arg0, enum nvmf_tgt_state g_tgt_state')
# What each lacks of the scripts' probes that a user would look for; of functions, one of a pair of which a release has either.
declare -A absent=(
	[2201]="bdev_nvme_ctrlr_reconnect bdev_nvme_ctrlr_reconnect_delay bdev_nvme_ctrlr_reset bdev_nvme_reset_ctrlr_complete event_exec\
 interrupt_fd_process msg_exec nvmf_tgt_pause_polling nvmf_tgt_resume_polling spdk_nvmf_ns_add_host spdk_nvmf_ns_remove_host timerfd_exec"
	[2401]='spdk_nvmf_ns_add_host spdk_nvmf_ns_remove_host'
	[2609]=''
)
# notes: what the scripts' notes say is skipped
notes() {
	local script
	for script in nvmf nvme nvmf_timeout sched qpair spdk send_msg; do
		"$btgen" expand --for 0.17 -x "$target" "$top/bpf/$script.bt" 2>&1 >/dev/null
	done | sed -n 's/^btgen: note: skipped, not in [^:]*: //p' | tr -s ', ' '\n' | sort -u | paste -sd ' '
}
for release in 2201 2401 2609; do
	in_third || continue
	target=$tmp/nvmf_tgt-$release
	"${CC:-gcc}" -std=gnu11 -O2 -g -D_GNU_SOURCE -I"$top/include" -I"$targets" -pthread -DSPDK_RELEASE=$release \
		-o "$target" "$targets"/{main,rpc,commands,target,poll_group,subsystem,subsystem_ops,ctrlr,bdev,bdev_nvme}.c \
		"$targets"/{thread,io_channel,reactor,scheduler,log}.c || exit 1
	strip -o "$target.strip" "$target"
	"$btgen" probes -v -x "$target.strip" >"$tmp/probes"
	is "$(grep -c '^spdk:' "$tmp/probes") $(grep -cE '^    arg.*size only|probes.conf is not used' "$tmp/probes")" "${probes[$release]} 0" \
		"$release, stripped: each argument of ${probes[$release]} probes is listed"
	for form in "nvmf_ctrlr_destruct(${destruct[$release]})" "nvmf_tgt_state(${state[$release]})"; do
		is "$(grep "^spdk:${form%%(*}" "$tmp/probes")" "spdk:$form" "$release, stripped: $form"
	done
	for version in 0.17 0.23 0.27; do
		for script in nvmf nvme nvmf_timeout sched qpair spdk intr-wakeups; do
			[ $release-$script = 2201-intr-wakeups ] || # it has no such probes
				"$btgen" expand -W error --for $version -x "$target" "$top/bpf/$script.bt" >"$tmp/program" 2>"$tmp/said" ||
				echo "$script.bt for $version: $(cat "$tmp/said")"
		done
	done 2>&1 | tee "$tmp/said-all"
	is "$(cat "$tmp/said-all")" "" "$release: the scripts expand for 0.17, 0.23 and 0.27, without a warning"
	is "$(notes)" "${absent[$release]}" "$release: the notes of the scripts name what it lacks, and nothing that only others have"
	can_trace || {
		skip_tracing "$release: events"
		continue
	}

	live_nvmf "$target"
	ok "$release: nvmf.bt and nvme.bt" live_tour $live_pid -D PATHS=1 nvmf.bt nvme.bt
	is "$(lines)" "$(python3 "$top/tests/live/nvmf_lines.py" "$tmp/log" lines | sort)" \
		"$release: each event once, with the values that the program passed ($(wc -l <"$tmp/log") logged)"
	is "$(sed -nE 's/^@requests\[(.*), (.*)\]: /\1 \2 /p' "$tmp/trace" | sort)" \
		"$(awk -F'\t' '$3 == "nvmf_request_io_exec_path" { n[$6 " " $7]++ } END { for (k in n) print k, n[k] }' "$tmp/log" | sort)" \
		"$release: requests by address"

	live_nvmf "$target" --interrupt-mode
	ok "$release: spdk.bt" live_tour $live_pid spdk.bt
	sed -nE 's/^[0-9]+\.[0-9]{6}: ([0-9]+) (\w+)/00:00:00.000000 x[\1] spdk:\2/p' "$tmp/trace" >"$tmp/text"
	is "$("$top/tests/live/args.py" text "$tmp/text" "$targets"/*.h "$targets"/*.c | plain)" "$(logged | common | sort)" \
		"$release: each event of ${probes[$release]} probes once, with the values that the program passed"

	live_nvmf "$target" --interrupt-mode
	ok "$release: -t 'spdk:*'" live_tour -t 'spdk:*' $live_pid
	is "$("$top/tests/live/args.py" text "$tmp/trace" "$targets"/*.h "$targets"/*.c | plain)" "$(logged)" \
		"$release: each event with all its arguments"

	live_nvmf "$target"
	ok "$release: qpair.bt, sched.bt, nvmf_timeout.bt" live_tour $live_pid qpair.bt sched.bt nvmf_timeout.bt
	is "$(sed -nE 's/^([0-9]+) (add|connect|drain|disconnect|remove) qpair=(0x[0-9a-f]+) .*/\1 \3/p' "$tmp/trace" | sort)" \
		"$(awk -F'\t' '$3 ~ /^nvmf_(poll_group_(add|drain|remove)_qpair|ctrlr_add_qpair|qpair_disconnect)$/ { print $4, $5 }' "$tmp/log" | sort)" \
		"$release, qpair.bt: each event with its time stamp"
	is "$(sed -nE 's/^[0-9.]+: thread (.*) moves from core (.*) to core (.*)/\1 \2 \3/p' "$tmp/trace")" \
		"$(awk -F'\t' '$3 == "move()" && $5 != $6 { print $4, $5, $6 }' "$tmp/log")" "$release, sched.bt: what was moved"
	is "$(sed -nE 's/^[0-9.]+: (\w+) 127\.0\.0\.1:4422 (connected|failed|deleted).*/\1 \2/p' "$tmp/trace")" \
		"$(awk -F'\t' -v release=$release '
			$3 == "reset_ctrlr_complete()" && release >= 2209 { print $4, $5 == 1 ? "connected" : "failed" }
			$3 == "bdev_nvme_ctrlr_delete" { print $5, "deleted" }' "$tmp/log")" \
		"$release, nvmf_timeout.bt: how each attempt ended"
done

done_testing
