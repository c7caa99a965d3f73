#!/usr/bin/env bash
# What differs from one event to the next: a call that is not always made, a map with values of two enums.
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
done_testing
