#!/usr/bin/env bash
# Where functions and source lines are: C++ names, overloads, clones, static functions of one name, inlined copies, lines. The
# program counts how often it is there itself.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"

cat >"$tmp/count.h" <<'END'
#pragma once
enum what { BOTH, ONLY, NESTED, SAME, HEADER, LINE, BRANCH, CLONED, HANDLE, HANDLE_INT, TWICE, HIDDEN, METHOD, SECOND, N_WHAT };
#ifdef __cplusplus
extern "C" {
#endif
extern volatile long counts[N_WHAT], sink;
int far_away(int n);
#ifdef __cplusplus
}
#endif
#define ALWAYS static inline __attribute__((always_inline))
#define NEVER __attribute__((noinline))
ALWAYS int in_header(int n)
{
	counts[HEADER]++; // line of the header
	return n * 5 + (int)sink;
}
END
cat >"$tmp/one.c" <<'END'
#include <stdio.h>
#include "count.h"
volatile long counts[N_WHAT], sink = 3;
NEVER static int same(int n) { counts[SAME]++; return n + (int)sink; }
ALWAYS int nested(int n)
{
	counts[NESTED]++;
	return n ^ (int)sink;
}
ALWAYS int only(int n)
{
	counts[ONLY]++;
	if (n % 3 == 0)
		return nested(n);
	return n - (int)sink;
}
int both(int n);
int both(int n) { counts[BOTH]++; sink ^= 5; return n; }
NEVER static int cloned(const int *p, int way)
{
	counts[CLONED]++;
	if (way == 2)
		sink += *p;
	return *p + way;
}
int work(int n);
NEVER int work(int n)
{
	int sum = both(n) + only(n) + same(n);
	for (int i = 0; i < n; i++) {
		sum += only(i);
		counts[LINE]++; // a line
		if (i % 2)
			counts[BRANCH]++; // a branch
	}
	sum += in_header(n) + far_away(n) + nested(n) + cloned(&sum, 2);
	return sum;
}
int (*volatile by_pointer)(int) = both;
void begin(void);
void begin(void)
{
	for (int n = 1; n < 8; n++)
		sink ^= work(n) + by_pointer(n);
	printf("both %ld\nonly %ld\nnested %ld\nsame %ld\nheader %ld\nline %ld\nbranch %ld\ncloned %ld\n", counts[BOTH],
	       counts[ONLY], counts[NESTED], counts[SAME], counts[HEADER], counts[LINE], counts[BRANCH], counts[CLONED]);
}
END
cat >"$tmp/two.c" <<'END'
#include "count.h"
NEVER static int same(int n) { counts[SECOND]++; return n - (int)sink; }
int far_away(int n) { return same(n) ^ in_header(n); }
END
cat >"$tmp/main.cc" <<'END'
#include <stdio.h>
#include <unistd.h>
#include "count.h"
extern "C" void begin(void);
namespace acme {
struct server {
	int v = 3;
	NEVER int handle(int n) { counts[HANDLE]++; counts[HANDLE_INT]++; return v + n; }
	NEVER int handle(const char *s) { counts[HANDLE]++; return *s + v; }
	template <class T> NEVER T twice(T n) { counts[TWICE]++; return n + n + (T)v; }
	inline __attribute__((always_inline)) int method(int n) { counts[METHOD]++; return n * (int)sink; }
};
namespace {
NEVER int hidden(int n) { counts[HIDDEN]++; return n - (int)sink; }
}
NEVER long all(server *s, int n)
{
	return s->handle(n) + s->handle("x") + s->twice(n) + s->twice(5L) + hidden(n) + s->method(n) + s->method(n + 1);
}
}
int main()
{
	acme::server s;
	char c;
	while (read(0, &c, 1) == 1) {
		begin();
		for (int n = 0; n < 5; n++)
			sink ^= acme::all(&s, n);
		printf("handle %ld\nhandle_int %ld\ntwice %ld\nhidden %ld\nmethod %ld\ndone\n", counts[HANDLE], counts[HANDLE_INT], counts[TWICE],
		       counts[HIDDEN], counts[METHOD]);
		fflush(stdout);
	}
}
END
line() { grep -n "// $2\$" "$tmp/$1" | cut -d: -f1; }
cat >"$tmp/everywhere.bt" <<'END'
uprobe:__EXE__:same { @same = count(); }
uprobe:__EXE__:cloned { @cloned = count(); }
uprobe:__EXE__:acme::server::handle { @handle = count(); }
uprobe:__EXE__:acme::server::handle(int) { @handle_int = count(); }
uprobe:__EXE__:acme::server::twice { @twice = count(); }
uprobe:__EXE__:acme::hidden { @hidden = count(); }
END
cat >"$tmp/inside.bt" <<END
#include "everywhere.bt"
uprobe:__EXE__:both { @both = count(); }
uprobe:__EXE__:only { @only = count(); }
uprobe:__EXE__:nested { @nested = count(); }
uprobe:__EXE__:acme::server::method { @method = count(); }
uprobe:__EXE__@count.h:$(line count.h 'line of the header') { @header = count(); }
uprobe:__EXE__@one.c:$(line one.c 'a line') { @line = count(); }
uprobe:__EXE__:one.c:$(line one.c 'a branch') { @branch = count(); }
END
script=inside
case $("$bpftrace" --version) in *" v0.1"*) script=everywhere ;; esac
names=$(cat "$tmp/everywhere.bt" "$tmp/$script.bt" | sed -n 's/.*@\([a-z_]*\) = count().*/\1/p' | sort -u)

