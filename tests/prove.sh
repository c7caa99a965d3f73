#!/usr/bin/env bash
# Runs prove and, when test files fail, prints after its summary what they said: the end of a log then says why.
#
#   tests/prove.sh [PROVE OPTION]... TEST...
#
# With AGAIN=N and AGAIN_OF=PATTERN in the environment up to N test files that fail beside others run once more, one at a time,
# if the names of all of them match, and that counts: what traces a live program on a busy machine may see it too late. What
# they said the first time is printed all the same.
#
# With TIMES=FILE each test file's seconds of processor time, with all that it started, are appended to FILE.
#
# A test file that takes longer than LIMIT seconds (3600: the last guard, for a slow and busy machine, too) is ended with all that it started, and has failed.
#
# /dev/null must be the null device, and tests cannot replace it (null.sh).
#
# Where programs cannot be traced (tracing.sh) those that need it are skipped, and it is said at the end how many these are.
# BTGEN_CANNOT_TRACE= in the environment runs them all the same.
#
# Status: prove's own. With FAILURES=FILE in the environment it is appended to FILE instead of printed, for a caller that
# runs prove several times.
set -uo pipefail

# limited COMMAND...: ends its group of processes at the limit, after a look at what it waits for, and when we are ended. A job of
# its own group, for ^C must reach the test's programs as it would without us.
limited() {
	local pid looks rc limit=${LIMIT:-3600}
	set -m
	timeout -k 30 $((limit + 2)) "$@" &
	pid=$!
	{
		exec 3>&- >/dev/null
		sleep "$limit"
		{ echo "# at the end of its time:" && processes $pid; } >&2
	} 7>&- &
	looks=$!
	trap 'kill $pid -- -$looks' INT TERM HUP
	wait $pid
	rc=$?
	kill -- -$looks 2>/dev/null
	[ $rc != 124 ] && [ $rc != 137 ] || echo "# ended: it was killed, or took more than $limit s" >&2
	return $rc
}

# processes PID: it and what it has started, a line each: how long it runs, its state, where in the kernel it waits, its command
processes() {
	ps -eo pid=,ppid=,etimes=,stat=,wchan:24=,args= | cut -c 1-200 | awk -v top="$1" '
		{ parent[$1] = $2; line[$1] = $0; order[NR] = $1 }
		END {
			for (i = 1; i <= NR; i++) {
				for (p = order[i]; p in parent && p != top; p = parent[p]) { }
				if (p == top) print "#   " line[order[i]]
			}
		}'
}

