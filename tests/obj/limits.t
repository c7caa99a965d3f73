#!/usr/bin/env bash
# A small file costs little, whatever it claims: a few seconds and less than 1 GB of memory, and what is refused is said.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
command -v python3 >/dev/null || skip_all "python3 is missing"
grep -q __asan_init "$btgen" && skip_all "sanitizers take memory of their own"

cat >"$tmp/p.c" <<'E2'
#include <btgen/usdt.h>
enum mood { HAPPY = 1 };
struct honest { int a; enum mood mood; } h;
int main(void) { USDT_PROBE(prov, hit, &h); return h.a; }
E2
gcc -g -O1 -I"$top/include" -o "$tmp/p" "$tmp/p.c" || exit 1
huge() { python3 "$top/tests/obj/huge.py" "$tmp/p" "$tmp/huge" "$@"; }

# took ARG...: what btgen takes: seconds of the processor, MB, status; its output in $tmp/out and $tmp/err
took() {
	PYTHONPATH=$top/tests python3 -c 'import sys; from growth import cost; print(*cost(sys.argv[3:], sys.argv[1], sys.argv[2]))' \
		"$tmp/out" "$tmp/err" "$btgen" "$@"
}
# cheap CLAIM ARG...: btgen takes no longer than six times what it takes for 20000 clauses, in this run, and less than 1 GB
yes 'usdt:__EXE__:prov:hit /pid == 1/ { printf("%d\n", ((struct honest *)arg0)->a); }' | head -n 20000 >"$tmp/much.bt"
read -r much _ < <(took check --for 0.17 -x "$tmp/p" "$tmp/much.bt")
echo "# 20000 clauses: $much s"
cheap() {
	is "$(took "${@:2}" | awk -v much="$much" '{ print ($3 == 0 || $3 == 1) && $2 < 1000 && $1 < 6 * much ? "cheap" : $0 }')" cheap "$1"
}
G=0x40000000 G10=0x280000000
for spec in "-.note.stapsdt $G" "+.note.stapsdt 0x3ffff000" "-.note.btgen $G" "+.note.btgen 0x3ffff000" "+.shstrtab 0x3ffff000" \
	"+.symtab 0x3ffff000 +.strtab 0x3ffff000" "-.symtab 0x1ff00000" \
	"+.debug_str $G10" "+.debug_line_str $G10" "+.debug_info $G10" "+.debug_abbrev $G10" "+.debug_line $G10" "+.debug_aranges $G10" \
	"-.debug_str 0x3ff00000" "-.debug_line 0x3ff00000" \
		"-.debug_info 0x3ff00000 -.debug_str 0x3ff00000 -.debug_abbrev 0x3ff00000 -.debug_line_str 0x3ff00000"; do
	in_third || continue
	# shellcheck disable=SC2086
	huge $spec || exit 1
	cheap "$spec: probes" probes -v -x "$tmp/huge"
	cheap "$spec: a type" types -x "$tmp/huge" honest
	case $spec in
	"+.debug_str"* | "+.debug_line_str"*) like "$(cat "$tmp/out")" 'enum mood mood' "... is found all the same" ;;
	"-.debug"*) like "$(cat "$tmp/err")" 'huge: warning: .*it exceeds 512 MiB decompressed' "... is not, and that is why" ;;
	esac
	cheap "$spec: a function" expand -x "$tmp/huge" -e 'uprobe:__EXE__:main { }'
	cheap "$spec: one that is not there" expand -x "$tmp/huge" -e 'uprobe:__EXE__:nowhere { }'
done
huge -.note.stapsdt $G
is "$("$btgen" probes -x "$tmp/huge" 2>&1)" "$tmp/huge:.note.stapsdt+0x0: error: the section is too large to be read" \
	"notes of 1 GiB in a file of 1 MB: refused"
huge -.debug_str 0x4000000
like "$("$btgen" types -x "$tmp/huge" honest 2>&1)" 'enum mood mood' "64 MiB of compressed strings are read"

# The debug file that .gnu_debuglink names is a hole of 10 GiB behind an ELF file: nothing tells by its size that it is wrong.
gcc -g -O1 -Wl,--build-id=none -I"$top/include" -o "$tmp/p" "$tmp/p.c"
objcopy --only-keep-debug "$tmp/p" "$tmp/p.debug"
strip "$tmp/p"
(cd "$tmp" && objcopy --add-gnu-debuglink=p.debug p)
like "$("$btgen" types -x "$tmp/p" honest 2>&1)" 'enum mood mood' "a debug file by its CRC"
truncate -s 3000000 "$tmp/p.debug"
like "$("$btgen" types -x "$tmp/p" honest 2>&1)" 'p.debug \(has a different CRC\)' "... but not when that is wrong"
truncate -s 10G "$tmp/p.debug"
cheap "a debug file of 10 GiB" types -x "$tmp/p" honest
like "$(cat "$tmp/err")" 'p.debug \(is too large for its CRC to be checked\)' "... is refused"

