#!/usr/bin/env bash
# The kernel of a Debian suite for cloud machines: prints the folder that has its vmlinuz and modules.
#
#   tests/vm/kernel.sh [--update] SUITE
#
# NVMe, ext4, serial lines, BPF, uprobes and BTF are built in, so little else of its package is needed: modules for NVMe over TCP.
# The modules may be compressed (.ko.xz). It is downloaded, not installed, once, and kept in $BTGEN_CACHE/vm; --update looks for a newer one. No root is needed.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/matrix/mirror.sh
. "$here/../matrix/mirror.sh"
readonly -a modules=('*/configfs.ko*' '*/nvmet.ko*' '*/nvmet-tcp.ko*' '*/nvme-fabrics.ko*' '*/nvme-tcp.ko*')

# fetch SUITE FOLDER
fetch() {
	printf 'kernel.sh: downloading the kernel of Debian %s (40 MB with its dependencies) to %s\n' "$1" "$2" >&2
	work=$(mktemp -d "$cache/vm/new.XXXXXX")
	trap 'rm -rf "$work"' EXIT
	chmod 755 "$work" # apt fetches as a user of its own
	fetch_debs "$1" "linux-image-cloud-$arch"
	mkdir "$work/files"
	# The package of that name only depends on the one that has the kernel.
	dpkg-deb --fsys-tarfile "$work"/cache/archives/linux-image-[0-9]*.deb |
		tar -x -C "$work" --wildcards './boot/vmlinuz-*' "${modules[@]}"
	mv "$work"/boot/vmlinuz-* "$work/files/vmlinuz"
	find "$work" -name '*.ko*' -exec mv {} "$work/files/" \;
	rm -rf "$2"
	mv -T "$work/files" "$2"
}

main() {
	local update=no folder
	if [ "${1-}" = --update ]; then
		update=yes
		shift
	fi
	[ $# = 1 ] || { sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0" >&2 && exit 2; }
	folder=$cache/vm/kernel-$1-$arch
	lock_vm
	[ $update = no ] && [ -e "$folder/vmlinuz" ] || fetch "$1" "$folder"
	printf '%s\n' "$folder"
}

main "$@"
