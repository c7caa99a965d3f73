#!/usr/bin/env bash
# Puts programs for the tests of tests/fleet aside, in $BTGEN_CACHE (default: btgen in $XDG_CACHE_HOME or ~/.cache), and prints where.
#
#   tests/fleet/install.sh pcp      Performance Co-Pilot, whose package cannot be configured where no systemd runs
#   tests/fleet/install.sh otlp     OpenTelemetry's protobuf definitions, out of npm's registry
#   tests/fleet/install.sh host     a small system with a shell and python3, for Ansible to work on
#
# What is there already is not fetched again. Debian's packages are those of this machine's own suite; of PCP's, only what is not
# installed is unpacked. Nothing of the system is touched.
set -euo pipefail

# shellcheck source=tests/matrix/mirror.sh
. "$(dirname "${BASH_SOURCE[0]}")/../matrix/mirror.sh"

is_installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

unpack_missing() { # TREE
	local deb name
	for deb in "$work"/cache/archives/*.deb; do
		name=$(dpkg-deb -f "$deb" Package)
		[[ $name == *pcp* ]] || ! is_installed "$name" || continue
		dpkg-deb -x "$deb" "$1"
	done
}

main() {
	local what=${1-} tree link target
	case $what in
	pcp | otlp | host) ;;
	*)
		sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0" >&2
		exit 2
		;;
	esac
	tree=$cache/fleet/$what-$own_suite
	mkdir -p "$cache/fleet"
	exec 9>"$cache/fleet/lock"
	flock 9
	if [ ! -d "$tree" ]; then
		[ "$what" = otlp ] || { command -v apt-get >/dev/null && [ -r "$keyring" ]; } || die "this is for Debian (scripts/pkgdep.sh --fleet)"
		work=$(mktemp -d "${TMPDIR:-/tmp}/btgen-fleet.XXXXXX")
		trap 'rm -rf "$work" "$cache/fleet"/*.new' EXIT
		chmod 755 "$work" # apt fetches as a user of its own
		rm -rf "$tree.new"
		mkdir "$tree.new"
		if [ "$what" = pcp ]; then
			fetch_debs "$own_suite" pcp
			unpack_missing "$tree.new"
			for link in "$tree.new"/usr/lib/libpcp*.so.*; do # for find_library() of python's ctypes, which asks ld
				ln -s "${link##*/}" "${link%.so.*}.so"
			done
		elif [ "$what" = otlp ]; then # later ones have no definitions in them, but code that writes bytes
			npm install --prefix "$tree.new" --ignore-scripts --no-audit --no-fund --fetch-retries=1 @opentelemetry/otlp-transformer@0.57.2 >&2
		else
			fetch_debs "$own_suite" python3 dash coreutils base-files
			unpack_debs "$tree.new"
			printf 'root:x:0:0:root:/root:/bin/sh\n' >"$tree.new/etc/passwd"
			printf 'root:x:0:\n' >"$tree.new/etc/group"
			[ -e "$tree.new/dev/null" ] || mknod -m 666 "$tree.new/dev/null" c 1 3
		fi
		# Links that name paths of an installed system
		find "$tree.new" -type l -lname '/*' -printf '%p %l\n' | while read -r link target; do
			[ ! -e "$tree.new$target" ] || ln -sfnr "$tree.new$target" "$link"
		done
		mv "$tree.new" "$tree"
	fi
	printf '%s\n' "$tree"
}

main "$@"
