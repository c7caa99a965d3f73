#!/usr/bin/env bash
# What a compiler for another architecture needs to build this checkout: prints the path of a folder for --sysroot.
#
#   ARCH=arm64 tests/vm/sysroot.sh
#
# Its packages are of this machine's suite, as those of userland.sh are, and unpacked, not installed. It is made once and kept in
# $BTGEN_CACHE/vm.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/matrix/mirror.sh
. "$here/../matrix/mirror.sh"

main() {
	local folder=$cache/vm/sysroot2-$own_suite-$arch
	lock_vm
	if [ ! -e "$folder" ]; then
		printf 'sysroot.sh: fetching the libraries of Debian %s for %s\n' "$own_suite" "$arch" >&2
		work=$(mktemp -d "$cache/vm/new.XXXXXX")
		trap 'rm -rf "$work"' EXIT
		chmod 755 "$work" # apt fetches as a user of its own
		fetch_debs "$own_suite" libc6-dev libstdc++-12-dev libelf-dev libdw-dev libbpf-dev zlib1g-dev libbz2-dev
		unpack_debs "$work/tree"
		mv -T "$work/tree" "$folder"
	fi
	printf '%s\n' "$folder"
}

main
