#!/usr/bin/env bash
# btgen bundle --pcp, and pcp-bpftrace.py, which Performance Co-Pilot's agent runs in bpftrace's place.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
command -v python3 >/dev/null || skip_all "no python3"
pcp=$top/scripts/pcp-bpftrace.py
export BPFTRACE=$tmp/bpftrace

# The program
cat >"$tmp/all.bt" <<'EOF'
BEGIN
{
	@n = count();
	@names["a"] = count();
	@grows = sum((uint64)3);
	@falls[1] = sum(-1);
	@falls[1] = sum(1);
	@least = min(3);
	@all[pid] = stats(3);
	@took = hist(3);
	@took_by[comm] = hist(3);
	@linear[comm, 1] = lhist(3, 0, 10, 1);
	@steps = lhist(3, 0, 10, 1);
	@own[pid] = count();
	@started[pid] = nsecs;
	printf("%d\n", @own[pid] == 0);
}
END { clear(@own); clear(@started); }
EOF
is "$("$btgen" bundle --pcp --for 0.23 "$tmp/all.bt" 2>&1 | sed '1,/^$/d')" '// btgen {"version": "0.23", "BPFTRACE_MAX_STRLEN": 1024, "by_number": false}
// include: @n,@names,@grows,@falls,@least,@all,@took,@took_by_histogram,@linear_linear,@steps_linear
// custom-output-block
// @n = count()
// @names[key] = count()
// @grows = count()
// @falls[key] = sum()
// @least = min()
// @all[key] = stats()
// @took = hist()
// @took_by_histogram[key] = count()
// @linear_linear[key] = count()
// @steps_linear[key] = count()
interval:s:1 { print(@n); print(@names); print(@grows); print(@falls); print(@least); print(@all); print(@took); print(@took_by); print(@linear); print(@steps); }' \
	"aggregations that END does not clear are metrics; a sum that never falls is a counter"
is "$("$btgen" bundle --pcp -e 'BEGIN { @x[1] = nsecs; @y = count(); } END { clear(@y); }' 2>&1)" \
	"btgen: error: the script has no metrics: use maps of count(), sum(), min(), max(), avg(), stats(), hist() or lhist() that END does not clear" \
	"a script without metrics is refused"
for name in a-b.bt 1.bt x .bt _a.bt; do
	"$btgen" bundle --pcp -e 'BEGIN { @n = count(); }' -o "$tmp/$name" 2>"$tmp/err"
	is "$? $(head -n 1 "$tmp/err")" "2 btgen bundle: -o: the file name becomes the metric name: use letters, digits and _, as in app.bt" "-o $name"
done
ok "-o app_1.bt" "$btgen" bundle --pcp -e 'BEGIN { @n = count(); }' -o "$tmp/app_1.bt"

# The program in front of bpftrace. bpftrace itself is one that says what it is given, and what it is to print.
cat >"$BPFTRACE" <<EOF
#!/bin/sh
[ "\$1" != --version ] || { echo 'bpftrace v0.23.2'; exit; }
echo "\$* strlen=\${BPFTRACE_MAX_STRLEN-}" >"$tmp/given"
cat >"$tmp/program"
cat "$tmp/said"
[ ! -e "$tmp/wait" ] || { trap 'exit 9' INT; echo >"$tmp/waits"; while :; do sleep 0.1; done; }
exit \$(cat "$tmp/rc" 2>/dev/null || echo 0)
EOF
chmod +x "$BPFTRACE"
given() { "$pcp" -f json - <"$1" 2>&1; }
cp "$BPFTRACE" "$tmp/app"
id=$(head -c 8 "$tmp/app" | tail -c 6 | od -A n -t x1 | tr -d ' \n')
header() { printf '// btgen {"version": "%s", "file": "%s", "offset": 2, "build_id": "%s", "BPFTRACE_MAX_STRLEN": 150, "by_number": true}\n' "$@"; }
header 0.23 "$tmp/app" "$id" >"$tmp/good.bt"
printf '// @h_histogram[key] = count()\n// @l_linear[key] = count()\n' >>"$tmp/good.bt"
cat >"$tmp/said" <<'EOF'
{"type": "attached_probes", "data": {"probes": 3}}
{"type": "printf", "data": "hi\n"}
{"type": "time", "data": "12:00"}

