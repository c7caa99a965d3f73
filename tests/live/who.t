#!/usr/bin/env bash
# Who is traced, and what it is called.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"
can_trace || skip_all "needs root and bpftrace"

# Fires its probe, which has a semaphore, with each byte that it reads, up to a Z; its main thread has a name of its own.
cat >"$tmp/app.c" <<'END'
#include <btgen/usdt.h>
#include <sys/prctl.h>
#include <unistd.h>
void lib_hit(int c);
int main(void)
{
	char c;
	prctl(PR_SET_NAME, "reactor_0");
	while (read(0, &c, 1) == 1) {
		USDT_PROBE_LAZY(app, hit, c);
		lib_hit(c);
		if (write(1, &c, 1) != 1 || c == 'Z')
			return 1;
	}
	return 0;
}
END
cat >"$tmp/lib.c" <<'END'
#include <btgen/usdt.h>
void lib_hit(int c);
void lib_hit(int c) { USDT_PROBE(lib, hit, c); }
END
name=app-$$
gcc -O1 -g -fPIC -shared -I"$top/include" -o "$tmp/libhit.so" "$tmp/lib.c" &&
	gcc -O1 -g -I"$top/include" -o "$tmp/$name" "$tmp/app.c" -L"$tmp" -lhit -Wl,-rpath,"$tmp" || exit 1

# begin N [PROGRAM]: a process that reads descriptor 10 + N, its PID in ${pid[N]}; hit N: one event of it
pid=()
begin() {
	mkfifo "$tmp/in$1"
	"${2:-$tmp/$name}" <"$tmp/in$1" >"$tmp/out$1" &
	pid[$1]=$!
	own $!
	eval "exec $((10 + $1))>\"\$tmp/in$1\""
	wait_for 10 grep -qx reactor_0 "/proc/${pid[$1]}/comm"
}
hit() {
	eval "printf '%s' \"\$2\" >&$((10 + $1))"
	wait_for 10 grep -q "$2" "$tmp/out$1"
}
script='usdt:__EXE__:app:hit { printf("%d hit %c\n", pid, arg0); }'
begin 1

ok "a PID" live_trace "${pid[1]}" -e "$script"
is "$(cat "$tmp/messages")" "btgen: attached to $name (PID ${pid[1]})" "it is called as its executable, not as its main thread"
hit 1 A
hit 1 Z
live_wait
is "$(grep . "$tmp/trace")" "${pid[1]} hit A
${pid[1]} hit Z" "it is traced"
like "$(cat "$tmp/messages")" "^btgen: process ${pid[1]} \($name\) has exited" "and so it is called when it ends"

begin 2
rm "$tmp/$name"
like "$("$live_sh" -l "${pid[2]}" 'app:*')" "^$tmp/$name \(deleted\): 1 probe" "a file that is deleted is called so, once"
done_testing
