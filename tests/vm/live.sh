#!/usr/bin/env bash
# Runs live tests on kernels and with bpftraces of Debian's suites, in emulated machines, and prints what came of each.
#
#   tests/vm/live.sh [KERNEL:BPFTRACE[:arm64]]... [-- TEST...]     as in: tests/vm/live.sh bullseye:own -- tests/live/enums.t
#
# KERNEL and BPFTRACE are suites, `own` is this machine's: the emulated one has the system of userland.sh and this checkout with
# what is built in it. With arm64 it is an aarch64 one, for which the checkout's copy is cross-compiled; BPFTRACE is `own` then.
# Without any: those that the documentation tells of. It prints a table of kernel x bpftrace x test; what the tests said stays in
# $BTGEN_CACHE/vm/results. Fails when a test fails.
#
# LIMIT: seconds that a test may take (1200).
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$here/../.." && pwd)
# shellcheck source=tests/matrix/mirror.sh
. "$here/../matrix/mirror.sh"
# shellcheck source=tests/vm/machine.sh
. "$here/machine.sh"
declare -a rows=() tests=()
readonly -a core=(tests/demo.sh tests/live/{kernel_names,enums,structs,unknown,printf,args,beyond,operands,functions,calls,results,who,ends,tally,lifecycle,run,postgresql}.t)

# image NAME FOLDER: a file system of that name, NAME.img, with what is in the folder, and some room
image() {
	mke2fs -q -L "${1##*/}" -t ext4 -b 4096 -E root_owner=0:0 -O ^has_journal -d "$2" "$1.img" \
		"$(($(du -sm "$2" | cut -f 1) * 5 / 4 + 64))M" >&2
}

# bpftrace_image SUITE NAME: a disk with that suite's bpftrace, which knows its libraries by the path that is printed
bpftrace_image() {
	local program
	program=$("$here/../matrix/install.sh" "$1")
	image "$2" "${program%/*}"
	printf '%s\n' "$program"
}

# checkout FOLDER: what is committed or built here, without the history
checkout() {
	local file
	mkdir -p "$1/vm"
	for file in "$top"/* "$top"/.[a-z]*; do
		case ${file##*/} in .git | build-*) ;; *) cp -a "$file" "$1/" ;; esac
	done
}

# cross FOLDER: what is built in that checkout is for $ARCH instead
cross() {
	local sysroot
	sysroot=$("$here/sysroot.sh")
	(
		cd "$1"
		make -s clean
		CC="aarch64-linux-gnu-gcc --sysroot=$sysroot" CXX="aarch64-linux-gnu-g++ --sysroot=$sysroot" ./configure
		make -s -j2 all lab
	) >&2
}

# disk NAME FILE[,OPTION]
disk() {
	options+=(-drive "if=none,id=$1,format=raw,cache=unsafe,file=$2")
	options+=(-device "nvme-ns,drive=$1,bus=disks,nsid=$((${#options[@]} / 4 + 1))")
}

