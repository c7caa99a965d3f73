#!/usr/bin/env bash
# However a trace ends, nothing of it stays: no process, no file, no breakpoint and no semaphore in the program that was
# traced. The cases are in lifecycle.py.
. "$(dirname "$0")/../lib.sh"
. "$top/tests/live.sh"
can_trace || skip_all "needs root and bpftrace"

cat >"$tmp/life.c" <<'E2'
#include <btgen/usdt.h>
#include <poll.h>
int main(int argc, char **argv)
{
	struct pollfd in = {.fd = 0, .events = POLLIN};
	(void)argv;
	for (int i = 0; poll(&in, 1, argc > 1 ? 0 : 3) == 0; i++) {
		USDT_PROBE_LAZY(life, one, i);
		USDT_PROBE_LAZY(life, two, i);
		USDT_PROBE_LAZY(life, three, i);
		USDT_PROBE_LAZY(life, four, i);
		USDT_PROBE_LAZY(life, five, i);
	}
	return 0;
}
E2
gcc -O2 -I"$top/include" -o "$tmp/life" "$tmp/life.c" || exit 1
python3 "$top/tests/live/lifecycle.py" "$live_sh" "$tmp/life" "$tmp" "$@"