{"type": "map", "data": {"@n": {"a b,1": 1, "\u001b[31m\t\u0085": 2, "</script>\"": 3}}}
{"type": "map", "data": {"@n": {"a b": 1, "a\tb": 2}}}
{"type": "map", "data": {"@m": 3}}
{"type": "map", "data": {"@sum": {"z": -4, "y": 4}}}
{"type": "map", "data": {"@sum": -4}}
{"type": "map", "data": {"@big": 18446744073709551615}}
{"type": "map", "data": {"@text": {"a": "word"}}}
{"type": "hist", "data": {"@u": [{"min": 4, "max": 7, "count": 1}]}}
{"type": "hist", "data": {"@h": {"1,x": [{"max": -1, "count": 5}, {"min": 4, "max": 7, "count": 1}, {"min": 8, "count": 2}]}}}
{"type": "hist", "data": {"@l": [{"min": 0, "max": 9, "count": 7}]}}
{"type": "stats", "data": {"@s": {"k": {"count": 1, "average": 4, "total": 4}}}}
{"type": "stats", "data": {"@avg": {"k": 4}}}
{"type": "map", "data":
EOF
printf '{"type": "map", "data": {"@q": {"\xff": 1}}}\n' >>"$tmp/said"
head -c 1000000 /dev/zero | tr '\0' x | sed 's/.*/{"type": "map", "data": {"@long": {"&": 1}}}/' >>"$tmp/said"
given "$tmp/good.bt" >"$tmp/out"
is "$(sed '$d' "$tmp/out")" '{"type": "attached_probes", "data": {"probes": 3}}
{"type": "map", "data": {"@n": {"a_b,1": 1, "_[31m__": 2, "</script>\"": 3}}}
{"type": "map", "data": {"@n": {"a_b": 3}}}
{"type": "map", "data": {"@m": 3}}
{"type": "map", "data": {"@sum": {"y": 4}}}
{"type": "map", "data": {"@big": 18446744073709551615}}
{"type": "map", "data": {"@text": {}}}
{"type": "hist", "data": {"@u": [{"min": 4, "max": 7, "count": 1}]}}
{"type": "map", "data": {"@h_histogram": {"1,x,-inf--1": 5, "1,x,4-7": 1, "1,x,8-inf": 2}}}
{"type": "map", "data": {"@l_linear": {"0-9": 7}}}
{"type": "map", "data": {"@s": {"k,count": 1, "k,average": 4, "k,total": 4}}}
{"type": "map", "data": {"@avg": {"k": 4}}}
{"type": "map", "data": {"@q": {"\ufffd": 1}}}' "what the agent cannot take gets a form that it can, what is no metric is dropped"
is "$(tail -n 1 "$tmp/out" | wc -c)" 1000044 "a long key passes"
is "$(cat "$tmp/given")" "-f json - strlen=150" "bpftrace is asked for JSON, and for strings as long as the bundle says"
ok "... and gets the program" cmp "$tmp/program" "$tmp/good.bt"
BPFTRACE_MAX_STRLEN=20 given "$tmp/good.bt" >/dev/null
is "$(cat "$tmp/given")" "-f json - strlen=20" "... unless the environment says otherwise"
echo 3 >"$tmp/rc"
given "$tmp/good.bt" >/dev/null
is $? 3 "the status is bpftrace's"
rm "$tmp/rc"

printf 'BEGIN { @n = 1; }\n' >"$tmp/other.bt"
is "$(given "$tmp/other.bt" | cmp - "$tmp/said" && cat "$tmp/program" "$tmp/given")" "BEGIN { @n = 1; }
-f json - strlen=" "another script passes as it is, and what it prints"
is "$("$pcp" --version)" "bpftrace v0.23.2" "so do other calls of bpftrace"

header 0.23 "$tmp/app" 0102030405 >"$tmp/bad.bt"
is "$(given "$tmp/bad.bt"; echo $?)" "error: $tmp/app is not the build that this script is for (build ID 0102030405)
1" "another build is refused"
header 0.23 "$tmp/none" "$id" >"$tmp/bad.bt"
is "$(given "$tmp/bad.bt"; echo $?)" "error: there is no $tmp/none here
1" "... and none"
header 0.2 "$tmp/app" "$id" >"$tmp/bad.bt"
is "$(given "$tmp/bad.bt"; echo $?)" "error: bpftrace v0.23.2: this is for bpftrace 0.2
1" "... and another bpftrace"
mkdir "$tmp/planted"
printf '#!/bin/sh\necho planted\n' >"$tmp/planted/bpftrace"
cp "$tmp/planted/bpftrace" "$tmp/planted/python3"
chmod +x "$tmp"/planted/*
planted() { (cd "$tmp/planted" && env -u BPFTRACE PATH="$1" "$2" --version 2>&1 | grep planted); }
for path in .:/usr/bin:/bin :/usr/bin:/bin ../planted:/usr/bin:/bin; do
	is "$(planted "$path" "$pcp")" "" "a bpftrace or python3 of the current folder is not run: PATH=$path"
done
for script in "$top/scripts/percentiles.py" "$top/scripts/qpair-lifetime"; do
	is "$(planted .:/usr/bin:/bin "$script" </dev/null)" "" "... nor by ${script##*/}"
done
is "$(BPFTRACE=$tmp/none given "$tmp/good.bt"; echo $?)" "error: there is no bpftrace here
1" "... and where there is none"

is "$("$pcp" --check "$tmp/bad.bt" 2>&1; echo $?)" "error: bpftrace v0.23.2: this is for bpftrace 0.2
1" "--check says so"
header 0.23 "$tmp/app" "$id" >"$tmp/bad.bt"
is "$("$pcp" --check "$tmp/bad.bt" 2>&1; echo $?)" 0 "... or nothing"

: >"$tmp/wait"
env --default-signal=INT "$pcp" -f json - <"$tmp/good.bt" >/dev/null &
child=$!
own $child
wait_for test -e "$tmp/waits"
kill -INT $child
wait $child
is $? 9 "^C of the agent is bpftrace's to answer"
done_testing
