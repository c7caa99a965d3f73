#!/usr/bin/env bash
# Captures as traces of babeltrace2: each record is an event, hosts and captures are merged in the order in which things
# happened, CTF that other readers read, and nothing that a program or a file contains ends it or is more than text.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
export live_partly=yes
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"
export PYTHONDONTWRITEBYTECODE=1 TZ=UTC BABELTRACE_PLUGIN_PATH=$top/scripts/babeltrace
# The python inside of babeltrace2 is the one that it was built with, but looks for its modules beside the first in PATH.
babeltrace2() { PATH=/usr/bin:$PATH guard babeltrace2 "$@"; }
babeltrace2 list-plugins 2>/dev/null | grep -q source.btgen.json ||
	skip_all "needs babeltrace2 and its plugins in Python: scripts/pkgdep.sh --fleet installs them"

# bt ARG...: what babeltrace2 prints in $tmp/out, what it says in $tmp/err
bt() { babeltrace2 "$@" >"$tmp/out" 2>"$tmp/err"; }
# texts FILE: those of the events that babeltrace2 printed
texts() { sed -E 's/.*\{ text = "([^"]*)".*/\1/' "$1"; }
# events FILE: how many it has by jq
events() { jq -c 'select(.time)' "$1" | wc -l; }
# record TIME FIELDS [TEXT] [PROBE]
record() {
	printf '{"time": "2026-01-31T12:00:%s+01:00", "cpu": 3, "pid": 42, "tid": 43, "comm": "app", "probe": "%s", "text": "%s", "fields": %s}\n' \
		"$1" "${4-app:ev}" "${3-}" "$2"
}
# capture HOST BOOT MONOTONIC WALL [SYNCHRONIZED]
capture() {
	printf '{"capture": {"host": "%s", "boot_id": "%s", "monotonic": %s, "wall": "2026-01-31T12:%s+01:00", "synchronized": %s}}\n' \
		"$1" "$2" "$3" "$4" "${5-true}"
}

# Values, in files of our own
seconds=0
for value in 1 -1 '"18446744073709551615"' '"-9223372036854775808"' '"340282366920938463463374607431768211455"' 1.5 true null '"x"' '""' '"inf"' \
	'{"name": "ACTIVE", "value": 2}' '{"name": null, "value": 7}' '{"text": "a\ufffd", "hex": "61ff"}' '[1, 2]' '[1, "x"]' '[]' '[[1], [2]]' \
	'["f+0x10", "main"]' '{"id": 1, "pos": [1, 2], "...": true}' '[{"a": [{"b": 1}]}]' '{}' '"a\u0000b"' '"\ud800"' '"é"' \
	'"</script>\u001b[31m\\\"%s\n"'; do
	record "$(printf '%02d.000000000' $seconds)" "{\"v\": $value}"
	seconds=$((seconds + 1))
done >"$tmp/values.json"
record 30.000000000 '{"$us / (uint64)1000000": 1, "$us % (uint64)1000000": 2, "struct": 3, "7": 4, "": 5, "a b": 6, "a_b": 7, "é": 8, "pid": 9}' >>"$tmp/values.json"
record 31.000000000 '{"a": ""}' 'm' 'usdt:/x\u001b[31m\"\n:y' | sed 's/"fields"/"cut": ["a"], "late": true, "comm": {"text": "\\ufffd", "hex": "ff"}, "fields"/' >>"$tmp/values.json"
jq -cn '{map: "@n", entries: [{key: ["READ"], value: 3}], time: "2026-01-31T12:00:32.000000000+01:00", cpu: 0, pid: 1, tid: 1, comm: "app", probe: "interval:s:1"}' >>"$tmp/values.json"

