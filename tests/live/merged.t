#!/usr/bin/env bash
# Functions of one pattern in one clause: counts and calls are those of the program's books, of a clause for each function and
# of bare bpftrace, where the pattern alone would mean more or less: pieces, clones, copies, aliases, static namesakes, a library's.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"

# Each function that has code writes its own name down; each is called another number of times.
{
	cat <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#define NOINLINE __attribute__((noinline))
volatile long sink;
void app_twin_caller(void);
long app_in_library(long n);
void other_alias(void);
static void book(const char *name) { printf("%s\n", name); }
END
	for i in $(seq 1 30); do echo "NOINLINE void app_f$i(void); NOINLINE void app_f$i(void) { book(\"app_f$i\"); sink += $i; }"; done
	cat <<'END'
NOINLINE void app_cold(int n); // gcc makes app_cold.cold of the call that is never made
__attribute__((cold, noinline)) void die(int n);
__attribute__((cold, noinline)) void die(int n) { fprintf(stderr, "%d\n", n); abort(); }
NOINLINE void app_cold(int n) { book("app_cold"); if (n > 1000) { die(n); sink = n; } sink += n; }
static NOINLINE int app_clone(int a, int b) { book("app_clone"); return a * b + (int)sink; } // app_clone.constprop.0
static inline void app_inlined(void) { sink++; }
void (*keep)(void) = app_inlined; // has code, and a copy in main()
void app_f9_alias(void) __attribute__((alias("app_f9")));
static NOINLINE void app_twin(void) { book("app_twin"); sink += 2; }
int main(void)
{
	char c;
	setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	while (read(0, &c, 1) == 1) {
		for (int i = 0; i < 30; i++)
			switch (i) {
END
	for i in $(seq 1 30); do echo "case $((i - 1)): app_f$i();"; done
	cat <<'END'
			}
		app_cold(3); app_cold(4);
		sink += app_clone(3, 4) + app_clone(3, 5);
		app_inlined();
		app_twin(); app_twin_caller();
		sink += app_in_library(1);
		other_alias();
		puts("done");
		fflush(stdout);
	}
	return 0;
}
END
} >"$tmp/app.c"
cat >"$tmp/two.c" <<'END'
#include <stdio.h>
extern volatile long sink;
void app_twin_caller(void); void other_alias(void); void app_f9_alias(void);
static __attribute__((noinline)) void app_twin(void) { puts("app_twin"); sink += 3; }
void app_twin_caller(void) { puts("app_twin_caller"); app_twin(); }
void other_alias(void) { app_f9_alias(); }
END
cat >"$tmp/lib.c" <<'END'
#include <stdio.h>
long app_in_library(long n); void app_f7(void);
static __attribute__((noinline)) void app_f3(long n) { puts("app_f3"); if (n > 99) puts("many"); }
long app_in_library(long n) { puts("app_in_library"); app_f3(n); return n + 1; }
void app_f7(void) { puts("app_f7"); } // the program's own is called
END
gcc -O2 -g -shared -fPIC -o "$tmp/libapp.so" "$tmp/lib.c" && gcc -O2 -g -o "$tmp/app" "$tmp/app.c" "$tmp/two.c" "$tmp/libapp.so" || exit 1
gcc -O0 -g -no-pie -o "$tmp/plain" "$tmp/app.c" "$tmp/two.c" "$tmp/libapp.so" || exit 1
ok "the program has pieces and clones" eval 'nm "$tmp/app" | grep -q "app_cold\.cold" && nm "$tmp/app" | grep -q "app_clone\.constprop"'

books() { grep '^app_' "$tmp/answers" | sort | uniq -c | awk '{ print $2 ": " $1 }' | LC_ALL=C sort; }
counts() { sed -nE "s/^@count\[${1-uprobe}:(.*)\]: ([0-9]*)$/\1: \2/p" "$tmp/trace" | LC_ALL=C sort; }
# rounds PROGRAM ARG...: it works under bpftrace.sh with these
rounds() {
	live_start "$1"
	ok "${*:2}: it attaches" live_trace "$live_pid" "${@:2}"
	printf 'xxx' >&8
	wait_for eval '[ "$(grep -c done "$tmp/answers")" = 3 ]'
	live_wait INT
	exec 8>&-
	wait_end "$live_pid"
}

