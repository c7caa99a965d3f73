#!/usr/bin/env bash
# btgen doctor: each finding with a machine of files that lacks the one thing, and this machine as it is.
. "$(dirname "$0")/../lib.sh"

chmod 755 "$tmp"
mkdir "$tmp/bin"
for v in 0.14.1 0.17.0 0.20.2 0.22.0 0.23.2 0.27.1 0.31.0; do
	printf '#!/bin/sh\necho "bpftrace v%s"\n' $v >"$tmp/bin/$v"
	chmod 755 "$tmp/bin/$v"
done

# machine: a new one in $m where nothing is wrong
machine() {
	m=$(mktemp -d "$tmp/machine.XXX")
	chmod 755 "$m"
	mkdir -p "$m"/proc/self/ns "$m"/proc/sys/kernel "$m"/proc/sys/net/core "$m"/sys/kernel/btf "$m"/sys/kernel/security \
		"$m"/sys/bus/event_source/devices/uprobe/format
	cd "$m/proc" || exit
	echo 6.1.0-18-amd64 >sys/kernel/osrelease
	echo 2 >sys/kernel/perf_event_paranoid
	echo 2 >sys/kernel/unprivileged_bpf_disabled
	echo 1 >sys/net/core/bpf_jit_enable
	printf 'Name:\tbtgen\nUid:\t0\t0\t0\t0\nCapBnd:\t000001ffffffffff\nCapAmb:\t0000000000000000\n' >self/status
	echo '         0          0 4294967295' >self/uid_map
	printf 'Limit                     Soft Limit           Hard Limit           Units     \n%s\n' \
		'Max locked memory         65536                65536                bytes     ' >self/limits
	printf 'sysfs /sys sysfs rw 0 0\ntracefs /sys/kernel/tracing tracefs rw,nosuid 0 0\n' >self/mounts
	ln -s 'pid:[4026531836]' self/ns/pid
	cd ../sys || exit
	echo x >kernel/btf/vmlinux
	echo '[none] integrity confidentiality' >kernel/security/lockdown
	echo 8 >bus/event_source/devices/uprobe/type
	echo config:32-63 >bus/event_source/devices/uprobe/format/ref_ctr_offset
	cd "$top" || exit
}

# doctor VERSION OPERAND...: what it says of $m with that bpftrace; status in $rc
doctor() {
	"$btgen" doctor --root "$m" --bpftrace "$tmp/bin/$1" "${@:2}" >"$tmp/out" 2>&1
	rc=$?
}

# finds VERSION STATUS LINE CLAIM: the only line that is not "ok" is this one
finds() {
	doctor "$1"
	is "$(grep -E '^  (warning|error)' "$tmp/out" | grep -v "^  warning  bpftrace 0") $rc" "$3 $2" "$4"
}

machine
doctor 0.27.1
is "$(cat "$tmp/out")" "machine
  ok       Linux 6.1.0-18-amd64
  ok       the kernel compiles BPF programs (JIT)
  ok       the kernel has uprobes, with semaphores
  ok       the kernel has the types of its structs (BTF)
  ok       tracefs is mounted
  ok       kernel lockdown is off, which does not limit tracing
  ok       this is root, with the capabilities that tracing needs
  ok       kernel.perf_event_paranoid=2 and kernel.unprivileged_bpf_disabled=2 limit other users only
  ok       bpftrace 0.27 at $tmp/bin/0.27.1
  ok       limits of bpftrace 0.27 are strings of 16384 bytes and 256 USDT probes at once; enums of more than 1000 names delay the start
  warning  bpftrace 0.27 cannot attach to a probe that has a semaphore, and a float or a variable at a fixed address among its arguments: use 0.23 for these" \
	"a machine where nothing is wrong"
is $rc 0 "... and a warning is no failure"
"$btgen" doctor --json --root "$m" --bpftrace "$tmp/bin/0.17.0" >"$tmp/json"
is "$(python3 -c '
import json, sys
for f in json.load(sys.stdin):
    print(*f, "|", f["about"], f["name"], f["state"], f["remedy"], len(f["messages"]))' <"$tmp/json" | sed 's/^about name state text remedy messages | //')" \
	"machine kernel ok None 0
