#!/usr/bin/env bash
# Damaged debug information ends in an error or in types, never in a crash or a hang.
. "$(dirname "$0")/../lib.sh"
fuzz=$build/tests/fuzz/types
[ -x "$fuzz" ] || skip_all "$fuzz is not built (make check builds it)"
rounds=${FUZZ_ROUNDS:-400}
n=0
try() { # COMPILER FLAGS
	# shellcheck disable=SC2086
	if ! $1 $2 -w -nostdlib -static -Wl,-emain -o "$tmp/seed" -I "$top/include" \
		"$top"/tests/fuzz/{seed,seed2,seed3}.cc 2>/dev/null; then
		skip "$1 $2" "does not build"
		return
	fi
	n=$((n + 1000))
	is "$("$fuzz" "$tmp/seed" "$rounds" $n 2>&1 | tail -n 20)" "$rounds inputs read" \
		"$1 $2: $rounds damaged files (FUZZ_SHOW=1 names the round, FUZZ_SAVE=file keeps it)"
}
for flags in -gdwarf-2 -gdwarf-4 -gdwarf-5 "-g -gdwarf64" "-g -gz" "-g -fdebug-types-section" "-gdwarf-4 -fdebug-types-section"; do
	try g++ "$flags"
done
command -v clang++ >/dev/null && try clang++ -g
if gcc -gbtf -w -c -o "$tmp/seed" -xc - <<<'enum e { A, B = -1 }; struct s { int a : 3; enum e e; union { struct s *n; char t[4][2]; }; }; typedef struct s s; s x;' 2>/dev/null; then
	is "$("$fuzz" "$tmp/seed" "$rounds" 1 2>&1 | tail -n 20)" "$rounds inputs read" "gcc -gbtf: $rounds damaged files"
	# sh_type of .BTF becomes SHT_NOBITS (8): no bytes in the file
	python3 - "$tmp/seed" <<-'E'
		import struct, sys
		b = bytearray(open(sys.argv[1], "rb").read())
		at, n, names = struct.unpack_from("<Q", b, 40)[0], *struct.unpack_from("<HH", b, 60)
		names = struct.unpack_from("<Q", b, at + names * 64 + 24)[0]
		for i in range(n):
		    if b[names + struct.unpack_from("<I", b, at + i * 64)[0]:].startswith(b".BTF\0"):
		        struct.pack_into("<I", b, at + i * 64 + 4, 8)
		open(sys.argv[1], "wb").write(b)
	E
	out=$("$btgen" types --btf "$tmp/seed" s 2>&1)
	is "$? $out" "1 $tmp/seed: error: no BTF in it" "a BTF section without contents is an error"
else
	skip "damaged BTF" "this gcc writes none"
fi

# Damage of the file's own structure
gcc -g -o "$tmp/p" -xc - <<<'enum e { A } x; int main(void) { return 0; }'
size=$(stat -c %s "$tmp/p")
bad=0
for cut in 1 10 63 64 100 1000 $((size / 2)) $((size - 2000)) $((size - 64)) $((size - 1)); do
	head -c "$cut" "$tmp/p" >"$tmp/cut"
	"$btgen" enums -x "$tmp/cut" e >"$tmp/out" 2>"$tmp/err"
	rc=$?
	if [ $rc = 1 ]; then
		[ ! -s "$tmp/out" ] && [ -s "$tmp/err" ]
	else
		[ $rc = 0 ] && grep -q '"A"' "$tmp/out"
	fi && continue
	bad=$((bad + 1))
	printf '#   %s bytes: status %s\n' "$cut" $rc
done
is $bad 0 "a file that was cut short gives an error"

# DW_OP_fbreg (0x91) with the largest offset and the smallest one: added to the frame's base, and taken off the operand's.
# Only sanitizers say that it overflowed (make asan).
gcc -g -O0 -S -o "$tmp/loc.s" -xc - <<-'E'
	#include <sys/sdt.h>
	int f(int here) { DTRACE_PROBE1(a, b, here); return here; }
	int main(void) { return f(1); }
E
for far in 0x7fffffffffffffff -0x8000000000000000; do
	sed -e "/\.uleb128 0x2\$/{N;N;s/0x2\n\(.*\.byte\t0x91\n\t\.sleb128\).*/0xb\n\1 $far/}" \
		-e '/^\.Ldebug_info0:/{n;s/0x.*/.Lend-.Ldebug_info0-4/}' \
		-e '/section\t\.debug_abbrev/i .Lend:' "$tmp/loc.s" >"$tmp/far.s"
	gcc -o "$tmp/far" "$tmp/far.s"
	"$btgen" probes -v -x "$tmp/far" >"$tmp/out" 2>&1
	is "$? $(grep -c '^a:b\|sanitizer\|runtime error' "$tmp/out") $(readelf --debug-dump=info "$tmp/far" |
		grep -c 'DW_OP_fbreg: -*9223372036854775')" "0 1 1" "a variable $far bytes from its frame is no trouble"
done

# 40 structs, each with the next one twice as a member without a name: 2^40 of them. An empty one makes names matter.
for named in True False; do
	python3 - "$tmp/deep.btf" <<-E
		import struct, sys
		types = struct.pack('<IIII', 1, 1 << 24, 4, 0x01000020)
		for i in range(40):
		    types += struct.pack('<III', 5 + 4 * i if $named or i == 0 else 0, (4 << 24) | 3, 0)
		    types += struct.pack('<III', 0, i + 3, 0) * 2 + struct.pack('<III', 1, 42, 0)
		types += struct.pack('<III', 0, 4 << 24, 0)
		names = b'\0int\0' + b''.join(b'L%02d\0' % i for i in range(40))
		head = struct.pack('<HBBIIIII', 0xeb9f, 1, 0, 24, 0, len(types), len(types), len(names))
		open(sys.argv[1], 'wb').write(head + types + names)
	E
	timeout 10 "$btgen" types --btf "$tmp/deep.btf" L00 >"$tmp/out" 2>"$tmp/err"
	is "$? $(wc -c <"$tmp/out") $(grep -m 1 -o 'corrupt\|contain nameless types' "$tmp/err" | wc -l)" "1 0 1" \
		"types that hold each other 2^40 times are refused (names: $named)"
done
done_testing
