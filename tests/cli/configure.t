#!/usr/bin/env bash
# configure: its options, what it says about what is missing, and that make runs it again as it was run.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
unset CC CXX CFLAGS LDFLAGS MAKEFLAGS MAKEOVERRIDES BUILD
src=$tmp/src
mkdir "$src"
cp -r "$top"/{configure,Makefile,gen,include,bpf,scripts} "$src"
mkdir "$src/tests"
cp -r "$top/tests/targets" "$src/tests"
cd "$src" || exit

# A compiler that lacks what $MISSING matches in the program or on the command line
cat >"$tmp/cc" <<'END'
#!/bin/sh
for file; do
	case $file in *.c) ! grep -qE "$MISSING" "$file" || exit 1 ;; esac
done
! printf '%s\n' "$*" | grep -qE -e "$MISSING" || exit 1
exec gcc "$@"
END
chmod +x "$tmp/cc"

# set_to NAME VALUE CLAIM: config.mak gives the variable that value
set_to() {
	is "$(sed -n "s/^$1 := *//p" config.mak)" "$2" "$3"
}

# fails STATUS REGEX CLAIM ARGUMENT...: one line that says it, and no config.mak
fails() {
	local status=$1 regex=$2 claim=$3 out rc
	shift 3
	rm -f config.mak
	out=$(./configure "$@" 2>&1 >/dev/null)
	rc=$?
	is "$rc" "$status" "$claim: status $status"
	like "$out" "^configure: error: .*$regex" "$claim: the message says so"
	is "$(printf '%s\n' "$out" | grep -cv '^Try ')" 1 "$claim: in one line"
	not_ok "$claim: nothing is written" test -e config.mak
}

out=$(./configure 2>&1)
is $? 0 "without options it works"
like "$out" '^  USDT probes \.+ yes$' "the summary says that probes are built"
like "$out" '^  install below \.+ /usr/local$' "... and where make install goes"
like "$out" '^  bpftrace \.+ ' "... and which bpftrace there is"
set_to CFLAGS "-O2 -g" "optimised, with debug information"
out=$(./configure --without-usdt --enable-debug --prefix=/opt/x 2>&1)
like "$out" '^  USDT probes \.+ no$' "--without-usdt is in the summary"
set_to CFLAGS "-O0 -g3" "--enable-debug sets the flags"
set_to PREFIX /opt/x "--prefix sets the folder"
./configure --prefix=/opt/x --bindir=/opt/x/sbin --includedir=/srv/h --libdir=/opt/x/lib64 --sysconfdir=/etc --localstatedir=/var >/dev/null 2>&1
is $? 0 "GNU's directories are taken, and those that nothing is put into"
# made VARIABLE=DIR...: which of them make install makes
made() { make -n install DESTDIR=/d "$@" 2>&1 | grep -oE "^install -d .*" | grep -oE "/d/(opt/x/s?bin|[a-z/]*/btgen/compat/sys)'" | tr -d "'" | paste -sd' '; }
is "$(made)" "/d/opt/x/sbin /d/srv/h/btgen/compat/sys" "... make install puts into them what belongs there"
is "$(made includedir=/srv/i)" "/d/opt/x/sbin /d/srv/i/btgen/compat/sys" "... but make's command line is stronger"
./configure --enable-asan >/dev/null 2>&1
like "$(sed -n 's/^CFLAGS := //p' config.mak)" '-fsanitize=address,undefined' "--enable-asan compiles with sanitizers"
set_to LDFLAGS "-fsanitize=address,undefined" "... and links with them"
./configure --disable-static >/dev/null 2>&1
is "$(sed -n 's/^LIBS := //p' config.mak | sed 's/ -liberty$//')" "-lbpf" "--disable-static leaves all libraries shared (libiberty is none)"
like "$(./configure --help)" '--with-bpftrace=PATH' "--help lists the options"

mkdir "$tmp/a folder"
printf '#!/bin/sh\necho bpftrace v0.99\n' >"$tmp/a folder/bpftrace"
chmod +x "$tmp/a folder/bpftrace"
out=$(./configure --with-bpftrace="../a folder/bpftrace" 2>&1)
like "$out" '^  bpftrace .* \(bpftrace v0.99\)$' "--with-bpftrace: the summary tells its version"
set_to BPFTRACE "$tmp/a folder/bpftrace" "... and its path is remembered in full"
make -s BUILD=b b/gen/run/bpftrace.o >"$tmp/log" 2>&1
ok "... and compiled in" grep -qF "$tmp/a folder/bpftrace" b/gen/run/bpftrace.o

