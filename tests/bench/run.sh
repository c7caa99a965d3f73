#!/usr/bin/env bash
# make bench: what btgen costs, next to the tools that do part of its work, measured side by side in this run.
#
#   tests/bench/run.sh [ROW]...      all rows, or these (row_ROW below); so does BENCH='ROW ...'
#
# A row is a function row_NAME that calls `compare` once or more: the first command is btgen's, the others are
# divided by it. What a row needs and this machine lacks is printed as the reason why the row is skipped.
# ROUNDS: how often each command runs after the first time (7). Figures of different runs are not comparable:
# only the ratios of one run mean something, and only those are judged, and memory. Row types is a table of its own (typetable.py); BENCH_VMLINUX=FILE adds a kernel
# image with debug information to it.
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=${BTGEN_BUILD:-$top/build}
btgen=$build/btgen
target=$top/tests/targets/nvmf_tgt
bpftrace=${BTGEN_BPFTRACE:-bpftrace}
tmp=$(mktemp -d "${TMPDIR:-/tmp}/btgen-bench.XXXXXX")
pid=0

cleanup() {
	[ "$pid" = 0 ] || { kill "$pid" && wait "$pid"; } 2>/dev/null || :
	rm -rf "$tmp"
}
trap cleanup EXIT
trap 'exit 1' INT TERM HUP

# compare TITLE LABEL COMMAND... [--- LABEL COMMAND...]...
compare() {
	printf '%s\n' "$1"
	shift
	"$top/tests/bench/timeit.py" -n "${ROUNDS:-7}" "$@" || failed=1
}

skip() {
	printf '%s\n  skipped: %s\n' "$1" "$2"
}

has() {
	command -v "$1" >/dev/null
}

# with_target: a process to look at, its PID in $pid
with_target() {
	[ "$pid" = 0 ] || return 0
	mkfifo "$tmp/in"
	"$target" -m 0xC --wait <"$tmp/in" >/dev/null 2>&1 &
	pid=$!
	exec 9>"$tmp/in"
}

# From the start of bpftrace.sh to the exec of bpftrace, whose version is known. The bpftrace here is a script that prints that
# and does not run programs. Without debug packages: in a mount namespace where /usr/lib/debug is empty.
row_start() {
	local title="start: bpftrace.sh PID nvmf.bt, until bpftrace is started"
	if [ "$(id -u)" != 0 ] || ! has "$bpftrace"; then
		skip "$title" "needs root and bpftrace"
		return
	fi
	with_target
	printf '#!/bin/sh\necho %s\n' "$("$bpftrace" --version)" >"$tmp/bpftrace"
	chmod +x "$tmp/bpftrace"
	mkdir "$tmp/none"
	local -a without=(unshare -m sh -c "mount --bind $tmp/none /usr/lib/debug && exec \"\$@\"" sh)
	"$btgen" expand -p $pid nvmf -e 'interval:ms:1 { exit(); }' >"$tmp/nvmf.bt"
	compare "$title" \
		'bpftrace.sh' "$top/scripts/bpftrace.sh" -q --bpftrace "$tmp/bpftrace" $pid nvmf \
		--- "without debug packages" "${without[@]}" "$top/scripts/bpftrace.sh" -q --bpftrace "$tmp/bpftrace" $pid nvmf \
		--- 'bpftrace.sh PID mutex.bt, of the C library' "$top/scripts/bpftrace.sh" -q --bpftrace "$tmp/bpftrace" $pid mutex \
		--- "without debug packages" "${without[@]}" "$top/scripts/bpftrace.sh" -q --bpftrace "$tmp/bpftrace" $pid mutex \
		--- "$bpftrace --version" "$bpftrace" --version \
		--- "$bpftrace -e 'BEGIN { exit(); }'" "$bpftrace" -e 'BEGIN { exit(); }' \
		--- "$bpftrace nvmf.bt as expanded, and exit" "$bpftrace" -p $pid "$tmp/nvmf.bt"
}

row_expand() {
	local title="expand: a script's program, out of the process's files"
	with_target
	compare "$title" \
		'btgen expand -p PID nvmf.bt' "$btgen" expand -p $pid --for 0.17 nvmf \
		--- 'btgen expand -x /bin/true -e BEGIN' "$btgen" expand -x /bin/true --for 0.17 -e 'BEGIN { exit(); }'
}

