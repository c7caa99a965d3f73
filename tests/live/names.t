#!/usr/bin/env bash
# Names of functions in what a script prints: C++, libraries that are loaded later, code without a file, after the program's end.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"

# Its answers are the addresses that it passes to the probe, its lines what to do.
cat >"$tmp/app.cc" <<'END'
#include <btgen/usdt.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <unistd.h>

namespace store { struct cache { static int find(const char *, int) { return 7; } }; }
extern "C" int plain(int x) { return x + 1; }
static int hidden(int x) { return x + 2; }
int table[4] = {1, 2, 3, 4};

static void show(void *address)
{
	USDT_PROBE(app, call, address);
	USDT_PROBE(app, returned);
	printf("%p\n", address);
	fflush(stdout);
}

int main()
{
	static char line[4096];
	while (fgets(line, sizeof line, stdin)) {
		line[strcspn(line, "\n")] = 0;
		if (!strcmp(line, "own")) {
			show((void *)store::cache::find);
			show((void *)plain);
			show((void *)((char *)hidden + 1));
			show((void *)table);
			show((void *)&line[100]);
		} else if (!strcmp(line, "jit")) {
			char path[64];
			snprintf(path, sizeof path, "/tmp/perf-%d.map", getpid());
			FILE *f = fopen(path, "w");
			fprintf(f, "7f0000001000 20 Lapp;::run half\n7f0000002000 20 old\n7f0000002000 20 LazyCompile:~new\n");
			fclose(f);
			show((void *)0x7f000000101f);
			show((void *)0x7f0000002000);
			show((void *)0x7f0000001020);
		} else if (!strcmp(line, "evil")) {
			char path[64];
			snprintf(path, sizeof path, "/tmp/perf-%d.map", getpid());
			FILE *f = fopen(path, "w");
			fprintf(f, "7f0000003000 20 a\033]0;b\a\x9b\r\342\200\256c\n");
			fclose(f);
			show((void *)0x7f0000003000);
		} else if (!strcmp(line, "tidy")) {
			char path[64];
			snprintf(path, sizeof path, "/tmp/perf-%d.map", getpid());
			unlink(path);
		} else if (!strncmp(line, "load ", 5)) {
			show(dlsym(dlopen(line + 5, RTLD_NOW), "plugged"));
		} else {
			for (int i = 0; i < 2000; i++)
				USDT_PROBE(app, call, (void *)plain);
			_exit(0);
		}
	}
}
END
g++ -g -O1 -I"$top/include" -rdynamic -o "$tmp/app" "$tmp/app.cc" -ldl || exit 1
printf 'int plugged(void) { return 1; }\n' | gcc -g -shared -fPIC -x c -o "$tmp/plugin.so" - || exit 1
cp "$tmp/app" "$tmp/stripped"
objcopy --only-keep-debug "$tmp/app" "$tmp/stripped.debug"
strip "$tmp/stripped"
(cd "$tmp" && objcopy --add-gnu-debuglink=stripped.debug stripped)
cat >"$tmp/names.bt" <<'END'
usdt:__EXE__:app:call
{
	printf("%s|%-12s|%12s|%d%%|%.3s|\n", usym(arg0), usym(arg0), usym(arg0), 5, usym(arg0));
	@calls[usym(arg0)] = count();
}
END
line() { printf '%s|%-12s|%12s|5%%|%.3s|' "$1" "$1" "$1" "$1"; }
shown() { sed -n "$1" "$tmp/trace"; }
answer() { sed -n "$1p" "$tmp/answers"; }
told_evil() {
	live_say evil
	tail -n 1 "$tmp/trace" | grep -aq '^a.*c|'
}
printed() { [ "$(grep -c '|' "$tmp/trace")" -ge "$1" ]; }

for program in app stripped; do
	live_start "$tmp/$program"
	ok "$program: it attaches" live_trace $live_pid "$tmp/names.bt"
	live_say own
	wait_for printed 5
	is "$(shown 1p)" "$(line 'store::cache::find(char const*, int)')" "$program: a C++ function as C++ writes it, in any layout"
	is "$(shown 2p)" "$(line plain)" "$program: a C function"
	is "$(shown 3p)" "$(line 'hidden(int)')" "$program: a static one, by an address inside of it"
	is "$(shown 4p)" "$(line table)" "$program: a variable"
	is "$(shown 5p)" "$(line 'main::line')" "$program: a static variable of a function"
	sleep 0.2 # what is not known is not looked for all the time
	live_say jit
	wait_for printed 8
	live_say tidy
	is "$(shown '6,8p')" "$(line 'Lapp;::run half')
