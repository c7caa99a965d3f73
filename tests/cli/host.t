#!/usr/bin/env bash
# Scripts for the whole machine (tests/cli/host.scripts), without names of a target: the program is what was written, byte for
# byte and without a word, for every version; a clause's name in lower case, divisions of what has a sign, and args.NAME for 0.17
# (see the end) are the exceptions.
# What an older version lacks is switched off here, and left alone by the newest.
. "$(dirname "$0")/../lib.sh"

# expanded LINE: what it becomes for all versions, or one line for each when they differ
expanded() {
	local version
	for version in 0.17 0.23 0.27; do
		"$btgen" expand -W no-version --for "$version" -e "$1" 2>&1 |
			if [[ $version = 0.17 && $1 == *args.* ]]; then sed 's/args->/args./g'; else cat; fi
	done | sort -u
}

tab=$'\t' n=0
mapfile -t lines < <(grep -vE '^(##|$)' "$top/tests/cli/host.scripts")
for i in "${!lines[@]}"; do
	line=${lines[i]} want=${lines[i]} next=${lines[i + 1]-}
	[[ $line != "$tab"* ]] || continue
	[[ $next != "$tab"* ]] || want=${next#"$tab"}
	got=$(expanded "$line")
	n=$((n + 1))
	if [ "$want" = '*' ]; then
		ok "rewritten: $line" test "$got" != "$line" -a "$(wc -l <<<"$got")" = 1
	else
		is "$got" "$want" "$line"
	fi
done
ok "at least 200 scripts ($n)" test "$n" -ge 200
is "$(for line in "${lines[@]}"; do [[ $line == "$tab"* ]] || "$btgen" check --for 0.27 -e "$line" 2>&1; done)" "" \
	"0.27 has all that is in them"

# args of the kernel is a pointer up to 0.18: what is written for newer ones runs there, too
line='tracepoint:sched:sched_switch /args.prev_pid && args->next_pid/ { @[args.prev_comm] = args.next_pid + 1; }'
is "$("$btgen" expand --for 0.18 -e "$line" 2>&1)" "${line//args./args->}" "args.NAME of a tracepoint, for 0.18"
is "$("$btgen" expand --for 0.19 -e "$line" 2>&1)" "$line" "... and for 0.19"
done_testing
