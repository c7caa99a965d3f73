#!/usr/bin/env bash
# btgen convert: timelines and stacks, judged by python's json, by the rules of the format, and by a reader written apart from it.
. "$(dirname "$0")/../lib.sh"
cd "$tmp" || exit

# --- a timeline

python3 - <<'END' >capture.json
import json
def line(ns, probe, tid=11, text="", comm="app", pid=10, **fields):
    print(json.dumps({"time": "2026-01-31T12:00:%02d.%09d+01:00" % divmod(ns, 10**9), "cpu": 0, "pid": pid, "tid": tid, "comm": comm, "probe": probe, "text": text, "fields": fields}))
tracks = [
    dict(probe="change", by="{sub}", kind="begin", name="{old} to {new}"),
    dict(probe="change_done", by="{sub}", kind="end"),
    dict(probe="change_done", by="{sub}", kind="state", name="{new}"),
    dict(probe="query__done", by="backend {pid}", kind="slice", name="{text}", lasting="took", unit="us"),
    dict(probe="function__entry", kind="call", name="{f}()"),
    dict(probe="gone", by="{nothing}", kind="state", name="x"),
]
print(json.dumps({"capture": {"host": "a", "boot_id": None, "monotonic": 1, "wall": "2026-01-31T12:00:00.000000000+01:00", "synchronized": True, "version": "0", "script": "x.bt", "tracks": tracks}}))
state = lambda n: {"name": n, "value": 1}
line(1000, "app:read_start", fd=3)
line(2000, "app:seek_begin")
line(3000, "app:other", tid=12, why="a\"b\\<script>\u001b[31m")
line(4000, "app:seek_end")
line(5500, "app:read_done")
line(6000, "app:change", sub="s1", old=state("IDLE"), new=state("BUSY"))
line(8000, "app:change_done", sub="s1", new=state("BUSY"))
line(9000, "app:a_enter")
line(9100, "app:b_enter")
line(9200, "app:a_exit")      # a and b overlap
line(9300, "app:b_exit")
line(20000000, "pg:query__done", text="SELECT 1", took=12000)
line(20000500, "py:function__entry", f="main")
line(20000600, "py:function__entry", f="leaf")
line(20000700, "py:function__return", f="leaf")
line(20000800, "py:function__return", f="main")
line(20000850, "uretprobe:never")
line(20000900, "uprobe:open", n=5)
line(20000950, "app:gone", a=1)
line(20000960, "py:function__entry", f="last")
print(json.dumps({"time": "2026-01-31T12:00:01.000000000+01:00", "cpu": 0, "pid": 10, "tid": 11, "comm": "app", "probe": "interval:s:1", "map": "@n", "entries": [{"key": ["a", 4], "value": 17}, {"key": ["b", 5], "value": 2}]}))
print(json.dumps({"map": "@us", "entries": [{"key": ["x"], "histogram": [{"min": 0, "max": 1, "count": 2}]}]}))
print(json.dumps({"lost": {"total": 12, "app:other": 12}}))
END
"$btgen" convert -f perfetto capture.json >timeline.json 2>messages
is "$? $(cat messages)" '0 btgen: note: no record of gone has the fields of its track: "{nothing}", "x"' "a capture is converted; a track that no record is right for is told of"
cat >show.py <<'END'
import json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
for e in events:
    where = names.get((e["pid"], e["tid"]), "-")
    if e["ph"] == "X":
        print(f'{where}: {e["cat"]} {e["name"]} {e["ts"]} {e["dur"]}')
    elif e["ph"] in "be":
        print(f'{where}: {e["ph"]}{e["id"]} {e["name"]} {e["ts"]}')
    elif e["ph"] in "iB":
        print(f'{where}: {e["ph"]} {e["name"]} {e["ts"]}')
    elif e["ph"] == "C":
        print(f'{e["name"]}: {e["args"]}')
END
is "$(python3 show.py timeline.json)" "app: i other 3.0
app: call seek 2.0 2.0
app: call read 1.0 4.5
s1: change IDLE to BUSY 6.0 2.0
app: b1 a 9.0
app: e1 a 9.2
app: call b 9.1 0.2
backend 10: slice SELECT 1 8000.0 12000.0
app: call leaf() 20000.6 0.1
app: call main() 20000.5 0.3
app: i never 20000.85
app: i gone 20000.95
@n: {'a, 4': 17, 'b, 5': 2}
-: i lost: 12 1000000.0
app: i open 20000.9
app: B last() 20000.96
s1: B BUSY 8.0" "calls, overlaps, changes, states, durations, counters, what is lost, what is open and what has no end at all, with microseconds since the start"
is "$(python3 -c 'import json
for e in json.load(open("timeline.json"))["traceEvents"]:
    if e["name"] == "other":
        print(ascii(e["args"]))')" "{'text': '', 'why': 'a\"b\\\\<script>\\x1b[31m'}" "fields are arguments, and stay what they are"

