#!/usr/bin/env bash
# Runs live tests on kernels and with bpftraces of Debian's suites, in emulated machines, and prints what came of each.
#
#   tests/vm/live.sh FOLDER KERNEL:BPFTRACE... -- TEST...     as in: tests/vm/live.sh /tmp/vm bullseye:bookworm -- tests/live/enums.t
#
# KERNEL and BPFTRACE are suites; the machine has the system of userland.sh and this checkout with what is built in it.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$here/../.." && pwd)
# shellcheck source=tests/matrix/mirror.sh
. "$here/../matrix/mirror.sh"

# image NAME FOLDER: a file system of that name, NAME.img, with what is in the folder, and some room
image() {
	mke2fs -q -L "${1##*/}" -t ext4 -b 4096 -E root_owner=0:0 -O ^has_journal -d "$2" "$1.img" "$(($(du -sm "$2" | cut -f 1) * 5 / 4 + 64))M" >&2
}

# bpftrace_image SUITE NAME: a disk with that suite's bpftrace
bpftrace_image() {
	local program
	program=$("$here/../matrix/install.sh" "$1")
	image "$2" "${program%/*}"
	printf '%s\n' "$program"
}

# checkout FOLDER: what is committed or built here, without the history
checkout() {
	local file
	mkdir -p "$1/vm"
	for file in "$top"/* "$top"/.[a-z]*; do
		case ${file##*/} in .git | build-*) ;; *) cp -a "$file" "$1/" ;; esac
	done
}

# disk NAME FILE
disk() {
	options+=(-drive "if=none,id=$1,format=raw,cache=unsafe,snapshot=on,file=$2")
	options+=(-device "nvme-ns,drive=$1,bus=disks,nsid=$(((${#options[@]} - 2) / 4 + 1))")
}

# run FOLDER KERNEL:BPFTRACE TEST...: the results are in FOLDER/vm, then
run() {
	local folder=$1 kernel=${2%:*} tracer=${2#*:} bpftrace=
	local -a options=(-device "nvme,serial=disks,id=disks")
	shift 2
	rm -rf "$folder"
	mkdir -p "$folder/tree"
	kernel=$("$here/kernel.sh" "$kernel")/vmlinuz
	if [ "$tracer" != "$own_suite" ]; then bpftrace=$(bpftrace_image "$tracer" "$folder/bpftrace"); fi
	checkout "$folder/tree"
	printf '%s=%q\n' top "$top" bpftrace "$bpftrace" slow "${SLOW:-10}" limit "${LIMIT:-120}" tests "$*" >"$folder/tree/vm/job"
	image "$folder/checkout" "$folder/tree"
	rm -rf "$folder/tree"

	disk root "$("$here/userland.sh")"
	disk checkout "$folder/checkout.img"
	options[-3]=${options[-3]/snapshot=on,/}
	[ -z "$bpftrace" ] || disk bpftrace "$folder/bpftrace.img"
	ROOT=PARTUUID=6274676e-01 MEMORY=2048 TMPDIR=$folder "$here/machine.sh" "$folder/console" "${SECONDS_A_MACHINE:-3600}" "$kernel" "${options[@]}" || rc=1
	debugfs -R "rdump /vm $folder" "$folder/checkout.img" 2>/dev/null
	rm -f "$folder"/*.img
}

main() {
	local folder=$1 row rc=0
	local -a rows=()
	shift
	while [ "$1" != -- ]; do
		rows+=("$1")
		shift
	done
	shift
	for row in "${rows[@]}"; do
		run "$folder/${row/:/-}" "$row" "$@"
		grep -a '^guest:' "$folder/${row/:/-}/console" || tail -n 30 "$folder/${row/:/-}/console"
	done
	exit $rc
}

main "$@"