machine jit ok None 0
machine uprobes ok None 0
machine btf ok None 0
machine tracefs ok None 0
machine lockdown ok None 0
machine root ok None 0
machine sysctl ok None 0
machine bpftrace ok None 0
machine limits ok None 0
machine defect warning install 0.19 or newer 0" "--json: one array, the same keys and names for all"

# --- the kernel

machine
echo 'sysfs /sys sysfs rw 0 0' >"$m/proc/self/mounts"
finds 0.27.1 1 "  error    tracefs is not mounted: bpftrace 0.27 cannot run a script: mount -t tracefs tracefs /sys/kernel/tracing" \
	"no tracefs: an error for the bpftrace that needs it"
finds 0.17.0 0 "  warning  tracefs is not mounted: there are no tracepoints, and bpftrace 0.24 and newer cannot run a script: mount -t tracefs tracefs /sys/kernel/tracing" \
	"... and a warning for one that does not"
mkdir -p "$m/sys/kernel/debug/tracing"
touch "$m/sys/kernel/debug/tracing/available_events"
finds 0.27.1 0 "" "debugfs has tracefs in it"
rm -r "$m/sys/kernel/debug"
printf 'sysfs /sys sysfs rw 0 0\ntracefs /mnt tracefs rw 0 0\n' >"$m/proc/self/mounts"
finds 0.17.0 0 "  warning  tracefs is not mounted: there are no tracepoints, and bpftrace 0.24 and newer cannot run a script: mount -t tracefs tracefs /sys/kernel/tracing" \
	"elsewhere bpftrace does not look for it"

machine
echo 'none integrity [confidentiality]' >"$m/sys/kernel/security/lockdown"
finds 0.23.2 1 "  error    kernel lockdown is in confidentiality mode, in which bpftrace refuses to run: boot with lockdown=integrity" "a kernel that is locked down"
echo 'none [integrity] confidentiality' >"$m/sys/kernel/security/lockdown"
finds 0.23.2 0 "" "the other mode, which Secure Boot brings, is no hindrance"
rm "$m/sys/kernel/security/lockdown"
finds 0.23.2 0 "" "... nor is a kernel that cannot be locked down"

machine
rm "$m/sys/kernel/btf/vmlinux"
finds 0.27.1 1 "  error    /sys/kernel/btf/vmlinux does not exist: bpftrace 0.27 cannot read arguments of USDT probes: boot a kernel with CONFIG_DEBUG_INFO_BTF" \
	"no BTF: an error for the bpftrace that needs it"
finds 0.17.0 0 "  warning  /sys/kernel/btf/vmlinux does not exist: scripts cannot read kernel structs, and bpftrace 0.24 and newer cannot read arguments of USDT probes: boot a kernel with CONFIG_DEBUG_INFO_BTF" \
	"... and a warning for one that does not"

machine
rm "$m/proc/sys/kernel/unprivileged_bpf_disabled"
finds 0.17.0 1 "  error    this kernel has no BPF: boot a kernel with CONFIG_BPF_SYSCALL" "a kernel without BPF"
machine
rm -r "$m/sys/bus/event_source/devices/uprobe"
finds 0.17.0 1 "  error    no uprobes: programs cannot be traced: boot a kernel with CONFIG_UPROBE_EVENTS" "a kernel without uprobes"
machine
rm "$m/sys/bus/event_source/devices/uprobe/format/ref_ctr_offset"
finds 0.17.0 0 "  warning  this kernel does not raise the semaphores of probes: some probes may not fire: update it to Linux 4.20 or newer" "a kernel that knows no semaphores"
machine
echo 0 >"$m/proc/sys/net/core/bpf_jit_enable"
finds 0.17.0 0 "  warning  BPF programs are interpreted, not compiled (JIT): each event costs the traced program more: sysctl net.core.bpf_jit_enable=1" "the JIT is off"
machine
echo 4.4.0 >"$m/proc/sys/kernel/osrelease"
finds 0.17.0 1 "  error    Linux 4.4.0 is older than 4.9, the oldest that bpftrace runs on: update it" "an old kernel"
machine
rm -r "$m/proc"
finds 0.17.0 1 "  error    $m/proc is not mounted: mount -t proc proc $m/proc" "no /proc: one error, not ten"
machine
rm -r "$m/sys"
echo 'proc /proc proc rw 0 0' >"$m/proc/self/mounts"
finds 0.17.0 1 "  error    /sys is not mounted: mount -t sysfs sysfs /sys" "no /sys, as in a bare chroot: one error, not three"