for program in "$tmp/app" "$tmp/plain"; do # with its library, which has some of these names, too
	name=${program##*/}
	rounds "$program" -t "uprobe:app_*" --count
	counts >"$tmp/merged"
	live_start "$program"
	"$live_sh" -n -t "uprobe:app_*" --count "$live_pid" >"$tmp/list.bt" 2>/dev/null
	exec 8>&-
	wait_end "$live_pid"
	unlike "$(cat "$tmp/list.bt")" '\*$|func|enum_name' "$name: -n has a clause for each function"
	rounds "$program" "$tmp/list.bt"
	is "$(cat "$tmp/merged")" "$(counts)" "$name: counts are those of a clause for each function"
	rounds "$program" -t "uretprobe:app_*" --count
	is "$(counts uretprobe | grep -v "^app_inlined:")" "$(grep -v "^app_inlined:" "$tmp/merged")" "$name: and those of returns"
	ours=$(grep -E '^app_(f[1-8]|f[12]9|cold|(twin_caller|in_library))' "$tmp/merged")
	is "$ours" "$(books | grep -E '^app_(f[1-8]|f[12]9|cold|(twin_caller|in_library))')" "$name: and the program's"
	live_start "$program"
	bare=$(for file in "$program" "$tmp/libapp.so"; do
		nm "$file" | awk '$2 ~ /[tT]/ && $3 ~ /^app_(f[1-8][0-9]*|cold|twin_caller|in_library)$/ { print $3 }' |
			while read -r one; do echo "uprobe:$file:$one { @count[\"uprobe:$one\"] = count(); }"; done
	done)
	bare_start "$bpftrace" -p "$live_pid" -e "$bare"
	printf 'xxx' >&8
	wait_for eval '[ "$(grep -c done "$tmp/answers")" = 3 ]'
	bare_end
	exec 8>&-
	wait_end "$live_pid"
	is "$ours" "$(sed -n 's/^@count\[uprobe:\(.*\)\]: \([0-9]*\)$/\1: \2/p' "$tmp/bare" | LC_ALL=C sort)" "$name: and bare bpftrace's"
	rounds "$program" -f json -t "uprobe:app_*" --count=probe,comm
	is "$(python3 - "$tmp/trace" <<'END' | LC_ALL=C sort
import json, sys
for line in open(sys.argv[1]):
    for e in json.loads(line).get("entries", []):
        print(e["key"][0][7:], e["value"], sep=": ")
END
)" "$(cat "$tmp/merged")" "$name: the same as JSON"
	rounds "$program" -f json --calls "app_*"
	is "$(python3 - "$tmp/trace" <<'END' | LC_ALL=C sort
import collections, json, sys
n = collections.Counter(json.loads(line).get("probe") for line in open(sys.argv[1]) if '"probe"' in line)
for probe in sorted(p for p in n if p.startswith("uprobe:app_f") and p[-2:] != "f9" and "alias" not in p or p in ("uprobe:app_cold", "uprobe:app_twin_caller", "uprobe:app_in_library")):
    print(probe[7:] + ":", n[probe] if n[probe] == n["uret" + probe[1:]] else (n[probe], n["uret" + probe[1:]]))
END
)" "$ours" "$name: calls, each with its return"
done

echo "# too many: what is noted can be typed"
live_start "$tmp/app"
"$live_sh" -o "$tmp/trace" --max-functions 34 --calls 'app:app_*' "$live_pid" 2>"$tmp/messages"
is "$(cat "$tmp/messages")" "btgen: error: 35 functions match 'app:app_*': at most 34 can be traced at once
btgen: note: --max-functions 35 traces them all
btgen: note: 'app:app_*@app.c' means the 34 of that source file" "two commands are noted"
exec 8>&-
wait_end "$live_pid"
for words in '--max-functions 35 --calls app:app_*' '--max-functions 34 --calls app:app_*@app.c'; do
	set -f
	# shellcheck disable=SC2086
	rounds "$tmp/app" $words
	set +f
	is "$(grep -c 'app_f[1-8]()' "$tmp/trace")" "$((3 * (1 + 2 + 3 + 4 + 5 + 6 + 7 + 8)))" "it traces"
done

echo "# a process that calls exec() has its functions elsewhere"
cat >"$tmp/again.c" <<'END'
#include <stdio.h>
#include <unistd.h>
volatile int sink;
__attribute__((noinline)) void app_a(void) { sink++; }
__attribute__((noinline)) void app_b(void) { sink += 2; }
int main(int argc, char **argv)
{
	char c;
	(void)argc;
	dprintf(1, "ready\n");
	while (read(0, &c, 1) == 1) {
		app_a(); app_b(); app_b();
		dprintf(1, "done\n");
		if (c == 'e')
			execv("/proc/self/exe", argv);
	}
	return 0;
}
END
gcc -O1 -g -o "$tmp/again" "$tmp/again.c"
again() { # ARG...: once before, and once after; $ends: then the process ends first
	live_start "$tmp/again"
	ok "$*: it attaches" live_trace "$live_pid" "$@"
	printf 'e' >&8
	wait_for eval '[ "$(grep -c ready "$tmp/answers")" = 2 ]'
	printf 'x' >&8
	wait_for eval '[ "$(grep -c done "$tmp/answers")" = 2 ]'
	live_settle
	[ -n "${ends-}" ] || live_wait INT
	exec 8>&-
	wait_end "$live_pid"
	[ -z "${ends-}" ] || live_wait
}
for ends in '' yes; do
	for kind in uprobe uretprobe; do
		again -t "$kind:app_*" --count
		is "$(counts $kind | awk -F': ' '{ n[$1] += $2 } END { for (k in n) print k, n[k] }' | sort)" "app_a 2
