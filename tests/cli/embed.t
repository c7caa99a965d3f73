#!/usr/bin/env bash
# btgen embed: what it keeps of a program's types, that nothing else of the file changes, what is refused. Values: tests/live/embed.t.
. "$(dirname "$0")/../lib.sh"
# shellcheck disable=SC2154 # tmp, btgen, top: lib.sh

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
arguments() { "$btgen" probes -v -x "$1" | grep -v ' 0x\|@\|probes\?$\|site'; }

cp "$tmp/app" "$tmp/kept"
chmod 750 "$tmp/kept"
ln -s kept "$tmp/link"
like "$("$btgen" embed -v "$tmp/link")" "^$tmp/link: types of 24 of 24 arguments at 5 sites, [0-9]+ bytes$" "-v says what was found"
is "$(readlink "$tmp/link") $(stat -c %a "$tmp/kept")" "kept 750" "a link stays, and the file has its mode"
if [ "$(id -u)" = 0 ]; then
	cp "$tmp/app" "$tmp/suid"
	chown 65534:65534 "$tmp/suid" && chmod 4755 "$tmp/suid"
	"$btgen" embed "$tmp/suid"
	is "$(stat -c '%u %g %a' "$tmp/suid")" "65534 65534 4755" "and its owner"
	rm "$tmp/suid"
fi
strip -o "$tmp/stripped" "$tmp/kept"
is "$(arguments "$tmp/stripped")" "$(arguments "$tmp/app")" "a stripped file has the same declarations"
like "$(arguments "$tmp/stripped")" 'app:pointers\(char \*label, const char \*name, char \*\*argv, struct item \*it, class ns::box \*b, struct ns::pair<int> \*p, unnamed \*u, struct hidden \*argv2, int \(\*main\)\(\), void \*argv3, enum ns::plain \*kind\)' \
	"as they are in the source"
is "$(readelf -lW "$tmp/kept" | sed 1,2d)" "$(readelf -lW "$tmp/app" | sed 1,2d)" "what is loaded is what was loaded"
ok "and it runs" "$tmp/kept"
cp "$tmp/app" "$tmp/-g"
is "$(cd "$tmp" && "$btgen" embed -v -- -g 2>&1 | cut -d : -f 1)" "-g" "a file whose name looks like an option"
rm "$tmp/-g"
first=$(objdump -s -j .note.btgen.types "$tmp/kept")
"$btgen" embed "$tmp/kept"
is "$(objdump -s -j .note.btgen.types "$tmp/kept")" "$first" "once more: the same note, in the place of the first"
is "$(cd "$tmp" && echo ?*)" "app app.cc kept link stripped" "no other file is left"

is "$("$btgen" enums -x "$tmp/stripped" ns::color ns::plain ns::huge)" "$("$btgen" enums -x "$tmp/app" ns::color ns::plain ns::huge)" \
	"tables of enums come from it"
script='usdt:__EXE__:app:enums /args.kind == ns::one || args.kind == ns::plain::zero || args.arg0 == ns::color::green/ { printf("%s\n", enum_name(ns::color, args.arg0)); }'
is "$("$btgen" expand --for 0.17 -x "$tmp/stripped" -e "$script" | sed "s|$tmp/[a-z]*||")" \
	"$("$btgen" expand --for 0.17 -x "$tmp/app" -e "$script" | sed "s|$tmp/[a-z]*||")" "and enumerators of scripts"
like "$("$btgen" check --for 0.17 -x "$tmp/stripped" -e 'usdt:__EXE__:app:pointers { printf("%d\n", args.label); }' 2>&1)" \
	'warning: %d prints the address of a string: use %s with str\(args.label\)' "check knows the types"
for use in 'printf("%d\n", args.it->id)' 'print(*args.it)' '$x = args.it; printf("%d\n", $x->id)'; do
	like "$("$btgen" check --for 0.17 -x "$tmp/stripped" -e "usdt:__EXE__:app:pointers { $use; }" 2>&1)" \
		"error: no debug information \(DWARF\) for struct item: $tmp/stripped is stripped" "members of structs are not kept: $use"
done
like "$("$btgen" check --for 0.17 -x "$tmp/app" -e 'usdt:__EXE__:app:pointers { printf("%d\n", args.argv2->x); }' 2>&1)" \
	'error: type "struct hidden" is declared in the debug information but not defined' "nor are there members of what is only declared"
