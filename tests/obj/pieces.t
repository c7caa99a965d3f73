#!/usr/bin/env bash
# Members of structs that DWARF has in pieces, and what one location for a whole function proves at its entry: debug information
# written by hand, as rustc -O and others write it.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
[ "$(uname -m)" = x86_64 ] || skip_all "registers are those of x86-64"

cat >"$tmp/head.s" <<'END'
	.macro param name, type, loc:vararg
	.byte 3
	.asciz "\name"
	.4byte \type - unit
	.uleb128 9f - 8f
8:	.byte \loc
9:
	.endm
	.macro function name
	.byte 2
	.asciz "\name"
	.8byte \name
	.8byte 4		# bytes
	.uleb128 1
	.byte 0x57		# its frame is counted from rsp
	.endm
	.text
	.file 1 "p.rs"
	.macro code name
	.globl \name
	.type \name, @function
\name:
	.cfi_startproc
	.endm
	.macro end name
	.cfi_endproc
	.size \name, . - \name
	.endm
	.globl _start
_start:	nop
code f				# begins with its body
	.loc 1 1 0 prologue_end
	.rept 3
	nop
	.endr
	.loc 1 2 0
	ret
end f
code moves			# has a prologue first
	.loc 1 4 0
	nop
	nop
	.loc 1 5 0 prologue_end
	nop
	.loc 1 6 0
	ret
end moves
code unmarked			# nothing is said of a prologue
	.loc 1 7 0
	nop
	nop
	.loc 1 8 0
	nop
	ret
end unmarked
	.section .debug_abbrev, "", @progbits
	.byte 1, 0x11, 1, 0x10, 0x17, 0x13, 0x0b, 0x03, 8, 0x11, 1, 0x12, 7, 0, 0	# unit: lines, language, name, code
	.byte 2, 0x2e, 1, 0x03, 8, 0x11, 1, 0x12, 7, 0x40, 0x18, 0, 0		# function: name, code, frame
	.byte 3, 0x05, 0, 0x03, 8, 0x49, 0x13, 0x02, 0x18, 0, 0			# parameter: name, type, location
	.byte 4, 0x24, 0, 0x03, 8, 0x3e, 0x0b, 0x0b, 0x0b, 0, 0			# base type: name, encoding, bytes
	.byte 5, 0x13, 1, 0x03, 8, 0x0b, 0x0b, 0, 0				# struct: name, bytes
	.byte 6, 0x0d, 0, 0x03, 8, 0x49, 0x13, 0x38, 0x0b, 0, 0			# member: name, type, offset
	.byte 7, 0x0d, 0, 0x03, 8, 0x49, 0x13, 0x6b, 0x0b, 0x0d, 0x0b, 0, 0	# of bits: name, type, bit, bits
	.byte 8, 0x01, 1, 0x49, 0x13, 0, 0					# array: type
	.byte 9, 0x21, 0, 0x37, 0x0b, 0, 0					# elements
	.byte 0
	.macro member name, type, off
	.byte 6
	.asciz "\name"
	.4byte \type - unit
	.byte \off
	.endm
	.section .debug_info, "", @progbits
unit:	.4byte unit_end - unit_begin
unit_begin:
	.2byte 4
	.4byte 0
	.byte 8, 1
	.4byte 0
	.byte LANGUAGE
	.asciz "p.rs"
	.8byte _start
	.8byte 64
u64:	.byte 4
	.asciz "u64"
	.byte 7, 8
u32:	.byte 4
	.asciz "u32"
	.byte 7, 4
i16:	.byte 4
	.asciz "i16"
	.byte 5, 2
f64:	.byte 4
	.asciz "f64"
	.byte 4, 8
list:	.byte 8
	.4byte u32 - unit
	.byte 9, 2, 0
pair:	.byte 5
	.asciz "pair"
	.byte 16
	member x u64 0
	member y u64 8
	member low u32 8
	member high i16 14
	member across u64 4
	member list list 8
	member real f64 0
	.byte 7
	.asciz "bits"
	.4byte u32 - unit
	.byte 64, 3
	.byte 0
