#!/usr/bin/env bash
# Runs a command in a bare Debian of some suite, on this machine's kernel.
#
#   tests/chroot/run.sh SUITE [COMMAND]              make demo and make check, or COMMAND (of sh)
#   tests/chroot/run.sh -k FOLDER SUITE [COMMAND]    in FOLDER, which stays, with what the command installed
#
# There is what debootstrap calls minbase, make, gcc, and what is committed in this checkout; all else the command has to install
# by itself. The packages come from the mirror that this machine's apt uses, with apt's settings for it. Needs root. The bare
# system is kept in $BTGEN_CACHE (default: btgen in $XDG_CACHE_HOME or ~/.cache), remove chroot-SUITE.tar there for a new one.
# All mounts are made in a mount namespace of their own: nothing is left behind.
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=tests/matrix/mirror.sh
. "$top/tests/matrix/mirror.sh"
root=

# base SUITE: afterwards $cache/chroot-SUITE.tar is there
base() {
	local tar=$cache/chroot-$1.tar
	[ ! -e "$tar" ] || return 0
	mkdir -p "$cache"
	printf 'run.sh: making a bare Debian %s\n' "$1" >&2
	debootstrap --keyring="$keyring" --variant=minbase --include=make,gcc "$1" "$root/new" "$(mirror)" >"$root/log" 2>&1 || {
		tail -n 20 "$root/log" >&2
		die "debootstrap cannot make a Debian $1"
	}
	tar -C "$root/new" -cf "$tar.new" .
	mv "$tar.new" "$tar"
	rm -rf "$root/new"
}

# settle SUITE: the system in $root, with the network of this one, and no services that packages start
settle() {
	if [ ! -e "$root/suite" ]; then
		tar -C "$root" -xf "$cache/chroot-$1.tar"
		printf '%s\n' "$1" >"$root/suite"
	fi
	[ "$(cat "$root/suite")" = "$1" ] || die "$root has a Debian $(cat "$root/suite")"
	printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
	chmod +x "$root/usr/sbin/policy-rc.d"
	cp -L /etc/resolv.conf "$root/etc/resolv.conf"
	apt-config dump --no-empty --format '%F "%v";%n' Acquire |
		grep -E '^Acquire::(https?|Check-)' >"$root/etc/apt/apt.conf.d/90host" || :
	[ -e "$root/btgen" ] || git clone -q "$top" "$root/btgen"
	git -C "$root/btgen" fetch -q "$top" HEAD
	git -C "$root/btgen" reset -q --hard FETCH_HEAD
}

# enter COMMAND: with $root as the root of a mount namespace of our own. A mere chroot is not enough: paths in /proc/PID/maps would
# be others, and unshare, which tests use, wants a root that is a mount point.
enter() {
	mount --bind "$root" "$root"
	mount -t proc proc "$root/proc"
	mount --rbind /sys "$root/sys"
	mount --rbind /dev "$root/dev"
	cd "$root"
	pivot_root . mnt
	exec chroot . env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM="${TERM-dumb}" \
		sh -c "umount -l /mnt && cd /btgen && $1"
}

cleanup() { rm -rf --one-file-system "$root"; }

main() {
	if [ "${1-}" = --enter ]; then
		root=$2
		enter "$3"
	fi
	local keep=
	if [ "${1-}" = -k ]; then
		keep=${2:?the folder is missing}
		shift 2
	fi
	if [ $# = 0 ] || [ $# -gt 2 ] || [[ $1 != [a-z]* ]]; then
		sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0"
		exit 2
	fi
	[ "$(id -u)" = 0 ] || die "needs root"
	command -v debootstrap >/dev/null || die "debootstrap is not here (scripts/pkgdep.sh --chroot)"
	if [ -n "$keep" ]; then
		mkdir -p "$keep"
		root=$(cd "$keep" && pwd -P)
	else
		root=$(mktemp -d "${TMPDIR:-/tmp}/btgen-chroot.XXXXXX")
		trap cleanup EXIT
		chmod 755 "$root"
	fi
	[ -e "$root/suite" ] || base "$1"
	settle "$1"
	"$top/tests/null.sh" "$top/tests/matrix/tracefs.sh" unshare -m -- "${BASH_SOURCE[0]}" --enter "$root" "${2-make demo && make check}"
}

main "$@"
