#!/usr/bin/env bash
# The NVMe scripts without NVMe: bpftrace compiles what their templates become, for every set of options.
# bpftrace takes the tracepoints' fields from tracefs: here that is a folder with their formats on Linux 6.1, put in
# its place in a mount namespace of the test's own. That they are right is seen in tests/vm.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
need_tracing
unshare -m true 2>/dev/null || skip_all "no mount namespace can be made here"

# format NAME FIELD...: each field as `declaration;offset;size;signed`
format() {
	local name=$1 field
	local -a part
	shift
	mkdir -p "$tmp/tracefs/events/nvme/$name"
	echo 1 >"$tmp/tracefs/events/nvme/$name/id"
	echo "nvme:$name" >>"$tmp/tracefs/available_events"
	{
		printf 'name: %s\nID: 1\nformat:\n' "$name"
		for field in 'unsigned short common_type;0;2;0' 'unsigned char common_flags;2;1;0' \
			'unsigned char common_preempt_count;3;1;0' 'int common_pid;4;4;1' '' "$@"; do
			IFS=';' read -ra part <<<"$field"
			[ -z "$field" ] && echo && continue
			printf '\tfield:%s;\toffset:%s;\tsize:%s;\tsigned:%s;\n' "${part[@]}"
		done
	} >"$tmp/tracefs/events/nvme/$name/format"
}

format nvme_setup_cmd 'char disk[32];8;32;0' 'int ctrl_id;40;4;1' 'int qid;44;4;1' 'u8 opcode;48;1;0' \
	'u8 flags;49;1;0' 'u8 fctype;50;1;0' 'u16 cid;52;2;0' 'u32 nsid;56;4;0' 'bool metadata;60;1;0' \
	'u8 cdw10[24];61;24;0'
format nvme_complete_rq 'char disk[32];8;32;0' 'int ctrl_id;40;4;1' 'int qid;44;4;1' 'int cid;48;4;1' \
	'u64 result;56;8;0' 'u8 retries;64;1;0' 'u8 flags;65;1;0' 'u16 status;66;2;0'
touch "$tmp/tracefs/available_filter_functions"

cat >"$tmp/in_tracefs" <<'END'
mount --bind "$1" /sys/kernel/tracing &&
	mount -t tmpfs none /sys/kernel/debug && mkdir /sys/kernel/debug/tracing &&
	mount --bind "$1" /sys/kernel/debug/tracing || exit 99
shift
exec "$@"
END

version=$("$bpftrace" --version | sed 's/.*v0\.\([0-9]*\).*/\1/')

# compiles OPTION... SCRIPT: expanded for this bpftrace, which finds nothing wrong with it
compiles() {
	local -a how=()
	"$btgen" expand --for "0.$version" "$@" >"$tmp/program.bt" 2>"$tmp/err" || return 1
	[ ! -s "$tmp/err" ] || return 1
	# 0.17 can stop after compiling; newer ones go on to attach, which must be all that fails.
	[ "$version" -ge 20 ] || how=(-d)
	guard unshare -m sh "$tmp/in_tracefs" "$tmp/tracefs" "$bpftrace" "${how[@]}" "$tmp/program.bt" \
		>"$tmp/out" 2>&1
	local rc=$?
	grep -E 'program.bt:[0-9].*ERROR|^error:|different signs|signed operands|being cast to type' "$tmp/out" |
		cut -c 1-200 | sed 's/^/#   /' >"$tmp/said"
	cat "$tmp/said"
	[ ! -s "$tmp/said" ] || return 1
	if [ "$version" -lt 20 ]; then [ $rc = 0 ]; else grep -qi 'attach' "$tmp/out"; fi
}

not_ok "bpftrace's own check is looked at: a field that is not there fails" \
	compiles -e 'tracepoint:nvme:nvme_setup_cmd { printf("%d\n", args->nothing); }'
for options in "" "-DCTRL_ID=0" "-DNSID=1 -DOPCODE=2 -DADMIN=0" "-DERRORS=1 -DADMIN=1"; do
	# shellcheck disable=SC2086 # options are words
	ok "nvme-trace.bt $options: compiles, no warning about signs" compiles $options nvme-trace.bt
done
for options in "" "-DCTRL_ID=0 -DNSID=1 -DOPCODE=2 -DADMIN=0" "-DINTERVAL=1" "-DINTERVAL=1 -DACCUMULATE=1" "-DSPLIT_SIZE=1 -DLBS512=1" \
	"-DPERCENTILES=1 -DSPLIT_SIZE=1 -DINTERVAL=5" "-DLAT_MIN_US=65 -DLAT_SHIFT=2"; do
	# shellcheck disable=SC2086
	ok "nvme-latency.bt $options: compiles, no warning about signs" compiles $options nvme-latency.bt
done
reports() { "$btgen" expand --for "0.$version" -DINTERVAL=1 "$@" nvme-latency.bt |
	grep -oE '(print|clear)\(@[a-z_]+\)' | sort | uniq | tr '\n' ' '; }
shown='print(@completed) print(@errors) print(@in_flight) print(@lost_starts) print(@submitted) print(@unmatched) print(@us) print(@us_max) print(@us_stats)'
is "$(reports -DACCUMULATE=1)" "clear(@nvme_status) clear(@start) $shown " "with ACCUMULATE a report clears nothing"
is "$(reports)" "clear(@completed) clear(@errors) clear(@lost_starts) clear(@nvme_status) clear(@start) clear(@submitted) clear(@unmatched) clear(@us) clear(@us_max) clear(@us_stats) $shown " \
	"without it all but what is in flight"

done_testing
