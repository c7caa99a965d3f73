#!/usr/bin/env bash
# Runs a command once for each bpftrace version: the system's, and those that install.sh installs.
#
#   tests/matrix/run.sh COMMAND...      with BTGEN_BPFTRACE=path in its environment; OTHERS=1: without the system's
#
# With EACH='TEST...' in the environment these run with each version, and of the other tests of COMMAND a third, each day and with
# each version the next one.
#
# All versions get their turn; fails if the command failed with any, and says with which. What tests/prove.sh then has
# to say comes at the end, not between the versions.
set -euo pipefail

# pick TURN ARG...: of them, what runs with the version of this turn, in $picked
pick() {
	local turn=$1 n=0 arg
	shift
	picked=()
	for arg in "$@"; do
		if [ -n "${EACH-}" ] && [[ $arg == tests/*.t && " $EACH " != *" $arg "* ]]; then
			n=$((n + 1))
			[ $(((n + turn) % 3)) = 0 ] || continue
		fi
		picked+=("$arg")
	done
}

main() {
	local here bpftrace version installed turn third
	local -a failed=() all=() picked
	turn=$((10#$(date +%j))) third=$((turn % 3))
	here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
	installed=$("$here/install.sh")
	tmp=$(mktemp -d)
	trap 'rm -rf "$tmp"' EXIT
	if [ -z "${OTHERS-}" ] && command -v bpftrace >/dev/null; then all+=("$(command -v bpftrace)"); fi
	mapfile -t -O ${#all[@]} all <<<"$installed"
	[ -n "${OTHERS-}" ] || third=$((third + 2)) # the system's has the third that check runs
	for bpftrace in "${all[@]}"; do
		version=$("$bpftrace" --version)
		printf '=== %s (%s)\n' "$version" "$bpftrace"
		third=$(((third + 1) % 3))
		turn=$((turn + 1))
		pick $turn "$@"
		BTGEN_BPFTRACE=$bpftrace THIRD=${THIRD:-$third} FAILURES=$tmp/said "${picked[@]}" && continue
		failed+=("$version")
		printf '\n=== With %s:\n' "$version" >>"$tmp/all"
		[ ! -e "$tmp/said" ] || cat "$tmp/said" >>"$tmp/all"
		rm -f "$tmp/said"
	done
	if [ ${#failed[@]} -gt 0 ]; then
		cat "$tmp/all"
		printf 'run.sh: failed with: %s\n' "${failed[*]}" >&2
		exit 1
	fi
}

main "$@"
