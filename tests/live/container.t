#!/usr/bin/env bash
# Programs in namespaces and root folders of their own, and files that no name leads to any more: as the host sees them, and as a
# privileged container does.
# shellcheck source=tests/lib.sh
[ -e /sys/kernel/tracing/available_events ] || [ -n "${BTGEN_IN_TRACEFS-}" ] ||
	exec "$(dirname "$0")/../matrix/tracefs.sh" "$0" "$@"
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"
unshare --mount --pid --fork true 2>/dev/null || skip_all "no namespaces can be made here"
version=$("$bpftrace" --version | sed -E 's/.*v0\.([0-9]+).*/\1/')

# Fires a probe of its own and one of a library with each byte that it reads, and answers it.
cat >"$tmp/app.c" <<'END'
#include <btgen/usdt.h>
#include <unistd.h>
enum state { IDLE, RUNNING };
struct request { int id; enum state state; };
void lib_hit(int c);
int main(void)
{
	struct request r = {.id = 0, .state = RUNNING};
	enum state next = IDLE;
	char c;
	while (read(0, &c, 1) == 1) {
		r.id = c;
		USDT_PROBE(app, hit, (struct request *)&r, next);
		lib_hit(c);
		if (write(1, &c, 1) != 1)
			return 1;
	}
	return 0;
}
END
cat >"$tmp/lib.c" <<'END'
#include <btgen/usdt.h>
void lib_hit(int c);
void lib_hit(int c) { USDT_PROBE(lib, hit, c); }
END
# init name|memory PROGRAM ARG...: becomes the program, from its name or from a copy that has none
cat >"$tmp/init.c" <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	struct stat st;
	if (argc < 3)
		return 1;
	if (strcmp(argv[1], "name") == 0) {
		umount2("/old", MNT_DETACH); // what was there before is out of reach
		return execv(argv[2], argv + 2);
	}
	int file = open(argv[2], O_RDONLY | O_CLOEXEC), copy = memfd_create("app", MFD_CLOEXEC);
	if (fstat(file, &st) != 0 || sendfile(copy, file, NULL, (size_t)st.st_size) != st.st_size)
		return 1;
	return fexecve(copy, argv + 2, environ);
}
END
# enter tmpfs|overlay FOLDER PROGRAM ARG...: runs a copy of PROGRAM, /srv/app, in a file system of its own. Nobody else sees the
# mounts, which are gone with the processes.
cat >"$tmp/enter" <<'END'
#!/usr/bin/env bash
set -eu
kind=$1 root=$2 program=$3
mount -t tmpfs none "$root"
mkdir "$root/lower" "$root/upper" "$root/work" "$root/new"
[ "$kind" = overlay ] || mount -t tmpfs none "$root/new"
new=$root/new
[ "$kind" != overlay ] || new=$root/lower
mkdir "$new/proc" "$new/old" "$new/srv"
cp "$program" "$new/srv/app"
cp "${0%/*}/init" "$new/init"
for file in $(ldd "$program" 2>/dev/null | grep -o '/[^ ]*'); do
	mkdir -p "$new${file%/*}"
	cp -L "$file" "$new$file"
done
[ "$kind" != overlay ] || mount -t overlay -o "lowerdir=$new,upperdir=$root/upper,workdir=$root/work" none "$root/new"
mount -t proc proc "$root/new/proc"
cd "$root/new"
# The program pivot_root is not everywhere: in Debian behind 13 it is in a package of its own.
/usr/bin/python3 -c 'import ctypes, os, sys
sys.exit(ctypes.CDLL(None).syscall({"x86_64": 155}.get(os.uname().machine, 41), b".", b"old"))'
exec /init name /srv/app "${@:4}"
END
chmod +x "$tmp/enter"
mkdir "$tmp/root"
gcc -O1 -g -fPIC -shared -I"$top/include" -o "$tmp/libhit.so" "$tmp/lib.c" &&
	gcc -O1 -g -I"$top/include" -o "$tmp/app" "$tmp/app.c" -L"$tmp" -lhit -Wl,-rpath,"$tmp" -Wl,--build-id &&
	strip -o "$tmp/stripped" "$tmp/app" &&
	gcc -O1 -g -static -I"$top/include" -o "$tmp/static" "$tmp/app.c" "$tmp/lib.c" &&
	gcc -static -o "$tmp/init" "$tmp/init.c" || exit 1

