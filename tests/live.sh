# Sourced by the live tests after lib.sh: a target of ours, bpftrace.sh on it, and what came of it. Where nothing can be traced, the
# file is skipped here, unless it has said live_partly=yes: a part of it needs no tracing, the other one asks can_trace.
#
#   live_start nvmf_tgt -m 0xC --wait --log "$tmp/log"
#   live_trace "$live_pid" nvmf.bt          # returns when all probes are attached
#   live_say start
#   live_quit; live_wait                    # status in $live_rc, data in $tmp/trace, messages in $tmp/messages
#
#   live_start "$tmp/app"; live_round $live_pid malloc.bt           # the whole of it for a program that does one round of work
#   live_nvmf nvmf_tgt; live_tour $live_pid nvmf.bt                 # and for nvmf_tgt's tour
#
#   is_sample nvmf.bt                       # the sample in its header looks like $tmp/trace
#
# With KEEP_RESULTS=FOLDER the traces that samples are compared with stay there, to make new samples of.
# The bpftrace under test is $BTGEN_BPFTRACE, else the one in PATH.
# shellcheck shell=bash disable=SC2034,SC2154

[ "${live_partly-}" = yes ] || need_tracing

live_sh=$top/scripts/bpftrace.sh
live_pid='' live_tracer='' live_rc=''

# live_idle: the program is what was to be started, all of it is loaded, and it waits, or it has ended
live_idle() {
	local stat
	{ read -r stat <"/proc/$live_pid/stat"; } 2>/dev/null || return 0
	[[ $stat == *') S '* ]] && ! cmp -s "/proc/$live_pid/cmdline" "/proc/$$/cmdline"
}

