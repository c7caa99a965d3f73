#!/usr/bin/env bash
# Files with far more of everything than a program has: each question is answered in time that grows with the file, and not with
# the square of it.
. "$(dirname "$0")/../lib.sh"
here=$(cd "$(dirname "$0")" && pwd)

limit_memory 2097152

m=4000 n=16000 # of which the second is four times the first
for kind in names others one place differ text docs; do
	for k in $m $n; do python3 "$here/make_notes.py" "$tmp/$kind.$k" $kind $k || exit 1; done
done
for k in 50 200; do python3 "$here/make_notes.py" "$tmp/expressions.$k" expressions $k || exit 1; done
printf "%s\n" 'usdt:__EXE__:p:n* { print(arg0); }' >"$tmp/all.bt"

linear "-t of $n probes" 0 $m "$btgen" run -n --bpftrace /nonexistent -t '*' -x "$tmp/names.{}"
linear "a clause for all of them" 0 $m "$btgen" expand --for 0.27 -x "$tmp/names.{}" -e 'usdt:__EXE__:p:n* { print(arg0); }'
linear "$n sites of one probe" 0 $m "$btgen" probes -v -x "$tmp/one.{}"
linear "$n probes at one address, with names for their arguments" 0 $m "$btgen" probes -v -x "$tmp/place.{}"
linear "$n sites that call an argument by different names" 0 $m "$btgen" probes --json -x "$tmp/differ.{}"
linear "$n sites that share a text of megabytes" 0 $m "$btgen" probes --json -x "$tmp/text.{}"
linear "texts of deep parentheses" 0 50 "$btgen" probes -v -x "$tmp/expressions.{}"
linear "$n probes with sentences" 0 $m "$btgen" probes --json -x "$tmp/docs.{}"
linear "btgen diff of $n probes that are the same" 0 $m "$btgen" diff "$tmp/names.{}" "$tmp/names.{}"
linear "... that are other ones" 1 $m "$btgen" diff "$tmp/names.{}" "$tmp/others.{}"
is "$(grep -c 'is gone' "$tmp/out") $(grep -c 'is new' "$tmp/out")" "$n $n" "... all of which are listed"
linear "... with a script for all of them, which does not work any more" 1 $m "$btgen" diff --for 0.23 "$tmp/names.{}" "$tmp/others.{}" "$tmp/all.bt"
is "$(grep -c 'used by' "$tmp/out") $(grep -c 'no longer works' "$tmp/out")" "$n 1" "... and uses each"
linear "btgen diff of $n sites with names of their own" 0 $m "$btgen" diff "$tmp/differ.{}" "$tmp/differ.{}"
linear "an argument by one of $n names" 0 $m "$btgen" expand --for 0.27 -x "$tmp/differ.{}" \
	-e "usdt:__EXE__:n { print(args.state$((m - 1))); }"

# SITES sites in a function with 40 times as many labels: each site is looked for among all of them
cat >"$tmp/walk.s" <<'END'
	.text
	.globl _start
_start:
	.rept SITES
	nop
	.endr
.Lend:
	.section .stapsdt.base,"aG",@progbits,.stapsdt.base,comdat
_.stapsdt.base:
	.byte 0
	.section .note.stapsdt,"",@note
	.set i, 0
	.rept SITES
	.balign 4
	.long 8, 24 + 2 + 2 + 7, 3
	.asciz "stapsdt"
	.quad _start + i, _.stapsdt.base, 0
	.asciz "p"
	.asciz "n"
	.asciz "4@%eax"
	.balign 4
	.set i, i + 1
	.endr
	.section .debug_abbrev,"",@progbits
	.uleb128 1, 0x11	# unit with children: low_pc, high_pc
	.byte 1
	.uleb128 0x11, 1, 0x12, 7, 0, 0
	.uleb128 2, 0x2e	# function with children: the same
	.byte 1
	.uleb128 0x11, 1, 0x12, 7, 0, 0
	.uleb128 3, 0xa		# label
	.byte 0
	.uleb128 0, 0, 0
	.section .debug_info,"",@progbits
	.long .Linfo_end - .Linfo
.Linfo:
	.value 4
	.long .debug_abbrev
	.byte 8
	.uleb128 1
	.quad _start, .Lend - _start
	.uleb128 2
	.quad _start, .Lend - _start
	.rept 40 * SITES
	.uleb128 3
	.endr
	.byte 0, 0
.Linfo_end:
END
walk() { gcc -nostdlib -static -Wa,--defsym,SITES="$1" -o "$tmp/walk.$1" "$tmp/walk.s" 2>"$tmp/err"; }
if walk 1000 && walk 4000; then
	linear "many sites in a function of very many parts" 0 1000 "$btgen" probes -v -x "$tmp/walk.{}"
	like "$(cat "$tmp/err")" 'warning: too many sites in too much debug information' "... of which not all are looked up, which is said"
else
	skip "many sites in a function of very many parts" "no assembler for x86-64"
fi

# What is read of them is right
is "$("$btgen" probes --json -x "$tmp/place.$n" 'p:n77' 2>/dev/null |
	grep -o '"name": "[a-z0-9]*", "type": [^,]*, "from": "[a-z]*"' | head -n 1)" '"name": "state", "type": null, "from": "declared"' \
	"of many notes at one address the one of the probe is found"
like "$("$btgen" probes -v -x "$tmp/text.$n" 2>/dev/null | head -n 3)" 'p:n\(int32_t arg0\)' "a text that no one writes names nothing"
done_testing