# begin EXE COMMAND...: the command runs until its input ends. EXE is what it becomes, or a child of it: its PID on the host is $app,
# its root folder as we reach it $root
app='' root='' outer='' keeper=''
cleanup() {
	local pid
	for pid in $outer $keeper; do # unshare heeds no other signal, and its child goes with it
		kill -KILL "$pid" && wait "$pid"
	done 2>/dev/null
	tap_cleanup
}
trap cleanup EXIT
child_of() { awk '{ print $1 }' "/proc/$1/task/$1/children"; }
is_begun() {
	[ -e "/proc/$outer/exe" ] || return 0
	app=$outer
	until [[ $(readlink "/proc/$app/exe") == "$1"* ]]; do
		app=$(child_of "$app")
		[ -n "$app" ] || return
	done
	live_pid=$app live_idle
}
begin() {
	rm -f "$tmp/live-in"
	mkfifo "$tmp/live-in"
	"${@:2}" <"$tmp/live-in" >"$tmp/answers" 2>"$tmp/target-err" &
	outer=$!
	exec 8>"$tmp/live-in"
	wait_for is_begun "$1" 2>/dev/null
	if [[ $(readlink "/proc/$app/exe" 2>/dev/null) != "$1"* ]]; then
		ok "$1 runs" false
		sed 's/^/# /' "$tmp/target-err"
		exit 1
	fi
	root=/proc/$app/root
}
finish() {
	exec 8>&-
	wait $outer
	outer=''
}
spaces=(unshare --mount --pid --fork --kill-child)
user=()
unshare --user --map-root-user --mount true 2>/dev/null && user=(--user --map-root-user)

# fire BYTE: an event of it; traced ARG...: what bpftrace.sh says of one event, sorted, without times and addresses
fire() {
	printf '%s' "$1" >&8
	wait_for grep -q "$1" "$tmp/answers"
}
traced() {
	: >"$tmp/answers"
	live_trace "$@" || return
	fire Q
	live_wait INT
	sed -nE 's/^[0-9:.]+ ([^ ]*\[)/\1/; s/0x[0-9a-f]+/ADDRESS/; /./p' "$tmp/trace" | LC_ALL=C sort
}
# messages: all but those of ^C, and excerpts of the script
messages() { grep -vE 'detaching|^    ' "$tmp/messages"; }
script='usdt:__EXE__:app:hit { printf("%d %c %s %s\n", pid, args.r->id, args.r->state, args.next); }
usdt:__EXE__:lib:hit { printf("lib %c\n", arg0); }
uprobe:__EXE__:lib_hit { printf("call %c\n", arg0); }'
# sees CLAIM: the script sees all of the process
sees() {
	is "$(traced "$app" -e "$script")" "$app Q RUNNING IDLE
call Q
lib Q" "$1"
}

# A container: mount, PID and user namespaces, its own root and /proc. Then no file of it is there any more, and then another one is.
begin /srv/app "${spaces[@]}" ${user[@]+"${user[@]}"} "$tmp/enter" tmpfs "$tmp/root" "$tmp/app"
is "$(sed -n 's/^NSpid://p' "/proc/$app/status" | xargs) $(readlink "/proc/$app/exe")" "$app 1 /srv/app" "a container: its process 1"
sees "an enum, a struct, a library's probe and its function"
is "$(messages)" "btgen: attached to app (PID $app)" "the PID is that of the host"
is "$("$live_sh" -l "$app" '*:hit' 2>&1 | grep -v '^ ')" "/srv/app: 1 probe
usdt:app:hit(struct request *r, enum state next)

