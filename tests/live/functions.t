#!/usr/bin/env bash
# args.NAME of functions: what the program itself says it was called with.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"

cat >"$tmp/app.c" <<'END'
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
enum state { IDLE, RUNNING = 7, BROKEN = -2 };
struct where { int line; };
struct request { long id; enum state state; char name[8]; struct where at; };
struct big { long v[4]; };
struct pair { int a, b; };
#define NOIPA __attribute__((noinline))
volatile long sink;
NOIPA long numbers(int i, unsigned char c, short s, unsigned u, long l, bool b);
NOIPA long numbers(int i, unsigned char c, short s, unsigned u, long l, bool b)
{
	printf("numbers %d %d %d %u %ld %d\n", i, c, s, u, l, b);
	return sink += i;
}
NOIPA long pointers(struct request *r, const char *text, double d, enum state next);
NOIPA long pointers(struct request *r, const char *text, double d, enum state next)
{
	printf("pointers %ld %s %s %d %d %d\n", r->id, r->name, text, (int)r->state, (int)next, r->at.line);
	return sink += (long)d;
}
/* Behind a large struct, which is in memory, registers go on. */
NOIPA long behind(int first, struct big big, int second);
NOIPA long behind(int first, struct big big, int second)
{
	printf("behind %d %d\n", first, second);
	return sink += big.v[1];
}
/* The address of the result is the first argument that nobody wrote. */
NOIPA struct big makes(int n, const char *text);
NOIPA struct big makes(int n, const char *text)
{
	struct big b = {{n}};
	printf("makes %d %s\n", n, text);
	return b;
}
/* What never happens is put elsewhere: its code is in two pieces. */
NOIPA long pieces(int n, const char *text);
NOIPA long pieces(int n, const char *text)
{
	if (__builtin_expect(n > 1000, 0)) {
		fprintf(stderr, "%s\n", text);
		abort();
	}
	printf("pieces %d %s\n", n, text);
	return sink += n;
}
NOIPA void nothing(int n);
NOIPA void nothing(int n)
{
	printf("nothing %d\n", n);
	sink += n;
}
NOIPA long unsure(struct pair p, int n);
NOIPA long unsure(struct pair p, int n) { return sink += p.a + n; }
NOIPA long many(int a, int b, int c, int d, int e, int f, int g, int h, int i);
NOIPA long many(int a, int b, int c, int d, int e, int f, int g, int h, int i)
{
	printf("many %d %d %d\n", a, f, i);
	return sink += b + c + d + e + g + h;
}
int main(void)
{
	struct request r = {12, RUNNING, "first", {33}};
	struct big big = {{1, 2, 3, 4}};
	struct pair pair = {1, 2};
	char c;
	setlinebuf(stdout);
	while (read(0, &c, 1) == 1) {
		numbers(-5, 200, -7, 4000000000u, -5000000000L, true);
		numbers((int)sink, (unsigned char)sink, (short)sink, (unsigned)sink, sink, sink > 3);
		pointers(&r, "text", 2.5, BROKEN);
		behind(-1, big, -2);
		makes(-3, "made");
		pieces(-9, "whole");
		unsure(pair, 1);
		nothing(-4);
		many(-1, 2, 3, 4, 5, -6, 7, 8, 9);
		puts("done");
	}
	return 0;
}
END
cat >"$tmp/calls.bt" <<'END'
uprobe:__EXE__:numbers { printf("numbers %d %d %d %u %ld %d\n", args.i, args.c, args.s, args.u, args.l, args.b); }
uprobe:__EXE__:pointers { printf("pointers %ld %s %s %d %d %d\n", args.r->id, str(args.r->name), str(args.text), (int32)args.r->state, (int32)args.next, args.r->at.line); @[args.next, args.r->state] = count(); }
uprobe:__EXE__:makes { printf("makes %d %s\n", args.n, str(args.text)); }
uprobe:__EXE__:pieces { printf("pieces %d %s\n", args.n, str(args.text)); }
uprobe:__EXE__:nothing { printf("nothing %d\n", args.n); }
uprobe:__EXE__:many { printf("many %d %d %d\n", args.a, args.f, args.i); }
END
# Clang 19 and 21 have no location for any parameter of a function that returns a struct in memory, with -O2.
knows_makes() {
	readelf --debug-dump=info "$tmp/app" | awk '
		/\(DW_TAG_/ { tag = $NF; inside = inside && tag != "(DW_TAG_subprogram)" }
		/DW_AT_name/ && tag == "(DW_TAG_subprogram)" && $NF == "makes" { inside = 1 }
		inside && tag == "(DW_TAG_formal_parameter)" && /DW_AT_location/ { known = 1 }
		END { exit !known }'
}
calls() { # BUILD...: what it says and what is traced are the same
	local script=$tmp/calls.bt
	"$@" -g -o "$tmp/app" "$tmp/app.c" 2>"$tmp/errors" || { ok "$*: compiles" false; return; }
	if ! knows_makes; then
		like "$("$btgen" expand --for 0.23 -x "$tmp/app" "$script" 2>&1 | grep error:)" \
			'error: .* no location for parameter n of makes\(\): .* it is arg1
.*error: .* no location for parameter text of makes\(\): .* it is arg2$' \
			"$*: where the debug information has no location, which argument it is is said"
		sed '/:makes/s/args\.n, str(args\.text)/(int32)arg1, str(arg2)/' "$script" >"$tmp/numbers.bt"
		script=$tmp/numbers.bt
	fi
	# Clang counts what is in the caller's frame from a register that the prologue sets.
	if [ "$1" = clang ]; then
		sed '/:many/{s/ %d\\n/ 9\\n/; s/, args\.i//}' "$script" >"$tmp/frame.bt"
		script=$tmp/frame.bt
	fi
	live_start "$tmp/app"
	ok "$*: it attaches" live_trace "$live_pid" "$script" -e 'uprobe:__EXE__:behind { printf("behind %d %d\n", args.first, args.second); }'
	printf x >&8
	wait_for grep -q 'done' "$tmp/answers"
	live_wait INT
	is "$(grep -v '^@\|^$' "$tmp/trace")" "$(grep -v 'done' "$tmp/answers")" "$*: what the functions say they were called with"
	is "$(grep '^@' "$tmp/trace")" "@[BROKEN, RUNNING]: 1" "$*: enumerators have their names"
	exec 8>&-
	wait_end "$live_pid"
}
calls gcc -O0
calls gcc -O2
if [ "$(uname -m)" != x86_64 ]; then
	skip "clang" "for aarch64 clang 14 does not say where a bool parameter is"
elif command -v clang >/dev/null; then
	calls clang -O0
	calls clang -O2
fi

if command -v g++ >/dev/null; then
	cat >"$tmp/method.cc" <<'END'
#include <cstdio>
#include <unistd.h>
struct Item { long pad; int id; };
class Queue {
public:
	long depth;
	__attribute__((noinline)) long push(int n, const Item &item, const char *s);
};
volatile long sink;
long Queue::push(int n, const Item &item, const char *s)
{
	printf("%ld %d %d %s\n", depth, n, item.id, s);
	return sink += depth;
}
int main()
{
	Queue q = {5};
	Item item = {0, 9};
	char text[] = "text";
	char c;
	setlinebuf(stdout);
	while (read(0, &c, 1) == 1) {
		q.push(-3, item, text);
		puts("done");
	}
}
END
	g++ -O2 -g -o "$tmp/method" "$tmp/method.cc" || exit 1
	live_start "$tmp/method"
	ok "a method: it attaches" live_trace "$live_pid" \
		-e "uprobe:__EXE__:_ZN5Queue4pushEiRK4ItemPKc { printf(\"%ld %d %d %s\\n\", args.this->depth, args.n, args.item->id, str(args.s)); }"
	printf x >&8
	wait_for grep -q 'done' "$tmp/answers"
	live_wait INT
	is "$(cat "$tmp/trace")" "$(head -n 1 "$tmp/answers")" "its object, and what a reference refers to"
	exec 8>&-
	wait_end "$live_pid"
fi

# -t shows what args.NAME reads: what is in the caller's frame, and what a clone of gcc's knows without being passed it.
cat >"$tmp/clones.c" <<'END'
#include <stdio.h>
enum mode { OFF, ON = 3, BAD = -1 };
struct box { int id; };
volatile long sink;
static __attribute__((noinline)) long frame(int a, short b, unsigned char c, int d, int e, int f, int g, const char *text, enum mode mode, struct box *box, int h)
{
	printf("a=%d b=%d c=%u d=%d e=%d f=%d g=%d text=\"%s\" mode=%s box={id=%d} h=%d\n", a, b, c, d, e, f, g, text, mode == BAD ? "BAD" : "ON", box->id, h);
	box->id = a;
	return sink += a;
}
static __attribute__((noinline)) long known(int a, int factor)
{
	printf("a=%d factor=%d\n", a, factor);
	return sink += a * factor;
}
int main(int argc, char **argv)
{
	setlinebuf(stdout);
	getchar();
	for (int i = 0; i < 4; i++) {
		struct box box = {i - 20};
		frame(-i, (short)(-8 * i), (unsigned char)(200 + i), i * 4, argc + i, -6 * i, i - 7, argv[0], i > 1 ? BAD : ON, &box, -i);
		known(i - 30, -5);
	}
	puts("done");
	return 0;
}
END
for level in -O0 -O2; do
	gcc $level -g -o "$tmp/clones" "$tmp/clones.c" || exit 1
	live_start "$tmp/clones"
	ok "-t, gcc $level: it attaches" live_trace -t 'uprobe:*frame*' -t 'uprobe:*known*' --deep 1 "$live_pid"
	echo >&8
	live_wait
	exec 8>&-
	is "$(sed -n 's/ = /=/g; s/.*uprobe:[^ ]* //p' "$tmp/trace" | tr ' ' '\n' | sort)" "$(grep -v 'done' "$tmp/answers" | tr ' ' '\n' | sort)" \
		"-t, gcc $level: each argument"
done

# What is not certain is an error; what is misspelled, too.
gcc -O0 -g -o "$tmp/app" "$tmp/app.c" || exit 1
refused() { # SCRIPT REGEX CLAIM
	local out
	out=$("$btgen" expand --for 0.23 -x "$tmp/app" -e "$1" 2>&1)
	like "$out" "$2" "$3"
}
# Where the caller has put it.
if [ "$(uname -m)" = x86_64 ]; then
	refused 'uprobe:__EXE__:unsure { printf("%d", args.n); }' '\(int32\)arg1\); \}$' "after a small struct"
	refused 'uprobe:__EXE__:many { printf("%d", args.g); }' '"%d", \(int64\)\(int32\)\*\(uint32 \*\)\(reg\("sp"\) \+ 8\)\); \}$' "the seventh is in memory"
else
	refused 'uprobe:__EXE__:unsure { printf("%d", args.n); }' 'error: bpftrace cannot read parameter n of unsure\(\)' "after a small struct: not known"
	refused 'uprobe:__EXE__:many { printf("%d", args.i); }' '"%d", \(int64\)\(int32\)\*\(uint32 \*\)\(?reg\("sp"\)\)?\); \}$' "the ninth is in memory"
fi
refused 'uprobe:__EXE__:pointers { printf("%d", args.d); }' 'error: bpftrace cannot read parameter d of pointers\(\)' "a double"
refused 'uprobe:__EXE__:numbers { printf("%d", args.x); }' 'note: it is numbers\(int i, unsigned char c, short int s, unsigned int u, long int l, (_Bool|bool) b\)' \
	"a name that it does not have: its parameters are shown"
refused 'uprobe:__EXE__:numbers, uprobe:__EXE__:many { printf("%d", args.a); }' 'error: numbers\(\) has no parameter a' "functions of one clause must all have it"
refused 'uprobe:__EXE__:many, uprobe:__EXE__:unsure { printf("%d", args.n); }' 'error: many\(\) has no parameter n' "whichever comes first"

# Conventions that are not those of the types, or not known by them.
cat >"$tmp/odd.c" <<'END'
volatile long sink;
struct __attribute__((packed)) packed { char c; long v; };
union wide { long double d; long l; };
typedef int vector __attribute__((vector_size(64)));
struct packed packs(long a);
struct packed packs(long a) { return (struct packed){1, a}; }
union wide widens(long a);
union wide widens(long a) { return (union wide){.l = a}; }
vector vectors(long a);
vector vectors(long a) { return (vector){(int)a}; }
__attribute__((ms_abi)) long windows(long a);
__attribute__((ms_abi)) long windows(long a) { return a; }
long moved(register long a, register long b, register long c);
long moved(register long a, register long b, register long c) { sink = a; sink = b; sink = c; return b; }
static __attribute__((noinline)) long spread(const long *a, const long *b) { return *a * 3 + *b; }
int main(int argc, char **argv)
{
	long a = argc, b = argc + 1;
	__asm__ volatile("" : "+m"(a), "+m"(b) : "r"(argv));
	return (int)(spread(&a, &b) + packs(a).v + widens(a).l + vectors(a)[0] + windows(a) + moved(a, b, a));
}
END
gcc -O0 -g -w -o "$tmp/app" "$tmp/odd.c" || exit 1
# Where AArch64 returns a result it has a register of its own, whatever that is, and there is no other convention.
odd='packs widens vectors windows moved'
[ "$(uname -m)" = x86_64 ] || odd=moved
for f in $odd; do
	refused "uprobe:__EXE__:$f { printf(\"%d\", args.a); }" "error: bpftrace cannot read parameter a of $f\(\)" "$f: not known"
done
gcc -O2 -g -w -o "$tmp/app" "$tmp/odd.c" || exit 1
refused 'uprobe:__EXE__:spread.isra.0 { printf("%p", args.a); }' 'error: bpftrace cannot read parameter a of spread\(\)' \
	"a pointer that gcc replaced by what it leads to"
# LLVM's callers in the same file set no register for a parameter that is not used, and it has no location.
cat >"$tmp/dead.c" <<'END'
volatile long sink;
__attribute__((noinline)) long dead(int a, int b);
__attribute__((noinline)) long dead(int a, int b) { return sink += a; }
static __attribute__((noinline)) long own(int a, int b) { return sink -= a; }
int main(int argc, char **argv) { return (int)(dead(argc, 7) + own(argc, 8)); }
END
if [ "$(uname -m)" = x86_64 ] && command -v clang >/dev/null; then
	clang -O2 -g -w -o "$tmp/app" "$tmp/dead.c" || exit 1
	refused 'uprobe:__EXE__:dead { printf("%d", args.b); }' \
		'error: the debug information has no location for parameter b of dead\(\): if the function uses it, it is arg1' \
		"a parameter that may be unused: its value is nobody's, and which it is is said"
	refused 'uprobe:__EXE__:own { printf("%d", args.b); }' 'error: bpftrace cannot read parameter b of own\(\)' \
		"of a function that only its own file calls nothing is said"
else
	skip "an unused parameter" "clang for x86-64 has no location for it"
fi
# By its path, without a target, a function's args are bpftrace's own business: Debian's 0.17 reads the debug information.
cat >"$tmp/host.c" <<'END'
#include <unistd.h>
__attribute__((noinline)) int f(int *n) { usleep(100000); return *n; }
int main(void) { for (int n = 13;;) f(&n); }
END
gcc -O1 -g -o "$tmp/host" "$tmp/host.c" || exit 1
if [[ $("$bpftrace" --version) == *v0.17.* ]]; then
	"$tmp/host" & own $!
	like "$(guard "$btgen" run --bpftrace "$bpftrace" -e "uprobe:$tmp/host:f { printf(\"%d\n\", *(args->n)); exit(); }" 2>&1)" \
		'^13$' "args of a function whose file is not the target's"
fi
gcc -O0 -g -o "$tmp/app" "$tmp/app.c" || exit 1
strip -o "$tmp/bare" --keep-symbol=numbers --strip-debug "$tmp/app"
out=$("$btgen" expand --for 0.17 -x "$tmp/bare" -e 'uprobe:__EXE__:numbers { printf("%d", args.i); }' 2>&1)
like "$out" 'error: bpftrace 0.17 does not support args for functions, and there is no debug information about the parameters: use arg0 to arg5' \
	"without debug information bpftrace 0.17 cannot, and that is said"
# A library's struct that only the program defines, behind a parameter: each file has the part that it knows.
cat >"$tmp/group.h" <<'END'
struct thread;
struct group { int n; struct thread *thread; struct nowhere *nowhere; };
int use(struct group *group);
END
printf '#include "group.h"\n__attribute__((noinline)) int use(struct group *group) { __asm__ volatile("" : : "r"(group)); return group->n; }\n' >"$tmp/library.c"
cat >"$tmp/owner.c" <<'END'
#include "group.h"
struct thread { long pad; int id; };
int main(void)
{
	struct thread thread = {1, 4711};
	struct group group = {7, &thread, 0};
	return use(&group) != 7;
}
END
gcc -O2 -g -shared -fPIC -o "$tmp/library.so" "$tmp/library.c" && gcc -O2 -g -o "$tmp/owner" "$tmp/owner.c" "$tmp/library.so" -Wl,-rpath,"$tmp" || exit 1
is "$("$top/scripts/bpftrace.sh" -q -c "$tmp/owner" -e 'uprobe:__EXE__:use { printf("%d on thread %d\n", args.group->n, args.group->thread->id); }' 2>&1)" \
	"7 on thread 4711" "a struct that another file of the process defines, behind a parameter"
is "$("$top/scripts/bpftrace.sh" -n -c "$tmp/owner" -e 'uprobe:__EXE__:use { print(args.group->nowhere->id); }' 2>&1 | grep -v '^ ' | sed 's/.*1:[0-9]*: //')" \
	'error: type "struct nowhere" is declared in the debug information but not defined' "... and one that none defines"

# A pattern whose functions' arguments are read by name, in C and C++; and libraries by their short names, of which memcmp() is chosen
# when the program is loaded.
cat >"$tmp/jobs.c" <<'END'
#include <string.h>
struct job { int id; const char *name; };
#define NOIPA __attribute__((noinline))
NOIPA int job_start(struct job *j, int prio);
NOIPA int job_stop(struct job *j, int prio), job_swap(int prio, struct job *j);
NOIPA int job_start(struct job *j, int prio) { __asm__ volatile("" : : "r"(j) : "memory"); return prio; }
NOIPA int job_stop(struct job *j, int prio) { __asm__ volatile("" : : "r"(j) : "memory"); return prio + 1; }
NOIPA int job_swap(int prio, struct job *j) { __asm__ volatile("" : : "r"(j) : "memory"); return prio; }
int main(int argc, char **argv)
{
	struct job j = {3, "first"};
	return job_start(&j, argc) + job_stop(&j, argc) + job_swap(argc, &j) + memcmp(argv[0], argv[0], (unsigned)argc + 4) == 9;
}
END
for compiler in gcc g++; do
	$compiler -x "$([ $compiler = gcc ] && echo c || echo c++)" -O2 -g -fno-builtin -o "$tmp/jobs" "$tmp/jobs.c" || exit 1
	pattern='job_st*'
	[ $compiler = gcc ] || pattern='_Z*job_st*'
	is "$("$live_sh" -q --bpftrace "$bpftrace" -c "$tmp/jobs" -e "uprobe:__EXE__:$pattern { printf(\"%d %s %d\\n\", args.j->id, str(args.j->name), args.prio); }" 2>&1)" \
		$'3 first 1\n3 first 1' "$compiler: a pattern reads each function's arguments by name"
	like "$("$live_sh" -q --bpftrace "$bpftrace" -c "$tmp/jobs" -e "uprobe:__EXE__:${pattern/st/s} { print(args.prio); }" 2>&1)" \
		'error: the functions of this clause disagree about prio: write two clauses' "$compiler: ... or says that they have them at different places"
	like "$("$live_sh" -q --bpftrace "$bpftrace" -c "$tmp/jobs" -t 'uprobe:job_*' 2>&1 | tr '\n' ' ')" 'job_start.*job_stop' "$compiler: -t finds them by their names in the source"
	for library in libc libc.so.6; do
		is "$("$live_sh" -q --bpftrace "$bpftrace" -c "$tmp/jobs" -e "uprobe:$library:memcmp { printf(\"%d\\n\", arg2); }" 2>&1 | sort -u)" 5 \
			"$compiler: memcmp() of $library is the one that the program calls"
	done
done
done_testing