odd:	.byte 5
	.asciz "odd"
	.byte 16
	member far u64 12
	.byte 0
small:	.byte 5
	.asciz "small"
	.byte 8
	member a u32 0
	member b i16 4
	.byte 0
outer:	.byte 5
	.asciz "outer"
	.byte 24
	member n u64 0
	member in pair 8
	.byte 0
END
build() { # FILE LANGUAGE < functions and their parameters
	{
		cat "$tmp/head.s" -
		printf '\t.byte 0\nunit_end:\n'
	} >"$tmp/$1.s"
	gcc -nostdlib -static -Wa,--defsym,LANGUAGE="$2" -o "$tmp/$1" "$tmp/$1.s" || exit 1
}
app=$tmp/app
line() { "$btgen" expand --for 0.23 -x "$app" -e "uprobe:__EXE__:$1 { print($2); }" 2>&1; }
read_as() { line "$@" | sed -n 's/^uprobe[^{]*{ print(\(.*\)); }$/\1/p'; }
why() { line "$@" | sed -n "s/.*error: bpftrace cannot read parameter [a-z]* of [a-z]*(): //p"; }

# DW_OP_reg5 is 0x55: rdi; reg4 0x54: rsi; breg5 0x75; fbreg 0x91; piece 0x93; bit_piece 0x9d; stack_value 0x9f; lit5 0x35
build app 0x1c <<'END'
	function f
	param both pair 0x55, 0x93, 8, 0x54, 0x93, 8
	param memory pair 0x75, 16, 0x93, 8, 0x35, 0x9f, 0x93, 8
	param odd odd 0x55, 0x93, 8, 0x54, 0x93, 8
	param half pair 0x93, 8, 0x54, 0x93, 8
	param pointer pair 0xf2, 0, 0, 0, 0, 0, 0x93, 8, 0x54, 0x93, 8
	param short pair 0x55, 0x93, 8
	param one pair 0x55
	param small small 0x55
	param lone small 0x55, 0x93, 4, 0x54, 0x93, 2
	param nested outer 0x55, 0x93, 8, 0x54, 0x93, 8, 0x51, 0x93, 8
	param place pair 0x75, 32
	param empty pair 0x55, 0x93, 0, 0x54, 0x93, 8, 0x51, 0x93, 8
	param wide pair 0x55, 0x93, 16
	param huge pair 0x55, 0x93, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0x54, 0x93, 8
	param bits pair 0x55, 0x9d, 64, 0, 0x54, 0x93, 8
	param rest pair 0x55, 0x93, 8, 0x54, 0x93, 8, 0x51
	param under pair 0x55, 0x93, 8, 0x31, 0x22, 0x93, 8
	param many pair 0x93, 0, 0x93, 0, 0x93, 0, 0x93, 0, 0x93, 0, 0x93, 0, 0x93, 0, 0x93, 0, 0x93, 0, 0x93, 0, 0x93, 0, 0x93, 0, 0x93, 0, 0x93, 0, 0x93, 0, 0x93, 0, 0x93, 0, 0x93, 0, 0x93, 0, 0x93, 0, 0x93, 0, 0x93, 0, 0x93, 0, 0x93, 0, 0x93, 0, 0x93, 0, 0x93, 0, 0x93, 0, 0x93, 0, 0x93, 0, 0x93, 0, 0x93, 0, 0x93, 0, 0x93, 0, 0x93, 0, 0x93, 0, 0x93, 0, 0x93, 0, 0x93, 0, 0x93, 0, 0x93, 0, 0x93, 0, 0x93, 0, 0x93, 0, 0x93, 0, 0x93, 0, 0x93, 0, 0x93, 0, 0x93, 0, 0x93, 0, 0x93, 0, 0x93, 0, 0x93, 0, 0x93, 0, 0x93, 0, 0x93, 0, 0x93, 0, 0x93, 0, 0x93, 0, 0x93, 0, 0x93, 0, 0x93, 0, 0x93, 0, 0x93, 0, 0x55, 0x93, 8, 0x54, 0x93, 8
	param number u64 0x54
	param frame u64 0x91, 8
	param stack u64 0x77, 8
	.byte 0
	function moves
	param number u64 0x54
	param both pair 0x55, 0x93, 8, 0x54, 0x93, 8
	.byte 0
	function unmarked
	param number u64 0x54
	param both pair 0x55, 0x93, 8, 0x54, 0x93, 8
	.byte 0
