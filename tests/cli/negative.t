#!/usr/bin/env bash
# Numbers below 0 where the treatment of their sign meets predicates, parentheses, filters and long expressions.
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

# body PROBE VERSION TEXT: what TEXT behind the attach point becomes
body() {
	"$btgen" expand -p $pid --for "$2" -e "$1 $3" 2>&1 | sed -n "s/^u[a-z]*:[^ ]* *//p" | sed "s/\b$pid\b/PID/"
}

is "$(body usdt:__EXE__:hit 0.17 '/arg0/ { }')" '/ pid == PID && ((int64)(int32)arg0)/ { }' \
	"a predicate that ends in a signed argument stays whole behind the filter"
is "$(body usdt:__EXE__:hit 0.17 '/1 == (int32)arg0/ { }')" '/ pid == PID && (1 == (int32)(int64)(int32)arg0)/ { }' \
	"with a cast, too"

like "$(body uprobe:__EXE__:f 0.17 '/((struct s *)arg0)->neg / 2 == -3/ { }')" 'pid == PID && \(\(.*->neg < 0 \? -\(int64\)' \
	"a division that the filter stands before is C's"

for text in '(arg0) / 2' '((arg0)) / 2' '1 + (arg0) / 2'; do
	like "$(body usdt:__EXE__:hit 0.27 "{ @ = $text; }")" '\(arg0\)+ < 0 \? -\(int64\)' \
		"an argument in parentheses is divided as in C: $text"
done
for text in 'arg0 / 1000 / 60' 'arg0 * 1000 / 7 % 60' 'arg0 >> 2 >> 3'; do
	like "$(body usdt:__EXE__:hit 0.27 "{ @ = $text; }")" "\\(uint64\\)[-~]${text//\*/\\*}\\) : \\(int64\\).*; }\$" \
		"several divisions in a row are one: $text"
done
like "$(body usdt:__EXE__:hit 0.27 '{ @ = arg0 / 2 * 3 + arg0 * 2; }')" '0 / 2\)\) \* 3 \+ arg0 \* 2; }$' \
	"what does not divide stays as it is"
for text in 'hist(arg0) / 2' 'f(arg0) % 2'; do
	is "$(body usdt:__EXE__:hit 0.27 "{ @ = $text; }")" "/pid == PID/ { @ = $text; }" "a call's parentheses are the call's: $text"
done

text=0
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18; do
	text="((struct s *)arg0)->ins[$text].v / 2"
done
like "$(ulimit -v 1000000 && "$btgen" expand -p $pid --for 0.17 -e "uprobe:__EXE__:f { @ = $text; }" 2>&1)" \
	'error: this becomes too long*' "an expression that would grow beyond all bounds is an error"
done_testing
