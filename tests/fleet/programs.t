#!/usr/bin/env bash
# Four traces of four kinds of programs, each as a timeline, as CTF, as a page and, where it has stacks, for a flame graph: none of
# these lacks an event or a value that the capture has.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"
# shellcheck source=tests/postgresql.sh
. "$(dirname "$0")/../postgresql.sh"
export PYTHONDONTWRITEBYTECODE=1 BABELTRACE_PLUGIN_PATH=$top/scripts/babeltrace
babeltrace2() { PATH=/usr/bin:$PATH guard babeltrace2 "$@"; }
babeltrace2 list-plugins 2>/dev/null | grep -q source.btgen.json ||
	skip_all "scripts/pkgdep.sh --fleet installs babeltrace2"

# Of a capture and its timeline: records, and marks, slices, pairs and states that each stand for one or, a pair of probes, two
cat >"$tmp/count.py" <<'END'
import collections, json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
records = [o for o in lines if "probe" in o and "map" not in o]
events = json.load(open(sys.argv[2]))["traceEvents"]
phases = collections.Counter(e["ph"] for e in events)
calls = sum(e["ph"] == "X" and e["cat"] == "call" for e in events) + phases["b"]
ends = sum(e["ph"] == "X" and e["cat"] == "change" for e in events)
states = collections.Counter(t["probe"] for t in lines[0]["capture"]["tracks"] if t["kind"] in ("end", "state"))
print(len(records), phases["X"], phases["i"], calls)
# Each record begins something, ends something, or is a mark: a call that ended is two records, and one that ends a change begins a state.
both = [o for o in records if states[o["probe"].split(":")[-1]] == 2]
begun = phases["X"] + phases["b"] + phases["i"] + phases["B"]
sys.exit(begun + calls + ends != len(records) + len(both))
END

# all_of WHAT: of $tmp/trace, which was made with -s in JSON
all_of() {
	local n
	cp "$tmp/trace" "$tmp/$1.json"
	n=$(jq -c 'select(.time)' "$tmp/$1.json" | wc -l)
	ok "$1: it has events ($n)" test "$n" -gt 10
	"$btgen" convert -f perfetto -o "$tmp/$1.timeline" "$tmp/$1.json" 2>"$tmp/said"
	is "$? $(cat "$tmp/said")" "0 " "$1: a timeline"
	ok "$1: which has every record" python3 "$tmp/count.py" "$tmp/$1.json" "$tmp/$1.timeline"
	babeltrace2 "$tmp/$1.json" --component=sink.ctf.fs --params="path=\"$tmp/$1.ctf\"" >"$tmp/said" 2>&1
	is "$? $(babeltrace2 "$tmp/$1.ctf" 2>/dev/null | wc -l)" "0 $n" "$1: CTF, of which babeltrace2 prints as many events"
	guard /usr/bin/python3 "$top/scripts/btgen-report" "$tmp/$1.json" -o "$tmp/$1.html" 2>"$tmp/said"
	like "$? $(cat "$tmp/said")" "^0 btgen-report: $tmp/$1.html: $n events, " "$1: a page with all of them"
	ok "$1: of less than a MB" test "$(stat -c %s "$tmp/$1.html")" -lt 1000000
}

live_nvmf nvmf_tgt
live_tour $live_pid -s -f json nvmf.bt
all_of nvmf.bt

db=$tmp/db
postgresql_start query__start
printf '%s\n' 'SELECT 1;' 'BEGIN;' 'SELECT count(*) FROM pg_class;' 'END;' >"$tmp/bench.sql"
live_trace -s -f json $postmaster postgresql.bt
pgbench -n -h "$db" -U tester -f "$tmp/bench.sql" -c 2 -j 2 -t 100 postgres >/dev/null 2>&1
wait_for eval '[ "$(grep -c "query__done" "$tmp/trace")" -ge 800 ]'
live_wait INT
postgresql_stop
is "$(grep -c '"probe": "postgresql:query__done"' "$tmp/trace")" 800 "postgresql.bt: all statements of pgbench"
all_of postgresql.bt
is "$(python3 -c 'import json, sys
capture = {}
for o in map(json.loads, open(sys.argv[1])):
    if "fields" in o:
        capture.setdefault("backend %d" % o["pid"], []).append((o["fields"]["said"], o["fields"]["took"]))
tracks, drawn = {}, {}
for e in json.load(open(sys.argv[2]))["traceEvents"]:
    if e["ph"] == "M":
        tracks[e["tid"]] = e["args"]["name"]
    elif e["ph"] == "X":
        drawn.setdefault(tracks[e["tid"]], []).append((e["name"], round(e["dur"])))
print(capture == drawn)' "$tmp/postgresql.bt.json" "$tmp/postgresql.bt.timeline")" True "postgresql.bt: each statement on its backend's track, as long as it took"

for home in /usr/lib/jvm/*; do
	[ -x "$home/bin/javac" ] && readelf -n "$home/lib/server/libjvm.so" 2>/dev/null | grep -q 'Provider: hotspot' && break
done
cat >"$tmp/Collect.java" <<'END'
public class Collect {
	public static void main(String[] args) throws Exception {
		java.util.List<byte[]> kept = new java.util.ArrayList<>();
		System.in.read();
		for (int i = 0; i < 40; i++) {
			kept.clear();
			for (int n = 0; n < 50; n++)
				kept.add(new byte[100000]);
			System.gc();
		}
		System.out.println("done");
	}
}
END
if "$home/bin/javac" -J-XX:-UsePerfData -d "$tmp" "$tmp/Collect.java" 2>/dev/null; then
	live_start "$home/bin/java" -XX:-UsePerfData -XX:+UseSerialGC -Xmx64m -cp "$tmp" Collect
	live_trace -s -f json $live_pid java.bt
	echo >&8
	wait_for grep -q 'done' "$tmp/answers"
	exec 8>&-
	live_wait
	all_of java.bt
	is "$(python3 -c 'import json, sys
print(sum(e["ph"] == "X" and e["name"].startswith("collection, full: 1") for e in json.load(open(sys.argv[1]))["traceEvents"]))' "$tmp/java.bt.timeline")" \
		40 "java.bt: each full collection that the program asked for is a slice"
else
	skip "java.bt" "no Java with a compiler and probes"
fi

cat >"$tmp/wait.c" <<'END'
#include <stdio.h>
#include <unistd.h>
__attribute__((noinline)) static void rest(int us) { usleep(us); __asm__ volatile(""); }
int main(void)
{
	getchar();
	for (int i = 0; i < 30; i++)
		rest(2000);
	puts("done");
	fflush(stdout);
	getchar();
	getchar();
}
END
gcc -O0 -g -fno-omit-frame-pointer -o "$tmp/waits" "$tmp/wait.c"
live_start "$tmp/waits"
live_trace -s -f json -D WAITS -D MIN_US=1500 $live_pid offcpu.bt
echo >&8
wait_for grep -q 'done' "$tmp/answers"
live_wait INT
exec 8>&-
all_of offcpu.bt
"$btgen" convert -f folded "$tmp/offcpu.bt.json" >"$tmp/folded"
like "$(cat "$tmp/folded")" '^waits;.*;main;.*nanosleep [0-9]{5,}$' "offcpu.bt: stacks, in microseconds" # the C library has no frame pointers
is "$(python3 -c 'import json, sys
print(sum(e["ph"] == "X" and e["cat"] == "slice" and e["dur"] >= 2000 for e in json.load(open(sys.argv[1]))["traceEvents"]) >= 30)' "$tmp/offcpu.bt.timeline")" \
	True "offcpu.bt: each rest is a slice"
done_testing
