#!/usr/bin/env bash
# Several programs of one name run: -l, -t and scripts mean those that have the probes, and name the others.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"

# Each byte of its input fires what it was built with, and is logged.
cat >"$tmp/app.c" <<'E2'
#include <btgen/usdt.h>
#include <stdio.h>
#include <unistd.h>
#define FIRE(probe) printf("%d %s %c\n", getpid(), #probe, c); USDT_PROBE(app, probe, c)
int main(void)
{
	char c;
	setlinebuf(stdout);
	while (read(0, &c, 1) == 1) {
		FIRES;
	}
	return 0;
}
E2
name=app-$$
declare -A pid fd
# begin FOLDER PROGRAM: it runs as pid[FOLDER], what it reads is fd[FOLDER], its log is log.FOLDER
begin() {
	local to
	mkfifo "$tmp/in.$1"
	"$2" <"$tmp/in.$1" >"$tmp/log.$1" &
	pid[$1]=$!
	own $!
	exec {to}>"$tmp/in.$1"
	fd[$1]=$to
	wait_for is_named "$!"
}
# shellcheck disable=SC2317 # wait_for calls it
is_named() { [ "$(cat "/proc/$1/comm")" = "$name" ]; }
build() { mkdir -p "$tmp/$1" && gcc -O1 -g -I"$top/include" -DFIRES="$2" -o "$tmp/$1/${3:-$name}" "$tmp/app.c"; }
build without 'printf("%d %c\n", getpid(), c)' && build one 'FIRE(hit); FIRE(one)' && build two 'FIRE(hit); FIRE(two)' || exit 1
begin without "$tmp/without/$name"
begin one "$tmp/one/$name"
begin two "$tmp/two/$name"
cd "$tmp/one" || exit 1

# what is said of a process that is left out: left FATE FOLDER WHY
left() { printf 'btgen: warning: process %s is %s: %s (uid 0) %s\n' "${pid[$2]}" "$1" "$tmp/$2/$name" "$3"; }
warnings() { grep warning: "$tmp/messages" | LC_ALL=C sort; }
# traced ARG...: with all three programs firing, what was traced, as their logs have it, is in $tmp/events
traced() {
	local to
	live_trace "$@" || return
	for to in "${fd[@]}"; do
		printf 'xyz' >&"$to"
	done
	wait_for are_idle "${pid[@]}"
	wait_for live_still
	live_wait INT
	sed -nE 's/^.*\[([0-9]+)\] app:(hit|one|two) c='"'(.)'"'.*/\1 \2 \3/p; t; s/^([0-9]+ [a-z]+ .)$/\1/p' "$tmp/trace" | LC_ALL=C sort >"$tmp/events"
}
# logged PATTERN FOLDER...: what these programs have logged since the last time
declare -A seen=()
logged() {
	local folder
	for folder in "${@:2}"; do
		tail -n +$((${seen[$folder]-0} + 1)) "$tmp/log.$folder"
	done | grep -E " ($1) " | LC_ALL=C sort
}
mark() {
	local folder
	for folder in "${!pid[@]}"; do
		seen[$folder]=$(wc -l <"$tmp/log.$folder")
	done
}

# -l
out=$("$live_sh" -l "$name" 'app:*' 2>"$tmp/messages")
is "$(grep . <<<"$out" | paste -sd' ')" "$tmp/one/$name: 2 probes usdt:app:hit(char c) usdt:app:one(char c) $tmp/two/$name: 2 probes usdt:app:hit(char c) usdt:app:two(char c)" \
	"-l lists the probes of both programs that have some"
is "$(warnings)" "$(left 'not listed' without 'has none of the probes')" "... and names the third"
is "$("$live_sh" -l "$name" two 2>"$tmp/messages" | paste -sd' ')" "$tmp/two/$name: 1 probe usdt:app:two(char c)" \
	"-l of a probe that one has, where a file of the name is that of another one"
is "$(warnings)" "$({ left 'not listed' one 'has none of the probes'; left 'not listed' without 'has none of the probes'; } | sort)" "... names the others"
is "$("$live_sh" -l "./$name" one 2>&1)" 'usdt:app:one(char c)' "-l of a path is that file"

