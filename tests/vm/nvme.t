#!/usr/bin/env bash
# bpf/nvme-trace.bt and nvme-latency.bt on a kernel with an NVMe driver, in one emulated machine: boot.sh has its
# controllers, guest.sh what is traced and done, results.py what must come of it.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
[ "$(uname -m)" = x86_64 ] || skip_all "the emulated machine is an x86-64 one"
for program in qemu-system-x86_64 busybox debugfs apt-get; do
	command -v $program >/dev/null || skip_all "no $program"
done
vm=$top/tests/vm

"$vm/image.sh" "$tmp/vm" nvme >"$tmp/log" 2>&1 || {
	sed 's/^/# /' "$tmp/log"
	tap_result 1 "a machine can be made"
	done_testing
}
"$vm/boot.sh" "$tmp/vm" 3000 2>"$tmp/log" &
own $!
wait $! || {
	sed 's/^/# /' "$tmp/log" "$tmp/vm/console" | tail -n 30
	tap_result 1 "the machine does its work in time"
	done_testing
}
grep -h '^guest:' "$tmp/vm/console" | sed 's/^/# /'
[ -z "${KEEP_RESULTS-}" ] || cp -r "$tmp/vm/out" "$tmp/vm/console" "$KEEP_RESULTS"
python3 "$vm/results.py" "$top" "$tmp/vm/out"