# large_library FILE: 500 probes with an argument or two, names and types as btgen/usdt.h gives them
large_library() {
	local i
	{
		printf '#include <btgen/usdt.h>\nint f(int a, const char *text);\nint f(int a, const char *text)\n{\n'
		for ((i = 0; i < 250; i++)); do
			printf '\tUSDT_PROBE(large, one_%d, a);\n\tUSDT_PROBE(large, two_%d, a + %d, text);\n' $i $i $i
		done
		printf '\treturn a;\n}\n'
	} >"$tmp/large.c"
	"${CC:-gcc}" -O1 -g -I"$top/include" -fPIC -shared -o "$1" "$tmp/large.c"
}

# The largest that is installed, and one of our own.
row_probes() {
	local lib='' file one
	while read -r file; do
		if readelf -SW "$file" 2>/dev/null | grep -q stapsdt; then
			lib=$file
			break
		fi
	done < <(find -L /usr/lib/jvm /usr/lib/x86_64-linux-gnu /usr/lib/aarch64-linux-gnu /usr/lib64 \
		\( -name libjvm.so -o -name 'libstdc++.so.6' -o -name libc.so.6 \) -printf '%s %p\n' 2>/dev/null |
		sort -rn | cut -d ' ' -f 2)
	large_library "$tmp/liblarge.so"
	local ROUNDS=${ROUNDS:-25}
	for file in $lib "$tmp/liblarge.so"; do
		local -a list=()
		one=$("$btgen" probes -x "$file" | sed -n '1s/(.*//p')
		! has "$bpftrace" || list=(--- "$bpftrace -l usdt:FILE:*" "$bpftrace" -l "usdt:$file:*")
		compare "probes: $("$btgen" probes -x "$file" | grep -c '^[^ ]') of $file (medians of $ROUNDS)" \
			'btgen probes -x FILE' "$btgen" probes -x "$file" \
			--- 'readelf -n FILE' readelf -n "$file" \
			--- "btgen probes -x FILE $one" "$btgen" probes -x "$file" "$one" ${list[@]+"${list[@]}"}
	done
}

# large_target FILE: nvmf_tgt with 15 MB of debug information of its own
large_target() {
	local i
	{
		for ((i = 0; i < 5000; i++)); do
			printf 'struct large_%d { struct large_%d *next; LARGE; };\n' $i $((i / 2))
		done
	} >"$tmp/large_target.c"
	"${CC:-gcc}" -g -fno-eliminate-unused-debug-types -c -o "$tmp/large_target.o" \
		-DLARGE="$(for ((i = 0; i < 250; i++)); do printf 'int member_%d; ' $i; done)" "$tmp/large_target.c"
	"${CC:-gcc}" -O2 -g -D_GNU_SOURCE -I"$top/include" -I"$top/tests/targets" -pthread -o "$1" \
		"$top"/tests/targets/{main,rpc,commands,target,poll_group,subsystem,subsystem_ops,ctrlr,bdev,bdev_nvme,thread,io_channel,reactor,scheduler,log}.c \
		"$tmp/large_target.o"
}

row_check() {
	local script cost
	large_target "$tmp/large_target"
	compare "check: the largest script, against $(($(stat -c %s "$tmp/large_target") >> 20)) MB" \
		'btgen check -x FILE spdk.bt' "$btgen" check -x "$tmp/large_target" --for 0.17 spdk \
		--- 'readelf --debug-dump=info FILE' readelf --debug-dump=info "$tmp/large_target"
	printf '  of that for the checks (medians of 9):'
	for script in nvmf spdk; do
		cost=$(for _ in {1..9}; do
			"$build/checkcost" check -x "$tmp/large_target" --for 0.17 $script 2>&1 | sed -n 's/^check_script //p'
		done | sort -n | sed -n 5p)
		printf ' %s.bt %s ms' $script "$cost"
	done
	printf '\n'
}

# The promise: memory that does not grow with the length of the trace.
row_relay() {
	local form rate early late peak
	printf '%s\n' "relay: 10 million records with four numbers and a text, and memory after a quarter, after all, and at the end"
	for form in text json sorted; do
		read -r rate early late peak < <("$build/relaycost" $form 10000000)
		printf '  %-44s %12s lines/s %7s MB %7s MB %7s MB\n' "$form" "$rate" "$early" "$late" "$peak"
		if [ "$late" -gt $((early + early / 10 + 1)) ]; then
			printf '  MISSED: memory that does not grow\n'
			failed=1
		fi
	done
}

