#!/usr/bin/env bash
# The scripts in bpf/: each has a page, a test and a sample that looks like what it prints; the list is up to date.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
sh=$top/scripts/bpftrace.sh

is "$(cat "$top/bpf/README.md")" "$("$top/tests/bpf-readme.sh")" "bpf/README.md is what tests/bpf-readme.sh makes of the headers"

scripts=$(cd "$top/bpf" && grep -l '^ \* TRACES' ./*.bt | sed 's|^\./||; s/\.bt$//' | LC_ALL=C sort)
is "$("$sh" -L | sed 's/ .*//')" "$scripts" "bpftrace.sh -L lists every script"
not_ok "with its purpose" sh -c "'$sh' -L | grep -qvE '^[a-z_-]+ +[^ ].{10,}'"

cat >"$tmp/shape.py" <<'END'
"""Complains about lines of a script's sample that no printf and no map of the script can have printed."""
import re
import sys

text = open(sys.argv[1], encoding="utf-8").read()
header, body = text.split("*/", 1)
formats = []
for found in re.finditer(r'printf\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+)', body):
    for line in "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', found.group(1))).replace('\\"', '"').split("\\n"):
        formats.append("".join(part if part.startswith("(?:") else re.escape(part)
                               for part in re.split(r"(\(\?:.*?\))", re.sub(
                                   r"%%|%[-0-9.]*l*[a-z]",
                                   lambda m: "(?:%)" if m.group() == "%%" else
                                   "(?:.*)" if m.group()[-1] in "sr" else "(?:-?[0-9a-fx]+)", line))))
prints = re.compile("|".join("(?:%s)" % f for f in formats if f) or "$^")
maps = set(re.findall(r"@(\w+)", body))

inside = key = False
for line in header.splitlines():
    line = re.sub(r"^ \* ?", "", line)
    if re.match(r"[A-Z]", line):
        inside = line.startswith("SAMPLE OUTPUT")
        continue
    line = line.strip()
    if not inside or line in ("", "...", "]: 1"):
        continue
    entry = re.match(r"@(\w+)(\[.*\])?(, *$|:)|@(\w+)\[", line)
    if entry:
        name = entry.group(1) or entry.group(4)
        key = "]:" not in line and ": " not in line and not line.endswith(":")
        if name not in maps:
            print("no map of the script:", line)
    elif line.startswith("]:"):
        key = False
    elif not key and not re.match(r"[\[(].*\|$", line) and not prints.search(line):
        print("not printed by the script:", line)
END

for name in $scripts; do
	file=$top/bpf/$name.bt
	is "$(sed -n '1,/\*\//{s/^ \* \([A-Z][A-Z]*\( OUTPUT\)\?\)\( (.*)\)\?$/\1/p}' "$file" |
		grep -xE 'TRACES|USAGE|SAMPLE OUTPUT|OVERHEAD|CAVEATS' | uniq | tr '\n' ' ')" \
		"TRACES USAGE SAMPLE OUTPUT OVERHEAD CAVEATS " "$name: its page has all sections, in order"
	case $name in
	nvme-latency) ;; # its sample is percentiles.py's output
	*) is "$(python3 "$tmp/shape.py" "$file" 2>&1)" "" "$name: its sample looks like what it prints" ;;
	esac
	ok "$name: a test compares its sample with what it printed" \
		grep -rqE "^[[:space:]]*is_sample[ (]['\"]?$name\.bt" "$top/tests/live" "$top/tests/vm"
	ok "$name: what an event costs is measured" grep -q "^row_$name() {$" "$top/tests/bench/overhead.sh"
	ok "$name: its page says how" grep -q "BENCH=$name make bench-scripts" "$file"
	page=$("$sh" -h "$name")
	missing=
	while read -r option; do
		grep -q -- "-D $option " <<<"$page" || missing+=" $option"
	done < <(sed -n 's/^#pragma option \([A-Za-z_0-9]*\) .*/\1/p' "$file")
	is "$missing" "" "$name: its page has its options"
	like "$page" '^  (usdt|uprobe|uretprobe|tracepoint|profile|interval):' "$name: and its probes"
done
is "$("$sh" -L | cut -c 17 | uniq)" " " "-L has columns, too"
for name in nvmf-timeout nvmf_timeout send-msg syscall_latency postgresql_waits.bt; do
	is "$("$sh" -h $name 2>&1 | head -n 1 | sed 's/ - .*//')" \
		"$(tr _ - <<<"${name%.bt}" | sed 's/nvmf-timeout/nvmf_timeout/; s/send-msg/send_msg/').bt" \
		"-h $name: - and _ are alike in a script's name"
	like "$("$btgen" run -n $name 2>&1)" 'btgen: error: .* needs a process' "and to run it"
done
like "$("$btgen" run -n nvme_trace.bt 2>&1)" '^tracepoint:nvme:' "a script that was renamed runs by its old name"
mkdir "$tmp/planted"
for tool in awk bash btgen cat dirname env readlink sort; do
	printf '#!/bin/sh\ntouch "%s/ran"\n' "$tmp" >"$tmp/planted/$tool"
	chmod +x "$tmp/planted/$tool"
done
(cd "$tmp/planted" && for arg in -L -h '-h nvmf' --version; do
	# shellcheck disable=SC2086
	PATH=.:$PATH "$sh" $arg || echo $?
done) >"$tmp/out" 2>&1
is "$(ls "$tmp/ran" 2>&1; grep -cE '^[0-9]+$' "$tmp/out")" "ls: cannot access '$tmp/ran': No such file or directory
0" "with the current folder in PATH nothing of it is run"
"$sh" -h no_such >"$tmp/out" 2>&1
is "$? $(cat "$tmp/out")" "1 btgen: error: no script 'no_such' here, nor in $top/bpf" "a script that is not there"
like "$("$sh" -h)" '^Usage: bpftrace.sh' "-h alone is the help"

done_testing
