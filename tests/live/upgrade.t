#!/usr/bin/env bash
# A traced file that is replaced while the trace goes on, as a package manager does it: -x and --cgroup trace the new one, too.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"

name=svc-$$
mkdir "$tmp/bin"
program=$tmp/bin/$name
build() { gcc -O1 -g -I"$top/include" "$@" "$top/tests/live/service.c"; }
build -DFIRST= -DMORE= -o "$tmp/old" || exit 1
build -DFIRST='NONE, ' -DMORE='long pad;' -o "$tmp/new" || exit 1
printf 'int main(void)\n{\n\treturn 0;\n}\n' >"$tmp/empty.c"
gcc -o "$tmp/without" "$tmp/empty.c" || exit 1
# put FILE: a new file is renamed over the path
put() { cp "$1" "$program.put" && mv "$program.put" "$program"; }
# shellcheck disable=SC2317 # wait_for calls it
runs() { [ "$(readlink "/proc/$1/exe")" = "$2" ]; }
declare -a pid in
run() { # run N: the N-th process, pid[N], with its input at hand as in[N]
	mkfifo "$tmp/in$1"
	"$program" <"$tmp/in$1" &
	pid[$1]=$!
	own $!
	local fd
	exec {fd}>"$tmp/in$1"
	in[$1]=$fd
	wait_for runs $! "$program"
}
end() { # end N: the N-th process ends
	kill "${pid[$1]}"
	wait "${pid[$1]}" 2>/dev/null
}
# fire N BYTE: an event of the N-th process, which is printed before this returns
fire() {
	printf '%s' "$2" >&"${in[$1]}"
	wait_for grep -q "^$2 " "$tmp/trace"
}
said() { wait_for grep -q "$1" "$tmp/messages"; }
id() { readelf -nW "$1" | sed -n 's/.*Build ID: \(............\).*/\1/p'; }
old=$(id "$tmp/old") new=$(id "$tmp/new")
script='usdt:__EXE__:hit { printf("%c %s %s %d\n", args.r->id, args.r->state, args.next, pid); @[args.next] = count(); }'

put "$tmp/old"
run 1
ok "-x FILE attaches" live_trace --strict -x "$program" -e "$script"
fire 1 a
put "$tmp/new"
said "attached to every process of .*, build $new"
is "$(sed 's/btgen: note: .*//;/^$/d' "$tmp/messages")" "btgen: attached to every process of $program
btgen: $program was replaced by another file (build ID $new): attaching to it
btgen: attached to every process of $program, build $new" "a file renamed over the path is attached to"
run 2
fire 2 b
fire 1 c
end 1
fire 2 d
live_wait INT
is "$live_rc" 0 "^C is status 0, with --strict, too: nothing was missed"
is "$(grep -v '^$' "$tmp/trace" | sed '/^@/,$d' | sed "s/ ${pid[1]}\$/ P1/; s/ ${pid[2]}\$/ P2/" | head -n 7)" "a RUNNING IDLE P1
==> $name, build $new <==
b RUNNING IDLE P2
==> $name, build $old <==
c RUNNING IDLE P1
==> $name, build $new <==
d RUNNING IDLE P2" "each line is read by the types of its process's build, below a heading"
is "$(awk -v build="$old" '/^==>/ { build = $4 } /^@/ { print build, $0 }' "$tmp/trace" | sort)" \
	"$(printf '%s\n' "$old @[IDLE]: 2" "$new @[IDLE]: 2" | sort)" "so is each map"
is "$(pgrep -f "/proc/self/fd/.*$tmp" | wc -l)" 0 "no bpftrace is left"

# The old one's bpftrace ends with its last process; -N then counts the new one's.
ok "-x with -N" live_trace -x "$program" -N 2 -e "$script"
put "$tmp/old"
said "attached to every process of .*, build $old"
end 2
wait_for eval '[ "$(pgrep -P "$live_tracer" | wc -l)" = 1 ]'
run 3
fire 3 e
printf f >&"${in[3]}"
live_wait
is "$live_rc $(grep -c '^[ef] ' "$tmp/trace")" "0 2" "a bpftrace whose file nobody runs any more ends, and the trace with the other"

ok "JSON" live_trace --strict -f json -x "$program" -e "$script"
printf g >&"${in[3]}"
wait_for grep -q '"g"' "$tmp/trace"
put "$tmp/new"
said "attached to every process of .*, build $new"
run 4
printf h >&"${in[4]}"
wait_for grep -q '"h"' "$tmp/trace"
live_wait INT
is "$live_rc $(jq -c 'select(.program) | del(.boot_id?)' "$tmp/trace" | grep '"build"' | head -n 1)" \
	"0 {\"program\":\"$name\",\"pid\":null,\"build\":\"$new\"}" "in JSON the heading is an object"
