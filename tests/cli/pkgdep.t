#!/usr/bin/env bash
# scripts/pkgdep.sh: what it would install, on machines made of fake package managers.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

# machine NAME: a folder of commands that is all of PATH; what they are asked to do is in $tmp/ran
machine() {
	path=$tmp/$1
	mkdir "$path"
	for tool in bash cat sed env grep sh rm mv mkdir chmod flock true; do ln -s "$(type -P $tool)" "$path"; done
	fake id 'echo "${FAKE_UID:-0}"'
	export PKGDEP_SYSROOT=$tmp/$1.root # its /etc and /usr
}

fake() {
	printf '#!%s\n%s\n' "$(command -v sh)" "$2" >"$path/$1"
	chmod +x "$path/$1"
}

pkgdep() {
	: >"$tmp/ran"
	mkdir -p "$PKGDEP_SYSROOT/usr/sbin"
	PATH=$path RAN=$tmp/ran "$(command -v bash)" "$top/scripts/pkgdep.sh" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
}

machine debian
export FAIL=
fake dpkg-query 'case $* in *" gcc"|*" make"|*" libc6-dev"|*" g++") echo installed ;; *" bpftrace") echo config-files ;; *) exit 1 ;; esac'
fake apt-get 'echo "apt-get $*" >>"$RAN"; [ "$1" != -s ] || for name in 1 2 3 4 5 6 7; do echo "Inst $name"; done; [ -z "$FAIL" ]'
fake apt-cache '[ "$2" != dwz ]'
pkgdep --list
is $? 0 "--list: status 0"
is "$(cat "$tmp/out")" "libelf-dev
zlib1g-dev
libdw-dev
libbpf-dev
bpftrace
procps
python3" "--list names what is missing to build and run, removed packages too, and nothing else"
is "$(cat "$tmp/ran")" "" "... and installs nothing"
pkgdep
is $? 0 "Debian: status 0"
is "$(cat "$tmp/ran")" "apt-get -q update
apt-get -s -q --no-install-recommends --no-remove install libelf-dev zlib1g-dev libdw-dev libbpf-dev bpftrace procps python3
apt-get -q -y --no-remove --no-install-recommends install libelf-dev zlib1g-dev libdw-dev libbpf-dev bpftrace procps python3" \
	"Debian: the lists are read first, then it installs all at once without a question, and removes nothing"
is "$(cat "$tmp/err")" "pkgdep.sh: installing libelf-dev zlib1g-dev libdw-dev libbpf-dev bpftrace procps python3, to build and run btgen
pkgdep.sh: with dependencies, 7 packages; no server is started" \
	"... and has said which and what for"
pkgdep --test --bench
like "$(cat "$tmp/err")" 'installing .* clang .* postgresql .*, for make check$' "what is for the tests is said apart"
like "$(cat "$tmp/err")" 'installing gdb dwarves systemtap-sdt-dev, for make bench$' "... and what is for the bench"
unlike "$(tail -n 1 "$tmp/ran")" ' (g\+\+|dwz)( |$)' "what is there, and what this release does not have, is left out"
like "$(cat "$tmp/err")" '^pkgdep.sh: warning: there is no package dwz here$' "... and the latter is said"
is "$(tail -n 1 "$tmp/ran" | grep -o ' gdb' | wc -l)" 1 "a package of two sets is named once"
FAIL=yes pkgdep
rc=$?
not_ok "when the package manager fails, so does it" test $rc = 0
# Some other package of the machine is half-configured: apt-get ends with an error each time.
fake apt-get 'echo "apt-get $*" >>"$RAN"; [ -z "$FAIL" ] || [ "$1" = -s ]'
fake dpkg-query '[ -s "$RAN" ] && echo installed'
FAIL=yes pkgdep
is "$? $(grep -c ' -y .* install ' "$tmp/ran")" "0 1" "when it fails, but all that was asked for is there afterwards, that will do"
fake apt-get 'echo "apt-get $*" >>"$RAN"; [ "$2" != update ]'
pkgdep
is "$? $(grep -c ' -y .* install ' "$tmp/ran")" "0 1" "the same when a list of packages cannot be read"

