#!/usr/bin/env bash
# What differs from one event to the next: a call that is not always made, a map with values of two enums, an argument whose sites
# pass it in different types, of which only one has debug information.
. "$(dirname "$0")/../lib.sh"
. "$top/tests/live.sh"

cat >"$tmp/app.c" <<'E2'
#include <btgen/usdt.h>
#include <stdio.h>
enum mode { OFF, ON = 3 };
enum color { RED, GREEN, BLUE, WHITE };
int main(void)
{
	enum mode volatile mode = ON;
	enum color volatile color = WHITE;
	getchar();
	for (int n = 0; n < 10; n++)
		USDT_PROBE(app, step, n, mode, color);
	return 0;
}
E2
cat >"$tmp/app.bt" <<'E2'
usdt:__EXE__:app:step {
	@mixed["mode"] = args.mode;
	@mixed["color"] = args.color;
	@mode = args.mode;
	args.n < 5 ? printf("small %d\n", args.n) : printf("large %d\n", args.n);
}
END { @mode = 0; }
E2
gcc -O1 -g -I"$top/include" -o "$tmp/app" "$tmp/app.c" 2>"$tmp/err" || { cat "$tmp/err"; exit 1; }
live_start "$tmp/app"
ok "a script with a choice of two calls attaches" live_trace -f json $live_pid "$tmp/app.bt"
printf x >&8
exec 8>&-
live_wait
is "$live_rc $(grep -c '"text": "\(small\|large\) ' "$tmp/trace")" "0 10" "one of the two calls prints for each event"
is "$(grep lost "$tmp/messages" "$tmp/trace")" "" "the other has lost nothing"
values() { sed -n "s/.*\"map\": \"@$1\", //p" "$tmp/trace" | grep -o '"value": [0-9]*' | sort; }
is "$(values mixed)" '"value": 3
"value": 3' "values of two enums are numbers: neither's names are those of the other"
is "$(grep -c '"map": "@mode", .*"name": "OFF"' "$tmp/trace")" 1 "a number that is assigned to a map of an enum gets a name"

cat >"$tmp/sites.c" <<'E2'
#include <btgen/usdt.h>
#include <stdio.h>
void others(void);
volatile double ratio = -2.5;
volatile unsigned char small = 200;
volatile unsigned large = 4000000000;
int main(void)
{
	getchar();
	USDT_PROBE(app, site, USDT_BITS(ratio), small, USDT_BITS(ratio), small);
	USDT_PROBE(app, sign, small, large);
	others();
	return 0;
}
E2
cat >"$tmp/others.c" <<'E2'
#include <btgen/usdt.h>
volatile unsigned short number = 40000;
volatile int minus = -1;
volatile unsigned long wide = 77;
volatile double half = 1.5;
void others(void)
{
	USDT_PROBE(app, site, number, minus, USDT_BITS(half), minus);
	USDT_PROBE(app, site, wide, minus, USDT_BITS(half), wide);
	USDT_PROBE(app, sign, (signed char)minus, minus);
}
E2
gcc -O1 -g -I"$top/include" -c -o "$tmp/sites.o" "$tmp/sites.c" && gcc -O1 -I"$top/include" -c -o "$tmp/others.o" "$tmp/others.c" &&
	gcc -o "$tmp/sites" "$tmp/sites.o" "$tmp/others.o" || exit 1
live_start "$tmp/sites"
ok "a probe whose sites differ attaches" live_trace -f json -t 'app:si*' $live_pid
printf x >&8
exec 8>&-
live_wait
shown() { sed -nE "s/.*\"app:$1\", \"text\": \"([^\"]*)\", \"fields\": \{(.*)\}\}/\1 \2/p" "$tmp/trace"; }
is "$(shown site)" 'arg0=0xc004000000000000 arg1=200 arg2=-2.5 arg3=0xc8 "arg0": "0xc004000000000000", "arg1": 200, "arg2": -2.5, "arg3": "0xc8"
arg0=0x9c40 arg1=-1 arg2=1.5 arg3=0xffffffffffffffff "arg0": "0x9c40", "arg1": -1, "arg2": 1.5, "arg3": "0xffffffffffffffff"
arg0=0x4d arg1=-1 arg2=1.5 arg3=0x4d "arg0": "0x4d", "arg1": -1, "arg2": 1.5, "arg3": "0x4d"' \
	"a number is not the double of another site; numbers of different sizes have their signs; hexadecimal where -1 and 2^64 - 1 may be meant"
is "$(shown sign)" 'arg0=200 arg1=4000000000 "arg0": 200, "arg1": 4000000000
arg0=-1 arg1=-1 "arg0": -1, "arg1": -1' "... and of one size and different signs, too"

# The macros of <sys/sdt.h> leave no type of an expression.
cat >"$tmp/plain.c" <<'E2'
#include <sys/sdt.h>
volatile int width = -7;
volatile long length = 5000000000;
int main(void)
{
	int n = width;
	DTRACE_PROBE1(app, plain, n);
	DTRACE_PROBE1(app, plain, length * 2);
	return n + 7;
}
E2
if gcc -O1 -g -o "$tmp/plain" "$tmp/plain.c" 2>/dev/null; then
	is "$("$live_sh" -q -t plain -c "$tmp/plain" 2>&1 | sed 's/.*plain //')" "n=-7
n=10000000000" "a long of one site is not the int of another"
else
	skip "a long and an int" "no <sys/sdt.h> (systemtap-sdt-dev)"
fi

cat >"$tmp/wide.c" <<'E2'
#include <btgen/usdt.h>
#include <stdio.h>
volatile unsigned long wide = 18000000000000000000UL;
volatile unsigned narrow = 7;
int main(void)
{
	getchar();
	unsigned long w = wide;
	unsigned n = narrow;
	USDT_PROBE(app, wide, w);
	USDT_PROBE(app, both, w);
	USDT_PROBE(app, both, n);
	printf("both: %d %lu\nboth: %d %u\n", w > 200, w / 2, n > 200, n / 2);
	printf("wide: %d %d\n@kept: %lu\n@largest: %lu\n@sum: %lu\n", w > 200, w > 200, w, w, w);
	return 0;
}
E2
gcc -O1 -g -I"$top/include" -o "$tmp/wide" "$tmp/wide.c" || exit 1
live_start "$tmp/wide"
ok "unsigned numbers of 64 bits by number" live_trace $live_pid -e '
usdt:__EXE__:app:both { printf("both: %d %llu\n", arg0 > 200, arg0 / 2); }
usdt:__EXE__:app:wide { $x = arg0; @kept = arg0; printf("wide: %d %d\n", $x > 200, @kept > 200); @sum = sum(arg0); @largest = max(arg0); }'
printf x >&8
exec 8>&-
live_wait
grep -q '^@largest: >= 4611686018427387903$' "$tmp/trace" && sed -i 's/^\(@largest\): .*/\1: >= 4611686018427387903/' "$tmp/answers" # 0.17
is "$(grep : "$tmp/trace" | LC_ALL=C sort)" "$(LC_ALL=C sort "$tmp/answers")" "... are those of the program, alone or beside narrower ones"
done_testing
