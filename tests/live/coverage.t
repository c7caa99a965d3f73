#!/usr/bin/env bash
# docs/dev/coverage.md: what it says that works, works; each row has a state and, if that is "works", a command.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
need_tracing
readelf -n "$targets/nvmf_tgt" 2>/dev/null | grep -q 'Provider: spdk' || skip_all "built with --without-usdt"

# The programs of the lab, in a folder that looks like the checkout and has build/ whatever BUILD is.
unset BUILD MAKEFLAGS MAKEOVERRIDES MFLAGS MAKELEVEL
cd "$tmp" || exit 1
for file in "$top"/* "$top"/.[a-z]*; do
	[ "${file##*/}" = build ] || ln -s "$file" .
done
mkdir build
ln -s "$btgen" build/btgen
make -s lab >/dev/null || skip_all "make lab fails"

# rows: feature, command, text and state of each row, between \001
rows() {
	awk '/^\| / && !/^\| what / {
		gsub(/\\\|/, "\002")
		n = split($0, cell, /\|/)
		line = ""
		for (i = 2; i < n; i++) {
			gsub(/^ +| +$/, "", cell[i])
			gsub(/\002/, "|", cell[i])
			line = line (i > 2 ? "\001" : "") cell[i]
		}
		print line
	}' "$top/docs/dev/coverage.md"
}

# code TEXT: what is between the first and the last backtick
code() {
	sed -n 's/^`\(.*\)`$/\1/p' <<<"$1"
}

n=0
while IFS=$'\001' read -r -u 9 what command shows state; do
	n=$((n + 1))
	case $state in
	partly:* | no:*) continue ;;
	works*) ;;
	*) tap_result 1 "$what: works, partly or no" && continue ;;
	esac
	command=$(code "$command") shows=$(code "$shows")
	case $command in
	'make check T='* | 'make check-fleet T='*) ok "$what: ${command#*T=} is a test" test -x "$top/${command#*T=}" ;;
	'make check-spdk SPDK=DIR') ok "$what: there is a test for a real SPDK" test -x "$top/tests/spdk/record.t" ;;
	'make check-vm') ok "$what: there is a test for the emulated machine" test -x "$top/tests/vm/nvme.t" ;;
	'gdb '* | 'readelf '*)
		if command -v "${command%% *}" >/dev/null; then
			like "$(guard bash -c "$command" 2>&1 </dev/null)" "$shows" "$what"
		else
			skip "$what" "${command%% *} is not installed"
		fi
		;;
	*)
		in_third || continue
		out=$(guard bash -c "$command" 2>&1 </dev/null)
		rc=$?
		if [ $rc = 0 ] && [ -n "$shows" ] && grep -qF -- "$shows" <<<"$out"; then
			tap_result 0 "$what"
		else
			tap_result 1 "$what"
			printf '#   %s\n' "\$ $command" "should end with 0 (was $rc) and show: $shows"
			head -n 20 <<<"$out" | sed 's/^/#     /'
		fi
		;;
	esac
done 9< <(rows)
ok "there are rows ($n)" test $n -gt 50
is "$(grep -c '^## .*(seed 00[0-4])' "$top/docs/dev/coverage.md")" 5 "each document has its section"
done_testing
