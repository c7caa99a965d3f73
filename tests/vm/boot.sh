#!/usr/bin/env bash
# Boots what image.sh made, and waits until the guest has switched itself off.
#
#   tests/vm/boot.sh FOLDER SECONDS        the guest's console goes to FOLDER/console, its results to FOLDER/out
#
# An emulated machine with two processors and these NVMe controllers, to be told apart by their serial numbers:
#
#   root    the system's disk
#   data    two namespaces of 64 MiB, of 512 and of 4096 bytes a block: takes all commands
#   twenty  each read takes 20 ms
#   slow    writes one block of 512 bytes per second: one of six blocks takes six seconds, if it is not the first
#   faulty  each read of its second MiB fails
#
# Fails when the guest is not done in time; it is ended then.
set -euo pipefail

# shellcheck source=tests/vm/machine.sh
. "$(dirname "${BASH_SOURCE[0]}")/machine.sh"
folder=$1 seconds=$2

main() {
	local -a args
	rm -rf "$folder/out"
	truncate -s 64M "$folder/data1.img" "$folder/data2.img" "$folder/faulty.img"
	printf '[inject-error]\nevent = "read_aio"\nerrno = "5"\nsector = "2048"\nonce = "off"\nimmediately = "off"\n' >"$folder/faults"
	# shellcheck disable=SC2054 # the commas are QEMU's
	args=(
		-drive "if=none,id=root,format=raw,cache=unsafe,file=$folder/root.img" -device nvme,serial=root,drive=root
		-drive "if=none,id=data1,format=raw,cache=unsafe,discard=unmap,file=$folder/data1.img"
		-drive "if=none,id=data2,format=raw,cache=unsafe,discard=unmap,file=$folder/data2.img"
		-device nvme,serial=data,id=data
		-device nvme-ns,drive=data1,bus=data,nsid=1,logical_block_size=512
		-device nvme-ns,drive=data2,bus=data,nsid=2,logical_block_size=4096,physical_block_size=4096
		-drive if=none,id=twenty,driver=null-co,size=64M,latency-ns=20000000 -device nvme,serial=twenty,drive=twenty
		-drive if=none,id=slow,driver=null-co,size=64M,throttling.iops-write=1,throttling.iops-size=512
		-device nvme,serial=slow,drive=slow
		-drive "if=none,id=faulty,driver=raw,file.driver=blkdebug,file.config=$folder/faults,file.image.driver=file,file.image.filename=$folder/faulty.img"
		-device nvme,serial=faulty,drive=faulty
	)
	machine "$folder/console" "$seconds" "$folder/vmlinuz" "${args[@]}"
	rm -rf "$folder/out"
	debugfs -R "rdump /out $folder" "$folder/root.img" 2>/dev/null
}

main