# live_start PROGRAM ARG...: starts tests/targets/PROGRAM (or a path) with its stdin at hand for live_say, and returns when it
# waits (for its input, mostly): before that it may still be this shell, or without its libraries
live_start() {
	local program=$1
	shift
	[[ $program == */* ]] || program=$targets/$program
	rm -f "$tmp/live-in" "$tmp/answers" # old answers are not those of the new program
	mkfifo "$tmp/live-in"
	"$program" "$@" <"$tmp/live-in" >"$tmp/answers" 2>"$tmp/target-err" &
	live_pid=$!
	own $live_pid
	exec 8>"$tmp/live-in"
	wait_for live_idle
}

# live_nvmf BUILD OPTION...: one of the builds of nvmf_tgt, behind its gate, with its log in $tmp/log
live_nvmf() {
	rm -f "$tmp/log"
	live_start "$1" -m 0xC --wait --log "$tmp/log" "${@:2}"
	wait_for grep -q waiting "$tmp/answers"
}

# live_say LINE...: commands for the target; live_quit ends it
live_say() { printf '%s\n' "$@" >&8; }
live_quit() {
	live_say quit
	exec 8>&-
	wait_end "$live_pid" 2>/dev/null
}

# wait_end PID: waits for a child's end, and returns its status; one that hangs is killed, and that is a failure
wait_end() {
	wait_for gone "$1" || { ok "process $1 ends" false || kill -KILL "$1"; }
	wait "$1"
}

# live_trace ARG...: bpftrace.sh with these arguments, data to $tmp/trace; false when it does not get ready
live_trace() {
	rm -f "$tmp/ready" "$tmp/trace"
	"$live_sh" --ready-file "$tmp/ready" -o "$tmp/trace" "$@" 2>"$tmp/messages" 8>&- &
	live_tracer=$!
	own $live_tracer
	wait_for live_ready
	[ -s "$tmp/ready" ] || { sed 's/^/# /' "$tmp/messages" && return 1; }
}
live_ready() { [ -s "$tmp/ready" ] || gone $live_tracer; }

# live_wait [SIGNAL]: waits for bpftrace.sh to end (after sending it SIGNAL); its status in $live_rc
live_wait() {
	[ $# = 0 ] || kill -"$1" "$live_tracer"
	wait_end "$live_tracer"
	live_rc=$?
	sed -n '/events were lost/s/^/# /p' "$tmp/messages"
}

# live_round ARG...: bpftrace.sh with these arguments while the program under test does its work once, up to its "done"; the
# program ends. Claims that both go well. live_done is the second half of it, once the program is at work.
live_round() {
	ok "it attaches" live_trace "$@"
	printf x >&8
	live_done
}
# live_still: what the program has fired so far is in the trace, or is kept: bpftrace has read it, and btgen waits for more. At ^C
# 0.17 throws away what it has not read yet, which btgen says are missing events.
live_still() {
	local before all bpftraces='' pid name
	before=$(stat -c %s "$tmp/trace" 2>/dev/null)
	mapfile -t all < <(family_of "$live_tracer")
	for pid in "${all[@]}"; do
		{ read -r name <"/proc/$pid/comm" && [ "$name" = btgen ]; } 2>/dev/null || bpftraces+=" $pid"
	done
	# shellcheck disable=SC2086
	are_idle $bpftraces && are_asleep "${all[@]}" && [ "$before" = "$(stat -c %s "$tmp/trace" 2>/dev/null)" ]
}
# live_settle: the program has taken what it was told, and waits; what it has fired for that has been read
live_settle() {
	wait_for live_idle
	wait_for live_still
}
# family_of PID: it, its children and theirs
family_of() {
	local child children=''
	echo "$1"
	read -r children 2>/dev/null <"/proc/$1/task/$1/children"
	for child in $children; do family_of "$child"; done
} 2>/dev/null
# are_asleep PID...: those that are there; one that waits for a processor does not sleep
are_asleep() { [[ $(times_of "$@") != *[RD]* ]]; }
# are_idle PID...: they sleep, and have used no processor time for a while
are_idle() {
	local before
	before=$(times_of "$@")
	nap 0.3
	[[ $before != *[RD]* ]] && [ "$(times_of "$@")" = "$before" ]
}
# times_of PID...: a line for each that is there: its state, and its processor time
times_of() {
	local pid state user system
	for pid; do
		read -r state <"/proc/$pid/stat" || continue
		read -r state _ _ _ _ _ _ _ _ _ _ user system _ <<<"${state##*) }"
		echo "$state $user $system"
	done
} 2>/dev/null
live_done() {
	wait_for grep -q 'done' "$tmp/answers"
	wait_for live_still
	live_wait INT
	is $live_rc 0 "^C is status 0"
	exec 8>&-
	wait_end "$live_pid"
}

# live_tour ARG...: bpftrace.sh with these arguments on nvmf_tgt, from before its start to after its end: the tour of
# tests/targets; false when it does not get ready, or one of the two ends with another status than 0

# bpftrace alone, beside or instead of bpftrace.sh: bare_start COMMAND...; $tmp/bare, $tmp/bare-said, $bare_rc.
live_bare='' bare_rc=''
bare_start() {
	"$@" >"$tmp/bare" 2>"$tmp/bare-said" 8>&- </dev/null &
	live_bare=$!
	own "$live_bare"
	wait_for eval "bare_waits || ! kill -0 $live_bare 2>/dev/null"
}
bare_waits() { waits_for_events "$live_bare"; }
# waits_for_events PID: it is in epoll_wait() or epoll_pwait()
waits_for_events() { read -r REPLY _ <"/proc/$1/syscall" && [[ " 22 232 281 " == *" $REPLY "* ]]; } 2>/dev/null
# bare_end: by ^C, if it has not ended. At ^C 0.17 throws away what it has not read yet, and it misses one that comes while it does
# not wait for events; one that comes when it has almost ended kills it.
bare_end() {
	local n=0
	wait_for are_idle "$live_bare"
	while kill -0 "$live_bare" 2>/dev/null && [ $((n += 1)) -lt "$PATIENCE" ]; do
		! bare_waits || kill -INT "$live_bare" 2>/dev/null
		sleep 1
	done
	wait "$live_bare"
	bare_rc=$?
}
live_tour() {
	live_trace "$@" || return 1
	live_say start
	cat "$targets/tour.txt" >&8
	local ended
	live_quit
	ended=$?
	live_wait
	[ $ended = 0 ] && [ $live_rc = 0 ]
}

# histogram NAME[KEY]: how many values are in that histogram of $tmp/trace; without a KEY: in all of that map
histogram() {
	awk -v name="@$1" '
		/^@/ { map = $0; sub(/: *$/, "", map); on = map == name || index(map, name "[") == 1; next }
		on && /^[\[(]/ { sub(/\|.*/, ""); n += $NF }
		END { print n + 0 }' "$tmp/trace"
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