app_b 4" "counts have the names of functions${ends:+, also after the end}"
	done
done
ends=''
again --calls 'app_*'
is "$(grep -o 'app_[ab]()' "$tmp/trace" | sort | uniq -c | awk '{ print $2, $1 }')" "app_a() 2
app_b() 4" "and so have calls"

echo "# functions of C++, by the names that a clause for each has"
cat >"$tmp/again.cc" <<'END'
#include <stdio.h>
#include <unistd.h>
#define NOINLINE __attribute__((noinline))
volatile long sink;
namespace acme {
NOINLINE void one(int n) { sink += n; }
NOINLINE void two(long n) { sink += n; }
NOINLINE void two(const char *s) { sink += *s; }
template <class T> NOINLINE T put(T t) { sink += 3; return t; }
struct Box { NOINLINE virtual ~Box() { sink += 2; } NOINLINE long get() const { return sink; } };
static NOINLINE void hidden(int n) { sink += n; }
struct Root { long r; NOINLINE Root() : r(1) { } };
struct Mid : virtual Root { NOINLINE Mid() { sink += 4; } };
struct Last : Mid { NOINLINE Last() { sink += 5; } };
}
int main(int, char **argv)
{
	char c;
	dprintf(1, "ready\n");
	while (read(0, &c, 1) == 1) {
		{
			acme::Box b;
			acme::Mid mid; // two functions of one name: whole, and in another class
			acme::Last last;
			acme::one(1); acme::two(2L); acme::two("x"); acme::two("y"); acme::hidden(c);
			sink = acme::put(3) + (long)acme::put(2.5) + b.get();
		}
		dprintf(1, "done\n");
		if (c == 'e')
			execv("/proc/self/exe", argv);
	}
	return 0;
}
END
g++ -O1 -g -o "$tmp/again" "$tmp/again.cc"
for kind in uprobe uretprobe; do
	again -t "$kind:acme::*" --count
	is "$(counts $kind | awk -F': ' '{ n[$1] += $2 } END { for (k in n) print k, n[k] }' | LC_ALL=C sort)" "acme::Box::get 2
acme::Box::~Box 2
acme::Last::Last 2
acme::Mid::Mid 4
acme::Root::Root 4
acme::hidden 2
acme::one 2
acme::put<double> 2
acme::put<int> 2
acme::two(char const*) 4
acme::two(long) 2" "$kind: counts, also after exec()"
	is "$(counts $kind | awk -F': ' '++n[$1] > 1')" "" "$kind: a name has one count before it and after"
	live_start "$tmp/again"
	points=$("$live_sh" -T 0.1 --echo -t "$kind:acme::*" --count "$live_pid" 2>/dev/null | grep -c "^$kind:")
	case $("$bpftrace" --version) in
	*v0.1* | *v0.2[0-2]*) is "$points" 12 "$kind: a clause for each" ;;
	*) is "$((points < 12))" 1 "$kind: fewer attach points than functions" ;;
	esac
	exec 8>&-
	wait_end "$live_pid"
done

echo "# more functions than can have clauses of their own: entries and returns, of two processes and of children, before and after exec()"
{
	cat <<'END'
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
volatile long sink;
static void work(void);
int main(int argc, char **argv)
{
	char c;
	(void)argc;
	while (read(0, &c, 1) == 1) {
		work();
		if (c == 'f' && !fork()) {
			work();
			_exit(0);
		}
		wait(NULL);
		puts("done");
		fflush(stdout);
		if (c == 'e')
			execv("/proc/self/exe", argv);
	}
	return 0;
}
END
	for i in $(seq 320); do echo "__attribute__((noinline)) void many_f$i(void); void many_f$i(void) { puts(\"many_f$i\"); sink += $i; }"; done
	echo "static void work(void) {"
	for i in $(seq 320); do echo "for (int i = 0; i < 1 + $i % 4; i++) many_f$i();"; done
	echo "fflush(stdout); }"
} >"$tmp/many.c"
gcc -O1 -g -o "$tmp/many" "$tmp/many.c"
many_books() { sed -n 's/^many_f.*/uprobe:&\nuretprobe:&/p' "$@" | grep -E "$some" | sort | uniq -c | awk '{ print $2 ": " $1 }' | sort; }
many_counts() { sed -n 's/^@count\[\(.*\)\]: /\1: /p' "$tmp/trace" | sort; }
case $("$bpftrace" --version) in
*v0.1* | *v0.2[0-2]*)
	live_start "$tmp/many"
	like "$("$live_sh" -t 'uprobe:many_*' --count "$live_pid" 2>&1)" "320 functions match 'uprobe:many_\*': at most 300" "320 clauses are too many"
	exec 8>&-
	wait_end "$live_pid"
	patterns=(-t 'uprobe:many_f7?' -t 'uretprobe:many_f8?') some='^uprobe:many_f7.$|^uretprobe:many_f8.$' most=20
	;;
