#!/usr/bin/env bash
# Records by the million through a file, sorted JSON in a file, and a pipe to a compressor: each is there once, whole, or counted as lost.
# And 10^8 of a week, which a stand-in for bpftrace has at once: all are there, with their times.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"
# shellcheck source=tests/soak/soak.sh
. "$(dirname "$0")/soak.sh"

# flow PERCENT CLAIM ARG...: the program fires as long as that, then ends, which ends the trace
flow() {
	local claim=$2
	live_start "$tmp/first" "${SOAK_BURST:-100}" 0 wait
	ok "$claim: it attaches" live_trace --max-cost none "${@:3}" "$live_pid" -e "$hit"
	watch $live_tracer
	sleep "$(percent "$1")"
	kill $live_pid
	wait $live_pid
	live_wait
	is $live_rc 0 "$claim: the trace ends with its program"
	read -r _ fired <"$tmp/answers"
	stays_flat "$claim"
}

flow 12 "-o FILE"
account "-o FILE" "$fired" <"$tmp/trace"
flow 8 "-s -f json" -s -f json
account "-s -f json" "$fired" in-order <"$tmp/trace"
rm "$tmp/trace"
mkfifo "$tmp/pipe"
(trap '' INT; exec zstd -q <"$tmp/pipe" >"$tmp/trace.zst") &
packer=$!
own $packer
flow 8 "| zstd" -o "$tmp/pipe"
wait_end $packer
account "| zstd" "$fired" < <(zstdcat "$tmp/trace.zst")

n=$((${SOAK_SECONDS:-1200} * 83334))
step=$((7 * 86400 * 1000000000 / n))
gcc -D_GNU_SOURCE -O2 -Wall -Wextra -o "$tmp/stream" "$soak/stream.c" || exit 1
printf '#!/bin/sh\n[ "$1" = --version ] && exec %s --version\nfor program; do :; done\nexec %s "$program" %s %s\n' "$tmp/stream" "$tmp/stream" $n $step >"$tmp/stand-in"
chmod +x "$tmp/stand-in"
mkfifo "$tmp/week"
(trap '' INT; exec cmp "$tmp/week" <("$tmp/stream" - $n $step) >"$tmp/differs" 2>&1) &
reader=$!
own $reader
live_start "$tmp/first" 100 0 wait
SECONDS=0
BTGEN_BPFTRACE=$tmp/stand-in ok "a week: it attaches" live_trace --max-cost none --time since -o "$tmp/week" "$live_pid" -e "$hit"
watch $live_tracer
live_wait
is $live_rc 0 "a week: the trace ends"
stays_flat "a week"
wait_end $reader
is "$(cat "$tmp/differs")" "" "a week: $n records, each with its time, in $SECONDS s"
done_testing
