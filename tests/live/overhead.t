#!/usr/bin/env bash
# make bench-scripts measures: a row has all of its events in the script's output, and a cost that can be true.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
need_tracing

ROUNDS=1 "$top/tests/bench/overhead.sh" malloc >"$tmp/out" 2>&1
is $? 0 "a row is measured"
# event, itself, added, least, greatest, seen
rows() { sed -nE 's/^ +(malloc.*[^ ]) +([0-9.]+) +([0-9.-]+) +([0-9.-]+) +([0-9.-]+) +([0-9]+)% +[0-9.]+ +[0-9.]+$/\2 \3 \6/p' "$tmp/out"; }
is "$(rows | wc -l)" 1 "with its figures"
is "$(rows | awk '$3 != 100')" "" "all events are in the output"
# A probe is two switches to the kernel and back; with a map or two it stays far below a millisecond.
is "$(rows | awk '!($1 < 1 && $2 > 0.2 && $2 < 100)')" "" "a call takes much less than 1 us without the script, and more with it"
"$top/tests/bench/overhead.sh" nothing >"$tmp/out" 2>&1
is "$? $(tail -n 1 "$tmp/out")" "2 overhead.sh: no row nothing" "a row that is not there is an error"
done_testing