# run_one FOLDER TEST ARG...: what prove starts for each test. Keeps a copy of what it prints if it fails; the two streams
# stay apart, for what comes of them together has no certain order; prove gets the first one alone: while it reads the second one
# of a test, it waits for the next claim of that test, and starts no other.
run_one() {
	local log=$1/=${2//\//%} rc
	shift
	unset FAILURES AGAIN AGAIN_OF
	{ limited "$@" 2>&1 >&3 3>&- 7>&- | tee "$log.err" >&7; } 3>&1 | tee "$log.out"
	rc=$?
	if [ -n "${TIMES-}" ]; then
		times >"$log.times" # no pipe: a shell of its own has used none
		awk -v test="$1" -F '[ms ]+' 'NR == 2 { print $1 * 60 + $2 + $3 * 60 + $4, test }' "$log.times" >>"$TIMES"
		rm "$log.times"
	fi
	if [ -n "$BTGEN_CANNOT_TRACE" ] && grep -qF "# SKIP needs tracing: $BTGEN_CANNOT_TRACE" "$log.out"; then
		if grep -q '^1\.\.0' "$log.out"; then : >"$log.skipped"; else : >"$log.partly"; fi
	fi
	if [ $rc = 0 ] && is_good "$log.out"; then rm "$log.out" "$log.err"; fi
	exit $rc
}

# is_good OUTPUT: as many claims as were planned, and all of them hold
is_good() {
	awk '/^not ok/ { bad = 1 } /^ok / { n++ } /^1\.\.[0-9]/ { plan = substr($1, 4) + 0; planned = 1 } END { exit bad || !planned || n + 0 != plan }' "$1"
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

# failed: the test files that failed, a line each
failed() {
	local log
	for log in "$logs"/*.out; do
		[ -e "$log" ] || continue
		log=${log%.out} log=${log##*/=}
		printf '%s\n' "${log//%//}"
	done
}

# report: what each failed test said
report() {
	local name
	while read -r name; do
		printf '\n=== %s said:\n' "$name"
		said "$logs/=${name//\//%}"
	done < <(failed)
}

# tell: the report, where it is wanted
tell() {
	if [ -n "${FAILURES-}" ]; then report >>"$FAILURES"; else report; fi
}

# skipped ARG...: of the tests in ARG..., how many need tracing, where it is not possible
skipped() {
	local arg n=0 whole part
	[ -n "$BTGEN_CANNOT_TRACE" ] || return 0
	for arg; do [[ $arg == -* ]] || n=$((n + 1)); done
	whole=$(find "$logs" -name '*.skipped' | wc -l) part=$(find "$logs" -name '*.partly' | wc -l)
	[ $((whole + part)) = 0 ] ||
		printf '\nSkipped: %d of %d test files, and parts of %d others. They need tracing, which this machine does not allow: %s\n' \
			"$whole" "$n" "$part" "$BTGEN_CANNOT_TRACE"
}

# again ARG...: those that failed, without the other tests of ARG... and one at a time; false when that is not to be done
again() {
	local -a files options=()
	local arg
	mapfile -t files < <(failed)
	[ ${#files[@]} -gt 0 ] && [ ${#files[@]} -le "${AGAIN:-0}" ] || return 1
	for arg in "${files[@]}"; do
		# shellcheck disable=SC2053 # a pattern
		[[ $arg == ${AGAIN_OF-} ]] || return 1
	done
	for arg in "$@"; do
		if [[ $arg == -* && $arg != -j* ]]; then options+=("$arg"); fi
	done
	report
	printf '\n=== once more, alone: %s\n' "${files[*]}"
	rm -f "$logs"/*.out "$logs"/*.err
	prove -m -e "${BASH_SOURCE[0]} --run-one $logs" ${options[@]+"${options[@]}"} "${files[@]}"
	rc=$?
}

# direct_python: python3 in PATH is the interpreter, and no script that looks for one (pyenv's): that takes six times as long to
# start, and the tests start a thousand
direct_python() {
	local python
	python=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null) || return 0
	[ ! -x "${python%/*}/python3" ] || [ "${python%/*}/python3" = "$(command -v python3)" ] || PATH=${python%/*}:$PATH
}

main() {
	local rc
	if [ "${1-}" = --run-one ]; then
		shift
		run_one "$@"
	fi
	[ -n "${BTGEN_NULL-}" ] || exec "${BASH_SOURCE[0]%/*}/null.sh" "${BASH_SOURCE[0]}" "$@"
	direct_python
	if [ -z "${BTGEN_CANNOT_TRACE+asked}" ]; then
		BTGEN_CANNOT_TRACE=$("${BASH_SOURCE[0]%/*}/tracing.sh") || :
	fi
	export BTGEN_CANNOT_TRACE
	unset MAKEFLAGS MFLAGS # a make that a test starts is no part of ours
	logs=$(mktemp -d "${TMPDIR:-/tmp}/btgen-prove.XXXXXX")
	trap 'rm -rf "$logs"' EXIT
	trap 'exit 1' INT TERM HUP
	exec 7>&2
	prove -m -e "${BASH_SOURCE[0]} --run-one $logs" "$@"
	rc=$?
	if [ $rc != 0 ]; then again "$@"; fi
	tell
	skipped "$@"
	exit $rc
}

main "$@"
