#!/usr/bin/env bash
# Numbers below 0 where the treatment of their sign meets predicates, parentheses, filters and long expressions;
# what is said about them is in tests/cli/templates/negative.cases.
# shellcheck source=tests/lib.sh disable=SC2154
. "$(dirname "$0")/../lib.sh"

# A colon in the path makes btgen filter by process instead of naming the file.
mkdir "$tmp/a:b"
cat >"$tmp/t.c" <<'END'
#include <unistd.h>
#include <btgen/usdt.h>
struct in { int v; };
struct s { int neg; struct in ins[4]; };
static struct s s = { -7, { { -1 } } };
__attribute__((noinline)) int f(struct s *p) { USDT_PROBE(app, hit, p->neg); return p->neg; }
int main(void) { f(&s); pause(); return 0; }
END
"${CC:-cc}" -O1 -g -I"$top/include" -o "$tmp/a:b/t" "$tmp/t.c" || skip_all "the target cannot be built"
"$tmp/a:b/t" &
pid=$!
own $pid
wait_for cmp -s "/proc/$pid/exe" "$tmp/a:b/t"

# body PROBE VERSION TEXT: what TEXT behind the attach point becomes
body() {
	"$btgen" expand -p $pid --for "$2" -e "$1 $3" 2>&1 | sed -n "s/^u[a-z]*:[^ ]* *//p" | sed "s/\b$pid\b/PID/"
}

is "$(body usdt:__EXE__:hit 0.17 '/arg0/ { }')" '/ pid == PID && ((int64)(int32)arg0)/ { }' \
	"a predicate that ends in a signed argument stays whole behind the filter"
is "$(body usdt:__EXE__:hit 0.17 '/1 == (int32)arg0/ { }')" '/ pid == PID && (1 == (int64)(int32)arg0)/ { }' \
	"with a cast, too"

like "$(body uprobe:__EXE__:f 0.17 '/((struct s *)arg0)->neg / 2 == -3/ { }')" \
	'pid == PID && \(\(int64\)\(\(int64\)\(\(uint64\)\(.*->neg .*->neg >> 63\) .* / 2\) - \(int64\)4611686018427387904\) == -3\)/' \
	"a division that the filter stands before is C's"

# The oracle is the C compiler: of the expression, and of what becomes of it when no number has a sign, as in bpftrace.
while read -r text; do
	got=$(body usdt:__EXE__:hit 0.27 "{ @ = $text; }")
	got=${got#*@ = } got=${got%; \}}
	[ -n "$got" ] || got=0
	printf '\tCHECK(%s, %s);\n' "$text" "$got" >>"$tmp/checks.h"
done <<'END'
(arg0) / 2
((arg0)) / 2
1 + (arg0) / 2
arg0 / 1000 / 60
arg0 * 1000 / 7 % 60
arg0 >> 2 >> 3
arg0 >> 1
arg0 >> 0
arg0 >> 63
arg0 / 1
arg0 % 1
arg0 / 3 * 2
arg0 % 4294967296
arg0 / 9223372036854775807 + arg0 % 9223372036854775806
arg0 / 0x10 - arg0 % 0x10
arg0 / 1000000000000
2 * arg0 / 7
(arg0 + 3) / 2 - arg0 / 7 / 3
-arg0 % 10 * 3
1 + arg0 >> 2 + 1
arg0 / -3
(-7 - arg0 / 2) / (arg0 / 3 * 2 - 7)
100 % (arg0 | 1)
arg0 / (3 * 2)
(arg0 & 0xff) / 3
(arg0 == 3 ? arg0 / 3 : arg0 % 5) >> 1
END
cat >"$tmp/checks.c" <<'END'
#include <stdint.h>
#include <stdio.h>
typedef uint64_t int64, uint64;
static int64_t c, ours;
#define CHECK(text, became) \
	c = text; \
	{ uint64_t v = arg0; { uint64_t arg0 = v; ours = became; } } \
	if (ours != c) printf("%s of %ld is %ld, not %ld\n", #text, arg0, c, ours)
static const int64_t values[] = {0, 1, -1, 2, -2, 3, -3, 6, -6, 7, -7, 8, -8, 59, -60, 127, -128, 999, -1000, -1001,
	32767, -32768, INT32_MAX, INT32_MIN, INT32_MIN + 1ll, 1ll << 40, -(1ll << 40), INT64_MAX, INT64_MIN, INT64_MIN + 1};
int main(void)
{
	for (unsigned i = 0; i < sizeof(values) / sizeof(*values); i++) {
		long arg0 = values[i];
#include "checks.h"
	}
	return 0;
}
END
"${CC:-cc}" -O1 -w -fwrapv -o "$tmp/checks" "$tmp/checks.c"
is "$("$tmp/checks" 2>&1)" "" "and comes to what it does in C, whatever the value"

like "$(body usdt:__EXE__:hit 0.27 '{ @ = arg0 / 2 * 3 + arg0 * 2; }')" '/ 2\) - \(int64\)4611686018427387904\) \* 3 \+ arg0 \* 2; }$' \
	"what does not divide stays as it is"
for text in 'bswap((uint32)arg0) / 2' 'f(arg0) % 2'; do
	is "$(body usdt:__EXE__:hit 0.27 "{ @ = $text; }")" "/pid == PID/ { @ = $text; }" "a call's parentheses are the call's: $text"
done

text=0
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18; do
	text="((struct s *)arg0)->ins[$text].v / 2"
done
like "$(limit_memory 1000000 && "$btgen" expand -p $pid --for 0.17 -e "uprobe:__EXE__:f { @ = $text; }" 2>&1)" \
	'error: expression is too complex' "an expression that would grow beyond all bounds is an error"
choice=arg0
for i in {1..40}; do choice="(($choice) ? @m : $i)"; done
like "$(guard "$btgen" expand -p $pid --for 0.23 -e "uprobe:__EXE__:f { @m = 1; @n = $choice; }" 2>&1)" \
	'error: expression is too complex' "so is a choice of choices that are written as sums"
done_testing
