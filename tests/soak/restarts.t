#!/usr/bin/env bash
# A program that is started again and again, now and then as another build, below --follow and below -x: each of its events is there.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"
# shellcheck source=tests/soak/soak.sh
. "$(dirname "$0")/soak.sh"
program=$tmp/bin/soak-$$
mkdir "$tmp/bin"
put() { cp "$tmp/$1" "$program.put" && mv "$program.put" "$program"; }

# begin ARG...: returns when a program that is started now is traced, or waited for
begin() {
	rm -f "$tmp/trace" "$tmp/fired" "$tmp/messages"
	: >"$tmp/fired"
	starts=0 upgrades=0 build=first
	"$live_sh" --max-cost none -o "$tmp/trace" "$@" -e 'usdt:__EXE__:hit { printf("%d hit %ld %s\n", pid, args.r->id, args.r->state); }' 2>"$tmp/messages" 8>&- &
	live_tracer=$!
	own $live_tracer
	watch $live_tracer
}
# start ARG...: the program, to its end
start() {
	starts=$((starts + 1))
	guard "$program" "$@" >>"$tmp/fired"
}
upgrade() {
	if [ $build = first ]; then build=second; else build=first; fi
	upgrades=$((upgrades + 1))
	put $build
}
# finish CLAIM: the trace ends; what was fired is what was printed, in any order of the processes, in the order of each
finish() {
	wait_for live_still
	live_wait INT
	is $live_rc 0 "$1, $starts starts, $upgrades upgrades: ^C is status 0"
	stays_flat "$1"
	is "$(grep -v -e '^==>' -e '^$' "$tmp/trace" | sort -s -n -k 1,1 | cksum)" \
		"$(sort -n "$tmp/fired" | while read -r pid n; do seq -f "$pid hit %.0f RUNNING" "$n"; done | cksum)" "$1: each event is printed, once, by its build's names"
	is "$(grep -v -e 'attached to' -e 'waiting for' -e 'has exited' -e detaching -e 'was replaced' "$tmp/messages")" "" "$1: nothing else is said"
}

put first
begin --follow -w "${program##*/}"
wait_for grep -q 'waiting for' "$tmp/messages"
until=$((SECONDS + $(percent 20)))
while [ $SECONDS -lt $until ]; do
	[ $((starts % 10)) != 9 ] || upgrade
	start 10 5 wait
done
finish --follow

put first
begin -x "$program"
wait_for grep -q 'attached to' "$tmp/messages"
start 10 5 wait
until=$((SECONDS + $(percent 20)))
while [ $SECONDS -lt $until ]; do
	upgrade
	start 10 5 wait # the first of a build may come before its bpftrace
	for _ in {1..40}; do start 10 5; done
done
finish -x
done_testing
