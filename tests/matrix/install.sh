#!/usr/bin/env bash
# Installs the bpftrace of other Debian suites beside the system's own, to test against several versions.
#
#   tests/matrix/install.sh                  trixie's (0.23) and sid's (0.27 or newer)
#   tests/matrix/install.sh sid              only sid's
#   tests/matrix/install.sh --update SUITE   looks for a newer one even if one is there
#
# Prints the path of each binary, one a line, in the order of the suites. What is there already is not
# fetched again. They go to $BTGEN_CACHE (default: btgen in $XDG_CACHE_HOME or ~/.cache), in folders
# bpftrace-VERSION, each with the shared libraries of its own suite; nothing of the system is touched, no
# root is needed. The packages come from the mirror that this machine's apt uses and are checked as apt
# checks all packages, against Debian's archive keys.
set -euo pipefail

# shellcheck source=tests/matrix/mirror.sh
. "$(dirname "${BASH_SOURCE[0]}")/mirror.sh"

# install_suite SUITE: afterwards $cache/suite-SUITE leads to it
install_suite() {
	local suite=$1 version dir deb
	work=$(mktemp -d "${TMPDIR:-/tmp}/btgen-matrix.XXXXXX")
	chmod 755 "$work" # apt fetches as a user of its own
	printf 'install.sh: fetching bpftrace of Debian %s\n' "$suite" >&2
	fetch_debs "$suite" bpftrace
	mkdir "$work/root"
	for deb in "$work"/cache/archives/*.deb; do
		dpkg-deb -x "$deb" "$work/root"
	done
	version=$(dpkg-deb -f "$work"/cache/archives/bpftrace_*.deb Version)
	version=${version#*:}
	version=${version%%[-+~]*}
	dir=$cache/bpftrace-$version
	if ! "$dir/bpftrace" --version >/dev/null 2>&1; then
		rm -rf "$dir"
		tie "$work/root" usr/bin/bpftrace "$dir"
		"$dir/bpftrace" --version | grep -qF "v$version" || die "$dir/bpftrace does not run"
	fi
	ln -sfn "bpftrace-$version" "$cache/suite-$suite"
	rm -rf "$work"
}

main() {
	local update=no suite
	local -a suites=()
	while [ $# -gt 0 ]; do
		case $1 in
		--update) update=yes ;;
		-h | --help)
			sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0"
			exit 0
			;;
		[a-z]*) suites+=("$1") ;;
		*)
			printf "install.sh: error: unknown option '%s'\nTry 'install.sh --help'.\n" "$1" >&2
			exit 2
			;;
		esac
		shift
	done
	[ ${#suites[@]} -gt 0 ] || suites=(trixie sid)

	mkdir -p "$cache"
	exec 9>"$cache/lock"
	flock 9
	trap 'rm -rf "$work"' EXIT
	for suite in "${suites[@]}"; do
		if [ $update = yes ] || ! "$cache/suite-$suite/bpftrace" --version >/dev/null 2>&1; then
			for tool in apt-get dpkg-deb patchelf; do
				command -v "$tool" >/dev/null ||
					die "$tool is not here (scripts/pkgdep.sh --matrix; Debian and Ubuntu only)"
			done
			[ -r "$keyring" ] || die "$keyring is not here (package debian-archive-keyring)"
			install_suite "$suite"
		fi
		printf '%s/bpftrace\n' "$(cd "$cache/suite-$suite" && pwd -P)"
	done
}

main "$@"
