#!/usr/bin/env bash
# Runs a command where nothing can replace /dev/null, and not at all where something already has: what reads it as an empty file, or
# writes to it as root, then fails in ways that nobody understands.
#
#   tests/null.sh COMMAND...
#
# A mount point cannot be removed, nor can a file be renamed over it (EBUSY): /dev/null is mounted over itself in a mount namespace
# of the command's own. Where that cannot be made (not root) nobody can replace it either.
set -euo pipefail

found=$(LC_ALL=C stat -Lc '%F %t:%T' /dev/null 2>&1) || :
[ "$found" = 'character special file 1:3' ] || {
	printf 'null.sh: error: /dev/null is not the null device (%s): as root, rm -f /dev/null && mknod -m 666 /dev/null c 1 3\n' "$found" >&2
	exit 1
}
if [ "${BTGEN_NULL-}" = 1 ]; then
	mount --bind /dev/null /dev/null
elif [ -z "${BTGEN_NULL-}" ] && unshare -m mount --bind /dev/null /dev/null 2>/dev/null; then
	BTGEN_NULL=1 exec unshare -m -- "${BASH_SOURCE[0]}" "$@"
fi
export BTGEN_NULL=2
exec "$@"
