# Sourced by what fetches from other Debian suites: where they and we keep it, and the mirror.
#
#   cache          $BTGEN_CACHE (default: btgen in $XDG_CACHE_HOME or ~/.cache)
#   keyring        Debian's archive keys
#   mirror         prints the address of the mirror that serves this machine's own suite; it has the others, too
#   own_suite      this machine's
#   fetch_debs SUITE PACKAGE...     the packages and all that they depend on, to $work/cache/archives, for $arch ($ARCH, or this machine's)
#   unpack_debs TREE                these packages there, without installing them
#   tie ROOT PROGRAM DIR            copies a program of that tree and the libraries that it loads to DIR, which replace the system's
#   lock_vm        makes $cache/vm, and holds its lock until the script ends; no link in a folder of another user leads it elsewhere
#   die MESSAGE
# shellcheck shell=bash disable=SC2034

# Debian's users have none of mke2fs, debugfs and debootstrap in PATH.
PATH=$PATH:/usr/sbin:/sbin
readonly keyring=/usr/share/keyrings/debian-archive-keyring.gpg
cache=${BTGEN_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/btgen}
work=
arch=${ARCH:-$(dpkg --print-architecture)}

own_suite=$(. /etc/os-release && printf '%s' "${VERSION_CODENAME-}")

die() {
	printf '%s: error: %s\n' "${0##*/}" "$1" >&2
	exit 1
}

lock_vm() {
	mkdir -p "$cache/vm"
	[[ -O $cache && -O $cache/vm ]] || die "$cache/vm is another user's"
	exec 9>>"$cache/vm/lock"
	flock 9
}

mirror() {
	local uri
	# shellcheck disable=SC2016 # apt expands it
	uri=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Component: main' \
		"Release: $own_suite" | head -n 1)
	[ -n "$uri" ] || die "no apt source for '$own_suite' main on this machine, so no mirror to ask"
	printf '%s' "$uri"
}

# apt with lists, state and cache of its own, in $work. An empty list of installed packages makes it fetch every
# dependency, the C library included.
private_apt() {
	apt-get -q -o APT::Architecture="$arch" -o APT::Architectures="$arch" -o Dir::Etc::sourcelist="$work/debian.sources" -o Dir::Etc::sourceparts=- \
		-o Dir::Etc::preferencesparts=- -o Dir::State="$work/state" -o Dir::State::status="$work/status" \
		-o Dir::Cache="$work/cache" -o APT::Update::Error-Mode=any -o APT::Keep-Downloaded-Packages=true \
		-o Debug::NoLocking=1 -o DPkg::Post-Invoke= -o APT::Update::Post-Invoke= "$@" >"$work/apt.log" 2>&1
}

fetch_debs() {
	local suite=$1
	shift
	mkdir -p "$work/state/lists/partial" "$work/cache/archives/partial"
	: >"$work/status"
	printf 'Types: deb\nURIs: %s\nSuites: %s\nComponents: main\nSigned-By: %s\n' \
		"$(mirror)" "$suite" "$keyring" >"$work/debian.sources"
	if ! private_apt update; then
		cat "$work/apt.log" >&2
		die "the package list of Debian $suite cannot be had (a missing key means: this machine's debian-archive-keyring is older than $suite)"
	fi
	# docker images delete every .deb after an install; --download-only installs nothing
	if ! private_apt install -y --download-only --no-install-recommends "$@"; then
		cat "$work/apt.log" >&2
		die "of Debian $suite cannot be had: $*"
	fi
}

unpack_debs() {
	local deb dir
	for dir in bin lib lib64 sbin; do
		mkdir -p "$1/usr/$dir"
		ln -s "usr/$dir" "$1/$dir"
	done
	for deb in "$work"/cache/archives/*.deb; do
		dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$1" --keep-directory-symlink
	done
}

tie() {
	local root=$1 bin=$1/$2 dir=$3 name=${2##*/} loader libs soname path
	local -a needed=()
	mkdir -p "$dir/lib"
	loader=$(patchelf --print-interpreter "$bin")
	# /lib64 is a link that only an installed base-files makes
	loader=$(find "$root" -name "${loader##*/}" -print -quit)
	libs=$(find "$root" -name '*.so*' -printf '%h\n' | sort -u | paste -sd:)
	while read -r soname path; do
		cp -L "$path" "$dir/lib/$soname"
		needed+=(--add-needed "$soname")
	done < <("$loader" --library-path "$libs" --list "$bin" |
		awk '$1 !~ /\// && $2 == "=>" && $3 ~ /^\// { print $1, $3 }')
	[ ${#needed[@]} -gt 0 ] || die "cannot list the libraries of $bin"
	cp -L "$loader" "$dir/lib/"
	# A library's RUNPATH would hide ours from what it loads itself: so the program names them all.
	# (Two runs: patchelf 0.14 mixes up the strings when one run does both.)
	cp "$bin" "$dir/$name"
	patchelf "${needed[@]}" "$dir/$name"
	patchelf --set-interpreter "$dir/lib/${loader##*/}" --force-rpath --set-rpath "$dir/lib" "$dir/$name"
}
