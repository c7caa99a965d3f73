#!/usr/bin/env bash
# -t PATTERN -n: which probes, how each kind of argument is printed, what is refused. Values: tests/live/args.t.
. "$(dirname "$0")/../lib.sh"
# shellcheck disable=SC2154 # tmp, btgen, top: lib.sh

cat >"$tmp/app.c" <<'END'
#include <btgen/usdt.h>
#include <stdbool.h>
#include <stdint.h>
enum mode { OFF, ON = 3, BAD = -1 };
int main(int argc, char **argv)
{
	float f = (float)argc;
	enum mode mode = argc > 1 ? ON : BAD;
	USDT_PROBE(app, all, USDT_ARG(argv[0], "text"), mode, argc, USDT_ARG((uint16_t)argc, "port"), USDT_ARG((bool)argc, "flag"), argv);
	USDT_PROBE(app, other, USDT_BITS(f), USDT_ARG((char)argc, "c"));
	USDT_PROBE(app, mixed, USDT_ARG(argc, "n"));
	USDT_PROBE(app, mixed, USDT_ARG((long)argc, "n"));
	USDT_PROBE(app, many, 1, 2, 3, 4, 5, 6, USDT_ARG(argc, "seventh"));
	USDT_PROBE(app, many, 1, 2, 3, 4, 5, 6, USDT_ARG(-argc, "seventh"));
	USDT_PROBE(two, all, argc);
	return 0;
}
END
"${CC:-gcc}" -std=gnu17 -O1 -g -I"$top/include" -o "$tmp/app" "$tmp/app.c" || skip_all "no compiler"

is "$(clauses_of 0.17 "$tmp/app" app:all other 2>&1)" \
	'// Every event of these probes. Written by btgen as a starting point.
#pragma gate

// all(char *text, enum mode mode, int argc, short unsigned int port, _Bool flag, char **argv)
usdt:__EXE__:app:all
{
	printf("%s %s[%d] app:all text=\"%s\" mode=%s argc=%ld port=%lu flag=%lu argv=0x%lx\n",
	       strftime("%H:%M:%S.%f", nsecs), comm, tid, str(args.text), enum_name(mode, args.mode), args.argc, args.port, args.flag, args.argv);
}

// other(usdt_float_bits f, char c)
usdt:__EXE__:app:other
{
	printf("%s %s[%d] app:other f=0x%lx c='"'%c'"'\n",
	       strftime("%H:%M:%S.%f", nsecs), comm, tid, args.f, args.c);
}' "a clause for each probe, each argument by its kind"
clauses_of 0.17 "$tmp/app" 'app:*' >"$tmp/all.bt"
ok "what it writes can be expanded" "$btgen" expand --for 0.17 -x "$tmp/app" -o "$tmp/all.out" "$tmp/all.bt"
like "$(cat "$tmp/all.bt")" '^	printf\("%s %s\[%d\] app:mixed n=%ld\\n",$' "what sites disagree about is a plain number"
like "$(cat "$tmp/all.bt")" '^// arg6 is omitted: bpftrace 0.17 cannot read it here$' \
	"what bpftrace cannot read is left out, and that is said"
is "$(clauses_of 0.27 "$tmp/app" many | grep -c 'seventh=%ld')" 1 "unless it can"
is "$(clauses_of 0.17 "$tmp/app" 'all' | grep -c '^usdt:')" 2 "a name without a provider is all of that name"
is "$(clauses_of 0.17 "$tmp/app" 'all' 'app:al*' | grep -c '^usdt:')" 2 "a probe that two patterns match is there once"

# refuses CLAIM STATUS MESSAGE ARGS...
refuses() {
	local claim=$1 status=$2 message=$3
	shift 3
	"$btgen" "$@" >"$tmp/out" 2>"$tmp/err"
	is "$? $(cat "$tmp/out" "$tmp/err")" "$status $message" "$claim"
}
refuses "a pattern that matches nothing" 1 "btgen: error: no probe matches 'al'
btgen: note: did you mean 'app:all'?" run -n -t al -x "$tmp/app"
refuses "an unknown format" 2 "btgen run: -f: unknown format 'xml': text, json, perfetto, otlp or folded
Try 'btgen run --help'." run -f xml -t all -x "$tmp/app"
refuses "-t without a target" 1 "btgen: error: -t all needs a process: give its PID or name, or -x FILE for every process of a program" run -n -t all

