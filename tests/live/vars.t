#!/usr/bin/env bash
# vars.NAME: what the program itself prints of its variables, at entries of functions and at probes, and what gdb shows.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"
version=$("$bpftrace" --version | sed 's/.*v0\.\([0-9]*\).*/\1/')

cat >"$tmp/app.c" <<'END'
#include <btgen/usdt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>
enum color { RED = 1, GREEN = -2 };
struct point { int x; short y; char name[8]; };
struct work { struct point at; enum color color; struct work *next; uint8_t flags : 3; long many[4]; };
long total = -7;
static volatile unsigned short rounds = 65530;
__attribute__((noinline)) long step(struct work *w, signed char delta, const char *text, bool on);
__attribute__((noinline)) long step(struct work *w, signed char delta, const char *text, bool on)
{
	static int last = -3;
	struct work copy = *w;
	short small = (short)(delta * 100);
	unsigned long long wide = (unsigned long long)delta;
	enum color was = w->color;
	rounds++;
	copy.at.x += delta;
	printf("entry %d %s %d %d %s %ld\n", delta, text, on, w->at.x, w->at.name, w->many[3]);
	for (int i = 0; i < 2; i++) {
		int square = i * i - 5;
		total += square;
		last -= i;
		printf("site %d %d %d %d %llu %d %d %d %s %ld %d %d %d\n", delta, on, i, small, wide, was, copy.at.x, copy.at.y,
		       copy.at.name, copy.many[1], square, rounds, last);
		USDT_PROBE(app, site, USDT_ARG(square, "square"), USDT_ARG(small, "small"), USDT_ARG(wide, "wide"),
			   USDT_ARG(&copy, "copy"), USDT_ARG(was, "was"), USDT_ARG(i, "i"), USDT_ARG(on, "on"), USDT_ARG(delta, "delta"));
	}
	return total + copy.at.x;
}
int main(void)
{
	struct work a = {{3, -4, "alpha"}, GREEN, 0, 5, {1, -2, 3, -4}}, b = {{30, 40, "beta"}, RED, &a, 2, {5, 6, 7, 8}};
	char c, low[] = "low", high[] = "high"; // in pages that are there: others cannot be read from a probe
	setlinebuf(stdout);
	while (read(0, &c, 1) == 1) {
		step(&b, -128, low, false);
		step(&a, 127, high, true);
		printf("total %ld\n", total);
		puts("done");
	}
	return 0;
}
END
cat >"$tmp/vars.bt" <<'END'
uprobe:__EXE__:step {
	printf("entry %d %s %d %d %s %ld\n", vars.delta, str(vars.text), vars.on, vars.w->at.x, str(vars.w->at.name), vars.w->many[3]);
}
usdt:__EXE__:app:site {
	printf("site %d %d %d %d %llu %d %d %d %s %ld %d %d %d\n", vars.delta, vars.on, vars.i, vars.small, vars.wide, vars.was,
		vars.copy.at.x, vars.copy.at.y, str(vars.copy.at.name), vars.copy.many[1], vars.square, vars.rounds, vars.last);
	@[vars.was, vars.on] = count();
	print(vars.copy.at);
}
END

compare() { # BUILD...: what it prints and what is traced are the same
	"$@" -g -I"$top/include" -o "$tmp/app" "$tmp/app.c" 2>"$tmp/errors" || { ok "$*: compiles" false; return; }
	live_start "$tmp/app"
	ok "$*: it attaches" live_trace "$live_pid" "$tmp/vars.bt"
	printf x >&8
	wait_for grep -q 'done' "$tmp/answers"
	live_wait INT
	is "$(grep -E '^(entry|site)' "$tmp/trace")" "$(grep -E '^(entry|site)' "$tmp/answers")" "$*: the program's own values"
	is "$(grep '^@\[' "$tmp/trace" | sort)" "@[GREEN, 1]: 2
@[RED, 0]: 2" "$*: an enumeration has its names"
	like "$(cat "$tmp/trace")" '^\{x = 130, y = -4, name = "alpha"\}$' "$*: a struct is printed whole"
	exec 8>&-
	wait_end "$live_pid"
}
compare gcc -O0
compare gcc -O0 -no-pie -gdwarf-4
compare gcc -O2
if command -v clang >/dev/null && [ "$(uname -m)" = x86_64 ]; then compare clang -O0; fi