ok "values of all kinds are printed, whatever the type of a field was in the record before" bt "$tmp/values.json"
is "$(sed 's/.*}, //' "$tmp/out")" '{ v = 1 }
{ v = -1 }
{ v = 18446744073709551615 }
{ v = -9223372036854775808 }
{ v = "340282366920938463463374607431768211455" }
{ v = 1.5 }
{ v = true }
{ v = ( "null" : container = 0 ) }
{ v = "x" }
{ v = "" }
{ v = "inf" }
{ v = { name = "ACTIVE", value = 2 } }
{ v = { name = ( "null" : container = 0 ), value = 7 } }
{ v = { text = "a'$'\xef\xbf\xbd''", hex = "61ff" } }
{ v = [ [0] = 1, [1] = 2 ] }
{ v = "[1, \"x\"]" }
{ v = [ ] }
{ v = "[[1], [2]]" }
{ v = [ [0] = "f+0x10", [1] = "main" ] }
{ v = { id = 1, pos = [ [0] = 1, [1] = 2 ], incomplete = true } }
{ v = [ [0] = { a = [ [0] = { b = 1 } ] } ] }
{ v = { } }
{ v = "a␀b" }
{ v = "\?" }
{ v = "é" }
{ v = "</script>\e[31m\\\"%s\n" }
{ us_uint64_1000000 = 1, us_uint64_1000000_2 = 2, struct = 3, n7 = 4, field = 5, a_b = 6, a_b_2 = 7, field_2 = 8, pid = 9 }
{ a = "" }
{ entries = [ [0] = { key = [ [0] = "READ" ], value = 3 } ] }' "... as numbers, strings, structs and arrays; what cannot be one of these as JSON"
like "$(cat "$tmp/out")" '^\[11:00:00.000000000\] .* values app:ev: \{ host = "values", cpu = 3, pid = 42, tid = 43, comm = "app" \}' \
	"an event has the time, the probe, and where it was; without a line about the capture the host is called as the file"
like "$(cat "$tmp/out")" 'usdt:/x\\x1b\[31m"\\x0a:y: .*\{ text = "m", cut = "a" \}' "the name of a probe is text, and strings that were cut are named"
like "$(cat "$tmp/out")" ' @n: .*\{ probe = "interval:s:1" \}' "a map with a time is an event"
unlike "$(cat "$tmp/out" "$tmp/err")" $'\x1b' "no escape sequence gets to the terminal"

# ctf FOLDER FILE...: written; what babeltrace2 prints of the folder, without the lengths that CTF stores and with its bools
ctf() {
	rm -rf "$1"
	babeltrace2 "${@:2}" -o ctf -w "$1" >/dev/null 2>"$tmp/err" || return
	bt "$1" && sed -E -i 's/__\w+_len = [0-9]+, //g' "$tmp/out"
}
sed -E 's/\btrue\b/1/' "$tmp/out" >"$tmp/direct"
ok "the same is written as CTF" ctf "$tmp/ctf" "$tmp/values.json"
is "$(cat "$tmp/out")" "$(cat "$tmp/direct")" "... and read back"
if command -v babeltrace >/dev/null; then
	is "$(babeltrace "$tmp/ctf" 2>/dev/null | grep -c '^\[')" "$(wc -l <"$tmp/direct")" "Babeltrace 1, another reader, reads as many events"
else
	skip "another reader of CTF" "no babeltrace"
fi
gzip -k "$tmp/values.json"
bt "$tmp/values.json.gz"
is "$(sed -E 's/\btrue\b/1/' "$tmp/out")" "$(cat "$tmp/direct")" "a file may be compressed"
for i in $(seq 100); do record 00.000000000 "{\"f$i\": 1}"; done >"$tmp/shapes.json"
bt "$tmp/shapes.json"
is "$(grep -c '{ f[0-9]* = 1 }' "$tmp/out") $(tail -n 1 "$tmp/out" | sed 's/.*}, //')" '64 { fields = "{\"f100\": 1}" }' \
	"after 64 kinds of records of one probe the others have their fields in one string"
bt --begin='2026-01-31 11:00:10' --end='2026-01-31 11:00:19' "$tmp/values.json"
is "$(wc -l <"$tmp/out")" 10 "--begin and --end"
bt "$tmp/values.json" -c sink.utils.counter
like "$(cat "$tmp/out")" ' 29 Event messages' "sink.utils.counter"

