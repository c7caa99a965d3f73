#!/usr/bin/env bash
# Damaged debug information ends in an error or in types, never in a crash or a hang.
. "$(dirname "$0")/../lib.sh"
fuzz=$build/tests/fuzz/types
[ -x "$fuzz" ] || skip_all "$fuzz is not built (make check builds it)"
rounds=${FUZZ_ROUNDS:-400}
n=0
try() { # COMPILER FLAGS
	in_third || return
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
head -c $((size - 64)) "$tmp/p" >"$tmp/cut"
"$btgen" probes -x "$tmp/cut" >"$tmp/out" 2>&1
is "$? $(sed 's/: error: the file is truncated.*/: truncated/' "$tmp/out")" "1 $tmp/cut: truncated" "... to a list of probes, too, and nothing else"

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
	guard "$btgen" types --btf "$tmp/deep.btf" L00 >"$tmp/out" 2>"$tmp/err"
	is "$? $(wc -c <"$tmp/out") $(grep -m 1 -o 'corrupt\|unnamed types' "$tmp/err" | wc -l)" "1 0 1" \
		"types that hold each other 2^40 times are refused (names: $named)"
done

# Scopes and enums nested in each other, deeper than any stack. A scope that is declared elsewhere (DW_AT_specification) is
# in the scopes of its declaration, and enumerators are in the scope around their enum: neither nests by name.
cat >"$tmp/nest.s" <<'E'
	.text
	.globl _start
_start:	ret
	.section .debug_abbrev,"",@progbits
	.byte 1, 0x11, 1, 0x13, 0x0b, 0, 0		# unit: language
	.byte 2, 0x13, 1, 0x47, 0x13, 0, 0		# struct: specification as ref4
	.byte 3, 0x13, 0, 0x03, 8, 0x3c, 0x19, 0, 0	# struct: name as string, declaration
	.byte 4, 0x04, 1, 0, 0				# enum
	.byte 5, 0x28, 0, 0x03, 8, 0x1c, 0x0b, 0, 0	# enumerator: name as string, value
	.byte 0
	.section .debug_info,"",@progbits
0:	.4byte 2f - 1f
1:	.2byte 4
	.4byte 0
	.byte 8, 1, 4
3:	.byte 3
	.asciz "AB"
	.ifdef STRUCTS
	.rept DEPTH
	.byte 2
	.4byte 3b - 0b
	.endr
	.fill DEPTH, 1, 0
	.else
	.fill DEPTH, 1, 4
	.byte 5
	.asciz "ABCDE"
	.byte 1
	.fill DEPTH, 1, 0
	.endif
	.byte 0
2:
E
for depth in 25000 100000; do
	gcc -nostdlib -static -Wa,--defsym,STRUCTS=1,--defsym,DEPTH=$depth -o "$tmp/structs.$depth" "$tmp/nest.s"
done
linear "100,000 structs inside each other: a name that none has" 1 25000 "$btgen" types -x "$tmp/structs.{}" 'struct WXYZ'
is "$(cat "$tmp/err")" "$tmp/structs.100000: error: no type \"struct WXYZ\" in the debug information" "... is not found"
linear "... and all names" 0 25000 "$btgen" types -l -x "$tmp/structs.{}" '*'
is "$(cat "$tmp/out")" "struct AB" "... which is one"
for depth in 250000 1000000; do
	gcc -c -Wa,--defsym,DEPTH=$depth -o "$tmp/enums.$depth.o" "$tmp/nest.s"
	gcc -nostdlib -static -o "$tmp/enums.$depth" "$tmp/enums.$depth.o"
done
echo 'BEGIN { printf("%d\n", ABCDE); }' >"$tmp/enum.bt"
for file in 'enums.{}' 'enums.{}.o'; do # an object file is read with libdw
	linear "a million enums inside each other: $file" 0 250000 "$btgen" expand -x "$tmp/$file" "$tmp/enum.bt"
	is "$(cat "$tmp/out")" "$(cat "$tmp/enum.bt")" "... the name is not found: $file"
done

# A chain of more types than are followed, in one file; in the other each is defined differently. The one that the first
# question was cut off at is as it is without that question.
{
	echo 'typedef int T0;'
	for i in {1..64}; do echo "typedef T$((i - 1)) *T$i;"; done
	echo 'T64 x; int main(void) { return 0; }'
} >"$tmp/chain.c"
for i in {0..64}; do echo "typedef struct { long a[$i + 1]; } T$i; T$i w$i;"; done >"$tmp/other.c"
(cd "$tmp" && gcc -g -fno-eliminate-unused-debug-types -o chain chain.c other.c)
alone=$("$btgen" types -x "$tmp/chain" T32 2>&1)
is "$? $(grep -c 'warning: "T32" is defined differently in chain.c and other.c' <<<"$alone")" "0 1" "types that differ"
is "$("$btgen" types -x "$tmp/chain" T64 T32 2>&1 | grep T32)" "$alone" "... at the end of a chain of pointers"
# A section that says it is compressed, and ends within the header of that
gcc -g -gz=zlib -o "$tmp/p" -xc - <<<'enum color { RED } x; int main(void) { return 0; }'
answers=
for size in 15 16 20 23 24; do
	python3 - "$tmp/p" "$tmp/short" $size <<-'E'
		import struct, sys
		b = bytearray(open(sys.argv[1], "rb").read())
		at, n, names = struct.unpack_from("<Q", b, 40)[0], *struct.unpack_from("<HH", b, 60)
		names = struct.unpack_from("<Q", b, at + names * 64 + 24)[0]
		for i in range(at, at + n * 64, 64):
		    if b[names + struct.unpack_from("<I", b, i)[0]:].startswith(b".debug_str\0"):
		        struct.pack_into("<Q", b, i + 8, 0x800)
		        struct.pack_into("<Q", b, i + 32, int(sys.argv[3]))
		        struct.pack_into("<IIQ", b, struct.unpack_from("<Q", b, i + 24)[0], 1, 0, 100)
		open(sys.argv[2], "wb").write(b)
	E
	answers+=$("$btgen" types -x "$tmp/short" 'enum color' 2>&1 | sed "s|^|$size: |")$'\n'
done
is "$(grep -c 'error: no type "enum color" in the debug information' <<<"$answers")" 5 "... in a header of compression, too" || sed 's/^/# /' <<<"$answers"
done_testing
