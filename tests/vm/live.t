#!/usr/bin/env bash
# A few of the live tests on an older kernel of its own, with this machine's bpftrace; `make check-vm-all` has more of both.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
[ "$(uname -m)" = x86_64 ] || skip_all "the emulated machine is an x86-64 one"
for program in qemu-system-x86_64 mke2fs debugfs apt-get dpkg-deb; do
	command -v $program >/dev/null || skip_all "no $program"
done

"$top/tests/vm/live.sh" bullseye:own -- tests/demo.sh tests/live/{kernel_names,functions,results}.t >"$tmp/table" 2>"$tmp/log" &
own $!
wait $!
while IFS='|' read -r _ kernel bpftrace test result _; do
	case $result in
	*FAILED*) tap_result 1 "$test on Linux $kernel with bpftrace $bpftrace:$result" ;;
	" skipped: "*) skip "$test on Linux $kernel with bpftrace $bpftrace" "${result# skipped: }" ;;
	*) tap_result 0 "$test on Linux $kernel with bpftrace $bpftrace:$result" ;;
	esac
done <"$tmp/table"
ok "there is a machine with a table of results" test -s "$tmp/table" || tail -n 20 "$tmp/log" | sed 's/^/# /'
done_testing
