#!/usr/bin/env bash
# -f perfetto -o FILE: the file is whole JSON at any time, also on a full disk and when btgen is killed.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"

cat >"$tmp/app.c" <<'END'
#include <btgen/usdt.h>
#include <unistd.h>
int main(void)
{
	char c;
	for (long n = 0; read(0, &c, 1) == 1;)
		for (int i = 0; i < 100; i++, n++) {
			USDT_PROBE(app, work_start, n);
			USDT_PROBE(app, work_done, n);
			if (i % 10 == 9)
				usleep(1000);
		}
}
END
gcc -O1 -I"$top/include" -o "$tmp/app" "$tmp/app.c" || exit 1
script='usdt:__EXE__:app:work_start { printf("it starts %d\n", arg0); } usdt:__EXE__:app:work_done { printf("it ends %d\n", arg0); }'

# whole FILE: how many calls it has, once it is JSON that has its end; each has all that it should
whole() {
	python3 - "$1" <<'END'
import json, sys
trace = json.load(open(sys.argv[1]))
assert trace["otherData"]["start"], trace
calls = [e for e in trace["traceEvents"] if e["ph"] == "X"]
assert all(e["name"] == "work" and e["dur"] >= 0 for e in calls), calls
print(len(calls))
END
}
has() { [ "$(whole "$1" 2>/dev/null || echo 0)" -ge "$2" ]; }
feed() { for _ in $(seq "$1"); do printf x >&8; done; }

live_start "$tmp/app"
echo before >"$tmp/trace.json"
rm -f "$tmp/ready"
"$live_sh" --ready-file "$tmp/ready" -f perfetto -o "$tmp/trace.json" $live_pid -e "$script" 2>"$tmp/messages" 8>&- &
live_tracer=$!
own $live_tracer
ok "it attaches" wait_for test -s "$tmp/ready"
is "$(whole "$tmp/trace.json")" 0 "a trace that has just begun is whole"
feed 3
ok "what has come is there while the trace runs" wait_for has "$tmp/trace.json" 200
kill -9 $live_tracer
wait $live_tracer 2>/dev/null
ok "btgen is killed: the file is whole" has "$tmp/trace.json" 200
live_trace $live_pid -f perfetto -e "$script"
feed 2
wait_for has "$tmp/trace" 100
live_wait INT
is "$live_rc $(whole "$tmp/trace")" "0 200" "^C: all calls are there"

mkdir "$tmp/small"
if unshare -m true 2>/dev/null; then
	rm -f "$tmp/ready"
	# shellcheck disable=SC2016 # not in this shell
	unshare -m sh -c 'mount -t tmpfs -o size=64k none "$1" && shift && exec "$@"' sh "$tmp/small" sh -c '"$@"; echo $? >"$0/rc"; cp "$0/small/out" "$0/full.json"' "$tmp" \
		"$live_sh" --ready-file "$tmp/ready" -f perfetto -o "$tmp/small/out" $live_pid -e "$script" 2>"$tmp/messages" 8>&- &
	live_tracer=$!
	own $live_tracer
	ok "a small disk: it attaches" wait_for test -s "$tmp/ready"
	feed 30
	wait_for test -s "$tmp/full.json"
	is "$(cat "$tmp/rc")" 1 "a full disk is status 1"
	like "$(cat "$tmp/messages")" 'cannot write .*small/out: No space left on device' "... and an error"
	n=$(whole "$tmp/full.json")
	ok "... what fits stays, and is whole (${n:-none} calls)" test "${n:-0}" -gt 100
	wait $live_tracer
else
	skip "a full disk" "no mount namespace"
fi
exec 8>&-
(
	ulimit -f 64
	live_start "$tmp/app"
	live_trace $live_pid -f perfetto -e "$script" || exit
	feed 30
	live_wait
	echo $live_rc >"$tmp/rc"
)
n=$(whole "$tmp/trace")
is "$(cat "$tmp/rc")" 1 "a limit on the size of files is status 1"
ok "... and the file is whole (${n:-none} calls)" test "${n:-0}" -gt 100
done_testing
