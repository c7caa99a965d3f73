#!/usr/bin/env bash
# The system that the live tests run on in an emulated machine: prints the path of its disk image.
#
#   tests/vm/userland.sh
#
# It is a Debian of this machine's suite, for what was built here is to run there, and has what the live tests need: a compiler,
# a debugger, PostgreSQL, that suite's bpftrace. Its packages are unpacked, not installed: no script of theirs runs, no root is
# needed. It is made once and kept in $BTGEN_CACHE/vm, until this file changes.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/matrix/mirror.sh
. "$here/../matrix/mirror.sh"
readonly -a packages=(
	base-files base-passwd bash coreutils dash debianutils diffutils findutils grep gzip hostname libc-bin login mawk mount
	bsdutils ncurses-base passwd perl-base procps psmisc sed tar util-linux xz-utils iproute2 libcap2-bin
	bpftrace libelf1 libdw1 libbpf-dev
	perl python3 python3-pyelftools python3-jsonschema jq
	gcc g++ clang make libc6-dev libc6-dbg systemtap-sdt-dev binutils elfutils gdb
	postgresql
)

# settle TREE: what the packages' scripts would have made
settle() {
	local tree=$1
	cp "$tree/usr/share/base-passwd/passwd.master" "$tree/etc/passwd"
	cp "$tree/usr/share/base-passwd/group.master" "$tree/etc/group"
	ln -s mawk "$tree/usr/bin/awk"
	ln -s gcc "$tree/usr/bin/cc"
	ln -sf dash "$tree/usr/bin/sh"
	echo vm >"$tree/etc/hostname"
	echo '127.0.0.1 localhost vm' >"$tree/etc/hosts"
	# The checkout has the rest.
	printf '%s\n' '#!/bin/bash' 'mount -t proc proc /proc' 'mount -t sysfs sys /sys' 'mount -t devtmpfs dev /dev 2>/dev/null' \
		'until blkid -L checkout; do sleep 0.1; done' \
		'mount -L checkout /mnt' 'exec /bin/bash /mnt/tests/vm/live-guest.sh' >"$tree/init"
	chmod 755 "$tree/init"
	mkdir -p "$tree/mnt"
	chmod 1777 "$tree/tmp"
}

# make_image IMAGE
make_image() {
	local tree
	printf 'userland.sh: making a Debian %s\n' "$own_suite" >&2
	work=$(mktemp -d "$cache/vm/new.XXXXXX")
	trap 'rm -rf "$work"' EXIT
	chmod 755 "$work" # apt fetches as a user of its own
	fetch_debs "$own_suite" "${packages[@]}"
	tree=$work/tree
	unpack_debs "$tree"
	rm -rf "${tree:?}"/usr/share/{doc,man,locale,info} "$tree/var/cache"
	settle "$tree"
	rm -f "$cache"/vm/userland-*-"$arch"-*.img
	# Kernels from 6.11 on number disks as they find them, and mount a root by its number or by its partition's name only.
	mke2fs -q -t ext4 -b 4096 -E root_owner=0:0,offset=1048576 -O ^has_journal -d "$tree" "$work/image" 2G >&2
	# 440: the disk's name; 446: one partition of Linux (0x83), 0x400000 sectors from 0x800 on; 510: this is such a table
	printf 'ngtb\0\0\0\0\0\0\x83\0\0\0\0\x08\0\0\0\0\x40\0%48s\x55\xaa' '' | tr ' ' '\0' |
		dd of="$work/image" bs=1 seek=440 conv=notrunc status=none
	mv "$work/image" "$1"
}

main() {
	local image
	image=$cache/vm/userland-$own_suite-$arch-$(sha256sum "${BASH_SOURCE[0]}" | cut -c 1-12).img
	lock_vm
	[ -e "$image" ] || make_image "$image"
	printf '%s\n' "$image"
}

main
