#!/usr/bin/env bash
# args.NAME, args.N and enum_name() in templates: what they become, and what is refused.
#
# The program below has one probe for each kind of argument; tests/live/args.t reads values.
. "$(dirname "$0")/../lib.sh"
# shellcheck disable=SC2154 # tmp, btgen, top: lib.sh

cat >"$tmp/app.c" <<'END'
#include <btgen/usdt.h>
#include <stdbool.h>
#include <stdint.h>
enum mode { OFF, ON = 3, BAD = -1 };
typedef struct { int depth; } queue_t;
struct job { char name[8]; enum mode mode; long size; short level; queue_t queue; struct job *next; };
int main(int argc, char **argv)
{
	struct job job = {"first", ON, argc, (short)-argc, {3}, 0}, *j = &job;
	const char *text = argv[0];
	uint16_t port = (uint16_t)argc, *where = &port;
	bool busy = argc > 1;
	queue_t *q = &j->queue;
	USDT_PROBE(app, all, text, j, j->mode, j->level, port, where, port);
	USDT_PROBE(app, more, busy, q);
	USDT_PROBE(app, one, j->size, text);
	USDT_PROBE(app, two, text, argc);
	USDT_PROBE(app, two, argv[1], -argc);
	USDT_PROBE(app, swapped, argc, port);
	USDT_PROBE(app, swapped, port, argc);
	USDT_PROBE(app, widths, j->size);
	USDT_PROBE(app, widths, USDT_ARG(argc, "size"));
	USDT_PROBE(app, spread, argc, argc, argc, argc, argc, argc, USDT_ARG(argc, "last"));
	USDT_PROBE(app, spread, argc, argc, argc, argc, argc, argc, USDT_ARG(-1, "last"));
	USDT_PROBE(app, none);
	return 0;
}
END
"${CC:-gcc}" -O1 -g -I"$top/include" -o "$tmp/app" "$tmp/app.c" || skip_all "no compiler"

# becomes CLAIM PROBE STATEMENT WANT: the body of the clause, for bpftrace 0.17
becomes() {
	local got
	got=$("$btgen" expand --for 0.17 -x "$tmp/app" -e "usdt:__EXE__:app:$2 { $3 }" 2>&1)
	is "$(sed -nE 's/^usdt:[^ ]*app(:app:[a-z]*)* \{ (.*) \}$/\2/p' <<<"$got")" "$4" "$1" || printf '%s\n' "$got" | sed 's/^/# /'
}
becomes "a string is argN" all 'printf("%s\n", str(args.text));' 'printf("%s\n", str(arg0));'
becomes "args-> is the same" all 'printf("%s\n", str(args->text));' 'printf("%s\n", str(arg0));'
becomes "a narrow signed number is extended" all '@ = args.level;' '@ = (int64)(int16)arg3;'
becomes "an unsigned one is not" more '@ = args.busy;' '@ = arg0;'
becomes "an enum is compared with its enumerators" all 'if (args.mode == BAD) { exit(); }' \
	'if ((int64)(int32)arg2 == (-1)) { exit(); }'
becomes "a pointer that is followed is cast" all '@ = args.j->size;' '@ = ((struct job *)arg1)->size;'
becomes "so is one that is kept" all '$j = args.j; @ = $j->size;' '$j = ((struct job *)arg1); @ = $j->size;'
becomes "one that is printed is not" all 'printf("%p\n", args.j);' 'printf("%p\n", arg1);'
becomes "a pointer to a number can be followed" all '@ = *args.where;' '@ = *((uint16 *)arg5);'
becomes "args.N is argN with its type" all '@ = args.3; @b = args.1->size;' '@ = (int64)(int16)arg3; @b = ((struct job *)arg1)->size;'
becomes "sites with other expressions have both names" two 'printf("%s %d", str(args.text), args.argc);' \
	'printf("%s %d", str(arg0), (int64)(int32)arg1);'
like "$("$btgen" expand --for 0.17 -x "$tmp/app" -e 'usdt:__EXE__:app:more { @ = args.q->depth; }' 2>&1)" \
	'\(\(struct queue_t \*\)arg1\)->depth' "a typedef of a struct without a name"
like "$("$btgen" expand --for 0.17 -x "$tmp/app" -e 'usdt:__EXE__:app:all /args.port > 3/ { @ = 1; }' 2>&1)" \
	'all /arg4 > 3/ ' "in a predicate"
like "$("$btgen" expand --for 0.17 -x "$tmp/app" -e '#define A(x) args.x
usdt:__EXE__:app:all { @ = A(port); }' 2>&1)" '@ = arg4;' "out of a macro"
is "$("$btgen" expand --for 0.17 -e 'tracepoint:raw_syscalls:sys_enter { @ = args.id; }')" \
	'tracepoint:raw_syscalls:sys_enter { @ = args.id; }' "args of a tracepoint are bpftrace's"

