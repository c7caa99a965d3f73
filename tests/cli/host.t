#!/usr/bin/env bash
# Scripts for the whole machine (tests/cli/host.scripts), without names of a target: the program is what was written, byte for
# byte and without a word, for every version; a clause's name in lower case and divisions of what has a sign are the exceptions.
. "$(dirname "$0")/../lib.sh"

# expanded LINE: what it becomes for all versions, or one line for each when they differ
expanded() {
	local version
	for version in 0.17 0.23 0.27; do
		"$btgen" expand --for "$version" -e "$1" 2>&1
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
done_testing