# Lines that are no events
{
	cat "$tmp/values.json"
	printf '%s\n' '{"time": "2026-01-31T12:0' '[1]' '"x"' '{"time": "9999-01-01T00:00:00.000000000+00:00", "cpu": 0, "pid": 1, "tid": 1, "comm": "", "probe": "p", "text": ""}' \
		"$(printf '{"a":%.0s' $(seq 3000))" $'\xff\xfe' '{"time": "2026-01-31T12:00:33.000000000+01:00", "cpu": 0, "pid": 1e400, "tid": 1, "comm": "", "probe": "p", "text": ""}' \
		'{"map": "@end", "entries": []}' '{"text": "Linux"}' '{"program": "x", "pid": 1, "build": null}' '{"lost": {"total": 12, "app:ev": 12}}' '{"time": "2026'
} >"$tmp/corrupt.json"
ok "corrupt lines do not end it" ctf "$tmp/ctf" "$tmp/corrupt.json"
is "$(sed 's/corrupt/values/g' "$tmp/out")" "$(cat "$tmp/direct")" "... and take no event with them"
like "$(cat "$tmp/err")" 'discarded 12 events between \[11:00:00.000000000\] and \[11:00:32.000000000\]' "lost records are discarded events, in CTF too"
bt "$tmp/corrupt.json"
is "$(grep '^btgen' "$tmp/err" | sed "s|$tmp/||")" "btgen: corrupt.json: records were lost: {\"total\": 12, \"app:ev\": 12}
btgen: corrupt.json: no events, as they have no time: 1 lines of kind 'map'
btgen: corrupt.json: no events, as they have no time: 1 lines of kind 'text'
btgen: corrupt.json: skipped as corrupt: 8 lines, the first is line 30" "it says what became of the lines that are no events"

