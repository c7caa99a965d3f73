#!/usr/bin/env bash
# What `btgen check` says about a process: code that it has moved, files that were replaced since it started, files that it
# does not have. It says so without root.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
export live_partly=yes
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"

# check PID TEXT: what is said, without the lines that show the script
check() { "$btgen" check -p "$1" -e "$2" 2>&1 | grep -v '^    '; }

# start PROGRAM ARG...: it runs, its PID in $pid
start() {
	"$@" &
	pid=$!
	own $pid
	wait_for runs "$1"
}
runs() { [ "$(readlink "/proc/$pid/exe")" = "$1" ]; }
# Its code is where it puts it: nothing of its segment of code is mapped from the file any more.
has_moved() { ! grep -q "r-xp .*$1\$" "/proc/$pid/maps"; }

# --- code on large pages
gcc -O2 -g -I"$top/include" -o "$tmp/large" "$top/docs/lab/programs/large.c" || exit 1
start "$tmp/large" 1000
wait_for has_moved "$tmp/large"
probe='usdt:__EXE__:large:tick { @ = count(); }'
is "$(check $pid "$probe")" \
	"<command line>:1:1: warning: large:tick cannot fire: process $pid has moved its code out of $tmp/large  [dead-probe]
btgen: note: the kernel can probe mapped files only: look for a program option that keeps its code off large pages" \
	"a probe in code that the program has moved cannot fire"
like "$(check $pid 'uprobe:__EXE__:tick { @ = count(); }')" "^<command line>:1:1: warning: tick cannot fire: process" \
	"and so cannot a function"
like "$(check $pid 'usdt:__EXE__:large:* { @ = count(); }')" "and 1 more of this script" "it is said once for all"
is "$("$btgen" check -p $pid -W no-dead-probe -e "$probe" 2>&1)" "" "or not at all"
not_ok "-W error makes it one" "$btgen" check -p $pid -W error -e "$probe" 2>/dev/null
is "$("$btgen" check -x "$tmp/large" -e "$probe" 2>&1)" "" "of the file alone nothing is known"

gcc -O2 -g -I"$top/include" -DSTAYS -o "$tmp/stays" "$top/docs/lab/programs/large.c" || exit 1
start "$tmp/stays" 30
code=$(grep -c 'r-xp' "/proc/$pid/maps")
like "$(check $pid 'usdt:__EXE__:large:* { @ = count(); }')" "large:tick cannot fire" "what was left in the file ($code pieces of code)"
is "$(check $pid 'usdt:__EXE__:large:tock { @ = count(); }')" "" "can fire"

like "$("$btgen" probes -p $pid 2>&1)" "warning: process $pid has moved code out of $tmp/stays to anonymous memory" \
	"the list of its probes says so, too"

# A library of which all code was moved has no other executable mapping: it is found by what is mapped around that.
cat >"$tmp/lib.c" <<'E2'
#include <btgen/usdt.h>
static volatile int total;
void lib_tick(int n) { USDT_PROBE(lib, tick, n); total += n; }
E2
cat >"$tmp/uses.c" <<'E2'
void lib_tick(int n);
#define main move_and_tick
#include "large.c"
#undef main
// The library's segment of code in place of the executable's.
int dl_iterate_phdr(int (*f)(struct dl_phdr_info *, size_t, void *), void *ret)
{
	struct dl_phdr_info info = {0};
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long start, end;
	char line[4096];
	while (fgets(line, sizeof(line), maps))
		if (strstr(line, "r-xp") && strstr(line, "libmoved") && sscanf(line, "%lx-%lx", &start, &end) == 2) {
			ElfW(Phdr) segment = {.p_type = PT_LOAD, .p_flags = PF_X, .p_vaddr = start, .p_memsz = end - start};
			info.dlpi_phdr = &segment;
			info.dlpi_phnum = 1;
			fclose(maps);
			return f(&info, sizeof(info), ret);
		}
	return 0;
}
int main(void)
{
	char *args[] = {"", "30", NULL};
	lib_tick(0);
	return move_and_tick(2, args);
}
E2
gcc -O2 -g -I"$top/include" -fPIC -shared -o "$tmp/libmoved.so" "$tmp/lib.c" &&
	gcc -O2 -g -I"$top/include" -I"$top/docs/lab/programs" -o "$tmp/uses" "$tmp/uses.c" -L"$tmp" -lmoved -Wl,-rpath,"$tmp" || exit 1
