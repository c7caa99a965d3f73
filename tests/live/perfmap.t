#!/usr/bin/env bash
# A target that writes its perf map anew again and again: names are those of the file as it is, btgen's memory does not grow.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"
can_trace || skip_all "needs root and bpftrace"

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
	wait_for 10 named
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
	wait_for 10 has_answers $((n + 1))
done
sleep 0.3
last=$(bytes_read)
ok "... and is not read again while it stays as it is ($first, then $last MiB)" test "$last" -lt $((first + 16))
ok "... but is when it is written anew" rewrite 1048578
is "$(warnings)" 1 "... of which it warns once"
live_quit
live_wait
is $live_rc 0 "the trace ends with the program, status 0"
done_testing
