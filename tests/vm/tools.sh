#!/usr/bin/env bash
# Prints a folder for PATH with the programs that tests/vm makes and runs machines with; nothing where all are installed.
#
#   tests/vm/tools.sh
#
# Their packages are downloaded once, unpacked, not installed, and kept in $BTGEN_CACHE/vm. No root is needed.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/matrix/mirror.sh
. "$here/../matrix/mirror.sh"
readonly -a programs=(qemu-system-x86_64 mke2fs busybox) packages=(qemu-system-x86 e2fsprogs busybox-static)

# fetch FOLDER
fetch() {
	local program loader libs
	printf 'tools.sh: downloading %s of Debian %s (45 MB) to %s\n' "${packages[*]}" "$own_suite" "$1" >&2
	work=$(mktemp -d "$cache/vm/new.XXXXXX")
	trap 'rm -rf "$work"' EXIT
	chmod 755 "$work" # apt fetches as a user of its own
	fetch_debs "$own_suite" "${packages[@]}"
	unpack_debs "$work/tree"
	rm -rf "${work:?}"/tree/usr/share/{doc,man,locale,info} "$work/tree/var"
	mkdir "$work/tree/programs"
	loader=$(realpath "$work"/tree/usr/lib/*/ld-linux-x86-64.so.2)
	libs=$1${loader#"$work/tree"}
	for program in "${programs[@]}"; do
		# Not by the system's loader: it may be older than these libraries.
		# shellcheck disable=SC2016 # for that script
		printf '#!/bin/sh\nexport QEMU_MODULE_DIR="%s/qemu"\nexec "%s" --library-path "%s" "%s" %s "$@"\n' "${libs%/*}" "$libs" "${libs%/*}" \
			"$(cd "$work/tree" && find usr/bin usr/sbin -name "$program" -printf "$1/%p")" \
			"$([[ $program != qemu* ]] || printf -- '-L "%s/usr/share/qemu" -L "%s/usr/share/seabios"' "$1" "$1")" >"$work/tree/programs/$program"
		chmod 755 "$work/tree/programs/$program"
	done
	ln -sf ../usr/bin/busybox "$work/tree/programs/busybox"
	mv -T "$work/tree" "$1"
}

main() {
	local folder=$cache/vm/tools-$own_suite-$arch
	[ "$arch" = amd64 ] || die "the emulated machine is an x86-64 one"
	type "${programs[@]}" >/dev/null 2>&1 && exit # not command -v, which is content with one of them
	lock_vm
	[ -e "$folder" ] || fetch "$folder"
	printf '%s\n' "$folder/programs"
}

main
