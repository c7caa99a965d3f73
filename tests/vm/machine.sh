# Sourced: an emulated machine.
#
#   machine CONSOLE SECONDS KERNEL QEMU-OPTION...      the guest's console goes to the file CONSOLE
#
# Returns when its guest has switched it off, and fails when that has not said "guest: done" in time; it is ended then, and when
# we are. Two processors, no network; the root is the first NVMe disk, or $root, and its /init the first process; 1 GiB of memory,
# or $memory; with $ARCH=arm64 of that architecture; $threads=single: the processors take turns, which costs up to half the speed.
# shellcheck shell=bash
machine() {
	local console=$1 seconds=$2 kernel=$3 pid
	shift 3
	: >"$console"
	local serial=ttyS0
	local -a kind=(qemu-system-x86_64 -machine q35 -cpu qemu64)
	# shellcheck disable=SC2054 # the comma is QEMU's
	[ "${ARCH-}" != arm64 ] || kind=(qemu-system-aarch64 -machine virt,gic-version=3 -cpu cortex-a72) serial=ttyAMA0
	# no_timer_check: on a busy machine the first interrupts of the timer are late, of which the kernel panics.
	timeout --kill-after=10 "$seconds" "${kind[@]}" -smp 2 -m "${memory-1024}" \
		-accel "tcg,thread=${threads-multi}" -nodefaults -display none -no-reboot -serial "file:$console" -kernel "$kernel" \
		-append "root=${root-/dev/nvme0n1} rw init=/init console=$serial quiet mitigations=off nokaslr nvme_core.io_timeout=255 no_timer_check panic=-1" \
		"$@" </dev/null &
	pid=$!
	# shellcheck disable=SC2064 # this one
	trap "kill $pid 2>/dev/null || :" EXIT
	trap 'exit 1' INT TERM HUP
	wait $pid || :
	trap - EXIT INT TERM HUP
	grep -q 'guest: done' "$console"
}
