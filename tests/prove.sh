#!/usr/bin/env bash
# Runs prove and, when test files fail, prints after its summary what they said: the end of a log then says why.
#
#   tests/prove.sh [PROVE OPTION]... TEST...
#
# Status: prove's own. With FAILURES=FILE in the environment it is appended to FILE instead of printed, for a caller that
# runs prove several times.
set -uo pipefail

# run_one FOLDER TEST ARG...: what prove starts for each test. Keeps a copy of what it prints if it fails; the two streams
# stay apart, for what comes of them together has no certain order.
run_one() {
	local log=$1/=${2//\//%} rc
	shift
	unset FAILURES
	{ "$@" 2>&1 >&3 3>&- | tee "$log.err" >&2; } 3>&1 | tee "$log.out"
	rc=$?
	if [ $rc = 0 ] && ! grep -q '^not ok' "$log.out"; then rm "$log.out" "$log.err"; fi
	exit $rc
}

# said LOG: its failed claims, each with the lines around it; what it said last when it ended early; messages
said() {
	awk '
		function flush(  i) { for (i = n > 20 ? n - 20 : 0; i < n; i++) print before[i]; n = 0 }
		/^ok [0-9]/ || /^1\.\.[0-9]/ { n = on = 0; next }
		/^not ok/ { flush(); on = 1 }
		on { print; next }
		{ before[n++] = $0 }
		END { flush() }
	' "$1.out" | awk 'NR <= 40 { print } END { if (NR > 40) printf "... and %d more lines\n", NR - 40 }'
	[ ! -s "$1.err" ] || { echo '--- on standard error, at last:' && tail -n 20 "$1.err"; }
}

# report FOLDER: what each failed test said
report() {
	local log name
	for log in "$1"/*.out; do
		[ -e "$log" ] || continue
		log=${log%.out} name=${log##*/=}
		printf '\n=== %s said:\n' "${name//%//}"
		said "$log"
	done
}

main() {
	local rc
	if [ "${1-}" = --run-one ]; then
		shift
		run_one "$@"
	fi
	logs=$(mktemp -d "${TMPDIR:-/tmp}/btgen-prove.XXXXXX")
	trap 'rm -rf "$logs"' EXIT
	trap 'exit 1' INT TERM HUP
	prove -e "${BASH_SOURCE[0]} --run-one $logs" "$@"
	rc=$?
	if [ -n "${FAILURES-}" ]; then report "$logs" >>"$FAILURES"; else report "$logs"; fi
	exit $rc
}

main "$@"
