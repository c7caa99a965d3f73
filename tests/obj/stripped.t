#!/usr/bin/env bash
# A stripped program: what a probe's pointer leads to is not known, which is said at its place, with what helps.
. "$(dirname "$0")/../lib.sh"

cat >"$tmp/shop.c" <<'E2'
#include <btgen/usdt.h>
struct order { int id, qty; };
static struct order o = {1, 5};
int main(void)
{
	struct order *q = &o;
	USDT_PROBE(shop, visit, USDT_ARG(q, "o"));
	return 0;
}
E2
gcc -O1 -g -I"$top/include" -o "$tmp/shop" "$tmp/shop.c" && strip -o "$tmp/bare" "$tmp/shop" || exit 1
# said COLUMN WHAT STATEMENTS
said() {
	local out
	out=$("$btgen" check -x "$tmp/bare" -e "usdt:__EXE__:visit { $3 }" 2>&1)
	is "$? $(grep error: <<<"$out")" "1 <command line>:1:$1: error: no debug information (DWARF) for what $2 points to: $tmp/bare is stripped" "$3"
	like "$out" 'note: build it with -g, or install its debug package' "what helps is said"
}
said 35 args.o 'printf("%d", args.o->qty);'
said 35 arg0 'printf("%d", arg0->qty);'
said 37 args.o 'printf("%d", (*args.o).qty);'
said 35 args.o 'printf("%d", args.o[1]);'
said 48 '$p' '$p = args.o; printf("%d", $p->qty);'
is "$("$btgen" check -x "$tmp/bare" -e 'struct mine { int id; int qty; };
usdt:__EXE__:visit { $p = (struct mine *)args.o; printf("%d", $p->qty); }' 2>&1)" "" "a struct of the script's own leads on"
is "$("$btgen" check -x "$tmp/shop" -e 'usdt:__EXE__:visit { printf("%d", args.o->qty); }' 2>&1)" "" "with debug information it is known"

out=$("$btgen" diff "$tmp/shop" "$tmp/bare" 2>&1)
is "$? $out" "0 btgen: warning: $tmp/bare has no debug information: types and enumerators were not compared" "btgen diff says that types were not compared"
out=$("$btgen" diff "$tmp/bare" "$tmp/shop" 2>&1)
is "$? $out" "0 btgen: warning: $tmp/bare has no debug information: types and enumerators were not compared" "of the old build, too"
is "$("$btgen" diff "$tmp/bare" "$tmp/bare" 2>&1)" "btgen: warning: $tmp/bare has no debug information: types and enumerators were not compared" \
	"once, of a build and itself"
is "$("$btgen" diff -q "$tmp/shop" "$tmp/bare" 2>&1) $?" " 0" "-q: nothing is said"
done_testing
