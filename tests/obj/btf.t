#!/usr/bin/env bash
# A stripped C program whose .BTF `pahole -J` has written after linking: the types of its probes, structs and enums are those of
# the source. What .BTF cannot be sure of is unknown, and a corrupt one does no harm. Values: tests/live/btf.t.
. "$(dirname "$0")/../lib.sh"
# shellcheck disable=SC2154 # tmp, btgen, top: lib.sh
command -v pahole >/dev/null || skip_all "no pahole"
export LLVM_OBJCOPY=objcopy

cat >"$tmp/app.h" <<'END'
#include <btgen/usdt.h>
enum state { IDLE, BUSY = 5, BROKEN = -1 };
enum __attribute__((packed)) small { LOW = -2, HIGH = 3 };
typedef struct item item_t;
struct item { char name[12]; signed char delta; unsigned flags : 3; int sign : 4; enum state state; item_t *next; };
static inline __attribute__((always_inline)) void seen(const item_t *it) { USDT_PROBE(app, seen, it, it->state); }
int other(item_t *it, char *text, const char *constant);
END
cat >"$tmp/app.c" <<'END'
#include "app.h"
static int handle(int x) { return x; }
int main(int argc, char **argv)
{
	item_t it = {"widget", -3, 2, -1, argc ? BUSY : IDLE, 0};
	enum small small = argc ? LOW : HIGH;
	_Bool ok = argc > 1;
	seen(&it);
	USDT_PROBE(app, twice, it.state);
	USDT_PROBE(app, twice, it.state);
	USDT_PROBE(app, numbers, argc, ok, (char)argc, (unsigned char)argc, 5ll, it.flags, it.delta, USDT_BITS(9.5), USDT_BITS(2.5f), small);
	USDT_PROBE(app, pointers, it.name, argv[0], argv, &it, (void *)argv, handle, (const struct none *)argv, &it.state);
	USDT_PROBE_LAZY(app, lazy, it.state);
	USDT_PROBE(app, sizes, it.state);
	USDT_PROBE(app, texts, it.name);
	USDT_PROBE(app, disputed, it.state);
	USDT_PROBE(app__a, b, it.state);
	USDT_PROBE(app, a__b, argc);
	return other(&it, it.name, argv[0]);
}
END
cat >"$tmp/other.c" <<'END'
#include "app.h"
enum colour { RED, GREEN };
int other(item_t *it, char *text, const char *constant)
{
	seen(it);
	USDT_PROBE(app, texts, constant);
	USDT_PROBE(app, disputed, *text ? RED : (enum colour)GREEN);
	USDT_PROBE(app, sizes, (long)it->state);
	return 0;
}
END

# arguments FILE: each probe and what is known of its arguments
arguments() { "$btgen" probes -v -x "$1" | grep -v ' 0x\|@\|probes\?$\|site' | sed 's/, at most .*//; s/  *declared$//'; }
for cc in gcc clang; do
	for opt in -O0 -O2 '-O2 -flto'; do
		# shellcheck disable=SC2086 # two options
		if ! $cc $opt -g -I"$top/include" -o "$tmp/app" "$tmp/app.c" "$tmp/other.c" 2>"$tmp/err"; then
			skip "$cc $opt" "$(tail -n 1 "$tmp/err")"
			continue
		fi
		cp "$tmp/app" "$tmp/kept"
		pahole -J "$tmp/kept" && strip "$tmp/kept"
		is "$(arguments "$tmp/kept" | grep -v 'a__b\|app__a\|disputed' | grep '(')" "$(arguments "$tmp/app" | grep -v 'a__b\|app__a\|disputed' | grep '(')" \
			"$cc $opt: a stripped program has the same declarations"
	done
done
gcc -O2 -g -I"$top/include" -o "$tmp/app" "$tmp/app.c" "$tmp/other.c"
cp "$tmp/app" "$tmp/kept"
pahole -J "$tmp/kept" && strip "$tmp/kept"
list=$("$btgen" probes -v -x "$tmp/kept")
declared() { like "$list" "$1" "$2"; }
declared '
app:numbers\(int argc, _?[Bb]ool ok, char argc2, unsigned char argc3, long long int arg4, int flags, signed char delta, usdt_double_bits arg7, usdt_float_bits arg8, enum small small\)' "numbers are as they are in the source"
declared '
app:pointers\(char \*name, char \*argv, char \*\*argv2, item_t \*it, void \*argv3, int \(\*handle\)\(\), const struct none \*argv4, enum state \*state\)' "pointers, too"
declared '
app:seen\(const item_t \*it, enum state state\)' "an inline function of a header in two units"
declared '
app:twice\(enum state state\)' "twice in one function"
declared '
app:lazy\(enum state state\)' "a lazy probe"
declared '
app:texts\(const char \*name\)' "char * here and const char * there are one text"
declared '
app:disputed\(uint32_t state\)' "where two sites disagree, nothing is claimed"
declared '
app__a:b\(uint32_t state\)' "nor of a name that two probes spell"
declared '
app:a__b\(int32_t argc\)' "of either"
is "$("$btgen" probes --json -x "$tmp/kept" | python3 -c '
import json, sys
p = [p for p in json.load(sys.stdin) if p["name"] == "sizes"][0]
print([[a.get("type") for a in s["args"]] for s in p["sites"]])')" "[['enum state'], ['long int']]" "an operand of another size has another type"

