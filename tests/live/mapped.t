#!/usr/bin/env bash
# A process has mapped executable what is no whole ELF file: shared memory, memfds, PE files, and so on, as just-in-time
# compilers, .NET, QEMU and Wine do. It is traced as if that were not there.
# shellcheck source=tests/lib.sh
[ -e /sys/kernel/tracing/available_events ] || [ -n "${BTGEN_IN_TRACEFS-}" ] ||
	exec "$(dirname "$0")/../matrix/tracefs.sh" "$0" "$@"
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"
can_trace || skip_all "needs root and bpftrace"

# Maps the kinds given, and for each line of its input fires the probe, calls work(), and prints how often it has.
cat >"$tmp/app.c" <<'END'
#define _GNU_SOURCE
#include <btgen/usdt.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>
__attribute__((noinline)) int work(int n) { __asm__ volatile("" : "+r"(n)); return n; }
static void map(int fd, int flags)
{
	if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, flags, fd, 0) == MAP_FAILED)
		perror("mmap");
}
static int file(const char *name, size_t copied, int class_byte)
{
	char bytes[512];
	int self = open("/proc/self/exe", O_RDONLY), fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (read(self, bytes, sizeof(bytes)) != (ssize_t)sizeof(bytes))
		perror("read");
	if (class_byte)
		bytes[EI_CLASS] = (char)class_byte;
	if (write(fd, bytes, copied) != (ssize_t)copied)
		perror("write");
	return fd;
}
int main(int argc, char **argv)
{
	char line[64];
	for (int i = 1; i < argc; i++) {
		const char *kind = argv[i];
		if (!strcmp(kind, "shared"))
			map(-1, MAP_SHARED | MAP_ANONYMOUS);
		else if (!strcmp(kind, "memfd")) {
			int fd = memfd_create("doublemapper", 0);
			map(ftruncate(fd, 4096) ? -1 : fd, MAP_SHARED);
		} else if (!strcmp(kind, "unlinked")) {
			int fd = file("ffi.tmp", 0, 0);
			unlink("ffi.tmp");
			map(ftruncate(fd, 4096) ? -1 : fd, MAP_SHARED);
		} else if (!strcmp(kind, "sysv")) {
			int id = shmget(IPC_PRIVATE, 4096, 0600);
			if (shmat(id, NULL, SHM_EXEC) == (void *)-1)
				perror("shmat");
			shmctl(id, IPC_RMID, NULL);
		} else if (!strcmp(kind, "pe")) {
			int fd = file("lib.dll", 0, 0);
			map(write(fd, "MZ\x90", 3) == 3 && !ftruncate(fd, 4096) ? fd : -1, MAP_PRIVATE);
		} else if (!strcmp(kind, "empty"))
			map(file("empty.so", 0, 0), MAP_PRIVATE);
		else if (!strcmp(kind, "truncated"))
			map(file("truncated.so", 200, 0), MAP_PRIVATE);
		else if (!strcmp(kind, "class"))
			map(file("class.so", 512, 7), MAP_PRIVATE);
	}
	for (int n = 1; fgets(line, sizeof(line), stdin) && *line != 'q'; n++) {
		USDT_PROBE(app, hit, n);
		printf("%d\n", work(n));
		fflush(stdout);
	}
}
END
gcc -O1 -g -I"$top/include" -o "$tmp/app-$$" "$tmp/app.c" || exit 1
app=app-$$
cd "$tmp" || exit 1
no_elf='shared memfd unlinked sysv pe empty' bad_elf='truncated class'
want='' usdt='usdt:__EXE__:hit { printf("n %d\n", arg0); }'

# trace_ten ARG...: a trace while the program does ten rounds; the numbers that it printed meanwhile are in $want
trace_ten() {
	local from
	from=$(wc -l <"$tmp/answers")
	live_trace "$@" || return 1
	for _ in 1 2 3 4 5 6 7 8 9 10; do live_say x; done
	wait_for eval '[ "$(wc -l <"$tmp/answers")" = $((from + 10)) ]'
	wait_for live_still
	live_wait INT
	want=$(tail -n +$((from + 1)) "$tmp/answers" | paste -sd' ')
}
numbers() { sed -nE "s/$1/\\1/p" "$tmp/trace" | paste -sd' '; }

