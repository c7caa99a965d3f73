#!/usr/bin/env bash
# Names of enumerators in what a script prints: 500 of one enum, C++ scopes, negative and 64-bit values, flags, values without a
# name. Gdb says what each is called; the program that is traced prints what it passed.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"

{
	printf 'enum many {\n'
	for n in {0..499}; do printf '\tMANY_%s_%d = %d,\n' "$(tr 0-9 a-j <<<"$n")" "$n" $((n * 3 - 300)); done
	cat <<'END'
};
#include <btgen/usdt.h>
#include <cstdio>
#include <initializer_list>
#include <unistd.h>
namespace ns {
	enum class state : unsigned char { OFF, ON = 7, LAST = 255 };
	struct device { enum class mode { IDLE = -1, BUSY = 1 }; enum plain { LEFT = 4, RIGHT }; };
}
enum wide : unsigned long { SMALL = 1, HUGE_ONE = 0xfedcba9876543210ul, LARGEST = 0xfffffffffffffffful };
enum deep : long { DEEPEST = -0x7fffffffffffffffl - 1, ABOVE = 0x100000000l };
enum flags { NONE = 0, READ = 1, WRITE = 2, EXEC = 4, SHARED = 0x1000 };
enum narrow : signed char { MINUS = -2, PLUS = 2 };

int main()
{
	char c;
	if (read(0, &c, 1) != 1)
		return 1;
	for (int i = -1; i <= 500; i++) {
		many v = (many)(i * 3 - 300);
		USDT_PROBE(app, many, v);
	}
	for (int i : {0, 7, 255, 3}) {
		ns::state v = (ns::state)i;
		USDT_PROBE(app, state, v);
	}
	for (int i : {-1, 1, 0}) {
		ns::device::mode v = (ns::device::mode)i;
		USDT_PROBE(app, mode, v);
	}
	for (int i : {4, 5, 6}) {
		ns::device::plain v = (ns::device::plain)i;
		USDT_PROBE(app, plain, v);
	}
	for (unsigned long i : {1ul, 0xfedcba9876543210ul, 0xfffffffffffffffful, 0x1234567890ul, 1ul << 63}) {
		wide v = (wide)i;
		USDT_PROBE(app, wide, v);
	}
	for (long i : {-0x7fffffffffffffffl - 1, 0x100000000l, 0l, -5l}) {
		deep v = (deep)i;
		USDT_PROBE(app, deep, v);
	}
	for (int i : {0, 1, 3, 7, 0x1000, 0x1006, 0x41, 0x40, 0x1047}) {
		flags v = (flags)i;
		USDT_PROBE(app, flags, v);
	}
	for (int i : {-2, 2, -1}) {
		narrow v = (narrow)i;
		USDT_PROBE(app, narrow, v);
	}
	USDT_PROBE(app, end);
	printf("done\n");
	fflush(stdout);
	return read(0, &c, 1) < 0;
}
END
} >"$tmp/app.cc"
g++ -O1 -g -I"$top/include" -o "$tmp/app" "$tmp/app.cc" 2>"$tmp/err" || { cat "$tmp/err"; exit 1; }

# wanted: a line for each event, "KIND|NAME": what the source says. A number, where there is no name, in its type.
python3 - <<'END' >"$tmp/wanted"
letters = str.maketrans("0123456789", "abcdefghij")
for i in range(-1, 501):
    print(f"many|MANY_{str(i).translate(letters)}_{i}" if 0 <= i < 500 else f"many|{i * 3 - 300}")
print("""state|ns::state::OFF
state|ns::state::ON
state|ns::state::LAST
state|3
mode|ns::device::mode::IDLE
mode|ns::device::mode::BUSY
mode|0
plain|LEFT
plain|RIGHT
plain|6
wide|SMALL
wide|HUGE_ONE
wide|LARGEST
wide|78187493520
wide|9223372036854775808
deep|DEEPEST
deep|ABOVE
deep|0
deep|-5
flags|NONE
flags|READ
flags|READ|WRITE
flags|READ|WRITE|EXEC
flags|SHARED
flags|WRITE|EXEC|SHARED
flags|READ|0x40
flags|64
flags|READ|WRITE|EXEC|SHARED|0x40
narrow|MINUS
narrow|PLUS
narrow|-1""")
END
kinds='many:many state:ns::state mode:ns::device::mode plain:ns::device::plain wide:wide deep:deep flags:flags narrow:narrow'

# traced CLAIM ARG...: the trace of one round
traced() {
	local claim=$1
	shift
	live_start "$tmp/app"
	ok "$claim: it attaches" live_trace -q $live_pid "$@"
	printf x >&8
	wait_for grep -q 'done' "$tmp/answers"
	live_wait INT
	is "$live_rc $(cat "$tmp/messages")" "0 " "$claim: status 0, and nothing is said"
	exec 8>&-
	wait_end "$live_pid"
}

