#!/usr/bin/env bash
# A number that has no name in its enum is printed as a number, whatever bpftrace does with missing keys.
. "$(dirname "$0")/../lib.sh"
. "$top/tests/live.sh"
can_trace || skip_all "needs root and bpftrace"

cat >"$tmp/u.bt" <<'E2'
#pragma enum names nvmf_tgt_state NVMF_TGT_
usdt:__EXE__:nvmf_tgt_state {
	printf("%s|%-6s|%s|%d\n", @names[arg1], @names[arg1 + 100], @names[arg1 - 50], 7);
}
E2
live_start nvmf_tgt --wait
ok "the program is accepted and attached" live_trace "$live_pid" "$tmp/u.bt"
live_say start
live_quit
live_wait
is "$live_rc" 0 "bpftrace ends with the target"
is "$(sed -n '2p' "$tmp/trace" | tr -d ' ')" "INIT_CREATE_TARGET|101|-49|7" \
	"a known value has its name, unknown ones their numbers, negative too"
is "$(sed -n '1p' "$tmp/trace" | tr -d ' ')" "INIT_NONE|100|-50|7" "and 0 its name"

# The same enum with a hole at 0: 0 is a number then, not nothing.
cat >"$tmp/e.c" <<'E2'
#include <btgen/usdt.h>
#include <unistd.h>
enum color { RED = 1, GREEN = -2, BLUE = 5000000000 };
volatile long colors[] = {0, 1, -2, 5000000000, 9};
int main(void)
{
	char c;
	while (read(0, &c, 1) == 1)
		for (int i = 0; i < 5; i++) {
			enum color value = (enum color)colors[i];
			USDT_PROBE(test, color, value);
		}
}
E2
gcc -O2 -g -I"$top/include" -o "$tmp/e" "$tmp/e.c" || exit 1
live_start "$tmp/e"
ok "a program of an enum with a hole at 0 can be traced" live_trace "$live_pid" \
	-e '#pragma enum color color
usdt:__EXE__:color { printf("%s\n", @color[arg0]); }'
live_say x
exec 8>&-
live_wait
is "$(head -n 5 "$tmp/trace" | paste -sd,)" "0,RED,GREEN,BLUE,9" "0 is printed, negative and 64-bit values have their names"
done_testing
