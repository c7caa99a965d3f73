#!/usr/bin/env bash
# make dist: the tarball of a commit is the same wherever and by whomever it is made.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
if ! git -C "$top" rev-parse HEAD >"$tmp/commit" 2>&1 || [ ! -e "$top/.git" ]; then skip_all "no git checkout"; fi
unset MAKEFLAGS MAKEOVERRIDES MFLAGS BUILD

ok "make dist" make -s -C "$top" BUILD="$tmp/first" dist
git clone -q "$top" "$tmp/a clone" && git -C "$tmp/a clone" checkout -q --detach "$(cat "$tmp/commit")"
echo not committed >"$tmp/a clone/README.md"
git -C "$tmp/a clone" config core.autocrlf true
git -C "$tmp/a clone" config tar.umask 077
(umask 077 && TZ=Asia/Tokyo make -s -C "$tmp/a clone" BUILD=out dist)
tarball=$(basename "$tmp"/first/*)
ok "it has the same bytes when a clone in another folder makes it, whose owner has other habits" \
	cmp "$tmp/first/$tarball" "$tmp/a clone/out/$tarball"
mkdir "$tmp/unpacked" && tar -C "$tmp/unpacked" -xf "$tmp/first/$tarball"
is "$(cd "$tmp/unpacked/${tarball%.tar.gz}" && find . -type f | LC_ALL=C sort)" \
	"$(git -C "$top" ls-tree -r --name-only HEAD | sed 's|^|./|' | LC_ALL=C sort)" "it has what is committed, in a folder of its name"
is "$(make -C "$tmp/unpacked/${tarball%.tar.gz}" dist 2>&1 | grep -c 'this is no git checkout')" 1 "without git there is none"

version=${tarball#btgen-} version=${version%.tar.gz}
git -C "$tmp/a clone" tag "v$version"
git -C "$tmp/a clone" -c user.name=a -c user.email=a@b.example commit -q --allow-empty -m "after the release"
make -s -C "$tmp/a clone" BUILD=tag TAG="v$version" dist
ok "TAG=: the bytes of that tag, whatever came after it" cmp "$tmp/first/$tarball" "$tmp/a clone/tag/$tarball"
make -s -C "$tmp/a clone" BUILD=other TAG=v9.9.9 dist 2>"$tmp/err"
like "$? $(cat "$tmp/err")" "^2 make dist: this checkout is version $version: git checkout v9.9.9 first" "... which must be this version's"
done_testing
