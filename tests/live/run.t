#!/usr/bin/env bash
# bpftrace.sh from the user's side: where output goes, how a run ends, and targets whose files are hard to name.
. "$(dirname "$0")/../lib.sh"
. "$top/tests/live.sh"

cat >"$tmp/hit.c" <<'E2'
#include <btgen/usdt.h>
#include <stdio.h>
#include <unistd.h>
static unsigned long hits;
__attribute__((noinline)) void work(unsigned long n) { hits += n; __asm__ volatile(""); }
int main(int argc, char **argv)
{
	char c;
	(void)argv;
	if (argc > 1) {	/* runs by itself: two hits, then the end */
		work(1);
		USDT_PROBE(test, hit, 1);
		USDT_PROBE(test, hit, 2);
		return 3;
	}
	while (read(0, &c, 1) == 1) {
		work(hits);
		USDT_PROBE(test, hit, c);
		if (c == 'z' && write(1, "done\n", 5) != 5)
			return 1;
	}
	return 0;
}
E2
gcc -O2 -g -I"$top/include" -o "$tmp/hit" "$tmp/hit.c" || exit 1
probe='usdt:__EXE__:hit { printf("hit %d\n", arg0); }'

# hits PROGRAM CLAIM: one hit of a running program is traced once; $before COMMAND runs between start and trace
hits() {
	live_start "$1"
	[ -z "${before-}" ] || eval "$before"
	live_trace "$live_pid" -e "$probe"
	printf A >&8
	exec 8>&-
	live_wait
	is "$(grep . "$tmp/trace")" "hit 65" "$2: the hit is traced, once"
	is "$live_rc" 0 "$2: status 0 when the target ends"
	like "$(cat "$tmp/messages")" "has exited" "$2: and a line says that it ended"
}

hits "$tmp/hit" "a plain program"
for name in 'a b' "it's" 'say "x"' 'c:d' 'br[a]ck{e}t' 'd$HOME' 'back\slash' 'st*r,comma' "new
line" $'b\xffad' 'hash#%s'; do
	mkdir -p "$tmp/$name"
	cp "$tmp/hit" "$tmp/$name/prog"
	hits "$tmp/$name/prog" "a path with $(printf '%q' "$name")"
done
cp "$tmp/hit" "$tmp/gone"
before='rm "$tmp/gone"' hits "$tmp/gone" "an executable that was deleted"
cp "$tmp/hit" "$tmp/gone"
before='rm "$tmp/gone"; cp /bin/true "$tmp/gone"' hits "$tmp/gone" "an executable that was replaced"

# A probe in a library, which is deleted while it is mapped.
cat >"$tmp/lib.c" <<'E2'
#include <btgen/usdt.h>
void lib_hit(int c);
void lib_hit(int c) { USDT_PROBE(test, hit, c); }
E2
cat >"$tmp/user.c" <<'E2'
#include <unistd.h>
void lib_hit(int c);
int main(void) { char c; while (read(0, &c, 1) == 1) lib_hit(c); return 0; }
E2
gcc -O2 -fPIC -shared -I"$top/include" -o "$tmp/libhit.so" "$tmp/lib.c"
gcc -O2 -o "$tmp/user" "$tmp/user.c" -L"$tmp" -lhit -Wl,-rpath,"$tmp"
hits "$tmp/user" "a probe in a shared library"
before='rm "$tmp/libhit.so"' hits "$tmp/user" "a library that was deleted"

# Another mount namespace, and a chroot in ours.
if unshare -m true 2>/dev/null; then
	mkdir "$tmp/private"
	cat >"$tmp/ns" <<'E2'
#!/bin/sh
mount -t tmpfs none "$1" && cp "$2" "$1/prog" && exec "$1/prog"
E2
	chmod +x "$tmp/ns"
	live_start /usr/bin/env unshare -m "$tmp/ns" "$tmp/private" "$tmp/hit"
	wait_for sh -c "readlink /proc/$live_pid/exe | grep -q private/prog"
	live_trace "$live_pid" -e "$probe"
	printf A >&8
	exec 8>&-
	live_wait
	is "$(grep . "$tmp/trace")" "hit 65" "a program in another mount namespace: the hit is traced, once"
