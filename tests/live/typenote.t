#!/usr/bin/env bash
# A stripped program with a note of its types, as `btgen embed` of 0.1 wrote it, is traced as one with debug information: values
# by name, in text, JSON and scripts, as the program itself says them.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"

# What it says is written by hand, as -t writes it.
cat >"$tmp/shop.cc" <<'END'
#include <btgen/usdt.h>
#include <stdio.h>
namespace shop {
enum class state : signed char { open = -1, closed = 3 };
enum payment : unsigned { CASH, CARD = 9 };
}
static const char *state_name(shop::state s) { return s == shop::state::open ? "shop::state::open" : "shop::state::closed"; }
int main()
{
	char label[12];
	for (int id = 1; id <= 20; id++) {
		shop::state st = id % 3 ? shop::state::open : shop::state::closed;
		shop::payment pay = id % 2 ? shop::CARD : shop::CASH;
		bool paid = id % 4 == 0;
		double price = id * 1.25;
		float tax = (float)id / 8;
		const char *item = id % 2 ? "widget" : "gadget";
		signed char delta = (signed char)-id;
		snprintf(label, sizeof(label), "no %d", id);
		USDT_PROBE(shop, sold, id, item, st, pay, USDT_BITS(price));
		USDT_PROBE(shop, booked, paid, label, delta, USDT_BITS(tax), (char)('a' + id), (int)'x');
		printf("shop:sold id=%d item=\"%s\" st=%s pay=%s price=%g\n", id, item, state_name(st), pay ? "CARD" : "CASH", price);
		printf("shop:booked paid=%s label=\"%s\" delta=%d tax=%g arg4='%c' arg5=120\n", paid ? "true" : "false", label, delta,
		       tax, 'a' + id);
	}
}
END
g++ -O2 -g -I"$top/include" -o "$tmp/shop" "$tmp/shop.cc" || skip_all "no compiler"
strip -o "$tmp/bare" "$tmp/shop"
strip "$tmp/shop"
PYTHONPATH=$top/tests python3 - "$btgen" "$tmp/shop" <<'END'
import sys
from typenote import Note
note = Note({"class shop::state": ("signed char", {"open": -1, "closed": 3}),
             "enum shop::payment": ("unsigned int", {"CASH": 0, "CARD": 9})})
note.probe("shop:sold", id="int", item="char const *", st="class shop::state", pay="enum shop::payment",
           price="typedef usdt_double_bits = long unsigned int")
note.probe("shop:booked", paid="bool", label="char[11]", delta="signed char", tax="typedef usdt_float_bits = unsigned int",
           arg4="char", arg5="int")
note.add_to(*sys.argv[1:])
END
"$tmp/shop" >"$tmp/said"

"$live_sh" -q -o "$tmp/trace" -c "$tmp/shop" -t 'shop:*' >"$tmp/out" 2>"$tmp/err"
is "$(sed 's/^.*\] //' "$tmp/trace")" "$(cat "$tmp/said")" "-t prints what the program says"
is "$(cat "$tmp/err")" "" "and nothing is missing"

"$live_sh" -q -f json -o "$tmp/json" -c "$tmp/shop" -t 'shop:sold' >/dev/null 2>"$tmp/err"
is "$(python3 - "$tmp/json" <<'END'
import json, sys
for line in open(sys.argv[1]):
    f = json.loads(line).get("fields")
    if f:
        print(f'shop:sold id={f["id"]} item="{f["item"]}" st={f["st"]["name"]} pay={f["pay"]["name"]} price={f["price"]:g}')
END
)" "$(grep shop:sold "$tmp/said")" "so do JSON's fields"

"$live_sh" -q -o "$tmp/script" -c "$tmp/shop" -e 'usdt:__EXE__:shop:sold /args.st == shop::state::closed && args.pay == shop::CARD/ {
	printf("%d %s %s\n", args.id, str(args.item), enum_name(shop::payment, args.pay)); }
usdt:__EXE__:shop:booked /args.delta < -18/ { printf("%d %s\n", args.delta, str(args.label)); }' >/dev/null 2>"$tmp/err"
is "$(cat "$tmp/script")" "3 widget CARD
9 widget CARD
15 widget CARD
-19 no 19
-20 no 20" "and scripts, with enumerators, names and signs"
is "$(cat "$tmp/err")" "" "without a word"

"$live_sh" -q -o "$tmp/trace" -c "$tmp/bare" -t 'shop:*' >"$tmp/out" 2>"$tmp/err"
is "$(sed 's/^.*\] //' "$tmp/trace")" "$(sed 's/shop::state::open/-1/; s/shop::state::closed/3/; s/CARD/9/; s/CASH/0/' "$tmp/said")" \
	"strip alone: texts, characters, truths and doubles are what they were, enumerators are numbers"
done_testing
