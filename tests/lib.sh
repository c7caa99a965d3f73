# Sourced by the shell tests: TAP, a private folder, processes that are gone at the end.
#
#   . "$(dirname "$0")/../lib.sh"
#   ok "the list is not empty" test -s "$tmp/list"
#   is "$got" "$want" "the count is right"
#   done_testing
#
# Variables: $top (the checkout), $build, $btgen, $tmp (private, removed), $targets,
# $bpftrace (the one under test: BTGEN_BPFTRACE, which `make check-matrix` sets, else the system's).
# shellcheck shell=bash disable=SC2034
set -u

[ -c /dev/null ] || { echo 'Bail out!  /dev/null is not the null device (tests/null.sh)'; exit 1; }
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${BTGEN_BUILD:-$top/build}
btgen=$build/btgen
targets=$top/tests/targets
export BTGEN=$btgen
bpftrace=${BTGEN_BPFTRACE:-bpftrace}
tmp=$(mktemp -d "${TMPDIR:-/tmp}/btgen-test.XXXXXX")
mkfifo "$tmp/.silence"
tap_n=0 tap_failed=0
declare -a tap_pids=()

# tap_start PID: in REPLY, when the process began; nothing for none
tap_start() {
	REPLY=
	{ read -r REPLY <"/proc/$1/stat"; } 2>/dev/null || return
	read -r _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ REPLY _ <<<"${REPLY##*) }"
}

# PIDs are given out again, and soon where there are 32768 of them: only what is the same process is ended.
tap_cleanup() {
	local one
	for one in ${tap_pids[@]+"${tap_pids[@]}"}; do
		tap_start "${one%:*}"
		[ "$REPLY" != "${one#*:}" ] || { kill "${one%:*}" && wait "${one%:*}"; } 2>/dev/null
	done
	rm -rf "$tmp"
}
trap tap_cleanup EXIT
trap 'exit 1' INT TERM HUP
trap 'trap "" PIPE; exit 1' PIPE # nobody reads what this test writes: what it talks to has ended

# clauses_of VERSION FILE PATTERN...: the template that -t PATTERN -n prints for that bpftrace, such as 0.17
clauses_of() {
	local version=$1 file=$2 patterns=() one
	printf '#!/bin/sh\necho bpftrace v%s.1\n' "$version" >"$tmp/bpftrace-$version"
	chmod +x "$tmp/bpftrace-$version"
	shift 2
	for one; do patterns+=(-t "$one"); done
	"$btgen" run -n --bpftrace "$tmp/bpftrace-$version" "${patterns[@]}" -x "$file"
}

# own PID: end this process of ours when the test ends
own() {
	tap_start "$1"
	[ -z "$REPLY" ] || tap_pids+=("$1:$REPLY")
}

tap_result() {
	tap_n=$((tap_n + 1))
	if [ "$1" = 0 ]; then
		printf 'ok %d - %s\n' "$tap_n" "$2"
	else
		printf 'not ok %d - %s\n' "$tap_n" "$2"
		tap_failed=$((tap_failed + 1))
		return 1
	fi
}

# ok CLAIM COMMAND...: the command succeeds
ok() {
	local claim=$1
	shift
	"$@"
	tap_result $? "$claim"
}

not_ok() {
	local claim=$1
	shift
	if "$@"; then tap_result 1 "$claim"; else tap_result 0 "$claim"; fi
}

# is GOT WANT CLAIM: equal texts; a difference is shown
is() {
	if [ "$1" = "$2" ]; then
		tap_result 0 "$3"
	else
		tap_result 1 "$3"
		diff <(printf '%s\n' "$2") <(printf '%s\n' "$1") | sed 's/^/#   /' | head -n 40
		return 1
	fi
}

# like TEXT REGEX CLAIM: an extended regular expression matches somewhere in the text
like() {
	if printf '%s\n' "$1" | grep -qE -- "$2"; then
		tap_result 0 "$3"
	else
		tap_result 1 "$3"
		printf '#   no match for %s in:\n' "$2"
		printf '%s\n' "$1" | head -n 20 | sed 's/^/#     /'
		return 1
	fi
}

unlike() {
	if printf '%s\n' "$1" | grep -qE -- "$2"; then
		tap_result 1 "$3"
		printf '#   matches %s:\n' "$2"
		printf '%s\n' "$1" | grep -E -- "$2" | head -n 10 | sed 's/^/#     /'
		return 1
	else
		tap_result 0 "$3"
	fi
}