# One probe at several sites, which have other things in it: with the names of variables, as systemtap's header leaves them.
header=btgen/usdt.h macro=USDT_PROBE
! echo '#include <sys/sdt.h>' | "${CC:-gcc}" -E - >"$tmp/sdt" 2>&1 || header=sys/sdt.h macro=DTRACE_PROBE3
cat >"$tmp/sites.c" <<END
#include <$header>
struct conn { int fd; };
__attribute__((noinline)) int sent(int len, struct conn *conn, int rc) { $macro(app, io, len, conn, rc); return len + 1; }
__attribute__((noinline)) int lost(int err, struct conn *peer, int rc) { int tries = err * 3; $macro(app, io, tries, peer, rc); return tries; }
int main(int argc, char **argv) { struct conn c = {1}; (void)argv; return sent(argc, &c, 1) + lost(argc, &c, argc); }
END
"${CC:-gcc}" -O1 -g -I"$top/include" -o "$tmp/sites" "$tmp/sites.c"
is "$(clauses_of 0.17 "$tmp/sites" io 2>&1 | tail -n +4)" '// io(int arg0, struct conn *arg1, int rc)
usdt:__EXE__:app:io
{
	printf("%s %s[%d] app:io arg0=%ld arg1=0x%lx rc=%ld\n",
	       strftime("%H:%M:%S.%f", nsecs), comm, tid, arg0, arg1, args.rc);
}' "a name that not all sites have is left out ($header)"
like "$("$btgen" probes -v -x "$tmp/sites" app:io)" '^    arg0   int len .*; elsewhere called tries$' "btgen probes -v has both"
is "$("$btgen" probes -x "$tmp/sites" app:io)" 'app:io(int len, struct conn *conn, int rc)  2 sites: elsewhere arg0 is tries, arg1 is peer' "btgen probes names both, too"
is "$("$btgen" expand -x "$tmp/sites" -e 'usdt:__EXE__:io { @ = args.len; @r = args.rc; }' 2>&1 >/dev/null | head -n 1)" \
	'<command line>:1:28: warning: not all sites of app:io name it len: in lost() arg0 is tries' \
		"and a script that uses one of them is warned"

# Functions: what is not certain is said.
cat >"$tmp/one.c" <<'END'
#define NOIPA __attribute__((noinline, noclone))
static NOIPA int twice(int n) { __asm__ volatile("" ::: "memory"); return 2 * n; }
struct pair { int a, b; };
NOIPA struct pair make(int n, double d, const char *text);
NOIPA struct pair make(int n, double d, const char *text) { return (struct pair){twice(n), (int)d + *text}; }
extern int renamed(int n) __attribute__((alias("long_name_of_renamed")));
NOIPA int long_name_of_renamed(int n);
NOIPA int long_name_of_renamed(int n) { return twice(n); }
int other(int n);
int main(int argc, char **argv) { return make(argc, 2.5, argv[0]).a + other(argc) + long_name_of_renamed(argc); }
END
cat >"$tmp/two.c" <<'END'
static __attribute__((noinline, noclone)) int twice(int n) { __asm__ volatile("" ::: "memory"); return 3 * n; }
int other(int n);
int other(int n) { return twice(n); }
END
"${CC:-gcc}" -O1 -g -o "$tmp/functions" "$tmp/one.c" "$tmp/two.c" || exit 1
is "$(clauses_of 0.17 "$tmp/functions" 'uprobe:mak*' 'uretprobe:make' 2>&1 | tail -n +4)" '// make(int n, double d, const char *text)
uprobe:__EXE__:make
{
	printf("%s %s[%d] uprobe:make n=%ld text=\"%s\"\n",
	       strftime("%H:%M:%S.%f", nsecs), comm, tid, args.n, str(args.text));
}
// d is omitted: bpftrace 0.17 cannot read it here

// make(int n, double d, const char *text)
uretprobe:__EXE__:make
{
	printf("%s %s[%d] uretprobe:make\n",
	       strftime("%H:%M:%S.%f", nsecs), comm, tid);
}
// retval is omitted: bpftrace 0.17 cannot read it here' "a double, and a struct that is returned"
for pattern in twice 'twic*'; do
	out=$(clauses_of 0.17 "$tmp/functions" "uretprobe:$pattern" 2>&1)
	like "$out" "warning: 2 functions of $tmp/functions are named twice: bpftrace attaches to the first" "$pattern: two functions of one name"
	is "$(grep '^uretprobe' <<<"$out")" "uretprobe:__EXE__:twice" "... the first by its name"