# --- what this user may do

machine
echo 4 >"$m/proc/sys/kernel/perf_event_paranoid"
finds 0.17.0 0 "" "a paranoid kernel does not limit root"
like "$(cat "$tmp/out")" '^  ok       kernel.perf_event_paranoid=4 and .* limit other users only$' "... which is said"
machine
printf 'Uid:\t1000\t1000\t1000\t1000\nCapBnd:\t0000000000000000\n' >"$m/proc/self/status"
finds 0.17.0 1 "  error    bpftrace up to 0.24 traces as root only: user 1000 cannot inspect processes of other users, or whether the kernel compiles BPF programs: use sudo" \
	"not root: one error, and what it does not see"
unlike "$(cat "$tmp/out")" 'paranoid' "... and nothing about root"
machine
printf '         0       1000          1\n' >"$m/proc/self/uid_map"
finds 0.17.0 1 "  error    this is root of a user namespace (a rootless container), which the kernel does not let load BPF programs: run it as root of the host" "root of a rootless container"
machine
printf 'Uid:\t0\t0\t0\t0\nCapBnd:\t00000000a80425fb\n' >"$m/proc/self/status"
finds 0.27.1 1 "  error    root lacks CAP_BPF and CAP_PERFMON or CAP_SYS_ADMIN: bpftrace cannot attach to anything: docker run --privileged, or --cap-add SYS_ADMIN --cap-add SYS_PTRACE" \
	"root of a container, as docker makes it"
printf 'Uid:\t0\t0\t0\t0\nCapBnd:\t000000c0000c25fb\n' >"$m/proc/self/status"
finds 0.23.2 0 "  warning  CAP_SYS_ADMIN is missing: bpftrace 0.23 needs it to trace probes with semaphores on newer kernels: docker run --cap-add SYS_ADMIN" \
	"CAP_BPF and CAP_PERFMON are not enough for all of 0.23"
finds 0.27.1 0 "  warning  CAP_SYS_ADMIN is missing: bpftrace 0.27 needs it to trace functions of programs on newer kernels: docker run --cap-add SYS_ADMIN" \
	"... nor of 0.27"
printf 'Uid:\t0\t0\t0\t0\nCapBnd:\t000001fffff7ffff\n' >"$m/proc/self/status"
finds 0.27.1 0 "  warning  CAP_SYS_PTRACE is missing: most processes of other users cannot be inspected: docker run --cap-add SYS_PTRACE" "no CAP_SYS_PTRACE"

# Another user has what is inherited by every program, the ambient set, unless the file of bpftrace has more.
printf 'Uid:\t1000\t1000\t1000\t1000\nCapBnd:\t000001ffffffffff\nCapAmb:\t000000c000280006\n' >"$m/proc/self/status"
finds 0.27.1 0 "" "a user with the capabilities that 0.27 needs"
like "$(cat "$tmp/out")" '^  ok       user 1000 has the capabilities that bpftrace 0.27 needs$' "... which is said"
finds 0.23.2 1 "  error    bpftrace up to 0.24 traces as root only: user 1000 cannot inspect processes of other users, or whether the kernel compiles BPF programs: use sudo" \
	"... they are nothing to 0.23"
