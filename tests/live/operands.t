#!/usr/bin/env bash
# Each way in which assemblers for aarch64 write where an argument is, with a second argument behind it: both are what the
# registers and the memory of the program have.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"
[ "$(uname -m)" = aarch64 ] || skip_all "the operands are those of aarch64"
version=$("$bpftrace" --version | sed 's/.*v0\.\([0-9]*\).*/\1/')

# operand|value, with the registers and the memory as the program below sets them; bpftrace from 0.24 on cannot attach to a probe
# that has one of those behind the empty line
operands='8@x10|1000
8@x0|10
-8@x9|-5
-4@x9|-5
4@x9|4294967291
2@x9|65531
-2@x9|-5
1@x9|251
-1@x9|-5
8@x28|2828
8@x30|3030
-4@42|42
-4@-4|-4
4@-1|4294967295
8@4294967296|4294967296
-8@-5000000000|-5000000000
8@[x29]|900
8@[x29, 8]|902
8@[x29, -8]|901
8@[x29,8]|902
-8@[sp, 24]|-5
4@[sp, 32]|4294966296
-4@[sp, 32]|-1000

4@w10|1000
-4@w9|-5
8@xzr|0
-4@wzr|0
4@#5|5
8@[x29, #8]|902
8@[x11, x12]|900
8@[x11, x13, lsl 3]|900
8@[x29, w14, sxtw]|901
8@[x11, w13, uxtw 3]|900
8@[x11, w13, uxtw #3]|900
-4@[x15, #:lo12:number]|-4711'
[ "$version" -lt 24 ] || operands=${operands%%$'\n\n'*}

{
	cat <<'END'
#include <stdio.h>
int number = -4711;
__asm__(".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n.weak _.stapsdt.base\n.hidden _.stapsdt.base\n"
	"_.stapsdt.base: .space 1\n.size _.stapsdt.base,1\n.popsection\n");
#define SITE(name, args) "990: nop\n.pushsection .note.stapsdt,\"?\",\"note\"\n.balign 4\n.4byte 992f-991f,994f-993f,3\n" \
	"991: .asciz \"stapsdt\"\n992: .balign 4\n993: .8byte 990b,_.stapsdt.base,0\n.asciz \"ops\"\n.asciz \"" name "\"\n" \
	".asciz \"" args "\"\n994: .balign 4\n.popsection\n"
__attribute__((noinline)) static void fire(void)
{
	__asm__ volatile(
		"stp x29, x30, [sp, -96]!\n str x28, [sp, 16]\n add x29, sp, 48\n add x11, sp, 40\n adrp x15, number\n"
		"mov x9, -5\n mov x10, -1000\n str x9, [sp, 24]\n str w10, [sp, 32]\n mov x10, 1000\n"
		"mov x12, 900\n str x12, [x29]\n mov x12, 901\n str x12, [x29, -8]\n mov x12, 902\n str x12, [x29, 8]\n"
		"mov x12, 8\n mov x13, 1\n mov w14, -8\n mov x28, 2828\n mov x30, 3030\n mov x0, 10\n"
END
	n=0
	while IFS='|' read -r operand value; do
		[ -z "$operand" ] || echo "		SITE(\"p$((++n))\", \"$operand -4@77\")"
	done <<<"$operands"
	cat <<'END'
		"ldr x28, [sp, 16]\n ldp x29, x30, [sp], 96\n"
		: : : "x0", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "memory");
}
int main(void) { getchar(); number += !number; fire(); puts("done"); fflush(stdout); getchar(); }
END
} >"$tmp/ops.c"
n=0
while IFS='|' read -r operand value; do
	[ -n "$operand" ] || continue
	n=$((n + 1))
	printf 'usdt:__EXE__:ops:p%d { printf("%%s %%ld %%d\\n", "%s", arg0, arg1); }\n' $n "$operand" >>"$tmp/ops.bt"
	echo "$operand $value 77" >>"$tmp/want"
done <<<"$operands"

for pie in '-fno-pie -no-pie' '-fPIE -pie'; do
	# shellcheck disable=SC2086 # two words
	"${CC:-gcc}" -O1 -g $pie -o "$tmp/ops" "$tmp/ops.c" || exit 1
	live_start "$tmp/ops"
	live_round "$live_pid" "$tmp/ops.bt"
	is "$(grep . "$tmp/trace" | sort)" "$(sort "$tmp/want")" "$pie: $n forms of operands, and what is behind each"

	live_start "$tmp/ops"
	live_round -t 'ops:*' "$live_pid"
	is "$(sed -n 's/.*=\([^ ]*\) arg1=\(.*\)/\1 \2/p' "$tmp/trace" | sed 's/^0x[^ ]*/x/' | sort)" \
		"$(awk -F'|' 'NF { print (/^8@/ ? "x" : $2), 77 }' <<<"$operands" | sort)" "$pie: with -t, too"
done
done_testing
