#!/usr/bin/env bash
# The page docs/adding-probes can be followed with an installed btgen, in a copy of its folder: two small programs, built by Make,
# CMake, Meson and by hand, traced, stripped, checked.
#
# ADDING_UPDATE=1 tests/live/adding-probes.t writes what the commands print into the page; git diff is the review.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
need_tracing
for tool in pkg-config c++; do
	command -v $tool >/dev/null || skip_all "no $tool"
done

prefix=$tmp/prefix
make -s -C "$top" BUILD="$build" PREFIX="$prefix" install >"$tmp/make.log" 2>&1 || skip_all "make install: $(tail -n 1 "$tmp/make.log")"
unset BTGEN BTGEN_BUILD BUILD MAKEFLAGS MAKEOVERRIDES MFLAGS MAKELEVEL CC CXX CFLAGS CXXFLAGS CPPFLAGS LDFLAGS
export PKG_CONFIG_PATH=$prefix/share/pkgconfig CMAKE_PREFIX_PATH=$prefix PATH=$prefix/bin:$PATH HOME=$tmp
cp -r "$top/docs/adding-probes" "$tmp/copy"
cd "$tmp/copy" || exit 1

# A section is a page of its own: some need a tool that is not everywhere.
awk '/^## / { n++ } { print > sprintf("%02d.md", n) }' README.md
n=0
for page in [0-9][0-9].md; do
	grep -q '^```console' $page || continue
	title=$(sed -n '1s/^## //p' $page) missing=
	for tool in cmake meson ninja gdb pahole; do
		grep -qE "^[\$] $tool " $page || [ "$tool-$title" = ninja-Meson ] || continue
		command -v $tool >/dev/null || missing=$tool
	done
	if [ -n "${ADDING_UPDATE-}" ]; then
		python3 "$top/tests/live/lab.py" --update $page
	elif ! in_third; then
		:
	elif [ -n "$missing" ]; then
		skip "$title" "no $missing"
	else
		out=$(python3 "$top/tests/live/lab.py" $page)
		tap_result $? "$title: $(sed -n '1s/.*: //p' <<<"$out")" || sed 1d <<<"$out"
	fi
	rm -rf c c++ && cp -r "$top/docs/adding-probes/"c* .
	n=$((n + 1))
done
[ -z "${ADDING_UPDATE-}" ] || { cat [0-9][0-9].md >"$top/docs/adding-probes/README.md"; exit; }
ok "it has its eight and more sections with commands ($n)" [ $n -ge 8 ]
done_testing
