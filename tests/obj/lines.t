#!/usr/bin/env bash
# Source lines: -l lists those that readelf has beginnings of statements for, and an attach point means these addresses.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
mkdir -p "$tmp/a" "$tmp/b"
cat >"$tmp/a/part.h" <<'EOF2'
static inline int part(int n) { int s = 0; for (int i = 0; i < n; i++) s += i ^ n; return s; }
EOF2
cat >"$tmp/b/part.h" <<'EOF2'
static inline int other(int n)
{
	return n * 3;
}
EOF2
cat >"$tmp/one.c" <<'EOF2'
#include "a/part.h"
extern volatile int sink;
static inline __attribute__((always_inline)) int only(int n)
{
	return n * sink;
}

int far_away(int n);
int work(int n);
int work(int n)
{
	int sum = part(n);
	while (sum % 7) {
		sum += only(n);
		if (sum & 1)
			sink = sum;
	}
	switch (n) {
	case 1: return sum;
	case 2: return only(sum) + far_away(n);
	}
	return far_away(sum) + only(n);
}
EOF2
cat >"$tmp/two.c" <<'EOF2'
#include "b/part.h"
volatile int sink;
int far_away(int n);
int work(int n);
int far_away(int n) { return sink + other(n); }
int main(int argc, char **argv) { (void)argv; return work(argc); }
EOF2
cat >"$tmp/check.py" <<'EOF2'
import re, subprocess, sys
btgen, app, wanted = sys.argv[1:]
rows, last = {}, None  # line -> addresses; those whose row follows one of the same line may be part of it
dump = subprocess.run(["readelf", "--debug-dump=decodedline", "-W", app], capture_output=True, text=True).stdout
begins = {}
table = []
for text in dump.splitlines():
    m = re.match(r"(\S+)\s+(\d+|-)\s+(0x[0-9a-f]+|0)\s*(?:\[\d+\]|\d+)?\s*(x)?\s*(END)?", text)
    if m:
        name, line, at, stmt = m[1].split("/")[-1].rstrip(":"), m[2], int(m[3], 16), m[4]
        if line == "-":
            table.append((None, 0, at))
        elif stmt:
            table.append((name, int(line), at))
before = None
for name, line, at in table:
    if name == wanted:
        begins.setdefault(line, {})
        begins[line].setdefault(at, (name, line) != before)
    before = (name, line)
run = subprocess.run([btgen, "probes", "-x", app, wanted + ":1-999"], capture_output=True, text=True)
listed = {int(re.match(r"uprobe:[^:]*:(\d+)", x)[1]) for x in run.stdout.splitlines()}
if listed != set(begins):
    print("listed", sorted(listed), "readelf has", sorted(begins))
for line, at in begins.items():
    run = subprocess.run([btgen, "expand", "--for", "0.27", "-x", app, "-e", "uprobe:__EXE__@%s:%d { @ = count(); }" % (wanted, line)],
                         capture_output=True, text=True)
    got = {int(x, 16) for x in re.findall(r":(0x[0-9a-f]+)", run.stdout)}
    if not got <= set(at) or not {a for a in at if at[a]} <= got:
        print(line, "is at", sorted(map(hex, got)), "readelf has", {hex(a): at[a] for a in at}, run.stderr)
EOF2
for how in "gcc -O0" "gcc -O2" "gcc -O3 -gdwarf-4" "gcc -O2 -gsplit-dwarf" "gcc -O2 -ffunction-sections -Wl,--gc-sections" "clang -O0" "clang -O2" "clang -O2 -gdwarf-4"; do
	command -v "${how%% *}" >/dev/null || { skip "$how" "no ${how%% *}"; continue; }
	# shellcheck disable=SC2086
	(cd "$tmp" && $how -g -o app one.c two.c) || { ok "$how compiles" false; continue; }
	for file in one.c two.c; do
		is "$(python3 "$tmp/check.py" "$btgen" "$tmp/app" $file 2>&1)" "" "$how: the lines of $file"
	done
done
(cd "$tmp" && gcc -O0 -g -o app one.c two.c) || exit 1
said() { # LINE: of an attach point
	"$btgen" check --for 0.27 -x "$tmp/app" -e "uprobe:__EXE__:$1 { @ = count(); }" 2>&1
}
like "$(said part.h:1)" 'error: part.h is ambiguous: .*/[ab]/part.h or .*/[ab]/part.h\? Write more of its path' "two files of one name"
is "$(said a/part.h:1)" "" "more of its path says which"
is "$(said "$tmp/a/part.h:1")" "" "so does all of it"
like "$(said art.h:1)" 'error: no source file art.h in ' "a name is whole"
like "$(said one.c:0)" 'error: one.c:0: the first line of a file is 1' "no line"
like "$(said one.c:7)" 'error: one.c:7 has no code: the next line that has some is ' "a line without code"
is "$("$btgen" probes -x "$tmp/app" one.c:7 2>&1)" "btgen: error: one.c:7 has no code
btgen: note: the next line that has some is 11" "-l says so, too"
is "$("$btgen" probes -x "$tmp/app" b/part.h:4-2 2>&1)" "$("$btgen" probes -x "$tmp/app" b/part.h:2-4 2>&1)" "the last line may be written first"
is "$("$btgen" probes -x "$tmp/app" b/part.h:2-4 none.c:1 2>&1 | sort)" "btgen: error: no file has debug information (-g) of none.c
uprobe:b/part.h:2  other()
uprobe:b/part.h:3  other()
uprobe:b/part.h:4  other()" "-l lists lines with their functions"
strip -g "$tmp/app"
like "$(said one.c:12)" 'error: no source file one.c in ' "without debug information there are no lines"
done_testing