# -t and scripts mean the same ones
lacks='does not have the probes or functions'
ok "-t of a probe that two have" traced -t hit "$name"
is "$(cat "$tmp/events")" "$(logged hit one two)" "... each event is in the programs' logs, and each of these is traced"
# Lines of both may come in turn: each is below a heading of its own program.
headed=$(awk '/^==> / { match($0, /PID [0-9]+/); of = substr($0, RSTART + 4, RLENGTH - 4) }
	match($0, /\[[0-9]+\]/) { print of, substr($0, RSTART + 1, RLENGTH - 2) }' "$tmp/trace" | LC_ALL=C sort -u)
is "$headed" "$(printf '%s %s\n' "${pid[one]}" "${pid[one]}" "${pid[two]}" "${pid[two]}" | LC_ALL=C sort)" "... each line below a heading of its program"
is "$(warnings)" "$(left 'not traced' without "$lacks")" "... and the third program is named"
mark
ok "a script of a probe that two have" traced "$name" -e 'usdt:__EXE__:hit { printf("%d hit %c\n", pid, arg0); }'
is "$(cat "$tmp/events")" "$(logged hit one two)" "... the same events"
is "$(warnings)" "$(left 'not traced' without "$lacks")" "... the same program is named"
mark
ok "-t of two probes, of which each program has one" traced -t one -t two "$name"
is "$(cat "$tmp/events")" "$(logged 'one|two' one two)" "... each program's own is traced"
is "$(warnings)" "$({ left "traced without 'two'" one 'does not have it'; left "traced without 'one'" two 'does not have it'
	left 'not traced' without "$lacks"; } | LC_ALL=C sort)" "... and what each lacks is said"
mark
ok "a script whose probes are optional" traced "$name" -e '#pragma optional
usdt:__EXE__:two { printf("%d two %c\n", pid, arg0); }'
is "$(cat "$tmp/events")" "$(logged two two)" "... is for the program that has them"
is "$(warnings)" "$({ left 'not traced' one "$lacks"; left 'not traced' without "$lacks"; } | LC_ALL=C sort)" "... the others are named"
out=$("$live_sh" -t hit -t nosuch "$name" 2>&1)
is "$? $(grep -c error: <<<"$out")" "1 1" "a pattern that none of them has is one error"
out=$("$live_sh" "$name" -e 'usdt:__EXE__:one { printf("1\n"); } usdt:__EXE__:two { printf("2\n"); }' 2>&1)
is "$? $(grep -oE 'PID [0-9]+\) has no probe [a-z]+' <<<"$out" | LC_ALL=C sort | paste -sd,)" \
	"1 $(printf '%s\n' "PID ${pid[one]}) has no probe two" "PID ${pid[two]}) has no probe one" "PID ${pid[without]}) has no probe one" \
		"PID ${pid[without]}) has no probe two" | LC_ALL=C sort | paste -sd,)" "a script that no program has all probes of: an error for each, with its PID"

# What cannot be traced at all does not keep others from it.
printf 'void _start(void) { for (;;) __asm__ volatile("int $0x80" : : "a"(29)); }\n' >"$tmp/pause.c"
mkdir "$tmp/narrow"
if [ "$(uname -m)" = x86_64 ] && gcc -m32 -O1 -fno-pie -nostdlib -static -o "$tmp/narrow/$name" "$tmp/pause.c" 2>"$tmp/gcc" &&
	{ "$tmp/narrow/$name" & pid[narrow]=$!; own $!; wait_for eval 'is_named $! || ! kill -0 $!'; kill -0 $!; } 2>/dev/null; then
	out=$("$live_sh" -T 0.1 -t one "$name" 2>&1)
	is "$? $(grep -c "^btgen: warning: process ${pid[narrow]} is not traced: $tmp/narrow/$name (uid 0) cannot be traced: .* is a 32-bit program" <<<"$out")" "0 1" \
		"a 32-bit program of the name: the others are traced, and why it is not is said"
	kill "${pid[narrow]}"
	unset 'pid[narrow]'
else
	skip "a 32-bit program of the name" "none can be built or run here"
fi

# Programs of other names that were started by a link of this one.
for folder in one two without; do
	kill "${pid[$folder]}"
	wait "${pid[$folder]}" 2>/dev/null
	mkdir "$tmp/link-$folder"
	cp "$tmp/$folder/$name" "$tmp/link-$folder/real-$folder"
	ln -s "real-$folder" "$tmp/link-$folder/$name"
	unset "pid[$folder]" "fd[$folder]" "seen[$folder]"
	begin "link-$folder" "$tmp/link-$folder/$name"
done
ok "-t of programs of several names that were started by one link" traced -t hit "$name"
is "$(cat "$tmp/events")" "$(logged hit link-one link-two)" "... those with the probe are traced, each apart"
is "$(grep -oE '^==> [^ ]*' "$tmp/trace" | sort -u | paste -sd' ') $(grep -c "process ${pid[link-without]} is not traced: " "$tmp/messages")" \
	"==> real-one ==> real-two 1" "... by their own names, and the one without it is named"
done_testing