# Whose start and end it is
python3 - <<'END' >whose.json
import json
def line(ns, probe, tid=1, pid=1, comm="x"):
    print(json.dumps({"time": "2026-01-31T12:00:00.%09d+01:00" % ns, "cpu": 0, "pid": pid, "tid": tid, "comm": comm, "probe": probe, "text": ""}))
tracks = [dict(probe="sched_switch", by="task", kind="state", name="s")]
print(json.dumps({"capture": {"wall": "2026-01-31T12:00:00.000000000+01:00", "tracks": tracks}}))
line(1000, "a:read_start")
line(2000, "b:read_done")
line(3000, "a:read_done")
for n, (entry, ret) in enumerate((("u", "ur"), ("k", "kr"), ("kfunc", "kretfunc"), ("fentry", "fexit"))):
    line(4000 + n * 1000, entry + ":f")
    line(4500 + n * 1000, ret + ":f")
line(10000, "uprobe:A::f")
line(11000, "uprobe:B::f")
line(12000, "uretprobe:A::f")
line(13000, "a:write_start", tid=5)
line(13500, "a:write_done", tid=5)
line(14000, "a:write_start", tid=5)
line(15000, "a:other", tid=5, pid=2)
line(16000, "tracepoint:sched:sched_switch", tid=7, pid=7, comm="idle")
END
is "$("$btgen" convert -f perfetto whose.json >timeline.json && python3 show.py timeline.json)" "x: i read_done 2.0
x: call read 1.0 2.0
x: call f 4.0 0.5
x: call f 5.0 0.5
x: call f 6.0 0.5
x: call f 7.0 0.5
x: b1 A::f 10.0
x: e1 A::f 12.0
x: call write 13.0 0.5
x: B write 14.0
x: i other 15.0
x: i B::f 11.0
task: B s 16.0" "an end belongs to a start of its own provider, function, thread and process, whatever the kind of probe is called"
not_ok "a thread on which nothing is drawn has no line" grep -q idle timeline.json

# Captures of two hosts, one behind the other
for hour in 12 13; do
	printf '{"capture": {"wall": "2026-01-31T%s:00:00.000000000+01:00", "tracks": [{"probe": "s", "by": "t", "kind": "state", "name": "{text}"}]}}\n' $hour
	for line in '1000 p:s' '2000 p:f_start' '3000 p:other' '4000 p:s' '5000 p:f_done'; do
		[ "$hour $line" = '13 2000 p:f_start' ] && continue
		[ "$hour $line" = '12 5000 p:f_done' ] && continue
		# shellcheck disable=SC2086 # words
		printf '{"time": "2026-01-31T%s:00:00.00000%s+01:00", "pid": 1, "tid": 1, "comm": "x", "probe": "%s", "text": "%s"}\n' $hour $line $hour
	done
done >two.json
"$btgen" convert -f perfetto two.json >timeline.json 2>messages
is "$(python3 show.py timeline.json | grep -v other; cat messages)" "t: state 12 1.0 3.0
x: i f 2.0
t: state 12 4.0 0.0
t: state 13 3600000001.0 3.0
x: i f_done 3600000005.0
t: B 13 3600000004.0" "nothing lasts from one capture into the next"

# Objects that end: their state lasts until then, with those of their threads, and of no other object
python3 - <<'END' >gone.json
import json
def line(ms, probe, **fields):
    print(json.dumps({"time": "2026-01-31T12:00:00.%03d000000+01:00" % ms, "cpu": 0, "pid": 1, "tid": 1, "comm": "x", "probe": "p:" + probe, "text": "", "fields": fields}))
tracks = [dict(probe="state", by="{n} {of}", kind="state", name="{s}"), dict(probe="change", by="{n} {of}", kind="begin", name="to {s}"),
          dict(probe="thread_state", by="{n}, thread {t} {of}", kind="state", name="{s}"), dict(probe="own", kind="state", name="{s}"),
          dict(probe="destroy", by="{n} {of}", kind="gone"), dict(probe="destroy", by="{n}, thread {*} {of}", kind="gone"),
          dict(probe="thread_destroy", by="{*}, thread {t} {*}", kind="gone"), dict(probe="exit", kind="gone")]
