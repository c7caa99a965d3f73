#!/usr/bin/env bash
# make check-package: packages out of the tarball alone, as Debian and the distributions with RPM make them.
#
#   tests/package/run.sh TARBALL
#
# The Debian packages build, test themselves and are installed in a bare Debian of $SUITE (default: this machine's), and lintian
# finds nothing in them. The RPMs are built by this machine's rpmbuild, which does not know what is installed here, so without
# their tests; they have the same files, and rpmlint finds nothing. All are left beside the tarball, in packages. Needs root.
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=tests/matrix/mirror.sh
. "$top/tests/matrix/mirror.sh"

cleanup() { rm -rf --one-file-system "$work"; }

# say WHAT: a line on what comes now
say() { printf '== %s\n' "$1"; }

# debian: in $work/root, which becomes a bare Debian
debian() {
	local version in=$work/root/package
	say "Debian packages, in a bare $suite"
	version=${tarball##*/btgen-} version=${version%.tar.gz}
	"$top/tests/chroot/run.sh" -k "$work/root" "$suite" true
	mkdir "$in"
	cp "$tarball" "$in/btgen_$version.orig.tar.gz"
	tar -C "$in" -xf "$tarball"
	cp -R "$in/btgen-$version/packaging/debian" "$in/btgen-$version/"
	"$top/tests/chroot/run.sh" -k "$work/root" "$suite" "sh tests/package/deb.sh /package/btgen-$version"
	find "$in" -maxdepth 1 -type f -exec cp -t "$out" {} +
	say lintian
	lintian --fail-on error,warning --tag-display-limit 0 "$out"/btgen_*.changes
}

# rpms: what compresses the pages and strips the program is bash's, though Debian's rpmbuild gives it to sh, which is not.
rpms() {
	say 'RPM packages'
	rpmbuild -tb --nodeps --nocheck --define "_topdir $work/rpm" --define '_unpackaged_files_terminate_build 1' \
		--define '__os_install_post bash /usr/lib/rpm/brp-compress && bash /usr/lib/rpm/brp-strip' "$tarball" >"$work/rpm.log" 2>&1 || {
		tail -n 30 "$work/rpm.log" >&2
		die "rpmbuild failed"
	}
	cp "$work"/rpm/RPMS/*/*.rpm "$out/"
	say rpmlint
	rpmlint --strict -c "$top/tests/package/rpmlint.toml" "$top/packaging/btgen.spec" "$out"/*.rpm
}

# files: standard input without what only one kind of package has
files() {
	sed -nE 's|^\./|/|; s|\.gz$||; s|/zsh/vendor-completions/|/zsh/site-functions/|; /[^\/]$/p' |
		grep -vE '^/usr/share/(lintian/|licenses/|doc/[^/]*/(copyright|changelog.*)$)|^/usr/lib/(debug|\.build-id)|^/usr/share/doc/btgen-dev' | sort -u
}

main() {
	[ -n "${BTGEN_NULL-}" ] || exec "$top/tests/null.sh" "${BASH_SOURCE[0]}" "$@"
	[ $# = 1 ] || {
		sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0"
		exit 2
	}
	[ "$(id -u)" = 0 ] || die "needs root"
	tarball=$1 suite=${SUITE:-$(. /etc/os-release && printf '%s' "$VERSION_CODENAME")} out=$(dirname "$1")/packages
	work=$(mktemp -d "${TMPDIR:-/tmp}/btgen-package.XXXXXX")
	trap cleanup EXIT
	chmod 755 "$work"
	rm -rf "$out"
	mkdir -p "$out"
	debian
	rpms
	say 'the same files in both kinds'
	diff <(for deb in "$out"/btgen_*.deb "$out"/btgen-dev_*.deb; do dpkg-deb --fsys-tarfile "$deb" | tar -t; done | files) \
		<(rpm -qp --qf '[%{FILEMODES:perms} %{FILENAMES}\n]' "$out"/*.rpm | sed -n '/^d/!s/^[^ ]* //p' | files)
	say "all is well: $out"
}

main "$@"
