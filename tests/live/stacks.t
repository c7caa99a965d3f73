#!/usr/bin/env bash
# User stacks at the first instruction of functions, as gdb shows them: the frame pointer is the caller's there.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"

command -v gdb >"$tmp/which" || skip_all "no gdb"
[ "$(uname -m)" = x86_64 ] || skip_all "functions in assembly for x86-64"

# Kernels add the caller where a function begins with push %rbp, some also at endbr64, and nowhere else. down() calls itself from
# one place: its callers look alike. inside() has a frame before its probe.
# ends() ends with a call that never returns.
cat >"$tmp/app.c" <<'END'
#include <btgen/usdt.h>
#include <stdio.h>
#include <stdlib.h>
volatile int sum;
void *volatile kept;
#define ASM __attribute__((naked, noinline, noclone))
#define OUT __attribute__((noinline, noclone))
ASM void bare(void) { __asm__("xor %eax, %eax; ret"); }
ASM void pushes(void) { __asm__("push %rbp; mov %rsp, %rbp; pop %rbp; ret"); }
ASM void branches(void) { __asm__("endbr64; xor %eax, %eax; ret"); }
OUT __attribute__((optimize("O0"))) void inside(void) { USDT_PROBE(app, inside, sum); }
OUT void down(int n) { if (n) down(n - 1); sum++; }
OUT void load(void) { kept = malloc(9); sum++; }
OUT void first(void) { bare(); pushes(); branches(); inside(); sum++; }
OUT void second(void) { first(); sum++; }
OUT void handle(void) { load(); down(2); sum++; }
__attribute__((noipa, noreturn)) void leaves(void)
{
	puts("done");
	fflush(stdout);
	getchar();
	_Exit(0);
}
__attribute__((noipa)) void ends(void) { leaves(); }
int main(void)
{
	puts("waiting");
	fflush(stdout);
	getchar();
	second();
	handle();
	second();
	ends();
	return 0;
}
END
gcc -O1 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls -fcf-protection=branch -I"$top/include" -o "$tmp/app" "$tmp/app.c" || exit 1

# Lines of "FUNCTION FRAME;FRAME;..." up to main: each time that a function, or a probe, is reached.
functions='bare pushes branches down leaves malloc'
cat >"$tmp/frames.py" <<'END'
import gdb
def where(pc, is_caller):
    place = gdb.execute(f"info symbol {pc - is_caller:#x}", to_string=True).split(" in section")[0]
    name, offset = place.partition(" + ")[::2]
    return f"{name}+{int(offset or 0) + is_caller}"
gdb.execute("break main")
gdb.execute("run")
for name in "@FUNCTIONS@".split():
    gdb.execute(f"break *{name}")
gdb.execute("break -probe-stap app:inside")
gdb.execute("delete 1")
with open("@OUT@", "w") as out:
    while True:
        gdb.execute("continue")
        if not gdb.selected_inferior().pid:
            break
        frames, frame = [], gdb.newest_frame()
        while frame and (not frames or not frames[-1].startswith("main+")):
            frames.append(where(frame.pc(), bool(frames)))
            frame = frame.older()
        print(";".join(frames), file=out)
END
sed -i "s|@FUNCTIONS@|$functions|; s|@OUT@|$tmp/gdb|" "$tmp/frames.py"
printf '\n\n' | timeout 60 gdb -nx -q -batch -x "$tmp/frames.py" "$tmp/app" >"$tmp/gdb.log" 2>&1
# bpftrace and gdb choose among the names of malloc().
same() { sed -E 's/[a-zA-Z_]*malloc\+0/malloc+0/g; /^malloc\+0;[^l]/d'; }
same <"$tmp/gdb" >"$tmp/expected"
is "$(wc -l <"$tmp/expected")" 13 "gdb shows two stacks of each function of first(), one of malloc() and leaves(), three of down()" ||
	sed 's/^/# /' "$tmp/gdb.log"

# traced ARG...: bpftrace.sh with these arguments and the program's PID, or with -x, until the program has done its work
traced() {
	local target=()
	live_start "$tmp/app"
	[ "$1" = -x ] || target=("$live_pid")
	live_trace "${target[@]}" "$@" && echo >&8 && wait_for grep -q 'done' "$tmp/answers"
	live_wait INT
	exec 8>&-
	wait_end "$live_pid"
	return "$live_rc"
}
events=(-t app:inside)
for name in $functions; do events+=(-t "uprobe:$name"); done
# Frames up to main, of the records in JSON
stacks() {
	jq -r '.fields // empty | .[] | arrays | .[:1 + (map(startswith("main+")) | index(true) // length)] | join(";")' "$tmp/trace" | same
}
ok "events with their stacks" traced --stack -f json "${events[@]}"
is "$(stacks)" "$(cat "$tmp/expected")" "each begins with its function and the caller, once"
ok "... of all processes of the file" traced -x "$tmp/app" --stack -f json "${events[@]:0:${#events[@]}-2}"
is "$(stacks)" "$(grep -v ^malloc "$tmp/expected")" "... they are the same"