# captured N: a capture with N records, each the start or the end of one of four threads' calls
captured() {
	python3 - "$1" <<-'E2'
		import sys
		for n in range(int(sys.argv[1])):
		    probe = "done" if n // 4 % 2 else "start"
		    print('{"time": "2026-01-31T12:%02d:%02d.%09d+01:00", "cpu": %d, "pid": 42, "tid": %d, "comm": "reactor_%d", "probe": "app:request_%s", '
		          '"text": "request %d %s", "fields": {"id": %d, "bytes": 4096, "name": "nqn.2016-06.io.spdk:cnode%d", "state": {"name": "RUNNING", "value": 4}}}'
		          % (n // 60000000, n // 1000000 % 60, n % 1000000 * 1000, n % 4, 43 + n % 4, n % 4, probe, n, probe, n, n % 7))
	E2
}

# The promises: ten times the records take ten times the CPU time, and no more memory.
row_convert() {
	local n bytes rate first=0 few=0
	printf '%s\n' "convert: records of 300 bytes"
	for n in 100000 1000000; do
		captured $n >"$tmp/capture.json"
		read -r rate bytes < <(/usr/bin/env python3 - "$btgen" "$tmp/capture.json" $n <<-'E2'
			import resource, subprocess, sys
			subprocess.run([sys.argv[1], "convert", "-f", "perfetto", sys.argv[2]], stdout=subprocess.DEVNULL, check=True)
			used = resource.getrusage(resource.RUSAGE_CHILDREN)
			print(int(int(sys.argv[3]) / (used.ru_utime + used.ru_stime)), used.ru_maxrss // 1024)
		E2
		)
		printf '  %-44s %12s records/s %7s MB\n' "btgen convert -f perfetto, $n" "$rate" "$bytes"
		if [ "$rate" -lt $((few * 2 / 3)) ] || { [ $first != 0 ] && [ "$bytes" -gt $((first + first / 10 + 1)) ]; }; then
			printf '  MISSED: as many records/s, in memory that does not grow\n'
			failed=1
		fi
		first=$bytes few=$rate
	done
	rm "$tmp/capture.json"
}

row_enums() {
	local title="enums: one of nvmf_tgt"
	if ! has gdb; then
		skip "$title" "no gdb"
		return
	fi
	compare "$title" \
		'btgen enums -x nvmf_tgt nvmf_tgt_state' "$btgen" enums -x "$target" nvmf_tgt_state \
		--- 'gdb -batch -ex "ptype enum ..."' gdb -nx -batch -ex 'ptype enum nvmf_tgt_state' "$target"
}

# A table of its own: what a tracer costs the program that it traces
row_hits() {
	printf '%s\n' "hits: a probe with two arguments that bpftrace counts, by kind of site"
	BTGEN_BPFTRACE=$bpftrace "$top/tests/bench/hits.py" || failed=1
}

# A table of its own: many inputs, many tools
row_types() {
	BTGEN_BUILD=$build "$top/tests/bench/typetable.py" || failed=1
}

# attaching ROUNDS TITLE PROGRAM: a table of its own, of the time until all is attached
attaching() {
	if [ "$(id -u)" != 0 ] || ! has "$bpftrace"; then
		skip "$2" "needs root and bpftrace"
		return
	fi
	with_target
	printf '%s (least of %s)\n' "$2" "${ROUNDS:-$1}"
	BTGEN=$btgen BTGEN_BPFTRACE=$bpftrace "$top/tests/bench/$3" $pid || failed=1
}

row_names() { attaching 9 "names: from the start of bpftrace.sh until all is attached" names.py; }
row_attach() { attaching 5 "attach: until all is attached (CPU, elapsed), and from ^C to the prompt" attach.py; }

row_kernel() {
	local title="types: one of the kernel"
	if [ ! -r /sys/kernel/btf/vmlinux ] || ! has pahole; then
		skip "$title" "needs /sys/kernel/btf/vmlinux and pahole"
		return
	fi
	compare "$title" \
		'btgen types --btf vmlinux task_struct' "$btgen" types --btf vmlinux task_struct \
		--- 'pahole -C task_struct' pahole -C task_struct /sys/kernel/btf/vmlinux
}

main() {
	local row
	failed=0
	# shellcheck disable=SC2086 # a list of names
	[ $# -gt 0 ] || set -- ${BENCH:-start attach expand check probes hits names relay convert enums kernel types}
	printf '  %-44s %12s %12s %10s %9s\n' "(medians of ${ROUNDS:-7})" CPU elapsed memory "CPU ratio"
	for row; do
		if ! declare -F "row_$row" >/dev/null; then
			printf 'run.sh: no row %s\n' "$row" >&2
			exit 2
		fi
		"row_$row"
	done
	exit $failed
}

main "$@"