printf 'Uid:\t1000\t1000\t1000\t1000\nCapBnd:\t000001ffffffffff\nCapAmb:\t0000008000280006\n' >"$m/proc/self/status"
finds 0.27.1 0 "" "CAP_SYS_ADMIN stands for CAP_PERFMON"
printf 'Uid:\t1000\t1000\t1000\t1000\nCapBnd:\t000001ffffffffff\nCapAmb:\t0000008000080006\n' >"$m/proc/self/status"
finds 0.27.1 1 "  error    user 1000 lacks CAP_PERFMON of CAP_BPF, CAP_PERFMON, CAP_DAC_READ_SEARCH and CAP_DAC_OVERRIDE, which bpftrace 0.27 needs when it is not root: use sudo" \
	"a user with all but one"
machine
printf 'Uid:\t0\t0\t0\t0\nCapBnd:\t000001fffeffffff\n' >"$m/proc/self/status"
finds 0.17.0 0 "" "a limit on locked memory means nothing on a newer kernel"
echo 5.10.0-28-amd64 >"$m/proc/sys/kernel/osrelease"
finds 0.17.0 0 "  warning  before Linux 5.11, BPF maps and buffers are locked memory, which is limited to 64 KiB here, and bpftrace may not raise that: ulimit -l unlimited" \
	"... and much on an older one"
printf 'Uid:\t0\t0\t0\t0\nCapBnd:\t000001ffffffffff\n' >"$m/proc/self/status"
finds 0.17.0 0 "" "... unless bpftrace may raise it"
like "$(cat "$tmp/out")" "BPFTRACE_BTF=/sys/kernel/btf/vmlinux only: bpftrace.sh sets it" "types of an older kernel need help with 0.17"
doctor 0.23.2
unlike "$(cat "$tmp/out")" BPFTRACE_BTF "... and not with 0.23"
doctor 0.27.1
like "$(cat "$tmp/out")" '^  warning  bpftrace 0\.27 is built for Linux 5\.15 and newer, .*: use 0\.23 on this kernel$' "a kernel that is too old for this bpftrace"
machine
ln -sfn 'pid:[4026532179]' "$m/proc/self/ns/pid"
finds 0.17.0 0 "  warning  this container has its own PIDs, but pid and tid of bpftrace 0.17 are those of the host: trace from the host, or docker run --pid=host" "a container with 0.17"
finds 0.23.2 0 "" "... is nothing to 0.23"

# --- bpftrace

machine
finds nosuch 1 "  error    bpftrace not found at $tmp/bin/nosuch: install it with your package manager, or give its path with --bpftrace" "a bpftrace that is not there"
finds 0.14.1 1 "  error    $tmp/bin/0.14.1 is version 0.14, which is too old: install 0.17 or newer" "a bpftrace that is too old"
cp /bin/true "$tmp/bin/true"
finds true 1 "  error    $tmp/bin/true cannot be run, or reports no bpftrace version: install it again" "a program that is no bpftrace"
out=$(PATH=$tmp BTGEN_BPFTRACE='' "$btgen" doctor --root "$m")
if grep -q '^BPFTRACE *[:?]*= *$' "$top/config.mak"; then
	like "$out" '^  error    bpftrace not found: install it with your package manager' "no bpftrace in PATH"
fi
# defects VERSION: in a word each
defects() {
	doctor "$1"
	grep -oE '^  warning  bpftrace 0.*(too few|min|zero|miss|attach to a probe)' "$tmp/out" | sed 's/.* //' | paste -sd' '
}
is "$(defects 0.17.0)/$(defects 0.20.2)/$(defects 0.22.0)/$(defects 0.23.2)/$(defects 0.27.1)" "few/min miss/zero miss/zero miss/probe" "each version has its own defects"
doctor 0.31.0
like "$(cat "$tmp/out")" '^  ok       bpftrace 0.31 at .*, newer than those that btgen was tested with$' "a newer one is said to be newer"

# --- a process

