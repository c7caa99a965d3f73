#!/usr/bin/env bash
# The commands of docs/production.md: what is compressed, cut in pieces or sent to the journal is read back whole.
. "$(dirname "$0")/../lib.sh"
. "$top/tests/live.sh"

# a line "N": N events
cat >"$tmp/app.c" <<'E2'
#include <btgen/usdt.h>
#include <stdio.h>
int main(void)
{
	long n, all = 0;
	while (scanf("%ld", &n) == 1) {
		for (long i = 0; i < n; i++)
			USDT_PROBE(app, hit, all++);
		printf("done\n");
		fflush(stdout);
	}
	return 0;
}
E2
gcc -O2 -g -I"$top/include" -o "$tmp/app" "$tmp/app.c" || exit 1
cat >"$tmp/app.bt" <<'E2'
usdt:__EXE__:hit { printf("event %d%s\n", arg0, arg0 % 100 == 99 ? " FAILED" : ""); @hits = count(); }
E2
live_start "$tmp/app"
mkdir "$tmp/work"

# command REGEX: that of the page
command_of() { sed -n 's/^    \(bpftrace.sh .*\)/\1/p' "$top/docs/production.md" | grep -E -- "$1"; }
# follow COMMAND [END]: runs it as a process group of its own, fires 1000 events, and lets END (^C) be for all of the group, or
# waits for its end; its status in $live_rc
follow() {
	local run=${1//bpftrace.sh/\"\$0\" -q --ready-file \"\$1/ready\"}
	run=${run/-T 60/-T 4}
	rm -f "$tmp/ready" "$tmp/work"/*
	: >"$tmp/answers"
	(cd "$tmp/work" && exec setsid env --default-signal=INT bash -o pipefail -c "${run/PID app.bt/$live_pid \"\$1/app.bt\"}" "$live_sh" "$tmp" >"$tmp/out" 2>"$tmp/messages" 8>&-) &
	own $!
	wait_for test -s "$tmp/ready"
	live_say 1000
	wait_for grep -q 'done' "$tmp/answers"
	[ $# = 1 ] || kill -INT -- -$!
	wait $!
	live_rc=$?
}
# has COMMAND...: prints what was captured, all of it
has() {
	is "$("$@" 2>&1 | grep -c 'event [0-9]') $("$@" 2>&1 | grep -c '@hits')" "1000 1" "... and has all 1000 events, and the map (${*##*/})"
}
ended() { is "$live_rc $(cat "$tmp/messages")" "0 " "$1: it ends well"; }

follow "$(command_of '-o trace.txt')"
ended "a file"
has cat "$tmp/work/trace.txt"
follow "$(command_of '-o trace.json')"
ended "a file of JSON"
is "$(python3 -c 'import json, sys; print(sum("probe" in json.loads(line) for line in sys.stdin))' <"$tmp/work/trace.json")" 1000 "... and has all events"
follow "$(command_of 'trap.*gzip')" INT
ended "gzip, ^C"
has zcat "$tmp/work/trace.gz"
follow 'bpftrace.sh PID app.bt | gzip >trace.gz' INT
not_ok "gzip that hears ^C itself has not the whole of it" eval 'zcat "$tmp/work/trace.gz" 2>/dev/null | grep -q @hits'
if command -v zstd >/dev/null; then
	follow "$(command_of 'trap.*zstd')" INT
	has zstdcat "$tmp/work/trace.zst"
	follow "$(command_of 'split' | sed 's/100000/100/')"
	ended "split"
	is "$(find "$tmp/work" -name 'trace.*.zst' | wc -l)" 11 "... in files of so many lines"
	has zstdcat "$tmp/work"/trace.*.zst
else
	skip "zstd, and split" "no zstd"
fi
if command -v xz >/dev/null; then
	follow "$(command_of 'xz')"
	ended "xz"
	has xzcat "$tmp/work/trace.json.xz"
else
	skip "xz" "no xz"
fi
if command -v rotatelogs >/dev/null; then
	follow "$(command_of rotatelogs)" INT
	has cat "$tmp/work"/trace.log*
else
	skip "rotatelogs" "no rotatelogs"
fi
if systemd-cat true 2>/dev/null; then
	follow "$(command_of systemd-cat | sed "s/app-trace/btgen-$$/")"
	ended "systemd-cat"
	journal() { journalctl -t "btgen-$$" -o cat; }
	wait_for eval 'journal | grep -q @hits'
	has journal
else
	skip "the journal" "no journald"
fi
follow "$(command_of grep)"
is "$live_rc $(cat "$tmp/out")" "0 event $(($(sed -n 's/event \(.*\) FAILED/\1/p' "$tmp/out"))) FAILED" "a reader that has found its line ends the trace"
follow "$(command_of '-N 1')"
is "$live_rc $(grep -c event "$tmp/out")" "0 1" "-N 1: one line"
exec 8>&-
done_testing