# The symbols that Fedora leaves in stripped programs are an ELF file packed by xz, 7000 to 1, whose sections can be packed again.
if ! command -v xz >/dev/null; then
	skip "symbols packed by xz" "xz is not installed"
else
	gcc -O1 -I"$top/include" -o "$tmp/full" "$tmp/p.c" && objcopy --strip-all "$tmp/full" "$tmp/bare"
	packed() { # NAME: $tmp/NAME.elf as the .gnu_debugdata of $tmp/NAME
		xz -0 -T1 <"$tmp/$1.elf" >"$tmp/xz" && objcopy --add-section .gnu_debugdata="$tmp/xz" "$tmp/bare" "$tmp/$1"
	}
	python3 "$top/tests/obj/huge.py" "$tmp/full" "$tmp/twice.elf" -.symtab $G
	cp "$tmp/full" "$tmp/zeros.elf"
	truncate -s 400M "$tmp/zeros.elf"
	head -c 100 "$tmp/full" >"$tmp/corrupt.elf"
	cp "$tmp/full" "$tmp/good.elf"
	packed good
	like "$("$btgen" expand -x "$tmp/good" -e 'uprobe:__EXE__:main { }' 2>&1)" '^uprobe:.*/good:main' "symbols packed by xz"
	for name in twice zeros corrupt; do
		packed $name
		cheap "symbols packed by xz, $name" expand -x "$tmp/$name" -e 'uprobe:__EXE__:main { }'
		like "$(cat "$tmp/err")" "$name: warning: its .gnu_debugdata adds no symbols: empty, corrupt or too large" "... are refused"
	done
fi

# libdw opens whatever bears the name that a skeleton has for its split unit, waits for it, and unpacks it whole.
(cd "$tmp" && gcc -g -gsplit-dwarf -O1 -I"$top/include" -c p.c && gcc -o s p.o && mv p.dwo whole.dwo)
cp "$tmp/whole.dwo" "$tmp/p.dwo"
like "$("$btgen" types -x "$tmp/s" honest 2>&1)" 'enum mood mood' "a split unit"
python3 "$top/tests/obj/huge.py" "$tmp/whole.dwo" "$tmp/p.dwo" -.debug_info.dwo $G -.debug_str.dwo $G
cheap "a split unit of 2 GiB in a file of 2 MB" types -x "$tmp/s" honest
like "$(cat "$tmp/err")" 'split files that cannot be read, e.g. "p.dwo": from another build, corrupt, too large' "... is not read"
rm "$tmp/p.dwo"
mkfifo "$tmp/p.dwo"
like "$(guard "$btgen" types -x "$tmp/s" honest 2>&1)" 'split files that cannot be read, e.g. "p.dwo"' "a FIFO for a split unit is not waited for"
like "$(guard "$btgen" probes -v -x "$tmp/s" 2>&1)" 'prov:hit' "... nor for what is around a site"
rm "$tmp/p.dwo"
# It looks beside the program first, where another thing may have that name, or that folder's.
mkdir "$tmp/beside" "$tmp/x"
cp "$tmp/whole.dwo" "$tmp/p.dwo"
cp "$tmp/s" "$tmp/beside/s"
echo text >"$tmp/beside/p.dwo"
like "$("$btgen" types -x "$tmp/beside/s" honest 2>&1)" 'enum mood mood' "a text is passed over for the split unit in the folder of the compilation"
rm "$tmp/beside/p.dwo"
mkdir "$tmp/beside/p.dwo"
like "$("$btgen" types -x "$tmp/beside/s" honest 2>&1)" 'enum mood mood' "... a folder, too"
(cd "$tmp" && gcc -g -gsplit-dwarf -O1 -I"$top/include" -c -o x/p.o p.c && gcc -o beside/x x/p.o)
like "$("$btgen" types -x "$tmp/beside/x" honest 2>&1)" 'enum mood mood' "... and a program that has the name of a folder there"

