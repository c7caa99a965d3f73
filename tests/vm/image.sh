#!/usr/bin/env bash
# Makes what tests/vm boots: a kernel with an NVMe driver, and a disk image with bpftrace and btgen on it.
#
#   tests/vm/image.sh FOLDER nvme|demo|anywhere      FOLDER/vmlinuz, FOLDER/root.img
#
# The kernel is that of this machine's suite (kernel.sh). The disk has busybox, bash, BTGEN_BPFTRACE (default: bpftrace), this
# checkout's btgen, scripts and templates, the guest's first process (init) and what that runs: guest.sh, with the kernel's
# modules and a program that sends NVMe commands; or small-guest.sh, with the demo, or with a live test, Python and the program that
# the test traces. No root is needed.
set -euo pipefail

readonly -a modules=(configfs.ko nvmet.ko nvmet-tcp.ko nvme-fabrics.ko nvme-tcp.ko) # in the order of loading
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$here/../.." && pwd)
# shellcheck source=tests/matrix/mirror.sh
. "$here/../matrix/mirror.sh"

# closure PROGRAM...: each program with its loader and shared libraries, at the paths it knows them by
closure() {
	local program loader
	for program; do
		loader=$(LC_ALL=C readelf -lW "$program" | sed -n 's/.*program interpreter: \(.*\)]/\1/p')
		printf '%s\n' "$program" "$loader"
		"$loader" --list "$program" | sed -n 's|.*=> \(/[^ ]*\).*|\1|p'
	done | sort -u
}

# closure_into TREE PROGRAM...
closure_into() {
	local file
	closure "${@:2}" | while read -r file; do
		mkdir -p "$1$(dirname "$file")"
		cp -L "$file" "$1$file"
	done
}

# add_nvme TREE KERNEL
add_nvme() {
	local module n=0
	mkdir "$1/modules"
	for module in "${modules[@]}"; do
		n=$((n + 1))
		cp "$2/$module" "$1/modules/$n-$module" 2>/dev/null || unxz -c "$2/$module.xz" >"$1/modules/$n-$module"
	done
	cp "$here/guest.sh" "$1/guest.sh"
	${CC:-gcc} -O1 -static -o "$1/usr/local/bin/nvmecmd" "$here/nvmecmd.c"
}

# add_demo TREE: what small-guest.sh runs
add_demo() {
	mkdir "$1/btgen/tests"
	cp -r "$top/tests/targets" "$top"/tests/*.{sh,py} "$1/btgen/tests/"
	cp "$here/small-guest.sh" "$1/guest.sh"
	printf 'export SHARED=%q\ncommand=%q\n' "${SHARED-}" "${2:-tests/demo.sh}" >"$1/job"
}

# add_anywhere TREE
add_anywhere() {
	local python lib
	python=$(command -v /usr/bin/python3 || command -v python3) || die "no python3"
	lib=$("$python" -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')
	python=$("$python" -c 'import sys; print(sys.executable)')
	closure_into "$1" "$(realpath "$python")"
	ln -s "$(realpath "$python")" "$1/usr/local/bin/python3"
	mkdir -p "$1$lib"
	tar -C "$lib" --exclude=./{test,config-'*',site-packages,dist-packages,idlelib,ensurepip,lib2to3} --exclude=__pycache__ -c . | tar -C "$1$lib" -x
	add_demo "$1" tests/live/anywhere.t
	cp -r "$top/tests/live" "$1/btgen/tests/"
	${CC:-gcc} -O1 -g -fno-omit-frame-pointer -I"$top/include" -o "$1/btgen/tests/live/anywhere" "$top/tests/live/anywhere.c"
}

# root_image FOLDER KERNEL nvme|demo|anywhere
root_image() {
	local tree=$1/tree bpftrace btgen=${BTGEN_BUILD:-$top/build}/btgen file
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
	closure_into "$tree" "$(realpath "$bpftrace")" "$btgen" /bin/bash
	ln -sfn "$(realpath "$bpftrace")" "$tree/usr/local/bin/bpftrace"
	cp -L "$(command -v busybox)" "$tree/bin/busybox"
	cp "$btgen" "$tree/btgen/build/"
	cp -r "$top/scripts" "$top/bpf" "$tree/btgen/"
	cp "$here/init" "$tree/init"
	chmod 755 "$tree/init"
	case $3 in
	nvme) add_nvme "$tree" "$2" ;;
	*) "add_$3" "$tree" ;;
	esac
	mke2fs -q -t ext4 -b 4096 -E root_owner=0:0 -O ^has_journal -d "$tree" "$1/root.img" \
		"$(($(du -sm "$tree" | cut -f 1) * 5 / 4 + 64))M" >/dev/null
	rm -rf "$tree"
}

main() {
	[[ $# = 2 && $2 =~ ^(nvme|demo|anywhere)$ ]] || { printf 'Usage: tests/vm/image.sh FOLDER nvme|demo|anywhere\n' >&2 && exit 2; }
	local files
	mkdir -p "$1"
	files=$("$here/kernel.sh" "$own_suite")
	cp "$files/vmlinuz" "$1/vmlinuz"
	root_image "$1" "$files" "$2"
}

main "$@"
