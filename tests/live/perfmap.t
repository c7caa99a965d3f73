#!/usr/bin/env bash
# A target that writes its perf map anew again and again: names are those of the file as it is, btgen's memory does not grow.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"

# AddressSanitizer keeps what was freed, 256 MB of it if not told otherwise.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}quarantine_size_mb=1

# Each line of its input is a number of functions: it writes a map of so many, all named after the line's number, and passes
# the first one's address, then one that is not known. Its answer: the name that it has given. 0: the map stays as it is.
cat >"$tmp/app.c" <<'END'
#include <btgen/usdt.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(void)
{
	char line[64], path[64];
	snprintf(path, sizeof path, "/tmp/perf-%d.map", getpid());
	for (int turn = 1; fgets(line, sizeof line, stdin) && *line != 'q'; turn++) {
		FILE *f = fopen(path, "a");
		turn -= !atoi(line);
		if (atoi(line))
			f = freopen(path, "w", f);
		for (int i = 0; i < atoi(line); i++)
			fprintf(f, "%lx 10 turn_%d_function\n", 0x7f0000000000 + 0x10ul * i, turn);
		fclose(f);
		USDT_PROBE(app, call, (void *)0x7f0000000000);
		USDT_PROBE(app, call, (void *)0x10);
		printf("turn_%d_function\n", turn);
		fflush(stdout);
	}
	unlink(path);
}
END
gcc -O1 -I"$top/include" -o "$tmp/app" "$tmp/app.c" || exit 1
live_start "$tmp/app"
ok "it attaches" live_trace $live_pid -e 'usdt:__EXE__:app:call { printf("name %s\n", usym(arg0)); }'

# write N: a map of N functions; true when the trace has its name, for which what is known is looked at again after a second
named() {
	[ "$(tail -n 1 "$tmp/answers")" != "$before" ] && grep -q "^name $(tail -n 1 "$tmp/answers")$" "$tmp/trace"
}
rewrite() {
	local before
	before=$(tail -n 1 "$tmp/answers")
	sleep 1.1
	live_say "$1"
	wait_for named
}
rss() { awk '/^VmRSS/ { print int($2 / 1024) }' "/proc/$live_tracer/status"; }
ok "a map has the names" rewrite 10
ok "... those of a longer one that took its place" rewrite 1000
ok "... those of one of the same size" rewrite 1000
ok "... those of a shorter one" rewrite 5
rewrite 120000
first=$(rss)
for n in 119900 119800 119700 119600 119500 119400 119300 119200; do rewrite $n; done
last=$(rss)
ok "a map of 4 MB, written anew 8 times, costs its memory once ($first, then $last MB)" test "$last" -lt $((first + 16))
is "$(sort "$tmp/answers" | uniq | wc -l) $(sed -n 's/^name turn_//p' "$tmp/trace" | sort | uniq | wc -l)" "13 13" "each had its names in the trace"

# More functions than are kept
warnings() { grep -c "warning: /tmp/perf-$live_pid.map: only the first 1048576 functions and 64 MiB are read" "$tmp/messages"; }
bytes_read() { awk '/^rchar/ { print int($2 / 1048576) }' "/proc/$live_tracer/io"; }
has_answers() { [ "$(wc -l <"$tmp/answers")" -ge "$1" ]; }
rewrite 1048576
is "$(warnings)" 0 "a map of 2^20 functions is read without a warning"
ok "one of a function more has names still" rewrite 1048577
is "$(warnings)" 1 "... and a warning"
first=$(bytes_read)
for _ in 1 2 3; do
	sleep 1.1
	n=$(wc -l <"$tmp/answers")
	live_say 0
	wait_for has_answers $((n + 1))
done
sleep 0.3
last=$(bytes_read)
ok "... and is not read again while it stays as it is ($first, then $last MiB)" test "$last" -lt $((first + 16))
ok "... but is when it is written anew" rewrite 1048578
is "$(warnings)" 1 "... of which it warns once"
live_quit
live_wait
is $live_rc 0 "the trace ends with the program, status 0"