machine
mkdir "$m/proc/2"
echo '2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 5 0 0' >"$m/proc/2/stat"
printf 'Name:\tkthreadd\nTgid:\t2\nNSpid:\t2\n' >"$m/proc/2/status"
echo kthreadd >"$m/proc/2/comm"
finds 0.17.0 0 "" "nothing is wrong with the machine"
doctor 0.17.0 2
is "$(sed -n '/^process/,$p' "$tmp/out") $rc" "process
  error    process 2 (kthreadd) is a kernel thread: it has no executable to probe 1" "a kernel thread"
doctor 0.17.0 3
is "$(sed -n '/^process/,$p' "$tmp/out") $rc" "process
  error    no process has PID 3 1" "a process that is not there"

# process VERSION OPERAND...: the lines about the process and the script, on this machine
process() {
	"$btgen" doctor --bpftrace "$tmp/bin/$1" "${@:2}" 2>&1 | sed -n '/^process/,$p'
}

start() {
	"$@" </dev/null >/dev/null 2>&1 &
	own $!
	pid=$!
	wait_for test "/proc/$pid/exe" -ef "$1"
}

cat >"$tmp/app.c" <<'E2'
#include <btgen/usdt.h>
#include <unistd.h>

double rate = 0.5;
unsigned short counter;
#define RATE(name) \
	__asm__ volatile("990: nop\n.pushsection .note.stapsdt,\"\",\"note\"\n.balign 4\n" \
		".4byte 992f-991f, 994f-993f, 3\n991: .asciz \"stapsdt\"\n992: .balign 4\n" \
		"993: .8byte 990b\n.8byte _.stapsdt.base\n.8byte counter\n.asciz \"app\"\n.asciz \"" name "\"\n.asciz \"8f@%xmm0\"\n" \
		"994: .balign 4\n.popsection")
int main(void)
{
	for (;;) {
		USDT_PROBE(app, plain, 1);
		RATE("rate");
#ifdef MANY
		RATE("rate1");
		RATE("rate2");
		RATE("rate3");
#endif
		sleep(1);
	}
}
E2
${CC:-gcc} -g -O1 -I"$top/include" -o "$tmp/app" "$tmp/app.c" || exit
start "$tmp/app"
# What is said of the C library's probes, which glibc 2.43 of Debian has, is not compared.
without_libc() { grep -vE ' libc:| /[^ ]*/(libc\.so|ld-linux)'; }
is "$(process 0.17.0 $pid | without_libc)" "process
  ok       process $pid runs $tmp/app
  ok       bpftrace 0.17 can attach to 2 of 2 USDT probes of $tmp/app
  ok       $tmp/app has debug information" "a process of which all can be traced"
is "$(process 0.27.1 $pid | without_libc)" "process
  ok       process $pid runs $tmp/app
  warning  bpftrace 0.27 cannot attach to app:rate, because it cannot read the location of arg0, 8f@%xmm0, and by address it raises no semaphore: use bpftrace 0.23
  ok       bpftrace 0.27 can attach to 1 of 2 USDT probes of $tmp/app
  ok       $tmp/app has debug information" "a probe that this bpftrace cannot attach to, and why"
rm "$tmp/app"
${CC:-gcc} -g -O1 -DMANY -I"$top/include" -o "$tmp/app" "$tmp/app.c" || exit
start "$tmp/app"
is "$(process 0.27.1 $pid | without_libc | sed -n '3,$p')" \
	"  warning  bpftrace 0.27 cannot attach to 4 USDT probes of $tmp/app, such as app:rate, because it cannot read the location of arg0, 8f@%xmm0, and by address it raises no semaphore: use bpftrace 0.23
  ok       bpftrace 0.27 can attach to 1 of 5 USDT probes of $tmp/app
  ok       $tmp/app has debug information" "many of them are one warning"
is "$(process nosuch $pid | sed -n 3p)" "  ok       $tmp/app has 5 USDT probes" "without a bpftrace: what there is"
rm "$tmp/app"
${CC:-gcc} -O1 -s -I"$top/include" -o "$tmp/app" "$tmp/app.c" || exit
like "$(process 0.17.0 $pid)" "^  warning  $tmp/app was replaced after the process had started: restart the process to trace the new one$" \
	"a program that was built again since"
