# Sourced after lib.sh and live.sh: a script under bpftrace.sh and the same script's program, as btgen expand writes it, under
# bare bpftrace, on one process at the same time. Both see the same events and must print the same.
#
#   equal_start "$tmp/app"                        # on one processor: events come in one order
#   equal_watch malloc -D LARGE=1000 malloc.bt    # a name for the pair, and what bpftrace.sh is given
#   equal_watch mutex mutex.bt
#   ok "they attach" equal_attached
#   live_say go; wait_for eval ...
#   equal_end                                     # ^C for all; with a word, they are waited for, as the target has ended
#   equal_is malloc -t us                         # tests/equal.py
#
# Bare bpftrace gets the environment that bpftrace.sh gives its own: lengths of strings, buffers, 0.17's symbols (but a file of
# types is a descriptor that only its own has). $equal_strlen
# is another length, where the expanded program has no room for that: records need less of 0.17's stack than tables do.
# With $equal_schema, a python that has jsonschema, a third one prints JSON, which must hold the schema.
# shellcheck shell=bash disable=SC2034,SC2154

equal_strlen='' equal_schema=''
declare -A equal_ours=() equal_bare=() equal_json=()
equal_version=$("$bpftrace" --version | sed 's/.*v\(0\.[0-9]*\).*/\1/')

equal_start() { live_start "$(command -v taskset)" -c "$(sed -n 's/^Cpus_allowed_list:\s*\([0-9]*\).*/\1/p' /proc/self/status)" "$@"; }

equal_watch() {
	local name=$1
	shift
	"$live_sh" --ready-file "$tmp/$name.ready" -o "$tmp/$name.ours" "${@:1:$#-1}" "$live_pid" "${@: -1}" 2>"$tmp/$name.said" 8>&- &
	equal_ours[$name]=$!
	own $!
	if [ -n "$equal_schema" ]; then
		"$live_sh" --ready-file "$tmp/$name.json-ready" -o "$tmp/$name.json" "${@:1:$#-1}" "$live_pid" "${@: -1}" 2>"$tmp/$name.json-said" 8>&- &
		equal_json[$name]=$!
		own $!
	fi
	"$btgen" expand -p "$live_pid" --for "$equal_version" "$@" -o "$tmp/$name.bt" 2>"$tmp/$name.expand" || cat "$tmp/$name.expand"
}

# equal_bare_start NAME: once bpftrace.sh is ready
equal_bare_start() {
	local name=$1 tracer
	local -a as=() with=(-p "$live_pid")
	read -r tracer _ <"/proc/${equal_ours[$name]}/task/${equal_ours[$name]}/children"
	mapfile -t -d '' as < <(grep -zE '^(BPFTRACE_|GLIBC_TUNABLES=)' "/proc/$tracer/environ" | grep -zv '^BPFTRACE_BTF=/proc/self/')
	[ -z "$equal_strlen" ] || as+=("BPFTRACE_STRLEN=$equal_strlen")
	grep -zqx -e -p "/proc/$tracer/cmdline" || with=()
	(
		exec env "${as[@]}" "$bpftrace" "${with[@]}" "$tmp/$name.bt" >"$tmp/$name.bare" 2>"$tmp/$name.bare-said" 8>&- </dev/null
	) &
	equal_bare[$name]=$!
	own $!
}

equal_attached() {
	local name
	for name in "${!equal_ours[@]}"; do
		wait_for test -s "$tmp/$name.ready" || { sed "s/^/# $name: /" "$tmp/$name.said" && return 1; }
	done
	for name in "${!equal_json[@]}"; do
		wait_for test -s "$tmp/$name.json-ready" || { sed "s/^/# $name: /" "$tmp/$name.json-said" && return 1; }
	done
	for name in "${!equal_ours[@]}"; do
		equal_bare_start "$name"
		wait_for waits_for_events "${equal_bare[$name]}" || { sed "s/^/# $name: /" "$tmp/$name.bare-said" && return 1; }
	done
}

# equal_ended PID: it has; 0.17 misses a signal that comes while it does not wait for events
equal_ended() {
	kill -0 "$1" 2>/dev/null || return 0
	[ "$2" = target ] || [ $((equal_asked++ % 20)) != 19 ] || ! waits_for_events "$1" || kill -INT "$1"
	return 1
}

# equal_quiet: the target does nothing any more: each of the two reads the events until it has detached, and that takes its time
equal_is_quiet() {
	local before=$equal_switches
	equal_switches=$(cat /proc/"$live_pid"/task/*/schedstat 2>/dev/null)
	[ "$equal_switches" = "$before" ]
}
equal_quiet() {
	equal_switches=''
	wait_for eval 'sleep 0.3; equal_is_quiet'
}

equal_end() {
	local name pid equal_asked=0 rc
	for name in "${!equal_ours[@]}"; do
		[ $# = 0 ] || continue
		wait_for are_idle "${equal_bare[$name]}"
		kill -INT "${equal_ours[$name]}" "${equal_bare[$name]}" ${equal_json[$name]+"${equal_json[$name]}"}
	done
	for name in "${!equal_ours[@]}"; do
		rc=
		for pid in "${equal_ours[$name]}" "${equal_bare[$name]}" ${equal_json[$name]+"${equal_json[$name]}"}; do
			wait_for equal_ended "$pid" "${1-}"
			wait "$pid"
			rc+=" $?"
		done
		is "$rc" " 0 0${equal_json[$name]+ 0}" "$name: all end with status 0"
	done
	equal_ours=() equal_bare=() equal_json=()
}

# equal_is NAME OPTION...: see tests/equal.py
equal_is() {
	local name=$1
	shift
	"$top/tests/equal.py" "$@" "$tmp/$name.ours" "$tmp/$name.bare" >"$tmp/$name.difference"
	tap_result $? "$name: $(head -n 1 "$tmp/$name.difference")" || sed 's/^/#   said: /' "$tmp/$name.said" "$tmp/$name.bare-said"
	sed '1d; s/^/#   /' "$tmp/$name.difference"
	if [ -n "$equal_schema" ]; then
		like "$("$equal_schema" "$top/tests/schema.py" "$tmp/$name.json" 2>&1)" '^[1-9][0-9]* record [0-9]+ map [0-9]+ loss 0 line$' \
			"$name: JSON holds the schema"
	fi
}
