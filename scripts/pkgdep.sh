#!/usr/bin/env bash
# Installs the packages that btgen needs and this machine does not have. Asks nothing.
#
#   scripts/pkgdep.sh            to build and run: compiler, elfutils, libbpf, bpftrace
#   scripts/pkgdep.sh --test     and what `make check` needs
#   scripts/pkgdep.sh --lint     and what `make lint` needs
#   scripts/pkgdep.sh --bench    and what `make bench` compares with
#   scripts/pkgdep.sh --matrix   and what `make check-matrix` installs other versions with
#   scripts/pkgdep.sh --chroot   and what `make check-chroot` makes other suites with
#   scripts/pkgdep.sh --package  and what `make check-package` builds and checks packages with, beside --chroot
#   scripts/pkgdep.sh --vm       and what `make check-vm` boots a machine with
#   scripts/pkgdep.sh --fleet    and the viewers, stores and fleets of others that `make check-fleet` gives our output to
#   scripts/pkgdep.sh --list     prints the names of what is missing and stops
#
# Works as root, or through sudo. Knows apt (Debian, Ubuntu) and dnf (Fedora, RHEL). Removes no package: one that conflicts with
# what is here is skipped, with the reason. Starts no server, unless the machine's own policy-rc.d says so, and creates no database.
set -euo pipefail

readonly sysroot=${PKGDEP_SYSROOT-} # for the tests
readonly policy=$sysroot/usr/sbin/policy-rc.d
readonly cluster=$sysroot/etc/postgresql-common/createcluster.conf

# One line for each package: the sets that need it, Debian's name, Fedora's name (- for none).
packages() {
	cat <<'EOF'
build gcc gcc
build make make
build libc6-dev glibc-devel
build libelf-dev elfutils-libelf-devel
build zlib1g-dev zlib-devel
build libdw-dev elfutils-devel
build libbpf-dev libbpf-devel
build bpftrace bpftrace
build procps procps-ng
build python3 python3
test binutils binutils
test libiberty-dev binutils-devel
test pahole dwarves
test g++ gcc-c++
test clang clang
test perl perl-Test-Harness
test python3-pyelftools python3-pyelftools
test python3-jsonschema python3-jsonschema
test jq jq
test lld lld
test mold mold
test elfutils elfutils
test bpfcc-tools bcc-tools
test linux-perf perf
test gdb gdb
test systemtap-sdt-dev systemtap-sdt-devel
test systemtap systemtap
test libvirt-clients libvirt-client
test cmake cmake
test meson meson
test ninja-build ninja-build
test pkg-config pkgconf-pkg-config
test php-cli php-cli
test ruby ruby
test default-jdk-headless java-devel
test postgresql postgresql-server
test - postgresql-contrib
test util-linux util-linux
test systemd systemd
test xz-utils xz
test dwz dwz
test libc6-dbg -
test python3-dbg -
test llvm llvm
test g++-aarch64-linux-gnu gcc-c++-aarch64-linux-gnu
test zsh zsh
test fish fish
lint clang-format clang-tools-extra
lint cppcheck cppcheck
lint shellcheck ShellCheck
lint mandoc mandoc
matrix patchelf patchelf
matrix debian-archive-keyring -
chroot debootstrap debootstrap
chroot debian-archive-keyring -
chroot git git
package dpkg-dev dpkg-dev
package lintian -
package rpm rpm-build
package rpmlint rpmlint
package libbz2-dev bzip2-static
package liblzma-dev xz-static
package qemu-user-static qemu-user-static
package busybox-static busybox
package g++-aarch64-linux-gnu gcc-c++-aarch64-linux-gnu
vm qemu-system-x86 qemu-system-x86-core
vm qemu-system-arm qemu-system-aarch64-core
vm g++-aarch64-linux-gnu gcc-c++-aarch64-linux-gnu
vm busybox-static busybox
vm e2fsprogs e2fsprogs
vm binutils binutils
fleet babeltrace2 babeltrace2
fleet python3-bt2 python3-bt2
fleet libbabeltrace2-python-plugin-provider -
fleet babeltrace babeltrace
fleet sqlite3 sqlite
fleet chromium chromium
fleet prometheus golang-github-prometheus
fleet ansible ansible
fleet debian-archive-keyring -
bench gdb gdb
bench dwarves dwarves
bench systemtap-sdt-dev systemtap-sdt-devel
EOF
}

