#!/usr/bin/env bash
# exceptions.bt counts the C++ exceptions of a program as often as the program itself does.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"

# Each line it reads is a round; its answer is its own account.
cat >"$tmp/app.cc" <<'END'
#include <cstdio>
#include <stdexcept>

struct Oops { int code; };
namespace app { struct bad_request : std::runtime_error { using runtime_error::runtime_error; }; }

static int thrown, rethrown, caught;

static void __attribute__((noinline)) parse(int i)
{
	thrown++;
	if (i % 3)
		throw app::bad_request("x");
	throw Oops{i};
}

static void __attribute__((noinline)) handle(int i)
{
	try {
		parse(i);
	} catch (const Oops &) {
		caught++;
		rethrown++;
		throw;
	}
}

int main()
{
	char line[16];
	while (fgets(line, sizeof(line), stdin)) {
		for (int i = 0; i < 60; i++) {
			try {
				handle(i);
			} catch (...) {
				caught++;
			}
		}
		printf("%d %d %d\n", thrown, rethrown, caught);
		fflush(stdout);
	}
}
END
g++ -O1 -fno-omit-frame-pointer -o "$tmp/app" "$tmp/app.cc" 2>"$tmp/err" || skip_all "no C++ compiler"
libstdcxx=$(ldd "$tmp/app" | sed -n 's/.*libstdc++.* => \([^ ]*\) .*/\1/p')
readelf -n "$libstdcxx" 2>/dev/null | grep -q 'Name: catch' || skip_all "this libstdc++ was built without probes"

# sum MAP: over its keys
sum() { sed -n "s/^@$1\[.*\]: //p" "$tmp/trace" | awk '{ n += $1 } END { print n + 0 }'; }
own_account() { [ -s "$tmp/answers" ]; }

live_start "$tmp/app"
live_trace -D LINES $live_pid exceptions.bt
live_say round
wait_for own_account
printed() { [ "$(grep -c ' throws ' "$tmp/trace")" = 60 ]; }
wait_for printed
live_wait INT
is $live_rc 0 "^C is status 0"
read -r thrown rethrown caught <"$tmp/answers"
is "$(sum throws) $(sum rethrows) $(sum catches)" "$thrown $rethrown $caught" \
	"as many throws, rethrows and catches as the program says"
is "$(grep -E '^@(throws|catches|rethrows)' "$tmp/trace" | sort)" "@catches[4Oops]: 40
@catches[N3app11bad_requestE]: 40
@rethrows[4Oops]: 20
@throws[4Oops]: 20
@throws[N3app11bad_requestE]: 40" "by type, the first one too, whose name was not in memory yet"
is "$(c++filt -t <"$tmp/trace" | grep '^@throws' | sort)" "@throws[Oops]: 20
@throws[app::bad_request]: 40" "c++filt -t makes C++ of the names"
is "$(grep -cE '^[0-9]+\.[0-9]{6}: thread [0-9]+ throws .* in parse\(int\)$' "$tmp/trace")" 60 \
	"lines: a line for each throw, with who threw"
like "$(tr '\n' ' ' <"$tmp/trace")" '@stacks\[4Oops, parse\(int\), +__cxa_throw\+0 +handle\(int\)\+[0-9]+ +main\+' \
	"the stack that threw"
is "$(sed -n '/^@stacks/,/^@throws/s/^\]: //p' "$tmp/trace" | awk '{ n += $1 } END { print n }')" $thrown "each throw has a stack"
is "$(sed -n '/^@unwind_us/,$p' "$tmp/trace" | awk '/^\[/ { sub(/\|.*/, ""); n += $NF } END { print n }')" $thrown \
	"and a time to its first handler"
c++filt -t <"$tmp/trace" >"$tmp/filtered"
is_sample exceptions.bt "$tmp/filtered"
exec 8>&-
wait_end "$live_pid"

done_testing
