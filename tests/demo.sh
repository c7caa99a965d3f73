#!/usr/bin/env bash
# make demo: a program with probes, traced by bpf/nvmf.bt. The three terminals of SPDK's usdt guide in one.
#
#   SHARED=yes tests/demo.sh      the program that has its probes in shared libraries
#   WRAPPER=/usr/local/bin/bpftrace.sh tests/demo.sh      the installed bpftrace.sh
#   DEMO=vm tests/demo.sh         in an emulated machine (tests/vm/small.sh), which is the default where this one cannot trace
#   DEMO=here tests/demo.sh       on this machine only
#   tests/demo.sh --rights        only reports what keeps this user from tracing here, before anything is built
#
# Where nothing can be traced, not even in an emulated machine, it shows what btgen does without: the probes with their types, and
# the program for bpftrace. Status 1.
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
nqn=nqn.2016-06.io.spdk:cnode1
target=0 tracer=0 tmp=

die() {
	printf 'demo: %s\n' "$1" >&2
	shift
	[ $# = 0 ] || sed 's/^/  /' "$@" >&2
	exit 1
}

say() {
	printf '\n== %s\n' "$*"
}

cleanup() {
	[ $tracer = 0 ] || kill "$tracer" 2>/dev/null || :
	[ $target = 0 ] || kill "$target" 2>/dev/null || :
	wait
	[ -z "$tmp" ] || rm -rf "$tmp"
}

# wait_for WHAT COMMAND...: false when the time is up or a process of ours has ended
wait_for() {
	local end=$((SECONDS + 600)) what=$1
	shift
	until "$@"; do
		if [ $tracer != 0 ] && ! kill -0 $tracer 2>/dev/null; then
			die "the tracer ended before $what" "$tmp/messages"
		fi
		kill -0 $target 2>/dev/null || die "the target ended before $what" "$tmp/answers"
		[ $SECONDS -lt $end ] || die "gave up waiting until $what" "$tmp/messages" "$tmp/answers"
		sleep 0.05
	done
}

answered() {
	[ "$(grep -cE '^(ok|error)' "$tmp/answers")" -ge "$1" ]
}

# Has the last command's last event come?
complete() {
	sed '1,/add namespace/d' "$tmp/trace" | grep -q 'change state from PAUSED to ACTIVE done'
}

# may_emulate: the installed bpftrace.sh is tried on the machine that it is on
may_emulate() { [ "${DEMO-}" != here ] && [ -z "${WRAPPER-}" ]; }

# report REASON: why there is no trace of this machine's programs
report() {
	if may_emulate; then
		printf 'demo: this machine cannot trace (%s): the demo runs in an emulated machine\n' "$1" >&2
	else
		printf 'demo: this machine cannot trace: %s\n' "$1" >&2
	fi
}

# advise REASON: what helps
advise() {
	case $1 in
	'not root') printf '  run: sudo make demo\n' ;;
	'root lacks '* | 'bpftrace cannot attach '*)
		cat <<-'END'
			  In a container, one of these helps:
			    docker run --privileged --pid=host ...
			    docker run --cap-add=SYS_ADMIN --cap-add=SYS_PTRACE --cap-add=IPC_LOCK --pid=host \
			        -v /sys/kernel/tracing:/sys/kernel/tracing ...
			  --pid=host is for programs outside of the container. SYS_PTRACE is for those of other users, IPC_LOCK for
			  bpftrace up to 0.18, /sys/kernel/tracing for tracepoints and for bpftrace 0.24 and newer.
		END
		;;
	'root of a user namespace'*) printf '  run it as root of the host, or in a container that has root of the host: sudo podman run --privileged ...\n' ;;
	esac >&2
}

# excerpt LINES: of stdin, and how many more there are
excerpt() { awk -v n="$1" 'NR <= n { print } END { if (NR > n) printf "... and %d more lines\n", NR - n }'; }

# show_untraced PROGRAM WRAPPER REASON: what needs no rights
show_untraced() {
	local exe=tests/targets/$1
	cd "$top"
	say "without tracing: the probes of a program, their arguments and types"
	echo "build/btgen probes -x $exe"
	"${BTGEN:-btgen}" probes -x "$exe" | excerpt 12
	say "without tracing: the program for bpftrace, of the script and the types"
	echo "${2#"$top"/} -n -x $exe nvmf.bt"
	"$2" -n -x "$exe" nvmf.bt | sed -n '/^usdt:/,$p' | excerpt 30
	echo
	DEMO=here report "$3"
	advise "$3"
	printf '  btgen doctor reports more.\n' >&2
	exit 1
}