readonly our_policy='#!/bin/sh
# of btgen'"'"'s scripts/pkgdep.sh, while it installs packages: no server is started
exit 101'
readonly our_cluster='# of btgen'"'"'s scripts/pkgdep.sh, while it installs packages
create_main_cluster = false'
is_muted=no

die() {
	printf 'pkgdep.sh: error: %s\n' "$1" >&2
	exit 1
}

is_installed_apt() {
	[ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

is_installed_dnf() {
	rpm -q --whatprovides "$1" >/dev/null 2>&1
}

# announce NAME...: says what is about to be installed, and what for
announce() {
	local set of deb rpm list
	for set in build test lint bench matrix chroot package vm fleet; do
		list=
		while read -r of deb rpm; do
			[ "$manager" = apt ] || deb=$rpm
			[[ $of != "$set" || " $* " != *" $deb "* ]] || list+=" $deb"
		done < <(packages)
		[[ -z $list || $sets != *" $set "* ]] || printf 'pkgdep.sh: installing%s, %s\n' "$list" "$(purpose "$set")" >&2
	done
}

purpose() {
	case $1 in
	build) printf 'to build and run btgen' ;;
	test) printf 'for make check' ;;
	lint | bench) printf 'for make %s' "$1" ;;
	*) printf 'for make check-%s' "$1" ;;
	esac
}

# are_installed NAME...: all of them
are_installed() {
	local name
	for name; do
		"is_installed_$manager" "$name" || return
	done
}

as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo -n "$@"
	else
		die "not root and no sudo; as root, run: $*"
	fi
}

# Names of packages for which apt-get says what it would do, in English, and does nothing.
simulate() {
	LC_ALL=C apt-get -s -q --no-install-recommends "$@" 2>&1
}

# why_not NAME: why it cannot be installed together with those that fit
why_not() {
	local said removed
	said=$(simulate install "${fits[@]}" "$1") || :
	removed=$(sed -n 's/^Remv \([^ ]*\).*/\1/p' <<<"$said")
	if [ -n "$removed" ]; then
		printf 'it would remove %s' "${removed//$'\n'/ }"
	else
		sed -n 's/^E: //p' <<<"$said" | sed -n '1p'
	fi
}

# choose NAME...: those of them that go together and remove nothing; they are `fits`, and `n_all` is how many these are with all that they need
choose() {
	local name said why
	fits=()
	if said=$(simulate --no-remove install "$@"); then
		fits=("$@")
	else
		for name; do
			if simulate --no-remove install "${fits[@]}" "$name" >/dev/null; then
				fits+=("$name")
				continue
			fi
			why=$(why_not "$name")
			[[ $why == 'it would remove '* ]] || is_broken=yes
			printf 'pkgdep.sh: warning: %s is skipped: %s\n' "$name" "${why:-apt-get cannot install it}" >&2
		done
		said=$(simulate --no-remove install "${fits[@]}") || :
	fi
	n_all=$(grep -c '^Inst ' <<<"$said") || :
}

# root_file PATH MODE TEXT: a new file with that text; false where there is one
root_file() {
	# shellcheck disable=SC2016 # for that shell
	[ ! -e "$1" ] && [ ! -L "$1" ] &&
		as_root sh -c 'umask 022; mkdir -p "${1%/*}"; set -C; printf "%s\n" "$3" >"$1" && chmod "$2" "$1"' sh "$@"
}

# alone: what another run has begun comes first. apt-get inherits the lock, but what it starts does not: it is held
# until both have ended.
alone() {
	exec 9<"${policy%/*}"
	flock -n 9 && return
	printf 'pkgdep.sh: waiting for another pkgdep.sh, which installs packages\n' >&2
	flock 9
}

# take_away: the files of mute; of PostgreSQL's file what its package has for it, which ucf put beside ours, stays
take_away() {
	[ "$(cat "$policy" 2>/dev/null)" != "$our_policy" ] || as_root rm -f "$policy"
	[ "$(cat "$cluster" 2>/dev/null)" = "$our_cluster" ] || return 0
	as_root mv -f "$cluster.ucf-dist" "$cluster" 2>/dev/null || as_root rm -f "$cluster"
}