# A Makefile that is only read installs nothing. Without -n it does: the packages that then are missing still end it.
fake dpkg-query 'exit 1'
fake apt-get 'echo "apt-get $*" >>"$RAN"; [ "$1" = -s ]'
check() {
	: >"$tmp/ran"
	env -u MAKEFLAGS -u MAKEOVERRIDES -u MFLAGS PATH="$path:$PATH" RAN="$tmp/ran" make "$@" -C "$top" BUILD="$build" \
		check >"$tmp/out" 2>&1
}
check
is "$? $(grep -c ' -y .* install ' "$tmp/ran") $(grep -c 'packages above could not be installed' "$tmp/out")" "2 1 1" \
	"make check installs what is missing, or ends"
check -n --no-print-directory
is "$? $(cat "$tmp/ran")" "0 " "make -n check installs nothing"
check release
like "$(cat "$tmp/ran")" ' install .* debootstrap .* rpmlint ' "make release installs what packages are built with"
fake apt-get 'echo "apt-get $*" >>"$RAN"; [ -z "$FAIL" ]'
fake dpkg-query 'echo installed'
pkgdep --test
is "$? $(cat "$tmp/ran" "$tmp/out" "$tmp/err")" "0 " "when nothing is missing it does and says nothing"
pkgdep --nosuch
is $? 2 "an unknown option is a mistake in the command line"
like "$(cat "$tmp/err")" "unknown option '--nosuch'" "... which is named"
pkgdep --help
like "$(cat "$tmp/out")" 'pkgdep.sh --test +and what .make check. needs' "--help tells the sets"

fake dpkg-query 'exit 1'
export FAKE_UID=1000
pkgdep
is $? 1 "neither root nor sudo: status 1"
like "$(cat "$tmp/err")" 'error: not root and no sudo; as root, run: scripts/pkgdep.sh \(it installs gcc make .*python3\)$' \
	"... and the command to run is told, with what is missing"
fake sudo 'echo "sudo: a password is required" >&2; exit 1'
pkgdep --test
is "$? $(cat "$tmp/ran")" "1 " "sudo that needs a password: status 1, and nothing was tried"
like "$(cat "$tmp/err")" '^pkgdep.sh: error: not root, and sudo -n is refused; run: sudo scripts/pkgdep.sh --test \(it installs gcc .*\)$' \
	"... and that is told, once"
fake sudo 'echo "sudo $1" >>"$RAN"; shift; exec "$@"'
pkgdep
is "$? $(grep -c '^sudo -n' "$tmp/ran") $(grep -cv '^sudo -n\|apt-get' "$tmp/ran")" "0 5 0" "sudo is used, and never asks for a password"
unset FAKE_UID

# --- what a package of this machine conflicts with

