#!/usr/bin/env bash
# Names in a hostile binary become neither program text nor terminal control.
. "$(dirname "$0")/../lib.sh"
command -v python3 >/dev/null || skip_all "python3 is missing"

cat >"$tmp/names.c" <<'E2'
#include <btgen/usdt.h>
enum mood { ENUMERATOR_ENUMERATOR = 1, PLAIN = 2 };
struct STRUCT_STRUCT_STRUCT_STRUCT_STRUCT { int MEMBER_MEMBER; enum mood mood; };
typedef struct { int k; } TYPEDEF_TYPEDEF_TYPEDEF_TYPEDEF;
struct honest { enum mood mood; int MEMBER_MEMBER; };
int main(void)
{
	static struct STRUCT_STRUCT_STRUCT_STRUCT_STRUCT s, *ctx = &s;
	static TYPEDEF_TYPEDEF_TYPEDEF_TYPEDEF u, *tt = &u;
	static struct honest h, *hh = &h;
	USDT_PROBE(prov, hit, ctx, tt, hh);
	USDT_PROBE(prov, PROBE_PROBE, 1);
	USDT_PROBE(PROVIDER, other, 1);
	USDT_PROBE(prov, PRINTABLE_PRINTABLE_PRINTABLE, 1);
	USDT_PROBE(prov, LINES_LINES_LINES_L, 1);
	return 0;
}
E2
gcc -O0 -g -I"$top/include" -o "$tmp/names" "$tmp/names.c" || exit 1
# Written over the names in the string tables, length for length.
python3 - "$tmp/names" "$tmp/evil" <<'E2'
import sys
data = open(sys.argv[1], "rb").read()
for old, new in ((b"ENUMERATOR_ENUMERATOR", b'x"; system("id"); @x'), (b"MEMBER_MEMBER", b"a; };\n\x1b[31mx"),
		 (b"STRUCT_STRUCT_STRUCT_STRUCT_STRUCT", b'a*)0)->b;system("id");((struct b'),
		 (b"TYPEDEF_TYPEDEF_TYPEDEF_TYPEDEF", b'b*)0)->b;system("id");((bbb'),
		 (b"PROBE_PROBE", b"x{exit()}\x1b["), (b"PRINTABLE_PRINTABLE_PRINTABLE", b'"{}BEGIN{exit();}usdt:a:b{ //'),
		 (b"LINES_LINES_LINES_L", b'q{}\nBEGIN{exit();}'), (b"PROVIDER", b"\x1b]0;hi\x07")):
	if old not in data:
		sys.exit("no %s in the program" % old)
	data = data.replace(old, new.ljust(len(old), b"_"))
open(sys.argv[2], "wb").write(data)
E2
try() { # CLAIM ARG...: nothing of the names gets through
	local claim=$1
	shift
	"$btgen" "$@" >"$tmp/out" 2>&1
	unlike "$(cat -v "$tmp/out")" 'system\("|exit\(\)\}[^\\]|\^\[|\^G' "$claim"
}
try "a table: enumerators are quoted" expand -x "$tmp/evil" -e '#pragma enum t mood
BEGIN { printf("%s", @t[1]); }'
like "$(cat "$tmp/out")" '@t\[2\] = "PLAIN"' "and the others are still there"
for arg in ctx tt; do
	try "args.$arg: a type's name is not put into a cast" expand -x "$tmp/evil" -e "usdt:__EXE__:hit { printf(\"%d\", args.$arg->k); }"
done
try "a struct's members" expand -x "$tmp/evil" -e 'usdt:__EXE__:hit { @ = ((struct honest *)arg0)->mood; }'
like "$(cat "$tmp/out")" 'struct honest' "and the struct is there"
try "probes that match a pattern" expand -v -x "$tmp/evil" -e 'usdt:__EXE__:*:* { }'
is "$(sed -n "s|usdt:$tmp/evil:||gp" "$tmp/out")" 'prov:hit, prov:"\"{}BEGIN{exit();}usdt:a:b{ //" { }' \
	"the honest one is left, and one whose name quotes keep in"
try "what names it by a pattern" expand -x "$tmp/evil" -e 'usdt:__EXE__:prov:*BEGIN* { exit(); }'
tail -n 1 "$tmp/out" >"$tmp/whole.bt"
is "$("$btgen" expand -x "$tmp/evil" "$tmp/whole.bt" 2>/dev/null)" "$(cat "$tmp/whole.bt")" "which is read again as it was written"
try "the nearest name" expand -x "$tmp/evil" -e 'usdt:__EXE__:othet { }'
for cmd in probes "probes -v" "probes --json" "types honest" "enums mood"; do
	# shellcheck disable=SC2086
	set -- $cmd
	verb=$1
	shift
	"$btgen" "$verb" -x "$tmp/evil" "$@" >"$tmp/out" 2>&1
	unlike "$(cat -v "$tmp/out")" '\^\[|\^G' "btgen $cmd: no control characters"
done

# A name that bpftrace takes for a pattern is one message.
cat >"$tmp/dash.c" <<'E2'
#include <btgen/usdt.h>
int main(void)
{
	USDT_PROBE(app, my_probe_, 1);
	USDT_PROBE(app, my_other, 1);
	return 0;
}
E2
gcc -O0 -I"$top/include" -o "$tmp/dash.c.o" "$tmp/dash.c" && sed 's/my_probe_/my*probe_/g' "$tmp/dash.c.o" >"$tmp/dash"
why='its name has characters that an attach point cannot have'
for attach in 'usdt:__EXE__:app:my*probe_' 'usdt:__EXE__:my*probe_' 'usdt:__EXE__:app:my*pr*'; do
	is "$("$btgen" expand -x "$tmp/dash" -e "$attach { }" 2>&1 | grep -v '^    ')" \
		"<command line>:1:1: error: bpftrace cannot attach to app:my*probe_: $why" "$attach: one error says why"
done
is "$("$btgen" expand --for 0.17 -x "$tmp/dash" -e 'usdt:__EXE__:app:my* { }' 2>&1 | grep -v '^    ')" \
	"btgen: warning: 1 of 2 probes is skipped: bpftrace 0.17 cannot attach to app:my*probe_: $why
usdt:$tmp/dash:app:my_other { }" "beside others it is skipped"
done_testing