# counted, logged: "NAME COUNT" of each function, by the trace and by the program
counted() { sed -n 's/^@\([a-z_]*\): \([0-9]*\)$/\1 \2/p' "$tmp/trace" | sort; }
logged() { grep -F -w -f <(printf '%s\n' $names) "$tmp/answers" | sort; }
for how in "gcc -O0" "gcc -O2" "gcc -O3 -gdwarf-4" "clang -O2" "clang -O0"; do
	cc=${how%% *} flags=${how#* }
	cxx=${cc/gcc/g++}; cxx=${cxx/clang/clang++}
	command -v "$cxx" >/dev/null || { skip "$how" "no $cxx"; continue; }
	# shellcheck disable=SC2086
	(cd "$tmp" && $cc $flags -g -c one.c two.c && $cxx $flags -g -o app main.cc one.o two.o) || { ok "$how compiles" false; continue; }
	live_start "$tmp/app"
	live_round -v "$live_pid" "$tmp/$script.bt" || diag "$(cat "$tmp/messages")"
	is "$(counted | wc -l)" "$(wc -w <<<"$names")" "$how: all of them were seen"
	is "$(counted)" "$(logged)" "$how: each is seen as often as the program was there"
	ok "$how: of two static functions of one name the first is traced, and the other is named" grep -q \
		'1 of 2 places of same is not traced: bpftrace attaches to the first of several functions called same, not this: same() at two.c:2' "$tmp/messages"
	is "$(grep 'hits/s' "$tmp/messages" | sed 's/^btgen:   //; s/: [^ ]* hits.*//' | grep -v -x "uprobe:[a-z_]*\|uprobe:acme::[a-z:]*\((int)\)\?\|uprobe:[a-z]*\.[ch]:[0-9]*\|interval.*\|.*\* ([0-9]* probes)")" "" "$how: the account of the cost has these names, too"
done

# What the loader chooses is read from the process.
cat >"$tmp/chosen.c" <<'END'
#include <stdio.h>
volatile long sink;
static int fast(int n) { sink++; return n + 1; }
static int slow(int n) { return n - (int)sink; }
static int (*choose(void))(int) { return sizeof(long) == 8 ? fast : slow; }
int pick(int n) __attribute__((ifunc("choose")));
int main(void)
{
	while (getchar() != EOF) {
		for (int i = 0; i < 7; i++)
			sink += pick(i) * 0;
		printf("fast %ld\ndone\n", sink);
		fflush(stdout);
	}
}
END
if gcc -O1 -g -o "$tmp/chosen" "$tmp/chosen.c" 2>/dev/null; then
	live_start "$tmp/chosen"
	live_round -e 'uprobe:__EXE__:pick { @fast = count(); }' "$live_pid"
	is "$(counted)" "fast 7" "an ifunc is traced at the function that was chosen"
else
	skip "an ifunc" "this compiler has none"
fi

# -t means the same; inlined copies have their parameters, too.
if [ $script = inside ] && command -v g++ >/dev/null; then
	(cd "$tmp" && gcc -O2 -g -c one.c two.c && g++ -O2 -g -o app main.cc one.o two.o) || exit 1
	asked=(-t uprobe:both -t uprobe:only -t uprobe:same -t uprobe:acme::server::handle -t uprobe:acme::server::method)
	live_start "$tmp/app"
	live_round "${asked[@]}" "$live_pid"
	for name in both only same handle method; do
		is "$(grep -c -w "uprobe:\(acme::server::\)\?$name" "$tmp/trace")" "$(sed -n "s/^$name //p" "$tmp/answers")" "-t: each event of $name()"
	done
	is "$(grep -c -w 'both n=[1-7]$' "$tmp/trace")" "$(sed -n 's/^both //p' "$tmp/answers")" "-t: arguments, of inlined copies, too"
	live_start "$tmp/app"
	live_round --count "${asked[@]}" "$live_pid"
	for name in both only same method; do
		is "$(sed -n "s/^@count\[uprobe:\(acme::server::\)\?$name\((int)\)\?\]: //p" "$tmp/trace")" "$(sed -n "s/^$name //p" "$tmp/answers")" "--count: $name()"
	done
fi

# Copies in lambdas and in methods of local classes.
cat >"$tmp/lambda.cc" <<'END'
#include <cstdio>
volatile int sink, n_calls;
namespace acme {
static inline int small(int v) { n_calls = n_calls + 1; return v * sink; }
struct only { __attribute__((always_inline)) inline int inner(int v) { n_calls = n_calls + 0; return small(v) + sink; } };
}
__attribute__((noinline)) static int apply(int (*f)(int), int v) { return f(v); }
inline int outer(int v)
{
	auto l = [](int x) __attribute__((noinline)) {
		struct local { int go(int q) __attribute__((noinline)) { return acme::only().inner(q) + 1; } } o;
		return acme::small(x) + o.go(x);
	};
	return apply(l, v) + l(v);
}
int (*volatile keep)(int) = outer, (*volatile plain)(int) = acme::small;
int main()
{
	getchar();
	auto l = [](int x) __attribute__((noinline)) { return acme::small(x); };
	sink = outer(1) + keep(2) + plain(3) + l(4) + apply(l, 5);
	printf("%d calls, done\n", (int)n_calls);
	fflush(stdout);
	getchar();
}
END
for how in "g++ -O1" "g++ -O2" "clang++ -O2"; do
	if [ $script != inside ] || ! $how -g -o "$tmp/lambda" "$tmp/lambda.cc" 2>/dev/null; then
		skip "$how: lambdas" "no ${how% *}, or this bpftrace attaches only to entries"
		continue
	fi
	live_start "$tmp/lambda"
	live_round --count -t uprobe:acme::small "$live_pid"
	is "$(grep '^@' "$tmp/trace")" "@count[uprobe:acme::small]: $(sed 's/ .*//' "$tmp/answers")" "$how: inlined copies in lambdas and local classes"
	like "$("$live_sh" -x "$tmp/lambda" -t inner 2>&1)" "it is a function: use 'uprobe:acme::only::inner'" "$how: a function that is only there is one"
done

# A pattern with a scope means names of the source.
if command -v g++ >/dev/null; then
	(cd "$tmp" && gcc -O0 -g -c one.c two.c && g++ -O0 -g -o app main.cc one.o two.o) || exit 1
	for how in "-t uprobe:acme::server::h*" "--calls acme::server::h*"; do
		live_start "$tmp/app"
		# shellcheck disable=SC2086
		live_round $how "$live_pid"
		is "$(grep -c 'acme::server::handle(.*[^/]$' "$tmp/trace")" "$(sed -n "s/^handle //p" "$tmp/answers")" "$how: each call of its functions"
	done
fi
done_testing