for name in 'struct item' 'enum small' item_t 'enum colour'; do
	is "$("$btgen" types --assert -x "$tmp/kept" "$name")" "$("$btgen" types --assert -x "$tmp/app" "$name")" "btgen types: $name"
done
is "$("$btgen" enums -x "$tmp/kept" state small)" "$("$btgen" enums -x "$tmp/app" state small)" "btgen enums"
like "$("$btgen" types -x "$tmp/kept" itme 2>&1)" 'no type "itme" in the debug information
.*did you mean "item' "an unknown name has a suggestion"
script='usdt:__EXE__:app:seen /args.state == BUSY && args.it->delta < 0/ { print(*args.it); printf("%s %d %s\n", args.it->name, ((struct item *)arg0)->sign, args.it->next->state); }'
for v in 0.17 0.27; do
	is "$("$btgen" expand --for $v -x "$tmp/kept" -e "$script" 2>&1 | sed "s|$tmp/[a-z]*||")" \
		"$("$btgen" expand --for $v -x "$tmp/app" -e "$script" 2>&1 | sed "s|$tmp/[a-z]*||")" "for $v: a script reads members"
done

# --- who keeps it

cp "$tmp/app" "$tmp/full"
pahole -J "$tmp/full"
strip --remove-section=.comment --remove-section=.note --strip-unneeded -o "$tmp/debian" "$tmp/full"
is "$("$btgen" probes -x "$tmp/debian" | grep -c 'enum state')" 4 "the strip of dh_strip keeps it"
if eu-strip --keep-section .BTF -o "$tmp/rpm" "$tmp/full" 2>/dev/null; then
	is "$("$btgen" probes -x "$tmp/rpm" | grep -c 'enum state')" 4 "eu-strip --keep-section .BTF keeps it"
fi

# --- a program whose probes are those of <sys/sdt.h>: a list's structs

cat >"$tmp/plain.c" <<'END'
#include <sys/sdt.h>
struct spdk_nvmf_tgt { long id; char name[8]; };
int main(int argc, char **argv)
{
	struct spdk_nvmf_tgt tgt = {argc, "tgt"};
	DTRACE_PROBE3(spdk, nvmf_tgt_pause_polling, 7ul, &tgt, tgt.name);
	return 0;
}
END
claim="a struct of bpf/probes.conf has the program's members"
if gcc -O1 -g -o "$tmp/plain" "$tmp/plain.c" 2>"$tmp/err" && pahole -J "$tmp/plain" && strip "$tmp/plain"; then
	like "$("$btgen" expand --for 0.17 -x "$tmp/plain" -e 'usdt:__EXE__:spdk:nvmf_tgt_pause_polling { printf("%d\n", args.tgt->id); }' 2>&1)" \
		'long long id;' "$claim"
else
	skip "$claim" "no <sys/sdt.h>"
fi

# --- what is none

cp "$tmp/app" "$tmp/none"
strip "$tmp/none"
none=$("$btgen" probes -v -x "$tmp/none")
if gcc -O2 -gbtf -I"$top/include" -o "$tmp/units" "$tmp/app.c" "$tmp/other.c" 2>/dev/null; then
	strip "$tmp/units"
	is "$("$btgen" probes -x "$tmp/units")" "$("$btgen" probes -x "$tmp/none")" "gcc -gbtf: units one after the other are none, not the first of them"
fi
cat >"$tmp/corrupt.py" <<'END'
import random, subprocess, sys
btgen, path, n = sys.argv[1], sys.argv[2], int(sys.argv[3])
data = open(path, "rb").read()
start = data.rindex(b"\x9f\xeb\x01\x00")
rng, bad = random.Random(7), []
for i in range(n):
    b = bytearray(data)
    for _ in range(rng.choice((1, 2, 8))):
        b[rng.randrange(start, start + 1600)] = rng.choice((0, 1, 255, rng.randrange(256)))
    open(path + ".bad", "wb").write(b)
    for command in (["probes", "-v", "-x", path + ".bad"], ["types", "-x", path + ".bad", "item"]):
        r = subprocess.run([btgen] + command, capture_output=True, timeout=60)
        if r.returncode not in (0, 1) or b"libbpf:" in r.stderr:
            bad.append((i, command[0], r.returncode, r.stderr[-200:]))
print(bad[:3] if bad else "held")
END
is "$(python3 "$tmp/corrupt.py" "$btgen" "$tmp/kept" 100)" held "100 corrupt sections"

# many PYTHON: $tmp/many, the stripped program with that .BTF
many() {
	PYTHONPATH=$top/tests python3 - "$tmp/raw" "$1" <<'END'
import struct, sys
from typenote import btf
open(sys.argv[1], "wb").write(eval(sys.argv[2]))
END
	objcopy --add-section ".BTF=$tmp/raw" "$tmp/none" "$tmp/many"
}
# An enum of 65535 enumerators that share one name of 6 MB.
many 'btf(struct.pack("<III", 1, 19 << 24 | 65535, 4) + 65535 * struct.pack("<III", 3, 1, 0), b"\0E\0" + b"A" * 6000000 + b"\0")'
like "$(limit_memory 1000000; guard "$btgen" enums -x "$tmp/many" E 2>&1)" "no debug information" "names that are 400 GB"
is "$("$btgen" probes -v -x "$tmp/many" | sed "s|$tmp/many|$tmp/none|")" "$none" "are none"
done_testing
