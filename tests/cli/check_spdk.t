#!/usr/bin/env bash
# make check-spdk without an SPDK, or with what is none: one message that says what is needed and how to build it. make
# check-others with a folder that has no scripts.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
run=$top/tests/spdk/run.sh

# needs REGEX CLAIM [DIR]
needs() {
	local out rc
	out=$("$run" "${@:3}" 2>&1)
	rc=$?
	is $rc 1 "$2: status 1"
	like "$out" "^check-spdk: error: $1" "$2: the message says what is missing"
	like "$out" '\./configure --with-usdt .*make' "$2: and how to build it"
	is "$(grep -c error: <<<"$out")" 1 "$2: once"
}

needs 'SPDK=DIR is missing' "no SPDK"
needs 'SPDK=DIR is missing' "an empty SPDK=" ''
needs "there is no folder $tmp/nowhere" "a folder that is not there" "$tmp/nowhere"
mkdir -p "$tmp/tree/scripts" "$tmp/tree/mk" "$tmp/tree/build/bin"
needs "there is no build/bin/spdk_tgt in $tmp/tree" "a tree that is not built" "$tmp/tree"
touch "$tmp/tree/build/bin/spdk_tgt" "$tmp/tree/scripts/rpc.py"
chmod +x "$tmp/tree/build/bin/spdk_tgt" "$tmp/tree/scripts/rpc.py"
echo 'CONFIG_USDT?=n' >"$tmp/tree/mk/config.mk"
needs "the SPDK in $tmp/tree was built without --with-usdt" "one without probes" "$tmp/tree"
out=$(OTHERS_DIR="$tmp/nowhere" "$top/tests/others/shipped.t" 2>&1)
is "$? $out" "1 Bail out! there is no *.bt in $tmp/nowhere" "make check-others: a folder without scripts is an error"
done_testing