# Anybody can put a file of that name into /tmp.
command -v setpriv >/dev/null || { skip "a stranger's perf map" "no setpriv"; done_testing; }
stranger=(setpriv --reuid=65534 --regid=65534 --clear-groups)
cat >"$tmp/other.c" <<'END'
#include <btgen/usdt.h>
#include <stdio.h>
__attribute__((noinline)) static void fire(void (*f)(void)) { USDT_PROBE(app, call, f); puts("fired"); fflush(stdout); }
int main(void)
{
	char line[64];
	while (fgets(line, sizeof line, stdin) && *line != 'q')
		fire((void (*)(void))0x7f0000000000);
}
END
gcc -O1 -g -I"$top/include" -o "$tmp/other" "$tmp/other.c" || exit 1
live_start "$tmp/other"
map=/tmp/perf-$live_pid.map
is_new=$("$bpftrace" --version | sed 's/.*v0\.\([0-9]*\).*/\1/')
[ "$is_new" -ge 24 ] && is_new=1 || is_new=0
# fired OPTION...: a trace of one event, its status in $live_rc
fired() {
	live_trace -N 1 "$@" || { live_wait; return; }
	live_say x
	live_wait
}
"${stranger[@]}" sh -c "echo '7f0000000000 1000 strangers_lie' >$map"
fired -t call "$live_pid"
is "$live_rc $(grep -c lie "$tmp/trace") $(grep -c "warning: $map is not read: it belongs to uid 65534" "$tmp/messages")" "0 0 1" \
	"another user's names are not believed, with a warning"
fired "$live_pid" -e 'usdt:__EXE__:call { printf("%s\n", ustack()); }'
is "$live_rc $(grep -c "warning: .*/tmp/perf-$live_pid.map, from which bpftrace takes names of process $live_pid, belongs to uid 65534" \
	"$tmp/messages")" "0 1" "where bpftrace reads them, a warning names the file and the user"
rm "$map"
echo '7f0000000000 1000 roots_name' >"$map"
fired -t call "$live_pid"
is "$live_rc $(grep -c =roots_name "$tmp/trace") $(grep -c warning "$tmp/messages")" "0 1 0" "those of root are"
rm "$map"
"${stranger[@]}" mkfifo "$map"
refused="error: .*/tmp/perf-$live_pid.map is not a regular file.*process $live_pid, may hang .it belongs to uid 65534.: remove it"
fired -t call "$live_pid"
if [ $is_new = 1 ]; then
	is "$live_rc $(grep -c app:call "$tmp/trace")" "0 1" "a FIFO of that name keeps nobody from tracing"
else
	is "$live_rc $(grep -c "$refused" "$tmp/messages")" "1 1" "a FIFO of that name, on which bpftrace would hang, is an error"
fi
fired "$live_pid" -e 'usdt:__EXE__:call { @[ustack()] = count(); }'
is "$live_rc $(grep -c "$refused" "$tmp/messages")" "1 1" "... also for stacks"
live_quit
rm "$map"

# A process of that user has its own
mkfifo "$tmp/in"
chmod 755 "$tmp"
"${stranger[@]}" "$tmp/other" <"$tmp/in" >/dev/null &
live_pid=$!
own $live_pid
exec 8>"$tmp/in"
wait_for live_idle
map=/tmp/perf-$live_pid.map
"${stranger[@]}" sh -c "echo '7f0000000000 1000 own_name' >$map"
fired -t call "$live_pid"
is "$live_rc $(grep -c =own_name "$tmp/trace") $(grep -c warning "$tmp/messages")" "0 1 0" "and of its own user"
rm "$map"
exec 8>&-

cat >"$tmp/late" <<END
#!/bin/sh
[ "\$1" = --version ] || sleep 31
exec $(command -v "$bpftrace") "\$@"
END
chmod +x "$tmp/late"
live_start "$tmp/other"
fired --bpftrace "$tmp/late" -t call "$live_pid"
is "$live_rc $(grep -c 'btgen: bpftrace (PID [0-9]*) has not attached yet' "$tmp/messages")" "0 1" \
	"that bpftrace takes long to attach is said, once"
live_quit
done_testing
