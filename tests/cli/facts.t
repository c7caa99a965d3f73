#!/usr/bin/env bash
# bpftrace.sh --facts: what bpftrace is and may do here, beside what the kernel, bpftrace and readelf report.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

# facts EXPRESSION OPTION...: of x, what --facts prints
facts() {
	"$btgen" run --facts "${@:2}" | python3 -c 'import json, sys; x = json.load(sys.stdin); print(eval(sys.argv[1], {"x": x}))' "$1"
}
for v in 0.14.1 0.17.0 0.23.2 0.27.1 0.31.0; do
	printf '#!/bin/sh\necho "bpftrace v%s"\n' $v >"$tmp/$v"
	chmod 755 "$tmp/$v"
done
is "$(for v in 0.14.1 0.17.0 0.23.2 0.27.1 0.31.0; do facts '[x["bpftrace"][n] for n in ("version", "is_too_old", "is_newer")], x["bpftrace"]["path"]' --bpftrace "$tmp/$v"; done)" \
	"(['0.14', True, False], '$tmp/0.14.1')
(['0.17', False, False], '$tmp/0.17.0')
(['0.23', False, False], '$tmp/0.23.2')
(['0.27', False, False], '$tmp/0.27.1')
(['0.31', False, True], '$tmp/0.31.0')" "the version is what bpftrace prints"
is "$(facts 'x["bpftrace"]["version"], x["bpftrace"]["status"], x["obstacle"]' --bpftrace "$tmp/none")" \
	"(None, 127, 'bpftrace not found at $tmp/none: install it with your package manager, or give its path with --bpftrace PATH')" "no bpftrace is an obstacle"
is "$(facts 'len(x["rights"]["has"]) > 0, x["rights"]["user"]')" "$(python3 - <<'END'
import re
status = open("/proc/self/status").read()
named = sum(1 << bit for bit in (1, 2, 5, 14, 19, 21, 24, 38, 39))
root = re.search(r"Uid:\t\d+\t(\d+)", status)[1] == "0"
print((int(re.search("CapBnd:\t(.*)" if root else "CapAmb:\t(.*)", status)[1], 16) & named != 0, int(re.search(r"Uid:\t\d+\t(\d+)", status)[1])))
END
)" "the rights are those that the kernel gives a program that is run"
mkdir -p "$tmp/m/proc/self"
printf 'Uid:\t0\t0\t0\t0\nCapBnd:\t00000000a80425fb\nCapAmb:\t0000000000000000\n' >"$tmp/m/proc/self/status"
is "$("$btgen" run --facts="$tmp/m" --bpftrace "$tmp/0.27.1" | python3 -c 'import json, sys; x = json.load(sys.stdin); print(x["rights"]["has"], x["rights"]["missing"], x["obstacle"])')" \
	"['CAP_DAC_OVERRIDE', 'CAP_KILL'] ['CAP_BPF', 'CAP_PERFMON'] root lacks CAP_BPF and CAP_PERFMON here, which tracing needs" "of another /proc its own"
is "$(facts '[d["remedy"] for d in x["defects"]]' --bpftrace "$tmp/0.23.2")" "['use clear(), or install 0.24 or newer', 'install 0.24 or newer']" "defects are those of the version"

printf '#include <btgen/usdt.h>\n#include <unistd.h>\nint main(int n, char **v) { for (;;) { USDT_PROBE(app, hit, n); pause(); } return !v; }\n' >"$tmp/app.c"
gcc -g -I"$top/include" -o "$tmp/app" "$tmp/app.c" || exit 1
"$tmp/app" &
pid=$!
own $pid
wait_for test "/proc/$pid/exe" -ef "$tmp/app"
is "$(facts 'x["process"]["path"], x["process"]["own_pid"], x["process"]["files"][0]["probes"], x["process"]["files"][0]["debuginfo"]["is_own"], x["process"]["messages"]' $pid)" \
	"('$tmp/app', $pid, 1, True, [])" "of a process: its file, probes and debug information"
is "$(facts 'len([f for f in x["process"]["files"] if f["is_open"]])' $pid)" \
	"$(awk '$2 ~ /x/ && $6 ~ /^\// && !seen[$6]++ { n++ } END { print n }' "/proc/$pid/maps")" "... and all that it has mapped to run"
is "$(facts 'x["process"]["messages"][0]["text"], "path" in x["process"]' 1000000000)" "('no process has PID 1000000000', False)" "a process that is not there"
is "$("$btgen" run --facts $pid a.bt 2>&1 | head -n 1)" "btgen run: --facts takes one PID at most" "no script"
done_testing
