#!/usr/bin/env bash
# Programs for aarch64 (not run here): what stands for an argument that bpftrace up to 0.23 does not read there, and what is
# refused. tests/live/operands.t runs such a program, on aarch64; where its functions have their parameters tests/live/functions.t
# shows.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
command -v aarch64-linux-gnu-gcc >/dev/null || skip_all "needs g++-aarch64-linux-gnu, which is not installed beside gcc-multilib: they conflict"

operands=('4@w10' '-4@w9' '8@xzr' '4@#5' '8@[x29, #8]' '-4@[x11, x12]' '8@[x11, x13, lsl 3]' '8@[x29, w14, sxtw]' '1@[x11, w13, uxtw 3]'
	'8@[sp, 16]' '-8@-5' '8@[x29]' '8@d0' '8@[x15, #:lo12:.LANCHOR0]')
{
	cat <<'END'
__asm__(".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n.weak _.stapsdt.base\n_.stapsdt.base: .space 1\n.popsection\n");
#define SITE(name, args) __asm__ volatile("990: nop\n.pushsection .note.stapsdt,\"?\",\"note\"\n.balign 4\n.4byte 992f-991f,994f-993f,3\n" \
	"991: .asciz \"stapsdt\"\n992: .balign 4\n993: .8byte 990b,_.stapsdt.base,0\n.asciz \"ops\"\n.asciz \"" name "\"\n" \
	".asciz \"" args "\"\n994: .balign 4\n.popsection\n");
void _start(void)
{
END
	for i in "${!operands[@]}"; do echo "	SITE(\"p$i\", \"${operands[i]} -2@x3\")"; done
	echo '}'
} >"$tmp/ops.c"
aarch64-linux-gnu-gcc -O1 -g -nostdlib -static -o "$tmp/ops" "$tmp/ops.c" || exit 1

# expand VERSION: what arg0 and arg1 are, or what is wrong with them, one line a probe
expand() {
	local i
	for i in "${!operands[@]}"; do
		"$btgen" expand --for "$1" -x "$tmp/ops" -e "usdt:__EXE__:ops:p$i { @a = arg0; @b = arg1; }" 2>&1 |
			sed -nE 's/.*\{ @a = (.*); @b = (.*); \}$/\1 | \2/p; s/.*: error: (.*)  \[[-a-z]*\]$/\1/p' | head -n 1
	done
}
is "$(expand 0.17)" "$(cat <<'END'
(uint64)(uint32)reg("r10") | (int64)(int16)reg("r3")
(int64)(int32)reg("r9") | (int64)(int16)reg("r3")
(uint64)0 | (int64)(int16)reg("r3")
(uint64)(uint32)5 | (int64)(int16)reg("r3")
(uint64)*(uint64 *)(reg("r29") + 8) | (int64)(int16)reg("r3")
(int64)(int32)arg0 | (int64)(int16)arg1
(uint64)*(uint64 *)((reg("r11") + (reg("r13") * 8))) | (int64)(int16)reg("r3")
(uint64)*(uint64 *)((reg("r29") + ((int64)(int32)reg("r14")))) | (int64)(int16)reg("r3")
(uint64)(uint8)*(uint8 *)((reg("r11") + (((uint64)(uint32)reg("r13")) * 8))) | (int64)(int16)reg("r3")
arg0 | (int64)(int16)arg1
(int64)arg0 | (int64)(int16)arg1
(uint64)*(uint64 *)(reg("r29")) | (int64)(int16)arg1
arg0 of ops:p12 is a floating-point number, which bpftrace cannot read
bpftrace 0.17 cannot read arg0 of ops:p13: it is at [x15, #:lo12:.LANCHOR0]
END
)" "bpftrace up to 0.23 reads some, and none behind one that it does not read: registers stand for the rest"
is "$(expand 0.27)" "$(cat <<'END'
(uint64)(uint32)reg("r10") | (int64)(int16)reg("r3")
(int64)(int32)reg("r9") | (int64)(int16)reg("r3")
(uint64)0 | (int64)(int16)reg("r3")
(uint64)(uint32)5 | (int64)(int16)reg("r3")
(uint64)*(uint64 *)(reg("r29") + 8) | (int64)(int16)reg("r3")
(int64)(int32)*(uint32 *)((reg("r11") + reg("r12"))) | (int64)(int16)reg("r3")
(uint64)*(uint64 *)((reg("r11") + (reg("r13") * 8))) | (int64)(int16)reg("r3")
(uint64)*(uint64 *)((reg("r29") + ((int64)(int32)reg("r14")))) | (int64)(int16)reg("r3")
(uint64)(uint8)*(uint8 *)((reg("r11") + (((uint64)(uint32)reg("r13")) * 8))) | (int64)(int16)reg("r3")
(uint64)arg0 | arg1
arg0 | arg1
(uint64)arg0 | arg1
arg0 of ops:p12 is a floating-point number, which bpftrace cannot read
bpftrace 0.27 cannot read arg0 of ops:p13: it is at [x15, #:lo12:.LANCHOR0]
END
)" "0.27 reads what libbpf reads; where it refuses one, registers stand for all of that probe"
done_testing
