#!/bin/sh
# Traces a running program with a bpftrace template: finds btgen, which does the rest.
set -eu

# Root runs this, with a PATH that may have the current directory in it: the system's own tools, whatever lies there.
here=$(command -p readlink -f -- "$0")
here=${here%/*}
if [ -n "${BTGEN-}" ]; then
	btgen=$BTGEN
elif [ -x "$here/btgen" ]; then
	btgen=$here/btgen
elif [ -x "$here/../build/btgen" ]; then
	btgen=$here/../build/btgen
elif [ -f "$here/../Makefile" ]; then
	printf 'bpftrace.sh: btgen is not built: run make in %s\n' "${here%/*}" >&2
	exit 127
else
	btgen=$(command -v btgen) || btgen=
	case $btgen in
	/*) ;;
	*)
		printf 'bpftrace.sh: btgen not found beside %s\n' "$0" >&2
		exit 127
		;;
	esac
fi
BTGEN_CALLED_AS=bpftrace.sh exec "$btgen" run "$@"