# A line table of 100 million rows, a byte each: libdw would need 10 GB for them.
gcc -gdwarf-4 -O1 -I"$top/include" -o "$tmp/rows" "$tmp/p.c"
objcopy --dump-section .debug_line="$tmp/table" "$tmp/rows"
python3 - "$tmp/table" <<'E2'
import struct, sys
table = bytearray(open(sys.argv[1], "rb").read())
table[-3:-3] = b"\x0e" * 100000000  # before the end of the sequence
struct.pack_into("<I", table, 0, len(table) - 4)
open(sys.argv[1], "wb").write(table)
E2
objcopy --update-section .debug_line="$tmp/table" "$tmp/rows"
objcopy --compress-debug-sections=zlib "$tmp/rows"
rm "$tmp/table"
cheap "a line table of 100 million rows" probes -v -x "$tmp/rows"
like "$(cat "$tmp/out")" '^prov:hit' "... whose probe is listed"
like "$(cat "$tmp/err")" 'rows: warning: too many sites in too much debug information' "... without its line, which is said"

# Sources that a program names: a macro with a million definitions, a call in line 16 million, 30,000 folders for 6,000 headers.
if ! echo '#include <sys/sdt.h>' | gcc -E - >/dev/null 2>&1; then
	skip "sources of strangers" "no <sys/sdt.h> (systemtap-sdt-dev)"
else
	mkdir "$tmp/sources"
	(
		cd "$tmp/sources" || exit
		main=$'int main(void)\n{\n\tDTRACE_PROBE1(p, n, A);'
		printf '#include <sys/sdt.h>\nvolatile int g;\n' | tee macro.c lines.c >folders.c
		seq 900000 | sed 's/^/#define A /' >>macro.c
		echo "$main }" >>macro.c
		head -c 16000000 /dev/zero | tr '\0' '\n' >>lines.c
		{
			echo 'int main(void) {'
			seq 200 | sed 's/.*/DTRACE_PROBE1(p, n&, g + 1);/'
			echo '}'
		} >>lines.c
		yes '#include "x/../y.h"' | head -n 6000 >>folders.c
		printf '#include "x.h"\n#include "all.h"\n#define A g + 1\n%s }\n' "$main" >>folders.c
		seq 30000 | sed 's/.*/#line 1 "\/r&\/x.h"\nint v&;/' >all.h
		mkdir x && touch x.h y.h
		for name in macro lines folders; do gcc -g -w -o $name $name.c; done
		touch -d 2001-01-01 ./*.[ch]
	)
	for name in macro lines folders; do
		cheap "a source of many $name" probes -v -x "$tmp/sources/$name"
		like "$(cat "$tmp/out")" '^p:n' "... whose probes are listed"
	done
fi

# Symbols of 200 letters whose back references make names of 10^10, and 2000 of names of 10^5.
if ! grep -q -- -liberty "$top/config.mak"; then
	skip "symbols with endless names" "built without libiberty"
else
	python3 - >"$tmp/names.s" <<'E2'
digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
def back(to):  # of Rust, to a place in base 62
    return "B" + (digits[(to - 1) // 62] if to > 62 else "") + digits[(to - 1) % 62] + "_"
def symbols(name, levels):
    rust, at = f"IC{len(name)}{name}", 0
    for i in range(levels):
        here, rust = len(rust), rust + (f"T{back(at) * 2}E" if i else "ThhE")
        at = here
    cxx = "".join(f"S_I{'S%s_' % digits[i].upper() * 2}E" for i in range(levels))
    return [f"_R{rust}E", f"_Z{len(name)}{name}1aIiiE{cxx}"]
for s in symbols("endless", 32) + [s for i in range(1000) for s in symbols("long%d" % i, 13)]:
    print(f".type {s},@function\n{s}: nop\n.size {s},1")
E2
	gcc -no-pie -Wl,-z,noexecstack -o "$tmp/names" -x c "$tmp/p.c" -I"$top/include" -x assembler "$tmp/names.s"
	cheap "symbols with endless names" expand -x "$tmp/names" -e 'uprobe:__EXE__:"f::g" { }'
	cheap "... in a list" probes -x "$tmp/names" 'uprobe:*'
fi

is "$("$btgen" types --btf /dev/zero mood 2>&1)" "/dev/zero: error: not a BTF file" "--btf: zeros without end"
truncate -s 10G "$tmp/btf"
cheap "--btf: a hole of 10 GiB" types --btf "$tmp/btf" mood
like "$(cat "$tmp/err")" 'btf: error: not a BTF file' "... is no BTF"
# zstd, which elfutils before 0.189 or so cannot read
gcc -g -O1 -I"$top/include" -o "$tmp/z" "$tmp/p.c"
if objcopy --compress-debug-sections=zstd "$tmp/z" 2>/dev/null; then
	"$btgen" types -x "$tmp/z" honest >"$tmp/out" 2>"$tmp/err"
	like "$(cat "$tmp/out" "$tmp/err")" 'enum mood mood|z: warning: its debug information is compressed with zstd, which this libelf' \
		"sections compressed with zstd are read, or called so"
else
	skip "sections compressed with zstd" "objcopy cannot write them"
fi
done_testing
