#!/usr/bin/env bash
# A bpftrace newer than any that btgen knows is treated as the newest of these, and a note says so.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

newest=$(sed -n 's/^#define DIALECT_NEWEST //p' "$top/gen/dialect/dialect.h")
note="btgen: note: bpftrace 0.31 is newer than any that btgen knows: treated as 0.$newest"
script='BEGIN { printf("%d\n", -7 / 2); exit(); }'

# says COMMAND...: what it prints on standard error
says() { { "$@" >/dev/null; } 2>&1; }
is "$(says "$btgen" expand --for 0.31 -e "$script")" "$note" "expand says so"
is "$(says "$btgen" check --for 0.17,0.31 -e "$script")" "$note" "check says so, when it is one of several"
is "$(says "$btgen" expand --for 1.2 -e "$script")" "${note/0.31/1.2}" "1.2 is newer, too"
like "$(says "$btgen" expand --for 1.2 -e $'#pragma require bpftrace >= 2.0\nBEGIN { exit(); }')" 'needs bpftrace 2.0, but this is 1.2$' \
	"messages call it that"
is "$(says "$btgen" expand --for "0.$newest" -e "$script")" "" "the newest one that is known: no note"

# What a script becomes is the same, but for __BPFTRACE__, which scripts ask.
differ='' n=0
for file in "$top"/bpf/*.bt; do
	"$btgen" expand -x "$targets/nvmf_tgt" --for "0.$newest" "$file" >"$tmp/known" 2>/dev/null || continue
	"$btgen" expand -x "$targets/nvmf_tgt" --for 0.31 "$file" 2>/dev/null | cmp -s - "$tmp/known" || differ+=" ${file##*/}"
	n=$((n + 1))
done
is "$differ" "" "our scripts become the same programs"
ok "most of them that this target can have were compared ($n)" test $n -ge 10
is "$("$btgen" expand --for 0.31 -e 'BEGIN { print(__BPFTRACE__); }' 2>/dev/null)" 'BEGIN { print(31); }' "__BPFTRACE__ is its own version"
for list in '' -v --json; do
	# shellcheck disable=SC2086 # none, or one
	is "$("$btgen" probes $list --for 0.31 -x "$targets/nvmf_tgt")" "$("$btgen" probes $list --for "0.$newest" -x "$targets/nvmf_tgt")" \
		"probes ${list:+$list }lists the same"
done

printf '#!/bin/sh\n[ "$1" = --version ] && echo bpftrace v0.31.0-rc1 || exit 3\n' >"$tmp/bpftrace"
chmod +x "$tmp/bpftrace"
run() { says "$btgen" run --bpftrace "$tmp/bpftrace" "$@" -e "$script"; }
is "$(run -n)" "$note" "run -n says so"
is "$(run -n -q)" "" "... unless -q says that only errors are wanted"
can_trace || { skip_tracing "run says so once"; done_testing; }
is "$(run | grep -c 'is newer')" 1 "run says so once"
done_testing
