#!/usr/bin/env bash
# The time that a template takes grows with its length, and not with the square of it.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

cat >"$tmp/p.c" <<'EOF'
#include "usdt.h"
enum st { ST_A, ST_B };
struct s { int a; enum st st; char name[16]; };
int main(void) { struct s x = {0}; int e = 1; USDT_PROBE(t, p, &x, e); return 0; }
EOF
gcc -g -w -I "$top/include/btgen" -o "$tmp/p" "$tmp/p.c" || exit 1

kinds=()
while read -r kind; do
	if in_third; then kinds+=("$kind"); fi
done < <(python3 "$top/tests/cli/linear.py")
[ ${#kinds[@]} -ge 7 ] || ok "it has a third of its kinds, of 20 or more" false
while IFS=$'\t' read -r kind wrong; do
	is "$wrong" "" "$kind take time in proportion"
done < <(python3 "$top/tests/cli/linear.py" "$btgen" "$tmp/p" "$tmp" "${kinds[@]}")
is "$tap_n" "${#kinds[@]}" "all of these kinds were run"
done_testing
