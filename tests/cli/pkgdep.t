#!/usr/bin/env bash
# scripts/pkgdep.sh: what it would install, on machines made of fake package managers.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

# machine NAME: a folder of commands that is all of PATH; what they are asked to do is in $tmp/ran
machine() {
	path=$tmp/$1
	mkdir "$path"
	for tool in bash cat sed env; do ln -s "$(command -v $tool)" "$path"; done
	fake id 'echo "${FAKE_UID:-0}"'
}

fake() {
	printf '#!%s\n%s\n' "$(command -v sh)" "$2" >"$path/$1"
	chmod +x "$path/$1"
}

pkgdep() {
	: >"$tmp/ran"
	PATH=$path RAN=$tmp/ran "$(command -v bash)" "$top/scripts/pkgdep.sh" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
}

machine debian
export FAIL=
fake dpkg-query 'case $* in *" gcc"|*" make"|*" libc6-dev"|*" g++") echo installed ;; *" bpftrace") echo config-files ;; *) exit 1 ;; esac'
fake apt-get 'echo "apt-get $*" >>"$RAN"; [ -z "$FAIL" ]'
fake apt-cache '[ "$2" != dwz ]'
pkgdep --list
is $? 0 "--list: status 0"
is "$(cat "$tmp/out")" "libelf-dev
zlib1g-dev
libdeflate-dev
libdw-dev
libbpf-dev
bpftrace
procps" "--list names what is missing to build and run, removed packages too, and nothing else"
is "$(cat "$tmp/ran")" "" "... and installs nothing"
pkgdep
is $? 0 "Debian: status 0"
is "$(cat "$tmp/ran")" "apt-get -q update
apt-get -q -y --no-install-recommends install libelf-dev zlib1g-dev libdeflate-dev libdw-dev libbpf-dev bpftrace procps" \
	"Debian: the lists are read first, then it installs all at once without a question"
pkgdep --test --bench
unlike "$(tail -n 1 "$tmp/ran")" ' (g\+\+|dwz)( |$)' "what is there, and what this release does not have, is left out"
like "$(cat "$tmp/err")" '^pkgdep.sh: warning: there is no package dwz here$' "... and the latter is said"
is "$(grep -o ' gdb' "$tmp/ran" | wc -l)" 1 "a package of two sets is named once"
FAIL=yes pkgdep
rc=$?
not_ok "when the package manager fails, so does it" test $rc = 0
# Some other package of the machine is half-configured: apt-get ends with an error each time.
fake dpkg-query '[ -s "$RAN" ] && echo installed'
FAIL=yes pkgdep
is "$? $(grep -c ' install ' "$tmp/ran")" "0 1" "when it fails, but all that was asked for is there afterwards, that will do"
fake apt-get 'echo "apt-get $*" >>"$RAN"; [ "$2" != update ]'
pkgdep
is "$? $(grep -c ' install ' "$tmp/ran")" "0 1" "the same when a list of packages cannot be read"

# A Makefile that is only read installs nothing. Without -n it does: the packages that then are missing still end it.
fake dpkg-query 'exit 1'
fake apt-get 'echo "apt-get $*" >>"$RAN"; exit 1'
check() {
	: >"$tmp/ran"
	env -u MAKEFLAGS -u MAKEOVERRIDES -u MFLAGS PATH="$path:$PATH" RAN="$tmp/ran" make "$@" -C "$top" BUILD="$build" \
		check >"$tmp/out" 2>&1
}
check
is "$? $(grep -c ' install ' "$tmp/ran") $(grep -c 'packages above could not be installed' "$tmp/out")" "2 1 1" \
	"make check installs what is missing, or ends"
check -n --no-print-directory
is "$? $(cat "$tmp/ran")" "0 " "make -n check installs nothing"
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
like "$(cat "$tmp/err")" 'error: not root and no sudo; as root, run: apt-get' "... and the command to run is told"
fake sudo 'echo "sudo $1" >>"$RAN"; shift; exec "$@"'
pkgdep
is "$? $(grep -c '^sudo -n' "$tmp/ran")" "0 2" "sudo is used, and never asks for a password"
unset FAKE_UID

machine fedora
fake rpm '[ "$3" = gcc ]'
fake dnf 'echo "dnf $*" >>"$RAN"'
pkgdep
is "$? $(cat "$tmp/ran")" "0 dnf -q -y --setopt=strict=False install make glibc-devel elfutils-libelf-devel zlib-devel libdeflate-devel elfutils-devel libbpf-devel bpftrace procps-ng" \
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
