#!/usr/bin/env bash
# Records by the million through a file, sorted JSON in a file, and a pipe to a compressor: each is there once, whole, or counted as lost.
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

flow 14 "-o FILE"
account "-o FILE" "$fired" <"$tmp/trace"
flow 10 "-s -f json" -s -f json
account "-s -f json" "$fired" <"$tmp/trace"
rm "$tmp/trace"
mkfifo "$tmp/pipe"
(trap '' INT; exec zstd -q <"$tmp/pipe" >"$tmp/trace.zst") &
packer=$!
own $packer
flow 10 "| zstd" -o "$tmp/pipe"
wait_end $packer
account "| zstd" "$fired" < <(zstdcat "$tmp/trace.zst")
done_testing