# emulate [REASON]: the demo in an emulated machine. Returns where there can be none.
emulate() {
	local rc=0
	if [ -n "${1-}" ]; then
		report "$1"
	else
		printf 'demo: in an emulated machine (DEMO=vm)\n' >&2
	fi
	"$top/tests/vm/small.sh" demo || rc=$?
	if [ $rc = 3 ]; then
		printf 'demo: there is no emulated machine here, see above\n' >&2
		return
	fi
	[ $rc = 0 ] || exit 1
	if [ -n "${1-}" ]; then
		printf '\ndemo: that was an emulated machine. To trace the programs of this one:\n' >&2
		advise "$1"
		printf '  btgen doctor reports more.\n' >&2
	fi
	exit 0
}

main() {
	local exe=nvmf_tgt wrapper=${WRAPPER:-$top/scripts/bpftrace.sh} line why
	if [ "${1-}" = --rights ]; then
		[ "${DEMO-}" = vm ] || { [ "$(id -u)" != 0 ] && sudo -n true 2>/dev/null; } || why=$("$top/tests/tracing.sh" --rights) || {
			report "$why"
			may_emulate || advise "$why"
		}
		exit 0
	fi
	[ "${SHARED-}" != yes ] || exe=nvmf_tgt_shared
	if [ "$(id -u)" != 0 ] && [ "${DEMO-}" != vm ] && sudo -n true 2>/dev/null; then
		# bpftrace needs root, and so do the packages that `make demo` has just looked for
		exec sudo -n BTGEN_BUILD="${BTGEN_BUILD-}" DEMO="${DEMO-}" SHARED="${SHARED-}" WRAPPER="${WRAPPER-}" "${BASH_SOURCE[0]}" "$@"
	fi
	[ -n "${WRAPPER-}" ] || export BTGEN=${BTGEN_BUILD:-$top/build}/btgen
	if [ "${DEMO-}" = vm ]; then
		emulate
		exit 1
	fi
	why=$("$top/tests/tracing.sh") || {
		! may_emulate || emulate "$why"
		show_untraced "$exe" "$wrapper" "$why"
	}

	tmp=$(mktemp -d "${TMPDIR:-/tmp}/btgen-demo.XXXXXX")
	trap cleanup EXIT
	trap 'exit 1' INT TERM HUP
	mkfifo "$tmp/commands"
	touch "$tmp/answers" "$tmp/trace" "$tmp/messages"

	say "first terminal: a target with two poll groups, on its threads 2 and 3"
	echo "tests/targets/$exe -m 0xC --wait"
	"$top/tests/targets/$exe" -m 0xC --wait <"$tmp/commands" >"$tmp/answers" 2>&1 &
	target=$!
	exec 3>"$tmp/commands"
	wait_for 'the target was there' grep -q waiting "$tmp/answers"

	say "second terminal: trace it"
	echo "${wrapper#"$top"/} $target nvmf.bt"
	# A process that bash starts in the background ignores SIGINT, unless it has a group of its own.
	set -m
	"$wrapper" --ready-file "$tmp/ready" $target nvmf.bt \
		>"$tmp/trace" 2>"$tmp/messages" 3>&- </dev/null &
	tracer=$!
	set +m
	wait_for 'it was attached' test -s "$tmp/ready"
	cat "$tmp/messages"

	say "third terminal: commands"
	cat "$top/tests/targets/cnode1.txt"
	echo start >&3
	cat "$top/tests/targets/cnode1.txt" >&3
	wait_for 'the commands were done' answered 6
	! grep '^error' "$tmp/answers" >&2 || die 'a command failed'
	wait_for 'the trace was complete' complete

	kill -INT $tracer
	wait $tracer || die "bpftrace.sh ended with status $?" "$tmp/messages"
	tracer=0
	echo quit >&3
	wait $target || die "the target ended with status $?" "$tmp/answers"
	target=0

	say "what the second terminal shows"
	grep -v '^$' "$tmp/trace" | sort -s -n -k 1,1

	for line in 'nvmf_tgt reached state RUNNING' "$nqn on thread 2 state to ACTIVE done" \
		"$nqn on thread 3 state to ACTIVE done" "$nqn change state from ACTIVE to PAUSED done" \
		"$nqn add namespace 1" "$nqn change state from PAUSED to ACTIVE done"; do
		grep -qE "^[0-9]+\.[0-9]{6}: $line\$" "$tmp/trace" || die "the trace lacks: $line" "$tmp/messages"
	done
	say "the demo went well: $(grep -c . "$tmp/trace") events, states of two threads by name"
}

main "$@"