start "$tmp/uses"
wait_for eval 'grep -A 1 "r--p 00000000 .*libmoved" /proc/$pid/maps | grep -q "r-xp 00000000 00:00 0"'
like "$(check $pid 'usdt:__EXE__:lib:tick { @ = count(); }')" \
	"warning: lib:tick cannot fire: process $pid has moved its code out of $tmp/libmoved.so" "a library whose code was moved is found"
like "$(check $pid 'uprobe:__EXE__:lib_tick { @ = count(); }')" "warning: lib_tick cannot fire" "and its functions"
like "$("$btgen" probes -p $pid 2>&1)" "^btgen: warning: process $pid has moved code out of $tmp/libmoved.so to anonymous memory" \
	"the list of its probes says so"
unlike "$("$btgen" probes -p $pid 'large:*' 2>&1)" "moved" "but not of probes of other files"

# --- another file of the same name
cp "$targets/nvmf_tgt" "$tmp/server"
live_start "$tmp/server" -m 0xC --wait --log "$tmp/log"
pid=$live_pid
probe='usdt:__EXE__:nvmf_tgt_state { @ = count(); }'
is "$(check $pid "$probe")" "" "a process as it was started: nothing"
rm "$tmp/server"
is "$(check $pid "$probe")" "" "nor of one whose file is gone"
cp "$tmp/stays" "$tmp/server"
is "$(check $pid "$probe")" \
	"<command line>:1:1: warning: $tmp/server was replaced since process $pid started: what it runs is traced, not the new file  [replaced]
btgen: note: it is reached through /proc/$pid/exe" "a file that was replaced is said to be"
is "$(check $pid "uprobe:$tmp/server:main { @ = count(); }")" \
	"<command line>:1:1: warning: process $pid runs another file of this name: write __EXE__ for the one that it runs  [replaced]" \
	"a path that leads to the new one"
is "$(check $pid "uprobe:$tmp/large:main { @ = count(); }")" \
	"<command line>:1:1: warning: process $pid has not mapped $tmp/large: nothing fires until it does  [dead-probe]" \
	"a file that the process does not have"
is "$(check $pid "#pragma scope host
uprobe:$tmp/large:main { @ = count(); }")" "" "unless the script is for all of them"

is "$("$btgen" run -n -c "$tmp/stays 0" -e "uprobe:$tmp/large:main { @ = count(); }" 2>&1 >/dev/null)" "" \
	"or the process has just been started, and may load it yet"

# --- a semaphore on a page that is not the file's any more
gcc -O1 -g -I"$top/include" -o "$tmp/lost" "$top/tests/check/lost.c" || exit 1
start "$tmp/lost" on
is "$(check $pid 'usdt:__EXE__:lost:fine { @ = count(); }')" "" "a semaphore of a process that can be raised"
like "$(check $pid 'usdt:__EXE__:lost:bss { @ = count(); }')" \
	'lost:bss may never fire: nothing can raise its semaphore.*dead-probe' "and one that cannot"
if can_trace; then
	is "$(guard "$top/scripts/bpftrace.sh" -q -W no-dead-probe $pid -e 'usdt:__EXE__:lost:bss { @n++; } usdt:__EXE__:lost:fine { @m++; }
interval:s:1 /@m > 3/ { printf("%d\n", @n); exit(); } END { clear(@n); clear(@m); }' 2>/dev/null | grep .)" 0 "bpftrace sees none of it"
else
	skip_tracing "bpftrace sees none of it"
fi

# --- interpreters that leave probes out unless they are told
# interpreter PROVIDER COMMAND...: it runs; false when it is not there, or was built without such probes
interpreter() {
	local provider=$1 path
	shift
	path=$(command -v "$1") && path=$(readlink -f "$path") || return
	{ readelf -n "$path"; ldd "$path" | sed -n 's/.*=> \([^ ]*\).*/\1/p' | xargs -r readelf -n; } 2>/dev/null |
		grep "Provider: $provider" >/dev/null || return
	"$path" "${@:2}" >/dev/null 2>&1 &
	pid=$!
	own $pid
	wait_for runs "$path"
}
function='{ @ = count(); }'

php=$(command -v php8.2 || command -v php)
if interpreter php "$php" -r 'sleep(1000);'; then
	is "$(check $pid "usdt:__EXE__:php:function__entry $function usdt:__EXE__:php:execute__entry $function")" \
		"<command line>:1:1: warning: php:function__entry does not fire: it fires only with USE_ZEND_DTRACE=1 in the environment of PHP  [switch]
