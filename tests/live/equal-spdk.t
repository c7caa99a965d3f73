#!/usr/bin/env bash
# What the scripts for SPDK print of nvmf_tgt is what bare bpftrace prints of the same events, given the program that
# btgen expand makes of each.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"
# shellcheck source=tests/equal.sh
. "$(dirname "$0")/../equal.sh"
readelf -n "$targets/nvmf_tgt" 2>/dev/null | grep -q 'Provider: spdk' || skip_all "built with --without-usdt"

# A host with a short name: 64 characters are what 0.17 has room for.
sed 's/uuid:[-0-9a-f]*/host/' "$targets/tour.txt" >"$tmp/tour.txt"
# shellcheck disable=SC2034 # read by equal.sh
[ "$equal_version" != 0.17 ] || equal_strlen=64
answered() { [ "$(grep -cE '^(ok|error)' "$tmp/answers")" -ge "$1" ]; }

# A file of its own: other tests attach to the same places of that one, and detach, at the same time.
cp "$targets/nvmf_tgt" "$tmp/nvmf_tgt"
equal_start "$tmp/nvmf_tgt" -m 0xC --wait --interrupt-mode --log "$tmp/log"
wait_for grep -q waiting "$tmp/answers"
equal_watch nvmf -D QPAIRS nvmf.bt
equal_watch nvme nvme.bt
equal_watch nvmf_timeout nvmf_timeout.bt
equal_watch sched sched.bt
equal_watch intr-wakeups -D all -D LINES intr-wakeups.bt
equal_watch qpair qpair.bt
equal_watch send_msg send_msg.bt
equal_watch spdk spdk.bt
ok "they attach" equal_attached
live_say start
cat "$tmp/tour.txt" >&8
# At last nothing happens any more: poll groups poll for ever. One more command wakes the thread that reads.
live_say nvmf_tgt_pause_polling
wait_for answered "$(($(grep -vc '^#' "$tmp/tour.txt") + 1))"
live_say 'bdev_null_create null9 100 512'
wait_for answered "$(($(grep -vc '^#' "$tmp/tour.txt") + 2))"
equal_quiet
equal_end
equal_is nvmf
equal_is nvme
equal_is nvmf_timeout
equal_is sched
equal_is intr-wakeups
equal_is qpair
equal_is send_msg
equal_is spdk
live_quit
done_testing
