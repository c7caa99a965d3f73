#!/usr/bin/env bash
# The pages of docs/lab can be followed line by line, after `make`, in a fresh copy of the sources.
#
# LAB_UPDATE=1 tests/live/lab.t writes what the commands print into the pages; git diff is the review.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
need_tracing
[ "$(uname -m)" = x86_64 ] || skip_all "the pages show instructions and registers of x86-64"

# What git has or would take, and what `make` has built: btgen.
copy=$tmp/btgen
mkdir -p "$copy/build"
if git -C "$top" rev-parse --git-dir >/dev/null 2>&1; then
	(cd "$top" && git ls-files -z --cached --others --exclude-standard)
else
	(cd "$top" && find . -path './build*' -prune -o -type f -print0)
fi | tar -C "$top" --null -T - --ignore-failed-read -cf - 2>/dev/null | tar -C "$copy" -xf -
cp "$top/config.mak" "$copy/" 2>/dev/null
cp "$btgen" "$copy/build/"
unset BTGEN BTGEN_BUILD BUILD MAKEFLAGS MAKEOVERRIDES MFLAGS MAKELEVEL
cd "$copy" || exit 1

if [ -n "${LAB_UPDATE-}" ]; then
	for page in "$copy"/docs/lab/[0-9]*.md; do
		python3 "$top/tests/live/lab.py" --update "$page"
		cmp -s "$page" "$top/docs/lab/${page##*/}" || cp "$page" "$top/docs/lab/"
	done
	exit
fi
for page in docs/lab/[0-9]*.md; do
	in_third || continue
	out=$(python3 "$top/tests/live/lab.py" "$page")
	tap_result $? "$(sed -n '1s/.*ok - //p' <<<"$out")" || sed 1d <<<"$out"
done
is "$(grep -oE '\([0-9]{2}-[a-z-]+\.md\)' docs/lab/README.md | tr -d '()' | sort -u)" "$(cd docs/lab && ls [0-9]*.md)" \
	"the lab's list has every page"
done_testing
