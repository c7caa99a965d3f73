#!/usr/bin/env bash
# A program that is traced, and has read the program that traces it, prints what that would print: its strings are data, and
# none of them becomes a record, a count or a message.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"

# Each line of its input is a number and bytes in hexadecimal, which it passes to a probe; the last one is "0".
cat >"$tmp/app.c" <<'END'
#include <btgen/usdt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

int main(void)
{
	static char line[4096], text[2048];
	while (fgets(line, sizeof(line), stdin) && line[0] != 'q') {
		char *hex;
		long number = strtol(line, &hex, 10);
		size_t n = 0;
		for (unsigned byte; sscanf(hex, " %2x", &byte) == 1; n++, hex += strspn(hex, " ") + 2)
			text[n] = byte;
		text[n] = 0;
		prctl(PR_SET_NAME, text);
		USDT_PROBE(app, say, number, text);
		if (number == 0)
			printf("done\n"), fflush(stdout);
	}
	return 0;
}
END
gcc -O1 -g -I"$top/include" -o "$tmp/app" "$tmp/app.c" || exit 1

# attacks.py PROGRAM [ATTACKS]: what may be made of the text of the program that bpftrace runs: Python's list of bytes
cat >"$tmp/attacks.py" <<'END'
import re, sys

program = open(sys.argv[1], "rb").read()
start = re.search(rb'printf\("(@[0-9a-f]{16}<)', program)[1]
counts = re.search(rb"@fired_[0-9a-f]{16}", program)[0]
attacks = [start, start[:-1], start[:9], start + b"0", start * 2, b"<1>", b"<1>>", b">", b"<18446744073709551615>>\n",
           b"<-1>>\n" + start + b"0", counts, b"\n" + counts + b"[0]: 7000\n", b"\n\n" + counts + b"[1]: 1", b"\n@m[1]: 5\n",
           b"Lost 99 events", b"\nLost 99 events\n", b"Attaching 5 probes...", b"\nAttached 5 probes\n", b"\r\x1b[2Jx", b"\xff\xfe \x80",
           b"%s%n%d", b'"}\n{"text": "FORGED"}', start + b"9" * 30, start + b"99999,1>\n", b"\n", b"a\n" + start, b""]
# Whole records, as the program's own formats have them, with keys of its own.
for format in re.findall(rb'printf\("(@[0-9a-f]{16}<[^"]*)"', program):
    number = iter(range(1, 100))
    record = re.sub(rb"%ld", lambda _: b"%d" % (660 + next(number)), format).replace(b"%lu", b"5").replace(b"%s", b"FORGED")
    record = record.replace(b"\\n", b"\n")
    attacks += [record, b"\n" + record, b"x<5>>\n" + record, record[:-1], b"\n" + record + record]
attacks = [a for a in attacks if len(a) < 180]
if len(sys.argv) > 2:
    with open(sys.argv[2], "w") as f:
        for i, a in enumerate(attacks):
            print(i + 1, a.hex(" "), file=f)
        print(0, b"end".hex(" "), file=f)
open(sys.argv[1] + ".attacks", "wb").write(b"\0".join(attacks + [b"end"]))
END

