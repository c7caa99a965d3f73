#!/usr/bin/env bash
# Programs that start others: --children, and the program that a command of -c starts.
# shellcheck source=tests/lib.sh
[ -e /sys/kernel/tracing/available_events ] || [ -n "${BTGEN_IN_TRACEFS-}" ] ||
	exec "$(dirname "$0")/../matrix/tracefs.sh" "$0" "$@"
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"
# shellcheck source=tests/postgresql.sh
. "$(dirname "$0")/../postgresql.sh"
[ -e /sys/kernel/tracing/events/sched ] || [ -e /sys/kernel/debug/tracing/events/sched ] || skip_all "tracefs is not mounted"

# For each byte a child with a child with a child whose parent has gone, and a thread; each says its PID and fires.
cat >"$tmp/fam.c" <<'END'
#include <btgen/usdt.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
static void fire(int i)
{
	dprintf(1, "%d %d\n", getpid(), i);
	USDT_PROBE(fam, hit, i);
}
static void *thread(void *p)
{
	fire(5);
	return p;
}
int main(void)
{
	char c;
	while (read(0, &c, 1) == 1) {
		fire(0);
		if (fork() == 0) {
			fire(1);
			if (fork() == 0) {
				pid_t parent = getpid();
				fire(2);
				if (fork() == 0) {
					while (getppid() == parent)
						usleep(1000);
					fire(3);
					if (fork() == 0) {
						fire(4);
						_exit(0);
					}
					wait(NULL);
					dprintf(1, "done\n");
				}
				_exit(0);
			}
			wait(NULL);
			_exit(0);
		}
		wait(NULL);
		pthread_t t;
		pthread_create(&t, NULL, thread, NULL);
		pthread_join(t, NULL);
	}
	return 0;
}
END
gcc -O1 -g -I"$top/include" -o "$tmp/fam" "$tmp/fam.c" -lpthread || exit 1
script='usdt:__EXE__:hit { printf("%d %d\n", pid, arg0); @n[comm] = count(); }'

mkfifo "$tmp/other-in"
"$tmp/fam" <"$tmp/other-in" >"$tmp/other-answers" &
own $!
exec 9>"$tmp/other-in"
live_start "$tmp/fam"
ok "--children" live_trace --children "$live_pid" -e "$script"
is "$(cat "$tmp/messages")" "btgen: attached to fam (PID $live_pid), and those it forks" "it says so"
printf x >&9
wait_for grep -q 'done' "$tmp/other-answers"
printf xx >&8
wait_for eval '[ "$(grep -c done "$tmp/answers")" = 2 ]'
live_wait INT
is "$live_rc $(grep '^[0-9]' "$tmp/trace" | sort)" "0 $(grep '^[0-9]' "$tmp/answers" | sort)" \
	"it, its children, theirs, those whose parents have gone, threads: all, once each, and none of another process"
is "$(grep '^@' "$tmp/trace")" "@n[fam]: 12" "of maps the script's alone are printed"
like "$("$live_sh" -n --children "$live_pid" -e 'usdt:__EXE__:hit /pid == __PID__/ { exit(); }' 2>&1)" \
	'^btgen: error: --children: the script refers to one process, __PID__, and would miss its children$' \
	"a script that names its process: an error"
like "$("$live_sh" --children -x "$tmp/fam" -t hit 2>&1)" '^bpftrace.sh: --children needs a process: -x traces all processes anyway$' \
	"-x has all of them anyhow"
exec 9>&-
exec 8>&-
wait_end "$live_pid"

# A server that is a child of the program: the trace is empty, and the reason is not the server.
cat >"$tmp/server.c" <<'END'
#include <btgen/usdt.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	usleep(500000); // what is printed until then is 0
	if (argc > 1 || fork() == 0) {
		sleep(4); // btgen looks for it once a second
		USDT_PROBE(server, request, argc > 1 && *argv[1] == 'x');
		return 0;
	}
	wait(NULL);
}
END
gcc -O1 -g -I"$top/include" -o "$tmp/server" "$tmp/server.c" || exit 1
empty() { guard "$live_sh" -q "$@" 2>&1 | sed 's/process [0-9]*/process N/'; }
advice='process N has forked, and its child is not traced: use --children'
is "$(empty -c "$tmp/server" -t 'server:*')" "btgen: warning: no events: $advice" "-c of a program whose child has the events: also with -q it says so"
is "$(empty -c "$tmp/server" -e 'usdt:__EXE__:request { @a = count(); } interval:ms:20 { print(@a); }' | grep warning)" "btgen: warning: $advice" "... of a counter that is 0 as well, also before there was a child"
is "$(empty -c "$tmp/server" -e 'usdt:__EXE__:request /pid == __PID__/ { print(1); }')" "btgen: warning: no events: ${advice/use*/give the child\'s PID}" \
	"... not where --children is refused"
is "$(empty --children -c "$tmp/server" -t 'server:*' | grep -c request)" 1 "... and with --children the event is there"
is "$(empty -c "$tmp/server x" -e 'usdt:__EXE__:request /arg0 == 7/ { print(1); }')" "" "one that has not forked gets no such advice"