print(json.dumps({"capture": {"wall": "2026-01-31T12:00:00.000000000+01:00", "tracks": tracks}}))
for n, of in (("cnode1", ""), ("cnode1", "second"), ("cnode10", ""), ("cnode*", "")):
    line(1, "state", n=n, of=of, s="ON")
    for t in (2, 20):
        line(1, "thread_state", n=n, of=of, t=t, s="on")
line(1, "own", s="BUSY")
line(5, "destroy", n="cnode*", of="")
line(10, "destroy", n="cnode1", of="")
line(15, "destroy", n="never seen", of="")
line(20, "thread_destroy", t=2)
line(25, "exit")
line(30, "change", n="cnode10", of="", s="OFF")
line(40, "destroy", n="cnode10", of="")
line(50, "state", n="cnode1", of="", s="AGAIN")
END
"$btgen" convert -f perfetto gone.json >timeline.json 2>messages
is "$(python3 show.py timeline.json | grep -v '^x: i'; cat messages)" "cnode*: state ON 1000.0 4000.0
cnode*, thread 2: state on 1000.0 4000.0
cnode*, thread 20: state on 1000.0 4000.0
cnode1: state ON 1000.0 9000.0
cnode1, thread 2: state on 1000.0 9000.0
cnode1, thread 20: state on 1000.0 9000.0
cnode1, thread 2 second: state on 1000.0 19000.0
cnode10, thread 2: state on 1000.0 19000.0
x: state BUSY 1000.0 24000.0
cnode10: state ON 1000.0 29000.0
cnode10: i to OFF 30000.0
cnode10, thread 20: state on 1000.0 39000.0
cnode1: B AGAIN 50000.0
cnode1 second: B ON 1000.0
cnode1, thread 20 second: B on 1000.0" "an object that ends has no state afterwards; a change it was in has no end"

# Thousands of objects, each of which ends by a rule with {*}
for n in 4000 16000; do
	python3 - $n >any.$n <<'END'
