#!/usr/bin/env bash
# What tests/vm keeps in $BTGEN_CACHE/vm: a link in the place of its lock harms no file, and another user's folder is not used.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
arch=$(dpkg --print-architecture 2>/dev/null) || skip_all "needs dpkg"

export BTGEN_CACHE=$tmp/cache
kernel=$BTGEN_CACHE/vm/kernel-some-$arch
mkdir -p "$kernel"
touch "$kernel/vmlinuz"
echo precious >"$tmp/file"
ln -s "$tmp/file" "$BTGEN_CACHE/vm/lock"
is "$("$top/tests/vm/kernel.sh" some 2>&1)" "$kernel" "what is there is not fetched again"
is "$(cat "$tmp/file")" precious "a link in the place of the lock: what it leads to stays as it is"
grep -l 'exec 9>' "$top"/tests/vm/*.sh >"$tmp/found"
is "$(cat "$tmp/found")" "" "... as all scripts there take the lock in one way"
if [ "$(id -u)" != 0 ]; then
	skip "the folder of another user" "needs root"
else
	chown 65534 "$BTGEN_CACHE/vm"
	is "$("$top/tests/vm/kernel.sh" some 2>&1)" "kernel.sh: error: $BTGEN_CACHE/vm is another user's" "the folder of another user is not used"
	chown 0 "$BTGEN_CACHE/vm"
	chown 65534 "$BTGEN_CACHE"
	is "$("$top/tests/vm/kernel.sh" some 2>&1)" "kernel.sh: error: $BTGEN_CACHE/vm is another user's" "... nor one in it"
fi
done_testing
