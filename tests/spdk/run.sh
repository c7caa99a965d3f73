#!/usr/bin/env bash
# Runs the tests in this folder against a built tree of SPDK; make check-spdk SPDK=DIR calls it.
#
#   tests/spdk/run.sh DIR [PROVE OPTION]... TEST...
#
# With MATRIX=1 in the environment once for each bpftrace, see tests/matrix/run.sh.
set -euo pipefail

need() {
	cat >&2 <<-E
		check-spdk: error: $1
		It needs a tree of SPDK (https://spdk.io) that was built with its probes, static or with shared libraries:
		    ./configure --with-usdt --disable-tests --disable-unit-tests --disable-examples && make
		Then: make check-spdk SPDK=DIR (as root; MATRIX=1 for all versions of bpftrace)
	E
	exit 1
}

main() {
	local dir=${1-} here
	here=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")
	[ -n "$dir" ] || need "SPDK=DIR is missing"
	[ -d "$dir" ] || need "there is no folder $dir"
	[ -x "$dir/build/bin/spdk_tgt" ] || need "there is no build/bin/spdk_tgt in $dir"
	[ -x "$dir/scripts/rpc.py" ] || need "there is no scripts/rpc.py in $dir"
	grep -qF 'CONFIG_USDT?=y' "$dir/mk/config.mk" || need "the SPDK in $dir was built without --with-usdt"
	git -C "$dir" grep -q nvmf_tgt_state -- lib || need "$dir is no clone, in which SPDK's own scripts look for its enums with git grep"
	[ "$(id -u)" = 0 ] || need "tracing needs root"
	command -v "${BTGEN_BPFTRACE:-bpftrace}" >/dev/null || need "there is no ${BTGEN_BPFTRACE:-bpftrace}"
	shift
	SPDK=$(readlink -f -- "$dir")
	export SPDK PYTHONDONTWRITEBYTECODE=1
	if [ -n "${MATRIX-}" ]; then
		exec "$here/../matrix/run.sh" "$here/../prove.sh" "$@"
	fi
	exec "$here/../prove.sh" "$@"
}

main "$@"
