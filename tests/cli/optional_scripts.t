#!/usr/bin/env bash
# Scripts that can do without a probe, on programs that lack it: whichever is missing, bpftrace takes what is left.
# The programs are copies of the real ones, in which the note of one probe, or of all but one, has another name.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
readelf -n "$targets/nvmf_tgt" 2>/dev/null | grep -q 'Provider: spdk' || skip_all "built with --without-usdt"

cat >"$tmp/without.py" <<'END'
"""Prints what is wrong with the programs that btgen makes of a script when probes are missing.

without.py BTGEN VERSION SCRIPT PROGRAM FOLDER: FOLDER/copy is the program, FOLDER/alone what is left of the script with
the first probe that works alone, FOLDER/probes how many there are.
"""
import re
import subprocess
import sys

btgen, version, script, program, folder = sys.argv[1:]
copy = folder + "/copy"
data = open(program, "rb").read()
open(copy, "wb").write(data)
for line in subprocess.run(["readelf", "-SW", program], capture_output=True, text=True, check=True).stdout.splitlines():
    words = line.replace("[ ", "[").split()
    if len(words) > 5 and words[1] == ".note.stapsdt":
        start, size = int(words[4], 16), int(words[5], 16)
KEY = r"(?:\[(?:[^\[\]]|\[(?:[^\[\]]|\[[^\[\]]*\])*\])*\])?"


def expand(without):
    notes = bytearray(data[start:start + size])
    for name in without:
        for found in re.finditer(b"\0(" + name.encode() + b")\0", bytes(notes)):
            notes[found.start(1)] = ord("Z")
    with open(copy, "r+b") as f:
        f.seek(start)
        f.write(notes)
    r = subprocess.run([btgen, "expand", "-x", copy, "--for", version, script], capture_output=True, text=True)
    return r.returncode, r.stdout, r.stderr


def check(what, text):
    """bpftrace refuses a map that is never set: it does not know what the map holds."""
    text = re.sub(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\]|\\.)*"', '""', text, flags=re.S)
    is_set = set(re.findall(r"(@\w*)" + KEY + r"\s*(?:[-+*/|&]?=(?!=)|\+\+|--)", text))
    for name in sorted(set(re.findall(r"@\w*", text)) - is_set):
        print(f"{what}: {name} is never set")


whole = expand([])[1]
probes = sorted(set(re.findall(r"usdt:[^\s,]*:([a-z_]+)", whole)))
open(folder + "/probes", "w").write(str(len(probes)))
check("with all", whole)
alone = None
for name in probes:
    if len(probes) > 1:
        status, text, err = expand([name])
        check("without " + name, text)
        if status or not re.search(rf"skipped, not in .*\b{name}\b", err):
            print(f"without {name}: status {status} {err}")
    others = [n for n in probes if n != name]
    status, text, err = expand(others)
    check(f"only {name}", text)
    if status and "has none of the probes of" not in err:
        print(f"only {name}: {err}")
    elif not status and not alone:
        alone = text, others
if alone:
    open(folder + "/alone", "w").write(alone[0])
    expand(alone[1])
END

version=$("$bpftrace" --version 2>/dev/null | sed -nE 's/.*v(0\.[0-9]+).*/\1/p')
version=${version:-0.17}
only_compile=--dry-run
[ "${version#0.}" -ge 20 ] || only_compile=-d

for script in $(cd "$top/bpf" && grep -lx '#pragma optional' ./*.bt | sed 's|^\./||; s/\.bt$//'); do
	case $script in
	ruby) binary=$(ldd /usr/bin/ruby 2>/dev/null | sed -n 's/.*libruby.* => \([^ ]*\).*/\1/p') ;;
	php) binary=$(command -v php) ;;
	python) binary=/usr/bin/python3 ;;
	java) binary=$(printf '%s\n' /usr/lib/jvm/*/lib/server/libjvm.so | head -n 1) ;;
	postgresql-waits) binary=$(printf '%s\n' /usr/lib/postgresql/*/bin/postgres | head -n 1) ;;
	*) binary=$targets/nvmf_tgt ;;
	esac
	readelf -n "$binary" 2>/dev/null | grep -q stapsdt || {
		skip "$script.bt" "no program with such probes here"
		continue
	}
	# No process: its number is any.
	sed '/^#/!s/__PID__/1/g' "$top/bpf/$script.bt" >"$tmp/$script.bt"
	rm -f "$tmp/copy" "$tmp/alone"
	is "$(/usr/bin/python3 "$tmp/without.py" "$btgen" "$version" "$tmp/$script.bt" "$binary" "$tmp" 2>&1)" "" \
		"$script.bt without any one of its probes, and with only one"
	ok "... $(cat "$tmp/probes") probes" test "$(cat "$tmp/probes")" -gt 1
	[ -s "$tmp/alone" ] || continue
	if can_trace; then
		chmod +x "$tmp/copy"
		"$bpftrace" $only_compile "$tmp/alone" >"$tmp/out" 2>&1
		is "$? $(grep -a 'ERROR' "$tmp/out" | grep -v RLIMIT)" "0 " "bpftrace takes what is left with only one"
	else
		skip_tracing "bpftrace takes what is left with only one"
	fi
done

done_testing