*) patterns=(-t 'uprobe:many_*' -t 'uretprobe:many_f2*') some='^uprobe|many_f2' most=2 ;;
esac
mkfifo "$tmp/other-in"
"$tmp/many" <"$tmp/other-in" >"$tmp/other-answers" &
other=$!
own $other
exec 9>"$tmp/other-in"
live_start "$tmp/many" 9>&-
ok "two processes: it attaches" live_trace "${patterns[@]}" --count "$live_pid" "$other" 9>&-
for c in x e x; do
	printf '%s' $c >&8
	printf '%s' $c >&9
done
wait_for eval '[ "$(cat "$tmp/answers" "$tmp/other-answers" | grep -c done)" = 6 ]'
exec 9>&-
wait_end $other # whose functions keep their names
live_wait INT
is "$(many_counts)" "$(many_books "$tmp/answers" "$tmp/other-answers")" "counts are those of both programs"
is "$(($("$live_sh" -T 0.1 --echo "${patterns[@]}" --count "$live_pid" 2>/dev/null | grep -c '^ur*e*t*probe:') <= most))" 1 "of at most $most clauses"
exec 8>&-
wait_end "$live_pid"
live_start "$tmp/many"
ok "a process and its children: it attaches" live_trace "${patterns[@]}" --count --children "$live_pid"
printf 'fef' >&8
wait_for eval '[ "$(grep -c done "$tmp/answers")" = 3 ]'
live_wait INT
exec 8>&-
wait_end "$live_pid"
is "$(many_counts)" "$(many_books "$tmp/answers")" "counts are those of all of them"

echo "# one attach point from 0.23 on"
for kind in uprobe uretprobe; do
	live_start "$tmp/app"
	points=$("$live_sh" -T 0.1 --echo -t "$kind:app_f1*" --count "$live_pid" 2>/dev/null | grep -o "^$kind:[^ ]*" | sed 's/.*://')
	case $("$bpftrace" --version) in
	*v0.1* | *v0.2[0-2]*) is "$(wc -l <<<"$points")" 11 "a clause for each of eleven functions" ;;
	*) is "$points" 'app_f1*' "one pattern for eleven functions" ;;
	esac
	exec 8>&-
	wait_end "$live_pid"
done

# A function beside a clone of it: each call once, whatever means it.
cat >"$tmp/clones.c" <<'END'
#include <stdio.h>
static volatile long sink;
static volatile int many = 5;
__attribute__((noinline)) int cl_f(int a, int mode)
{
	puts("cl_f");
	if (mode == 3) {
		for (int i = 0; i < a; i++)
			sink += i * mode;
		return a;
	}
	for (int i = 0; i < mode; i++)
		sink -= i / (a + 1);
	return (int)sink + mode;
}
__attribute__((noinline)) int cl_g(int a) { puts("cl_g"); return cl_f(a, 3) + cl_f(a + 1, 3) + cl_f(a + 2, 3) + cl_f(a + 3, 3); }
int main(void)
{
	setlinebuf(stdout);
	getchar();
	sink += cl_g(many) + cl_f(many, many) + cl_f(many + 1, many + 2);
	puts("done");
}
END
gcc -O3 -fipa-cp-clone -g -o "$tmp/clones" "$tmp/clones.c" || exit 1
clones() { # ARG...
	live_start "$tmp/clones"
	ok "$*: it attaches" live_trace "$live_pid" "$@"
	printf 'x' >&8
	live_wait
	exec 8>&-
}
if nm "$tmp/clones" | grep -q 'cl_f\.'; then
	for pattern in 'cl_*' cl_f; do
		clones -t "uprobe:$pattern" --count
		is "$(counts | sed 's/\.constprop\.[0-9]*//' | awk -F': ' '$1 ~ /cl_f/ { n += $2 } END { print n }')" "$(grep -c cl_f "$tmp/answers")" "$pattern: each call once"
	done
	clones --calls 'cl_*'
	is "$(grep -c 'cl_f[.a-z0-9]*();$' "$tmp/trace") $(grep -c 'not seen\|no return' "$tmp/trace")" "$(grep -c cl_f "$tmp/answers") 0" "--calls: all with their returns"
else
	skip "clones" "this gcc makes none"
fi
done_testing