# -c: what a shell, timeout and the like start is meant.
cat >"$tmp/one.c" <<'END'
#include <btgen/usdt.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	USDT_PROBE(one, hit, argc);
	printf("ran %s\n", argc > 1 ? argv[1] : "");
	return 0;
}
END
gcc -O1 -g -I"$top/include" -o "$tmp/one" "$tmp/one.c" || exit 1
printf '#!/bin/sh\necho first\n"%s" "$@"\necho last\n' "$tmp/one" >"$tmp/start.sh"
chmod +x "$tmp/start.sh"
# of COMMAND: what is printed under -c COMMAND by it and by the trace
of() {
	guard "$live_sh" -q -o "$tmp/trace" -c "$1" -e 'usdt:__EXE__:hit { printf("%s hit %d\n", comm, arg0); }' >"$tmp/out" 2>"$tmp/messages"
	printf '%s: ' $?
	cat "$tmp/out" "$tmp/messages" "$tmp/trace" | grep . | paste -sd,
	rm -f "$tmp/trace"
}
is "$(of "$tmp/one a" 2>&1)" "0: ran a,one hit 2" "-c PROGRAM"
is "$(of "timeout 20 $tmp/one a")" "0: ran a,one hit 2" "-c timeout PROGRAM: not timeout itself is looked at"
is "$(of "env A=1 nice -n 1 setsid -w $tmp/one")" "0: ran ,one hit 1" "several of the kind"
is "$(of "sh -c '$tmp/one a; echo last'")" "0: ran a,last,one hit 2" "a shell's program, and the shell goes on"
is "$(of "sh -c 'ls /nonexistent; (sleep 0.1; exec $tmp/one a) & wait'" 2>&1 | sed "s/ls: [^,]*,//")" "0: ran a,one hit 2" \
	"not its first program, but the one that has the probe, in the background"
is "$(of "$tmp/start.sh a b")" "0: first,ran a,last,one hit 3" "a script's program"
# The trace may take a while to end.
is "$(of "sh -c '$tmp/one a; until grep -q ended $tmp/messages; do sleep 0.1; done; echo report'")" \
	"0: ran a,report,btgen: the trace has ended; the command is still running,one hit 2" "what a shell does behind it is done"
is "$(of "setsid -f $tmp/one a" | sed 's/ran a,//')" "0: one hit 2" "its program outlives the command"
is "$(of "bash -e -c '$tmp/one a; true'")" "0: ran a,one hit 2" "a shell with other options before -c"
# The thread ends while the program is held at its entry: a tracer has stopped the main thread after its constructor.
cat >"$tmp/early.c" <<'END'
#include <btgen/usdt.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static volatile int is_constructed;
static void *end_when_held(void *p)
{
	for (char state = 0; !is_constructed || state != 't';) {
		FILE *f = fopen("/proc/self/stat", "r");
		if (!f || fscanf(f, "%*s %*s %c", &state) != 1)
			exit(1);
		fclose(f);
	}
	return p;
}
__attribute__((constructor)) static void start(void)
{
	pthread_t t;
	pthread_create(&t, NULL, end_when_held, NULL);
	if (system("true") != 0)
		exit(1);
	is_constructed = 1;
}
END
gcc -O1 -g -fPIC -shared -I"$top/include" -o "$tmp/libearly.so" "$tmp/early.c" -lpthread &&
	gcc -O1 -g -I"$top/include" -o "$tmp/late" "$tmp/one.c" -Wl,--no-as-needed -L"$tmp" -learly -Wl,-rpath,"$tmp" || exit 1
is "$(of "$tmp/late a")" "0: ran a,late hit 2" "a library's constructor makes a thread and starts a program"
is "$(guard "$live_sh" -c "$tmp/late a" -t nosuch 2>&1)" "btgen: error: no probe matches 'nosuch'
btgen: note: functions are uprobe:NAME" "the same, and nothing to trace"
# Of a process that it starts the first thread ends, another one runs on, and the program waits for that process.
cat >"$tmp/child.c" <<'END'
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
pid_t child;
static void *run_on(void *p)
{
	usleep(700000);
	return p;
}
__attribute__((constructor)) static void start(void)
{
	pthread_t t;
	child = fork();
	if (child == 0 && pthread_create(&t, NULL, run_on, NULL) == 0)
		syscall(SYS_exit, 0);
	usleep(100000);
}
END
{
	printf '#include <sys/types.h>\n#include <sys/wait.h>\nextern pid_t child;\n'
	sed '0,/USDT_PROBE/s//waitpid(child, NULL, 0);\n\tUSDT_PROBE/' "$tmp/one.c"
} >"$tmp/waits.c"
gcc -O1 -g -fPIC -shared -o "$tmp/libchild.so" "$tmp/child.c" -lpthread &&
	gcc -O1 -g -I"$top/include" -o "$tmp/waits" "$tmp/waits.c" -Wl,--no-as-needed -L"$tmp" -lchild -Wl,-rpath,"$tmp" || exit 1
