#!/usr/bin/env bash
# Random macro programs expand as gcc expands them. COUNT and SEED in the environment for longer searches.
. "$(dirname "$0")/../lib.sh"
command -v gcc >/dev/null || skip_all "gcc is not installed"

out=$(python3 "$top/tests/pp/differ.py" "$build/tests/ppcat" "$tmp" "${COUNT:-120}" "${SEED:-1}" 2>&1)
ok "gcc -E -P and we agree: ${out##*$'\n'}" test $? = 0 || head -n 30 <<<"$out"
done_testing
