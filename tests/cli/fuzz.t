#!/usr/bin/env bash
# Each fuzz target (tests/fuzz/*.c, which say what must hold) on the seeds of make fuzz, whole and cut off at 16 places. make fuzz
# damages them further.
. "$(dirname "$0")/../lib.sh"
export TMPDIR=$tmp MALLOC_PERTURB_=165 # freed memory does not look as before

# replay TARGET SEEDS
replay() {
	"$top/tests/fuzz/run.sh" --seeds "$2" "$tmp/$2" 2>"$tmp/err"
	is "$? $(cat "$tmp/err")" "0 " "$2: seeds"
	guard "$build/tests/fuzz/$1" "$tmp/$2"/* >"$tmp/out" 2>&1
	is "$? $(tail -n 20 "$tmp/out")" "0 $(($(find "$tmp/$2" -type f | wc -l) * 17)) runs" "$2: each, whole and cut off"
}
for source in "$top"/tests/fuzz/*.c; do
	target=$(basename "$source" .c)
	[ "$target" != types ] || continue # tests/obj/hostile-dwarf.t
	[ -x "$build/tests/fuzz/$target" ] || skip_all "$build/tests/fuzz/$target is not built (make check builds it)"
	unset FUZZ_TARGET
	[ "$target" != lists ] || export FUZZ_TARGET=$targets/nvmf_tgt
	replay "$target" "$target"
done
export FUZZ_TARGET=$targets/nvmf_tgt
replay lang check

# make fuzz with programs in place of the targets, two of which fail
mkdir "$tmp/fuzz"
for source in "$top"/tests/fuzz/*.c; do
	printf '#!/bin/sh\necho "${0##*/} ran"\ncase $0 in */decode | */relay) exit 1 ;; esac\n' >"$tmp/fuzz/$(basename "$source" .c)"
done
chmod +x "$tmp"/fuzz/*
NUMBERS_SECONDS=0 "$top/tests/fuzz/run.sh" "$tmp/fuzz" 1 >"$tmp/out" 2>"$tmp/err"
is "$? $(tail -n 1 "$tmp/err")" "1 run.sh: failed: decode relay; the inputs are in $tmp/fuzz" "targets that fail are named at the end"
is "$(sed -n 's/ ran$//p' "$tmp/out" | LC_ALL=C sort -u)" "$(cd "$top/tests/fuzz" && printf '%s\n' *.c | sed 's/\.c$//' | LC_ALL=C sort)" \
	"... and keep no other from its turn"
done_testing
