#!/usr/bin/env bash
# btgen-report: a capture as one page. What is on it, seen in a real browser; the records are the oracle.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
export live_partly=yes
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"
report=$top/scripts/btgen-report
command -v chromium >/dev/null || skip_all "scripts/pkgdep.sh --fleet installs chromium"
command -v jq >/dev/null || skip_all "needs jq"
chmod 711 "$tmp"
export TMPDIR=$tmp HOME=$tmp

# browse PAGE OPTION...: tests/browser.py's answer in $tmp/seen, the Nth result of its scripts in $(result N)
browse() {
	guard /usr/bin/python3 "$top/tests/browser.py" "$@" >"$tmp/seen" || sed 's/^/# /' "$tmp/seen"
}
result() { jq -r ".results[$1]" "$tmp/seen"; }
first_of() { echo "document.querySelector('#$1 tbody tr').innerText.replace(/\\s+/g, ' ')"; }

# A capture whose slices, stacks, loss and maps are known; what a stranger could have written is hostile.
cat >"$tmp/make.py" <<'END'
import json, sys
out = open(sys.argv[1], "w")
put = lambda **record: print(json.dumps(record), file=out)
bad = "</script><script>window.hacked=1</script><img src=http://example.invalid/x onerror=window.hacked=2><b>"
tracks = [dict(probe="change", by="{o}", kind="begin", name="{a} to {b}"), dict(probe="change_done", by="{o}", kind="end"),
          dict(probe="change_done", by="{o}", kind="state", name="{b}")]
put(capture=dict(host="<i>host", boot_id="0", monotonic=10**12, wall="2026-01-31T12:00:00.000000000+01:00", synchronized=True,
                 version="0.1.0", script="own.bt", tracks=tracks, trigger="app:error" + bad))
def event(ms, probe, text, comm="app", late=False, **fields):
    put(time=f"2026-01-31T12:00:{5 + ms // 1000:02d}.{ms % 1000:03d}000000+01:00", cpu=0, pid=42, tid=43, comm=comm, probe=probe,
        text=text, fields=fields, **({"late": True} if late else {}))
def change(ms, took, o, a, b):
    event(ms, "app:change", "it begins", o=o, a=a, b=b)
    event(ms + took, "app:change_done", "it ends", o=o, a=a, b=b)
event(0, "app:hello", "the first one \x1b[31m \u202e" + bad, comm=bad)
change(10, 3, "one", "OFF", "ON")
change(20, 250, bad, "ON", bad)
put(lost={"total": 12, "app:hello": 12})
put(cost=dict(seconds=1.5, percent=12.34, probes=[dict(probe="usdt:app:hello" + bad, hits=3, ns_per_hit=900, percent=12.3)]))
change(400, 2, "one", "ON", "OFF")
event(390, "app:hello", "older than the line before", late=True)
event(500, "app:hello", "x" * 1000000)
event(510, "app:hello", {"text": "a\ufffdb", "hex": "61ff62"}, name={"text": "\ufffd", "hex": "ff"})
event(512, "app:call_start", "a call")
event(515, "app:call_done", "which ends")
event(520, "app:call_start", "and one that never ends")
event(1000, "app:hello", "needle in the hay")
put(map="@us", entries=[dict(key=[bad], histogram=[dict(min=0, max=0, count=0), dict(min=64, max=127, count=77), dict(min=128, max=None, count=3)])])
put(map="@off", entries=[dict(key=["app", ["read+35", "main+9", bad + ";"]], value=900), dict(key=["app", ["write", "main"]], value=100)])
put(map="@last", entries=[dict(value={"name": "READ", "value": 2})])
put(text="other " + bad)
out.write('{"time": "2026-01-31T12:0')
END
/usr/bin/python3 "$tmp/make.py" "$tmp/own.json"
"$report" "$tmp/own.json" 2>"$tmp/said"
is $? 0 "a page is made, beside the capture" || sed 's/^/# /' "$tmp/said"
browse "$tmp/own.html" --run "$(first_of longest)" --run "$(first_of states)" --run "$(first_of open)" \
	--run "window.hacked + ' ' + document.querySelectorAll('img, main a, td b b, h1 i').length" \
	--run "document.querySelector('#longest button').click(); timeline.range.textContent" \
	--run "document.getElementById('filter').value = 'NEEDLE hay'; document.getElementById('filter').oninput();
		document.getElementById('count').textContent + ': ' + document.getElementById('rows').innerText.replace(/\\s+/g, ' ')" \
	--run "document.getElementById('filter').value = 'late'; document.getElementById('filter').oninput(); document.querySelectorAll('#rows .mark').length" \
	--run "document.getElementById('filter').value = ''; document.getElementById('filter').oninput(); document.getElementById('rows').innerText" \
	--run "timeline.shades.join(' | ')" \
	--run "(c => c.items.map(c.describe).join('\n').replace(/\n([0-9])/g, ' \$1'))(charts[charts.length - 1])"
