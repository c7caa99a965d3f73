#!/usr/bin/env bash
# The version is written in the Makefile: what is made has it, and what people write has the same.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$top" || exit
version=$(sed -n 's/^VERSION := //p' Makefile)

like "$version" '^[0-9]+\.[0-9]+\.[0-9]+$' "the Makefile has three numbers"
is "$("$btgen" --version)" "btgen $version" "btgen --version"
is "$(sed -n 's/^## //p' docs/news.md | head -n 1)" "$version" "the newest entry of docs/news.md"
is "$(sed -n 's/^Version: *//p' packaging/btgen.spec)" "$version" "the RPM's Version"
like "$(sed -n '/^%changelog/{n;p}' packaging/btgen.spec)" " - ${version//./\\.}-[0-9]+\$" "... and its newest entry"
like "$(head -n 1 packaging/debian/changelog)" "^btgen \\(${version//./\\.}-[0-9]+\\) " "the newest entry of Debian's changelog"
is "$(grep -A 1 -- '--modversion btgen' docs/adding-probes/README.md | tail -n 1)" "$version" "the guide's sample of pkg-config"

make -s BUILD="$build" PREFIX=/usr DESTDIR="$tmp" install >"$tmp/log" 2>&1 || sed 's/^/# /' "$tmp/log"
is "$(grep -l "$version" "$tmp"/usr/share/pkgconfig/* "$tmp"/usr/share/cmake/btgen/* "$tmp"/usr/share/man/*/* | wc -l)" \
	$((2 + $(find docs/man -type f | wc -l))) "btgen.pc, CMake's file and each manual page, once installed"
is "$(grep -rl @VERSION@ "$tmp/usr")" "" "no place is left to fill"
done_testing
