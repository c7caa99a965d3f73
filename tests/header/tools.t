#!/usr/bin/env bash
# The sessions of docs/other-tools.md, run again: readelf, gdb, tplist, perf and bpftrace on a program with our header.
. "$(dirname "$0")/../lib.sh"
# shellcheck disable=SC2154 # top, tmp: lib.sh

doc=$top/docs/other-tools.md
cd "$tmp" || exit 1
export HOME=$tmp PERF_CONFIG=/dev/null
# The program is the first indented block.
awk '/^    #include/ { on = 1 } on && /^    # cc / { exit } on { sub(/^    /, ""); print }' "$doc" >demo.c
gcc -O2 -g -I"$top/include" -o demo demo.c || skip_all "the program of the document does not compile"

# plain: without what differs from run to run: addresses, registers, process, processor, time, where the file is
plain() {
	grep -v 'libthread_db' | sed -E "s|$tmp|/home/me|g"'
		s/0x[0-9a-f]+/ADDRESS/g; s/\([0-9a-f]{8,}\)/(ADDRESS)/; s/@%[a-z0-9]+/@REGISTER/g; s/bytes @ [a-z0-9]+/bytes @ REGISTER/
		s/arg1=[0-9]{9,}/arg1=ADDRESS/; s/^ +demo +[0-9]+ \[[0-9]+\] +[0-9.]+:/demo PID CPU TIME:/; s/[ \t]+/ /g; s/ $//; /^ ?$/d'
}

# Sections: file N.cmd and N.out for each session.
awk '
	/^    # cc / { next }
	/^    # / { n++; sub(/^    # /, ""); print > (n ".cmd"); out = n ".out"; printf "" > out; next }
	/^    / && out { sub(/^    /, ""); print > out; next }
	/^[^ ]/ { out = "" }' "$doc"

perf_works=yes
perf_why="perf cannot add probes here (no perf, not root, or no tracefs)"
command -v perf >/dev/null && [ "$(id -u)" = 0 ] || perf_works=no
if [ $perf_works = yes ]; then
	# Left over from a run that was interrupted.
	guard perf probe -q --del 'sdt_demo:*' >/dev/null 2>&1
	[ -w /sys/kernel/tracing/uprobe_events ] || [ -w /sys/kernel/debug/tracing/uprobe_events ] || perf_works=no
fi

n=1
while [ -e $n.cmd ]; do
	cmd=$(cat $n.cmd)
	tool=${cmd%% *}
	if ! command -v "$tool" >/dev/null; then
		skip "$cmd" "no $tool"
	elif [ "$tool" = perf ] && [ $perf_works = no ]; then
		skip "$cmd" "$perf_why"
	elif [ "$tool" = bpftrace ] && ! can_trace; then
		skip_tracing "$cmd"
	else
		is "$(guard bash -c "$cmd" 2>&1 | plain)" "$(plain <$n.out)" "$cmd"
	fi
	n=$((n + 1))
done
ok "the document has its ten and more sessions" [ $n -gt 11 ]
done_testing
