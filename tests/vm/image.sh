#!/usr/bin/env bash
# Makes what tests/vm boots: a kernel with an NVMe driver, and a disk image with bpftrace and btgen on it.
#
#   tests/vm/image.sh FOLDER      FOLDER/vmlinuz, FOLDER/root.img
#
# The kernel is that of this machine's suite (kernel.sh). The disk has busybox, bash, BTGEN_BPFTRACE (default: bpftrace), this
# checkout's btgen, scripts and templates, and the guest's first process (init). No root is needed.
set -euo pipefail

readonly -a modules=(configfs.ko nvmet.ko nvmet-tcp.ko nvme-fabrics.ko nvme-tcp.ko) # in the order of loading
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$here/../.." && pwd)

die() {
	printf 'image.sh: error: %s\n' "$1" >&2
	exit 1
}

# closure PROGRAM...: each program with its loader and shared libraries, at the paths it knows them by
closure() {
	local program loader
	for program; do
		loader=$(LC_ALL=C readelf -lW "$program" | sed -n 's/.*program interpreter: \(.*\)]/\1/p')
		printf '%s\n' "$program" "$loader"
		"$loader" --list "$program" | sed -n 's|.*=> \(/[^ ]*\).*|\1|p'
	done | sort -u
}

# root_image FOLDER KERNEL
root_image() {
	local tree=$1/tree bpftrace file module n=0
	bpftrace=$(command -v "${BTGEN_BPFTRACE:-bpftrace}") || die "no bpftrace"
	mkdir -p "$tree"/{bin,dev,proc,sys,tmp,out,usr/local/bin,btgen/build}
	# On a system whose /lib is /usr/lib the tree's is too.
	for file in bin lib lib64 sbin; do
		if [ -L /$file ]; then
			rm -rf "${tree:?}/$file"
			mkdir -p "$tree/usr/$file"
			ln -s "usr/$file" "$tree/$file"
		fi
	done
	closure "$(realpath "$bpftrace")" "$top/build/btgen" /bin/bash | while read -r file; do
		mkdir -p "$tree$(dirname "$file")"
		cp -L "$file" "$tree$file"
	done
	ln -sfn "$(realpath "$bpftrace")" "$tree/usr/local/bin/bpftrace"
	cp "$(command -v busybox)" "$tree/bin/busybox"
	cp "${BTGEN_BUILD:-$top/build}/btgen" "$tree/btgen/build/"
	cp -r "$top/scripts" "$top/bpf" "$tree/btgen/"
	mkdir "$tree/modules"
	for module in "${modules[@]}"; do
		n=$((n + 1))
		cp "$2/$module" "$tree/modules/$n-$module"
	done
	cp "$here/init" "$tree/init"
	chmod 755 "$tree/init"
	cp "$here/guest.sh" "$tree/guest.sh"
	${CC:-gcc} -O1 -static -o "$tree/usr/local/bin/nvmecmd" "$here/nvmecmd.c"
	mke2fs -q -t ext4 -b 4096 -E root_owner=0:0 -O ^has_journal -d "$tree" "$1/root.img" 320M
	rm -rf "$tree"
}

main() {
	[ $# = 1 ] || { printf 'Usage: tests/vm/image.sh FOLDER\n' >&2 && exit 2; }
	local files
	mkdir -p "$1"
	files=$("$here/kernel.sh" "$(. /etc/os-release && printf '%s' "$VERSION_CODENAME")")
	cp "$files/vmlinuz" "$1/vmlinuz"
	root_image "$1" "$files"
}

main "$@"
