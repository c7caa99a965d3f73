#!/usr/bin/env bash
# make demo on a machine that may not trace, as far as that needs no emulated machine (tests/sandbox.sh has the rest).
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

# No package can be downloaded, and none of what the emulated machine is made with is installed.
mkdir "$tmp/bin"
for folder in /usr/bin /bin /usr/sbin; do ln -sf $folder/* "$tmp/bin/"; done
rm -f "$tmp"/bin/{qemu-*,mke2fs,busybox,apt-get,sudo}
printf '#!/bin/sh\necho "E: no network" >&2\nexit 100\n' >"$tmp/bin/apt-get"
chmod 755 "$tmp/bin/apt-get" "$tmp"

# demo VARIABLE...: as a user without rights; its status
demo() {
	setpriv --reuid=65534 --regid=65534 --clear-groups env -u BTGEN_BPFTRACE PATH="$tmp/bin" HOME="$tmp/home" BTGEN_CACHE="$tmp/cache" BTGEN_BUILD="$build" "$@" \
		"$top/tests/demo.sh" >"$tmp/out" 2>"$tmp/err"
}
mkdir -m 777 "$tmp/cache"
[ "$(id -u)" = 0 ] || skip_all "needs root, to become a user without rights"
setpriv --reuid=65534 --regid=65534 --clear-groups test -x "$top/tests/demo.sh" || skip_all "other users cannot read this checkout"

untraced='^usdt:.*:nvmf_tgt_state( \{|$)'
demo DEMO=here
is $? 1 "DEMO=here, no rights: status 1"
is "$(head -n 2 "$tmp/err")" "demo: this machine cannot trace: not root
  run: sudo make demo" "... why, and what helps"
like "$(cat "$tmp/out")" "$untraced" "... and the program for bpftrace"

demo
is $? 1 "no emulated machine to be had: status 1"
is "$(sed -n '1p' "$tmp/err")" "demo: this machine cannot trace (not root): the demo runs in an emulated machine" "the first line: where the demo runs"
like "$(cat "$tmp/err")" "^tools.sh: error: " "... then why there is no such machine"
like "$(cat "$tmp/err")" "^demo: there is no emulated machine here, see above$" "... and that there is none"
like "$(cat "$tmp/out")" "$untraced" "... and the program for bpftrace"

printf '#!/bin/sh\n' >"$tmp/bin/qemu-system-x86_64"
chmod 755 "$tmp/bin/qemu-system-x86_64"
demo
like "$(cat "$tmp/err")" "^tools.sh: error: " "one of the programs that it takes is not all of them"
rm "$tmp/bin/qemu-system-x86_64"

demo DEMO=vm
is $? 1 "DEMO=vm, and none to be had: status 1"
is "$(sed -n '1p;$p' "$tmp/err")" "demo: in an emulated machine (DEMO=vm)
demo: there is no emulated machine here, see above" "... and that is reported"
is "$(cat "$tmp/out")" "" "... nothing else is shown"
done_testing