got=$("$btgen" expand --for 0.17 -x "$tmp/app" -e 'usdt:__EXE__:app:all { printf("%s\n", enum_name(enum mode, args.mode)); }')
like "$got" '"%s%.0ld\\n", @enum_mode\[\(int64\)\(int32\)arg2\]' "enum_name() is a look-up, and the number of what has no name"
like "$got" '@enum_mode\[3\] = "ON";' "in a table of the names"
like "$got" '^END .*clear\(@enum_mode\)' "that is not printed at the end"
is "$("$btgen" expand --for 0.17 -x "$tmp/app" -e 'usdt:__EXE__:app:all { printf("%s %s\n", enum_name(mode, 1), enum_name(enum mode, args.mode)); }' | grep -o '@enum_mode\[0\] =' | wc -l)" \
	1 "one table serves all uses"

# refuses CLAIM SCRIPT MESSAGE
refuses() {
	"$btgen" expand --for 0.17 -x "$tmp/app" -e "$2" >"$tmp/out" 2>"$tmp/err"
	is "$? $(cat "$tmp/out")$(grep -v '^    \|note: /' "$tmp/err")" "1 $3" "$1"
}
refuses "an unknown name is an error, with the nearest and all names" 'usdt:__EXE__:app:two { @ = args.test; }' \
	'<command line>:1:33: error: probe app:two has no argument test
btgen: note: did you mean args.text?
btgen: note: it is app:two(const char *text, int argc)'
refuses "a probe without arguments" 'usdt:__EXE__:app:none { @ = args.x; }' \
	'<command line>:1:34: error: probe app:none has no argument x
btgen: note: app:none has no arguments'
refuses "a name that is another argument in another probe" 'usdt:__EXE__:app:all, usdt:__EXE__:app:one { @ = args.text; }' \
	'<command line>:1:55: error: the probes of this clause disagree: text is arg0 of app:all and arg1 of app:one'
refuses "a name that one of the probes does not have" 'usdt:__EXE__:app:two, usdt:__EXE__:app:one { @ = args.argc; }' \
	'<command line>:1:55: error: probe app:one has no argument argc
btgen: note: it is app:one(long int size, const char *text)'
refuses "sites that disagree about which argument it is" 'usdt:__EXE__:app:swapped { @ = args.argc; }' \
	'<command line>:1:37: error: the sites of app:swapped disagree: argc is arg0 at one and arg1 at another'
refuses "sites that disagree about the type" 'usdt:__EXE__:app:widths { @ = args.size; }' \
	'<command line>:1:36: error: the sites of app:widths disagree about the type of size
btgen: note: arg0 is the plain value'
refuses "args.N beyond the last" 'usdt:__EXE__:app:two { @ = args.2; }' \
	'<command line>:1:32: error: probe app:two has no argument 2
btgen: note: it is app:two(const char *text, int argc)'
refuses "usdt and other probes in one clause" 'usdt:__EXE__:app:two, interval:s:1 { @ = args.argc; }' \
	'<command line>:1:47: error: this clause mixes usdt probes with others, whose args are different: write two clauses'
refuses "an argument that this bpftrace cannot read" 'usdt:__EXE__:app:spread { @ = args.last; }' \
	'<command line>:1:31: error: bpftrace 0.17 reads arg0 to arg5 only (0.24 reads up to arg11)
btgen: note: at one site arg6 is -4@$-1: no single expression reads it there and at the other sites'
refuses "enum_name() with one argument" 'usdt:__EXE__:app:two { @ = enum_name(mode); }' \
	'<command line>:1:28: error: enum_name() takes a type and a value'
refuses "enum_name() of what is no enum" 'usdt:__EXE__:app:two { @ = enum_name(mood, 1); }' \
	'<command line>:1:38: error: no enum "mood" in the debug information
btgen: note: did you mean "mode"?'
is "$("$btgen" expand -x "$tmp/app" -e 'uretprobe:__EXE__:main /retval < 0/ { print(retval >= -1); print((int32)retval < 0); print(retval < 5); }' 2>&1 >/dev/null | grep -o "^.*to bpftrace retval of a function is an unsigned 64-bit number")" \
	"<command line>:1:25: warning: to bpftrace retval of a function is an unsigned 64-bit number
<command line>:1:45: warning: to bpftrace retval of a function is an unsigned 64-bit number" "asking for the sign of a number that has none"
# A class that a template of ours cannot spell, but for its typedef.
cat >"$tmp/cc.cc" <<'END'
#include <btgen/usdt.h>
template <class T> struct box { int other; T value; };
typedef box<signed char> small;
int main()
{
	small one = {1, -1}, *s = &one;
	USDT_PROBE(app, cc, s);
}
END
"${CXX:-g++}" -O1 -g -I"$top/include" -o "$tmp/cc" "$tmp/cc.cc" || exit 1
is "$("$btgen" expand --for 0.17 -x "$tmp/cc" -e 'usdt:__EXE__:app:cc { print(args.s->value); }' 2>&1 | tail -n 1)" \
	"usdt:$tmp/cc:app:cc { print((int64)(int8)((struct box_signedchar_ *)arg0)->value); }" "a member of a C++ template"
done_testing
