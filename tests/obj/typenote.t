#!/usr/bin/env bash
# A stripped program with a .note.btgen.types, as `btgen embed` of 0.1 wrote it (tests/typenote.py): its types are those of the
# source, and a damaged note does no harm. Values: tests/live/typenote.t.
. "$(dirname "$0")/../lib.sh"
# shellcheck disable=SC2154 # tmp, btgen, top: lib.sh
export PYTHONPATH=$top/tests

cat >"$tmp/app.cc" <<'END'
#include <btgen/usdt.h>
namespace ns {
enum class color : short { red = -1, green = 7 };
enum plain { zero, one };
enum huge : unsigned long { top = 0xfffffffffffffffful };
class box { public: int w; };
template <class T> struct pair { T a, b; };
}
struct hidden;
typedef struct { int q; } unnamed;
struct item { int id; ns::plain kind; };
template <class T> void both(T v) { USDT_PROBE(app, both, v); }
int main(int argc, char **argv)
{
	item it = {4, ns::one};
	ns::box b{3};
	ns::pair<int> p{1, 2};
	unnamed u{1};
	char label[16] = "widget";
	const char *volatile name = argv[0];
	bool ok = argc > 1;
	USDT_PROBE(app, numbers, argc, ok, (char)argc, (unsigned char)argc, 5ll, L'x', USDT_BITS(9.5), USDT_BITS(2.5f));
	USDT_PROBE(app, pointers, label, name, argv, &it, &b, &p, &u, (hidden *)argv, main, (void *)argv, &it.kind);
	USDT_PROBE(app, enums, argc ? ns::color::red : ns::color::green, it.kind, ns::top);
	both(1);
	both(it.kind);
	return argc == 99;
}
END
g++ -O2 -g -I"$top/include" -o "$tmp/app" "$tmp/app.cc" || skip_all "no compiler"
strip -o "$tmp/bare" "$tmp/app"
cp "$tmp/bare" "$tmp/kept"
python3 - "$btgen" "$tmp/kept" <<'END'
import sys
from typenote import Note
note = Note({"class ns::color": ("short", {"red": -1, "green": 7}), "enum ns::plain": ("unsigned int", {"zero": 0, "one": 1}),
             "enum ns::huge": ("long unsigned int", {"top": 0xffffffffffffffff})})
note.probe("app:numbers", argc="int", ok="bool", argc2="char", argc3="unsigned char", arg4="long long int", arg5="wchar_t",
           arg6="typedef usdt_double_bits = long unsigned int", arg7="typedef usdt_float_bits = unsigned int")
note.probe("app:pointers", label="char[15]", name="char const *", argv="char * *", it="struct item *", b="class ns::box *",
           p="struct ns::pair<int> *", u="typedef unnamed = struct (unnamed) *", argv2="struct hidden *", main="int () *", argv3="void *",
           kind="enum ns::plain *")
note.probe("app:enums", arg0="class ns::color", kind="enum ns::plain", top="enum ns::huge")
note.probe("app:both", v="int")
note.probe("app:both", v="enum ns::plain")
note.add_to(*sys.argv[1:])
END

arguments() { "$btgen" probes -v -x "$1" | grep -v ' 0x\|@\|probes\?$\|site'; }
is "$(arguments "$tmp/kept")" "$(arguments "$tmp/app")" "a stripped program has the same declarations"
like "$(arguments "$tmp/kept")" 'app:pointers\(char \*label, const char \*name, char \*\*argv, struct item \*it, class ns::box \*b, struct ns::pair<int> \*p, unnamed \*u, struct hidden \*argv2, int \(\*main\)\(\), void \*argv3, enum ns::plain \*kind\)' \
	"as they are in the source"
is "$("$btgen" enums -x "$tmp/kept" ns::color ns::plain ns::huge)" "$("$btgen" enums -x "$tmp/app" ns::color ns::plain ns::huge)" \
	"tables of enums come from it"
script='usdt:__EXE__:app:enums /args.kind == ns::one || args.kind == ns::plain::zero || args.arg0 == ns::color::green/ { printf("%s\n", enum_name(ns::color, args.arg0)); }'
is "$("$btgen" expand --for 0.17 -x "$tmp/kept" -e "$script" | sed "s|$tmp/[a-z]*||")" \
	"$("$btgen" expand --for 0.17 -x "$tmp/app" -e "$script" | sed "s|$tmp/[a-z]*||")" "and enumerators of scripts"
like "$("$btgen" check --for 0.17 -x "$tmp/kept" -e 'usdt:__EXE__:app:pointers { printf("%d\n", args.label); }' 2>&1)" \
	'warning: %d prints the address of a string: use %s with str\(args.label\)' "check knows the types"
