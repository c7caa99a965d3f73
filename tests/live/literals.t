#!/usr/bin/env bash
# String literals that the program itself has never read. BPF reads only pages that are mapped in, and an address in an argument
# maps nothing: bpftrace alone prints an empty string.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"
can_trace || skip_all "needs root and bpftrace"

# Each on a page of its own, away from all that the program reads: the kernel maps 64 kB around what is read.
cat >"$tmp/app.c" <<'E'
#include <stdio.h>
#include <sys/mman.h>
#include <sys/sdt.h>
#define FAR (1 << 18)
struct job { long id; const char *name; };
static const char text[4 * FAR] = {[FAR] = 'f', 'o', 'o', [3 * FAR] = 'j', 'o', 'b'};
static const struct job jobs[3 * FAR / sizeof(struct job)] = {[FAR / sizeof(struct job)] = {7, text + 3 * FAR}};
int main(void)
{
	printf("%p\n", mmap(NULL, FAR, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	fflush(stdout);
	while (getchar() == '\n') {
		const char *name = text + FAR;
		const struct job *job = jobs + FAR / sizeof(struct job);
		DTRACE_PROBE2(app, fire, name, job);
	}
}
E
"${CC:-gcc}" -O1 -g -no-pie -o "$tmp/app" "$tmp/app.c" || exit 1
cc -O1 -g -fPIE -pie -o "$tmp/pie" "$tmp/app.c" || exit 1
script='usdt:__EXE__:app:fire { printf("<%s> <%s>\n", str(arg0), str(((struct job *)arg1)->name)); }'

# begin NAME PROGRAM: one more process, which fires at each line of $tmp/NAME; its PID in $begun
begin() {
	mkfifo "$tmp/$1"
	"$tmp/$2" <"$tmp/$1" >"$tmp/$1-said" &
	begun=$!
	own $begun
	eval "exec $3>\"$tmp/$1\""
	wait_for test -s "$tmp/$1-said"
}
resident_of() { # ADDRESS PID: kB of the mapping that begins there
	awk -v at="^${1#0x}-" '$0 ~ at { on = 1 } on && /^Rss:/ { print $2; exit }' "/proc/$2/smaps"
}

begin alone app 3
bare_start "$bpftrace" -p $begun -e "usdt:$tmp/app:app:fire { printf(\"<%s>\\n\", str(arg0)); }"
echo >&3
exec 3>&-
bare_end
is "$(grep "^<" "$tmp/bare" | sort -u)" "<>" "bpftrace alone reads nothing there"

for program in app pie; do
	begin "one-$program" $program 3
	ok "$program: it attaches" live_trace -v -N 1 -p $begun -e "$script"
	echo >&3
	live_wait
	is "$(cat "$tmp/trace")" "<foo> <job>" "$program: a script reads literals, and those that a table of them leads to, from the first event on"
	like "$(cat "$tmp/messages")" 'read-only data mapped for the trace: [0-9]+ kB of 1 process' "$program: -v says how much was mapped for that"
	is "$(resident_of "$(cat "$tmp/one-$program-said")" $begun)" 0 "$program: memory of no file is not touched"
	exec 3>&-
done
ok "-c goes well" sh -c "yes '' | head -3 | '$live_sh' -q -N 2 -c '$tmp/app' -e '$script' >'$tmp/out'"
is "$(grep '^<' "$tmp/out")" "<foo> <job>
<foo> <job>" "of a command, too: the first event"

begin first pie 3
first=$begun
begin second pie 4
second=$begun
ok "-x of a script attaches" live_trace -N 2 -x "$tmp/pie" -e "$script"
echo >&3
echo >&4
live_wait
is "$(cat "$tmp/trace")" "<foo> <job>
<foo> <job>" "-x: a script reads those of each process that runs"

ok "-x of -t attaches" live_trace -N 3 -x "$tmp/pie" -t app:fire
begin third pie 5
for fd in 3 4 5; do echo >&$fd; done
live_wait
is "$(grep -c 'name="foo"' "$tmp/trace")" 3 "-x -t: of a process that started later the file of that process has it" || cat "$tmp/trace"
exec 5>&-

ok "-x of -t -f json attaches" live_trace -N 1 -f json -x "$tmp/pie" -t app:fire
begin fourth pie 5
echo >&5
live_wait
is "$(grep -o '"name": "[^"]*"' "$tmp/trace" | sed 's/.*: //')" '"foo"' "-x -t -f json: as well"

# The trace looks at it when it has ended.
ok "-x of -t attaches once more" live_trace -N 1 -x "$tmp/pie" -t app:fire
begin gone pie 6
# all of btgen: with -x what reads the records is a child of the process that watches the file
mine=$live_tracer
for child in $(pgrep -P "$live_tracer"); do
	mine+=" $child $(pgrep -P "$child" -x btgen)"
done
kill -STOP $mine
echo >&6
exec 6>&-
wait $begun
kill -CONT $mine
live_wait
like "$(cat "$tmp/trace")" ' name=\?' "-x -t: of a process that cannot be looked at any more it is not known"

ok "two processes of -p attach" live_trace -N 2 -p "$first,$second" -e "$script"
echo >&3
echo >&4
live_wait
is "$(cat "$tmp/trace")" "<foo> <job>
<foo> <job>" "two processes: a script reads those of both"

# A process that is known from its first record on.
ok "-x with records of processes attaches" live_trace -N 2 -s -x "$tmp/pie" -e "$script"
begin fifth pie 6
echo >&6
sleep 1
echo >&6
live_wait
like "$(tail -n 1 "$tmp/trace")" '<foo> <job>' "-s: a process that started later is read from its first record on"
done_testing