$(line 'LazyCompile:~new')
$(line "$(answer 8)")" "$program: code without a file by its perf map, the last entry of an address, or else the address"
	sleep 0.2
	live_say "load $tmp/plugin.so"
	wait_for printed 9
	is "$(shown 9p)" "$(line plugged)" "$program: a function of a library that was loaded later"
	wait_for told_evil # what is not known is not looked for all the time
	live_say tidy
	is "$(tail -n 1 "$tmp/trace" | cut -d'|' -f 1)" 'a\x1b]0;b\x07\x9b\x0d\xe2\x80\xaec' \
		"$program: control bytes in a name that the target made up are escaped"
	live_say end
	exec 8>&-
	live_wait
	is $live_rc 0 "$program: the trace ends with the program, status 0"
	is "$(grep -c "^plain|plain       |       plain|5%|pla|" "$tmp/trace")" 2001 "$program: what is printed after its end has names"
	is "$(sed -nE 's/^@calls\[(plain|0x[0-9a-f]+)\]: ([0-9]+)/\2/p' "$tmp/trace" | sort -n | tail -n 1)" 2001 "$program: keys of maps"
	like "$(cat "$tmp/trace")" '^@calls\[plain\]: 2001$' "$program: ... have their names after its end, too"
	like "$(cat "$tmp/trace")" '^@calls\[a.x1b\]0;b.x07.x9b.x0d.xe2.x80.xaec\]: [0-9]+$' "$program: ... escaped"
done

# Of a map that only a later clause fills, old versions know no type.
live_start "$tmp/app"
live_trace $live_pid -e 'usdt:__EXE__:app:returned { printf("%s\n", usym(@fn[tid])); } usdt:__EXE__:app:call { @fn[tid] = arg0; }'
live_say own
wait_for grep -q 'main::line' "$tmp/trace"
live_wait INT
live_quit
is "$(sed -n 's/^[a-z].*/&/p' "$tmp/trace" | head -n 5)" 'store::cache::find(char const*, int)
plain
hidden(int)
table
main::line' "names of addresses that a map has"

# Two static functions of one name, in two files.
cat >"$tmp/one.c" <<'END'
#include <unistd.h>
void send(void (*fn)(void));
void send(void (*fn)(void)) { fn(); __asm__ volatile(""); }
static void stop(void) { __asm__ volatile(""); }
void two(void);
int main(void)
{
	char c;
	while (read(0, &c, 1) == 1) {
		send(stop);
		two();
	}
}
END
cat >"$tmp/two.c" <<'END'
void send(void (*fn)(void));
static void other(void) { __asm__ volatile(""); }

static void stop(void) { __asm__ volatile(""); }
void two(void);
void two(void) { send(stop); send(stop); send(other); send(other); send(other); }
END
for g in -g -g0; do
	gcc $g -O1 -fno-inline -no-pie -o "$tmp/twice" "$tmp/one.c" "$tmp/two.c" || exit 1
	live_start "$tmp/twice"
	live_trace $live_pid -e 'uprobe:__EXE__:send { @send[usym(arg0)] = count(); @two[usym(arg0), 1] = count(); }
interval:ms:1 { print(@never); clear(@never); } uprobe:__EXE__:two { @never[usym(reg("ip"))] = 1; delete(@never[usym(reg("ip"))]); }'
	printf x >&8
	exec 8>&-
	live_wait
	got=$(grep '^@send' "$tmp/trace" | sort)
	if [ $g = -g ]; then
		is "$got" "@send[other]: 3
@send[stop (one.c:4)]: 1
@send[stop (two.c:4)]: 2" "two functions of one name are told apart by file and line, others have their plain name"
	else
		want=$(nm "$tmp/twice" | awk '$3 == "stop" { sub(/^0+/, "", $1); print "@send[stop (0x" $1 ")]" }' | sort)
		is "$(sed -n '/stop/s/: .*//p' <<<"$got")" "$want" "... without debug information by their addresses"
	fi
done
live_start "$tmp/app"
live_trace $live_pid -e 'usdt:__EXE__:app:call { @a[usym(arg0)] = count(); @b[usym(arg0)] = 1; @b[arg0] = 1; }' >"$tmp/out" ||
	like "$(cat "$tmp/out")" 'bpftrace: .*usym' "a map with another kind of key elsewhere is left to bpftrace"
live_quit

# func, of a program that has ended when bpftrace looks for its names. In a uretprobe it is the function since 0.19.
cat >"$tmp/short.cc" <<'END'
namespace store { __attribute__((noinline)) int find(int x, int y) { asm volatile(""); return x + y; } }
extern "C" __attribute__((noinline)) int plain(int x) { asm volatile(""); return x + 1; }
int main() { return store::find(1, plain(1)) + store::find(1, 2) < 0; }
END
g++ -O1 -g -o "$tmp/short" "$tmp/short.cc" || exit 1
at='uprobe:__EXE__:plain, uprobe:__EXE__:store::find'
version=$("$bpftrace" --version | sed 's/.*v0\.\([0-9]*\).*/\1/')
by_return=$([ "$version" -lt 19 ] || echo 'uretprobe:__EXE__:plain { @left[func] = count(); }')
cat >"$tmp/short.bt" <<END
$at { printf("%s|%30s\n", func, func); @n[func] = count(); @k[func, arg0] = 1; @v = func; @t[arg0] = (1, func); }
$by_return
END
for _ in 1 2 3; do # bpftrace's own race: it fails where the program ends between its two looks at /proc/PID/exe or root
	"$live_sh" -q -c "$tmp/short" "$tmp/short.bt" >"$tmp/out" 2>&1
	grep -qE 'read_symlink: No such file|Opening /proc/[0-9]+/root failed' "$tmp/out" || break
