#!/usr/bin/env bash
# -f perfetto -o FILE: the trace is in FILE.json until it is converted, and stays there on a full disk and when btgen is killed.
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

# left FILE: the capture beside it can be converted
left() { "$btgen" convert -f perfetto -o "$tmp/again" "$1.json" 2>/dev/null && whole "$tmp/again"; }
lines() { [ "$(wc -l 2>/dev/null <"$1")" -ge "$2" ]; }

live_start "$tmp/app"
echo before >"$tmp/out"
rm -f "$tmp/ready"
"$live_sh" --ready-file "$tmp/ready" -f perfetto -o "$tmp/out" $live_pid -e "$script" 2>"$tmp/messages" 8>&- &
live_tracer=$!
own $live_tracer
ok "it attaches" wait_for test -s "$tmp/ready"
feed 3
ok "what has come is beside the file while the trace runs" wait_for lines "$tmp/out.json" 400
kill -9 $live_tracer
wait $live_tracer 2>/dev/null
is "$(cat "$tmp/out")" before "btgen is killed: the file is as it was"
ok "... and the capture can be converted" test "$(left "$tmp/out")" -ge 200
rm -f "$tmp/ready"
"$live_sh" --ready-file "$tmp/ready" -f perfetto -o "$tmp/out" $live_pid -e "$script" 2>"$tmp/messages"
is "$? $(cat "$tmp/out")" "1 before" "a capture that is there is not overwritten"
like "$(cat "$tmp/messages")" "kept in $tmp/out.json until it is converted, and that exists" "... and is named"
rm "$tmp/out.json"
live_trace $live_pid -f perfetto -e "$script"
feed 2
wait_for lines "$tmp/trace.json" 200
live_wait INT
is "$live_rc $(whole "$tmp/trace") $(ls "$tmp/trace.json" 2>/dev/null)" "0 200 " "^C: all calls are there, and the capture is gone"
live_trace $live_pid -f perfetto -e "$script"
kill -INT $live_tracer
kill -TERM $live_tracer
live_wait INT
ok "a second signal: the capture is converted or stays" test "$(whole "$tmp/trace" 2>/dev/null || left "$tmp/trace")" -ge 0

mkdir "$tmp/small"
if unshare -m true 2>/dev/null; then
	rm -f "$tmp/ready"
	# shellcheck disable=SC2016 # not in this shell
	unshare -m sh -c 'mount -t tmpfs -o size=64k none "$1" && shift && exec "$@"' sh "$tmp/small" sh -c '"$@"; echo $? >"$0/rc"; cp "$0/small/out.json" "$0/full.json"' "$tmp" \
		"$live_sh" --ready-file "$tmp/ready" -f perfetto -o "$tmp/small/out" $live_pid -e "$script" 2>"$tmp/messages" 8>&- &
	live_tracer=$!
	own $live_tracer
	ok "a small disk: it attaches" wait_for test -s "$tmp/ready"
	feed 30
	wait_for test -s "$tmp/full.json"
	is "$(cat "$tmp/rc")" 1 "a full disk is status 1"
	like "$(cat "$tmp/messages")" 'cannot write .*small/out.json: No space left on device' "... and an error"
	like "$(cat "$tmp/messages")" "note: the capture is in $tmp/small/out.json: .* btgen convert -f perfetto -o $tmp/small/out $tmp/small/out.json" "... which names what converts it"
	ok "... and that works" test "$(left "$tmp/full")" -gt 50
	wait $live_tracer
	true >"$tmp/none"
	unshare -m sh -c 'mount --bind "$1" "$(readlink -f /usr/bin/python3)" && shift && exec "$@"' sh "$tmp/none" "$live_sh" -f perfetto -o "$tmp/other" $live_pid -e "$script" 2>"$tmp/messages"
	is "$? $(ls "$tmp"/other* 2>/dev/null)" "127 " "without python3 nothing is traced: status 127"
	like "$(cat "$tmp/messages")" '^btgen: error: cannot run /usr/bin/python3: .*install the package python3$' "... with a line that names it"
else
	skip "a full disk, and no python3" "no mount namespace"
fi
exec 8>&-
done_testing
