#!/usr/bin/env bash
# Files that are rotated as docs/production.md does it: by split behind a pipe, a thousand of them, and by traces that follow each other
# and append to one file, as a service does that logrotate restarts.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"
# shellcheck source=tests/soak/soak.sh
. "$(dirname "$0")/soak.sh"

mkdir "$tmp/parts"
files=$(percent 83)
live_start "$tmp/first" 10 $((files * 100)) wait
(cd "$tmp/parts" && trap '' INT && exec split -l 100 -d -a 4 --filter='zstd -q >$FILE.zst' - trace.) < <(exec \
	"$live_sh" --ready-file "$tmp/ready" "$live_pid" -e "$hit" 2>"$tmp/messages" 8>&-) &
live_tracer=$!
own $live_tracer
watch $live_tracer
live_wait
is $live_rc 0 "split ends with the trace"
stays_flat "$files rotations"
is "$(find "$tmp/parts" -name 'trace.*.zst' | wc -l)" "$files" "$files rotations: as many files"
account "$files rotations" $((files * 100)) < <(zstdcat "$tmp"/parts/trace.*.zst)

# has_more_than BYTES: the trace is ready, and has written
has_more_than() { [ -s "$tmp/ready" ] && [ "$(stat -c %s "$tmp/all.json")" -gt "$1" ]; }

# One target, many traces of it; each is told to end once it is ready and some events have come
live_start "$tmp/first" 1
until=$((SECONDS + $(percent 15)))
traces=0 bad=''
while [ $SECONDS -lt $until ]; do
	rm -f "$tmp/ready"
	before=$(stat -c %s "$tmp/all.json" 2>/dev/null || echo 0)
	"$live_sh" --max-cost none -q -f json --ready-file "$tmp/ready" "$live_pid" -e "$hit" >>"$tmp/all.json" 2>"$tmp/messages" 8>&- &
	live_tracer=$!
	own $live_tracer
	wait_for has_more_than $((before + 2000))
	live_wait INT
	traces=$((traces + 1))
	[ "$live_rc $(cat "$tmp/messages")" = "0 " ] || bad+="$live_rc $(cat "$tmp/messages"); "
done
is "$bad" "" "$traces traces of one process end well, and say nothing"
kill $live_pid
wait $live_pid
is "$(grep -c '"capture"' "$tmp/all.json") $(python3 "$soak/account.py" <"$tmp/all.json" | cut -d ' ' -f 2)" "$traces 0" "... their lines are whole, and each there once"
is "$(find "$TMPDIR" -type f) $(pgrep -f "btgen-detach.*$tmp")" " " "... they leave no file and no process"
done_testing