import json, sys
n = int(sys.argv[1])
tracks = [dict(probe="begin", by="job {id}, part {part}", kind="begin", name="x"), dict(probe="destroy", by="job {id}, part {*}", kind="gone")]
print(json.dumps({"capture": {"wall": "2026-01-31T12:00:00.000000000+01:00", "tracks": tracks}}))
for i in range(2 * n):
    print(json.dumps({"time": "2026-01-31T12:00:00.%09d+01:00" % i, "cpu": 0, "pid": 1, "tid": 1, "comm": "x", "probe": "p:" + ("begin", "destroy")[i // n],
                      "text": "", "fields": dict(id=i % n, part=1)}))
END
done
linear "objects that end by a rule for some of them: time in proportion" 0 4000 "$btgen" convert -f perfetto any.{}

# Any order of starts and ends: slices of one track never overlap but lie within each other, and none is lost.
python3 - "$btgen" <<'END' >wrong
import json, random, subprocess, sys
random.seed(7)
for round in range(10):
    lines, starts = [], 0
    for n in range(200):
        probe = "p:" + random.choice("abc") + random.choice(("_start", "_done"))
        lines.append(json.dumps({"time": "2026-01-31T12:00:00.%09d+00:00" % (n * 10), "cpu": 0, "pid": 1, "tid": random.randrange(2, 4), "comm": "x", "probe": probe, "text": str(n), "fields": {}}))
        starts += probe.endswith("_start")
    out = subprocess.run([sys.argv[1], "convert", "-f", "perfetto"], input="\n".join(lines), stdout=subprocess.PIPE, text=True, check=True).stdout
    events = json.loads(out)["traceEvents"]
    of = lambda phases: [e for e in events if e["ph"] in phases]
    if len(of("XbB")) != starts:
        print("starts", starts, len(of("XbB")))
    if len(of("X")) + len(of("e")) + len(of("i")) != 200 - starts:
        print("ends")
    for tid in (2, 3):
        stack = []
        for a, b in sorted((e["ts"], -e["ts"] - e["dur"]) for e in of("X") if e["tid"] == tid):
            while stack and stack[-1] <= a:
                stack.pop()
            if stack and stack[-1] < -b:
                print("overlap", a, -b)
            stack.append(-b)
END
is "$(cat wrong)" "" "200 random starts and ends, 15 times: as many slices, pairs and marks, and slices nest"

# The same of what the script says: records with a duration, and states, also of threads that have calls
python3 - "$btgen" <<'END' >wrong
import json, random, subprocess, sys
random.seed(8)
for _ in range(15):
    tracks = [dict(probe="took", by=by, kind="slice", name="s", lasting="ns", unit="ns") for by in ("", "a")] + [dict(probe="is", by="", kind="state", name="s")]
    lines = [json.dumps({"capture": {"tracks": tracks}})]
    for n in range(300):
        probe = random.choice(("f_start", "f_done", "g_start", "g_done", "took", "took", "is"))
        lines.append(json.dumps({"time": "2026-01-31T12:00:00.%09d+00:00" % (10000 + n * 10), "cpu": 0, "pid": 1, "tid": 1, "comm": "x", "probe": "p:" + probe, "fields": {"ns": random.choice((3, 17, 30, 300))}}))
    events = json.loads(subprocess.run([sys.argv[1], "convert", "-f", "perfetto"], input="\n".join(lines), stdout=subprocess.PIPE, text=True, check=True).stdout)["traceEvents"]
    took = sum("p:took" in line for line in lines)
    shown = [e for e in events if e.get("cat") == "slice" and e["ph"] in "Xb"]
    if len(shown) != took * 2:
        print("slices", len(shown), took)
    for tid in {e["tid"] for e in events}:
        stack = []
        for a, b in sorted((round(e["ts"] * 1000), -round((e["ts"] + e["dur"]) * 1000)) for e in events if e["ph"] == "X" and e["tid"] == tid):
            while stack and stack[-1] <= a:
                stack.pop()
            if stack and stack[-1] < -b:
                print("overlap", a, -b)
            stack.append(-b)
print("all")
END
is "$(cat wrong)" "all" "300 random records with durations, states and calls, 15 times: none is lost, and slices nest"

# What was kept ends where it was wanted.
python3 - <<'END' >kept.json
import json
head = {"host": "a", "boot_id": None, "monotonic": 1, "wall": "2026-01-31T12:00:00.000000000+01:00", "synchronized": True, "version": "0", "script": "x.bt", "tracks": []}
def line(us, probe):
    print(json.dumps({"time": f"2026-01-31T12:00:00.{us:06}000+01:00", "cpu": 0, "pid": 10, "tid": 11, "comm": "app", "probe": probe, "text": "", "fields": {}}))
print(json.dumps({"capture": {**head, "trigger": "app:error"}}))
line(1, "app:step")
line(2, "app:error")
print(json.dumps({"capture": {**head, "trigger": "SIGUSR1"}}))
line(3, "app:step")
END
"$btgen" convert -f perfetto kept.json >kept-timeline.json 2>messages
is "$? $(cat messages) $(jq -r '.traceEvents[] | select(.s == "p") | "\(.name) \(.ts | floor)"' kept-timeline.json | tr '\n' ,)" "0  trigger: app:error 2,trigger: SIGUSR1 3," \
	"the trigger of what was kept is a mark at its end"
unlike "$("$btgen" convert -f otlp kept.json 2>&1 >/dev/null)" "lost" "and no loss among spans"
rm kept.json kept-timeline.json

# --- spans

cat >spans.py <<'END'
import json, sys
names, traces = {}, {}
spans = []
for line in open(sys.argv[1]):
    (resource,), = json.loads(line).values()
    (scope,) = resource["scopeSpans"]
    (span,) = scope["spans"]
    assert set(resource) == {"resource", "scopeSpans"} and scope["scope"] == {"name": "btgen"} and span["kind"] == 1
    names[span["spanId"]] = span["name"]
    spans.append(({a["key"]: a["value"] for a in resource["resource"]["attributes"]}, span))
for about, s in spans:
    lasted = int(s["endTimeUnixNano"]) - int(s["startTimeUnixNano"])
    parent = s.get("parentSpanId", "-")
    trace = traces.setdefault(s["traceId"], len(traces) + 1)
    assert len(s["traceId"]) == 32 and len(s["spanId"]) == 16
    print(about["service.name"]["stringValue"], about["host.name"]["stringValue"], about["process.pid"]["intValue"], s["name"],
          int(s["startTimeUnixNano"]) - 1769857200 * 10**9, lasted, f"trace {trace}", "in", names.get(parent, parent))
END
"$btgen" convert -f otlp -o spans.jsonl capture.json 2>messages
is "$?" 0 "a capture is converted to spans"
is "$(python3 spans.py spans.jsonl)" "app a 10 seek 2000 2000 trace 1 in read
app a 10 read 1000 4500 trace 1 in -
app a 10 IDLE to BUSY 6000 2000 trace 2 in -
app a 10 a 9000 200 trace 3 in -
app a 10 b 9100 200 trace 3 in a
app a 10 SELECT 1 8000000 12000000 trace 4 in -
app a 10 leaf() 20000600 100 trace 5 in main()
app a 10 main() 20000500 300 trace 5 in -" "what the timeline has as slices, by the wall's clock, each call in the call around it"
like "$(cat messages)" 'note: 8 spans; omitted: 3 without an end, 3 records that neither begin nor end one' "what has no end is counted, and no span"
like "$(cat messages)" 'warning: events of the capture were lost: spans are missing, or end too late' "loss is told of"
"$btgen" convert -f otlp capture.json 2>/dev/null | cmp - spans.jsonl
is "$?" 0 "converted again it is the same bytes"
is "$(sed 's/"host": "a"/"host": "b"/' capture.json | "$btgen" convert -f otlp 2>/dev/null | cat - spans.jsonl | grep -o '"spanId": "[^"]*"' | sort -u | wc -l)" 16 "on another host the ids are others"

python3 - <<'END' >values.json
import json
ids = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
def line(ns, probe, tid=1, **fields):
    print(json.dumps({"time": "2026-01-31T12:00:00.%09d+01:00" % ns, "cpu": 0, "pid": 1, "tid": tid, "comm": "x", "probe": probe, "fields": fields}))
print(json.dumps({"capture": {"host": "h", "wall": "2026-01-31T12:00:00.000000000+01:00", "program": "server", "tracks": []}}))
line(1, "p:request_start", traceparent=ids, small=-5, large="18446744073709551615", ratio=1.5, on=True, none=None,
     state={"name": "RUNNING", "value": 4}, bytes={"text": "a\ufffd", "hex": "61ff"}, at={"x": 1, "list": [1, "b"]}, quoted='a"\n\x1b')
line(2, "p:inner_start")
line(3, "p:inner_done")
line(4, "p:request_done")
for tid, bad in enumerate((ids.upper(), "01" + ids[2:], ids.replace("b7ad6b7169203331", "0" * 16), ids + "-", ids.replace("0af7651916cd43dd8448eb211c80319c", "0" * 32), ids[:-1] + "g")):
    line(5, "p:request_start", tid=tid + 2, traceparent=bad)
    line(6, "p:request_done", tid=tid + 2)
for n in range(3): # a probe that is traced alone is around nothing
    line(10 * n + 10, "uprobe:alone", tid=9)
    line(10 * n + 11, "p:inner_start", tid=9)
    line(10 * n + 12, "p:inner_done", tid=9)
END
"$btgen" convert -f otlp values.json >spans.jsonl 2>messages
is "$(python3 -c 'import json
for line in open("spans.jsonl"):
    o = json.loads(line)["resourceSpans"][0]
    s = o["scopeSpans"][0]["spans"][0]
    if s["traceId"] == "0af7651916cd43dd8448eb211c80319c":
        print(o["resource"]["attributes"][0]["value"]["stringValue"], s["name"], s["parentSpanId"] == "b7ad6b7169203331", s["traceId"])
        for a in s["attributes"][2:]:
            print(a["key"], json.dumps(a["value"]))')" 'server inner False 0af7651916cd43dd8448eb211c80319c
server request True 0af7651916cd43dd8448eb211c80319c
small {"intValue": "-5"}
large {"stringValue": "18446744073709551615"}
ratio {"doubleValue": 1.5}
on {"boolValue": true}
state {"stringValue": "RUNNING"}
bytes {"stringValue": "a\ufffd"}
at {"kvlistValue": {"values": [{"key": "x", "value": {"intValue": "1"}}, {"key": "list", "value": {"arrayValue": {"values": [{"intValue": "1"}, {"stringValue": "b"}]}}}]}}
quoted {"stringValue": "a\"\n\u001b"}' "a traceparent is the trace and the parent, also of what is inside; fields are attributes of their type"
is "$(python3 spans.py spans.jsonl | grep -c 'request .* in -$')" 6 "what is no traceparent is none"
is "$(python3 spans.py spans.jsonl | tail -n 1 | sed 's/.* in //')" "-" "a probe that is traced alone is no parent, once it has come again"
grep -v capture values.json | "$btgen" convert -f otlp >out 2>messages
is "$? $(cat out) $(grep -c "error: .*the capture's first line, with its time and host, .* bpftrace.sh -o FILE.json" messages)" "1  1" "a capture without its first line: an error says how to record one"

# --- stacks

python3 - <<'END' >stacks.json
import json
print(json.dumps({"map": "@off", "entries": [
    {"key": ["app", ["read+35", "work+1", "main+0x"]], "value": 7},
    {"key": ["app", ["read+99", "work+2", "main+0x"]], "value": 5},
    {"key": ["a;b\n", ["f<int, x>(char)+1"]], "value": "9007199254740993"},
    {"key": ["none", []], "value": 3}, {"key": ["app"], "value": 2}, {"key": ["z", ["\u202egnp.\u009b"]], "value": 1}]}))
END
"$btgen" convert -f folded stacks.json >out
is "$? $(cat out)" "0 app;main+0x;work;read 12
a:b ;f<int, x>(char) 9007199254740993
none 3
z;\xe2\x80\xaegnp.\xc2\x9b 1" "stacks, the outermost first, offsets left out, equal ones added up, names printable"
{
	cat stacks.json
	echo '{"map": "@again", "entries": [{"key": [["f+1"]], "stats": {"count": 2, "average": 4, "total": 8}}]}'
} >two.json
"$btgen" convert -f folded two.json >out 2>messages
is "$? $(cat out)" "1 " "of two maps"
like "$(cat messages)" '@off, @again\): choose one with --map' "... one is to be chosen"
is "$("$btgen" convert -f folded --map @again two.json)" "f 8" "... by --map"
echo '{"time": "2026-01-31T12:00:00.000000000+00:00", "probe": "a:b", "text": "", "fields": {"ustack": ["f+1", "g"], "n": 1}}' >records.json
cat records.json records.json >records2.json
is "$("$btgen" convert -f folded <records2.json)" "g;f 2" "records of --stack count one each; standard input"
echo '{"lost": {"total": 3, "a:b": 3}}' | cat records.json - >loss.json
is "$("$btgen" convert -f folded loss.json 2>messages) $(cat messages)" "g;f 1 btgen: warning: events of the capture were lost: their stacks are not counted" "loss is told of"
"$btgen" convert -f folded capture.json >out 2>messages
is "$?" 1 "without any stacks"
is "$(cat messages)" "btgen: error: no stacks with counts in the capture: key a map by ustack or kstack, or use -t --stack" "... it says so"
is "$("$btgen" convert -f folded --map @none two.json 2>&1)" "btgen: error: @none has no stacks with counts in this capture" "... and of --map it names the map"

# --- what is wrong

sed '5s/.$//' capture.json >broken.json
echo before >kept
"$btgen" convert -f perfetto -o kept broken.json 2>messages
is $? 3 "a line that is none is skipped: status 3"
is "$(head -n 1 messages)" "broken.json:5: warning: is not a line of -f json: skipped, 1 such line in all" "... and its number is reported"
sed 5d capture.json | "$btgen" convert -f perfetto >without 2>/dev/null
is "$(cat kept)" "$(cat without)" "... and what is written is that of a capture without it"
sed '7s/"tid": 11/"tid": "x"/; 9s/.*/hello/; 12s/2026-01-31T/31st of January, /; 15s/^/\xff/' capture.json >broken.json
"$btgen" convert -f perfetto broken.json >kept 2>messages
is "$? $(head -n 1 messages)" "3 broken.json:7: warning: is not a line of -f json: skipped, 4 such lines in all" "several: the first one, and how many"
is "$(cat kept)" "$(sed '7d;9d;12d;15d' capture.json | "$btgen" convert -f perfetto 2>/dev/null)" "... the rest is there"
sed '12s/2026-01-31T/2026-13-31T/' capture.json >broken.json
"$btgen" convert -f perfetto broken.json >kept 2>messages
is "$? $(head -n 1 messages)" "3 broken.json:12: warning: is not a line of -f json: skipped, 1 such line in all" "a month that there is not is no date"
{
	echo '{"key": 1'
	cat stacks.json
} >broken.json
is "$("$btgen" convert -f folded broken.json 2>messages) $? $(cat messages)" \
	"$("$btgen" convert -f folded stacks.json) 3 broken.json:1: warning: is not a line of -f json: skipped, 1 such line in all" "... of stacks, too"
echo before >kept
"$btgen" convert -f perfetto -o kept "$top/tests/lib.sh" 2>messages
is "$? $(cat kept) $(ls kept*)" "1 before kept" "a file that has no line of a capture: nothing is written over what was there"
is "$(cat messages)" "$top/tests/lib.sh:1: error: expected a line of -f json" "... and the first one's number is reported"
if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
	mkdir small
	yes "$(sed 5q capture.json)" | head -n 15000 >long.json
	# shellcheck disable=SC2016 # not in this shell
	unshare -m sh -c 'mount -t tmpfs -o size=16k none small && echo before >small/out && "$1" convert -f perfetto -o small/out long.json
		echo "$? $(cat small/out) $(ls small)"' sh "$btgen" >out 2>messages
	is "$(cat out)" "1 before out" "a full disk: what was there stays"
	like "$(cat messages)" 'small/out: error: cannot be written: No space left' "... with an error"
else
	skip "a full disk" "no mount namespace"
fi
head -c 700 capture.json >cut.json
"$btgen" convert -f perfetto -o kept cut.json 2>messages
is $? 0 "a last line that is cut off is left out"
like "$(cat messages)" '^cut.json:2: warning: the last line is truncated' "... with a warning"
ok "what comes is whole" python3 -m json.tool kept /dev/null
sort -r capture.json >backwards.json
"$btgen" convert -f perfetto backwards.json >out 2>messages
like "$(cat messages)" 'warning: [0-9]+ records are out of order.*-s' "records out of their order are told of"
is "$("$btgen" convert -f perfetto /dev/null)" '{"traceEvents":[],"otherData":{"start":"1970-01-01T00:00:00.000000000Z"}}' "nothing is nothing"
names=$(printf '%s\n' folded otlp perfetto)
is "$("$btgen" convert --help | sed -n 's/.*--format //p' | tr '|' '\n' | sort)" "$names" "--help names each format"
is "$("$btgen" convert 2>&1 | sed -nE '1{ s/.*-f //; s/, | or /\n/g; p }' | sort)" "$names" "... and the message that asks for one"
for args in '' '-f' '-f text x' '-f perfetto --map @a x' '-f folded --map a x' '-f folded a b'; do
	# shellcheck disable=SC2086 # words
	"$btgen" convert $args >out 2>messages
	is $? 2 "a usage error: convert $args"
done
"$btgen" convert -f perfetto no/such 2>messages
is "$? $(cat messages)" "1 no/such: error: cannot be read: No such file or directory" "a capture that is not there"
cp capture.json same.json
"$btgen" convert -f perfetto -o same.json same.json 2>messages
is "$? $(cmp capture.json same.json)" "1 " "the capture itself is not written over"
"$btgen" convert -f perfetto -o same.json <./same.json 2>messages
is "$? $(cmp capture.json same.json)" "1 " "... nor as standard input"
mkfifo slow
for sig in TERM HUP; do
	"$btgen" convert -f perfetto -o whole slow &
	own $!
	exec 7>slow
	cat capture.json >&7
	wait_for sh -c 'ls whole.*' >/dev/null 2>&1
	kill -$sig $!
	wait $! 2>/dev/null
	is "$? $(ls whole* 2>/dev/null)" "$((128 + $(kill -l $sig))) " "ended by SIG$sig it leaves nothing behind"
	exec 7>&-
done

cat >odd.json <<'END'
{"time": "2026-01-31T12:00:00.000000000+00:00", "cpu": 0, "pid": 1, "tid": 1, "comm": "x", "probe": "a:b", "text": "the line", "fields": {"text": "the field", "n": 1}}
{"time": "2026-01-31T12:00:00.000000000+00:00", "cpu": 0, "pid": 1, "tid": 1, "comm": "x", "probe": "interval:s:1", "map": "@n", "entries": [{"key": [1], "value": "18446744073709551615"}, {"key": [2], "value": "x1"}, {"key": [3], "value": "-9223372036854775808"}]}
END
is "$("$btgen" convert -f perfetto odd.json | python3 -c 'import json, sys
def once(pairs):
    assert len({k for k, _ in pairs}) == len(pairs), pairs
    return dict(pairs)
for e in json.load(sys.stdin, object_pairs_hook=once)["traceEvents"]:
    if e["ph"] in "iC":
        print(e["args"])')" "{'text': 'the field', 'n': 1}
{'1': 18446744073709551615, '3': -9223372036854775808}" "a field may be called text; counters of 64 bits"

# What is a line: Python's json is the judge of whole lines that are changed at random, and of what each event has.
cat >differ.py <<'END'
import json, random, sys
random.seed(1)
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1] + "/scripts/python")
import capture
def judge(line):
    def no(name):
        raise ValueError
    try:
        o = json.loads(line.decode("utf-8"), parse_constant=no)
        return o if isinstance(o, dict) else None
    except (ValueError, RecursionError):
        return None