for kind in $no_elf $bad_elf; do
	live_start "$tmp/$app" "$kind"
	trace_ten "$live_pid" -e "$usdt"
	is "$live_rc $(numbers '^n (.*)')" "0 $want" "$kind: a script traces the program"
	is "$(grep -c 'error:' "$tmp/messages") $(grep -c "warning: " "$tmp/messages")" \
		"0 $([[ " $bad_elf " != *" $kind "* ]] || echo 1)$([[ " $bad_elf " == *" $kind "* ]] || echo 0)" \
		"$kind: a warning only about what begins as an ELF file"
	live_quit
done
like "$(cat "$tmp/messages")" "^$tmp/class.so: warning: " "which it names"

# shellcheck disable=SC2086
live_start "$tmp/$app" $no_elf $bad_elf
is "$(cat "$tmp/target-err")" '' "the program has mapped all of them"
trace_ten -t hit "$app"
is "$live_rc $(numbers '.* app:hit .*=([0-9]+)')" "0 $want" "-t of a probe, by the program's name"
trace_ten -t uprobe:work "$live_pid"
is "$live_rc $(numbers '.* uprobe:work .*=([0-9]+)')" "0 $want" "-t of a function"
trace_ten --calls work "$live_pid"
is "$live_rc $(grep -c 'work()' "$tmp/trace")" "0 10" "--calls"
trace_ten "$live_pid" -e 'uprobe:__EXE__:work { printf("n %d\n", arg0); }'
is "$live_rc $(numbers '^n (.*)')" "0 $want" "a script's uprobe"
trace_ten --children "$live_pid" -e "$usdt"
is "$live_rc $(numbers '^n (.*)')" "0 $want" "--children"
trace_ten "$live_pid" -e "uprobe:$tmp/$app:work { printf(\"n %d\\n\", arg0); }"
is "$live_rc $(numbers '^n (.*)')" "0 $want" "uprobe:FILE:NAME"
for way in "-n -t hit $live_pid" "-n --latency uprobe:work uretprobe:work $live_pid" "-n -t hit $app" "-l $live_pid"; do
	# shellcheck disable=SC2086
	out=$("$live_sh" $way 2>&1)
	is "$? $(grep -c 'error:' <<<"$out")" "0 0" "$way"
done
"$live_sh" --cost -T 0.5 "$live_pid" -e "$usdt" >"$tmp/out" 2>&1
is "$? $(grep -c 'error:' "$tmp/out")" "0 0" "--cost"
out=$("$btgen" check -p "$live_pid" -e "$usdt" 2>&1)
is "$?" 0 "btgen check -p"
out=$("$btgen" types -p "$live_pid" int 2>&1)
is "$? $(grep -c 'error:' <<<"$out")" "0 0" "btgen types -p"
out=$("$btgen" doctor "$live_pid" 2>&1)
like "$out" 'truncated.so: ' "btgen doctor names what it cannot read"
unlike "$out" '(dev/zero|memfd|SYSV|ffi|lib\.dll|empty\.so)' "and nothing else"

like "$("$live_sh" -n -v -t hit "$live_pid" 2>&1)" \
	'note: not searched: .*(memfd|dll|zero|SYSV).* and 3 more \(mapped by the process, but not ELF\)' "-v names what was not searched"
for missing in '-t hot' '-t uprobe:wrok' "-e usdt:__EXE__:hot{}" "-e uprobe:__EXE__:wrok{}"; do
	# shellcheck disable=SC2086
	out=$("$live_sh" -n "$live_pid" $missing 2>&1)
	is "$? $(grep -c 'error:' <<<"$out") $(grep -c 'note: not searched: ' <<<"$out")" "1 1 1" \
		"$missing: not found, and what was not searched is named"
done
unlike "$("$live_sh" -n "$live_pid" -t hit 2>&1)" 'not searched' "where all is found there is no such note"
live_quit
done_testing
