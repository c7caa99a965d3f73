#!/usr/bin/env bash
# Runs the demo, or a sample of the live tests, in an emulated machine, which may be traced wherever this one may not be, and prints
# what they print.
#
#   tests/vm/small.sh demo          tests/demo.sh
#   tests/vm/small.sh anywhere      tests/live/anywhere.t
#
# What it needs is downloaded once (tools.sh, kernel.sh). No root is needed. Status 3 where there can be no such machine; the last
# line on standard error is why.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/matrix/mirror.sh
. "$here/../matrix/mirror.sh"
# shellcheck source=tests/vm/machine.sh
. "$here/machine.sh"
folder='' pid=''

cleanup() {
	[ -z "$pid" ] || { kill "$pid" && wait "$pid"; } 2>/dev/null || :
	rm -rf "$folder"
}

# prepare WHAT: the kernel and the disk, in $folder
prepare() {
	local program tools
	for program in apt-get dpkg-deb readelf; do
		command -v $program >/dev/null || die "no $program"
	done
	tools=$("$here/tools.sh") && PATH=$tools${tools:+:}$PATH "$here/image.sh" "$folder" "$1" && printf '%s' "$tools" >"$folder/tools"
}

main() {
	local tools
	[[ $# = 1 && $1 =~ ^(demo|anywhere)$ ]] || { sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0" >&2 && exit 2; }
	folder=$(mktemp -d "${TMPDIR:-/tmp}/btgen-vm.XXXXXX")
	trap cleanup EXIT
	trap 'exit 1' INT TERM HUP
	# Of what apt-get and others print, only the last line is shown, as the reason.
	(prepare "$1") 2>&1 >/dev/null | tee "$folder/log" | sed -u -n '/^[a-z]*\.sh: /p' >&2 || {
		tail -n 1 "$folder/log" | grep -v '^[a-z]*\.sh: ' >&2 || :
		exit 3
	}
	tools=$(cat "$folder/tools")
	PATH=$tools${tools:+:}$PATH
	# Processors that are emulated side by side may miss that others have changed code, as probes do: events are lost, the kernel crashes.
	# shellcheck disable=SC2034 # of machine()
	local threads=single
	: >"$folder/screen"
	machine "$folder/console" 1800 "$folder/vmlinuz" -serial "file:$folder/screen" \
		-drive "if=none,id=root,format=raw,cache=unsafe,file=$folder/root.img" -device nvme,serial=root,drive=root &
	pid=$!
	tail -n +1 -s 0.1 -f --pid=$pid "$folder/screen"
	wait $pid || :
	pid=
	grep -q 'guest: status 0' "$folder/console" || {
		tail -n 20 "$folder/console" >&2
		die "$1 failed in the emulated machine"
	}
}

main "$@"