done
is "$(clauses_of 0.17 "$tmp/functions" 'uretprobe:*renamed' 2>&1 | grep '^uretprobe')" 'uretprobe:__EXE__:renamed' \
	"one function with two names"
refuses "a function that is not there" 1 "btgen: error: no function matches 'uprobe:othr'
btgen: note: did you mean 'uprobe:other'?" run -n --bpftrace /nonexistent -t uprobe:othr -x "$tmp/functions"
refuses "a file that is not there" 1 "btgen: error: 'uprobe:libx.so:other': no file of the program is libx.so" \
	run -n --bpftrace /nonexistent -t uprobe:libx.so:other -x "$tmp/functions"
is "$(clauses_of 0.17 "$tmp/functions" "uprobe:functions:oth*" "uprobe:$tmp/functions:other" 2>&1 | grep -c '^uprobe:__EXE__:other$')" 1 \
	"a file by its name and by its path"
is "$(clauses_of 0.17 "$tmp/functions" 'uprobe:functions:*' 2>/dev/null | grep -c ':_init$\|:_fini$')" 0 \
	"functions without a size, to which bpftrace does not attach, are left out"
refuses "nothing but such a function" 1 \
	"btgen: error: functions that match 'uprobe:functions:_init' have no size in the symbol table: bpftrace cannot attach" \
	run -n --bpftrace /nonexistent -t uprobe:functions:_init -x "$tmp/functions"
cat >"$tmp/piece.c" <<'END'
int piece(int n) __asm__("whole.part.0");
int whole(int n);
int piece(int n) { return n; }
int whole(int n) { return piece(n); }
int main(void) { return whole(0); }
END
"${CC:-gcc}" -O0 -g -o "$tmp/piece" "$tmp/piece.c" || exit 1
is "$(clauses_of 0.17 "$tmp/piece" 'uprobe:whole*' 2>/dev/null | grep '^uprobe')" 'uprobe:__EXE__:whole' \
	"a piece that the compiler has split off, to which bpftrace does not attach, is left out"
strip -g -o "$tmp/bare" "$tmp/functions"
is "$(clauses_of 0.17 "$tmp/bare" 'uprobe:m*[ae]*' 'uprobe:make' 2>&1 | head -n 1)" \
	"btgen: error: no function matches 'uprobe:m*[ae]*'" "of the shell's patterns only * and ? are known"
is "$(clauses_of 0.17 "$tmp/bare" 'uprobe:?a?e' 'uprobe:main' 2>&1 | grep 'warning\|tid')" \
	"btgen: warning: no debug information about the parameters of make(): only the call is shown