is "$("$btgen" check --for 0.17 -x "$tmp/stripped" -e 'struct item { int id; int kind; }
usdt:__EXE__:app:pointers { printf("%d\n", ((struct item *)args.it)->id); }' 2>&1)" "" "a script may define them itself"
is "$("$btgen" expand --for 0.17 -x "$tmp/stripped" -e 'struct item { int id; int kind; }
usdt:__EXE__:app:pointers { $x = args.it; printf("%d %d\n", args.it->id, $x->id); }' 2>&1 | sed -n '$s/.* {/{/p')" \
	'{ $x = ((struct item *)arg3); printf("%d %d\n", ((struct item *)arg3)->id, $x->id); }' "which args.it then leads to"

# What no one here wrote reads it.
if command -v pahole >/dev/null; then
	objcopy -O binary --only-section=.note.btgen.types --set-section-flags .note.btgen.types=alloc "$tmp/kept" "$tmp/note"
	python3 - "$tmp/note" "$tmp/btf" <<'END'
import struct, sys
note = open(sys.argv[1], "rb").read()
(n,) = struct.unpack_from("<I", note, 20)
open(sys.argv[2], "wb").write(note[24 + 12 * n:])
END
	is "$(pahole -F btf -C ns::plain "$tmp/btf")" $'enum ns::plain {\n\tzero = 0,\n\tone  = 1,\n};' "pahole reads the BTF in it"
else
	skip "pahole reads the BTF in it" "no pahole"
fi

# --- <sys/sdt.h>: what debug information proves

cat >"$tmp/plain.c" <<'END'
#include <sys/sdt.h>
enum state { IDLE, BUSY = 4 };
__attribute__((noinline)) int work(enum state state, const char *text, double d)
{
	DTRACE_PROBE3(plain, work, state, text, d);
	return text[0];
}
int main(int argc, char **argv) { return work((enum state)argc, argv[0], argc) == 1; }
END
if gcc -O1 -g -o "$tmp/plain" "$tmp/plain.c" 2>"$tmp/err"; then
	"$btgen" embed "$tmp/plain"
	strip -o "$tmp/plain.stripped" "$tmp/plain"
	is "$(arguments "$tmp/plain.stripped")" "$(arguments "$tmp/plain")" "inferred types and names are kept, too"
	like "$(arguments "$tmp/plain.stripped")" 'plain:work\(enum state state, const char \*text, double d\)' "as inferred"
else
	skip "inferred types" "no <sys/sdt.h>"
fi

# --- what is refused, with nothing changed

refuses() { # CLAIM MESSAGE FILE
	local before after
	before=$(cksum "$3" 2>/dev/null)
	is "$("$btgen" embed "$3" 2>&1)" "$2" "$1"
	after=$(cksum "$3" 2>/dev/null)
	is "$after" "$before" "$1: it is as it was"
}
cp "$tmp/app" "$tmp/other"
strip -o "$tmp/bare" "$tmp/app"
gcc -x c -o "$tmp/none" - <<<'int main(void) { return 0; }'
g++ -g -c -I"$top/include" -o "$tmp/app.o" "$tmp/app.cc"
refuses "no debug information" "$tmp/bare: error: no argument types found: it has no debug information (build with -g, and embed before strip)" "$tmp/bare"
refuses "no probes" "$tmp/none: error: has no probes" "$tmp/none"
refuses "an object file" "$tmp/app.o: error: is not a program or shared library: embed after linking" "$tmp/app.o"
refuses "no ELF file" "$tmp/app.cc: error: not an ELF file" "$tmp/app.cc"
refuses "no file" "$tmp/nosuch: error: cannot open it: no such file" "$tmp/nosuch"
OBJCOPY=/nonexistent/objcopy refuses "no objcopy" "$tmp/other: error: /nonexistent/objcopy not found: OBJCOPY names it" "$tmp/other"
OBJCOPY=false refuses "objcopy fails" "$tmp/other: error: false failed: the file is unchanged" "$tmp/other"
OBJCOPY=true refuses "objcopy writes nothing" "$tmp/other: error: true did not write the types: the file is unchanged" "$tmp/other"
is "$("$btgen" embed 2>&1)" "btgen embed: give a FILE
Try 'btgen embed --help'." "no file is given"

# --- sites whose types nobody knows: what their notes tell is no type of the others

cat >"$tmp/first.c" <<'END'
#include <btgen/usdt.h>
struct box { int w; };
int other(long number);
int main(int argc, char **argv)
{
	struct box b = {argc};
	USDT_PROBE(mixed, one, USDT_ARG(&b, "box"), USDT_ARG(argv[0], "word"), USDT_ARG((long)argc, "number"), USDT_ARG(argv[0], "text"));
	return other(argc);
}
END
cat >"$tmp/second.c" <<'END'
#include <btgen/usdt.h>
int other(long number);
int other(long number)
{
	char text[] = "text";
	USDT_PROBE(mixed, one, USDT_ARG(text, "box"), USDT_ARG(number, "word"), USDT_ARG((const char *)text, "number"), USDT_ARG((const char *)text, "text"));
	USDT_PROBE(mixed, one, USDT_ARG(text, "box"), USDT_ARG(text, "word"), USDT_ARG(number, "number"), USDT_ARG((const char *)0, "text"));
	return text[number & 3];
}
END
for how in "-g0 -g0" "-g -g0" "-g0 -g" "-g -g"; do
	# shellcheck disable=SC2086 # two words
	set -- $how
	gcc -O2 "$1" -I"$top/include" -c -o "$tmp/first.o" "$tmp/first.c"
	gcc -O2 "$2" -I"$top/include" -c -o "$tmp/second.o" "$tmp/second.c"
	gcc -o "$tmp/mixed" "$tmp/first.o" "$tmp/second.o"
	like "$("$btgen" probes -x "$tmp/mixed")" \
		'^mixed:one\(uint64_t box, \? word, \? number, (const )?char \*text\)  3 sites$' "sites of two files, $how"
done

# --- a damaged note: the rest of the file is read as if there were none

cat >"$tmp/damage.py" <<'END'
import random, subprocess, sys
btgen, path, n = sys.argv[1], sys.argv[2], int(sys.argv[3])
data = open(path, "rb").read()
at = data.index(b"btgen\0\0\0", data.rindex(b"t:one") if b"t:one" in data else 0)
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
is "$(python3 "$tmp/damage.py" "$btgen" "$tmp/stripped" 150)" held "150 damaged notes"
# A function of 65535 parameters at each of 3000 sites of one address: 10 GB, if it were believed.
python3 - "$tmp/many" "$("$btgen" probes --json -x "$tmp/bare" | grep -o '"address": "0x[0-9a-f]*' | head -n 1 | cut -d '"' -f 4)" <<'END'
import struct, sys
pc, n = int(sys.argv[2], 16), 65535
types = struct.pack("<III", 0, 13 << 24 | n, 0) + bytes(8 * n) + struct.pack("<III", 1, 12 << 24, 1)
strings = b"\0app:both\0"
btf = struct.pack("<HBBIIIII", 0xeb9f, 1, 0, 24, 0, len(types), len(types), len(strings)) + types + strings
desc = struct.pack("<I", 3000) + 3000 * struct.pack("<QI", pc, 2) + btf
open(sys.argv[1], "wb").write(struct.pack("<III", 6, len(desc), 4) + b"btgen\0\0\0" + desc + bytes(-len(desc) % 4))
END
objcopy --add-section .note.btgen.types="$tmp/many" "$tmp/bare" "$tmp/bare.many"
is "$(limit_memory 1000000; "$btgen" probes -x "$tmp/bare.many" 2>&1)" "$("$btgen" probes -x "$tmp/bare")" "a damaged note takes no memory"

# An enum of 65535 enumerators that share one name of 6 MB.
python3 - "$tmp/many" <<'END'
import struct, sys
n = 65535
types = struct.pack("<III", 1, 19 << 24 | n, 4) + struct.pack("<III", 3, 1, 0) * n
strings = b"\0E\0" + b"A" * 6000000 + b"\0"
btf = struct.pack("<HBBIIIII", 0xeb9f, 1, 0, 24, 0, len(types), len(types), len(strings)) + types + strings
desc = struct.pack("<I", 0) + btf
open(sys.argv[1], "wb").write(struct.pack("<III", 6, len(desc), 4) + b"btgen\0\0\0" + desc + bytes(-len(desc) % 4))
END
objcopy --add-section .note.btgen.types="$tmp/many" "$tmp/bare" "$tmp/bare.many"
like "$(limit_memory 1000000; timeout 20 "$btgen" enums -x "$tmp/bare.many" E 2>&1)" "no debug information" "nor do its names"
done_testing
