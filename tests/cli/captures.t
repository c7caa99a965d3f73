#!/usr/bin/env bash
# What reads captures: from pipes, compressed, with values that no trace writes. One line says what is wrong, never a traceback.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$tmp" || exit
percentiles=$top/scripts/percentiles.py qpair=$top/scripts/qpair-lifetime pcp=$top/scripts/pcp-bpftrace.py
report() { guard "$top/scripts/btgen-report" "$@" 2>&1; }

python3 - <<'END' >capture.json
import json
print(json.dumps(dict(capture=dict(host="h", boot_id="0", monotonic=10**12, wall="2026-01-31T12:00:00.000000000+01:00", synchronized=True,
      version="0", script="x.bt", tracks=[dict(probe="a:b", by="{pid}", kind="slice", name="{text}", lasting="took", unit="us")]))))
for i in range(40):
    print(json.dumps(dict(time="2026-01-31T12:00:01.%09d+01:00" % (i * 1000), cpu=0, pid=1, tid=1, comm="x", probe="a:b", text="t", fields=dict(took=3))))
END
gzip -k capture.json
printf '\x28\xb5\x2f\xfd then more' >capture.zst
printf '\xfd7zXZ\0 then more' >capture.xz

# --- compressed
is "$("$btgen" convert -f perfetto capture.json.gz 2>&1)" "capture.json.gz: error: is compressed with gzip: unpack it first, or use zcat FILE | btgen convert -f FORMAT -" \
	"convert names what compressed a capture, and what unpacks it"
is "$("$btgen" convert -f perfetto capture.zst 2>&1; "$btgen" convert -f perfetto - <capture.xz 2>&1)" "capture.zst: error: is compressed with zstd: unpack it first, or use zstdcat FILE | btgen convert -f FORMAT -
standard input: error: is compressed with xz: unpack it first, or use xzcat FILE | btgen convert -f FORMAT -" "... zstd and xz, from a pipe, too"
is "$("$percentiles" <capture.json.gz 2>&1; echo $?)" "percentiles.py: error: standard input is compressed with gzip: use zcat FILE | percentiles.py
1" "percentiles.py, too"
is "$("$qpair" capture.zst 2>&1; echo $?)" "qpair-lifetime: error: capture.zst is compressed with zstd: unpack it first, or give <(zstdcat FILE)
1" "qpair-lifetime, too"

# --- the version of the format: one that is newer is refused in words, one without a number is the first
is "$(sed -n 's/^#define CAPTURE_SCHEMA //p' "$top/gen/convert/convert.h"; sed -n 's/^SCHEMA = \([0-9]*\).*/\1/p' "$top/scripts/python/capture.py" \
	"$top/scripts/babeltrace/bt_plugin_btgen.py"; jq '."$defs".capture.properties.capture.properties.schema.const' "$top/docs/records.schema.json")" \
	"$(printf '1\n%.0s' 1 2 3 4)" "what writes captures, what reads them and their schema have one number"
for schema in 2 1e9 '"1"' 0 -1 1.5 true null '[]' 99999999999999999999999; do
	sed "1s/{\"capture\": {/&\"schema\": $schema, /; 1s/\"version\": \"0\"/\"version\": \"9.4\"/" capture.json >newer.json
	why="newer.json:1: error: the capture has schema $schema, and this btgen reads up to 1: use btgen 9.4 or newer"
	for format in perfetto otlp folded; do
		echo before >kept
		is "$("$btgen" convert -f $format -o kept newer.json 2>&1; echo $? "$(cat kept)")" "$why
1 before" "convert -f $format refuses schema $schema and writes nothing"
	done
	is "$(report -o kept newer.json; echo $? "$(cat kept)")" "$why
1 before" "so does btgen-report"
done
cat capture.json newer.json >both.json
is "$("$btgen" convert -f perfetto both.json 2>&1 >/dev/null; echo $?)" "both.json:42: error: the capture has schema 99999999999999999999999, and this btgen reads up to 1: use btgen 9.4 or newer
1" "a newer one behind an older one is refused at its line"
is "$(report -o page.html capture.json newer.json; echo $?)" "newer.json:1: error: the capture has schema 99999999999999999999999, and this btgen reads up to 1: use btgen 9.4 or newer
1" "... and one of two that are compared"
sed '1s/{"capture": {/&"schema": 1, "member": ["of", "later"], /' capture.json >numbered.json
is "$("$btgen" convert -f perfetto numbered.json | cksum)" "$("$btgen" convert -f perfetto capture.json | cksum)" \
	"a capture without a number is read as one of version 1, and a member that nobody knows is none of its business"

# --- numbers and texts that no trace writes
nines=$(printf '%05000d' 0 | tr 0 9)
is "$(printf '%s\n' "@us_buckets[1, 4, 8]: 0" "@us_buckets[1, 4, 8]: $nines" "@us_stats[1]: count $nines, average 4" | "$percentiles" 2>&1 | cut -c1-30; echo "${PIPESTATUS[1]}")" \
	"@us_buckets[1, 4, 8]: 0
@us_buckets[1, 4, 8]: 99999999
@us_stats[1]: count 9999999999
0" "percentiles.py: a bucket of no value, or with a number beyond 64 bits, is a line"
printf '%s add qpair=0x10 qid=1\n' "$nines" 7 >events
is "$("$qpair" events 2>&1; echo $?)" "from 0 to - lasted -: qpair 0x10 qid 1
0" "qpair-lifetime: a number beyond 64 bits is no time"
for hz in nan -1 0 inf; do
	is "$("$qpair" --hz=$hz events 2>&1 | tail -n 1; echo "${PIPESTATUS[0]}")" "qpair-lifetime: error: --hz: give a number above 0