# What is said to packages while they are installed, unless this machine has said something itself: start no server
# (invoke-rc.d and deb-systemd-invoke ask policy-rc.d), and create no database.
mute() {
	trap unmute EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	is_muted=yes
	root_file "$policy" 755 "$our_policy" || [ -e "$policy" ] || die "$policy cannot be written"
	[[ " $* " != *" postgresql "* ]] || root_file "$cluster" 644 "$our_cluster" || [ -e "$cluster" ] ||
		die "$cluster cannot be written"
}

# unmute: afterwards, and on ^C
unmute() {
	[ "$is_muted" = yes ] || return 0
	is_muted=no
	take_away
}

# A package that this release or architecture does not have, or that conflicts with one of this machine, must not keep the
# others away: what is essential, configure will miss; a test says why it is skipped.
install_apt() {
	local name n_all is_broken=no servers="no server is started"
	local -a known=() fits=()
	# Debian's lists may be absent or old on a new machine; a stale list fails in confusing ways.
	as_root apt-get -q update || printf 'pkgdep.sh: warning: apt-get update failed\n' >&2
	for name; do
		if apt-cache show "$name" >/dev/null 2>&1; then
			known+=("$name")
		else
			printf 'pkgdep.sh: warning: there is no package %s here\n' "$name" >&2
		fi
	done
	[ ${#known[@]} -gt 0 ] || return 0
	choose "${known[@]}"
	if [ ${#fits[@]} = 0 ]; then
		[ $is_broken = no ] || die "apt-get can install none of them"
		return 0
	fi
	announce "${fits[@]}"
	[ ! -e "$policy" ] || servers="this machine's policy-rc.d decides which servers are started"
	printf 'pkgdep.sh: with dependencies, %d packages; %s\n' "$n_all" "$servers" >&2
	mute "${fits[@]}"
	# It ends with an error, too, when some other package of the machine could not be configured.
	as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-remove --no-install-recommends install "${fits[@]}" ||
		are_installed "${fits[@]}" || die "apt-get could not install all of them"
	unmute
}

# Without --allowerasing dnf removes nothing, and Fedora's packages start no server.
install_dnf() {
	announce "$@"
	as_root dnf -q -y --setopt=strict=False install "$@" || are_installed "$@" || die "dnf could not install all of them"
}

main() {
	local sets=" build " list=no command="scripts/pkgdep.sh${*:+ $*}" arg
	for arg; do
		case $arg in
		--test | --lint | --bench | --matrix | --chroot | --package | --vm | --fleet) sets+="${arg#--} " ;;
		--list) list=yes ;;
		-h | --help)
			sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0"
			exit 0
			;;
		*)
			printf "pkgdep.sh: error: unknown option '%s'\nTry 'pkgdep.sh --help'.\n" "$arg" >&2
			exit 2
			;;
		esac
	done

	local manager
	if command -v apt-get >/dev/null; then
		manager=apt
	elif command -v dnf >/dev/null; then
		manager=dnf
	else
		die "neither apt-get nor dnf here; install by hand: gcc make elfutils (libelf, libdw) libbpf bpftrace, with headers"
	fi

	[ $list = yes ] || [ $manager != apt ] || alone
	local -a missing=()
	local set deb rpm name
	while read -r set deb rpm; do
		[[ $sets == *" $set "* ]] || continue
		name=$deb
		[ $manager = apt ] || name=$rpm
		[ "$name" != - ] || continue
		[[ " ${missing[*]-} " != *" $name "* ]] || continue
		"is_installed_$manager" "$name" || missing+=("$name")
	done < <(packages)

	if [ $list = yes ]; then
		[ ${#missing[@]} = 0 ] || printf '%s\n' "${missing[@]}"
		return
	fi
	take_away # what a run that was killed has left
	[ ${#missing[@]} -gt 0 ] || return 0
	if [ "$(id -u)" != 0 ]; then
		command -v sudo >/dev/null || die "not root and no sudo; as root, run: $command (it installs ${missing[*]})"
		sudo -n true 2>/dev/null || die "not root, and sudo -n is refused; run: sudo $command (it installs ${missing[*]})"
	fi
	"install_$manager" "${missing[@]}"
}

main "$@"