is "$(jq -c '[.errors, .requests]' "$tmp/seen")" "[[],[]]" "the browser complains about nothing, and nothing is asked for over a network"
like "$(result 0)" '^250 ms ON to </script><script>window.hacked=1' "the longest change is the first line of the page, before what is steady"
like "$(result 1)" '^</script>.* state 1 .*≥ 730 ms \+0.270000 </script>' "steady states are apart, and what had no end at the end of the capture is at least so long"
like "$(result 2)" '^≥ 480 ms call ' "so are calls whose end was not seen"
is "$(result 3)" "undefined 0" "no text of the program becomes HTML: not in tables, nor in pictures"
like "$(jq -r .text "$tmp/seen")" '</script><script>window.hacked=1</script><img src=http' "... it is seen as it is"
is "$(result 4)" "−0.230000 s, 750 ms wide" "a click on its time shows it in the timeline"
is "$(result 5)" "1 found: +1.000000 app 43 app:hello needle in the hay" "events are found by words"
is "$(result 6)" 1 "what came late is marked"
like "$(result 7)" '^\+0.000000	<.*the first one \\x1b\[31m \\x202e<' "what would move or hide text is shown as escapes"
like "$(result 7)" 'x{300} \.\.\. \(1,000,000 characters\)' "a string of a megabyte is cut, and that is said"
like "$(result 7)" "a�b" "one that is not UTF-8 is shown as far as it is"
like "$(jq -r .text "$tmp/seen")" '^12 events were lost, app:hello: 12, between \+0.270000 and \+0.400000 s$' "loss is said, with between which times"
like "$(result 8)" '12 events were lost' "and is in the timeline"
like "$(jq -r .text "$tmp/seen")" 'Cost of the trace: 12.3 % of a processor \(usdt:app:hello</script>.* 12.3 %\)' "so is what the trace cost"
like "$(jq -r .text "$tmp/seen")" 'Kept, and written because of: app:error</script>' "and why it was written"
like "$(jq -r .text "$tmp/seen")" 'that are no records, and are skipped: 1$' "a line that is cut is skipped, and that is said"
is "$(result 9 | grep -oE '(read|write|main) [0-9.]+ %' | sort | tr '\n' ' ')" "main 10.0 % main 90.0 % read 90.0 % write 10.0 % " \
	"stacks, with their shares"
is "$(jq -r .text "$tmp/seen" | sed -n '/^@us$/,$p' | grep -cE '^(64 – 127	77|128 – \.\.\.	3|READ|80 values)')" 4 \
	"maps are at the end, histograms from their first to their last bucket"

# Markup in each string and each key
is "$(/usr/bin/python3 "$top/tests/fleet/markup.py" "$report" "$tmp" 2>"$tmp/said")" "True 0" \
	"a page has the same elements with markup as with a word, in each of more than 500 places of a capture" || sed 's/^/# /' "$tmp/said"
"$report" "$tmp/all.json" 2>/dev/null
browse "$tmp/all.html" --run "document.querySelectorAll('button').forEach(b => b.click()); window.hacked" \
	--run "document.querySelectorAll('svg, g, rect, td, button').forEach(e => ['mouseover', 'focus'].forEach(
		type => e.dispatchEvent(new MouseEvent(type, { bubbles: true })))); window.hacked" \
	--run "document.getElementById('which').onchange();
		document.getElementById('filter').value = 'onerror'; document.getElementById('filter').oninput();
		document.getElementById('count').textContent" \
	--run "document.querySelectorAll('body img, svg[onload], [onmouseover], td b b').length + ' ' + window.hacked" \
	--run "timeline.show(...timeline.whole); timeline.pieces.length > 10"
is "$(jq -c '[.errors, .requests]' "$tmp/seen")" "[[],[]]" "... all of them on one page: the browser complains about nothing"
is "$(result 0) $(result 1) $(result 3)" "null null 0 undefined" "... nothing runs, whatever is clicked on"
like "$(result 2) $(result 4)" "^[0-9]+ found.* true$" "... and the page's own scripts work"

# Stacks of 50,000 frames, which no program has: the page takes room for each frame once
/usr/bin/python3 -c 'import json
print(json.dumps({"map": "@s", "entries": [{"key": [["f%d" % i for i in range(50000)] + [str(n)]], "value": 3} for n in range(20)]}))' >"$tmp/deep.json"
out=$(limit_memory 1000000; "$report" "$tmp/deep.json" 2>&1)
like "$out" '^btgen-report: .*/deep.html: 0 events' "a page of very deep stacks takes little memory" || printf '# %s\n' "$out"

# A second wall: what gets into the page all the same does not run
sed 's|<main>|&<img src=x: onerror="window.hacked=1"><svg onload="window.hacked=2"></svg><script>window.hacked=3</script>|' \
	"$tmp/own.html" >"$tmp/forged.html"
