#!/usr/bin/env bash
# What a variable, map, key, tuple or aggregation holds that gets values of different types is what C makes of it.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$top/tests/live.sh"

version=$("$bpftrace" --version | sed 's/.*v0\.\([0-9]*\).*/\1/')
ROWS=${ROWS:-120} SEED=${SEED:-1} # of each kind; another seed has others
parts=$(python3 "$top/tests/live/stores.py" "$tmp" "$version" -n "$ROWS" --seed "$SEED") || exit 1
gcc -O0 -g -fwrapv -w -I"$top/include" -o "$tmp/numbers" "$tmp/stores.c" || exit 1
# shellcheck source=tests/live/rows.sh
. "$top/tests/live/rows.sh"
rows_check $parts
done_testing