is "$(of "$tmp/waits a")" "0: ran a,waits hit 2" "a process whose first thread has ended ends for the program that waits for it"
"$live_sh" -n -c "sh -c '$tmp/one a; echo ran >$tmp/after'" -t hit >/dev/null 2>&1
ok "-n: nothing behind the program is run" test ! -e "$tmp/after"
is "$(of "sh -c 'echo nothing'" 2>/dev/null)" "1: nothing,btgen: error: -c: sh -c 'echo nothing' did not start another program" \
	"a shell that starts no other: an error"
like "$("$live_sh" -c "$tmp/one a" -t nosuch 2>&1)" "^btgen: error: no probe matches 'nosuch'$" "no such probe: it says so"
unlike "$("$live_sh" -c "$tmp/one a" -t nosuch 2>&1)" "ran a" "and the program does not run in vain"
like "$("$live_sh" -c "sh -c '$tmp/one a'" -t nosuch 2>&1)" "^btgen: error: no probe matches 'nosuch'$" "the same of a shell's"
like "$("$live_sh" -c "timeout 9 $tmp/one a" -e 'usdt:__EXE__:hit { prin' 2>&1)" "error: this \"\{\" is not closed" "a mistake in the script"
unlike "$("$live_sh" -c "timeout 9 $tmp/one a" -e 'usdt:__EXE__:hit { prin' 2>&1)" "ran a" "likewise"
# Neither has main(): btgen waits for what the shell starts next. Background jobs of bash ignore SIGINT.
env --default-signal=INT "$live_sh" -q -c "sh -c 'sleep 4077.$$; echo last'" -e 'uprobe:__EXE__:main { printf("main\n"); }' >"$tmp/out" 2>&1 &
own $!
wait_for pgrep -fx "sleep 4077.$$" >/dev/null
kill -INT $!
wait $!
ok "^C ends what the shell has started, too" wait_for eval "! pgrep -fx 'sleep 4077.$$' >/dev/null"

"$live_sh" -o "$tmp/trace" -c "sh -c '$tmp/one a; exec sleep 77.5'" -e 'usdt:__EXE__:hit { printf("hit\n"); }' >"$tmp/out" 2>"$tmp/messages" &
own $!
wait_for grep -q 'still running' "$tmp/messages"
kill -INT $!
wait $!
is "$? $(pgrep -f '^sleep 77.5$' | wc -l) $(cat "$tmp/trace")" "0 0 hit" "... and after the end of the trace, which has succeeded"
# What a shell has left to btgen is no part of the command. It would hold the output of the test open.
for command in "$tmp/one a" "sh -c '$tmp/one a; true'" "$tmp/late a"; do
	sh -c 'sleep 600 & echo $! >"$0"; exec "$@"' "$tmp/stranger" "$live_sh" -c "$command" -e 'usdt:__EXE__:nosuch { }' >"$tmp/out" 2>&1
	is "$? $(kill "$(cat "$tmp/stranger")" && echo alive)" "1 alive" "-c $(basename "$command"): an error does not wait for children that are not the command's"
done

# A server with a process for each client: those that were there before, and those that come.
postgresql_start query__start
# clients WHAT ARG...: bpftrace.sh with these arguments, 10 clients that connect before it and 10 after it; all that they send
clients() {
	local what=$1 i k
	shift
	for i in {1..10}; do
		rm -f "$tmp/in$i" "$tmp/out$i"
		mkfifo "$tmp/in$i"
		sql -f "$tmp/in$i" >"$tmp/out$i" 2>&1 &
		own $!
		eval "exec $((20 + i))>\"\$tmp/in$i\""
		eval "printf 'SELECT 1;\n' >&$((20 + i))"
		wait_for test -s "$tmp/out$i"
	done
	[ "$1" != PIDS ] || set -- $(pgrep -P $postmaster) $postmaster "${@:2}"
	ok "PostgreSQL, $what" live_trace "$@"
	for i in {1..10}; do
		for k in 1 2 3; do eval "printf 'SELECT %s;\n' \"'client $i statement $k'\" >&$((20 + i))"; done
		sql -c "SELECT 'client $((10 + i)) statement 1'" -c "SELECT 'client $((10 + i)) statement 2'" >/dev/null
	done
	for i in {1..10}; do
		wait_for grep -q 'statement 3' "$tmp/out$i"
		eval "exec $((20 + i))>&-"
	done
	live_wait INT
	is "$live_rc $(grep -o 'client [0-9]* statement [0-9]' "$tmp/trace" | sort)" "0 $(
		for i in {1..20}; do for k in 1 2 3; do [ "$i$k" -gt 103 ] && [ $k = 3 ] || echo "client $i statement $k"; done; done | sort
	)" "$what: every statement of 20 clients, before and after, once"
}
clients "the first process, --children" --children -t query__start $postmaster
clients "its file" -x "$pg_bin/postgres" -t query__start
clients "all its processes" PIDS postgresql.bt
postgresql_stop
done_testing
