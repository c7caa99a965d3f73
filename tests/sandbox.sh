#!/usr/bin/env bash
# Runs a command as root of a machine that may not trace: docker's default capabilities, and nothing mounted below /sys/kernel. Many
# CI runners are such machines.
#
#   tests/sandbox.sh                 make demo and make check, in a copy of what is committed
#   tests/sandbox.sh COMMAND [ARG]...
#
# Without a command: the demo must go well in an emulated machine, and with DEMO=here fail, and show what works without tracing; the
# check must pass, and count what it skipped. What they need must be installed (scripts/pkgdep.sh --test). Where the sandbox cannot
# be made, status 0 and a SKIP.
# Needs root, and util-linux.
set -euo pipefail

# What docker leaves to root: https://docs.docker.com/engine/containers/run/#runtime-privilege-and-linux-capabilities
readonly capabilities=chown,dac_override,fowner,fsetid,kill,setgid,setuid,setpcap,net_bind_service,net_raw,sys_chroot,mknod,audit_write,setfcap
copy=

die() {
	printf 'sandbox.sh: error: %s\n' "$1" >&2
	exit 1
}

# enter COMMAND [ARG]...: in place of this shell. Root has its bounding set once it executes something.
enter() {
	# shellcheck disable=SC2016 # for that shell
	exec unshare -m -- sh -c 'mount -t tmpfs -o mode=755 none /sys/kernel && exec setpriv --inh-caps=-all --bounding-set="-all,+$0" -- "$@"' \
		"${capabilities//,/,+}" "$@"
}

cleanup() { rm -rf "$copy"; }

# fresh COMMAND...: in the sandbox, with the copy as its folder and nothing of an outer make
fresh() {
	(
		cd "$copy"
		unset MAKEFLAGS MFLAGS MAKELEVEL BTGEN_NULL BTGEN_IN_TRACEFS BTGEN_CANNOT_TRACE BTGEN_BUILD
		enter "$@"
	)
}

# begins LINE: the log of the demo, with what keeps this machine from tracing
begins() { [ "$(head -n 1 "$copy/demo.log")" = "$1" ] || die "make demo did not begin with: $1"; }

main() {
	[ $# = 0 ] || enter "$@"
	local top why rc=0
	top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
	why=$("${BASH_SOURCE[0]}" true 2>&1) || {
		printf '# SKIP check-sandbox: the sandbox cannot be made here: %s\n' "${why##*$'\n'}"
		exit 0
	}
	copy=$(mktemp -d "${TMPDIR:-/tmp}/btgen-sandbox.XXXXXX")
	chmod 755 "$copy" # tests run btgen as other users
	trap cleanup EXIT
	trap 'exit 1' INT TERM HUP
	git clone -q "$top" "$copy"

	fresh env DEMO=here make demo 2>&1 | tee "$copy.log" || rc=$?
	mv "$copy.log" "$copy/demo.log"
	[ $rc != 0 ] || die 'DEMO=here make demo: status 0, though this machine cannot trace'
	begins 'demo: this machine cannot trace: root lacks CAP_BPF and CAP_PERFMON'
	grep -q 'docker run' "$copy/demo.log" || die 'DEMO=here make demo did not print how to get it'
	grep -q 'spdk:nvmf_tgt_state(' "$copy/demo.log" || die 'DEMO=here make demo did not print the probes of its program'
	grep -qE '^usdt:.*:nvmf_tgt_state( \{|$)' "$copy/demo.log" || die 'DEMO=here make demo did not print the program for bpftrace'

	rc=0
	fresh make demo 2>&1 | tee "$copy/demo.log" || rc=$?
	begins 'demo: this machine cannot trace (root lacks CAP_BPF and CAP_PERFMON): the demo runs in an emulated machine'
	if [ $rc = 0 ]; then
		grep -q '^[0-9.]*: nvmf_tgt reached state RUNNING$' "$copy/demo.log" || die 'make demo did not print a trace'
	else
		grep -q '^demo: there is no emulated machine here' "$copy/demo.log" || die "make demo: status $rc"
		printf '# SKIP make demo in an emulated machine: there is none here\n'
	fi

	fresh make check 2>&1 | tee "$copy/check.log"
	grep -q '^Skipped: .* need tracing, which this machine does not allow: root lacks CAP_BPF and CAP_PERFMON' "$copy/check.log" ||
		die 'make check did not count what it skipped'
}

main "$@"
