#!/usr/bin/env bash
# Traces of users other than root, and of root without all of its rights: which capabilities are enough, and what is said of one
# that is missing.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"
command -v setpriv >/dev/null || skip_all "no setpriv"
setpriv --bounding-set=-all,+bpf,+perfmon --inh-caps=-all true 2>/dev/null || skip_all "setpriv or the kernel knows no CAP_BPF"
path=$(command -v "$bpftrace")
version=$("$path" --version | sed -nE 's/.*v0\.([0-9]+).*/\1/p')

# as nobody|root CAPABILITIES COMMAND...: with these alone, as "bpf,kill", or none
cat >"$tmp/as" <<'END'
#!/usr/bin/env bash
set=-all${2:+,+${2//,/,+}}
case $1 in
nobody) exec setpriv --reuid=65534 --regid=65534 --clear-groups --bounding-set="$set" --inh-caps="$set" --ambient-caps="$set" "${@:3}" ;;
root) exec setpriv --bounding-set="$set" --inh-caps=-all "${@:3}" ;;
esac
END
chmod +x "$tmp/as"
chmod 1777 "$tmp"

# The checkout may be closed to others. So may be the folder that bpftrace is in, as one of root's: then, in a mount namespace
# of this test, all but that of what is closed is covered.
cp "$btgen" "$top/scripts/bpftrace.sh" "$tmp"
cp -r "$top/include" "$tmp"
if ! "$tmp/as" nobody '' "$path" --version >/dev/null 2>&1; then
	namespace=$(readlink /proc/self/ns/mnt)
	if [ "${BTGEN_CAPS_OUTSIDE:-$namespace}" = "$namespace" ]; then
		rm -rf "$tmp"
		BTGEN_CAPS_OUTSIDE=$namespace exec unshare -m -- "$0"
	fi
	folder=$(dirname "$(readlink -f "$path")")
	closed=$folder
	until "$tmp/as" nobody '' test -x "$(dirname "$closed")"; do closed=$(dirname "$closed"); done
	exec 7<"$folder"
	mount -t tmpfs -o mode=755 none "$closed" && mkdir -p "$folder" && mount -c --bind /proc/$$/fd/7 "$folder"
	exec 7<&-
	"$tmp/as" nobody '' "$path" --version >/dev/null || skip_all "another user cannot run bpftrace"
fi
export BTGEN=$tmp/btgen BTGEN_BPFTRACE=$path who caps

# Each byte is a call and two events.
cat >"$tmp/app.c" <<'END'
#include <btgen/usdt.h>
#include <unistd.h>
__attribute__((noinline)) void work(long n) { __asm__ volatile("" : : "r"(n)); }
int main(void)
{
	char c;
	while (read(0, &c, 1) == 1) {
		work(c);
		USDT_PROBE(app, plain, c);
		USDT_PROBE_LAZY(app, lazy, c);
	}
	return 0;
}
END
gcc -O1 -g -I"$tmp/include" -o "$tmp/app" "$tmp/app.c" || exit

# bpftrace.sh as $who with the capabilities $caps
cat >"$tmp/limited.sh" <<END
#!/bin/sh
exec "$tmp/as" "\$who" "\$caps" "$tmp/bpftrace.sh" "\$@"
END
chmod +x "$tmp/limited.sh"
live_sh=$tmp/limited.sh

# traces CLAIM ARG...: one byte is one line of data
traces() {
	local claim=$1
	shift
	if live_trace "$@"; then
		printf A >&8
		wait_for test -s "$tmp/trace"
		live_wait INT
		is "$live_rc $(grep -cE 'event 65|app:lazy' "$tmp/trace")" "0 1" "$claim"
	else
		tap_result 1 "$claim"
	fi
}
# refused REGEX CLAIM ARG...: one error, which says so, before bpftrace is started
refused() {
	local out rc
	out=$("$live_sh" "${@:3}" </dev/null 2>&1)
	rc=$?
	is "$rc $(grep -c 'error:' <<<"$out") $(grep -cE 'ERROR: |bpftrace: ' <<<"$out")" "1 1 0" "$2: one error, and not bpftrace's"
	like "$out" "$1" "... that says so"
}
lazy='usdt:__EXE__:app:lazy { printf("event %d\n", arg0); }'
plain='usdt:__EXE__:app:plain { printf("event %d\n", arg0); }'
work='uprobe:__EXE__:work { printf("event %d\n", arg0); }'

# traces_or NOTE CLAIM SCRIPT: what older kernels let do, and newer ones not: then a message says so
traces_or() {
	local out
	out=$("$live_sh" -T 0.2 "$live_pid" -e "$3" </dev/null 2>&1)
	if grep -q "$1" <<<"$out"; then
		tap_result 0 "$2: this kernel wants CAP_SYS_ADMIN, which is said"
	else
		traces "$2" "$live_pid" -e "$3"
	fi
}