$tmp/libhit.so: 1 probe
usdt:lib:hit(int c)" "-l: its probes, by the names that it knows the files by"
is "$(traced -x "$root/srv/app" -e 'usdt:__EXE__:app:hit { printf("%d\n", pid); }')" "$app" "-x of a file in it"
cat >"$tmp/inner.bt" <<'END'
usdt:__EXE__:app:hit
{
	$pid = curtask->group_leader->thread_pid;
#if __BPFTRACE__ >= 23
	printf("%d %d\n", pid, $pid->numbers[1].nr);
#else
	$upid = (struct upid *)((uint64)$pid + sizeof(struct pid) + 1 * sizeof(struct upid));
	printf("%d %d\n", pid, $upid->nr);
#endif
}
END
if [ -e /sys/kernel/btf/vmlinux ] && [ "$(uname -r | awk -F. '{ print $1 * 100 + $2 }')" -ge 605 ]; then
	is "$(traced -W no-kernel-type "$app" "$tmp/inner.bt")" "$app 1" "a script can have both PIDs"
else
	skip "a script can have both PIDs" "this kernel has no BTF, or an older struct pid"
fi
rm "$root/srv/app" "$root$tmp/libhit.so"
sees "deleted: all the same"
is "$(messages)" "btgen: attached to app (PID $app)" "without a word"
is "$("$live_sh" -l "$app" '*:hit' 2>&1 | grep -v '^ ')" "/srv/app (deleted): 1 probe
usdt:app:hit(struct request *r, enum state next)

$tmp/libhit.so (deleted): 1 probe
usdt:lib:hit(int c)" "-l: says so, once"
is "$(traced --deep 1 "$app" -t '*:hit')" "app[$app] app:hit r={id = 81, state = RUNNING} next=IDLE
app[$app] lib:hit c=81" "-t: its struct and enums"
is "$("$btgen" types -p "$app" request 2>&1 | tr -s '[:space:]' ' ')" \
	"#pragma pack(push,1) enum state { IDLE = 0, RUNNING = 1, }; struct request { int id; enum state state; }; #pragma pack(pop) " \
	"its types"
cp /bin/true "$root/srv/app"
cp /bin/true "$root$tmp/libhit.so"
sees "replaced: what it runs is traced"
is "$(messages | sed -E 's/^<command line>:[0-9:]+: //; s/map_files.*/map_files/')" \
	"warning: /srv/app was replaced since process $app started: what it runs is traced, not the new file  [replaced]
btgen: note: it is reached through /proc/$app/exe
warning: $tmp/libhit.so was replaced since process $app started: what it runs is traced, not the new file  [replaced]
btgen: note: it is reached through /proc/$app/map_files
btgen: attached to app (PID $app)" "and said, for each file"
finish

# The demo's trace, of a target whose file is gone.
begin /srv/app "${spaces[@]}" ${user[@]+"${user[@]}"} "$tmp/enter" tmpfs "$tmp/root" "$targets/nvmf_tgt" -m 0xC --wait
wait_for grep -q waiting "$tmp/answers"
rm "$root/srv/app"
live_trace "$app" nvmf.bt
live_say start
cat "$targets/cnode1.txt" >&8
wait_for eval '[ "$(grep -cE "^(ok|error)" "$tmp/answers")" -ge 6 ]'
wait_for eval 'sed "1,/add namespace/d" "$tmp/trace" | grep -q "PAUSED to ACTIVE done"'
live_wait INT
nqn=nqn.2016-06.io.spdk:cnode1
for line in 'nvmf_tgt reached state RUNNING' "$nqn on thread 3 state to ACTIVE done" "$nqn add namespace 1" \
	"$nqn change state from PAUSED to ACTIVE done"; do
	like "$(cat "$tmp/trace")" "^[0-9.]+: $line\$" "the demo in a container, deleted: $line"