else
	skip "a program in another mount namespace" "unshare -m is not permitted"
fi
gcc -O2 -g -static -I"$top/include" -o "$tmp/static" "$tmp/hit.c"
mkdir -p "$tmp/jail/bin"
cp "$tmp/static" "$tmp/jail/bin/prog"
live_start /usr/sbin/chroot "$tmp/jail" /bin/prog
wait_for sh -c "readlink /proc/$live_pid/exe | grep -q jail"
live_trace "$live_pid" -e "$probe"
printf A >&8
exec 8>&-
live_wait
is "$(grep . "$tmp/trace")" "hit 65" "a static program in a chroot: the hit is traced, once"

# Another process of the same file is not traced.
mkfifo "$tmp/other-in"
"$tmp/hit" <"$tmp/other-in" &
other=$!
own $other
exec 7>"$tmp/other-in"
live_start "$tmp/hit" 7>&-
live_trace "$live_pid" -e "$probe
uprobe:__EXE__:work { printf(\"work %d\\n\", pid); }" 7>&-
printf B >&7
exec 7>&-
wait $other # it has done its work
printf A >&8
exec 8>&-
live_wait
is "$(grep . "$tmp/trace" | sort)" "hit 65
work $live_pid" "another process of the same program is not traced, by usdt or uprobe"

# -c: from the first instruction.
out=$("$live_sh" -q -c "'$tmp/hit' self" -e "$probe
uprobe:__EXE__:work { printf(\"work %d\\n\", arg0); }" 2>"$tmp/messages")
is "$(grep . <<<"$out")" "work 1
hit 1
hit 2" "-c: everything is traced from the start, in order"
bare_start "$bpftrace" -e "uprobe:$tmp/hit:_start { }"
out=$(guard "$live_sh" -c "'$tmp/hit' self" -e "uprobe:__EXE__:work { printf(\"work %d\\n\", arg0); }" 2>"$tmp/messages")
is "$(grep . <<<"$out")" "work 1" "-c of a program whose entry point another trace probes"
like "$(cat "$tmp/messages")" "warning: -c: another trace has a probe at the entry point of .*: its libraries are not loaded yet" "... it says what it cannot trace"
bare_end
out=$("$live_sh" -c "$tmp/nosuch" -e "$probe" 2>&1)
is $? 1 "-c with a program that is not there: status 1"
like "$out" "nosuch cannot be run: No such file" "and the message says so"
like "$("$live_sh" -c "a | b" -e "$probe" 2>&1)" "need a shell" "-c with a pipe: the message names the way"
like "$("$live_sh" -c "'a" -e "$probe" 2>&1)" "unterminated quote" "-c with an open quote: the message says so"
out=$(guard "$live_sh" -c 'sleep 0.3' -e '#pragma scope host
interval:ms:50 { printf("tick\n"); }' 2>"$tmp/messages")
is "$? $(grep -c tick <<<"$out" | grep -c '[^0]')" "0 1" "-c with a script for the whole host: the trace ends with the command"
like "$(cat "$tmp/messages")" "process [0-9]+ \(sleep\) has exited" "and a line says so"

# Several scripts in one run: their BEGINs and ENDs are all run, variables apart.
cat >"$tmp/a.bt" <<'E2'
BEGIN { $x = 1; printf("begin a %d\n", $x); }
usdt:__EXE__:hit { @a = count(); }
END { printf("end a\n"); }
E2
cat >"$tmp/b.bt" <<'E2'
BEGIN /1 == 1/ { $x = "text"; printf("begin b %s\n", $x); }
usdt:__EXE__:hit { @b = count(); exit(); }
END { printf("end b\n"); }
E2
live_start "$tmp/hit"
live_trace "$live_pid" "$tmp/a.bt" "$tmp/b.bt"
printf A >&8
live_wait
is "$live_rc" 0 "two scripts in one run: exit() gives status 0"
is "$(grep . "$tmp/trace" | sort | paste -sd,)" "@a: 1,@b: 1,begin a 1,begin b text,end a,end b" \
	"and both have run, BEGIN and END too"
exec 8>&-

# ^C prints the maps; the status is bpftrace's.
live_start "$tmp/hit"
live_trace "$live_pid" -e 'usdt:__EXE__:hit { @hits[arg0] = count(); printf("hit\n"); }'
printf AAB >&8
hits_printed() { [ "$(grep -c hit$ "$tmp/trace")" = "$1" ]; }
wait_for hits_printed 3
live_wait INT
is "$live_rc" 0 "^C: status 0"
is "$(grep . "$tmp/trace" | paste -sd,)" "hit,hit,hit,@hits[66]: 1,@hits[65]: 2" "and the maps are printed"
unlike "$(cat "$tmp/messages")" "ERROR|error" "without complaints"
# bpftrace forgets what it is reading when a signal comes, which is hundreds of events here.
live_trace "$live_pid" -e 'usdt:__EXE__:hit { printf("%d %s\n", arg0, ustack()); }'
printf "$(printf 'A%.0s' {1..500})z" >&8
while [ ! -s "$tmp/answers" ] && kill -0 "$live_pid"; do :; done
live_wait INT
is "$(grep -cE '^(65|122) ' "$tmp/trace")" 501 "^C while bpftrace is busy: what happened before it is printed"
# 400 KiB come while bpftrace does not run: more than it takes by itself, which 0.17 would not say.
live_trace "$live_pid" -e 'usdt:__EXE__:hit { printf("%d %s %s %s %s %s %s %s %s %s %s\n", arg0, comm, comm, comm, comm, comm, comm, comm, comm, comm, comm); }'
read -r busy _ <"/proc/$live_tracer/task/$live_tracer/children"
kill -STOP "$busy"
: >"$tmp/answers"
printf "$(printf 'A%.0s' {1..2000})z" >&8
wait_for grep -q "done" "$tmp/answers"
kill -CONT "$busy"
live_wait INT
is "$(grep -cE '^(65|122) hit hit' "$tmp/trace")" 2001 "2000 events while bpftrace does not run are printed"
# What bpftrace prints for maps without anything in them is not for a reader.
script='usdt:__EXE__:hit { printf("hit\n\nit was\n"); if (arg0 == 66) { @used[1] = 1; } if (arg0 == 67) { @a = hist(1); @b[1] = 1; @v[1] = 1; @w[1] = 1; @x = lhist(1, 0, 9, 1); } }'
live_trace "$live_pid" -e "$script"
printf A >&8
wait_for hits_printed 1
live_wait INT
is "$(cat -A "$tmp/trace")" $'hit$\n$\nit was$' "six empty maps: what the script has printed, its empty line too, and no other"
unlike "$(cat "$tmp/messages")" "no events" "and nothing is said about that"
live_trace "$live_pid" -e "$script"
printf B >&8
wait_for hits_printed 1
live_wait INT
is "$(cat -A "$tmp/trace")" $'hit$\n$\nit was$\n$\n$\n@used[1]: 1$' \
	"one map of six is not empty: it comes behind the two lines that set maps apart"
live_trace "$live_pid" -e "$script"
live_wait INT
is "$(cat -A "$tmp/trace")" "" "no events: the file is empty"
like "$(cat "$tmp/messages")" "^btgen: no events" "and a line says why"
live_trace "$live_pid" -t hit
live_wait INT
is "$(cat -A "$tmp/trace")$(grep -c '^btgen: no events' "$tmp/messages")" "1" "so with -t"
live_trace "$live_pid" -q -e "$script"
live_wait INT
is "$(cat "$tmp/messages")" "" "-q does not say it"
live_trace "$live_pid" -e 'usdt:__EXE__:hit { @hits = count(); }'
live_wait TERM
is "$live_rc" 0 "SIGTERM does the same"
live_trace "$live_pid" -e 'usdt:__EXE__:hit { exit(); }' -q
is "$(cat "$tmp/messages")" "" "-q: no messages"
printf A >&8
live_wait
out=$("$live_sh" -q "$live_pid" -e 'BEGIN { printf("%d %s\n", $1, str($2)); exit(); }' -- 42 -dash 2>&1)
is "$(grep . <<<"$out")" "42 -dash" "arguments after -- are the script's"
cat >"$tmp/args.bt" <<'E2'
BEGIN { printf("%d %s\n", $1, str($2)); exit(); }
E2
out=$("$btgen" run -q "$tmp/args.bt" -- 42 -dash 2>&1)
is "$(grep . <<<"$out")" "42 -dash" "those of btgen run, too"

# The killed wrapper takes bpftrace along.
live_trace "$live_pid" -e 'usdt:__EXE__:hit { }'
read -r bt _ <"/proc/$live_tracer/task/$live_tracer/children"
live_wait KILL 2>/dev/null
ok "when bpftrace.sh is killed, bpftrace ends too" wait_for test ! -d "/proc/${bt:-none}"

# A reader that goes away ends the run.
("$live_sh" -q "$live_pid" -e 'interval:ms:20 { printf("tick\n"); }' 2>&1 || echo "status $?" >"$tmp/status") | head -n 1 >"$tmp/first"
is "$(cat "$tmp/first")" tick "a reader that goes away has its line"

# The environment that SPDK's users know.
# Nobody says when it is attached: hits until it ends with the first one.
BPF_OUTFILE=$tmp/spdk-out ECHO_PROGRAM=1 "$live_sh" "$live_pid" "$tmp/b.bt" <<<"" >"$tmp/echo" 2>/dev/null &
own $!
while kill -0 $! 2>/dev/null; do
	printf A >&8
	sleep 0.1
done
wait $!
out=$(cat "$tmp/echo")
like "$out" "^usdt:.*:test:hit /@gate_[0-9a-f]+ != 1/ \{ @b = count" "ECHO_PROGRAM prints the program"
like "$(cat "$tmp/spdk-out")" "begin b text" "and BPF_OUTFILE has the data"
out=$(USE_CMDLINE_BPF_PROGRAM=1 "$live_sh" "$live_pid" 'BEGIN { printf("raw\n"); exit(); }' 2>/dev/null)
is "$(grep . <<<"$out")" raw "USE_CMDLINE_BPF_PROGRAM runs its text as it is"

# A debuginfod that accepts and never answers
if ldconfig -p | grep -q libdebuginfod; then
	python3 -c 'import socket
s = socket.create_server(("127.0.0.1", 0))
print(s.getsockname()[1], flush=True)
kept = []
while True:
    kept.append(s.accept())' >"$tmp/silent" &
	own $!
	wait_for test -s "$tmp/silent"
	strip -o "$tmp/stripped" "$tmp/hit"
	mkfifo "$tmp/stripped.in"
	"$tmp/stripped" <"$tmp/stripped.in" >/dev/null &
	stripped=$!
	own $stripped
	exec 9>"$tmp/stripped.in"
	out=$(DEBUGINFOD_CACHE_PATH=$tmp/cache DEBUGINFOD_TIMEOUT=1200 DEBUGINFOD_URLS=http://127.0.0.1:$(cat "$tmp/silent") guard "$live_sh" -T 4 $stripped -t hit 2>&1)
	is "$? $(grep -c "waiting for the debug information of stripped from http://127.0.0.1:$(cat "$tmp/silent")$" <<<"$out")" "0 1" \
		"a debuginfod that does not answer is named, and -T counts"
	exec 9>&-
else
	skip "a debuginfod that does not answer" "libdebuginfod is not installed"
fi
exec 8>&-

# What bpftrace itself refuses is told at the template's line, and an old output file survives.
cat >"$tmp/bad.bt" <<'E2'
#include "inner.bt"
#define PRINT(x) printf("%d\n", x)
BEGIN { PRINT($undefined); }
E2
printf 'struct s { int a; };\n\n/* a comment */ struct t { int b; };\n' >"$tmp/inner.bt"
echo old >"$tmp/old"
out=$("$live_sh" -o "$tmp/old" $$ "$tmp/bad.bt" 2>&1)
isnt=$?
ok "a program that bpftrace refuses: status not 0" test $isnt != 0
like "$out" "bad.bt:3:[0-9]+: error: .*undefined" "its error names the template's line"
is "$(cat "$tmp/old")" old "and the output file is as it was"
done_testing
