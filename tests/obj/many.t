#!/usr/bin/env bash
# Files with far more of everything than a program has: each question is answered in seconds of processor time.
. "$(dirname "$0")/../lib.sh"
here=$(cd "$(dirname "$0")" && pwd)

n=30000
for kind in names others one place differ text docs; do
	python3 "$here/make_notes.py" "$tmp/$kind" $kind $n || exit 1
done
python3 "$here/make_notes.py" "$tmp/expressions" expressions 1000
printf "%s\n" 'usdt:__EXE__:p:n* { print(arg0); }' >"$tmp/all.bt"

# soon CLAIM STATUS COMMAND...: within 10 s of processor time and 2 GiB
soon() {
	local claim=$1 want=$2
	shift 2
	(limit_memory 2097152 && limit_cpu 10 && exec "$@") >"$tmp/out" 2>"$tmp/err"
	local status=$?
	[ $status = "$want" ]
	tap_result $? "$claim" || { echo "#   status $status"; head -n 3 "$tmp/err" | cut -c1-200 | sed 's/^/#   /'; }
}

soon "a skeleton of $n probes" 0 "$btgen" skeleton -x "$tmp/names" '*'
soon "a clause for all of them" 0 "$btgen" expand --for 0.27 -x "$tmp/names" -e 'usdt:__EXE__:p:n* { print(arg0); }'
soon "$n sites of one probe" 0 "$btgen" probes -v -x "$tmp/one"
soon "$n probes at one address, with names for their arguments" 0 "$btgen" probes -v -x "$tmp/place"
soon "$n sites that call an argument by different names" 0 "$btgen" probes --json -x "$tmp/differ"
soon "$n sites that share a text of megabytes" 0 "$btgen" probes --json -x "$tmp/text"
soon "texts of deep parentheses" 0 "$btgen" probes -v -x "$tmp/expressions"
soon "$n probes with sentences" 0 "$btgen" probes --json -x "$tmp/docs"
soon "btgen diff of $n probes that are the same" 0 "$btgen" diff "$tmp/names" "$tmp/names"
soon "... that are other ones" 1 "$btgen" diff "$tmp/names" "$tmp/others"
is "$(grep -c 'is gone' "$tmp/out") $(grep -c 'is new' "$tmp/out")" "$n $n" "... all of which are listed"
soon "... with a script for all of them, which does not work any more" 1 "$btgen" diff --for 0.23 "$tmp/names" "$tmp/others" "$tmp/all.bt"
is "$(grep -c 'used by' "$tmp/out") $(grep -c 'no longer works' "$tmp/out")" "$n 1" "... and uses each"
soon "btgen diff of $n sites with names of their own" 0 "$btgen" diff "$tmp/differ" "$tmp/differ"
soon "an argument by the last of $n names" 0 "$btgen" expand --for 0.27 -x "$tmp/differ" \
	-e "usdt:__EXE__:n { print(args.state$((n - 1))); }"

# 1500 sites in a function with 60000 labels: each site is looked for among all of them
cat >"$tmp/walk.s" <<'END'
	.text
	.globl _start
_start:
	.rept 1500
	nop
	.endr
.Lend:
	.section .stapsdt.base,"aG",@progbits,.stapsdt.base,comdat
_.stapsdt.base:
	.byte 0
	.section .note.stapsdt,"",@note
	.set i, 0
	.rept 1500
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
	.rept 60000
	.uleb128 3
	.endr
	.byte 0, 0
.Linfo_end:
END
if gcc -nostdlib -static -o "$tmp/walk" "$tmp/walk.s" 2>"$tmp/err"; then
	soon "many sites in a function of very many parts" 0 "$btgen" probes -v -x "$tmp/walk"
	like "$(cat "$tmp/err")" 'warning: too many sites in too much debug information' "... of which not all are looked up, which is said"
else
	skip "many sites in a function of very many parts" "no assembler for x86-64"
fi

# What is read of them is right
is "$("$btgen" probes --json -x "$tmp/place" 'p:n77' 2>/dev/null |
	grep -o '"name": "[a-z0-9]*", "type": [^,]*, "from": "[a-z]*"' | head -n 1)" '"name": "state", "type": null, "from": "declared"' \
	"of many notes at one address the one of the probe is found"
like "$("$btgen" probes -v -x "$tmp/text" 2>/dev/null | head -n 3)" 'p:n\(int32_t arg0\)' "a text that no one writes names nothing"
done_testing