# the text of the program that bpftrace runs, as a root who may look into its memory has it
running() {
	local tracer fd
	read -r tracer _ <"/proc/$live_tracer/task/$live_tracer/children"
	for fd in /proc/"$tracer"/fd/*; do
		if [[ $(readlink "$fd") == *memfd:btgen-program* ]]; then
			cat "$fd" >"$tmp/program" && return
		fi
	done
	return 1
}

# attack CLAIM ARG...: traces the program with these arguments, and has it print what it has read
attack() {
	local claim=$1
	shift
	live_start "$tmp/app"
	ok "$claim: it attaches" live_trace -q -W no-format "$@" $live_pid
	ok "$claim: the program that runs is read" running
	python3 "$tmp/attacks.py" "$tmp/program" "$tmp/input" || return
	cat "$tmp/input" >&8
	wait_for grep -q 'done' "$tmp/answers"
	live_wait INT
	is "$live_rc $(cat "$tmp/messages")" "0 " "$claim: ^C is status 0, and nothing is said of loss"
	live_quit
}

script='usdt:__EXE__:say { printf("[%s] %d\n", str(arg1), arg0); } usdt:__EXE__:say /arg0 > 1000/ { printf("number %d\n", arg0); }'
attack text -e "$script"
python3 - "$tmp" <<'END'
import sys
attacks = open(sys.argv[1] + "/program.attacks", "rb").read().split(b"\0")
numbers = [*range(1, len(attacks)), 0]
open(sys.argv[1] + "/want", "wb").write(b"".join(b"[%s] %d\n" % pair for pair in zip(attacks, numbers)))
END
ok "text: each string is what it was, byte by byte ($(wc -l <"$tmp/input") of them)" cmp "$tmp/want" "$tmp/trace"

attack sorted -s --time mono -e "$script"
is "$(grep -ac '^[0-9.]* \[[0-9]*\] .* app:say: ' "$tmp/trace")" "$(grep -aoc '' "$tmp/want")" "-s: each line has a head, and no other line"
is "$(grep -ac 'number [0-9]' "$tmp/trace")" 0 "-s: the clause that does not run prints nothing"

# of JSON: no event but those that the program fired, with their values
cat >"$tmp/events.py" <<'END'
import json, sys

attacks = open(sys.argv[1] + "/program.attacks", "rb").read().split(b"\0")
numbers = [*range(1, len(attacks)), 0]
names = sys.argv[2:4]


def text(v):
    return bytes.fromhex(v["hex"]) if isinstance(v, dict) else v.encode()


wrong = 0
capture, *lines = [json.loads(line) for line in open(sys.argv[1] + "/trace", encoding="utf-8")]
for line, a, n in zip(lines, attacks, numbers):
    got = line.get("fields", {})
    if line["probe"] != "app:say" or got.get(names[0]) != n or text(got.get(names[1])) != a:
        print("#", n, a, line)
        wrong += 1
print(len(lines) - len(attacks), wrong)
END
attack JSON -f json -e "$script"
is "$(python3 "$tmp/events.py" "$tmp" number text)" "0 0" "-f json: an object for each string, with its bytes, and no other"

attack -t -f json -t say
is "$(python3 "$tmp/events.py" "$tmp" number text)" "0 0" "-t -f json: the same"

attack -t -t say
is "$(wc -l <"$tmp/trace") $(grep -c '\] app:say number=[0-9]* text="' "$tmp/trace")" "$(wc -l <"$tmp/input") $(wc -l <"$tmp/input")" \
	"-t: a line for each string, and no other"

# What bpftrace prints itself: keys and values of maps, in the middle and at the end. A line of counts in a key is taken for
# one, and what bpftrace before 0.24 says of loss in the middle of its output, too: a loss is said that was none.
sed -i 's/^attacks = \[a for a/& in attacks if counts not in a and b"Lost" not in a]\nattacks = [a for a/' "$tmp/attacks.py"
maps='usdt:__EXE__:say { @m[str(arg1)] = count(); @last = str(arg1); } usdt:__EXE__:say /arg0 == 0/ { print(@m); print(@last); }
usdt:__EXE__:say /arg0 > 1000/ { printf("FAKE %d %s\n", arg0, str(arg1)); }'
attack maps -e "$maps"
is "$(grep -ac '^FAKE' "$tmp/trace")" 0 "maps: no string in a key is a record"
is "$(python3 - "$tmp" <<'END'
import sys
attacks = set(open(sys.argv[1] + "/program.attacks", "rb").read().split(b"\0"))
trace = open(sys.argv[1] + "/trace", "rb").read()
for a in attacks:
    if trace.count(b"@m[" + a + b"]: ") != 2:
        print(a)
END
)" "" "maps: each is printed as it is, twice"
attack 'maps, JSON' -f json -e "$maps"
is "$(python3 -c 'import json, sys
print([line for line in map(json.loads, open(sys.argv[1] + "/trace")) if "fields" in line])' "$tmp")" "[]" "-f json, maps: likewise"

# Names of parameters are the program's, too: its debug information may have anything for them.
cat >"$tmp/names.c" <<'END'
#include <stdio.h>
__attribute__((noipa)) void login(int user_name_that_is_long_enough) { __asm__ volatile("" : : "r"(user_name_that_is_long_enough)); }
int main(void) { getchar(); login(4); puts("done"); }
END
gcc -O1 -g -o "$tmp/plain" "$tmp/names.c" || exit 1
python3 - "$tmp/plain" "$tmp/names" <<'END'
import sys
old, new = b"user_name_that_is_long_enough\0", b"u=1\n06:00:00 sshd[1] \x1b]0;x\x07 x"
data = open(sys.argv[1], "rb").read()
assert old in data
open(sys.argv[2], "wb").write(data.replace(old, (new + b"_" * len(old))[:len(old) - 1] + b"\0"))
END
chmod +x "$tmp/names"
live_start "$tmp/names"
ok "a program with such a parameter is traced" live_trace -t uprobe:login "$live_pid"
echo >&8
live_wait
exec 8>&-
is "$(sed 's/.*uprobe:login //' "$tmp/trace")" 'u=1\x0a06:00:00 sshd[1] \x1b]0;x\x07 x=4' "its name is one word of one line"
done_testing
