#!/usr/bin/env bash
# docs/fleet.md: its commands for SQLite load captures of several hosts, and its statements say what is in them.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
doc=$top/docs/fleet.md
for tool in jq sqlite3; do
	command -v $tool >/dev/null || skip_all "needs $tool: scripts/pkgdep.sh --fleet installs it"
done
[ "$(sqlite3 :memory: "SELECT '{\"a\": 1}' ->> '\$.a'" 2>&1)" = 1 ] || skip_all "this SQLite is older than 3.38: it has no ->>"

# commands HEADING: those of a section, without what they print
commands() { awk -v heading="## $1" '/^## / { on = $0 == heading } on' "$doc" | sed -n '/^    [┌│├└]/d; s/^    //p'; }
{ sed -n '/^    records()/,/^    }/s/^    //p' "$doc"; commands SQLite | sed 's/sqlite3 -box/sqlite3 -list/'; } >"$tmp/commands"
mkdir "$tmp/captures"
cd "$tmp/captures" || exit

# Changes of state of several objects at a time, on three hosts, one of which has no line about its capture. It prints what the
# statements are to say, and on standard error how many rows each host has, and the times of the first and the last.
cat >"$tmp/make.py" <<'END'
import json
import random
import sys

random.seed(1)
START = "spdk:nvmf_subsystem_change_state"
SECOND = 10**9
NAMES = ["nqn.a", "nqn.'b\"</script>\x1b[31m", {"text": "nqn.\ufffd", "hex": "6e716e2eff"}, "nqn." + "x" * 20000]


def fields(nqn, was, wanted):
    return {"subnqn": nqn, "state": {"name": was, "value": 1}, "requested_state": {"name": wanted, "value": 2}}


for host in "web-1", "web-2", "web-3":
    took, events = {}, []
    for pid in 7, 8:
        for n, nqn in enumerate(NAMES):
            ns = 1 + n * 777 + pid
            for change in range(120 if n == 0 else 33):
                was, wanted = ("INACTIVE", "ACTIVE") if change % 3 else ("ACTIVE", "PAUSED")
                us = random.randrange(1, 100000)
                took.setdefault((was, wanted), []).append(us)
                events.append((ns, pid, START, fields(nqn, was, wanted)))
                events.append((ns + us * 1000, pid, START + "_done", {"subnqn": nqn, "requested_state": {"name": wanted, "value": 2}}))
                ns += us * 1000 + random.randrange(1, SECOND)
    events.append((5 * SECOND, 8, START, fields("nqn.open", "ACTIVE", "INACTIVE")))
    events.sort(key=lambda event: event[0])
    with open(host + ".json", "w") as f:
        if host != "web-3":
            capture = {"host": host, "boot_id": "b", "monotonic": 1, "wall": "2026-01-31T12:00:00.000000000-05:00"}
            print(json.dumps({"capture": capture}), file=f)
        for ns, pid, probe, values in events:
            time = "2026-01-31T12:%02d:%02d.%09d-05:00" % (ns // SECOND // 60, ns // SECOND % 60, ns % SECOND)
            print(json.dumps({"time": time, "cpu": 1, "pid": pid, "tid": pid, "comm": {"text": "\ufffd", "hex": "ff"},
                              "probe": probe, "text": "", "fields": values}), file=f)
        print(json.dumps({"map": "@n", "entries": []}), file=f)
        f.write('{"time": "2026-01-3' if host == "web-2" else "")
    for (was, wanted), us in sorted(took.items()):
        us.sort()
        print(host, was, wanted, len(us), float(us[-(-len(us) * 99 // 100) - 1]), sep="|")
    noon = 1769878800 * SECOND  # date -d 2026-01-31T12:00:00-05:00 +%s
    print(host, len(events), noon + events[0][0], noon + events[-1][0], sep="|", file=sys.stderr)
for host in "web-1", "web-2", "web-3":
    print(host, "nqn.open", "ACTIVE", "INACTIVE", sep="|")
END
python3 "$tmp/make.py" >"$tmp/want" 2>"$tmp/rows"
is "$(grep -hc '"time": .*}$' ./*.json | xargs)" "$(cut -d'|' -f2 "$tmp/rows" | xargs)" "captures of three hosts"

bash -euo pipefail "$tmp/commands" >"$tmp/out" 2>"$tmp/err"
is $? 0 "the commands for SQLite run"
is "$(head -n 9 "$tmp/out" | cut -c -100)" "$(cat "$tmp/want")" "the 99th percentile of each change by host, and the changes that have no end"
is "$(tail -n +10 "$tmp/out" | awk -F'|' '{ n++ } n > 1 && $NF > last { wrong++ } { last = $NF } END { print n, wrong + 0 }')" "10 0" \
	"and the ten longest, the longest first"
is "$(cat "$tmp/err")" '["DEBUG:","web-2.json: skipped a corrupt line"]' "a line that is not whole is reported"
is "$(sqlite3 fleet.db 'SELECT host, count(*), min(ns), max(ns) FROM event GROUP BY host')" "$(cat "$tmp/rows")" \
	"every record is a row, with its host and its time to the nanosecond"
is "$(sqlite3 fleet.db "SELECT DISTINCT comm, fields ->> '\$.subnqn.hex' FROM event WHERE fields LIKE '%hex%'")" $'\xef\xbf\xbd|6e716e2eff' \
	"a string that is not UTF-8 is text, and its bytes are there"
is "$(sqlite3 fleet.db "SELECT DISTINCT hex(object) FROM step WHERE object LIKE '%script%'")" \
	"$(printf 'nqn.'\''b"</script>\033[31m' | od -An -tx1 | tr -d ' \n' | tr a-f A-F)" "other text is what it was"
bash -euo pipefail "$tmp/commands" >/dev/null 2>&1
is "$(sqlite3 fleet.db 'SELECT count(*) FROM event')" "$(awk -F'|' '{ n += $2 } END { print n * 2 }' "$tmp/rows")" "the same command adds to what is there"

done_testing