done
live_say quit
finish

# Its debug packages are those of its root folder.
begin /srv/app "${spaces[@]}" ${user[@]+"${user[@]}"} "$tmp/enter" tmpfs "$tmp/root" "$tmp/stripped"
id=$(readelf -n "$tmp/stripped" | sed -n 's/.*Build ID: //p')
mkdir -p "$root/usr/lib/debug/.build-id/${id:0:2}"
objcopy --only-keep-debug "$tmp/app" "$root/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug"
sees "a stripped program, with a debug file in the container"
finish

# Other ways to a root and a file of one's own.
begin /srv/app "${spaces[@]}" ${user[@]+"${user[@]}"} "$tmp/enter" tmpfs "$tmp/root" "$tmp/static"
sees "a static program in a container"
rm "$root/srv/app"
like "$(traced "$app" -e 'uprobe:__EXE__:lib_hit { printf("%s\n", ustack(1)); }')" 'lib_hit\+0' "deleted: a stack has names, which bpftrace does not find"
is "$(messages)" "btgen: attached to app (PID $app)" "without a word"
finish
if "${spaces[@]}" "$tmp/enter" overlay "$tmp/root" "$tmp/app" </dev/null >/dev/null 2>&1; then
	begin /srv/app "${spaces[@]}" "$tmp/enter" overlay "$tmp/root" "$tmp/app"
	sees "an overlay: files of its lower folder"
	rm "$root/srv/app" "$root$tmp/libhit.so"
	sees "deleted in the upper one"
	finish
else
	skip "an overlay" "this kernel mounts none"
fi
mkdir -p "$tmp/jail/srv"
cp "$tmp/static" "$tmp/jail/srv/app"
begin "$tmp/jail/srv/app" "${spaces[@]}" chroot "$tmp/jail" /srv/app
sees "a chroot in a mount namespace"
rm "$tmp/jail/srv/app"
sees "deleted in it"
finish
begin /memfd:app "$tmp/init" memory "$tmp/app"
sees "a program that never had a file"
is "$("$live_sh" -l "$app" 'app:hit' 2>&1 | grep -v '^ ')" "/memfd:app (deleted): 1 probe
usdt:app:hit(struct request *r, enum state next)" "-l: by the name that the kernel gives it"
finish

# A program of 32 bits: an error, wherever it is asked for, and not a trace of something else.
cat >"$tmp/narrow.s" <<'END'
.globl _start
.type _start, @function
_start:
	nop
	movl $3, %eax
	xorl %ebx, %ebx
	movl $byte, %ecx
	movl $1, %edx
	int $0x80
	movl $1, %eax
	int $0x80
.bss
byte:	.space 1
END
if as --32 -o "$tmp/narrow.o" "$tmp/narrow.s" 2>/dev/null && ld -m elf_i386 -o "$tmp/narrow" "$tmp/narrow.o" 2>/dev/null &&
	"$tmp/narrow" </dev/null 2>/dev/null; then
	begin "$tmp/narrow" "$tmp/narrow"
	why="$tmp/narrow is a 32-bit program, which is not supported: bpftrace takes arguments, pointers and structs for those of a 64-bit program"
	is "$("$live_sh" "$app" -e 'uprobe:__EXE__:_start { }' 2>&1)" "btgen: error: $why" "a 32-bit program: an error that says why"
	is "$("$live_sh" -x "$tmp/narrow" -e 'uprobe:__EXE__:_start { }' 2>&1)" "btgen: error: $why" "-x: the same"
	is "$("$live_sh" -t '*' "$app" 2>&1)" "btgen: error: $why" "-t: the same"
	is "$("$live_sh" -l "$app" 2>&1)" "btgen: note: $why
