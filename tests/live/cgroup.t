#!/usr/bin/env bash
# --cgroup: the processes of a service or container, and no others.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"

# A hierarchy of its own: the system may have that of the first version where most have the second.
mkdir "$tmp/cg"
mount -t cgroup2 none "$tmp/cg" 2>/dev/null || skip_all "this kernel has no cgroup v2, or a sandbox forbids to mount it"
group=$tmp/cg/btgen-test-$$
leave() {
	local pid
	for pid in $(cat "$group/cgroup.procs" "$group/inner/cgroup.procs" 2>/dev/null); do echo "$pid" >"$tmp/cg/cgroup.procs"; done
	rmdir "$group/inner" "$group" 2>/dev/null
	umount -l "$tmp/cg"
}
trap 'leave; tap_cleanup' EXIT # in this order: what is mounted there is the system's
mkdir "$group" "$group/inner" || skip_all "no group can be made"

cat >"$tmp/app.c" <<'END'
#include <btgen/usdt.h>
#include <stdlib.h>
#include <unistd.h>
int main(void)
{
	char c;
	while (read(0, &c, 1) == 1) {
		USDT_PROBE(app, hit, c);
		free(malloc(c));
		if (write(1, &c, 1) != 1)
			return 1;
	}
	return 0;
}
END
name=cgapp-$$
gcc -O1 -g -fno-builtin -I"$top/include" -o "$tmp/$name" "$tmp/app.c" || exit 1
cp "$tmp/$name" "$tmp/helper-$$"

# begin N GROUP [PROGRAM]: a process in that group, its PID in ${pid[N]}; hit N BYTE: an event of it
pid=()
begin() {
	mkfifo "$tmp/in$1"
	(echo $BASHPID >"$2/cgroup.procs" && exec "${3:-$tmp/$name}" <"$tmp/in$1" >"$tmp/out$1") &
	pid[$1]=$!
	own $!
	eval "exec $((10 + $1))>\"\$tmp/in$1\""
}
hit() {
	eval "printf '%s' \"\$2\" >&$((10 + $1))"
	wait_for grep -q "$2" "$tmp/out$1"
}
script='usdt:__EXE__:hit { printf("%d hit %c\n", pid, arg0); }
uprobe:__EXE__:malloc /arg0 > 97 && arg0 < 104/ { printf("%d malloc %c\n", pid, arg0); }'

begin 1 "$group"
begin 2 "$group/inner"
begin 3 "$tmp/cg"
hit 1 A && hit 2 A && hit 3 A
ok "--cgroup" live_trace --cgroup "$group" -e "$script"
is "$(cat "$tmp/messages")" "btgen: attached to $name in $group, later processes included" "says what is traced"
hit 1 b
hit 2 c
hit 3 d
begin 4 "$group"
hit 4 e
wait_for grep -q 'malloc e' "$tmp/trace"
live_wait INT
is "$live_rc $(grep . "$tmp/trace" | sort -k 3)" "0 ${pid[1]} hit b
${pid[1]} malloc b
${pid[2]} hit c
${pid[2]} malloc c
${pid[4]} hit e
${pid[4]} malloc e" "a process of the group, one of a group in it, one that came later, and none outside; in a library, too"
is "$(guard "$btgen" run -q --bpftrace "$bpftrace" -e "BEGIN { printf(\"%d\\n\", cgroupid(\"$group\")); exit(); }" 2>&1)" "$(stat -c %i "$group")" \
	"cgroupid() is the number of the folder"
ok "a group and -t" live_trace -f json --cgroup "$group/inner" -t hit
hit 1 f
hit 2 g
wait_for grep -q hit "$tmp/trace"
live_wait INT
is "$(grep -o '"pid": [0-9]*' "$tmp/trace")" "\"pid\": ${pid[2]}" "of the inner one alone"
begin 5 "$group" "$tmp/helper-$$"
hit 5 A
like "$("$live_sh" -n --cgroup "$group" -t hit 2>&1)" "^btgen: error: --cgroup: processes [0-9]+ and [0-9]+ there run different programs: give the name of one$" \
	"two programs in one group: an error"
like "$("$live_sh" -n --cgroup "$group" -e "$script" "helper-$$" 2>&1)" '^usdt:.*/ ?\(cgroup == [0-9]+ \|\| cgroup == [0-9]+\)/' "with a name it is that one"
like "$("$live_sh" -n --cgroup "$group" -t hit "${pid[3]}" 2>&1)" "^btgen: error: --cgroup: none of the processes given is in $group$" "a PID outside"
like "$("$live_sh" -n --cgroup /proc -t hit 2>&1)" '^btgen: error: --cgroup: /proc is not a cgroup v2 group$' "a folder that is none"
like "$("$live_sh" -n --cgroup "$tmp/nosuch" -t hit 2>&1)" '^btgen: error: --cgroup: .*/nosuch: No such file or directory$' "one that is not there"
like "$("$live_sh" -n --cgroup "$group" syscalls.bt $name 2>&1)" '^btgen: error: --cgroup: ' "a script of the whole host: an error"
like "$("$live_sh" -n --cgroup "$group" -c ls -t hit 2>&1)" '^bpftrace.sh: --cgroup needs a template, and excludes -x, -c' "nor with -c"
for n in 1 2 3 4 5; do eval "exec $((10 + n))>&-"; done
wait "${pid[@]}"
done_testing