sites='usdt:__EXE__:app:inside'
for name in $functions; do sites+=", uprobe:__EXE__:$name"; done
ok "a script with ustack(3)" traced -f json -e "$sites { printf(\"%s\", ustack(3)); }"
is "$(stacks)" "$(cut -d';' -f1-3 "$tmp/expected")" "... as many frames, the caller among them"
ok "... and with ustack(1)" traced -f json -e "$sites { printf(\"%s\", ustack(1)); }"
is "$(stacks)" "$(cut -d';' -f1 "$tmp/expected")" "... only the function"

# The outermost function first, without offsets
fold() { sed -E 's/\+[0-9]+//g' | awk -F';' '{ line = $NF; for (i = NF - 1; i; i--) line = line ";" $i; print line }' | sort | uniq -c | awk '{ print $2, $1 }' | sort; }
folded() { sed -E 's/^.*(^|;)main;/main;/; s/[a-zA-Z_]*malloc ([0-9]+)$/malloc \1/; /[^d];malloc /d' "$tmp/trace" | sort; }
ok "-f folded of events" traced --stack -f folded "${events[@]}"
is "$(folded)" "$(fold <"$tmp/expected")" "... draws each function below its caller"

# Keys: inside() has no return address at its stack pointer, but sum, which changes. As text each stack has its lines.
keys="{ @[ustack] = count(); @by[tid, ustack(2)] = sum(1); } uretprobe:__EXE__:second { @[ustack] = count(); @other[ustack] = count(); }"
counted() { sort "$1" | uniq -c | sed -E 's/^ *([0-9]+) (.*)/\2 \1/' | sort; }
keyed() {
	jq -r --arg map "$1" 'select(.map == $map) | .entries[] | .value as $n | .key[] | arrays |
		.[:1 + (map(startswith("main+")) | index(true) // length)] | "\(join(";")) \($n)"' "$tmp/trace" | same | sort
}
ok "maps with stacks in their keys" traced -f json -e "${sites#*, } $keys usdt:__EXE__:app:inside $keys"
is "$(keyed @ | grep -v '^main')" "$(counted "$tmp/expected")" "... the caller is in them, and each stack is one key"
is "$(keyed @by | wc -l) $(keyed @by | cut -d';' -f1,2 | uniq | wc -l)" \
	"$(cut -d';' -f1-3 "$tmp/expected" | sort -u | wc -l) $(cut -d';' -f1,2 "$tmp/expected" | sort -u | wc -l)" \
	"... beside another value: each frame that makes another key is shown"
ok "... as text" traced -e "${sites#*, } { @[ustack] = count(); }"
awk '/^@\[/ { line = "" } /^ / { line = line (line ? ";" : "") $1 } /^\]: / { print line, $2 }' "$tmp/trace" |
	sed 's/main\(+[0-9]*\);.* /main\1 /' | same | sort >"$tmp/text"
is "$(cat "$tmp/text")" "$(grep -v ^inside "$tmp/expected" | counted /dev/stdin)" "... they are the same"
ok "-f folded of a map" traced -f folded -e "${sites#*, } { @[ustack] = count(); }"
is "$(folded)" "$(grep -v ^inside "$tmp/expected" | fold)" "... draws each function below its caller"

ok "frames as perf has them" traced -e 'uprobe:__EXE__:bare { printf("%s", ustack(perf, 1)); @[ustack(perf, 1)] = count(); }'
is "$(grep -c $'^\t[0-9a-f]* bare+0 (' "$tmp/trace")" 3 "... begin with a tab, in a map, too"

# bpftrace prints maps when the program has ended, and has no names then.
ended() { printf '\n\n' | timeout 60 "$live_sh" --bpftrace "$bpftrace" -q -o "$tmp/trace" -c "$tmp/app" "$@" -e "${sites#*, } { @[ustack] = count(); }" >"$tmp/answers"; }
ok "a map of a program that has ended" ended -f json
is "$(keyed @)" "$(grep -v ^inside "$tmp/expected" | counted /dev/stdin)" "... has the same names"
ok "... as text" ended
awk '/^@\[/ { line = "" } /^ / { line = line (line ? ";" : "") $1 } /^\]: / { print line, $2 }' "$tmp/trace" |
	sed 's/main\(+[0-9]*\);.* /main\1 /' | same | sort >"$tmp/text"
is "$(cat "$tmp/text")" "$(grep -v ^inside "$tmp/expected" | counted /dev/stdin)" "... too"
ok "-f folded" ended -f folded
is "$(folded)" "$(grep -v ^inside "$tmp/expected" | fold)" "... draws each function below its caller"

done_testing
