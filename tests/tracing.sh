#!/usr/bin/env bash
# Prints why the tests cannot trace programs on this machine, and fails; prints nothing where they can.
#
#   tests/tracing.sh              attaches a probe with bpftrace ($BTGEN_BPFTRACE, else the one in PATH)
#   tests/tracing.sh --rights     only what can be known before bpftrace is installed
#
# What keeps all tests alike from tracing is asked here, once for each run of prove.sh. btgen is not asked, for it is under test:
# tests/cli/doctor.t compares it with `btgen doctor`.
set -euo pipefail

# has N: this process's capability of that number (linux/capability.h)
has() { (((16#$(sed -n 's/^CapEff:[[:space:]]*//p' /proc/self/status) >> $1) & 1)); }

# lacking: what root lacks that loading a BPF program needs; CAP_SYS_ADMIN instead is enough
lacking() {
	local -a names=()
	has 21 && return
	has 39 || names+=(CAP_BPF)
	has 38 || names+=(CAP_PERFMON)
	[ ${#names[@]} = 0 ] || printf '%s' "${names[0]}${names[1]+ and ${names[1]}}"
}

rights() {
	local lacks devices=/sys/bus/event_source/devices
	[ "$(id -u)" = 0 ] || { echo 'not root' && return; }
	[ -e /proc/self/status ] || { echo '/proc is not mounted' && return; }
	[ -d $devices ] || { echo '/sys is not mounted' && return; }
	awk '$3 < 4294967295 { exit 1 }' /proc/self/uid_map || { echo 'root of a user namespace only (a rootless container)' && return; }
	lacks=$(lacking)
	[ -z "$lacks" ] || { echo "root lacks $lacks" && return; }
	[ -e $devices/uprobe ] || { echo 'the kernel has no uprobes (CONFIG_UPROBE_EVENTS)' && return; }
	! grep -qs '\[confidentiality\]' /sys/kernel/security/lockdown || echo 'kernel lockdown is in confidentiality mode'
}

# attach: nothing, or what bpftrace says. One function of our own C library; BEGIN comes when it is attached.
attach() {
	local bpftrace=${BTGEN_BPFTRACE:-bpftrace} libc said
	command -v "$bpftrace" >/dev/null || { echo 'bpftrace is not installed' && return; }
	libc=$(awk '$6 ~ "/libc[.-][^/]*$" { print $6; exit }' /proc/$$/maps) # awk itself may be a static program
	said=$(timeout 600 "$bpftrace" -p $$ -e "${libc:+uprobe:$libc:getpid { print(1); \}} BEGIN { exit(); }" 2>&1) && return
	said=$(grep -v RLIMIT_MEMLOCK <<<"$said" | grep '^ERROR: ' | tail -n 1) || :
	printf 'bpftrace cannot attach a probe%s%s\n' "${said:+: ${said#ERROR: }}" "$(has 21 || echo ' (root lacks CAP_SYS_ADMIN)')"
}

main() {
	local why
	why=$(rights)
	[ -n "$why" ] || [ "${1-}" = --rights ] || why=$(attach)
	# What failed for another reason than rights, a busy machine say, gets a second chance: all tests hang on it.
	[[ $why != *'cannot attach'* ]] || why=$(attach)
	[ -z "$why" ] || { printf '%s\n' "$why" && exit 1; }
}

main "$@"