browse "$tmp/forged.html" --run "document.querySelector('#longest button').click(); window.hacked + ' ' + document.querySelectorAll('main > img').length" \
	--run "const s = document.createElement('script'); s.textContent = 'window.hacked = 4'; document.body.append(s); window.hacked + ' ' + timeline.range.textContent"
is "$(result 0), $(result 1)" "undefined 1, undefined −0.230000 s, 750 ms wide" "markup written into a page does not run, the page's own scripts do"
not_ok "... as its policy allows no script by being in the page" grep -q "script-src[^;]*unsafe" "$tmp/own.html"

# What most traces have, if any: loss that is known at the end only
grep -m 1 needle "$tmp/own.json" >"$tmp/end.json"
echo '{"lost": {"total": 3}}' >>"$tmp/end.json"
"$report" "$tmp/end.json" 2>/dev/null
browse "$tmp/end.html" --run "timeline.shades.length"
like "$(jq -r .text "$tmp/seen"), $(result 0)" '^3 events were lost: this was noticed at the end, when it happened is not known$' "loss that is known at the end only"
is "$(result 0)" 0 "... is at no place of the timeline"

# On a phone, in the dark
browse "$tmp/own.html" --width 400 --dark --run "document.documentElement.scrollWidth" --run "getComputedStyle(document.body).backgroundColor" \
	--run "document.getElementById('theme').click(); getComputedStyle(document.body).backgroundColor"
is "$(result 0)" 400 "on 400 pixels nothing sticks out"
is "$(result 1), $(result 2)" "rgb(20, 23, 28), rgb(255, 255, 255)" "dark where the system is, and light at a click"

# Two hundred subsystems, which are made, paused and, but for each third, destroyed; each has two threads
cat >"$tmp/many.py" <<'END'
import json, sys
names = ("INACTIVE", "ACTIVATING", "ACTIVE", "PAUSING", "PAUSED", "failed")
def rule(probe, by, kind, name=None):
    return dict(probe=probe, by=by, kind=kind, **({"name": name} if name else {}))
tracks = [rule("target", "target", "state", "{state}")]
for probe, by, name in (("sub", "{nqn}", "{old} to {new}"), ("pg", "{nqn}, thread {thread}", "to {new}")):
    tracks += [rule(probe, by, "begin", name), rule(probe + "_done", by, "end"), rule(probe + "_done", by, "state", "{new}")]
tracks += [rule("destroy", "{nqn}", "gone"), rule("destroy", "{nqn}, thread {*}", "gone")]
lines = []
def event(us, probe, text, **fields):
    fields = {k: {"name": v, "value": names.index(v)} if v in names else v for k, v in fields.items()}
    lines.append((us, dict(time="2026-01-31T12:00:%02d.%06d000+01:00" % divmod(us, 10**6), cpu=0, pid=42, tid=43, comm="reactor", probe="spdk:" + probe, text=text, fields=fields)))