# --- users other than root

who=nobody
live_start "$tmp/as" nobody '' "$tmp/app"
needed=bpf,perfmon,dac_read_search,dac_override
if [ "$version" -lt 25 ]; then
	caps=$needed,sys_admin,sys_ptrace,kill
	refused "^btgen: error: tracing needs root with bpftrace 0.$version: use sudo" "this bpftrace insists on root" "$live_pid" -e "$plain"
else
	list='CAP_BPF, CAP_PERFMON, CAP_DAC_READ_SEARCH and CAP_DAC_OVERRIDE'
	caps=$needed
	traces "four capabilities: a probe with a semaphore, of a process of the same user" "$live_pid" -e "$lazy"
	traces "... -t" -t lazy "$live_pid"
	caps=dac_read_search,dac_override,sys_admin
	traces "... CAP_SYS_ADMIN stands for two of them" "$live_pid" -e "$lazy"
	traces "... and with it functions are traced" "$live_pid" -e "$work"
	caps=$needed
	traces_or 'requires CAP_SYS_ADMIN' "functions" "$work"
	for one in bpf perfmon dac_read_search dac_override; do
		caps=$(tr , '\n' <<<$needed | grep -vx $one | paste -sd,)
		refused "^btgen: error: tracing needs root, or $list: CAP_${one^^} is missing" "no CAP_${one^^}" "$live_pid" -e "$lazy"
	done
	caps='kill'
	refused "error: tracing needs root, or $list: $list are missing" "none of these" "$live_pid" -e "$lazy"
	# The rights of bpftrace are those of its file, where it has some, as far as the bounding set has them.
	cp "$path" "$tmp/bpftrace"
	if setcap "cap_${needed//,/,cap_}+ep" "$tmp/bpftrace" 2>/dev/null; then
		printf '#!/bin/sh\nexec setpriv --reuid=65534 --regid=65534 --clear-groups "%s/bpftrace.sh" --bpftrace "%s/bpftrace" "$@"\n' \
			"$tmp" "$tmp" >"$tmp/file.sh"
		chmod +x "$tmp/file.sh"
		live_sh=$tmp/file.sh traces "a user without any, but a bpftrace whose file has them" "$live_pid" -e "$lazy"
		live_sh=$tmp/file.sh traces "... -t" -t lazy "$live_pid"
		like "$(cat "$tmp/messages")" '^btgen: warning: without CAP_BPF, btgen cannot start and stop all probes' "... which says that it has no gate"
	else
		skip "a bpftrace whose file has them" "no setcap, or a file system that keeps none"
	fi
fi
live_quit

live_start "$tmp/app"
if [ "$version" -ge 25 ]; then
	caps=$needed
	refused "no permission to inspect process $live_pid \(app\): run as root, or with CAP_SYS_PTRACE" "another user's process" "$live_pid" -e "$lazy"
	caps=$needed,sys_ptrace
	refused "process $live_pid \(app\) belongs to another user: without CAP_KILL, bpftrace .* would treat it as exited" "no CAP_KILL" "$live_pid" -e "$lazy"
	caps=$needed,sys_ptrace,kill
	traces "with both it is traced" "$live_pid" -e "$lazy"
fi

# --- root with less than all

who=root
caps=sys_admin,sys_ptrace,ipc_lock
traces "root with CAP_SYS_ADMIN, CAP_SYS_PTRACE and CAP_IPC_LOCK: a probe with a semaphore" "$live_pid" -e "$lazy"
traces "... functions" "$live_pid" -e "$work"
caps=bpf,perfmon,sys_ptrace,ipc_lock
traces "root with CAP_BPF and CAP_PERFMON instead: a probe without a semaphore" "$live_pid" -e "$plain"
traces_or 'needs CAP_SYS_ADMIN to raise its semaphore' "... one with a semaphore" "$lazy"
traces_or 'requires CAP_SYS_ADMIN' "... functions" "$work"
caps=bpf,sys_ptrace,ipc_lock
refused 'error: root lacks CAP_PERFMON here' "root without CAP_PERFMON" "$live_pid" -e "$plain"
if [ "$version" -lt 19 ]; then
	caps=bpf,perfmon,sys_ptrace
	out=$(ulimit -l 64 && "$live_sh" "$live_pid" -T 0.2 -e "$plain" </dev/null 2>&1)
	like "$out" 'note: CAP_IPC_LOCK is missing: the buffers of bpftrace 0' "root without CAP_IPC_LOCK and little memory to lock: a note behind bpftrace's error"
fi
live_quit
done_testing
