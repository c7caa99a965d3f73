#!/usr/bin/env bash
# Names of providers and probes with any printable character: those that btgen attaches to fire, and those that it
# refuses (dialect_can_name() in gen/dialect/dialect.c) the bpftrace under test cannot attach to alone.
# shellcheck source=tests/lib.sh disable=SC2016
. "$(dirname "$0")/../lib.sh"
need_tracing
command -v python3 >/dev/null || skip_all "python3 is missing"
. "$top/tests/live.sh"
export BPFTRACE=$bpftrace
version=$("$bpftrace" --version | sed -n 's/^bpftrace v0\.\([0-9]*\).*/\1/p')

# Each character that is no letter, digit or _ at the start, in the middle and at the end of a provider and of a name:
# Q stands for it in the program as it is built. The argument says which one it is.
python3 - "$tmp" <<'E2' || exit 1
import subprocess, sys
tmp = sys.argv[1]
codes = [c for c in range(32, 127) if not chr(c).isalnum() and chr(c) != "_"]
probes = []
for c in codes:
    for i, form in enumerate(("Qk%03d", "kQ%03d", "k%03dQ")):
        probes += [(form % c, "n%03d%d" % (c, i), c * 10 + i), ("p%03d%d" % (c, i), form % c, c * 10 + 3 + i)]
evil = '";}BEGIN{printf("evil\\n");exit();}usdt:/x:y:z{printf("%d%s//'.replace("\\n", "")
probes += [("app", "w_star_z", 1), ("app", "w_wide_z", 2), ("app", "EVIL" + "_" * (len(evil) - 4), 3)]
with open(tmp + "/all.c", "w") as f:
    f.write("#include <sys/sdt.h>\n#include <unistd.h>\nint main(int argc, char **argv)\n{\n\t(void)argv;\n\tif (argc > 1)\n\t\tpause();\n")
    f.writelines("\tDTRACE_PROBE1(%s, %s, %d);\n" % p for p in probes)
    f.write("\treturn 0;\n}\n")
E2
gcc -O1 -I"$top/include/btgen/compat" -I"$top/include" -o "$tmp/built" "$tmp/all.c" || exit 1
python3 - "$tmp" <<'E2' || exit 1
import re, sys
tmp = sys.argv[1]
data = open(tmp + "/built", "rb").read()
for form in (rb"\0Qk(\d{3})\0", rb"\0kQ(\d{3})\0", rb"\0k(\d{3})Q\0"):
    # twice: one NUL is the end of a name and what stands before the next one
    for _ in range(2):
        data = re.sub(form, lambda m: m.group(0).replace(b"Q", bytes([int(m.group(1))])), data)
evil = b'";}BEGIN{printf("evil");exit();}usdt:/x:y:z{printf("%d%s//'
data = re.sub(rb"\0EVIL_+\0", lambda m: b"\0" + evil.ljust(len(m.group(0)) - 2, b"_") + b"\0", data)
open(tmp + "/all", "wb").write(data.replace(b"w_star_z", b"w_st*r_z").replace(b"w_wide_z", b"w_stir_z"))
E2
chmod +x "$tmp/all"
# Their arguments: all with a star; a provider with a colon; before 0.27 a backslash at the end.
never='420 421 422 423 424 425 580 581 582'
[ "$version" -ge 27 ] || never+=' 922 925'

# By its path: newer C libraries have probes of their own that fire.
(cd "$tmp" && "$live_sh" -c ./all -e 'usdt:./all:*:* { @[arg0] = count(); }' >counts 2>messages)
python3 - "$tmp" "$never" >"$tmp/want" <<'E2'
import sys
never = [int(c) for c in sys.argv[2].split()]
for c in range(32, 127):
    for i in range(6):
        if not chr(c).isalnum() and chr(c) != "_" and c * 10 + i not in never:
            print("@[%d]: 1" % (c * 10 + i))
E2
is "$(grep -v '^@\[[1-3]\]' "$tmp/counts" | grep '^@' | sort -V)" "$(cat "$tmp/want")" \
	"each character fires once at the start, in the middle and at the end of a provider and of a name"
