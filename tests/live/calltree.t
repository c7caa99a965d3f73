#!/usr/bin/env bash
# --calls: the tree of calls is that which the program itself has logged, also with recursion, tail calls, longjmp, signals on
# another stack, threads that come and go, and functions that never return.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"

ok "the program is built" gcc -O2 -g -Wall -Wextra -o "$tmp/app" "$top/tests/live/calltree.c" -pthread
compare() { python3 "$top/tests/live/calltree.py" "$1" "$tmp/answers" "$2" 2>&1; }

echo "# text"
live_start "$tmp/app" 1
live_round --calls 'app_*' $live_pid
is "$(compare text "$tmp/trace")" "" "the tree is the program's, with recursion, tail calls, jumps and threads"
is "$(grep -v '^btgen: \(attached\|detaching\|process\)' "$tmp/messages")" "" "nothing is lost, and nothing to say"

echo "# JSON, and what is made of it"
live_start "$tmp/app" 2
live_round -f json --calls 'app_*@live/calltree.c' $live_pid
is "$(compare json "$tmp/trace")" "" "JSON has an entry and a return of each call, and how deep they are"
ok "it is as the schema says" python3 "$top/tests/schema.py" "$tmp/trace"
"$btgen" convert -f perfetto "$tmp/trace" >"$tmp/perfetto" 2>"$tmp/err"
is "$(compare perfetto "$tmp/perfetto")$(cat "$tmp/err")" "" "-f perfetto: slices lie within each other as the calls do"
"$btgen" convert -f folded "$tmp/trace" >"$tmp/folded" 2>"$tmp/err"
is "$(compare folded "$tmp/folded")$(cat "$tmp/err")" "" "-f folded: the stacks are the program's"
is "$(awk '{ n += $NF } END { printf "%.0f\n", n }' "$tmp/folded")" \
	"$(python3 -c 'import json, sys
print(sum(json.loads(l)["fields"].get("self_ns", 0) for l in open(sys.argv[1]) if "fields" in l))' "$tmp/trace")" \
	"and count the time of each function itself"

echo "# arguments, filters, a command"
cat >"$tmp/args.c" <<'END'
#include <stdio.h>
#include <unistd.h>
__attribute__((noinline)) int app_add(int a, const char *text) { printf("%s\n", text); return a + 1; }
__attribute__((noinline)) int app_twice(int n) { int r = app_add(n, "one") + app_add(-n, "two"); __asm__ volatile(""); return r; }
int main(void) { return app_twice(3) + app_twice(4) - 4; }
END
gcc -O1 -g -o "$tmp/args" "$tmp/args.c"
tree() { guard "$live_sh" -o "$tmp/trace" "$@" -c "$tmp/args" >"$tmp/said" 2>&1; sed 's/^.*\] *//; /^#/d' "$tmp/trace"; }
is "$(tree --calls 'app_*' --args)" 'app_twice(n=3) {
app_add(a=3, text="one") = 4;
app_add(a=-3, text="two") = -2;
} = 2; /* app_twice */
app_twice(n=4) {
app_add(a=4, text="one") = 5;
app_add(a=-4, text="two") = -3;
} = 2; /* app_twice */' "--args: arguments and results"
is "$(tree --calls app_add --filter 'a < 0')" 'app_add();
app_add();' "--filter: calls that match, and no returns of others"
is "$(tree --calls 'app_*' -N 2)" 'app_twice() {
app_add();' "-N: so many lines"
like "$(tree --calls 'app_*' --time since)" '^app_twice' "--time: a time in front"
like "$(cat "$tmp/trace")" '^0\.0* ' "which is the first one's"
is "$(tree --calls 'nothing_*'; cat "$tmp/said")" "$(tree --calls 'app_*' >/dev/null; sed 's/^.*\] *//; /^#/d' "$tmp/trace")
btgen: error: no function matches 'nothing_*'" "a pattern that matches nothing"

echo "# C++"
cat >"$tmp/app.cc" <<'END'
#include <stdexcept>
namespace app {
volatile int sink;
__attribute__((noinline)) void leaf(int n) { sink += n; }
__attribute__((noinline)) void thrower(int n) { if (n) throw std::runtime_error("x"); }
struct thing { void run(int); };
__attribute__((noinline)) void thing::run(int n) { try { leaf(n); thrower(n); } catch (std::exception &) { leaf(0); } sink++; }
}
int main() { app::thing t; t.run(1); return 0; }
END
if g++ -O2 -g -o "$tmp/args" "$tmp/app.cc"; then
	is "$(tree --calls '_ZN3app5thing*' --calls '*leaf*' --force)" 'app::thing::run() {
app::leaf();
app::leaf();
} /* app::thing::run */' "names as C++ has them; an exception that stays within a function does no harm"
	tree --calls '_ZN3app*' >/dev/null
	like "$(cat "$tmp/said")" 'has C\+\+ exceptions: a return probe can crash the program' \
		"a program with exceptions is not traced without --force"
fi
done_testing
