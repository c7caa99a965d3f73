# Sourced by what fetches from other Debian suites: where they and we keep it, and the mirror.
#
#   cache          $BTGEN_CACHE (default: btgen in $XDG_CACHE_HOME or ~/.cache)
#   keyring        Debian's archive keys
#   mirror         prints the address of the mirror that serves this machine's own suite; it has the others, too
#   die MESSAGE
# shellcheck shell=bash disable=SC2034

readonly keyring=/usr/share/keyrings/debian-archive-keyring.gpg
cache=${BTGEN_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/btgen}

die() {
	printf '%s: error: %s\n' "${0##*/}" "$1" >&2
	exit 1
}

mirror() {
	local codename uri
	codename=$(. /etc/os-release && printf '%s' "${VERSION_CODENAME-}")
	# shellcheck disable=SC2016 # apt expands it
	uri=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Component: main' \
		"Release: $codename" | head -n 1)
	[ -n "$uri" ] || die "no apt source for '$codename' main on this machine, so no mirror to ask"
	printf '%s' "$uri"
}