# run FOLDER KERNEL BPFTRACE: the tests in one machine; what they said is in FOLDER/vm then
run() {
	local folder=$1 kernel userland bpftrace=''
	# shellcheck disable=SC2034 # of machine()
	local root=PARTUUID=6274676e-01 memory=2048
	local -a options=(-device "nvme,serial=disks,id=disks")
	kernel=$("$here/kernel.sh" "${2/#own/$own_suite}")/vmlinuz
	userland=$("$here/userland.sh")
	rm -rf "$folder"
	mkdir -p "$folder/tree"
	[ "$3" = own ] || bpftrace=$(bpftrace_image "$3" "$folder/bpftrace")
	checkout "$folder/tree"
	[ -z "$ARCH" ] || cross "$folder/tree"
	printf '%s=%q\n' top "$top" bpftrace "$bpftrace" limit "${LIMIT:-1200}" tests "${tests[*]}" >"$folder/tree/vm/job"
	image "$folder/checkout" "$folder/tree"
	rm -rf "$folder/tree"

	disk root "$userland,snapshot=on"
	disk checkout "$folder/checkout.img"
	[ -z "$bpftrace" ] || disk bpftrace "$folder/bpftrace.img"
	# Processors that are emulated side by side at times still see the int3 of a jump that the kernel has patched, and it oopses. 6.12
	# does so every few minutes. The tests that are left get another machine.
	# shellcheck disable=SC2034 # of machine()
	[[ $2 != trixie ]] || local threads=single
	local i
	for i in 1 2 3; do
		! TMPDIR=$folder machine "$folder/console" 7200 "$kernel" "${options[@]}" || break
		grep -q 'Kernel panic' "$folder/console" || break
		echo "live.sh: the emulated kernel has stopped: $(grep -m 1 'Oops\|BUG' "$folder/console")" >&2
		cp "$folder/console" "$folder/console.$i"
		e2fsck -fy "$folder/checkout.img" >/dev/null 2>&1 || :
	done
	debugfs -R "rdump /vm $folder" "$folder/checkout.img" 2>/dev/null
	rm -f "$folder"/*.img
}

# verdict FILES TAP: what a test came to, from FILES.out and FILES.status, and whether the one is TAP (1); in words that begin with "passed", "skipped" or "FAILED"
verdict() {
	[ -e "$1.status" ] || { echo "FAILED: the machine ended before" && return; }
	awk -v status="$(cat "$1.status")" -v tap="$2" '
		{ gsub(/\|/, "/") }
		/^1\.\.0 # SKIP / { all = substr($0, 13) }
		/^1\.\.[0-9]/ { plan = substr($1, 4) + 0; planned = 1 }
		/^ok .* # SKIP / { n++; sub(/.* # SKIP /, ""); if (!seen[$0]++) why = why (why ? "; " : "") $0; skipped++; next }
		/^ok / { n++ }
		/^not ok / { n++; failed++; sub(/^not ok [0-9]+ - /, ""); claims = claims (claims ? "; " : "") $0 }
		END {
			if (all != "") print "skipped: " all
			else if (status == 124 || status == 137) print "FAILED: takes too long, after " n " claims"
			else if (failed) print "FAILED: " failed " of " n ": " claims
			else if (status != 0) print "FAILED: status " status
			else if (!tap) print "passed"
			else if (!planned || plan != n) print "FAILED: " n + 0 " claims, and then none"
			else print "passed " n - skipped (skipped ? ", skipped " skipped ": " why : "")
		}' "$1.out"
}

# table FOLDER: a line for each test
table() {
	local kernel bpftrace test name tap
	read -r kernel bpftrace < <(sed -n 's/^guest: Linux \([^ ]*\), bpftrace v\([^ ]*\).*/\1 \2/p' "$1/console") || :
	for test in "${tests[@]}"; do
		name=${test##*/}
		name=${name%.*}
		[[ $test == *.t ]] && tap=1 || tap=0
		printf '| %s | %s | %s | %s |\n' "${kernel:-none}" "${bpftrace:-none}" "$name" "$(verdict "$1/vm/$name" $tap)"
	done
}

main() {
	local row kernel bpftrace folder rc=0
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		rows+=("$1")
		shift
	done
	tests=("${@:2}")
	[ ${#rows[@]} -gt 0 ] || rows=(bullseye:own bookworm:own trixie:trixie bookworm:own:arm64)
	[ ${#tests[@]} -gt 0 ] || tests=("${core[@]}")
	for row in "${rows[@]}"; do
		folder=$cache/vm/results/${row//:/-}
		IFS=: read -r kernel bpftrace ARCH <<<"$row"
		export ARCH
		printf 'live.sh: %s: %s tests\n' "$row" ${#tests[@]} >&2
		run "$folder" "$kernel" "$bpftrace"
		table "$folder" | tee "$folder/table"
		! grep -q '| FAILED' "$folder/table" || rc=1
	done
	exit $rc
}

main "$@"