btgen: no file of process $app has USDT probes; functions are uprobe:NAME" "-l: a note"
	like "$("$btgen" doctor "$app" 2>&1)" "^ +error +$why: build it for 64 bits" "doctor: an error"
	finish
else
	skip "a 32-bit program" "as and ld make none here, or the kernel runs none"
fi

# A privileged container: btgen and bpftrace are in it, with PIDs of its own.
"${spaces[@]}" --mount-proc sleep 600 8>&- &
keeper=$!
is_asleep() { container=$(child_of $keeper) && [ -n "$container" ] && [ "$(cat "/proc/$container/comm")" = sleep ]; }
wait_for is_asleep 2>/dev/null || exit 1
join=(nsenter --target "$container" --mount --pid)
printf '#!/bin/sh\nexec %s "%s" "$@"\n' "${join[*]}" "$live_sh" >"$tmp/inside"
chmod +x "$tmp/inside"
live_sh=$tmp/inside
# saw CLAIM SCRIPT LINE: of the process $inner, up to its first line: nsenter passes no signal on
saw() {
	: >"$tmp/answers"
	live_trace -N 1 -T 20 "$inner" -e "$2" && fire Q && live_wait
	is "$(grep . "$tmp/trace")" "$3" "$1"
}
hit='usdt:__EXE__:app:hit { printf("hit %c\n", args.r->id); }'
call='uprobe:__EXE__:lib_hit { printf("call %c\n", arg0); }'
cp "$tmp/app" "$tmp/copy"
begin "$tmp/copy" "${join[@]}" "$tmp/copy"
inner=$(awk '/^NSpid:/ { print $3 }' "/proc/$app/status")
shown=$inner
[ "$version" -ge 23 ] || shown=$app
saw "in a privileged container: pid is that of the container, on bpftrace before 0.23 that of the host" "${script%%$'\n'*}" \
	"$shown Q RUNNING IDLE"
is "$(messages)" "btgen: attached to copy (PID $inner)" "messages have the former"
is "$("$live_sh" -l "$inner" app:hit 2>&1 | grep -v '^ ')" "$tmp/copy: 1 probe
usdt:app:hit(struct request *r, enum state next)" "-l"
rm "$tmp/copy"
untold="btgen: error: cannot tell the events of process $inner from those of other processes: "
others="bpftrace 0.$version uses host PIDs, and this container has its own: trace from the host (docker run --pid=host), or with bpftrace 0.23"
if [ "$version" -ge 23 ]; then
	saw "a function" "$call" 'call Q'
	saw "a deleted program" "$hit" 'hit Q'
else
	is "$("$live_sh" "$inner" -e "$call" 2>&1)" "$untold$others" "a function: an error, not an empty trace"
	is "$("$live_sh" "$inner" -e "$hit" 2>&1)" "$untold$others" "a deleted program: likewise"
	is "$("$live_sh" "$inner" -e 'BEGIN { printf("%d\n", __PID__); }' 2>&1)" "btgen: error: the script uses __PID__: $others" \
		"nor can a script look for its process itself"
fi
like "$("$live_sh" --children "$inner" -e "$call" 2>&1)" "^btgen: error: .*: trace from the host \(docker run --pid=host\)" \
	"--children: from the host only"
finish
begin /srv/app "${join[@]}" "${spaces[@]}" "$tmp/enter" tmpfs "$tmp/root" "$tmp/app"
inner=$(awk '/^NSpid:/ { print $3 }' "/proc/$app/status")
saw "a container in it" "$hit" 'hit Q'
rm "$root/srv/app"
like "$("$live_sh" "$inner" -e "$hit" 2>&1)" "^btgen: error: cannot tell the events of process $inner from those of other processes: " \
	"deleted there: an error"
finish
like "$(unshare --pid --fork "$btgen" probes -p $$ 2>&1)" \
	'^btgen: error: /proc belongs to a different PID namespace than this shell: mount -t proc proc /proc' \
	"in a PID namespace with the /proc of another one: an error"

done_testing