btgen: note: PHP reads USE_ZEND_DTRACE=1 when it starts: restart it" "PHP without its variable, said once"
	is "$(check $pid "usdt:__EXE__:php:request__startup $function usdt:__EXE__:php:* $function")" "" "what fires all the same"
	is "$(check $pid "#pragma optional
usdt:__EXE__:php:function__entry $function usdt:__EXE__:php:request__startup $function")" "" "what a script can do without"
	USE_ZEND_DTRACE=0 interpreter php "$php" -r 'sleep(1000);'
	like "$(check $pid "usdt:__EXE__:php:function__* $function")" 'function__[a-z]* does not fire' "or with 0 in it"
	USE_ZEND_DTRACE=1 interpreter php "$php" -r 'sleep(1000);'
	is "$(check $pid "usdt:__EXE__:php:function__entry $function")" "" "PHP with it"
else
	skip "PHP" "no PHP that was built with probes"
fi

if interpreter python /usr/bin/python3.11 -c 'import time; time.sleep(1000)'; then
	is "$(check $pid "usdt:__EXE__:python:function__entry $function")" \
		"<command line>:1:1: warning: python:function__entry may not fire: it fires only in Python 3.11 while the program has a profile function, or python:line is traced  [switch]
btgen: note: sys.setprofile(slice) in its first line is one" "Python 3.11"
	is "$(check $pid "usdt:__EXE__:python:gc__start $function")" "" "whose other probes always fire"
	is "$(check $pid "usdt:__EXE__:python:function__entry $function usdt:__EXE__:python:line { }")" "" "and these with python:line"
	interpreter python /usr/bin/python3.11 -c 'import sys, time; sys.setprofile(slice); time.sleep(1000)'
	is "$(check $pid "usdt:__EXE__:python:function__entry $function")" "" "or with a profile function"
else
	skip "Python" "no Python 3.11 that was built with probes"
fi

if interpreter ruby ruby -e 'sleep 1000'; then
	like "$(check $pid "usdt:__EXE__:ruby:method__entry $function")" \
		'ruby:method__entry may not fire: it fires only in Ruby 3 while the program has a trace point  \[switch\]' "Ruby 3"
	is "$(check $pid "usdt:__EXE__:ruby:gc__mark__begin $function")" "" "whose other probes always fire"
else
	skip "Ruby" "no Ruby that was built with probes"
fi

cat >"$tmp/Wait.java" <<'E'
class Wait { public static void main(String[] a) throws Exception { Thread.sleep(1000000); } }
E
# java_waits OPTION...: a virtual machine that waits
java_waits() {
	java -XX:-UsePerfData "$@" -cp "$tmp" Wait >/dev/null 2>&1 &
	pid=$!
	own $pid
	wait_for grep -q libjvm "/proc/$pid/maps"
}
jvm=$(find -L "$(dirname "$(readlink -f "$(command -v java || echo /nosuch)")")/.." -name libjvm.so 2>/dev/null | head -n 1)
if command -v javac >/dev/null && readelf -n "$jvm" 2>/dev/null | grep 'Provider: hotspot' >/dev/null && javac -J-XX:-UsePerfData -d "$tmp" "$tmp/Wait.java"; then
	java_waits
	for probe in method__entry:Method object__alloc:Alloc monitor__wait:Monitor; do
		like "$(check $pid "usdt:__EXE__:hotspot:${probe%:*} $function")" \
			"hotspot:${probe%:*} does not fire: it fires only with java -XX:.DTrace${probe#*:}Probes  \\[switch\\]" "java: ${probe%:*}"
	done
	is "$(check $pid "usdt:__EXE__:hotspot:gc__begin $function")" "" "whose other probes always fire"
	all=-XX:+ExtendedDTraceProbes # OpenJDK 21 has it no more
	java -XX:-UsePerfData $all -version >/dev/null 2>&1 || all='-XX:+DTraceMethodProbes -XX:+DTraceMonitorProbes'
	# shellcheck disable=SC2086 # several options
	java_waits $all
	is "$(check $pid "usdt:__EXE__:hotspot:method__entry $function usdt:__EXE__:hotspot:monitor__* $function")" "" "with $all"
	JAVA_TOOL_OPTIONS=-XX:+DTraceMethodProbes java_waits
	is "$(check $pid "usdt:__EXE__:hotspot:method__entry $function")" "" "or in the environment"
	echo "-Xint" >"$tmp/options"
	java_waits @"$tmp/options"
	like "$(check $pid "usdt:__EXE__:hotspot:method__entry $function")" 'method__entry may not fire' "options in a file are not seen"
else
	skip "java" "no OpenJDK that was built with probes"
fi
done_testing
