#!/usr/bin/env bash
# Programs for systems that have no package of btgen: a tar.gz for each architecture, unpacked anywhere, with the scripts, the
# header and the pages of an installation and a btgen that needs no shared library.
#
#   tests/package/static.sh TARBALL
#
# They are left beside the tarball, in packages. Each is tried in a folder as root: of Debian 12 and 13 with their bpftrace, and of
# a busybox and nothing else, as Alpine has it; the one for another architecture by its emulator. Needs root.
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=tests/matrix/mirror.sh
. "$top/tests/matrix/mirror.sh"

cleanup() { rm -rf --one-file-system "$work"; }
say() { printf '== %s\n' "$1"; }

# build ARCHITECTURE OPTION...: $out/NAME.tar.gz, from the tarball alone; the other words are for configure
build() {
	local tree=$work/$1 name=$base-linux-$1 log=$work/$1.log
	shift
	say "$name"
	mkdir "$tree"
	tar -C "$tree" -xf "$tarball" --strip-components=1
	{
		(cd "$tree" && env "$@" ./configure --static-program --prefix="/$name" --without-usdt LDFLAGS=-s) &&
			make -C "$tree" -j2 BUILD="$tree/build" "$tree/build/btgen" &&
			make -C "$tree" BUILD="$tree/build" DESTDIR="$tree/root" install
	} >"$log" 2>&1 || {
		tail -n 20 "$log" >&2
		die "$name cannot be built"
	}
	! readelf -dW "$tree/root/$name/bin/btgen" | grep -q NEEDED || die "$name needs a shared library"
	sed -i 's,^prefix=.*,prefix=${pcfiledir}/../..,' "$tree/root/$name/share/pkgconfig/btgen.pc" # wherever it is unpacked
	! command -v pkg-config >/dev/null ||
		test -f "$(PKG_CONFIG_PATH=$tree/root/$name/share/pkgconfig pkg-config --variable=includedir btgen)/btgen/usdt.h" ||
		die "$name: pkg-config does not find the header"
	tar -C "$tree/root" --owner=0 --group=0 --numeric-owner --sort=name --mtime=@"$(stat -c %Y "$tarball")" -cf - "$name" | gzip -9n >"$out/$name.tar.gz"
}

# try_out PREFIX: what a system's shell has to run there; prints nothing if all is well. No compiler: /app has a probe.
try_out() {
	cat <<-END
		set -eu
		PATH=/$1/bin:\$PATH
		test "\$(btgen --version)" = "btgen $version"
		btgen probes -x /app | grep -q '^app:hit(int n, char \\*what)'
		btgen check -x /app -e 'usdt:__EXE__:app:hit { printf("%d %s\\n", args.n, str(args.what)); }'
		btgen expand -x /app --for 0.23 -e 'usdt:__EXE__:app:hit { printf("%d\\n", args.n); }' | grep -q 'usdt:/app:app:hit'
		bpftrace.sh -h malloc | grep -q 'C library'
	END
}

# in_debian SUITE NAME: with its bpftrace, which traces /app
in_debian() {
	local root=$work/debian-$1
	say "$2 in a bare Debian $1, with its bpftrace"
	"$top/tests/chroot/run.sh" -k "$root" "$1" true
	tar -C "$root" -xf "$out/$2.tar.gz"
	cp "$work/app" "$root/app"
	{
		echo 'export DEBIAN_FRONTEND=noninteractive DEBCONF_NOWARNINGS=yes
apt-get -qq update && apt-get -qq -y --no-install-recommends install bpftrace >/dev/null'
		try_out "$2"
		echo "test \"\$(bpftrace.sh -q -o /got -c '/app word' -e 'usdt:__EXE__:app:hit { printf(\"%d %s\\n\", args.n, str(args.what)); }'; cat /got)\" = '2 word'"
	} >"$root/try"
	"$top/tests/chroot/run.sh" -k "$root" "$1" 'tests/matrix/tracefs.sh sh /try'
}

# in_busybox NAME [EMULATOR]: a root with a shell and this
in_busybox() {
	local root=$work/busybox
	say "$1 where there is no library at all"
	rm -rf "$root"
	mkdir -p "$root/bin" "$root/proc"
	cp "$(command -v busybox)" "$root/bin/"
	busybox --list | grep -vx busybox | while read -r applet; do ln -sf busybox "$root/bin/$applet"; done
	tar -C "$root" -xf "$out/$1.tar.gz"
	cp "$work/app" "$root/app"
	try_out "$1" >"$root/try"
	unshare --mount --pid --fork sh -c "mount -t proc proc '$root/proc' && exec chroot '$root' /bin/sh /try"
}

main() {
	[ $# = 1 ] || {
		sed -n '2,/^set /s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
		exit 2
	}
	[ "$(id -u)" = 0 ] || die "needs root"
	tarball=$1 out=$(dirname "$1")/packages base=${1##*/} sysroot=''
	base=${base%.tar.gz} version=${base#btgen-}
	work=$(mktemp -d "${TMPDIR:-/tmp}/btgen-static.XXXXXX")
	[ -n "${KEEP_WORK-}" ] || trap cleanup EXIT
	chmod 755 "$work"
	mkdir -p "$out"
	printf '#include <btgen/usdt.h>\nint main(int n, char **v) { USDT_PROBE(app, hit, n, USDT_ARG(v[n - 1], "what")); return 0; }\n' >"$work/app.c"
	gcc -static -g -I"$top/include" -o "$work/app" "$work/app.c"
	build x86_64
	sysroot=$(ARCH=arm64 "$top/tests/vm/sysroot.sh")
	build aarch64 CC="aarch64-linux-gnu-gcc --sysroot=$sysroot" CXX="aarch64-linux-gnu-g++ --sysroot=$sysroot"
	in_debian bookworm "$base-linux-x86_64"
	in_debian trixie "$base-linux-x86_64"
	in_busybox "$base-linux-x86_64"
	say "$base-linux-aarch64, emulated"
	test "$(qemu-aarch64-static "$work/aarch64/root/$base-linux-aarch64/bin/btgen" probes -x "$work/app" | tail -n 1)" = 'app:hit(int n, char *what)'
	say "all is well: $out"
}

main "$@"