start "$tmp/app"
${CC:-gcc} -O2 -g -I"$top/include" -o "$tmp/large" "$top/docs/lab/programs/large.c" || exit
start "$tmp/large" 1000
has_moved() { grep -q 'large$' "/proc/$pid/maps" && ! grep -q 'r-xp.*large$' "/proc/$pid/maps"; }
wait_for has_moved
like "$(process 0.17.0 $pid)" "^  warning  2 USDT probes of $tmp/large have sites that cannot fire, because the process has moved their code out of the file: look for a program option" \
	"a program that has its code on large pages"
start "$tmp/app"
none='has no debug information: names of enums and layouts of structs are unknown'
like "$(process 0.17.0 $pid)" "^  warning  $tmp/app $none: build it with -g, or install its debug package$" "a program that was stripped"
if command -v pahole >/dev/null; then
	${CC:-gcc} -O1 -g -I"$top/include" -o "$tmp/kept" "$tmp/app.c" && LLVM_OBJCOPY=objcopy pahole -J "$tmp/kept" && strip "$tmp/kept"
	start "$tmp/kept"
	like "$(process 0.17.0 $pid)" "^  ok       $tmp/kept has its types in .BTF$" "a stripped one with .BTF"
fi
cat >"$tmp/none.c" <<'E2'
#include <unistd.h>
int main(void) { for (;;) pause(); }
E2
if ${CC:-gcc} -static -o "$tmp/none" "$tmp/none.c" 2>/dev/null && ! "$btgen" probes -x "$tmp/none" 2>/dev/null | grep -q .; then
	start "$tmp/none"
	like "$(process 0.17.0 $pid)" "^  warning  no file of the process has USDT probes: trace its functions, as in uprobe:__EXE__:main$" \
		"a program without probes"
else
	skip "a program without probes" "libc cannot be linked statically, or has probes"
fi

# --- a script

start "$tmp/app"
echo 'usdt:__EXE__:app:plain { printf("%d\n", arg0); }' >"$tmp/good.bt"
echo 'usdt:__EXE__:app:plian { printf("%d\n", arg0); }' >"$tmp/bad.bt"
out=$(process 0.17.0 $pid "$tmp/good.bt" | sed -n '/^script/,$p')
is "$out" "script
  ok       $tmp/good.bt has no errors for bpftrace 0.17" "a script that can be run"
echo 'usdt:__EXE__:app:plain { @on == 2; }' >"$tmp/warned.bt"
for json in '' --json; do
	# shellcheck disable=SC2086 # no word
	like "$("$btgen" doctor $json --bpftrace "$tmp/bin/0.17.0" $pid "$tmp/warned.bt")" "$tmp/warned.bt has warnings for bpftrace 0.17" "a script with a warning $json"
done
out=$("$btgen" doctor --bpftrace "$tmp/bin/0.17.0" $pid "$tmp/bad.bt")
is $? 1 "a script with an error: exit status 1"
like "$out" "^  error    $tmp/bad.bt has errors$" "... which is said"
like "$out" "^$tmp/bad.bt:1:1: error: app \(PID $pid\) has no probe app:plian$" "... with what check says"
is "$("$btgen" doctor --json --bpftrace "$tmp/bin/0.17.0" $pid "$tmp/bad.bt" | python3 -c '
import json, sys
last = json.load(sys.stdin)[-1]
print(last["name"], last["state"], [m["line"] for m in last["messages"]])')" "script error [1]" "... in --json as objects"
is "$("$btgen" doctor --bpftrace "$tmp/bin/0.17.0" $pid 2>&1 | grep -c '^script')" 0 "no script, nothing about one"

# usage STATUS REGEX CLAIM ARG...
usage() {
	local out
	out=$("$btgen" doctor "${@:3}" 2>&1)
	is $? 2 "$2: exit status 2"
	like "$out" "$1" "$2: the message says so"
}
usage "'nosuchprogram' is neither a running program nor a script" "a word that is nothing" nosuchprogram
usage "an empty argument in place of a PID" "no PID" ""
usage "a script is checked on this machine only" "a script for another machine" --root "$m" "$tmp/good.bt"

