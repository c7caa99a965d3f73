#!/usr/bin/env bash
# However a trace ends, nothing of it stays: no process, no file, no breakpoint and no semaphore in the program that was
# traced. The cases are in lifecycle.py.
. "$(dirname "$0")/../lib.sh"
. "$top/tests/live.sh"

# A byte of its input tells it what to do, the end of it ends it.
cat >"$tmp/life.c" <<'E2'
#include <btgen/usdt.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>
static void obey(char c, char **argv, struct pollfd *in)
{
	if (c == 'x')
		execv(argv[0], argv);
	if (c == 'o')
		execlp("sleep", "sleep", "1000", (char *)0);
	if (c == 'n')
		prctl(PR_SET_NAME, "another name");
	if (c == 'f' && fork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		in->fd = -1; // its parent's
	}
}
int main(int argc, char **argv)
{
	struct pollfd in = {.fd = 0, .events = POLLIN};
	char c;
	for (int i = 0;; i++) {
		if (poll(&in, 1, argc > 1 && USDT_ENABLED(life, one) ? 0 : 3) == 1) { // a flood begins when it is seen
			if (read(0, &c, 1) != 1)
				return 0;
			obey(c, argv, &in);
		}
		USDT_PROBE_LAZY(life, one, i);
		USDT_PROBE_LAZY(life, two, i);
		USDT_PROBE_LAZY(life, three, i);
		USDT_PROBE_LAZY(life, four, i);
		USDT_PROBE_LAZY(life, five, i);
	}
}
E2
gcc -O2 -I"$top/include" -o "$tmp/life" "$tmp/life.c" || exit 1
printf '# a third of the cases: THIRD=%s; all: THIRD=all\n' "$third"
THIRD=$third python3 "$top/tests/live/lifecycle.py" "$live_sh" "$tmp/life" "$tmp" "${CASES-ends}" "$@"
