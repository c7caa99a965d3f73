#!/usr/bin/env bash
# A stripped C program with the .BTF of `pahole -J` is traced as one with debug information: what the program itself prints. A C++
# program has no such types: its numbers come with a note.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"
command -v pahole >/dev/null || skip_all "no pahole"
export LLVM_OBJCOPY=objcopy

cat >"$tmp/shop.c" <<'END'
#include <btgen/usdt.h>
#include <stdio.h>
enum state { OPEN = -1, CLOSED = 3 };
enum payment { CASH, CARD = 9 };
struct sale { char item[12]; signed char delta; unsigned count : 3; enum payment payment; };
int ship(int id);
int main(void)
{
	for (int id = 1; id <= 20; id++) {
		struct sale sale = {"widget", (signed char)-id, id % 8u, id % 2 ? CARD : CASH};
		enum state state = id % 3 ? OPEN : CLOSED;
		double price = id * 1.25;
		USDT_PROBE(shop, sold, id, sale.item, state, sale.payment, USDT_BITS(price), &sale);
		printf("shop:sold id=%d item=\"%s\" state=%s payment=%s price=%g\n", id, sale.item, state == OPEN ? "OPEN" : "CLOSED",
		       sale.payment ? "CARD" : "CASH", price);
		ship(id);
	}
}
END
# A library has another struct of the same name.
cat >"$tmp/ship.c" <<'END'
#include <btgen/usdt.h>
struct sale { long parcels; enum { AIR, SEA } way; int id; };
int ship(int id)
{
	struct sale sale = {7, SEA, id};
	USDT_PROBE(ship, sent, &sale);
	return 0;
}
END
gcc -O2 -g -I"$top/include" -fPIC -shared -o "$tmp/libship.so" "$tmp/ship.c" &&
	gcc -O2 -g -I"$top/include" -o "$tmp/shop" "$tmp/shop.c" -L"$tmp" -lship -Wl,-rpath,"$tmp" || skip_all "no compiler"
for f in shop libship.so; do
	pahole -J "$tmp/$f" && strip "$tmp/$f"
done
"$tmp/shop" >"$tmp/said"

"$live_sh" -q -o "$tmp/trace" -c "$tmp/shop" -t 'shop:*' >"$tmp/out" 2>"$tmp/err"
is "$(sed 's/^.*\] //; s/ sale=.*//' "$tmp/trace")" "$(cat "$tmp/said")" "-t prints states by name, as the program does"
is "$(cat "$tmp/err")" "" "and nothing is missing"

"$live_sh" -q -o "$tmp/script" -c "$tmp/shop" -e 'usdt:__EXE__:shop:sold /args.state == CLOSED && args.sale->delta < -8/ {
	printf("%d %s %d %d %s\n", args.id, args.sale->item, args.sale->delta, args.sale->count, args.sale->payment); }
usdt:__EXE__:ship:sent / ((struct sale *)arg0)->id > 18 / { printf("%d %d\n", args.sale->parcels, ((struct sale *)arg0)->id); }' \
	>/dev/null 2>"$tmp/err"
is "$(cat "$tmp/script")" "9 widget -9 1 CARD
12 widget -12 4 CASH
15 widget -15 7 CARD
18 widget -18 2 CASH
7 19
7 20" "a script reads members; those of the library are the library's"
is "$(cat "$tmp/err")" "" "without a word"

# --- C++

cat >"$tmp/job.cc" <<'END'
#include <btgen/usdt.h>
#include <stdio.h>
enum class state { WAITING, RUNNING = 4 };
int main()
{
	for (int id = 1; id <= 3; id++) {
		state s = id % 2 ? state::RUNNING : state::WAITING;
		USDT_PROBE(jobs, changed, id, s);
		printf("jobs:changed id=%d s=%d\n", id, static_cast<int>(s));
	}
}
END
g++ -O2 -g -I"$top/include" -o "$tmp/job" "$tmp/job.cc" && strip "$tmp/job"
"$tmp/job" >"$tmp/said"
"$live_sh" -o "$tmp/trace" -c "$tmp/job" -t 'jobs:*' >"$tmp/out" 2>"$tmp/err"
is "$(sed 's/^.*\] //' "$tmp/trace")" "$(cat "$tmp/said")" "a stripped C++ program: numbers"
like "$(cat "$tmp/err")" "$tmp/job has no debug information \(-g\): enums and structs are numbers" "with a note"
done_testing