# --- this machine

"$btgen" doctor >"$tmp/out"
rc=$?
is "$rc" "$(grep -q '^  error' "$tmp/out" && echo 1 || echo 0)" "this machine: the status is that of the findings"
like "$(cat "$tmp/out")" "^  ok       Linux $(uname -r)$" "... and the kernel is the one that runs"
if [ "$(id -u)" = 0 ] && setpriv --reuid 65534 --regid 65534 --clear-groups true 2>/dev/null; then
	mkdir -p "$tmp/own/bin" "$tmp/own/share/btgen" && cp "$btgen" "$tmp/own/bin" && cp -r "$top/scripts/python" "$tmp/own/share/btgen" || exit 1
	out=$(setpriv --reuid 65534 --regid 65534 --clear-groups "$tmp/own/bin/btgen" doctor --bpftrace "$tmp/bin/0.17.0" $pid)
	is $? 1 "nobody: exit status 1"
	like "$out" "^  error    bpftrace up to 0.24 traces as root only: user 65534" "... it says who may"
	like "$out" "^  error    no permission to inspect process $pid \(app\): run as root, or with CAP_SYS_PTRACE$" "... and of the process that it is another user's"
fi
# What the tests ask before they trace is what doctor answers, and what bpftrace makes of it.
if [ "$(id -u)" = 0 ] && ! grep -q 'root of a user namespace' "$tmp/out" && setpriv --bounding-set=-sys_admin --inh-caps=-all true 2>/dev/null; then
	for drop in 'sys_admin bpf perfmon' 'sys_admin bpf' 'sys_admin perfmon'; do
		less=(setpriv "--bounding-set=-${drop// /,-}" --inh-caps=-all)
		why=$("${less[@]}" "$top/tests/tracing.sh" --rights)
		like "$("${less[@]}" "$btgen" doctor --bpftrace "$tmp/bin/0.17.0")" "^  error    $why or CAP_SYS_ADMIN: bpftrace cannot attach to anything" \
			"root without $drop: doctor and the tests name the same"
		not_ok "... and bpftrace attaches to nothing" eval '"${less[@]}" timeout 600 "$bpftrace" -e "BEGIN { exit(); }" >/dev/null 2>&1'
	done
else
	skip "root with few capabilities" "not root of this machine, or no setpriv"
fi
if why=$("$top/tests/tracing.sh"); then
	unlike "$(cat "$tmp/out")" '^  error    .*(root|/sys|/proc|uprobes|lockdown)' "where the tests can trace, doctor sees no obstacle"
elif why=$("$top/tests/tracing.sh" --rights); then
	skip "doctor sees no obstacle" "$why"
else
	is "$(grep -c '^  error' "$tmp/out" | sed 's/^[1-9].*/some/')" some "where they cannot, it does: $why"
fi
if unshare -m -p -f true 2>/dev/null; then
	unshare -m sleep 1000 &
	own $!
	wait_for grep -qx sleep /proc/$!/comm
	like "$(process 0.17.0 $!)" "^  ok       it has its own mount namespace; its files are read there$" "a process in another mount namespace"
	# unshare ignores SIGTERM, and the first process of a PID namespace all but SIGKILL
	unshare -p -f sleep 1000 2>/dev/null &
	child_of() { grep -lE "^PPid:[[:space:]]$1$" /proc/[0-9]*/status 2>/dev/null | grep -oE '[0-9]+'; }
	wait_for child_of $! >/dev/null
	pid=$(child_of $!)
	wait_for grep -qx sleep "/proc/$pid/comm"
	like "$(process 0.17.0 "$pid")" "^  ok       it is process 1 of a container, and process $pid to bpftrace.sh$" "a process of a container"
	kill -KILL "$pid"
else
	skip "processes of containers" "unshare is not permitted"
fi
done_testing