done
find='store::find(int, int)'
is "$(grep . "$tmp/out" | sort)" "$(grep . <<END | sort
plain|                         plain
$find|         $find
$find|         $find
@n[plain]: 1
@n[$find]: 2
@k[plain, 1]: 1
@k[$find, 1]: 1
@t[1]: (1, $find)
@v: $find
${by_return:+@left[plain]: 1}
END
)" "func in texts, keys and values has its name after the program's end"
is "$("$live_sh" -q -f json -c "$tmp/short" "$tmp/short.bt" 2>&1 | sed -n 's/.*"map": "@v", //p')" \
	"\"entries\": [{\"value\": \"$find\"}]}" "... in JSON, too"

# Where nobody would name what is marked, nothing is.
out=$("$live_sh" -n $$ -e 'uprobe:/bin/bash:main { printf("%s", usym(reg("ip"))); }' 2>/dev/null)
like "$out" 'usym\(reg\("ip"\)\)' "a program that is only printed says usym()"

# -t: what is declared, inferred or listed to be a function has its name.
cat >"$tmp/calls.c" <<'END'
#include <sys/sdt.h>
#include <stdio.h>
struct job { void (*done)(int); };
void finished(int n) { putchar(n); }
int tick(void *arg) { return arg != NULL; }
static int hidden(void *arg) { return arg == NULL; }
__attribute__((noinline)) static void pass(struct job *job, int (*fn)(void *))
{
	DTRACE_PROBE2(app, job, job->done, 7);
	DTRACE_PROBE3(spdk, timerfd_exec, 0, fn, job);
}
int main(void)
{
	struct job j = {finished}, none = {NULL};
	getchar();
	pass(&j, tick);
	pass(&none, hidden);
	pass(&none, (int (*)(void *))16);
	return 0;
}
END
# called PROGRAM: what -t prints of it, text, then JSON; addresses of data, and of code without a name, are ADDR
called() {
	local format
	for format in text json; do
		live_start "$tmp/$1"
		live_trace -f $format -t 'app:*' -t 'spdk:*' $live_pid || return
		echo >&8
		exec 8>&-
		live_wait
		sed -E '/^\{"capture"/d; s/.* (app:job|spdk:timerfd_exec) /\1 /; s/.*"probe": //; s/"text": .*"fields"/"fields"/; s/0x[0-9a-f]{3,}/ADDR/g' "$tmp/trace" | sort
	done
}
gcc -O1 -g -rdynamic -I"$top/include/btgen/compat" -o "$tmp/calls" "$tmp/calls.c" || exit 1
is "$(called calls)" 'app:job done=0x0 arg1=7
app:job done=0x0 arg1=7
app:job done=finished arg1=7
spdk:timerfd_exec fn=0x10 job=ADDR
spdk:timerfd_exec fn=hidden job=ADDR
spdk:timerfd_exec fn=tick job=ADDR
"app:job", "fields": {"done": "finished", "arg1": 7}}
"app:job", "fields": {"done": null, "arg1": 7}}
"app:job", "fields": {"done": null, "arg1": 7}}
"spdk:timerfd_exec", "fields": {"fn": "0x10", "job": "ADDR"}}
"spdk:timerfd_exec", "fields": {"fn": "hidden", "job": "ADDR"}}
"spdk:timerfd_exec", "fields": {"fn": "tick", "job": "ADDR"}}' \
	"-t, declared: functions by name; the constant of a macro is left out, that of the program not"
if ! echo '#include <sys/sdt.h>' | gcc -E - >"$tmp/sdt" 2>&1; then
	skip "functions that are inferred or listed" "no <sys/sdt.h> (systemtap-sdt-dev)"
else
	gcc -O1 -g -rdynamic -o "$tmp/calls" "$tmp/calls.c" || exit 1
	is "$(called calls | grep '^app:job')" 'app:job done=0x0 arg1=7
app:job done=0x0 arg1=7
app:job done=finished arg1=7' "-t, inferred: likewise"
	strip "$tmp/calls"
	is "$(called calls | grep '^spdk\|^"spdk')" 'spdk:timerfd_exec fn=0x10 arg=ADDR
spdk:timerfd_exec fn=ADDR arg=ADDR
spdk:timerfd_exec fn=tick arg=ADDR
"spdk:timerfd_exec", "fields": {"fn": "0x10", "arg": "ADDR"}}
"spdk:timerfd_exec", "fields": {"fn": "ADDR", "arg": "ADDR"}}
"spdk:timerfd_exec", "fields": {"fn": "tick", "arg": "ADDR"}}' "-t, listed: likewise, where the stripped program has a name"
fi
done_testing
