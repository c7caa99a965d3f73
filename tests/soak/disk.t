#!/usr/bin/env bash
# A disk that is full, and has room again, many times: what was written before is whole, the error is reported, and nothing is left behind.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"
# shellcheck source=tests/soak/soak.sh
. "$(dirname "$0")/soak.sh"
mkdir "$tmp/disk"
mount -t tmpfs -o size=1m none "$tmp/disk" 2>/dev/null || skip_all "needs to mount a small file system"
trap 'umount -l "$tmp/disk"; tap_cleanup' EXIT

# full FORMAT: a trace that fills the disk; false with a reason
full() {
	local out=$tmp/disk/trace said
	live_start "$tmp/first" 20 0 wait
	"$live_sh" --max-cost none -q -f "$1" -o "$out" "$live_pid" -e "$hit" 2>"$tmp/messages" 8>&- &
	live_tracer=$!
	own $live_tracer
	live_wait
	kill $live_pid && wait $live_pid
	[ $live_rc = 1 ] || { echo "# status $live_rc" && return 1; }
	grep -q 'No space left on device' "$tmp/messages" || { sed 's/^/# /' "$tmp/messages" && return 1; }
	[ -e "$out" ] && [ "$1" != perfetto ] || out=$out.json
	said=$(python3 "$soak/account.py" <"$out")
	[ "${said#* }" = 0 ] && [ "${said% *}" -gt 1000 ] || { echo "# lines, wrong ones: $said" && tail -n 1 "$out" && return 1; }
	echo "${said% *}" >>"$tmp/written"
	rm "$tmp/disk"/*
}
until=$((SECONDS + $(percent 10)))
times=0 bad=0
while [ $SECONDS -lt $until ] || [ $times -lt 3 ]; do
	for format in text json perfetto; do
		full $format || bad=$((bad + 1))
		times=$((times + 1))
	done
done
is "$bad" 0 "$times traces fill the disk: each says so, with status 1, and leaves whole lines"
is "$(find "$tmp/disk" "$TMPDIR" -type f) $(pgrep -f "btgen-detach.*$tmp")" " " "... and nothing else"
live_start "$tmp/first" 20 1000 wait
ok "with room again, a trace goes on" live_trace "$live_pid" -e "$hit"
live_wait
account "with room again" 1000 <"$tmp/trace"
done_testing