event(100, "target", "target is ACTIVE", state="ACTIVE")
for i in range(200):
    q, t = "nqn:cnode%d" % i, 1000 + i * 3000
    for old, new, at, took in (("INACTIVE", "ACTIVE", 0, 616000 - i * 10), ("ACTIVE", "PAUSED", 900000, 40000 + i * 7919 % 9000), ("PAUSED", "ACTIVE", 960000, 5000),
                               ("ACTIVE", "failed" if i == 7 else "INACTIVE", 1500000, 20000)):
        event(t + at, "sub", "%s changes state from %s to %s" % (q, old, new), nqn=q, old=old, new=new)
        for thread in (2, 3):
            event(t + at + took // 4 * (thread - 1), "pg", "%s on thread %d from %s to %s" % (q, thread, old, new), nqn=q, old=old, new=new, thread=thread)
            event(t + at + took // 4 * (thread - 1) + 900, "pg_done", "done", nqn=q, old=old, new=new, thread=thread)
        event(t + at + took, "sub_done", "done", nqn=q, old=old, new=new)
    if i % 3:
        event(t + 1600000, "destroy", q + " destroyed", nqn=q)
lines.sort(key=lambda line: line[0])
head = dict(host="vm", boot_id="0", monotonic=10**12, wall="2026-01-31T12:00:00.000000000+01:00", synchronized=True, version="0", script="nvmf.bt", program="nvmf_tgt", tracks=tracks)
with open(sys.argv[1], "w") as out:
    for record in [dict(capture=head)] + [record for _, record in lines]:
        print(json.dumps(record), file=out)
END
/usr/bin/python3 "$tmp/many.py" "$tmp/many.json"
"$report" "$tmp/many.json" 2>/dev/null
labels="[...document.querySelectorAll('#lanes .lane')].map(e => e.textContent.trim())"
browse "$tmp/many.html" --run "$labels.join('\n')" --run "document.getElementById('latency').getBoundingClientRect().top + scrollY" \
	--run "[...document.querySelectorAll('#longest tbody tr')].map(r => r.cells[1].innerText.replace(/\\n/g, ', ')).join('\n')" \
	--run "document.querySelectorAll('#lanes button.lane')[1].click(); $labels.slice(2, 6).join('|') + ' ' + document.activeElement.title.slice(0, 12)" \
	--run "(e => e[e.length - 1].click())(document.querySelectorAll('#lanes button.lane')); $labels.length + ' ' + timeline.canvas.clientHeight" \
	--run "const of = name => new Set(timeline.items.filter(s => s.pale && s.name === name).map(s => s.color)); ['INACTIVE', 'ACTIVE', 'PAUSED', 'failed'].map(n => [...of(n)].join()).join(' ')" \
	--run "(L => L.columns[2].filter((a, i) => L.names[L.columns[4][i]] === 'INACTIVE' && L.columns[8][i]).length)(D.lanes)"
is "$(result 0 | head -n 3)" "target
▸ nqn:cnode0  (+ 2 lanes)
▸ nqn:cnode1  (+ 2 lanes)" "lanes of 200 subsystems: those of threads are folded below the subsystem's own"
like "$(result 0)" '^▸ 188 more objects, on top of each other$' "... the others are folded, and counted"
ok "... and what follows is near ($(result 1) pixels)" test "$(printf '%.0f' "$(result 1)")" -lt 3000
is "$(result 3)" "▾ nqn:cnode1  (2 lanes)|thread 2|thread 3|▸ nqn:cnode2  (+ 2 lanes) ▾ nqn:cnode1" "a subsystem unfolds, and keeps the focus"
like "$(result 4)" '^581 675$' "... so do all others, in a window of their own"
is "$(result 2 | grep -c '^INACTIVE to ACTIVE')" 1 "one batch is one line of the longest"
like "$(result 2)" '^INACTIVE to ACTIVE nqn:cnode0, and 199 more like it, overlapping$' "... which says how many are like it, and does not repeat itself"
is "$(result 5)" "100 101 102 -1" "colors of states are in the order of their enumerators, and only an error is red"
is "$(result 6)" 201 "a destroyed subsystem is not INACTIVE to the end, nor are its threads"
is "$(jq -r .text "$tmp/seen" | head -n 1)" "nvmf_tgt: nvmf.bt on vm, 2026-01-31 12:00:00" "the title says program, script, host and time"

# By keyboard alone
walk=$(for _ in {1..60}; do printf 'Tab,'; done)
browse "$tmp/many.html" --run "window.seen = []; document.addEventListener('focusin', e => { const o = getComputedStyle(e.target); window.seen.push([e.target, o.outlineStyle !== 'none' && o.outlineWidth !== '0px']); }); 0" \
	--keys "${walk%,}" \
	--run "const all = [...document.querySelectorAll('button, select, input, canvas[tabindex]')].filter(e => e.offsetParent); all.slice(0, 60).filter((e, i) => seen[i][0] !== e).length + ' ' + seen.filter(s => !s[1]).length" \
	--run "timeline.canvas.focus()" --keys ArrowRight --run "timeline.said.textContent" --keys ArrowDown,ArrowRight --run "timeline.said.textContent" \
	--keys Enter --run "timeline.range.textContent" --keys Shift+ArrowRight,- --run "timeline.range.textContent" --keys Escape --run "timeline.range.textContent" \
	--keys /,f,a,i,l,e,d --run "timeline.found.textContent" --keys Enter --run "timeline.said.textContent" \
	--run "document.getElementById('heat').focus()" --keys ArrowRight --run "document.getElementById('cell').textContent" --keys Enter --run "timeline.range.textContent"
is "$(result 2)" "0 0" "Tab reaches everything in its order, and shows where it is"
is "$(result 5), $(result 7)" 'ACTIVE  no end seen, ≥ 2.20 s at +0.000000 s
target
target is ACTIVE, ACTIVE to INACTIVE  20.0 ms at +1.500900 s
nqn:cnode0
nqn:cnode0 changes state from ACTIVE to INACTIVE' "arrows choose pieces of the timeline, which are said"
is "$(result 9), $(result 11), $(result 13)" "+1.498900 s, 24.0 ms wide, +1.492900 s, 60.0 ms wide, −0.021979 s, 2.24 s wide" "Enter enlarges one, Shift with an arrow moves, minus zooms, Escape shows all"
is "$(result 14), $(result 15), $(result 17 | head -n 1)" "INPUT search in timeline, 2 found, 100 ms in all, ACTIVE to failed  20.0 ms at +1.521900 s" "a slash searches, Enter goes to what is found"
like "$(result 20), $(result 22)" '^6 of 501 ms to 631 ms, from \+0.000000 s for 18.3 ms, −0.009158 s, 36.6 ms wide$' "cells of the heat map are chosen by arrows, and shown by Enter"

# On paper, and what is long on a phone
browse "$tmp/many.html" --print --dark --run "[...document.querySelectorAll('.tools, #theme, .keys')].filter(e => e.offsetParent).length" \
	--run "dispatchEvent(new Event('beforeprint')); getComputedStyle(document.body).backgroundColor + ' ' + (timeline.canvas.clientHeight >= timeline.height)"
is "$(result 0), $(result 1)" "0, rgb(255, 255, 255) true" "on paper there is nothing to click on, the page is light and its timeline whole"
browse "$tmp/many.html" --width 400 --run "[...document.querySelectorAll('.wide')].filter(e => e.scrollWidth > e.clientWidth + 1).length" \
	--run "[...document.querySelector('#names tbody tr').cells].map(c => getComputedStyle(c, '::before').content.replace(/none|\"/g, '') + c.innerText).join(',')"
is "$(result 0)" 0 "on 400 pixels no table is cut"
like "$(result 1)" '^INACTIVE to ACTIVE,change,times 200,in all 123 s,p50 615 ms,p99 616 ms,longest 616 ms,\+0.000900 nqn:cnode0$' "... and its numbers have their heads beside them"
printf '%s\n' '{"time": "2026-01-31T12:00:05.000000000+01:00", "cpu": 0, "pid": 42, "tid": 42, "comm": "app", "probe": "app:hello", "text": "one", "fields": {}}' >"$tmp/one.json"
"$report" "$tmp/one.json" 2>/dev/null
like "$(cat "$tmp/one.html")" '1 event of 1 probe in 1 thread' "one is no more than one"
like "$(cat "$tmp/one.html")" '<h1>one.json, 2026-01-31 12:00:05</h1>' "... and its time is that of its own clock, without a capture's first line"

# Calls in each other, by thread: main calls outer, which calls inner twice, for 1 ms each; and a recursion of 30 calls
cat >"$tmp/calls.py" <<'END'
import json, sys
lines = [dict(capture=dict(host="vm", boot_id="0", monotonic=10**12, wall="2026-01-31T12:00:00.000000000+01:00", synchronized=True, version="0", script="--calls", program="app", tracks=[]))]
def event(us, probe, tid):
    lines.append(dict(time="2026-01-31T12:00:01.%06d000+01:00" % us, cpu=0, pid=42, tid=tid, comm="app", probe=probe, text="x", fields={}))
bad = "<img src=x onerror=window.hacked=1>"
for tid in (43, 44):
    for i in range(10):
        t = i * 10000 + tid
        for at, what, f in ((0, "uprobe", "outer"), (1000, "uprobe", "inner"), (2000, "uretprobe", "inner"), (2500, "uprobe", "inner" if i else bad),
                            (3500, "uretprobe", "inner" if i else bad), (5000 + tid * 10, "uretprobe", "outer")):
            event(t + at, what + ":" + f, tid)
for depth in range(30):
    event(200000 + depth, "uprobe:again", 43)
for depth in range(30):
    event(200100 + depth, "uretprobe:again", 43)
with open(sys.argv[1], "w") as out:
    for line in sorted(lines[1:], key=lambda line: line["time"]):
        lines[0] and print(json.dumps(lines[0]), file=out)
        lines[0] = None
        print(json.dumps(line), file=out)
END
/usr/bin/python3 "$tmp/calls.py" "$tmp/calls.json"
"$report" "$tmp/calls.json" 2>/dev/null
choose() { echo "const e = document.getElementById('$1'); e.value = '$2'; e.onchange(); "; }
browse "$tmp/calls.html" --run "[...document.getElementById('thread').options].map(o => o.text).join()" --run "calls.items.length + ' ' + calls.height" \
	--run "{ $(choose thread 1) } { $(choose order sum) } calls.canvas.focus()" --keys ArrowDown,ArrowDown,ArrowDown --run "calls.said.textContent" --keys ArrowUp,Enter --run "calls.view.map(Math.round).join()" \
	--keys /,i,n,n,e,r --run "calls.found.textContent" --keys Enter --run "calls.said.textContent" --keys Tab,Tab,Tab,Shift+Tab \
	--run "{ $(choose order time) } calls.canvas.focus()" --keys ArrowRight,ArrowDown,ArrowRight --run "calls.said.textContent + window.hacked" \
	--run "{ $(choose thread 0) } Math.max(...calls.items.map(s => s.y)) / 19 | 0"
is "$(result 0), $(result 1)" "app 43 (54.4 ms),app 44 (54.4 ms), 60 575" "a flame chart for each thread with calls in each other, as deep as they are"
is "$(result 4), $(result 6), $(result 8)" "<img src=x onerror=window.hacked=1>
1.8 %, 1.00 ms, 1 call, 0,54400, 1 found" "... with the same calls together: their share, time and number, by keyboard"
is "$(result 10)" "inner
34.9 %, 19.0 ms, 19 calls" "... which are searched"
is "$(result 14), $(result 15)" "inner  1.00 ms at +0.011001 s
app 44
xundefined, 29" "... and in order of time, thirty calls in each other, too"

# Objects of many values, each of which may be a part of another
for n in 20 80; do
	/usr/bin/python3 -c 'import json, sys
n = int(sys.argv[1])
track = dict(probe="b", by="".join("{a%d}" % i for i in range(n)), kind="state", name="x")
print(json.dumps({"capture": {"wall": "2026-01-31T12:00:00.000000000+01:00", "tracks": [track]}}))
for t in range(3):
    print(json.dumps({"time": "2026-01-31T12:00:0%d.000000000+01:00" % t, "cpu": 0, "pid": 1, "tid": 1, "comm": "c", "probe": "usdt:a:b", "text": "x",
                      "fields": {"a%d" % i: i for i in range(n)}}))' $n >"$tmp/values.$n"
done
linear "an object of many values: time in proportion" 0 20 "$report" "$tmp/values.{}" -o "$tmp/values.html"

# A number that is none in JavaScript
cp "$tmp/one.json" "$tmp/infinite.json"
for value in 1 1e999 -1e999 NaN 2; do
	printf '{"map": "@a", "time": "2026-01-31T12:00:06.000000000+01:00", "pid": 1, "tid": 1, "cpu": 0, "comm": "c", "probe": "p", "entries": [{"key": ["x"], "value": %s}]}\n' $value
done >>"$tmp/infinite.json"
"$report" "$tmp/infinite.json" 2>/dev/null
browse "$tmp/infinite.html" --run "JSON.stringify(D.counters[0][2])"
is "$(jq -c .errors "$tmp/seen") $(result 0)" "[] [1,2]" "numbers that are too large are as NaN is: the page is drawn"
like "$(jq -r .text "$tmp/seen")" 'that are no records, and are skipped: 3$' "... and their lines are counted"

# Lines of sources beside probes on them: of files that are there, as they were, and of no others
mkdir -p "$tmp/tree/net" "$tmp/tree/a" "$tmp/tree/b"
printf 'first();\n\tsecond("<b>");\nthird();\n' >"$tmp/tree/net/conn.c"
printf 'old();\n' | tee "$tmp/tree/a/twice.c" >"$tmp/tree/b/twice.c"
printf 'secret();\n' | tee "$tmp/secret.c" >"$tmp/tree/new.c"
ln -s "$tmp/secret.c" "$tmp/tree/link.c"
ln -s "$tmp" "$tmp/tree/net/up"
mkfifo "$tmp/tree/fifo.c"
(head -c $((8 << 20)) /dev/zero | tr '\0' '\n' && echo 'beyond();') >"$tmp/tree/big.c"
touch -d 2026-01-01 "$tmp/tree/net/conn.c" "$tmp/tree/a/twice.c" "$tmp/secret.c" "$tmp/tree/fifo.c" "$tmp/tree/big.c"
touch -d 2026-02-02 "$tmp/tree/new.c"
for probe in conn.c:2 net/conn.c:3 conn.c:9 twice.c:1 new.c:1 ../secret.c:1 "$tmp/secret.c:1" /etc/passwd:1 none.c:1 link.c:1 up/secret.c:1 fifo.c:1 big.c:8388609; do
	printf '{"time": "2026-01-31T12:00:05.000000000+01:00", "cpu": 0, "pid": 42, "tid": 42, "comm": "app", "probe": "uprobe:%s", "text": "at %s", "fields": {}}\n' "$probe" "$probe"
done >"$tmp/lines.json"
(cd "$tmp/tree/net" && guard "$report" --source "$tmp/tree" ../../lines.json) 2>"$tmp/said"
like "$(cat "$tmp/said")" 'twice.c may be .*/a/twice.c, .*/b/twice.c: its lines are not shown$' "a source that may be two is no source"
browse "$tmp/lines.html" --run "[...document.querySelectorAll('#rows tr')].map(r => r.cells[2].innerText.replace('\n', ' ')).join('\n')" --run "timeline.items.map(s => s.name).sort().slice(-2).join()"
is "$(result 0)" "uprobe:conn.c:2 second(\"<b>\");
uprobe:net/conn.c:3 third();
uprobe:conn.c:9
uprobe:twice.c:1
uprobe:new.c:1 new.c has changed since
uprobe:../secret.c:1
uprobe:$tmp/secret.c:1
uprobe:/etc/passwd:1
uprobe:none.c:1
uprobe:link.c:1
uprobe:up/secret.c:1
uprobe:fifo.c:1
uprobe:big.c:8388609" "source lines are beside their probes, none of files that a capture must not name, of links, of FIFOs or beyond 8 MB"

# Two captures: what got slower by most time in all comes first, then what only one of them has
cat >"$tmp/pair.py" <<'END'
import json, sys
for path, host, works in (("old", "one", {"steady": 1000, "slow": 1000, "much slower, once": 100, "faster": 2000, "gone": 50}),
                          ("new", "<b>two", {"steady": 1000, "slow": 3000, "much slower, once": 900, "faster": 500, "<img src=x onerror=window.hacked=1>": 70})):
    with open(sys.argv[1] + "/" + path + ".json", "w") as out:
        print(json.dumps(dict(capture=dict(host=host, wall="2026-01-31T12:00:00.000000000+01:00", script="own.bt", tracks=[]))), file=out)
        t = 0
        for name, us in works.items():
            for i in range(1 if "once" in name else 40):
                for what, at in (("start", t), ("done", t + us)):
                    print(json.dumps(dict(time="2026-01-31T12:00:%02d.%06d000+01:00" % divmod(at, 10**6), cpu=0, pid=42, tid=43, comm="app",
                                          probe="app:" + name + "_" + what, text="x", fields={})), file=out)
                t += us + 100
END
/usr/bin/python3 "$tmp/pair.py" "$tmp"
is "$("$report" "$tmp/old.json" "$tmp/new.json" 2>&1)" "btgen-report: $tmp/new.html: 322 and 322 events, 0.2 MB" "two captures are one page, named after the second"
browse "$tmp/new.html" --run "[...document.querySelectorAll('#compared tbody tr')].map(r => [...r.cells].slice(0, 4).map(c => c.innerText.trim()).join(', ') + ', ' + r.cells[8].innerText + ', ' + r.cells[9].innerText).join('\n')" \
	--run "[...document.querySelectorAll('iframe')].map(f => f.contentDocument.querySelector('h1').textContent + ' ' + f.contentDocument.querySelector('#longest tbody b').textContent + ' ' + f.contentWindow.hacked).join(', ') + ' ' + window.hacked" \
	--run "[...document.querySelectorAll('iframe')].map(f => Math.round(f.getBoundingClientRect().top)).join()" \
	--run "document.getElementById('theme').click(); [...document.querySelectorAll('iframe')].map(f => getComputedStyle(f.contentDocument.body).backgroundColor).join()" \
	--run "[...document.querySelectorAll('.wide')].filter(e => e.scrollWidth > e.clientWidth).length"
is "$(jq -c '[.errors, .requests]' "$tmp/seen")" "[[],[]]" "... without an error, and without a network"
is "$(result 0)" "slow call, × 3, 1.00 ms, 3.00 ms, 40, 40
much slower, once call, × 9, 100 µs, 900 µs, 1, 1
steady call, × 1, 1.00 ms, 1.00 ms, 40, 40
faster call, × 0.25, 2.00 ms, 500 µs, 40, 40
<img src=x onerror=window.hacked=1> call, only after, , 70.0 µs, , 40
gone call, only before, 50.0 µs, , 40, " "... which shows what got slower first"
is "$(result 1)" "own.bt on one, 2026-01-31 12:00:00 faster undefined, own.bt on <b>two, 2026-01-31 12:00:00 slow undefined undefined" "... and both pages, in which nothing of theirs runs"
ok "... beside each other" test "$(result 2 | cut -d, -f1)" = "$(result 2 | cut -d, -f2)"
is "$(result 3), $(result 4)" "rgb(20, 23, 28),rgb(20, 23, 28), 0" "... in the same light, and no table is cut"

sed '0,/H4sI/s//AAAA/' "$tmp/new.html" >"$tmp/broken.html"
browse "$tmp/broken.html" --run "[...document.querySelectorAll('iframe')].map(f => f.contentDocument.body.innerText.slice(0, 37)).join() + (document.documentElement.dataset.ready > 0)"
like "$(result 0)" '^This browser cannot draw the page: .*,own.bt on <b>two.*true$' "when one of them cannot be drawn, the other one is"

# Large: two events in each of 100000 calls on 8 threads, or in a quarter of them
cat >"$tmp/large.py" <<'END'
import json, random, sys
random.seed(1)
t, lines = 0, []
for i in range(int(sys.argv[2])):
    tid = 100 + i % 8
    t += 20000
    took = int(random.lognormvariate(10, 1))
    for at, what in ((t, "start"), (t + took, "done")):
        lines.append((at, tid, what, i))
lines.sort()
with open(sys.argv[1], "w") as out:
    for at, tid, what, i in lines:
        print(json.dumps(dict(time=f"2026-01-31T12:00:{at // 10**9:02d}.{at % 10**9:09d}+01:00", cpu=0, pid=100, tid=tid, comm="app", probe=f"app:work{i % 3}_{what}",
                              text=f"request {i} of a client that has a name", fields={"id": i})), file=out)
END
for n in 25000 100000; do
	/usr/bin/python3 "$tmp/large.py" "$tmp/large.json" $n
	"$report" "$tmp/large.json" -o "$tmp/large.$n.html" 2>/dev/null
done
for _ in 1 2; do # what else the machine does may come between
	browse "$tmp/large.25000.html"
	few=$(jq .ready "$tmp/seen")
	browse "$tmp/large.100000.html" --run "const b = performance.now(); timeline.near(); Math.round(performance.now() - b)" \
		--run "timeline.pieces.length" --run "document.querySelector('#names tbody tr').innerText.split('\t')[2]"
	many=$(jq .ready "$tmp/seen")
	[ "$many" -gt $((6 * few)) ] || break
done
size=$(stat -c %s "$tmp/large.100000.html")
echo "# 200,000 events: $size bytes, drawn $many ms after it was opened, a quarter of them $few ms, zoomed in $(result 0) ms"
ok "200,000 events are a page of less than 5 MB" test "$size" -lt 5000000
ok "... which is there in time that grows with them, and not with the square" test "$many" -le $((6 * few))
ok "... and is zoomed at once, as only so much is drawn as there are pixels ($(result 1) pieces)" test "$(result 1)" -gt 500 -a "$(result 1)" -lt 8000
is "$(result 2)" "33,334" "... while all are counted"

# A real one: the longest change of state is what the records themselves say.
if can_trace; then
	live_nvmf nvmf_tgt
	rm -f "$tmp/ready"
	"$live_sh" -s -o "$tmp/nvmf.json" --ready-file "$tmp/ready" "$live_pid" nvmf.bt 2>"$tmp/messages" 8>&- &
	live_tracer=$!
	own $live_tracer
	ok "nvmf.bt is attached" wait_for test -s "$tmp/ready"
	live_say start
	cat "$targets/tour.txt" >&8
	live_quit
	live_wait
	"$report" "$tmp/nvmf.json" -o "$tmp/nvmf.html" 2>/dev/null
	browse "$tmp/nvmf.html" --run "const c = document.querySelectorAll('#longest tbody tr')[0].cells; c[0].innerText.trim() + ' ' + c[1].innerText.split('\n')[0]"
	cat >"$tmp/longest.py" <<'END'
import json, sys
begun, ended = {}, []
for r in map(json.loads, open(sys.argv[1])):
    f = r.get("fields", {})
    key = f.get("subnqn"), f.get("thread_id")
    at = r.get("time") and (int(r["time"][14:16]) * 60 + int(r["time"][17:19])) * 10**9 + int(r["time"][20:29])
    if r.get("probe", "").endswith("change_state"):
        begun[key] = at, f
    elif r.get("probe", "").endswith("change_state_done") and key in begun:
        since, b = begun.pop(key)
        ended.append((at - since, (b["state"]["name"] + " " if "state" in b else "") + "to " + b["requested_state"]["name"],
                      key[0] + (f", thread {key[1]}" if key[1] is not None else "")))
took, name, where = max(ended)
print(f"{took / 1e6:.{2 if took < 10**7 else 1 if took < 10**8 else 0}f} ms {name} {where}")
END
	is "$(result 0)" "$(/usr/bin/python3 "$tmp/longest.py" "$tmp/nvmf.json")" "a real target: the longest change of state is the first line"
	is "$(jq -c '[.errors, .requests]' "$tmp/seen")" "[[],[]]" "... without an error"
else
	skip_tracing "a real target"
fi

# What is missing
cp "$report" "$tmp/alone"
is "$("$tmp/alone" "$tmp/own.json" 2>&1)" "btgen-report: error: btgen's capture.py is missing: install btgen again" "without the rest of btgen it says so"
is "$("$report" "$tmp/nothing.json" 2>&1)" "btgen-report: error: $tmp/nothing.json: No such file or directory" "a capture that is not there"
like "$("$report" $'no\e[31m\nsuch' 2>&1)" '^btgen-report: error: no.x1b.31m ↵ such: No such file' "... whose name cannot color a terminal"
cp "$tmp/one.json" "$tmp/one"$'\e'"[31m.json"
is "$("$report" "$tmp/one"$'\e'"[31m.json" 2>&1)" "btgen-report: $tmp/one\\x1b[31m.html: 1 event, 0.0 MB" "... nor can that of a page"
is "$("$report" --source "$tmp/nosuch" "$tmp/one.json" 2>&1)" "btgen-report: error: --source: $tmp/nosuch: No such file or directory" "sources that are not there"
like "$("$report" --events -5 "$tmp/one.json" 2>&1; echo $?)" '^btgen-report: error: argument --events: less than 0$' "fewer events than none"
like "$("$report" a b $'c\e[31m' 2>&1)" 'error: unrecognized arguments: c.x1b.31m$' "a word too many colors no terminal"
echo hello >"$tmp/hello"
like "$("$report" "$tmp/hello" 2>&1)" "^btgen-report: error: $tmp/hello has no record: it must be" "a file that is no capture"
not_ok "... of which no page is made" test -e "$tmp/hello.html"
done_testing