END
is "$(readelf --debug-dump=info "$app" 2>&1 | grep -ci 'warning\|corrupt')" 0 "the debug information is what it is to be"
while IFS='~' read -r what text claim; do
	is "$(read_as f "args.$what")" "$text" "$claim: $what"
done <<'END'
both.x~(uint64)reg("di")~a piece that is a register
both.y~(uint64)reg("si")~... the other one
both.low~(uint64)(uint32)((uint64)(uint32)reg("si"))~the begin of one
both.high~(int64)(int16)((uint64)(uint16)(reg("si") >> 48))~the end of one
both.across~(uint64)(((uint64)(uint32)(reg("di") >> 32)) | (((uint64)(uint32)reg("si")) << 32))~the parts of two
memory.x~(uint64)((uint64)*(uint64 *)(reg("di") + 16))~one in memory
memory.y~(uint64)5~a constant
half.y~(uint64)reg("si")~beside a piece that is optimized out
pointer.y~(uint64)reg("si")~beside one that bpftrace cannot compute
small.a~(uint64)(uint32)reg("di")~a struct in one register
small.b~(int64)(int16)(reg("di") >> 32)~... its other member
lone.a~(uint64)(uint32)((uint64)(uint32)reg("di"))~padding without a piece
nested.n~(uint64)reg("di")~beside a struct
nested.in.y~(uint64)reg("dx")~a member of a struct of one
empty.x~(uint64)reg("si")~after a piece of no bytes
empty.y~(uint64)reg("dx")~... and the next one
wide.x~(uint64)reg("di")~a piece that is larger than its register
number~(uint64)(uint64)arg1~a number: the register that its location names
END
while IFS='|' read -r what text; do
	is "$(why f "args.$what")" "$text" "refused: $what"
done <<'END'
both|it is in registers, not in memory
both.list|it is an array in registers
both.list[0]|it is an array in registers
both.bits|it is a bit-field in registers
both.nowhere|struct pair has no member nowhere
both.real|bpftrace has no floating-point numbers
odd.far|its location is corrupt
nested.in|it is in registers, not in memory
half.x|a part of it is optimized out
half.across|a part of it is optimized out
pointer.x|it points to what is optimized out
short.y|a part of it is optimized out
one.x|its location is corrupt
wide.y|its location is corrupt
huge.y|its location is corrupt
bits.y|its location has pieces of bits
rest.x|its location is corrupt
under.y|its location is corrupt
many.x|its location is too complex
frame|where it is passed is not known
stack|where it is passed is not known
END
like "$(line f args.both)" 'note: its members can be read one by one' "what can be read is said"
unlike "$(line f args.both.bits)" 'one by one' "... only where it is so"
is "$(read_as f vars.both.y)" '(uint64)reg("si")' "vars.NAME reads the same"
is "$(read_as f 'args.place.y')" '*(uint64 *)(reg("di") + 32 + 8)' "a struct in memory, which a register leads to"

# LLVM says one location of the whole function also where code of the prologue puts the parameter there.
for f in moves unmarked; do
	is "$(why "$f" args.number)" "where it is passed is not known" "$f: one location for all of a function may not hold at its entry"
	is "$(why "$f" args.both.y)" "where it is passed is not known" "$f: nor do its pieces"
	like "$(line "$f" args.number)" "note: the nearest place where it can be read is $f\+0x[0-9a-f]+ \(p.rs:[0-9]\), with vars.NAME" "$f: where they can be read is said"
done
# The same file with its bytes changed: nothing is expected but an end.
if [ -x "$build/tests/fuzz/types" ]; then
	is "$("$build/tests/fuzz/types" "$app" 300 1 2>&1 | tail -n 20)" "300 inputs read" "damaged pieces"
else
	skip "damaged pieces" "tests/fuzz/types is not built"
fi
done_testing
