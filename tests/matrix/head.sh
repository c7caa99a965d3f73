#!/usr/bin/env bash
# Builds bpftrace of its newest source, and prints the path of the program.
#
#   tests/matrix/head.sh
#
# HEAD_SOURCE: a git repository, by its path or address [https://github.com/bpftrace/bpftrace.git]; its HEAD is taken.
# HEAD_SUITE: the Debian suite whose compiler, LLVM and libbpf build it [sid], with what its own bpftrace is built with.
#
# The suite is a bare one (tests/chroot/run.sh), kept with source and objects in $BTGEN_CACHE/head-SUITE: what has not changed is not
# built again. The program and its libraries go to $BTGEN_CACHE/bpftrace-head. Needs root; 20 minutes the first time.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/matrix/mirror.sh
. "$here/mirror.sh"
readonly source=${HEAD_SOURCE:-https://github.com/bpftrace/bpftrace.git} suite=${HEAD_SUITE:-sid}

main() {
	[ $# = 0 ] || { sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0" && exit 2; }
	local root=$cache/head-$suite dir=$cache/bpftrace-head log=$cache/head-$suite.log
	mkdir -p "$cache"
	exec 9>"$cache/head.lock"
	flock 9
	[ -e "$root/bpftrace/.git" ] || git init -q "$root/bpftrace"
	git -C "$root/bpftrace" fetch -q --tags "$source" HEAD || die "there is no $source"
	git -C "$root/bpftrace" reset -q --hard FETCH_HEAD
	# What comes after a release still has its number, and already does what the next one will: btgen goes by the number.
	git -C "$root/bpftrace" describe --exact-match --tags >/dev/null 2>&1 ||
		perl -pi -e 's/(?<=bpftrace_VERSION_MINOR )(\d+)/$1 + 1/e' "$root/bpftrace/CMakeLists.txt"
	printf 'head.sh: building bpftrace %s of %s in a Debian %s (%s)\n' "$(git -C "$root/bpftrace" describe --tags)" "$source" "$suite" "$log" >&2
	"$here/../chroot/run.sh" -k "$root" "$suite" 'sh tests/matrix/head-build.sh' >"$log" 2>&1 9>&- || {
		tail -n 20 "$log" >&2
		die "it cannot be built"
	}
	rm -rf "$dir"
	tie "$root" bpftrace-build/src/bpftrace "$dir"
	"$dir/bpftrace" --version >/dev/null || die "$dir/bpftrace does not run"
	printf '%s/bpftrace\n' "$dir"
}

main "$@"
