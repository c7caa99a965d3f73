#!/usr/bin/env bash
# On a machine that may not trace: tests/live/anywhere.t in an emulated machine, which may. `make check` skips it elsewhere, for there
# all live tests run; `make check-vm` runs it always (CHECK_VM).
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
[ -n "${CHECK_VM-}" ] || ! can_trace || skip_all "this machine can trace: all live tests are run"

"$top/tests/vm/small.sh" anywhere >"$tmp/tap" 2>"$tmp/log" &
own $!
wait $!
rc=$?
[ $rc != 3 ] || skip_all "there is no emulated machine here: $(tail -n 1 "$tmp/log")"
cat "$tmp/tap"
sed 's/^/# /' "$tmp/log"
exit $rc
