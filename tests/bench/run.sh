#!/usr/bin/env bash
# Runs every benchmark beside it and prints their tables; BENCH='types ...' chooses.
set -euo pipefail

main() {
	local here script name
	here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
	export BTGEN_BUILD=${BTGEN_BUILD:-$here/../../build}
	for script in "$here"/*.py "$here"/*.sh; do
		name=${script##*/}
		name=${name%.*}
		if [ "$name" = run ] || [ ! -x "$script" ]; then continue; fi
		if [ -n "${BENCH:-}" ] && [[ " $BENCH " != *" $name "* ]]; then continue; fi
		"$script"
	done
}

main "$@"