like "$(cat "$tmp/messages")" "^btgen: warning: $(($(wc -w <<<"$never") + 1)) of [0-9]+ probes are skipped: .* an attach point cannot have" \
	"what cannot be named is skipped, and counted"
is "$(grep '^@\[3\]\|evil' "$tmp/counts")" "@[3]: 1" "a name that looks like the end of the program is a name"

# What is refused: the bpftrace under test itself. raw PROVIDER NAME: the arguments that it prints
raw() {
	printf 'usdt:"%s":%s:%s { printf("got %%d\\n", arg0); }\n' "$tmp/all" "$1" "$2" >"$tmp/raw.bt"
	guard "$bpftrace" -q -c "$tmp/all" "$tmp/raw.bt" 2>/dev/null | grep '^got' | sort
}
isnt() { if [ "$1" != "$2" ]; then ok "$3" true; else ok "$3" false; fi; }
is "$(raw app w_stir_z)" "got 2" "(the other probe fires alone)"
for star in 'w_st*r_z' '"w_st*r_z"' '"w_st\*r_z"'; do
	isnt "$(raw app "$star")" "got 1" "a star is no name for itself alone: $star"
done
"$tmp/all" wait &
held=$!
own $held
wait_for grep -q ' S ' "/proc/$held/stat"
printf 'usdt:"/proc/%d/root%s":":k058":n0580 { }\n' "$held" "$tmp/all" >"$tmp/raw.bt"
guard "$bpftrace" -p "$held" "$tmp/raw.bt" >/dev/null 2>&1
rc=$?
ok "a colon in a provider: not attached with -p" test "$rc" != 0 -a "$rc" != 124
if [ "$version" -lt 27 ]; then
	for end in 'k092\' '"k092\\"' '"k092\"'; do
		is "$(raw p0922 "$end")" "" "before 0.27 a backslash at the end of a name cannot be written: $end"
	done
fi

# The same names in all that btgen writes itself.
cat >"$tmp/app.c" <<'E2'
#include <sys/sdt.h>
enum mood { HAPPY, SAD };
struct st { int len; enum mood mood; };
int main(void)
{
	static struct st s = { 42, SAD }, *p = &s;
	enum mood mood = s.mood;
	DTRACE_PROBE1(jons-app, bigprobe, p);
	DTRACE_PROBE3(ns-slapd, work_q__enqueue, p, 7, mood);
	DTRACE_PROBE1(ns-slapd, odd_name_x, p);
	return 0;
}
E2
gcc -g -O1 -I"$top/include/btgen/compat" -I"$top/include" -o "$tmp/app" "$tmp/app.c" || exit 1
sed -i 's/odd_name_x/o"d%s a'"'"'xy/g' "$tmp/app"
is "$("$btgen" probes -x "$tmp/app" 2>&1 | sed 's/arg0)/p)/')" 'jons-app:bigprobe(struct st *p)
ns-slapd:work_q__enqueue(struct st *p, int arg1, enum mood mood)
ns-slapd:o"d%s a'"'"'xy(struct st *p)' "-l has no doubt about them"
is "$("$live_sh" -c "$tmp/app" -e 'usdt:__EXE__:jons-app:bigprobe { printf("%d %s\n", args.p->len, args.p->mood); }' 2>/dev/null)" \
	"42 SAD" "DTRACE_PROBE1(jons-app, bigprobe, ...) is traced, with its types"
is "$(cd "$tmp" && "$live_sh" -c ./app -e 'usdt:./app:ns-slapd:work_q__enqueue { printf("%d %s\n", args.p->len, args.mood); }' 2>/dev/null)" \
	"42 SAD" "by a relative path, too"
is "$(cd "$tmp" && "$live_sh" -c ./app -e 'usdt:$1:ns-slapd:work_$2ue { printf("%d %s %s\n", args.p->len, args.mood, str($2)); }' -- ./app q__enque 2>/dev/null)" \
	"42 SAD q__enque" "by positional parameters, of which one is part of a word"
