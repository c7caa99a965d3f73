#!/usr/bin/env bash
# Numbers that hist(), min() and max() of bpftrace 0.17 cannot take: what is wrong of them is not printed as if it were right, and
# what is missing is what `btgen doctor` says of that version.
# shellcheck source=tests/lib.sh disable=SC2154
. "$(dirname "$0")/../lib.sh"
need_tracing
version=$("$bpftrace" --version | sed 's/.*v0\.\([0-9]*\).*/\1/')

# maps SCRIPT: the lines of maps, through btgen
maps() { guard "$btgen" run -q --bpftrace "$bpftrace" -e "$1" 2>/dev/null </dev/null | grep '^[@[]' | sed 's/ *|@.*//; s/ *$//'; }
# as VERSION OLD NEW: what is expected up to that version, and of newer ones
as() { if [ "$version" -le "$1" ]; then echo "$2"; else echo "$3"; fi; }

is "$(maps 'BEGIN { @ = hist(1099511627776); exit(); }')" "@:
$(as 17 '[2G, ...)              1' '[1T, 2T)               1')" "hist(): the bucket with all that is more says so"
small='BEGIN { @lo = min(7); @hi = max(7); @mix = max(-5); @mix = max(3); @below = min(-5); exit(); }'
is "$(maps "$small")" "@below: -5
@hi: 7
@lo: 7
@mix: 3" "min() and max() of what they take"
is "$(maps 'BEGIN { @ = max(-5); exit(); }')" "$(as 19 '' '@: -5')" "max() of negative numbers alone"
is "$(maps 'BEGIN { @ = min(4294967296); exit(); }')" "$(as 17 '' '@: 4294967296')" "min() from 2^32 on"
done_testing
