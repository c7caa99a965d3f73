#!/usr/bin/env bash
# Who is traced: a process by its PID or its program's name, or with -x every process of a file; and what it is called.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"

# Fires its probe, which has a semaphore, with each byte that it reads, up to a Z; its main thread has a name of its own.
cat >"$tmp/app.c" <<'END'
#include <btgen/usdt.h>
#include <sys/prctl.h>
#include <unistd.h>
void lib_hit(int c);
int main(void)
{
	char c;
	prctl(PR_SET_NAME, "reactor_0");
	while (read(0, &c, 1) == 1) {
		USDT_PROBE_LAZY(app, hit, c);
		lib_hit(c);
		if (write(1, &c, 1) != 1 || c == 'Z')
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
name=app-$$
gcc -O1 -g -fPIC -shared -I"$top/include" -o "$tmp/libhit.so" "$tmp/lib.c" &&
	gcc -O1 -g -I"$top/include" -o "$tmp/$name" "$tmp/app.c" -L"$tmp" -lhit -Wl,-rpath,"$tmp" || exit 1

# begin N [PROGRAM]: a process that reads descriptor 10 + N, its PID in ${pid[N]}; hit N: one event of it
pid=()
begin() {
	mkfifo "$tmp/in$1"
	"${2:-$tmp/$name}" <"$tmp/in$1" >"$tmp/out$1" &
	pid[$1]=$!
	own $!
	eval "exec $((10 + $1))>\"\$tmp/in$1\""
	wait_for grep -qx reactor_0 "/proc/${pid[$1]}/comm"
}
hit() {
	eval "printf '%s' \"\$2\" >&$((10 + $1))"
	wait_for grep -q "$2" "$tmp/out$1"
}
script='usdt:__EXE__:app:hit { printf("%d hit %c\n", pid, arg0); }'
begin 1

ok "a PID" live_trace "${pid[1]}" -e "$script"
is "$(cat "$tmp/messages")" "btgen: attached to $name (PID ${pid[1]})" "it is called as its executable, not as its main thread"
hit 1 A
hit 1 Z
live_wait
is "$(grep . "$tmp/trace")" "${pid[1]} hit A
${pid[1]} hit Z" "it is traced"
like "$(cat "$tmp/messages")" "^btgen: process ${pid[1]} \($name\) has exited" "and so it is called when it ends"

begin 2
ok "the name of a program" live_trace "$name" -e "$script"
like "$(cat "$tmp/messages")" "attached to $name \(PID ${pid[2]}\)" "it is found"
hit 2 B
live_wait INT
is "$(grep . "$tmp/trace")" "${pid[2]} hit B" "and traced"
ok "the name of a program, with -t" live_trace -f json -t 'app:*' "$name"
hit 2 C
wait_for grep -q '"pid"' "$tmp/trace"
live_wait INT
like "$(cat "$tmp/trace")" "\"pid\": ${pid[2]}, " "its event"
is "$("$live_sh" -l "$name" 'app:*' | grep -c '^usdt:app:hit')" 1 "-l takes a name, too"
mkdir "$tmp/here"
cd "$tmp/here" || exit
printf '%s\n' "$script" >"$name"
is "$("$live_sh" -n "$name" 2>&1)" "btgen: error: $name needs a process: give its PID or name, or -x FILE for every process of a program" \
	"a word that is a script in place is that script"
cd "$tmp" || exit
like "$("$live_sh" -n "$name" -e "$script" 2>&1)" "^usdt:/proc/${pid[2]}/" "and the program itself in place is none"

# Names that are none of a program, or do not look like one's.
mkdir "$tmp/odd"
cp "$tmp/$name" "$tmp/odd/7z-$$"
begin 8 "$tmp/odd/7z-$$"
is "$("$live_sh" -l "7z-$$" 'app:*' | grep -c '^usdt:app:hit')" 1 "-l of a program whose name begins like a PID"
hit 8 Z
mkfifo "$tmp/nameless"
(printf '\0' >"/proc/$BASHPID/comm" && read -r _ <"$tmp/nameless") &
wait_for eval "! grep -q . /proc/$!/comm"
like "$("$btgen" probes -p '' 2>&1)" "error: no process runs a program named ''" "an empty name is no process's, also when one has none"
echo >"$tmp/nameless"

begin 3
both=$(printf '%s\n' "${pid[2]}" "${pid[3]}" | sort -n | xargs)
ok "a name that two processes have" live_trace "$name" -e "$script"
is "$(cat "$tmp/messages")" "btgen: note: processes that start later are not traced: use --children for those that these fork, -x $tmp/$name to trace all
btgen: attached to 2 processes of $name (${both/ /, })" "it says which"
hit 2 I
hit 3 J
begin 9
hit 9 K
hit 2 L
wait_for grep -q L "$tmp/trace"
live_wait INT
is "$(grep . "$tmp/trace" | sort -k 3)" "${pid[2]} hit I
${pid[3]} hit J
${pid[2]} hit L" "both are traced, and not one that started later"
hit 9 Z
like "$("$live_sh" -n "$name" -e 'usdt:__EXE__:app:hit /pid == __PID__/ { printf("x\n"); }' 2>&1)" \
	"^btgen: error: 2 processes were given \($both\), and the script refers to one, __PID__: give only the one to trace\$" \
	"a script that names one process: an error with their PIDs"
like "$("$live_sh" -n "$name" -e 'usdt:__EXE__:app:hit { printf("__COMM__ x\n"); }' 2>&1)" \
	"^<command line>:1:.*: error: __COMM__ refers to one process: give only that one" "so is one that prints its name"
is "$("$live_sh" -l "$name" 'app:*' | grep -c '^usdt:app:hit')" 1 "-l of both lists the probes once"
mkdir "$tmp/other"
cp "$tmp/$name" "$tmp/other"
begin 4 "$tmp/other/$name"
like "$("$live_sh" -n -t 'app:*' "$name" 2>&1)" \
	"error: process [0-9]+ does not run the same program as process [0-9]+: trace them separately" \
	"a name that two programs have, with -t: an error, too"
like "$("$live_sh" -n -t 'app:*' $$ "${pid[2]}" 2>&1)" \
	"^btgen: error: process ${pid[2]} does not run the same program as process $$: trace them separately$" \
	"of which the first has no such probe: the same"
like "$("$live_sh" -n -e 'usdt:__EXE__:app:hit { printf("x\n"); }' $$ "${pid[2]}" 2>&1)" \
	"^btgen: error: process ${pid[2]} does not run the same program as process $$: trace them separately$" \
	"with a script: the same"

# Every process of a file, those that start later too.
ok "-x" live_trace -x "$tmp/$name" -e "$script"
is "$(cat "$tmp/messages")" "btgen: attached to every process of $tmp/$name" "says what is traced"
hit 2 D
hit 4 X
hit 3 E
begin 5
hit 5 F
wait_for grep -q F "$tmp/trace"
live_wait INT
is "$(grep . "$tmp/trace" | sort -k 3)" "${pid[2]} hit D
${pid[3]} hit E
${pid[5]} hit F" "-x: two that ran, one that started later, and not that of another file"
ok "-x with -t" live_trace -t 'app:hit' -x "$tmp/$name"
hit 2 G
begin 6
hit 6 H
wait_for eval '[ "$(grep -c "app:hit" "$tmp/trace")" -ge 2 ]'
live_wait INT
is "$(grep -c 'app:hit' "$tmp/trace")" 2 "-x with -t: the event of one that ran, and of one that started later"
ok "-x of a library" live_trace -x "$tmp/libhit.so" -e "${script/app/lib}"
hit 3 I
hit 4 J
wait_for grep -q J "$tmp/trace"
live_wait INT
is "$(grep . "$tmp/trace" | sort -k 3)" "${pid[3]} hit I
${pid[4]} hit J" "-x of a library: the processes of both programs that map it"

# A script of ours is called like the program that it is for, as java.bt.
cp "$tmp/$name" "$tmp/other/longjmp"
begin 7 "$tmp/other/longjmp"
like "$("$live_sh" -n longjmp -e "$script" 2>&1)" "^usdt:/proc/${pid[7]}/" \
	"a name that is a script's, too, is the program's when another script is there"
like "$("$live_sh" -n longjmp 2>&1)" "longjmp.bt needs a process" "and alone it is the script's"

rm "$tmp/other/$name"
like "$("$live_sh" -l "${pid[4]}" 'app:*')" "^$tmp/other/$name \(deleted\): 1 probe" "a file that is deleted is called so, once"
done_testing
