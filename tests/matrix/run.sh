#!/usr/bin/env bash
# Runs a command once for each bpftrace version: the system's, and those that install.sh installs.
#
#   tests/matrix/run.sh COMMAND...      with BTGEN_BPFTRACE=path in its environment; OTHERS=1: without the system's
#
# All versions get their turn; fails if the command failed with any, and says with which. What tests/prove.sh then has
# to say comes at the end, not between the versions.
set -euo pipefail

main() {
	local here bpftrace version installed
	local -a failed=() all=()
	here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
	installed=$("$here/install.sh")
	tmp=$(mktemp -d)
	trap 'rm -rf "$tmp"' EXIT
	if [ -z "${OTHERS-}" ] && command -v bpftrace >/dev/null; then all+=("$(command -v bpftrace)"); fi
	mapfile -t -O ${#all[@]} all <<<"$installed"
	for bpftrace in "${all[@]}"; do
		version=$("$bpftrace" --version)
		printf '=== %s (%s)\n' "$version" "$bpftrace"
		BTGEN_BPFTRACE=$bpftrace FAILURES=$tmp/said "$@" && continue
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