is "$("$live_sh" -q -c "$tmp/app" -t '*' 2>/dev/null | sed 's/.*\] //' | grep -v '^$\|^libc:' | sed 's/0x[0-9a-f]*/P/;s/arg0=/p=/')" \
	'jons-app:bigprobe p=P
ns-slapd:work_q__enqueue p=P arg1=7 mood=SAD
ns-slapd:o"d%s a'"'"'xy p=P' "-t shows them"
is "$("$live_sh" -q -c "$tmp/app" -t '*' --count 2>/dev/null | sed -n 's/^@count//p' | grep -v '^.libc:' | sort)" \
	'[jons-app:bigprobe]: 1
[ns-slapd:o"d%s a'"'"'xy]: 1
[ns-slapd:work_q__enqueue]: 1' "--count counts them"
is "$("$live_sh" -q -f json -c "$tmp/app" -t '*' 2>/dev/null | python3 -c 'import json, sys
for line in sys.stdin:
    e = json.loads(line)
    if not e.get("probe", "libc:").startswith("libc:"): print(e["probe"])')" \
	'jons-app:bigprobe
ns-slapd:work_q__enqueue
ns-slapd:o"d%s a'"'"'xy' "so does the JSON"
"$live_sh" -n -t '*' -x "$tmp/app" >"$tmp/app.bt"
like "$("$live_sh" -c "$tmp/app" "$tmp/app.bt" 2>/dev/null)" 'ns-slapd:o"d%s a'"'"'xy (p|arg0)=0x' "the template of -t -n runs"
"$btgen" expand -x "$tmp/app" "$tmp/app.bt" --for "0.$version" >"$tmp/whole.bt"
is "$("$bpftrace" -q -c "$tmp/app" "$tmp/whole.bt" 2>/dev/null | grep -c '\] [jn]')" 3 "so is what expand makes of it for bpftrace alone"
"$btgen" bundle -x "$tmp/app" "$tmp/app.bt" --for "0.$version" -o "$tmp/bundle.sh"
is "$(BPFTRACE=$bpftrace guard sh "$tmp/bundle.sh" -c "$tmp/app" 2>/dev/null | grep -c '\] [jn]')" 3 "and a bundle"

# Labels that are longer than a literal of this bpftrace: two that end alike, and one with a quote in it.
long=abcdefghij_abcdefghij_abcdefghij_abcdefg
printf '#include <sys/sdt.h>\nint main(void)\n{\n\tDTRACE_PROBE1(first_%s, %s, 1);\n\tDTRACE_PROBE1(second%s, %s, 2);
\tDTRACE_PROBE1(app, o_quote_%s, 3);\n\tDTRACE_PROBE1(app, short, 4);\n}\n' $long $long $long $long $long$long >"$tmp/long.c"
gcc -g -O1 -I"$top/include/btgen/compat" -I"$top/include" -o "$tmp/long" "$tmp/long.c" || exit 1
sed -i "s/o_quote_$long/o\"quote_$long/g" "$tmp/long"
quoted="app:o\"quote_$long$long"
counts="[app:short]: 1
[first_$long:$long]: 1
[second$long:$long]: 1
[$quoted]: 1"
if [ "$version" -lt 23 ]; then
	quoted=...${quoted: -53}
	end=second$long:$long
	counts="[$quoted]: 1
[...${end: -53} (2)]: 1
[...${end: -53}]: 1
[app:short]: 1"
fi
is "$("$live_sh" -q -c "$tmp/long" -t '*' --count 2>&1 | sed -n 's/^@count//p' | grep -v '^.libc:' | LC_ALL=C sort)" "$(LC_ALL=C sort <<<"$counts")" \
	"--count: a label that is too long is cut, is a key of its own, and keeps no other from being counted"
"$live_sh" -n -c "$tmp/long" -t '*' >"$tmp/long.bt"
is "$("$live_sh" -q -c "$tmp/long" "$tmp/long.bt" 2>&1 | sed -n 's/^.*\] \(.*\) arg0=/\1 /p')" "first_$long:$long 1
second$long:$long 2
$quoted 3
app:short 4" "the script of -n runs, too"
done_testing
