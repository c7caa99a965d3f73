#!/usr/bin/env bash
# -f perfetto and -f folded: what a timeline says lasted so long did so by the program's own log.
. "$(dirname "$0")/../lib.sh"
. "$top/tests/live.sh"
can_trace || skip_all "needs root and bpftrace"

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
	live_trace $live_pid "$@" && echo >&8 && wait_for 20 grep -q 'done' "$tmp/answers"
	live_wait INT
	exec 8>&-
	wait "$live_pid"
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
for how in folded perfetto; do
	"$live_sh" -f $how --follow $$ nvmf.bt 2>"$tmp/messages"
	is "$? $(grep -c -- "-f $how shows one" "$tmp/messages")" "2 1" "-f $how is for one trace"
done
done_testing
