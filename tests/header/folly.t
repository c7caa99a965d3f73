#!/usr/bin/env bash
# Programs written for Folly's <folly/tracing/StaticTracepoint.h> compile unchanged with ours: its notes, and its semaphores.
. "$(dirname "$0")/../lib.sh"
# shellcheck disable=SC2154 # top, tmp: lib.sh
drop_in="-I$top/include/btgen/compat"

cat >"$tmp/p.c" <<'EOF'
#include <folly/tracing/StaticTracepoint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#if !FOLLY_HAVE_SDT
#error "no probes"
#endif
#ifdef __cplusplus
namespace folly {
namespace test {
#endif
FOLLY_SDT_DEFINE_SEMAPHORE(mapper, large_map)
FOLLY_SDT_DECLARE_SEMAPHORE(mapper, other_file)
enum kind { SMALL, LARGE };
struct region { const char *name; unsigned short id; enum kind kind; };
static int count_pages(const struct region *r)
{
	printf("counted %s\n", r->name);
	return -3;
}
__attribute__((noinline)) static void map(const struct region *r, unsigned long size)
{
	FOLLY_SDT(mapper, none);
	if (r->id)
		FOLLY_SDT(mapper, map, r->name, size, r->id, r->kind, (signed char)-1);
	else
		FOLLY_SDT(mapper, unnamed, 5);
	if (FOLLY_SDT_IS_ENABLED(mapper, large_map))
		FOLLY_SDT_WITH_SEMAPHORE(mapper, large_map, size, count_pages(r));
	if (FOLLY_SDT_IS_ENABLED(mapper, other_file))
		FOLLY_SDT_WITH_SEMAPHORE(mapper, other_file);
}
#ifdef __cplusplus
} // namespace test
} // namespace folly
#define map folly::test::map
#define region folly::test::region
#define LARGE folly::test::LARGE
#endif
int main(void)
{
	char name[] = "heap", c;
	struct region r = {name, 7, LARGE};
	struct region *volatile which = &r; // the compiler is to know nothing of it
	setvbuf(stdout, NULL, _IOLBF, 0);
	puts("ready");
	while (read(0, &c, 1) == 1) {
		map(which, 4096);
		puts("mapped");
	}
	return 0;
}
EOF
cat >"$tmp/o.c" <<'EOF'
#include <folly/tracing/StaticTracepoint.h>
FOLLY_SDT_DEFINE_SEMAPHORE(mapper, other_file);
EOF
cp "$tmp/p.c" "$tmp/p.cc"
cp "$tmp/o.c" "$tmp/o.cc"
# notes FILE: provider, name, whether there is a semaphore, the arguments' sizes and signs, as readelf reads them
notes() {
	readelf -nW "$1" | awk '
		match($0, /Provider: /) { p = substr($0, RSTART + 10) }
		match($0, /Name: /) { n = substr($0, RSTART + 6) }
		match($0, /Semaphore: /) { sema = substr($0, RSTART + 11) ~ /^0x0*$/ ? "-" : "sema" }
		match($0, /Arguments: ?/) {
			a = substr($0, RSTART + RLENGTH)
			gsub(/@[^ ]*/, "", a)
			print p ":" n, sema, a
		}' | sort
}
want='mapper:large_map sema 8 -4
mapper:map - 8 8 2 4 -1
mapper:none - 
mapper:other_file sema 
mapper:unnamed - -4'
types='mapper:large_map(unsigned long [size], int [count_pages(r)]) sema
mapper:map(const char * [r->name], unsigned long [size], unsigned short [r->id], enum kind [r->kind], signed char [(signed char)-1]) -
mapper:none() -
mapper:other_file() sema
mapper:unnamed(int [5]) -'
for how in "g++ -std=c++11 -O2" "g++ -std=c++14 -O1" "g++ -std=c++17 -O2" "g++ -std=gnu++17 -O0" "clang++ -std=c++11 -O2" "clang++ -std=c++17 -O1" \
	"clang++ -std=gnu++14 -O0" "gcc -std=c11 -O2" "gcc -std=gnu99 -O2 -fPIC -pie" "clang -std=gnu11 -O2"; do
	cc=${how%% *} e=c pedantic=
	command -v "$cc" >/dev/null || { skip "$how" "no $cc"; continue; }
	case $cc in *++) e=cc pedantic=-Wpedantic ;; esac
	# shellcheck disable=SC2086
	$how -g -Wall -Wextra $pedantic -Werror "$drop_in" -o "$tmp/app" "$tmp/p.$e" "$tmp/o.$e" 2>"$tmp/err" ||
		{ ok "$how: compiles without a warning" false; sed 's/^/# /' "$tmp/err"; continue; }
	is "$(notes "$tmp/app")" "$want" "$how: the notes: names, sizes, signs, semaphores"
	is "$("$top/tests/header/probes.py" "$tmp/app" | sed 's/ [^ ]*:[0-9]*$//; s/enum folly::test::kind\|folly::test::kind/enum kind/' | sort)" "$types" \
		"$how: types and names on top"