fails 2 "unknown option '--nosuch'" "an unknown option" --nosuch
fails 2 "unknown option 'x'" "a word that is no option" x
fails 1 "'here' is not an absolute path" "a relative prefix" --prefix=here
fails 1 "'/a b' contains a blank" "a prefix with a blank" --prefix='/a b'
fails 1 "'/no/such' is not a program" "a bpftrace that is not there" --with-bpftrace=/no/such
fails 1 "is not a program" "a bpftrace that is a folder" --with-bpftrace=/etc
fails 1 "a working C compiler not found: install gcc and libc6-dev " "no compiler" CC=no-such-compiler
fails 1 "a working C compiler not found: install gcc and libc6-dev " "no C library headers" CC="gcc -nostdinc"
fails 1 "gcc cannot compile with CFLAGS='-march=abacus'" "flags that the compiler does not know" CC=gcc CFLAGS=-march=abacus
missing() {
	export MISSING=$2
	fails 1 "$1 not found: install $3 .* or run scripts/pkgdep.sh" "without $1" CC="$tmp/cc" "${@:4}"
}
missing libelf 'gelf\.h' libelf-dev
missing libelf '-lelf( |$)' libelf-dev
missing libdw 'libdwfl\.h' libdw-dev
missing libdw '-ldw' libdw-dev
missing libbpf 'bpf/btf\.h' libbpf-dev
missing 'the sanitizer libraries' '-fsanitize' libasan --enable-asan
not_ok "another folder than its own is refused" sh -c 'cd /tmp && "$1"/configure' - "$src" 2>/dev/null

# make runs it again when it is newer than config.mak, in the same way.
CC="gcc -pipe" ./configure --without-usdt --prefix=/opt/y CFLAGS='-O1 -DIT=1' >/dev/null
grep -v '^#' config.mak >"$tmp/before"
sleep 0.01
touch configure
make -s config.mak >"$tmp/log" 2>&1
ok "make runs a newer configure" test config.mak -nt configure
ok "... with the options and the environment of the last time" diff "$tmp/before" <(grep -v '^#' config.mak)
make -s -B config.mak >"$tmp/log" 2>&1
is $? 0 "... each once, however often"
ok "... and config.mak stays the same" diff "$tmp/before" <(grep -v '^#' config.mak)
rm config.mak
make -s CFLAGS=-O0 config.mak >"$tmp/log" 2>&1
set_to CFLAGS "-O2 -g" "what make is told for once is not remembered"

# What --without-usdt is for.
./configure --without-usdt >/dev/null
make -s targets >"$tmp/log" 2>&1
is $? 0 "--without-usdt: the targets are built" || sed 's/^/#   /' "$tmp/log"
is "$(readelf -SW tests/targets/nvmf_tgt tests/targets/*.so | grep -cE 'stapsdt|note\.btgen|\.probes')" 0 "... without notes and semaphores"
is "$(echo quit | tests/targets/nvmf_tgt | tail -n 1)" "$(echo quit | "$targets/nvmf_tgt" | tail -n 1)" "... and they run"
like "$("$btgen" expand -x tests/targets/nvmf_tgt nvmf 2>&1)" 'no USDT probes at all' \
	"... and a script that needs the probes says that there are none"
# A header that changes while a file that needs it is compiled, as in a pull
cat >"$tmp/slow" <<'END'
#!/bin/sh
gcc "$@" || exit 1
case $* in *" -c "*) touch gen/base/str.h ;; esac
END
chmod +x "$tmp/slow"
./configure >/dev/null 2>&1
make CC="$tmp/slow" build/gen/base/str.o >"$tmp/out" 2>&1
again() { make --no-print-directory V= build/gen/base/str.o 2>&1 | sed 's/^make\[[0-9]*\]/make/'; }
is "$(again; again)" "  CC      gen/base/str.c
make: 'build/gen/base/str.o' is up to date." "what changes while it is compiled is compiled again"
done_testing
