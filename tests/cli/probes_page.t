#!/usr/bin/env bash
# A reference of a program's probes, made of btgen probes --json: by the line of the manual.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$top" || exit 1

if readelf -n "$targets/nvmf_tgt" 2>/dev/null | grep -q 'Provider: spdk'; then
	is "$("$btgen" probes --json -x tests/targets/nvmf_tgt | python3 -c '
import json, sys
print(*(p["name"] for p in json.load(sys.stdin) if p["provider"] == "spdk" and not p["doc"]))')" "" "each probe of the program under test has its moment"
else
	skip "when the probes of the program under test fire" "built with --without-usdt"
fi

cat >"$tmp/app.c" <<'END'
#include <btgen/usdt.h>
USDT_DOC(app, query, "a query <b>begins</b>");
int main(int argc, char **argv)
{
	USDT_PROBE(app, query, USDT_ARG(argc, "count"), argv[0]);
	return 0;
}
END
"${CC:-gcc}" -O1 -g -Iinclude -o "$tmp/app" "$tmp/app.c" || exit 1
if command -v jq >/dev/null; then
	line=$(sed -n 's/^\.Dl btgen probes --json -x app | //p' docs/man/btgen.1 | sed 's/\\(dq/"/g; s/\\e/\\/g')
	is "$("$btgen" probes --json -x "$tmp/app" | eval "$line")" 'app:query when a query <b>begins</b>
  int count
  char * argv' "the line of the manual lists probes with their arguments"
else
	skip "the line of the manual" "no jq"
fi

# How long strings can be, where the compiler knows: arrays of char, wherever they are; of several sites the longest.
cat >"$tmp/long.c" <<'END'
#include <btgen/usdt.h>
#include <stdio.h>
struct user { char name[24], *home; unsigned char key[8]; struct { char text[3][10]; } lines; };
static char greeting[] = "hello";
int main(int argc, char **argv)
{
	struct user u = {.home = argv[0]}, *p = &u;
	char local[argc > 100 ? 1 : 40], fixed[40] = "";
	local[0] = 0;
	USDT_PROBE(len, known, p->name, USDT_ARG(u.lines.text[argc - 1], "line"), greeting, fixed, *(&u.name));
	USDT_PROBE(len, unknown, p->home, argv[0], "literal", u.key, local, &u.name[2], fixed + 1);
	USDT_PROBE(len, most, u.name);
	USDT_PROBE(len, most, fixed);
	USDT_PROBE(len, some, u.name);
	USDT_PROBE(len, some, u.home);
	return fixed[0] + local[0];
}
END
for cc in gcc clang g++; do
	command -v $cc >/dev/null || { skip "$cc: lengths of strings" "no $cc"; continue; }
	x=c
	[ $cc != g++ ] || x=c++
	$cc -O1 -g -w -x $x -Iinclude -o "$tmp/long" "$tmp/long.c" || ok "$cc compiles" false
	is "$("$btgen" probes --json -x "$tmp/long" | python3 -c '
import json, sys
for p in json.load(sys.stdin):
    print("`%(provider)s:%(name)s`" % p)
    for n, arg in enumerate(p["args"]):
        if arg["string_max"]:
            print("%d: %d bytes" % (n, arg["string_max"]))')" '`len:known`
0: 23 bytes
1: 9 bytes
2: 5 bytes
3: 39 bytes
4: 23 bytes
`len:unknown`
`len:most`
0: 39 bytes
`len:some`' "$cc: the length of a string in an array of char, and of no other"
done
done_testing