done
gcc -O2 -w -c "$drop_in" -o "$tmp/arg.o" -DFOLLY_SDT_ARG_CONSTRAINT='"m"' -xc - <<<'#include <folly/tracing/StaticTracepoint.h>
void f(int n) { FOLLY_SDT(p, n, n); }'
like "$(readelf -nW "$tmp/arg.o")" 'Arguments: -4@-?[0-9]*\(%rsp\)|Arguments: -4@\[sp' "FOLLY_SDT_ARG_CONSTRAINT says where arguments may be"
for off in -DUSDT_DISABLE -DFOLLY_DISABLE_SDT=1; do
	sed 's/^#if !FOLLY_HAVE_SDT/#if FOLLY_HAVE_SDT/' "$tmp/p.c" >"$tmp/off.c"
	gcc -O2 -Wall -Wextra -Werror "$drop_in" $off -o "$tmp/off" "$tmp/off.c" "$tmp/o.c"
	is "$(readelf -SW "$tmp/off" | grep -c 'stapsdt\|btgen\|\.probes') $("$tmp/off" <<<x | grep -c counted)" "0 0" "$off removes them, and evaluates nothing"
done

if can_trace; then
	gcc -O2 -g "$drop_in" -o "$tmp/app" "$tmp/p.c" "$tmp/o.c" || exit 1
	mkfifo "$tmp/in"
	"$tmp/app" <"$tmp/in" >"$tmp/out" &
	pid=$!
	own $pid
	exec 8>"$tmp/in"
	wait_for grep -q ready "$tmp/out"
	printf x >&8
	wait_for grep -q mapped "$tmp/out"
	is "$(cat "$tmp/out")" $'ready\nmapped' "untraced: nothing is counted"
	"$top/scripts/bpftrace.sh" -q --ready-file "$tmp/ready" -o "$tmp/trace" -N 1 "$pid" \
		-e 'usdt:__EXE__:mapper:large_map { printf("%d %d\n", args.size, arg1); }' 2>"$tmp/err" 8>&- &
	tracer=$!
	own $tracer
	wait_for test -s "$tmp/ready"
	printf x >&8
	wait $tracer
	is "$(cat "$tmp/trace")" "4096 -3" "traced: its arguments"
	is "$(cat "$tmp/out")" $'ready\nmapped\ncounted heap\nmapped' "a tracer raises the semaphore of the probe, and not that of the other one"
	printf x >&8
	wait_for eval '[ "$(grep -c mapped "$tmp/out")" = 3 ]'
	is "$(grep -c counted "$tmp/out")" 1 "and lowers it when it goes"
	exec 8>&-
	wait $pid
else
	skip_tracing "a tracer raises the semaphore of the probe"
fi
done_testing