btgen: warning: no debug information about the parameters of main(): only the call is shown
	       strftime(\"%H:%M:%S.%f\", nsecs), comm, tid);
	       strftime(\"%H:%M:%S.%f\", nsecs), comm, tid);" "without debug information the call alone"
is "$("$btgen" run -n -q --bpftrace /nonexistent -t uprobe:make -x "$tmp/bare" 2>&1 | grep -c warning)" 0 "... of which -q does not warn"
{
	for ((i = 0; i < 301; i++)); do printf 'void many_%d(void) {}\n' $i; done
	echo 'int main(void) { return 0; }'
} >"$tmp/many.c"
"${CC:-gcc}" -w -o "$tmp/many" "$tmp/many.c" || exit 1
refuses "too many functions" 1 "btgen: error: 301 functions match 'uprobe:many_*': at most 300 can be traced at once" \
	run -n --bpftrace /nonexistent -t 'uprobe:many_*' -x "$tmp/many"

# --filter: arguments and enumerators by their names alone, in the script that -n prints.
cat >"$tmp/scopes.cc" <<'END'
#include <btgen/usdt.h>
namespace ns {
enum class state { open, closed };
enum class door { open };
enum kind { KIND_A, KIND_B };
}
int main(int argc, char **argv)
{
	USDT_PROBE(app, visit, argc, (ns::state)argc, (ns::kind)argc, **argv);
	USDT_PROBE(app, doors, (ns::state)argc, (ns::door)argc, argc, argv);
	USDT_PROBE(app, pids, argc);
}
END
sed 's/argc/pid/g' "$tmp/scopes.cc" >"$tmp/pids.cc"
for name in scopes pids; do
	g++ -g -I"$top/include" -o "$tmp/$name" "$tmp/$name.cc" || exit
done
filtered() { "$btgen" run -n --bpftrace /nonexistent -t "$1" --filter "$2" -x "$tmp/${3:-scopes}" 2>&1 | grep -E '^/\(|error'; }
names=$("$btgen" probes -x "$tmp/scopes" visit)
like "$names" '^app:visit\(int argc,' "the program's arguments have names"
is "$(filtered visit 'argc > 2 && argc / 2 < 9')" "/(args.argc > 2 && args.argc / 2 < 9)/" "--filter: an argument by its name alone"
is "$(filtered visit 'args.argc > 2 && arg0 < 9')" "/(args.argc > 2 && arg0 < 9)/" "... or in full"
is "$(filtered visit 'arg1 == closed && arg2 != KIND_B')" "/(arg1 == ns::state::closed && arg2 != ns::KIND_B)/" "an enumerator without its scopes"
is "$(filtered visit 'arg1 == ns::state::closed')" "/(arg1 == ns::state::closed)/" "... and with them"
is "$(filtered doors 'arg0 == open')" "/(arg0 == open)/" "not where two enums have it"
is "$(filtered visit 'str(argc) == "argc" && $argc && @argc[argc] && (argc ? argc : argc)')" \
	'/(str(args.argc) == "argc" && $argc && @argc[args.argc] && (args.argc ? args.argc : args.argc))/' "what only looks like an argument stays"
is "$(filtered pids 'pid == 3' pids)" "/(pid == 3)/" "bpftrace's own words are its own"

# No name is not every name.
like "$("$btgen" run -n --bpftrace /nonexistent -t uprobe: -x "$tmp/scopes" 2>&1)" "^btgen: error: no function matches 'uprobe:'" "an empty name"

# A symbol that would be the argument of a script, and a parameter that -t cannot show.
cat >"$tmp/symbols.c" <<'END'
__attribute__((noinline)) int odd(int n) __asm__("odd$u7b$17h1");
__attribute__((noinline)) int odd(int n) { return n + 1; }
__attribute__((noinline)) int half(double x, int n) { return (int)x + n; }
int main(int argc, char **argv) { return odd(argc) + half(argc, 2) + !argv; }
END
gcc -g -O0 -o "$tmp/symbols" "$tmp/symbols.c" || exit
attached=$("$btgen" run -n --bpftrace /nonexistent -t 'uprobe:odd*' -x "$tmp/symbols" 2>&1 | grep -E '^uprobe|error')
is "$attached" "uprobe:__EXE__:0x$(nm "$tmp/symbols" | sed -n 's/^0*\([0-9a-f]*\) T odd.*/\1/p')" "a symbol with \$ in it goes by its address"
is "$(filtered uprobe:half 'n == 2' symbols)" "/(args.n == 2)/" "--filter: a parameter behind one of a floating-point type"
like "$("$btgen" run -n --bpftrace /nonexistent -t uprobe:half --filter 'x > 2' -x "$tmp/symbols" 2>&1)" \
	"^--filter:1:1: error: .*parameter x of half" "one that no bpftrace can read is an error at its place"

cat >"$tmp/chain.c" <<'END'
#include <btgen/usdt.h>
struct last { int n; }; struct next { struct last *last; }; struct first { struct next *next; };
int main(void) { static struct last l; static struct next n = {&l}; static struct first f = {&n}, *p = &f; USDT_PROBE(app, chain, p); return 0; }
END
"${CC:-gcc}" -g -I"$top/include" -o "$tmp/chain" "$tmp/chain.c"
for deep in 0 1 2 3; do "$btgen" run -n --bpftrace /nonexistent -t chain --deep $deep -x "$tmp/chain"; done 2>&1 | grep -o 'p=[^\]*' >"$tmp/deep"
is "$(cat "$tmp/deep")" "p=0x%lx
p=%s
p=%s p->next=%s
p=%s p->next=%s p->next->last=%s" "--deep N: as many structs as there are levels"
done_testing