2" "--hz $hz is refused"
done
yes '9 add qpair=0x10 qid=1' | head -n 100000 >many
is "$("$qpair" events many 2>&1 | head -n 1 | cut -c1-5)" "9 add" "qpair-lifetime | head says nothing"
cat >fake <<'END'
#!/bin/sh
case $1 in --version) echo bpftrace v0.23.2; exit ;; esac
cat >/dev/null
python3 -c 'print("{\"type\": \"map\", \"data\": {\"@a\": " + "[" * 3000 + "]" * 3000 + "}}")'
echo '{"type": "map", "data": {"@b": 3}}'
END
chmod +x fake
export BPFTRACE=$tmp/fake
is "$(echo '// btgen {"version": "0.23", "by_number": false}' | "$pcp" -f json - 2>&1; echo $?)" '{"type": "map", "data": {"@b": 3}}
0' "pcp-bpftrace.py: what is nested too deep is dropped"
is "$(echo '// btgen {"schema": 2, "version": "0.23", "by_number": false}' | "$pcp" -f json - 2>&1; echo $?)" "error: this script is of a newer btgen: install its pcp-bpftrace.py
1" "... and a script of a newer btgen is refused"
for wrong in '{"version": 3}' '{}' '{"version": "0.23"}' '{"version": "0.23", "by_number": false, "BPFTRACE_STRLEN": "x"}' '{"file": "/bin/sh", "offset": "x", "version": "0.23"}' '{,}'; do
	like "$(echo "// btgen $wrong" | "$pcp" -f json - 2>&1 | paste -sd' '; echo "${PIPESTATUS[1]}") " "^error: the line // btgen of the script is wrong: .*: write it again with btgen bundle --pcp" "a condition that btgen never writes: $wrong"
done
is "$("$pcp" --check none 2>&1; echo $?)" "error: [Errno 2] No such file or directory: 'none'
1" "a file that is not there"
unset BPFTRACE

slices() { grep -o 'and 39 more like it' "$1"; }
is "$(report capture.json -o file.html)" "btgen-report: file.html: 40 events, $(du -b file.html | awk '{ printf "%.1f", $1 / 1e6 }') MB" "a report of a file"
whole() { sed 's/capture\.json\|standard input\|63\|fifo//g; s/nonce[^>]*//g' "$1" | wc -c; }
report -o pipe.html - < <(cat capture.json) >/dev/null
report -o fd.html <(cat capture.json) >/dev/null
mkfifo fifo
cat capture.json >fifo &
report -o fifo.html fifo >/dev/null
for page in pipe fd fifo; do
	is "$(slices $page.html)" "and 39 more like it" "a report of a $page has the timeline that one of a file has"
	ok "... in about the same size" test $(($(whole $page.html) - $(whole file.html))) -lt 200 -a $(($(whole $page.html) - $(whole file.html))) -gt -200
done
is "$(report - <capture.json; echo $?)" "btgen-report: error: standard input is no file that a page can be named after: give -o FILE
1" "a page of a pipe needs a name"
is "$(report capture.json.gz; echo $?)" "btgen-report: error: capture.json.gz is compressed with gzip: unpack it first, or use zcat FILE | btgen-report -o PAGE.html -
1" "a compressed capture is named as such"
not_ok "... and makes no page" test -e capture.json.gz.html
is "$(ls -d "${TMPDIR:-/tmp}"/btgen-report-* 2>/dev/null)" "" "no copy is left"

# bad NAME LINE: a capture with that line more makes a page, or one line of error
bad() {
	{ cat capture.json; printf '%b\n' "$2"; } >bad.json
	out=$(report bad.json -o bad.html)
	rc=$?
	ok "$1: one line, status $rc" test "$(grep -vc '^bad.json: warning' <<<"$out")" = 1 -a $rc -le 1
	case $out in *Traceback*) echo "$out" | tail -n 5 | sed 's/^/# /' ;; esac
}
stacks='"entries": [{"key": ["app", ["f", "g"]], "value": 9}]}'
bad "a map name with NUL" "{\"map\": \"@a\\\\u0000b\", $stacks"
bad "a map name with half a surrogate" "{\"map\": \"@a\\\\ud800b\", $stacks"
bad "a map name of 200 kB" "{\"map\": \"@$(printf '%0200000d' 0)\", $stacks"
bad "a cost of 401 digits" "{\"cost\": {\"seconds\": 1, \"percent\": 1$(printf '%0400d' 0), \"probes\": []}}"
bad "a cost of 5,000 digits" "{\"cost\": {\"seconds\": 1, \"percent\": $nines, \"probes\": []}}"
bad "a count beyond all" "{\"map\": \"@h\", \"entries\": [{\"histogram\": [{\"min\": 0, \"max\": 1, \"count\": 1e999}]}]}"
bad "a program without a PID" "{\"program\": \"svc\", \"pid\": null, \"build\": null}"
bad "a program without anything" "{\"program\": null}"
is "$(report /proc/self/mem -o bad.html; echo $?)" "btgen-report: error: /proc/self/mem: Input/output error
1" "a file that cannot be read"
is "$(report . -o bad.html; echo $?)" "btgen-report: error: .: Is a directory
1" "a directory"
done_testing