for kind in $kinds; do
	printf 'usdt:__EXE__:app:%s { printf("%s|%%s\\n", enum_name(%s, args.v)); }\n' "${kind%%:*}" "${kind%%:*}" "${kind#*:}"
done >"$tmp/names.bt"
traced enum_name "$tmp/names.bt"
is "$(cat "$tmp/trace")" "$(cat "$tmp/wanted")" "enum_name(): each name as the source has it, unknown values as numbers"

for kind in $kinds; do
	printf 'usdt:__EXE__:app:%s { printf("%s|%%s\\n", (enum %s)args.v); }\n' "${kind%%:*}" "${kind%%:*}" "${kind#*:}"
done | grep -v :: >"$tmp/casts.bt"
traced "a cast" "$tmp/casts.bt"
is "$(cat "$tmp/trace")" "$(grep -vE '^(state|mode|plain)' "$tmp/wanted")" "a cast to the enum: the same"

for kind in $kinds; do
	printf 'usdt:__EXE__:app:%s { print(("%s", (args.v, args.v == args.v))); }\n' "${kind%%:*}" "${kind%%:*}"
done >"$tmp/tuples.bt"
traced "a printed tuple" "$tmp/tuples.bt"
is "$(sed 's/, true))$/, 1))/' "$tmp/trace")" "$(sed -E 's/^([a-z]*)\|(.*)/(\1, (\2, 1))/' "$tmp/wanted")" "a printed tuple: the same"

cat >"$tmp/tables.bt" <<'END'
#pragma enum many many MANY_
#pragma enum state ns::state
usdt:__EXE__:app:many { printf("many|%s\n", @many[args.v]); }
usdt:__EXE__:app:state { printf("state|%-12s|%12s|%d\n", @state[args.v], @state[args.v], args.v); }
END
traced tables "$tmp/tables.bt"
is "$(grep ^many "$tmp/trace")" "$(sed -n 's/^many|MANY_/many|/p; /^many|-*[0-9]/p' "$tmp/wanted")" \
	"a table of 500 names, of which the prefix is taken off"
is "$(grep ^state "$tmp/trace")" "$(printf 'state|%-12s|%12s|%d\n' ns::state::OFF ns::state::OFF 0 ns::state::ON ns::state::ON 7 \
	ns::state::LAST ns::state::LAST 255 3 3 3)" "names in a layout"

cat >"$tmp/keys.bt" <<'END'
#pragma enum narrow narrow
usdt:__EXE__:app:narrow { @seen[@narrow[args.v], 1] = count(); }
END
"$btgen" expand -x "$tmp/app" -W no-table -o "$tmp/expanded.bt" "$tmp/keys.bt"
is "$(guard "${BTGEN_BPFTRACE:-bpftrace}" "$tmp/expanded.bt" -c "$tmp/app" <<<xx 2>/dev/null | grep seen | sort)" \
	"$(printf '@seen[%s, 1]: 1\n' MINUS PLUS '' | sort)" "names in a key of two parts, in a script without BEGIN"

cat >"$tmp/maps.bt" <<'END'
usdt:__EXE__:app:many { @last[pid] = args.v; @any = args.v; printf("many|%s|%s\n", @last[pid], @any); }
usdt:__EXE__:app:flags { @flags[args.v] = args.v; @pair[args.v] = (args.v, 1); }
END
traced "maps that hold enumerators" "$tmp/maps.bt"
is "$(grep ^many "$tmp/trace")" "$(sed -nE 's/^(many)\|(.*)/\1|\2|\2/p' "$tmp/wanted")" "a map with a key, and one without"
is "$(grep -E '^@(flags|pair)' "$tmp/trace" | sort)" "$(sed -nE 's/^flags\|(.*)/@flags[\1]: \1\n@pair[\1]: (\1, 1)/p' "$tmp/wanted" | sort)" \
	"and their values at the end"

traced JSON -f json "$tmp/names.bt"
is "$(python3 -c 'import json, sys
for o in map(json.loads, [*open(sys.argv[1])][1:]):
    v = o["fields"]["v"]
    print(o["probe"].split(":")[1], v["name"] or v["value"], sep="|")' "$tmp/trace")" "$(cat "$tmp/wanted")" \
	"-f json: each has its name, or null and its value"

traced -t -t 'app:*'
is "$(sed -nE 's/.* app:([a-z]+) v=/\1|/p' "$tmp/trace")" "$(cat "$tmp/wanted")" "-t: the same names"
done_testing
