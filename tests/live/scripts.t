#!/usr/bin/env bash
# Whole scripts print what C makes of the same statements: clauses that share maps, loops, macros (tests/fuzz/scripts.py).
# shellcheck source=tests/lib.sh disable=SC2154
. "$(dirname "$0")/../lib.sh"
need_tracing
# Two known ones, in CI, too (OTHERS=1); in a whole check-matrix, where each bpftrace is named, others each time.
choose_seed 404 # which every version loads: of one that is refused twelve parts are tried
export BTGEN_BPFTRACE=$bpftrace
python3 "$top/tests/fuzz/scripts.py" --seed "$SEED" --scripts "${SCRIPTS:-2}" --tries 12 "$tmp" >"$tmp/out" 2>&1
rc=$?
ok "what scripts from seed $SEED on print is what C prints" test "$rc" = 0 || sed 's/^/# /' "$tmp/out"
not_ok "each prints something" grep -q ': 0 values' "$tmp/out"
done_testing