# --- one probe at two sites, with each variable elsewhere
cat >"$tmp/sites.c" <<'END'
#include <btgen/usdt.h>
#include <stdio.h>
struct pair { int x; short y[2]; };
static int calls;
int shared = 9;
__attribute__((noinline)) int one(int n);
__attribute__((noinline)) int one(int n)
{
	int left = n * 2;
	struct pair pair = {n, {1, -2}};
	calls++;
	printf("%d %d %d %d %d\n", left, calls, shared, pair.x, pair.y[1]);
	USDT_PROBE(app, sites, USDT_ARG(n, "n"));
	return left + pair.x;
}
__attribute__((noinline)) int two(int m);
__attribute__((noinline)) int two(int m)
{
	char room[100] = "";
	int left = m * 3;
	struct pair pair = {-m, {3, -4}};
	calls++;
	shared -= 20;
	printf("%d %d %d %d %d\n", left, calls, shared, pair.x, pair.y[1]);
	USDT_PROBE(app, sites, USDT_ARG(m, "n"));
	return left + m + pair.x + room[m];
}
int main(void)
{
	setlinebuf(stdout);
	getchar();
	one(1);
	two(2);
	one(-3);
	puts("done");
	return getchar();
}
END
gcc -O0 -g -I"$top/include" -o "$tmp/sites" "$tmp/sites.c"
live_start "$tmp/sites"
ok "sites: it attaches" live_trace "$live_pid" -e 'usdt:__EXE__:app:sites {
	printf("%d %d %d %d %d\n", vars.left, vars.calls, vars.shared, vars.pair.x, vars.pair.y[1]); }'
printf x >&8
wait_for grep -q 'done' "$tmp/answers"
live_wait INT
is "$(grep . "$tmp/trace")" "$(grep -v 'done' "$tmp/answers")" "sites: the program's own values at each of them"
exec 8>&-
wait_end "$live_pid"

# --- structs that are passed in registers
cat >"$tmp/parts.cc" <<'END'
#include <stdio.h>
#include <string_view>
struct small { int a; short b, c; };
struct pair { long x; unsigned long y; };
struct outer { const char *name; small in; };
#define NOIPA __attribute__((noinline))
volatile long sink;
NOIPA void tick(long n) { sink += n; }
NOIPA long ints(small s, int n) { tick(s.a + s.b); return sink += s.c + n; }
NOIPA long both(int n, pair p, small s) { tick(p.x + (long)p.y); return sink += n + s.a + s.c; }
NOIPA long nested(outer o) { tick(*o.name); return sink += o.in.a + o.in.c; }
NOIPA long view(std::string_view s, int n) { tick(s[0]); return sink += (long)s.size() + n; }
int main()
{
	char name[] = "some name", text[] = "viewed\0not";
	for (int i = -1; i < 2; i++) {
		small s = {i * 1000, (short)(i * 7), (short)(i - 1)};
		pair p = {i * 5000000000L, (unsigned long)i};
		outer o = {name, s};
		std::string_view v(text, (size_t)(i + 4));
		printf("ints %d %d %d\n", s.a, s.b, s.c);
		ints(s, i);
		printf("both %ld %lu\n", p.x, p.y);
		both(i, p, s);
		printf("nested %s %d %d\n", o.name, o.in.a, o.in.c);
		nested(o);
		printf("view %.*s %d\n", (int)v.size(), v.data(), (int)v.size());
		view(v, i);
	}
}
END
parts() { # REGEX BUILD...: of functions that fit
	local what=$1
	shift
	"$@" -std=c++17 -O2 -g -o "$tmp/parts" "$tmp/parts.cc" || exit 1
	grep -E "^#|^uprobe:__EXE__:($what) " >"$tmp/parts.bt" <<'END'
uprobe:__EXE__:ints { printf("ints %d %d %d\n", args.s.a, args.s.b, vars.s.c); }
uprobe:__EXE__:both { printf("both %ld %lu\n", args.p.x, args.p.y); }
uprobe:__EXE__:nested { printf("nested %s %d %d\n", str(args.o.name), args.o.in.a, args.o.in.c); }
uprobe:__EXE__:view { printf("view %s %d\n", str(args.s._M_str, args.s._M_len), args.s._M_len); }
END
	"$top/scripts/bpftrace.sh" -q -c "$tmp/parts" -o "$tmp/trace" "$tmp/parts.bt" >"$tmp/answers" 2>&1
	is "$(grep . "$tmp/trace")" "$(grep -E "^($what) " "$tmp/answers")" "$*: members of structs in registers"
}
if [ "$(uname -m)" != x86_64 ]; then
	skip "structs in registers" "registers are those of x86-64"
