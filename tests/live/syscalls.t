#!/usr/bin/env bash
# syscalls.bt and readv.bt count what a program did that knows what it did.
# shellcheck source=tests/lib.sh
[ -e /sys/kernel/tracing/available_events ] || [ -n "${BTGEN_IN_TRACEFS-}" ] ||
	exec "$(dirname "$0")/../matrix/tracefs.sh" "$0" "$@"
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"
[ -e /sys/kernel/tracing/events/raw_syscalls ] || skip_all "this kernel has no system call tracepoints, or tracefs is not mounted"

# On each line of its input it does its work once and prints "done".
cat >"$tmp/work.py" <<'END'
import os, sys

r, w = os.pipe2(os.O_NONBLOCK)
os.dup2(r, 20)
os.dup2(os.open("/dev/null", os.O_RDONLY), 21)
print("here", flush=True)
for line in sys.stdin:
    for size in 1, 100, 120, 4000:
        os.write(w, bytes(size))
        os.readv(20, [bytearray(64), bytearray(8192)])
    os.readv(21, [bytearray(1)])
    for bad in lambda: os.readv(20, [bytearray(1)]), lambda: os.readv(99, [bytearray(1)]):
        try:
            bad()
        except OSError:
            pass
    for i in range(5):
        try:
            os.fsync(99)
        except OSError:
            pass
    for i in range(7):
        os.getppid()
    print("done", flush=True)
END

# traced SCRIPT: the maps that SCRIPT has after one round of the work
traced() {
	coproc WORK { exec python3 "$tmp/work.py"; }
	local answer pid=$WORK_PID out=${WORK[0]} in=${WORK[1]}
	own $pid
	read -r answer <&"$out"
	live_trace $pid "$1"
	echo work >&"$in"
	read -r answer <&"$out"
	live_wait INT
	is "$live_rc $answer" "0 done" "$1: ^C is status 0"
	kill $pid
	wait $pid 2>/dev/null
}

map() {
	grep -E "^@$1" "$tmp/trace"
}

traced syscalls.bt
is "$(map 'calls\[(fsync|readv)\]' | sort)" "@calls[fsync]: 5
@calls[readv]: 7" "syscalls.bt: calls by name, as many as were made"
is "$(map 'errors\[(fsync|readv)' | sort)" "@errors[fsync, 9]: 5
@errors[readv, 11]: 1
@errors[readv, 9]: 1" "syscalls.bt: failures by name and error number"
getppid=$(python3 -c 'import platform; print({"x86_64": 110, "aarch64": 173}[platform.machine()])')
is "$(map 'unnamed')" "@unnamed[$getppid]: 7" "syscalls.bt: a call that is not in the table is there by its number"
like "$(map 'usecs\[readv')" '^@usecs\[readv\]: [0-9]+$' "syscalls.bt: time by name"
unlike "$(cat "$tmp/trace")" '@(name|start)' "syscalls.bt: its own maps are not printed"
is_sample syscalls.bt

traced readv.bt
is "$(sed -n '/^@bytes/,/^$/p' "$tmp/trace" | sed -E 's/ *\|.*//; s/: *$/:/; /^$/d; s/  +/ /' | grep -v ' 0$')" "@bytes[20]:
[1] 1
[64, 128) 2
[2K, 4K) 1" "readv.bt: what the reads brought, by descriptor"
is "$(map '(empty|eof|errors)' | sort)" "@empty[20]: 1
@eof[21]: 1
@errors[99, 9]: 1" "readv.bt: empty reads, reads at the end and errors"
is "$(sed -n '/^@buffers/,/^$/p' "$tmp/trace" | sed -nE 's/^\[([0-9]+).* ([0-9]+) \|.*/\1 \2/p')" "1 3
2 4" "readv.bt: how many buffers the reads offered"
is_sample readv.bt

# Where no tracefs is mounted, as in a container, this bpftrace knows no tracepoint, or does not start at all.
# shellcheck disable=SC2016
bare=$(unshare -m sh -c 'umount -l /sys/kernel/debug; umount -l /sys/kernel/tracing; [ ! -e /sys/kernel/tracing/events ] &&
	"$0" -e "tracepoint:raw_syscalls:sys_enter { @ = count(); }"' "$live_sh" 2>&1)
like "$bare" 'error: bpftrace (finds no tracepoints|cannot run a script) because tracefs is not mounted: mount -t tracefs tracefs /sys/kernel/tracing$' \
	"without tracefs: says what to mount"
is "$(grep -c 'error:\|ERROR' <<<"$bare")" 1 "... in one message"

done_testing