# skip CLAIM REASON: counted, with its reason
skip() {
	tap_n=$((tap_n + 1))
	printf 'ok %d - %s # SKIP %s\n' "$tap_n" "$1" "$2"
}

# skip_all REASON: the whole file
skip_all() {
	printf '1..0 # SKIP %s\n' "$1"
	exit 0
}

done_testing() {
	printf '1..%d\n' "$tap_n"
	[ "$tap_failed" = 0 ] || exit 1
	exit 0
}

# A guard against what hangs, in seconds, and never a claim: what a test waits for takes as long as the machine is slow or busy.
readonly PATIENCE=600

# guard COMMAND...: ends it when it hangs, with status 124. In the background $! is a shell's: own that, or end it by its name
guard() { timeout -k 10 $PATIENCE "$@"; }

# nap SECONDS: what polls many times a second sleeps without a process for it, which costs 2 ms of processor time
nap() {
	read -rt "$1" <>"$tmp/.silence"
	[ $? -gt 128 ] || sleep "$1" # no FIFO
}

# wait_for COMMAND...: polls until the command succeeds, less often the longer it takes; false when it never does
wait_for() {
	local end=$((SECONDS + PATIENCE)) ms=20 seconds
	until "$@"; do
		[ $SECONDS -lt $end ] || { echo "# waited $PATIENCE s for: $*" && return 1; }
		printf -v seconds 0.%03d $ms
		nap $seconds
		[ $ms -ge 250 ] || ms=$((ms * 6 / 5))
	done
}

# gone PID: no process has it (any more)
gone() { ! kill -0 "$1" 2>/dev/null; }

# limit_memory KIB: of address space, from here on; sanitizers reserve more than any limit
limit_memory() { grep -q __asan_init "$btgen" || ulimit -v "$1"; }

# in_third: whether this one of many cases of a kind is in the third of them that is run: that of THIRD, 0 to 2, of each version that
# check-matrix runs another one, by default of each day. THIRD=all runs all.
third=${THIRD:-$((10#$(date +%j) % 3))} third_n=0
case $third in [012] | all) ;; *) echo "Bail out!  THIRD=$third is not 0, 1, 2 or all"; exit 1 ;; esac
in_third() {
	[ $third_n != 0 ] || printf '# a third of the cases of a kind: THIRD=%s; all: THIRD=all\n' "$third"
	third_n=$((third_n + 1))
	[ "$third" = all ] || [ $((third_n % 3)) = "$third" ]
}

# choose_seed N: $SEED, which is printed, is as given, or N; in check-matrix with all versions it is another one each time
choose_seed() {
	[ -z "${BTGEN_BPFTRACE-}" ] || [ -n "${OTHERS-}" ] || SEED=${SEED:-$((RANDOM * 32768 + RANDOM))}
	SEED=${SEED:-$1}
	echo "# SEED=$SEED"
}

# linear CLAIM STATUS N COMMAND...: what it takes of the processor grows with what it reads, and not with the square (growth.py):
# {} in it is N, then 4N. What the second one writes is in $tmp/out and $tmp/err.
linear() {
	local claim=$1 took
	took=$(guard python3 "$top/tests/growth.py" "$3" "$2" "$tmp/out" "$tmp/err" "${@:4}")
	tap_result $? "$claim" || head -n 3 "$tmp/err" | cut -c1-200 | sed 's/^/#   /'
	echo "#   $took"
}

# python_with MODULE: a python3 that has it (the distribution's may, where another one comes first in PATH)
python_with() {
	local python
	for python in python3 /usr/bin/python3; do
		"$python" -c "import $1" 2>/dev/null && printf '%s' "$python" && return
	done
	return 1
}

# can_trace: bpftrace can trace here; else $BTGEN_CANNOT_TRACE is the reason. prove.sh has asked for all tests.
can_trace() {
	if [ -z "${BTGEN_CANNOT_TRACE+asked}" ]; then
		BTGEN_CANNOT_TRACE=$("$top/tests/tracing.sh")
		export BTGEN_CANNOT_TRACE
	fi
	[ -z "$BTGEN_CANNOT_TRACE" ]
}

# need_tracing: the whole file does
need_tracing() { can_trace || skip_all "needs tracing: $BTGEN_CANNOT_TRACE"; }

# skip_tracing CLAIM: after can_trace was false
skip_tracing() { skip "$1" "needs tracing: $BTGEN_CANNOT_TRACE"; }
