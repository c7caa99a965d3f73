#!/usr/bin/env bash
# -f perfetto, -f otlp and -f folded: what a timeline says lasted so long did so by the program's own log.
. "$(dirname "$0")/../lib.sh"
. "$top/tests/live.sh"

# Of each change of a subsystem's state: which, how, and ns, by the clock of the program that has logged it
cat >"$tmp/logged.py" <<'END'
import sys
names = {"0": "INACTIVE", "2": "ACTIVE", "4": "PAUSED"}
begun = {}
for line in open(sys.argv[1]):
    ns, tid, name, *args = line.rstrip("\n").split("\t")
    if name == "nvmf_subsystem_change_state":
        begun[args[1]] = int(ns), f"{names[args[3]]} to {names[args[2]]}"
    elif name == "nvmf_subsystem_change_state_done":
        start, what = begun.pop(args[1])
        print(args[1], what, int(ns) - start, sep="\t")
END
# The same of a timeline
cat >"$tmp/drawn.py" <<'END'
import json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
tracks = {e["tid"]: e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
for e in events:
    if e["ph"] == "X" and e["cat"] == "change" and ", thread " not in tracks[e["tid"]]:
        print(tracks[e["tid"]], e["name"], round(e["dur"] * 1000), sep="\t")
END
live_nvmf nvmf_tgt
ok "a tour, as a timeline" live_tour $live_pid -f perfetto nvmf.bt
python3 "$tmp/logged.py" "$tmp/log" >"$tmp/logged"
python3 "$tmp/drawn.py" "$tmp/trace" >"$tmp/drawn"
ok "it has changes of states" test "$(wc -l <"$tmp/logged")" -gt 10
is "$(cut -f 1,2 "$tmp/drawn")" "$(cut -f 1,2 "$tmp/logged")" "each change of a subsystem's state is a slice of its track"
ok "they last as long as by the program's clock" python3 -c '
import sys
drawn, logged = [sum(int(line.split("\t")[2]) for line in open(path)) for path in sys.argv[1:]]
print(f"# {drawn} ns of {logged} ns")
sys.exit(abs(drawn - logged) > logged / 5)' "$tmp/drawn" "$tmp/logged"

# The same by way of a file in JSON
live_nvmf nvmf_tgt
ok "a tour, as JSON" live_tour $live_pid -s -f json nvmf.bt
"$btgen" convert -f perfetto -o "$tmp/timeline" "$tmp/trace" 2>"$tmp/said"
is "$? $(cat "$tmp/said")" "0 " "it is converted, and every track is right for its records"
is "$(python3 "$tmp/drawn.py" "$tmp/timeline" | cut -f 1,2)" "$(python3 "$tmp/logged.py" "$tmp/log" | cut -f 1,2)" "the same slices"

# What the program has destroyed, by its own log: no track of it, or of its threads, has a state to the end of the picture
cat >"$tmp/ends.py" <<'END'
import json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
tracks = {e["tid"]: e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
alive = set()
for line in open(sys.argv[2]):
    ns, tid, name, *args = line.rstrip("\n").split("\t")
    if name == "nvmf_subsystem_create":
        alive.add(args[1])
    elif name == "nvmf_subsystem_destroy":
        alive.discard(args[1])
lasting = {tracks[e["tid"]].partition(", thread ")[0] for e in events if e["ph"] == "B"}
ended = {tracks[e["tid"]] for e in events if e["ph"] == "X" and e["cat"] == "state" and e["name"] == "INACTIVE"}
print(sorted(lasting - alive - {"target"}), len(ended) > 2)
END
is "$(python3 "$tmp/ends.py" "$tmp/timeline" "$tmp/log")" "[] True" "a subsystem that is destroyed has no state any more, nor have its threads"

# Another target with a subsystem of the same name
nqn=nqn.2016-06.io.spdk:cnode1
answered() { [ "$(grep -cE '^(ok|error)' "$tmp/answers")" -ge "$1" ]; }
live_nvmf nvmf_tgt
ok "two targets: nvmf.bt attaches" live_trace -s -f json -D TARGETS=1 $live_pid nvmf.bt
live_say start "nvmf_create_subsystem $nqn -a" 'nvmf_create_target nvmf_tgt2' "nvmf_create_subsystem $nqn -a -t nvmf_tgt2"
wait_for answered 4
live_quit
live_wait
is "$live_rc $(grep -c '"subnqn": "'$nqn'"' "$tmp/trace")" "0 $(grep -c "$nqn" "$tmp/log")" "each event of the two is there"
is "$(grep -o "\"$nqn of target [^ ]* .*\", \"f" "$tmp/trace" | cut -c 2-)" "$nqn of target nvmf_tgt2 created\", \"f
$nqn of target nvmf_tgt2 allow any host\", \"f
$nqn of target nvmf_tgt2 change state from INACTIVE to ACTIVE start\", \"f
$nqn of target nvmf_tgt2 change state from INACTIVE to ACTIVE done\", \"f
$nqn of target nvmf_tgt2 destroyed\", \"f" "its lines name the target that is not SPDK's own"
"$btgen" convert -f perfetto -o "$tmp/timeline" "$tmp/trace" 2>"$tmp/said"
is "$? $(cat "$tmp/said")" "0 " "two targets: converted"
is "$(python3 "$tmp/drawn.py" "$tmp/timeline" | cut -f 1,2 | grep "$nqn")" "$nqn	INACTIVE to ACTIVE
$nqn nvmf_tgt2	INACTIVE to ACTIVE
$nqn	ACTIVE to INACTIVE" "each has a track of its own"

# Stacks
cat >"$tmp/app.c" <<'END'
#include <stdio.h>
#include <btgen/usdt.h>
__attribute__((noinline)) void inner(int n) { USDT_PROBE(app, hit, n); __asm__ volatile(""); }
__attribute__((noinline)) void outer(int n) { inner(n); __asm__ volatile(""); }
int main(void)
{
	char line[9];
	if (!fgets(line, sizeof(line), stdin))
		return 1;
	for (int i = 0; i < 5; i++)
		outer(i);
	inner(5);
	puts("done");
	fflush(stdout);
	return getchar() == 'x';
}
END
gcc -O0 -g -fno-omit-frame-pointer -I"$top/include" -o "$tmp/app" "$tmp/app.c"
app() {
	live_start "$tmp/app"
	live_trace $live_pid "$@" && echo >&8 && wait_for grep -q 'done' "$tmp/answers"
	live_wait INT
	exec 8>&-
	wait_end "$live_pid"
	return "$live_rc"
}
stacks() { grep -oE '(^|;)main;.*' "$tmp/trace" | sed 's/^;//'; }
ok "the stacks of events" app -f folded --stack -t 'app:*'
is "$(stacks)" "main;outer;inner 5
main;inner 1" "the outermost function first, and how often"
ok "the stacks of a map" app -f folded -e 'usdt:__EXE__:app:hit { @[ustack(9)] = sum(arg0 + 1); @other[arg0] = count(); }'
is "$(stacks | sort)" "main;inner 6
main;outer;inner 15" "and what it counts"
app -f folded -e 'usdt:__EXE__:app:hit { @ = count(); }'
is "$?" 1 "no stacks:"
like "$(cat "$tmp/messages")" 'error: no stacks' "an error says so"

# Spans: calls in each other
cat >"$tmp/calls.c" <<'END'
#include <stdio.h>
#include <unistd.h>
#include <btgen/usdt.h>
__attribute__((noinline)) int inner(int n) { usleep(1000); return n + 1; }
__attribute__((noinline)) int outer(int n) { return inner(n) + inner(n + 1); }
int main(void)
{
	int n = 0, c;
	while ((c = getchar()) == 'x') {
		char text[] = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", *traceparent = text;
		USDT_PROBE(app, request_start, n, traceparent);
		n += outer(n);
		USDT_PROBE(app, request_done, n);
	}
	return 0;
}
END
gcc -O0 -g -I"$top/include" -o "$tmp/calls" "$tmp/calls.c"
# Of spans: which is in which, how often, and whose
cat >"$tmp/spans.py" <<'END'
import collections, json, sys
spans = {}
for line in open(sys.argv[1]):
    (o,) = json.loads(line)["resourceSpans"]
    (s,) = o["scopeSpans"][0]["spans"]
    about = {a["key"]: list(a["value"].values())[0] for a in o["resource"]["attributes"]}
    spans[s["spanId"]] = s, about
    assert about["service.name"] == sys.argv[2] and about["process.pid"] == sys.argv[3] and about["host.name"]
    assert abs(int(s["startTimeUnixNano"]) / 1e9 - float(sys.argv[4])) < 600 and int(s["endTimeUnixNano"]) >= int(s["startTimeUnixNano"])
seen = collections.Counter()
for s, _ in spans.values():
    parent = spans.get(s.get("parentSpanId"), [None])[0]
    if parent:
        assert parent["traceId"] == s["traceId"] and int(parent["startTimeUnixNano"]) <= int(s["startTimeUnixNano"]) and int(s["endTimeUnixNano"]) <= int(parent["endTimeUnixNano"])
    seen[s["name"] + " in " + (parent["name"] if parent else s.get("parentSpanId", "-")) + (" of " + s["traceId"] if s["name"] == "request" else "")] += 1
print("\n".join(f"{what}: {n}" for what, n in sorted(seen.items())))
END
spans() { python3 "$tmp/spans.py" "$tmp/trace" calls "$live_pid" "$(date +%s)"; }
live_start "$tmp/calls"
rm -f "$tmp/trace.json"
ok "spans of calls: it attaches" live_trace $live_pid -f otlp -t 'uprobe:outer' -t 'uprobe:inner' -t 'uretprobe:outer' -t 'uretprobe:inner'
printf xxx >&8
ok "their records are beside the file while the trace runs" wait_for eval '[ "$(wc -l <"$tmp/trace.json")" -ge 13 ]'
live_wait KILL 2>/dev/null
"$btgen" convert -f otlp -o "$tmp/trace" "$tmp/trace.json" 2>/dev/null
rm "$tmp/trace.json"
is "$(spans)" "inner in outer: 6
outer in -: 3" "btgen is killed: the capture can be converted, each call in the call that made it, of that program, by the wall's clock"
ok "spans of a script: it attaches" live_trace $live_pid -f otlp -e 'usdt:__EXE__:app:request_start { $traceparent = str(arg1); printf("%s\n", $traceparent); }
usdt:__EXE__:app:request_done { printf("%d\n", arg0); }'
printf xx >&8
wait_for eval '[ "$(wc -l <"$tmp/trace.json")" -ge 5 ]'
live_wait INT
exec 8>&-
wait_end "$live_pid"
is "$live_rc $(spans)" "0 request in b7ad6b7169203331 of 0af7651916cd43dd8448eb211c80319c: 2" "a traceparent: the trace of the caller"

for how in folded perfetto otlp; do
	"$live_sh" -f $how --follow $$ nvmf.bt 2>"$tmp/messages"
	is "$? $(grep -c -- "-f $how handles one" "$tmp/messages")" "2 1" "-f $how is for one trace"
done
done_testing