ok "... that the schema allows" python3 "$top/tests/schema.py" "$tmp/trace"

# What cannot be traced is reported, and is status 3 with --strict.
ok "a file without the probe" live_trace --strict -q -x "$program" -e "$script"
put "$tmp/without"
said 'not traced'
live_wait INT
is "$live_rc $(cat "$tmp/messages")" "3 btgen: warning: $program: what runs the new file is not traced" "is a warning, also with -q"
put "$tmp/new"
ok "a file that is removed" live_trace --strict -q -x "$program" -e "$script"
rm "$program"
said gone
live_wait INT
is "$live_rc $(cat "$tmp/messages")" "3 btgen: warning: $program is gone: only processes that already run it are traced" "is a warning"
put "$tmp/new"
ok "-f perfetto" live_trace --strict -q -f perfetto -x "$program" -e "$script"
put "$tmp/old"
said perfetto
live_wait INT
is "$live_rc $(cat "$tmp/messages")" "3 btgen: warning: $program was replaced by another file (build ID $old): it is not traced: -f perfetto handles one build; use -f json and btgen convert" \
	"of one build, says so"

# What a second bpftrace would show again is not traced by one.
put "$tmp/new"
libc=$(ldd "$program" | awk '/libc\.so/ { print $3 }')
ok "a library, too" live_trace --strict -q -x "$program" -e "$script uprobe:$libc:gnu_get_libc_version { printf(\"version\\n\"); }"
put "$tmp/old"
said 'more than this file'
live_wait INT
is "$live_rc $(sed 's/.*: it/it/' "$tmp/messages")" "3 it is not traced, as the script traces more than this file: start the trace again" "a script that traces more than the file: a warning"

mkdir -p "$tmp/root$tmp/bin"
cp "$tmp/old" "$tmp/root$program"
"$tmp/root$program" <"$tmp/in3" &
own $!
wait_for runs $! "$tmp/root$program"
rm "$tmp/root$program"
ok "a trace that begins after the upgrade" live_trace -x "$program" -e "$script"
live_wait INT
like "$(cat "$tmp/messages")" "warning: $program was replaced, and process ${pid[3]} .and 1 more. runs the older file, which is not traced" "... names the processes that it leaves out, and none of a file whose path ends alike"

# A file that is written over has the same inode; one that is touched is the same.
end 3
end 4
ok "a file that nobody runs" live_trace --strict -x "$program" -e "$script"
touch "$program"
cp "$tmp/new" "$program"
said "attached to every process of .*, build $new"
run 5
fire 5 i
live_wait INT
is "$live_rc $(grep -c 'was replaced' "$tmp/messages") $(grep '^i' "$tmp/trace")" "0 1 i RUNNING IDLE ${pid[5]}" "is attached to when it is overwritten"

ok "-T" live_trace -T 5 -x "$program" -e "$script"
put "$tmp/old"
said "attached to every process of .*, build $old"
live_wait
is "$live_rc" 0 "... ends both"

mkdir "$tmp/cg"
if mount -t cgroup2 none "$tmp/cg" 2>/dev/null; then
	group=$tmp/cg/btgen-upgrade-$$
	leave() {
		local p
		for p in $(cat "$group/cgroup.procs" 2>/dev/null); do echo "$p" >"$tmp/cg/cgroup.procs"; done
		rmdir "$group" 2>/dev/null
		umount -l "$tmp/cg"
	}
	trap 'leave; tap_cleanup' EXIT # in this order: what is mounted there is the system's
	mkdir "$group"
	run 6
	echo "${pid[6]}" >"$group/cgroup.procs"
	ok "--cgroup" live_trace --strict --cgroup "$group" -e "$script"
	fire 6 j
	put "$tmp/new"
	end 6
	run 7
	echo "${pid[7]}" >"$group/cgroup.procs"
	said "attached to .* in .*, build $new"
	fire 7 k
	# As systemd does when a service restarts.
	end 7
	rmdir "$group" && mkdir "$group"
	run 8
	echo "${pid[8]}" >"$group/cgroup.procs"
	said 'made anew'
	wait_for eval '[ "$(grep -c "build $new" "$tmp/messages")" = 2 ]'
	fire 8 l
	live_wait INT
	is "$live_rc $(grep '^[jkl] ' "$tmp/trace" | sed "s/ ${pid[6]}\$/ P6/; s/ ${pid[7]}\$/ P7/; s/ ${pid[8]}\$/ P8/" | paste -sd' ')" \
		"0 j RUNNING IDLE P6 k RUNNING IDLE P7 l RUNNING IDLE P8" "a process of the group that runs a new file, and one of a group that was made anew, are traced"
else
	skip "cgroups" "this kernel has no cgroup v2, or a sandbox forbids to mount it"
fi
done_testing