class Target:
    def record(self, ns, cpu, pid, tid, comm, probe, text, inside, fields):
        self.event = pid, tid, comm, probe, json.loads(text or '""'), json.loads("{" + inside + "}")
    def other(self, line):
        pass
event = b'{"time": "2026-01-31T12:00:00.000000000+01:00", "cpu": 0, "pid": 1, "tid": 2, "comm": "a b", "probe": "a:b", "text": "x\\n\xc3\xa9", "fields": {"n": -1.5, "s": {"text": "a", "hex": "61"}}}'
seeds = [b'{"x": [1, -2.5e+3, "a\\u00e9\\ud83d\\ude00", true, false, null, {"k": []}]}', b'{"a": {"b": {"c": "\xc3\xa9\\n\\"\\\\\\/"}}, "d": 0.1, "e": -0, "f": [[], {}, ""]}', event, event]
alphabet = [bytes([b]) for b in b'{}[]",:\\u0123eE+-. \t\x01\x7f\xc3\xa9\xfftrufalsn'] + [b'\\"', b'[1]', b'{"z":1}', b"1e5", b"null"]
wrong = events = 0
for n in range(20000):
    line = random.choice(seeds)
    for _ in range(random.randrange(4)):
        i = random.randrange(len(line))
        line = line[:i] + random.choice(alphabet + [b""]) + line[i + random.randrange(3):]
    if not line.strip() or b"\n" in line:
        continue
    target = Target()
    reader = capture.Reader(target, "x")
    reader.take(line + b"\n")
    o = judge(line)
    good = reader.has_records == (o is not None)
    if b'"time"' in line and o:  # a value may be none of an event's
        good = reader.has_records or not all(type(o.get(name, 1)) is int for name in ("cpu", "pid", "tid")) or o.get("time") != "2026-01-31T12:00:00.000000000+01:00" or type(o.get("fields", {})) is not dict
    if getattr(target, "event", None):
        events += 1
        good = target.event == (str(o.get("pid", 0)), str(o.get("tid", 0)), o.get("comm", ""), o.get("probe", ""), o.get("text", ""), o.get("fields", {}))
    if not good:
        print(target.__dict__, line, o)
        wrong += 1