for use in 'printf("%d\n", args.it->id)' 'print(*args.it)' '$x = args.it; printf("%d\n", $x->id)'; do
	like "$("$btgen" check --for 0.17 -x "$tmp/kept" -e "usdt:__EXE__:app:pointers { $use; }" 2>&1)" \
		"error: no debug information \(DWARF\) for struct item: $tmp/kept is stripped" "members of structs are not in it: $use"
done
is "$("$btgen" check --for 0.17 -x "$tmp/kept" -e 'struct item { int id; int kind; }
usdt:__EXE__:app:pointers { printf("%d\n", ((struct item *)args.it)->id); }' 2>&1)" "" "a script may define them itself"
is "$("$btgen" expand --for 0.17 -x "$tmp/kept" -e 'struct item { int id; int kind; }
usdt:__EXE__:app:pointers { $x = args.it; printf("%d %d\n", args.it->id, $x->id); }' 2>&1 | sed -n '$s/.* {/{/p')" \
	'{ $x = ((struct item *)arg3); printf("%d %d\n", ((struct item *)arg3)->id, $x->id); }' "which args.it then leads to"

# --- a program whose probes declare nothing: names, too, are the note's

cat >"$tmp/plain.c" <<'END'
#include <sys/sdt.h>
int main(int argc, char **argv)
{
	DTRACE_PROBE2(plain, work, argc, argv[0]);
	return 0;
}
END
if gcc -O1 -o "$tmp/plain" "$tmp/plain.c" 2>"$tmp/err"; then
	python3 - "$btgen" "$tmp/plain" <<'END'
import sys
from typenote import Note
note = Note({"enum state": ("int", {"IDLE": 0, "BUSY": 1})})
note.probe("plain:work", state="enum state", text="char const *")
note.add_to(*sys.argv[1:])
END
	like "$(arguments "$tmp/plain")" 'plain:work\(enum state state, const char \*text\)' "names and types of <sys/sdt.h>'s probes"
	is "$("$btgen" diff "$tmp/plain" "$tmp/plain" 2>&1)" "" "btgen diff compares them"
else
	skip "names and types of <sys/sdt.h>'s probes" "no <sys/sdt.h>"
fi

# --- a damaged note: the rest of the file is read as if there were none

cat >"$tmp/damage.py" <<'END'
import random, subprocess, sys
btgen, path, n = sys.argv[1], sys.argv[2], int(sys.argv[3])
data = open(path, "rb").read()
start = data.rindex(b"\x9f\xeb\x01\x00") - 200
end = start + 200 + 1400
rng, bad = random.Random(7), []
for i in range(n):
    b = bytearray(data)
    for _ in range(rng.choice((1, 2, 8))):
        b[rng.randrange(start, end)] = rng.choice((0, 1, 255, rng.randrange(256)))
    open(path + ".bad", "wb").write(b)
    for command in (["probes", "-v", "-x", path + ".bad"], ["enums", "-x", path + ".bad", "ns::color"]):
        r = subprocess.run([btgen] + command, capture_output=True, timeout=20)
        if r.returncode not in (0, 1):
            bad.append((i, command[0], r.returncode, r.stderr[-200:]))
print(bad[:3] if bad else "held")
END
is "$(python3 "$tmp/damage.py" "$btgen" "$tmp/kept" 150)" held "150 damaged notes"

# many PYTHON: $tmp/many, the stripped program with a note of that description
many() {
	cp "$tmp/bare" "$tmp/many"
	python3 - "$tmp/many" "$1" "$("$btgen" probes --json -x "$tmp/bare" | grep -o '"address": "0x[0-9a-f]*' | head -n 1 | cut -d '"' -f 4)" <<'END'
import struct, sys
from typenote import add_section, btf
pc = int(sys.argv[3], 16)
add_section(sys.argv[1], eval(sys.argv[2]))
END
}
# A function of 65535 parameters at each of 3000 sites of one address: 10 GB, if it were believed.
many 'struct.pack("<I", 3000) + 3000 * struct.pack("<QI", pc, 2) + btf(
	struct.pack("<III", 0, 13 << 24 | 65535, 0) + bytes(8 * 65535) + struct.pack("<III", 1, 12 << 24, 1), b"\0app:both\0")'
is "$(limit_memory 1000000; "$btgen" probes -x "$tmp/many" 2>&1)" "$("$btgen" probes -x "$tmp/bare")" "a damaged note takes no memory"
# An enum of 65535 enumerators that share one name of 6 MB.
many 'struct.pack("<I", 0) + btf(struct.pack("<III", 1, 19 << 24 | 65535, 4) + 65535 * struct.pack("<III", 3, 1, 0),
	b"\0E\0" + b"A" * 6000000 + b"\0")'
like "$(limit_memory 1000000; guard "$btgen" enums -x "$tmp/many" E 2>&1)" "no debug information" "nor do its names"
done_testing
