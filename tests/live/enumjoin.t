#!/usr/bin/env bash
# A variable, map, key, tuple or choice that holds numbers of several types: a name is that of the value's own enum, or none is printed.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"
can_trace || skip_all "needs root and bpftrace"

cat >"$tmp/t.c" <<'END'
#include <btgen/usdt.h>
enum state { IDLE, BUSY, DONE };
enum color { RED, GREEN, BLUE };
struct o { enum state state; enum color color; int i; };
int main(void)
{
	volatile struct o o = { DONE, GREEN, 2 };
	USDT_PROBE(app, it, (struct o *)&o);
	return 0;
}
END
gcc -O1 -g -I"$top/include" -o "$tmp/t" "$tmp/t.c" || exit 1

# Of each value: what it may print, and what it must where all of its place are of one enum.
python3 - "$tmp" <<'END' || exit 1
import sys
VALUES = {"$o->state": ("state", "DONE", 2), "$o->color": ("color", "GREEN", 1), "$o->i": ("", "", 2), "2": ("2", "", 2),
          "BUSY": ("state", "BUSY", 1), "BLUE": ("color", "BLUE", 2)}
PLACES = ["$v{n} = {a}; if ($o->i == {late}) {{ $v{n} = {b}; }} printf(\"{n} %s\\n\", $v{n});",
          "if ($o->i == {late}) {{ @m{n} = {b}; }} else {{ @m{n} = {a}; }} printf(\"{n} %s\\n\", @m{n});",
          "if ($o->i == {late}) {{ @v{n} = {b}; }} else {{ @v{n} = {a}; }}",
          "if ($o->i == {late}) {{ @k{n}[{b}] = 1; }} else {{ @k{n}[{a}] = 1; }}",
          "@c{n}[$o->i == {late} ? {b} : {a}] = 1;",
          "@t{n}[1] = ($o->i == {late} ? {b} : {a}, 1);",
          "printf(\"{n} %s\\n\", $o->i == {late} ? {b} : {a});",
          "print(($o->i == {late} ? {b} : {a}, {n}));"]
n, script, rules = 0, [], []
for place in PLACES:
    for a, (enum_a, name_a, v_a) in VALUES.items():
        for b, (enum_b, name_b, v_b) in VALUES.items():
            if a == b or not (a[0] == "$" or b[0] == "$"):
                continue
            for late in (2, 3):  # the second value, the first
                n += 1
                own, enum, value = (name_b, enum_b, v_b) if late == 2 else (name_a, enum_a, v_a)
                script.append(place.format(n=n, a=a, b=b, late=late))
                names = {"state": ["IDLE", "BUSY", "DONE"], "color": ["RED", "GREEN", "BLUE"]}
                one = next((e for e in (enum_a, enum_b) if e in names), "")
                may = {str(value), own} if enum in names else {str(value)}
                if enum == "2" and one:  # a literal: of the enum beside it, for all that is known
                    may.add(names[one][value])
                is_one = enum_a == enum_b and enum in names
                rules.append(f"{n}\t{' '.join(sorted(filter(None, may)))}\t{own if is_one else ''}\t{script[-1]}")
size = 40  # for the stack
with open(sys.argv[1] + "/t.bt", "w") as f:
    for i in range(0, n, size):
        f.write("usdt:__EXE__:app:it {\n$o = args.o;\n" + "\n".join(script[i:i + size]) + "\n}\n")
with open(sys.argv[1] + "/rules", "w") as f:
    f.write("\n".join(rules) + "\n")
END

"$live_sh" -q -c "$tmp/t" "$tmp/t.bt" >"$tmp/out" 2>&1 || sed 's/^/# /' "$tmp/out"
# n TEXT: of each place what was printed
sed -nE 's/^([0-9]+) (.*)$/\1\t\2/p; s/^\((.*), ([0-9]+)\)$/\2\t\1/p; s/^@[mv]([0-9]+): (.*)$/\1\t\2/p; s/^@[kc]([0-9]+)\[(.*)\]: 1$/\1\t\2/p
s/^@t([0-9]+)\[1\]: \((.*), 1\)$/\1\t\2/p' "$tmp/out" >"$tmp/got"
ok "all are printed" python3 - "$tmp" <<'END'
import sys
def rows(name): return [line.rstrip("\n").split("\t") for line in open(f"{sys.argv[1]}/{name}")]
got = {}
for n, text in rows("got"):
    got.setdefault(n, set()).add(text)
bad = []
for n, may, must, text in rows("rules"):
    have = got.get(n, {"nothing"})
    if not have <= set(may.split()) or (must and must not in have):
        bad.append(f"{n}: {' '.join(have)}, not {may}{', but ' + must if must else ''}: {text}")
print(f"# {len(got)} places\n" + "\n".join("# " + b for b in bad[:20]))
sys.exit(len(bad) > 0)
END
done_testing