# apt APT-GET-INSTALL: simulates as apt does on a machine with gcc-multilib, where g++-aarch64-linux-gnu conflicts with it and mold
# needs what is not to be had; to install is to run the other
apt() {
	fake apt-get "echo \"apt-get \$*\" >>\"\$RAN\"
		[ \"\$1\" = -s ] || case \$* in *' install '*) $1 ;; *) exit 0 ;; esac
		[ \"\$1\" = -s ] || exit
		for name; do
			case \$name in
			mold) echo 'mold : Depends: libxxhash0 but it is not installable'; echo 'E: Unable to correct problems, you have held broken packages.'; exit 100 ;;
			g++-aarch64-linux-gnu) case \$* in *--no-remove*) echo 'E: Packages need to be removed but remove is disabled.'; exit 100 ;; *) echo 'Remv gcc-multilib [4:12.2.0-3]' ;; esac ;;
			esac
		done
		echo 'Inst liblld-14 (1:14.0.6-12 Debian:12 [amd64])'
		for name; do [ \$name != lld ] || echo 'Inst lld (1:14.0-55.7 Debian:12 [amd64])'; done"
}
machine multilib
MISSING=' lld g++-aarch64-linux-gnu mold '
export MISSING
fake apt-cache :
fake dpkg-query 'case "$MISSING" in *" $4 "*) exit 1 ;; *) echo installed ;; esac'
apt :
pkgdep --test
is "$? $(grep -- ' -y ' "$tmp/ran")" "1 apt-get -q -y --no-remove --no-install-recommends install lld" "a package that would remove another one is not installed"
is "$(cat "$tmp/err")" "pkgdep.sh: warning: mold is skipped: Unable to correct problems, you have held broken packages.
pkgdep.sh: warning: g++-aarch64-linux-gnu is skipped: it would remove gcc-multilib
pkgdep.sh: installing lld, for make check
pkgdep.sh: with dependencies, 2 packages; no server is started
pkgdep.sh: error: apt-get could not install all of them" "... which is said, with the reason and what is installed"
MISSING=' g++-aarch64-linux-gnu '
pkgdep --test
is "$? $(grep -c -- ' -y ' "$tmp/ran")" "0 0" "when nothing else is missing, the tests run without it"

# --- servers

