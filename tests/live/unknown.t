#!/usr/bin/env bash
# A number that has no name in its enum is printed as a number, whatever bpftrace does with missing keys.
. "$(dirname "$0")/../lib.sh"
. "$top/tests/live.sh"

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

# Names in choices, keys that are another value each time they are read, an END that ends early. One clause for
# each: a program of 0.17 has little room for strings.
cat >"$tmp/c.bt" <<'E2'
#pragma enum color color
usdt:__EXE__:color { printf("a %s\n", arg0 == 9 ? @color[arg0] : "other"); }
usdt:__EXE__:color { printf("b %s\n", arg0 == 1 ? "one" : (@color[arg0])); }
usdt:__EXE__:color { $key = arg0; printf("c %s\n", $key == 1 ? "one" : ($key == 9 ? @color[$key] : "some")); }
usdt:__EXE__:color { $number = 7; printf("d %s %d\n", @color[@n[0]++], $number); }
usdt:__EXE__:color { $choice = 8; printf("e %s %d\n", @i[0]++ < 3 ? @color[@j[0]++] : "late", $choice); }
usdt:__EXE__:color { printf("f %s %s\n", @color[(rand % 1) + 30], @color[(nsecs % 1) + 1]); }
END { clear(@n); clear(@i); clear(@j); if (1) { printf("the end\n"); exit(); } printf("not this\n"); }
E2
live_start "$tmp/e"
ok "names in choices and keys that change: the program is accepted and attached" \
	live_trace -W no-enum "$live_pid" "$tmp/c.bt"
printf x >&8
exec 8>&-
live_wait
lines() { sed -n "s/^$1 //p" "$tmp/trace" | paste -sd,; }
is "$(lines a)" "other,other,other,other,9" "a choice: the number where the name is missing"
is "$(lines b)" "0,one,GREEN,BLUE,9" "in its other arm, in parentheses"
is "$(lines c)" "some,one,some,some,9" "and in a choice in a choice, beside a variable \$key of the script's"
is "$(lines d)" "0 7,RED 7,2 7,3 7,4 7" "a key with ++ counts once"
is "$(lines e)" "0 8,RED 8,2 8,late 8,late 8" "and in a choice only where that arm is taken"
is "$(lines f)" "30 RED,30 RED,30 RED,30 RED,30 RED" "rand and nsecs can be keys"
is "$(grep -v '^[a-f] ' "$tmp/trace" | grep .)" "the end" "no table is printed though END calls exit()"
unlike "$(cat "$tmp/messages")" "warning|error" "and nothing is said about what btgen put in"

live_start "$tmp/e"
ok "several templates with BEGIN and END: accepted" live_trace "$live_pid" -e '#pragma enum color color
BEGIN { $a = 1; $a_2 = 2; printf("%d %d\n", $a, $a_2); }
END { if (@color[1] == "") { return; } printf("end\n"); return; }' -e '
BEGIN { $a = "three"; printf("%s\n", $a); }
usdt:__EXE__:color { printf("%s\n", @color[arg0]); }'
exec 8>&-
live_wait
is "$(grep . "$tmp/trace" | paste -sd,)" "1 2,three,end" \
	"variables of one BEGIN are not those of the other, and END can read a table up to its return"
done_testing
