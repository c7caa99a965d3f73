#!/usr/bin/env bash
# Makes what tests/vm boots: a kernel with an NVMe driver, and a disk image with bpftrace and btgen on it.
#
#   tests/vm/image.sh FOLDER      FOLDER/vmlinuz, FOLDER/root.img
#
# The kernel is Debian's for cloud machines: NVMe, ext4, serial lines, BPF and BTF are built in, so little else
# of its package is needed: modules for NVMe over TCP. It is downloaded, not installed, and kept in $BTGEN_CACHE/vm. The disk has
# busybox, bash, BTGEN_BPFTRACE (default: bpftrace), this checkout's btgen, scripts and templates, and the
# guest's first process (init). No root is needed.
set -euo pipefail

readonly package=linux-image-cloud-amd64
readonly -a modules=(configfs.ko nvmet.ko nvmet-tcp.ko nvme-fabrics.ko nvme-tcp.ko) # in the order of loading
cache=${BTGEN_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/btgen}/vm
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$here/../.." && pwd)

die() {
	printf 'image.sh: error: %s\n' "$1" >&2
	exit 1
}

# kernel: the folder of the newest kernel of this suite, or of the newest in the cache when the mirror cannot be asked
kernel() {
	local name work
	name=$(apt-cache depends --important "$package" 2>/dev/null | sed -n 's/^ *Depends: \(linux-image-.*\)/\1/p' | head -n 1)
	mkdir -p "$cache"
	if [ -n "$name" ] && [ ! -e "$cache/$name.files" ]; then
		work=$(mktemp -d "$cache/new.XXXXXX")
		(cd "$work" && apt-get -q -o APT::Sandbox::User=root download "$name" >&2 && mkdir files &&
			dpkg-deb --fsys-tarfile ./*.deb | tar -x --wildcards './boot/vmlinuz-*' \
				"${modules[@]/#/*/}" &&
			mv boot/vmlinuz-* files/vmlinuz && find lib -name '*.ko' -exec mv {} files/ \;) ||
			{ rm -rf "$work" && die "$name cannot be downloaded"; }
		mv -T "$work/files" "$cache/$name.files"
		rm -rf "$work"
	fi
	name=$(cd "$cache" && printf '%s\n' linux-image-*.files | sort -V | tail -n 1)
	[ -e "$cache/$name/vmlinuz" ] || die "no $package here; as root, run: apt-get update"
	printf '%s\n' "$cache/$name"
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
	files=$(kernel)
	cp "$files/vmlinuz" "$1/vmlinuz"
	root_image "$1" "$files"
}

main "$@"