MISSING=' postgresql '
policy=$PKGDEP_SYSROOT/usr/sbin/policy-rc.d cluster=$PKGDEP_SYSROOT/etc/postgresql-common/createcluster.conf
export policy cluster
# shellcheck disable=SC2016 # for that shell
apt '"$policy"; echo "policy $? $(cat "$cluster")" >>"$RAN"; echo "# all by default" >"$cluster.ucf-dist"; [ -z "$SIGNAL" ] || kill -s $SIGNAL $PPID; exit ${STATUS:-0}'
state() { printf '%s\n' "$(stat -c %a "$policy" 2>/dev/null) $(cat "$policy" 2>/dev/null): $(cat "$cluster" 2>/dev/null) $(ls "${cluster%/*}" 2>/dev/null | paste -sd' ')"; }
export SIGNAL='' STATUS=''
for try in '' STATUS=1 SIGNAL=INT SIGNAL=TERM SIGNAL=HUP; do
	rm -rf "$PKGDEP_SYSROOT"
	SIGNAL='' STATUS=''
	[ -z "$try" ] || eval "$try"
	pkgdep --test
	is "$(grep '^policy' -A 2 "$tmp/ran")" "policy 101 # of btgen's scripts/pkgdep.sh, while it installs packages
create_main_cluster = false" "while packages are installed, none may start a server or create a database ${try:+($try)}"
	is "$(state)" " : # all by default createcluster.conf" "... and afterwards this is as the packages have it"
done
SIGNAL='' STATUS=''
mkdir -p "${policy%/*}" "${cluster%/*}"
printf '#!/bin/sh\nexit 42\n' >"$policy"
chmod 755 "$policy"
echo "data_directory = '/srv'" >"$cluster"
before=$(state)
pkgdep --test
rm "$cluster.ucf-dist"
is "$(grep '^policy' "$tmp/ran")" "policy 42 data_directory = '/srv'" "what this machine has said itself stays"
is "$(state)" "$before" "... afterwards, too"
like "$(cat "$tmp/err")" "packages; this machine's policy-rc.d decides which servers are started$" "... and no more is promised"
rm -rf "$PKGDEP_SYSROOT"
SIGNAL=KILL
pkgdep --test
SIGNAL=''
ok "killed, it leaves its answers there" test -x "$policy" -a -f "$cluster"
MISSING=''
pkgdep --test --list
ok "... also when the next one only lists" test -x "$policy" -a -f "$cluster"
pkgdep --test
is "$(state) $(cat "$tmp/ran")" " : # all by default createcluster.conf " "... which the next one takes away, also when nothing is missing"

# Two at once: the second one begins while the first one's apt-get goes on, and again when the first one was killed.
MISSING=' postgresql '
# shellcheck disable=SC2016 # for that shell
apt 'echo begin >>"$RAN"; [ -z "$GO" ] || { ${KILL:-:} $PPID; echo x >"$GO.begun"; cat "$GO" >/dev/null; }; "$policy"; echo "policy $?" >>"$RAN"'
mkfifo "$tmp/go"
for kill in '' 'kill -9'; do
	rm -rf "$PKGDEP_SYSROOT"
	rm -f "$tmp/go.begun"
	: >"$tmp/second"
	GO=$tmp/go KILL=$kill pkgdep --test &
	first=$!
	wait_for test -s "$tmp/go.begun"
	PATH=$path RAN=$tmp/ran GO='' "$(command -v bash)" "$top/scripts/pkgdep.sh" --test 2>"$tmp/second" </dev/null &
	second=$!
	wait_for grep -q waiting "$tmp/second"
	echo >"$tmp/go"
	wait $first $second
	is "$(grep 'begin\|policy' "$tmp/ran" | paste -sd' ') $(state)" "begin policy 101 begin policy 101  :  " "one waits for ${kill:+the apt-get of }another one${kill:+ that was killed}"
done

machine fedora
fake rpm '[ "$3" = gcc ]'
fake dnf 'echo "dnf $*" >>"$RAN"'
pkgdep
is "$(cat "$tmp/err")" "pkgdep.sh: installing make glibc-devel elfutils-libelf-devel zlib-devel elfutils-devel libbpf-devel bpftrace procps-ng python3, to build and run btgen" \
	"Fedora: it says what for"
pkgdep
is "$? $(cat "$tmp/ran")" "0 dnf -q -y --setopt=strict=False install make glibc-devel elfutils-libelf-devel zlib-devel elfutils-devel libbpf-devel bpftrace procps-ng python3" \
	"Fedora: the same by its names"

# Distributions where nobody runs the tests: what is known of the names there
names() { # DISTRIBUTION STATE
	awk -v on="$1" -v state="$2" '$1 == on && $2 ~ state { for (i = 3; i <= NF; i++) print $i }' "$top/tests/cli/packages.txt" |
		LC_ALL=C sort
}
asked() { # SET...
	pkgdep --list "$@"
	LC_ALL=C sort "$tmp/out"
}
sets='--test --lint --bench --matrix --chroot --vm --fleet'
looked_up() { # DISTRIBUTION
	# shellcheck disable=SC2086 # several
	is "$(asked $sets)" "$(names "$1" .)" "$1: packages.txt has each name that is asked for, and no other"
	is "$(asked | LC_ALL=C comm -23 - <(names "$1" yes))" "" "$1: it has what it takes to build and run by these names"
	echo "# nobody has looked for $(names "$1" unknown | wc -l) of $(names "$1" . | wc -l) names"
}
fake rpm 'exit 1'
looked_up fedora
machine ubuntu
fake dpkg-query 'exit 1'
fake apt-get 'echo "apt-get $*" >>"$RAN"'
looked_up ubuntu-24.04
LACKS=$(names ubuntu-24.04 ^no | paste -sd' ')
export LACKS
fake apt-cache 'case " $LACKS " in *" $2 "*) exit 1 ;; esac'
# shellcheck disable=SC2086 # several
pkgdep $sets
is "$? $(sed -n 's/.*warning: there is no package \(.*\) here/\1/p' "$tmp/err")" "0 $LACKS" "Ubuntu: it names what is not there, and goes on"

machine other
pkgdep
is $? 1 "another system: status 1"
like "$(cat "$tmp/err")" 'install by hand: gcc make elfutils' "... and what to install by hand"
done_testing
