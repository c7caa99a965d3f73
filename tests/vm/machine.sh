#!/usr/bin/env bash
# Runs an emulated machine until its guest has switched it off.
#
#   tests/vm/machine.sh CONSOLE SECONDS KERNEL QEMU-OPTION...      the guest's console goes to the file CONSOLE
#
# Two processors, 1 GiB of memory, no network. Its root is the first NVMe disk, or ROOT; the root's /init is the first process. Fails when that
# has not said "guest: done" in time; the machine is ended then.
set -euo pipefail

readonly console=$1 seconds=$2 kernel=$3
shift 3
: >"$console"
timeout --kill-after=10 "$seconds" qemu-system-x86_64 -machine q35 -cpu qemu64 -smp 2 -m "${MEMORY:-1024}" -accel tcg,thread=multi \
	-nodefaults -display none -no-reboot -serial "file:$console" -kernel "$kernel" \
	-append "root=${ROOT:-/dev/nvme0n1} rw init=/init console=ttyS0 quiet mitigations=off nokaslr nvme_core.io_timeout=255 panic=-1" \
	"$@" </dev/null &
machine=$!
trap 'kill $machine 2>/dev/null || :' EXIT
trap 'exit 1' INT TERM HUP
wait $machine
grep -q 'guest: done' "$console"