# Clocks: one capture, whose records are dealt to several captures with other clocks
for i in $(seq 10 29); do record "$i.000000000" '{}' "$i"; done >"$tmp/all.json"
# shifted SECONDS: records as a clock that is so far ahead has them
shifted() { python3 -c '
import json, sys
for line in sys.stdin:
    r = json.loads(line)
    r["time"] = r["time"][:17] + "%02d" % (int(r["time"][17:19]) + int(sys.argv[1])) + r["time"][19:]
    print(json.dumps(r))' "$1"; }
{ capture exact b0 1000000000000 00:00.000000000; sed -n 'p;n' "$tmp/all.json"; } >"$tmp/exact.json"
{ capture 10.0.0.2 b2 '"9007199254740993000"' 00:00.000000000 false; sed -n 'n;p' "$tmp/all.json" | shifted 3; } >"$tmp/ahead.json"
bt "$tmp/exact.json" "$tmp/ahead.json"
like "$(cat "$tmp/err")" 'clock of 10.0.0.2 was not synchronized: .*offsets=\["10.0.0.2=SECONDS"\]' "it says whose clock cannot be relied on"
is "$(texts "$tmp/out" | head -n 2 | xargs)" "10 12" "two hosts are merged by their clocks, though one is 3 s ahead"
bt "$tmp/exact.json" "$tmp/ahead.json" --params='offsets=["10.0.0.2=-3"]'
is "$(texts "$tmp/out")" "$(seq 10 29)" "with the offset of that host they are in true order"
is "$(sed -E 's/.*\] \(([^)]*)\).*/\1/' "$tmp/out" | sort | uniq -c | xargs)" "19 +1.000000000 1 +?.?????????" "... and as far apart as they were"
ok "it is written as a trace of each host" ctf "$tmp/ctf" "$tmp/exact.json" "$tmp/ahead.json" --params='offsets=["10.0.0.2=-3"]'
is "$(ls "$tmp/ctf"; texts "$tmp/out")" "10.0.0.2
exact
$(seq 10 29)" "... named after it"
not_ok "an offset of a host that no capture is of is an error" bt "$tmp/exact.json" --params='offsets=["other=1"]'
like "$(cat "$tmp/err")" '^btgen: error: offsets: no capture is of host other, but of exact' "... that says whose captures these are"

# The wall clock is set back by 10 s between two captures of one boot
{ capture h b1 '"1000000000000"' 00:00.000000000; sed -n '1,10p' "$tmp/all.json" | shifted 10; } >"$tmp/first.json"
{ capture h b1 1010000000000 00:00.000000000; sed -n '11,20p' "$tmp/all.json"; } >"$tmp/second.json"
bt "$tmp/first.json" "$tmp/second.json"
is "$(texts "$tmp/out") $(sed -n '1p;$p' "$tmp/out" | cut -c 1-10 | xargs)" "$(seq 10 29) [11:00:10. [11:00:29." \
	"captures of one boot are merged by the monotonic clock, and have the time of the latest"
like "$(cat "$tmp/err")" 'first.json: the clock of h was set between captures: times are moved by -10.000 s' "... which it says"
cat "$tmp/second.json" "$tmp/first.json" "$tmp/exact.json" >"$tmp/several.json"
bt "$tmp/several.json"
is "$(texts "$tmp/out")" "$( (seq 10 29; seq 10 2 29) | sort -n)" "captures in one file are merged, too"

# Order
{ tac "$tmp/all.json" | head -n 5; head -n 15 "$tmp/all.json"; } >"$tmp/unsorted.json"
not_ok "a file that is far out of order is refused" bt "$tmp/unsorted.json"
like "$(cat "$tmp/err")" '^btgen: error: .*unsorted.json: a record is 19.000 s earlier .*capture with -s.*--params=window=20' "... with what to do"
bt "$tmp/unsorted.json" --params=window=20
is "$(texts "$tmp/out")" "$(seq 10 29)" "and read with a larger window"
{ sed -n 4p "$tmp/all.json"; sed 's/"cpu"/"late": true, "cpu"/' "$tmp/all.json" | sed 4d; } >"$tmp/late.json"
bt "$tmp/late.json"
is "$(texts "$tmp/out")" "$(seq 10 29)" "records that are late by seconds are put where they belong"

not_ok "a pipe, which cannot be read twice, is refused" eval 'bt -c source.btgen.json --params="inputs=[\"/dev/stdin\"]" < <(cat "$tmp/all.json")'
like "$(cat "$tmp/err")" '^btgen: error: /dev/stdin: is no file' "... which it says"
ok "standard input may be a file" eval 'bt -c source.btgen.json --params="inputs=[\"/dev/stdin\"]" <"$tmp/all.json"'
is "$(texts "$tmp/out")" "$(seq 10 29)" "... and is read"

capture newer 0 1 00:00.000000000 | sed 's/"host"/"schema": 2, "version": "9.4", &/' | cat "$tmp/all.json" - "$tmp/all.json" >"$tmp/newer.json"
not_ok "a capture of a newer schema is refused" bt "$tmp/newer.json"
like "$(cat "$tmp/err")" '^btgen: error: [^ ]*/newer.json: the capture has schema 2, and this plugin reads up to 1: use that of btgen 9.4 or newer' "... in words"
sed 's/"schema": 2/"schema": 1/' "$tmp/newer.json" >"$tmp/first.json"
ok "one of the first, with a number, is read beside one without" bt "$tmp/first.json"

# 60 MB of records in 100 MB
python3 -c 'print(("%s\n" % __import__("sys").argv[1]) * 10000, end="")' "$(record 00.000000000 '{}' "$(printf 'x%.0s' $(seq 6000))")" >"$tmp/large.json"
ok "a file is not held in memory" eval '(limit_memory 200000; bt "$tmp/large.json" -c sink.utils.dummy)'
{ record 00.000000000 "{\"s\": \"$(printf 'x%.0s' $(seq 100000))\"}"; record 01.000000000 '{}'; } >"$tmp/long.json"
bt "$tmp/long.json"
is "$(wc -lc <"$tmp/out" | awk '{ print $1, ($2 > 100000) }')" "2 1" "a long string is printed"

# nvmf_tgt
if can_trace && readelf -n "$targets/nvmf_tgt" 2>/dev/null | grep -q 'Provider: spdk'; then
	live_nvmf nvmf_tgt
	ok "a capture of nvmf_tgt" live_tour -s -f json $live_pid nvmf.bt
	mv "$tmp/trace" "$tmp/nvmf.json"
	n=$(events "$tmp/nvmf.json")
	ok "... is written as CTF" ctf "$tmp/ctf" "$tmp/nvmf.json"
	is "$(wc -l <"$tmp/out")" "$n" "as many events are read back as there are records ($n)"
	ok "... more than 50" test "$n" -gt 50
	is "$(texts "$tmp/out")" "$(jq -r 'select(.time).text' "$tmp/nvmf.json")" "... the same ones, in their order"
	is "$(grep -c 'requested_state = { name = "ACTIVE", value = 2 }' "$tmp/out")" \
		"$(jq -c 'select(.fields.requested_state == {name: "ACTIVE", value: 2})' "$tmp/nvmf.json" | wc -l)" "states are there by name and value"
	host=$(jq -r 'select(.capture).capture.host' "$tmp/nvmf.json")
	is "$(ls "$tmp/ctf")" "${host:-nvmf}" "the trace is called after this host"
else
	skip "a capture of nvmf_tgt" "needs root, bpftrace, and a target with probes"
fi
done_testing
