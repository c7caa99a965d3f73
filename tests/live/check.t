#!/usr/bin/env bash
# What `btgen check` says about a process: code that it has moved, files that were replaced since it started, files that it
# does not have. It says so without root.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"

# check PID TEXT: what is said, without the lines that show the script
check() { "$btgen" check -p "$1" -e "$2" 2>&1 | grep -v '^    '; }

# start PROGRAM ARG...: it runs, its PID in $pid
start() {
	"$@" &
	pid=$!
	own $pid
	wait_for 10 runs "$1"
}
runs() { [ "$(readlink "/proc/$pid/exe")" = "$1" ]; }
# Its code is where it puts it: nothing of its segment of code is mapped from the file any more.
has_moved() { ! grep -q "r-xp .*$1\$" "/proc/$pid/maps"; }

# --- code on large pages
gcc -O2 -g -I"$top/include" -o "$tmp/large" "$top/docs/lab/programs/large.c" || exit 1
start "$tmp/large" 30
wait_for 10 has_moved "$tmp/large"
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
wait_for 10 eval 'grep -A 1 "r--p 00000000 .*libmoved" /proc/$pid/maps | grep -q "r-xp 00000000 00:00 0"'
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
	is "$(timeout 60 "$top/scripts/bpftrace.sh" -q -W no-dead-probe $pid -e 'usdt:__EXE__:lost:bss { @n++; } usdt:__EXE__:lost:fine { @m++; }
interval:s:1 /@m > 3/ { printf("%d\n", @n); exit(); } END { clear(@n); clear(@m); }' 2>/dev/null | grep .)" 0 "bpftrace sees none of it"
else
	skip "bpftrace sees none of it" "needs root and bpftrace"
fi

done_testing