else
	gxx=$(g++ -dumpversion)
	if [ "${gxx%%.*}" -lt 16 ]; then
		parts 'ints|both|nested|view' g++
	else # it has one location of p for all of both(), which need not be where it is at the entry
		parts 'ints|nested|view' g++
		like "$("$btgen" check --for 0.27 -x "$tmp/parts" -e 'uprobe:__EXE__:both { print(args.p.x); }' 2>&1)" \
			'error: bpftrace cannot read parameter p of both\(\): where it is passed is not known' "g++: one whose place at the entry is not known is refused"
	fi
	# Of what shares a register clang has no location at the entry.
	if command -v clang++ >/dev/null; then parts 'both|view' clang++; fi
fi

# --- copies in code that is not optimized: what is passed is stored before the copy begins
cat >"$tmp/copies.c" <<'END'
#include <stdio.h>
#define COPIED static inline __attribute__((always_inline))
struct pair { int x; long y; };
volatile long sink;
COPIED long add(int a, long b) { printf("add %d %ld\n", a, b); return a + b; }
COPIED long nest(const char *text, struct pair p, unsigned char c) { printf("nest %s %d %ld %u\n", text, p.x, p.y, c); return add(p.x - 1, c); }
__attribute__((noinline)) long work(int n)
{
	for (int i = 0; i < 3; i++) {
		struct pair p = {i * n, -i};
		char text[] = "text";
		sink += add((int)add(n + i, i * 5000000000), sink);
		sink += nest(text + i, p, (unsigned char)(n - i));
	}
	return sink;
}
int main(void) { return work(-7) == 0; }
END
copies() { # BUILD...
	"$@" -g -o "$tmp/copies" "$tmp/copies.c" 2>"$tmp/errors" || { ok "$*: compiles" false; return; }
	"$top/scripts/bpftrace.sh" -q -c "$tmp/copies" -o "$tmp/trace" -e 'uprobe:__EXE__:add { printf("add %d %ld\n", vars.a, vars.b); }
uprobe:__EXE__:nest { printf("nest %s %d %ld %u\n", str(vars.text), vars.p.x, vars.p.y, vars.c); }' >"$tmp/answers" 2>"$tmp/messages"
	is "$(grep -c . "$tmp/answers") $(grep . "$tmp/trace")" "12 $(cat "$tmp/answers")" "$*: parameters of copies where they begin"
}
if [ "$version" -lt 20 ]; then
	skip "copies" "this bpftrace attaches only to entries"
else
	copies gcc -O0
	if command -v clang >/dev/null; then copies clang -O0; fi
fi

# --- any instruction, as gdb shows it: bpftrace 0.17 attaches to none but entries
if ! command -v gdb >/dev/null || ! command -v objdump >/dev/null; then
	skip "gdb" "there is no gdb or objdump"
elif [ "$version" -lt 21 ]; then
	skip "gdb" "this bpftrace attaches only to entries"
else
	sed 's/while (read(0, &c, 1) == 1)/for (c = 0; c < 2; c++)/' "$tmp/app.c" >"$tmp/loop.c"
	for build in "gcc -O0" "gcc -O2" "clang -O2"; do
		command -v "${build%% *}" >/dev/null || continue
		# shellcheck disable=SC2086
		$build -g -I"$top/include" -o "$tmp/loop" "$tmp/loop.c" 2>"$tmp/errors"
		"$top/tests/gdb/variables.py" --btgen "$btgen" --match '^(step|main)$' --places 24 --seed 3 -- "$tmp/loop" >"$tmp/report" 2>&1
		like "$(cat "$tmp/report")" 'compared [1-9][0-9]{2}, wrong 0,.* only btgen 0;' "$build: gdb shows the same at 24 instructions"
		sed 's/^/# /' "$tmp/report"
	done
	gcc -O0 -g -o "$tmp/copies" "$tmp/copies.c" || exit 1
	"$top/tests/gdb/variables.py" --btgen "$btgen" --match '^work$' --places 24 --seed 3 -- "$tmp/copies" >"$tmp/report" 2>&1
	like "$(cat "$tmp/report")" 'compared [1-9][0-9]*, wrong 0,.* only btgen 0;' "gcc -O0: and in copies"
fi
done_testing