print(wrong, events > 1000)
END
is "$(python3 differ.py "$top")" "0 True" "20000 lines: taken for JSON as Python's json does, and events have what it reads"
deep=$(printf '%0.s[' {1..100000})
printf '{"a": %s\n' "$deep" >deep.json
not_ok "nesting has a limit" "$btgen" convert -f perfetto deep.json 2>/dev/null
python3 -c 'import json
print(json.dumps({"time": "2026-01-31T12:00:00.000000000+00:00", "cpu": 0, "pid": 1, "tid": 1, "comm": "x", "probe": "a:b", "text": "y" * 2**20, "fields": {"s": {"text": "a\ufffd", "hex": "61ff"}}}))' >large.json
is "$("$btgen" convert -f perfetto large.json | python3 -c 'import json, sys
e = json.load(sys.stdin)["traceEvents"][-1]
print(len(e["args"]["text"]), e["args"]["s"]["hex"])')" "1048576 61ff" "a string of a MiB"
python3 - <<'END' >odd.json
import json
line = {"time": "2026-01-31T12:00:00.000000000+00:00", "cpu": 0, "pid": 1, "tid": 1, "comm": "x", "probe": "a:b", "text": "y"}
track = dict(probe="b", by="{e}", kind="state", name="{e}")
print(json.dumps({"capture": {"tracks": [track]}}))
for e in {"name": None, "value": "18446744073709551615"}, {"value": [1, "a"]}, {"value": {"value": {"name": "N"}}}:
    print(json.dumps(line | {"fields": {"e": e}}))
END
is "$("$btgen" convert -f perfetto odd.json | python3 -c 'import json, sys
print([e["name"] for e in json.load(sys.stdin)["traceEvents"] if e["ph"] in "XB"])')" "['18446744073709551615', '', 'N']" "a value is words whatever it is: an enumerator without a name and beyond 2^53 too"
for lost in '[1, 2]' '"abc"' 12345 '"'; do
	echo "{\"lost\": $lost}" >lost.json
	not_ok "no line of a capture: lost $lost" "$btgen" convert -f perfetto lost.json 2>/dev/null
done
python3 -c 'import json
for n in range(100000):
    print(json.dumps({"time": "2026-01-31T12:00:00.000000000+00:00", "probe": "a:b", "fields": {"ustack": ["f+%d" % (n % 9)] + ["g"] * 9}}))' >many.json
is "$(limit_memory 50000; "$btgen" convert -f folded many.json | sed 's/.*;//')" "f 100000" "what 100,000 stacks take in memory does not grow with their number"
done_testing
