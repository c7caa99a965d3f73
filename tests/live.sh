# Sourced by the live tests after lib.sh: a target of ours, bpftrace.sh on it, and what came of it.
#
#   live_start nvmf_tgt -m 0xC --wait --log "$tmp/log"
#   live_trace "$live_pid" nvmf.bt          # returns when all probes are attached
#   live_say start
#   live_quit; live_wait                    # status in $live_rc, data in $tmp/trace, messages in $tmp/messages
#
#   is_sample nvmf.bt                       # the sample in its header looks like $tmp/trace
#
# With KEEP_RESULTS=FOLDER the traces that samples are compared with stay there, to make new samples of.
# The bpftrace under test is $BTGEN_BPFTRACE, else the one in PATH.
# shellcheck shell=bash disable=SC2034,SC2154

live_sh=$top/scripts/bpftrace.sh
live_pid='' live_tracer='' live_rc=''

# live_start PROGRAM ARG...: starts tests/targets/PROGRAM (or a path) with its stdin at hand for live_say
live_start() {
	local program=$1
	shift
	[[ $program == */* ]] || program=$targets/$program
	rm -f "$tmp/live-in"
	mkfifo "$tmp/live-in"
	"$program" "$@" <"$tmp/live-in" >"$tmp/answers" 2>"$tmp/target-err" &
	live_pid=$!
	own $live_pid
	exec 8>"$tmp/live-in"
}

# live_say LINE...: commands for the target; live_quit ends it
live_say() { printf '%s\n' "$@" >&8; }
live_quit() {
	live_say quit
	exec 8>&-
	wait "$live_pid" 2>/dev/null
}

# live_trace ARG...: bpftrace.sh with these arguments, data to $tmp/trace; false when it does not get ready
live_trace() {
	rm -f "$tmp/ready" "$tmp/trace"
	"$live_sh" --ready-file "$tmp/ready" -o "$tmp/trace" "$@" 2>"$tmp/messages" 8>&- &
	live_tracer=$!
	own $live_tracer
	local end=$((SECONDS + 60))
	until [ -s "$tmp/ready" ]; do
		if ! kill -0 $live_tracer 2>/dev/null || [ $SECONDS -ge $end ]; then
			sed 's/^/# /' "$tmp/messages"
			return 1
		fi
		sleep 0.02
	done
}

# live_wait [SIGNAL]: waits for bpftrace.sh to end (after sending it SIGNAL); its status in $live_rc
live_wait() {
	[ $# = 0 ] || kill -"$1" "$live_tracer"
	wait "$live_tracer"
	live_rc=$?
}

# is_sample SCRIPT [-x REGEX]... [TRACE]...: its header's sample is what it prints (tests/sample.py) in these traces, else in
# $tmp/trace; lines that match a REGEX cannot come of this run
is_sample() {
	local script=$1
	local -a excuses=()
	shift
	while [ "${1-}" = -x ]; do
		excuses+=(-x "$2")
		shift 2
	done
	[ $# -gt 0 ] || set -- "$tmp/trace"
	[ -z "${KEEP_RESULTS-}" ] || cat "$@" >"$KEEP_RESULTS/${script%.bt}.out"
	is "$(python3 "$top/tests/sample.py" ${excuses[@]+"${excuses[@]}"} "$top/bpf/$script" "$@" 2>&1)" "" \
		"$script: the sample in its header looks like what it printed"
}
