#!/usr/bin/env bash
# Wall times are those of date(1), also in a time namespace, whose clocks since boot are not those of the probes.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"
can_trace || skip_all "needs root and bpftrace"
unshare -T --boottime 1 --monotonic 1 true 2>/dev/null || skip_all "unshare or the kernel has no time namespaces"
export TZ=UTC

cat >"$tmp/app.c" <<'END'
#include <btgen/usdt.h>
#include <stdio.h>
int main(void)
{
	char line[64];
	for (int n = 1; fgets(line, sizeof(line), stdin) && *line != 'q'; n++) {
		USDT_PROBE(app, hit, n);
		printf("%d\n", n);
		fflush(stdout);
	}
}
END
gcc -O1 -g -I"$top/include" -o "$tmp/app" "$tmp/app.c" || exit 1

# inside MONOTONIC BOOTTIME: bpftrace.sh runs in such a time namespace from now on
inside() {
	printf '#!/bin/sh\nexec unshare -T --monotonic %s --boottime %s %s "$@"\n' "$1" "$2" "$top/scripts/bpftrace.sh" >"$tmp/inside"
	chmod +x "$tmp/inside"
	live_sh=$tmp/inside
}

# times ARG...: the wall times of a trace of three events, each with the date before and after it: all of the same second, or not
times() {
	: >"$tmp/dates"
	live_trace -N 3 "$@" "$live_pid" || return
	local before
	for _ in 1 2 3; do
		# shellcheck disable=SC2034 # wait_for reads it
		before=$(wc -l <"$tmp/answers")
		date +%s.%N >>"$tmp/dates"
		live_say x
		wait_for eval '[ "$(wc -l <"$tmp/answers")" -gt "$before" ]'
		date +%s.%N >>"$tmp/dates"
	done
	live_wait
	python3 - "$tmp/trace" "$tmp/dates" <<'END'
import datetime, re, sys
text = open(sys.argv[1]).read()
dates = [float(line) for line in open(sys.argv[2])]
found = [m for m in re.findall(r'(?:(\d{4}-\d\d-\d\d)T)?(\d\d):(\d\d):(\d\d\.\d+)', text)]
if '"capture"' in text: # its first line has the time of the start
    found = found[1:]
for i, (day, h, m, s) in enumerate(found):
    at = int(h) * 3600 + int(m) * 60 + float(s)
    low, high = dates[2 * i], dates[2 * i + 1]
    good = low % 86400 - .01 <= at <= high % 86400 + .01 if low // 86400 == high // 86400 else True
    good = good and (not day or day in {str(datetime.datetime.fromtimestamp(t, datetime.timezone.utc).date()) for t in (low, high)})
    print('right' if good else f'{day} {h}:{m}:{s}, not {low % 86400:.3f} to {high % 86400:.3f}')
END
}
right='right
right
right'
strftime='usdt:__EXE__:hit { printf("%s\n", strftime("%H:%M:%S.%f", nsecs)); }'

live_start "$tmp/app"
for offsets in none '-300 -500' '86400 86400' '3600 90000'; do
	# shellcheck disable=SC2086
	[ "$offsets" = none ] || inside $offsets
	is "$(times --time wall -t hit)" "$right" "offsets $offsets: --time wall"
	is "$(times -s -t hit)" "$right" "... -s"
	is "$(times -f json -t hit)" "$right" "... -f json"
	is "$(grep -c warning "$tmp/messages")" 0 "... and no warning"
	out=$(times -e "$strftime")
	if [ "$offsets" = none ]; then
		is "$out" "$right" "... strftime() of a script"
	else
		is "$(grep -c "warning: strftime() is wrong by $((-${offsets#* })).000 s, because" "$tmp/messages")" 1 \
			"... strftime() of a script, which bpftrace computes, has a warning"
	fi
done
header() {
	"$live_sh" -f json -T 0.2 "$live_pid" -e 'usdt:__EXE__:hit { printf("hit\n"); }' 2>/dev/null | head -n 1 |
		sed -E 's/.*"monotonic": *([0-9]+)[0-9]{9},.*/\1/'
}
uptime=$(cut -d. -f1 /proc/uptime)
at=$(header)
ok "the header's time since boot is the host's ($uptime, then $at)" test $((at - uptime)) -ge 0 -a $((at - uptime)) -lt 60
live_quit
done_testing
