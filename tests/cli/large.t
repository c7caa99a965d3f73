#!/usr/bin/env bash
# Templates far larger or deeper than anyone writes: a program or an error, in time that grows with the template, and not with the
# square of it.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

cat >"$tmp/p.c" <<'END'
#include "usdt.h"
struct s { int a; struct s *n; };
int main(void) { struct s x = {0}; int e = 1; USDT_PROBE(t, p, &x, e); return 0; }
END
gcc -g -w -I "$top/include/btgen" -o "$tmp/p" "$tmp/p.c" || exit 1

limit_memory 2097152

# gen NAME PYTHON: writes the template $tmp/NAME.bt that the expression gives
gen() { python3 -c "import sys; n = int(sys.argv[1]); sys.stdout.write($2)" "${3-0}" >"$tmp/$1.bt"; }
# grows CLAIM STATUS REGEX N PYTHON: in proportion to n, which is N and 4 N; REGEX fits the messages. A third of them: false for the others
grows() {
	in_third || return
	gen "$4" "$5" "$4"
	gen $((4 * $4)) "$5" $((4 * $4))
	linear "$1" "$2" "$4" "$btgen" expand -W no-version --for 0.17 -x "$tmp/p" "$tmp/{}.bt"
	[ -z "$3" ] || like "$(cat "$tmp/err")" "$3" "... with a message"
}
# soon CLAIM STATUS REGEX PYTHON: REGEX fits the messages
soon() {
	gen t "$4"
	guard "$btgen" expand -W no-version --for 0.17 -x "$tmp/p" "$tmp/t.bt" >"$tmp/out" 2>"$tmp/err"
	local status=$?
	[ $status = "$2" ] && grep -qE -- "$3" <(cat "$tmp/err"; echo)
	tap_result $? "$1" || { echo "#   status $status"; head -n 3 "$tmp/err" | cut -c1-200 | sed 's/^/#   /'; }
}

grows "clauses" 0 '' 5000 '"usdt:__EXE__:p /args.e == 1/ { printf(\"%d %d\\n\", ((struct s *)arg0)->a, arg1); }\n" * n' &&
	is "$(grep -o 'printf(' "$tmp/out" | wc -l)" 20000 "... are in the program"
grows "clauses that call functions" 0 '' 5000 '"usdt:__EXE__:p { $x = str(arg0); @[$x] = count(); print($x); printf(\"%d\\n\", arg1); }\n" * n'
grows "many times BEGIN, which are one for 0.17" 0 'duplicate clause' 15000 '"BEGIN { }\n" * n'
grows "variables" 0 '' 8000 '"BEGIN { " + "".join("$v%d = 1; " % i for i in range(n)) + "}\n"'
grows "maps that nobody sets" 1 'read but never set' 8000 '"BEGIN { " + "".join("print(@m%d); " % i for i in range(n)) + "}\n"'
grows "macros that call the next one twice" 0 '' 5000 \
	'"".join("macro m%d() { m%d() + m%d() }\n" % (i, i + 1, i + 1) for i in range(n)) + "usdt:__EXE__:p { @ = m0(); }\n"'
grows "options" 0 '' 15000 '"".join("#pragma option O%d 1 \"help\"\n" % i for i in range(n)) + "usdt:__EXE__:p { }\n"'
soon "an option that is declared twice, differently" 1 't\.bt:2:16: error: option A is redeclared differently' \
	'"#pragma option A 1 \"x\"\n" + "#pragma option A 2 \"x\"\n" + "usdt:__EXE__:p { }\n"'
grows "nested parentheses" 1 '\.bt:1:[0-9]+: error: this "\(" is nested too deeply' 200000 \
	'"usdt:__EXE__:p { @ = " + "(" * n + "1" + ")" * n + "; }\n"'
soon "400 are well" 0 '' '"usdt:__EXE__:p { @ = " + "(" * 400 + "arg1" + ")" * 400 + "; }\n"'
grows "choices in each other" 1 '\.bt:1:[0-9]+: error: this expression is nested too deeply' 50000 \
	'"usdt:__EXE__:p { $a = arg1; $b = " + "$a ? " * n + "1" + " : 2" * n + "; }\n"'
grows "choices behind each other" 1 '\.bt:1:[0-9]+: error: this expression is nested too deeply' 50000 \
	'"usdt:__EXE__:p { $a = arg1; $b = " + "$a ? 1 : " * n + "2; }\n"'
grows "choices without a second half" 1 "unexpected ';'" 50 \
	'("usdt:__EXE__:p { $a = arg1; " + "$b = " + "$a ? " * 900 + "1; }\n") * n'
soon "500 are well" 0 '' '"usdt:__EXE__:p { $a = arg1; $b = " + "$a ? 1 : " * 500 + "2; }\n"'
grows "members in a row" 1 '\.bt:1:[0-9]+: error: more than 256 members in a row' 100000 \
	'"usdt:__EXE__:p { @ = ((struct s *)arg0)" + "->n" * n + "->a; }\n"'
soon "200 are well" 0 '' '"usdt:__EXE__:p { @ = ((struct s *)arg0)" + "->n" * 200 + "->a; }\n"'
grows "comparisons that begin like a C++ template" 0 '' 15000 \
	'"usdt:__EXE__:p { @ = f(" + ", ".join(["int32 < 1"] * n) + "); }\n"'
grows "unknown names" 1 'too many errors' 10000 '"".join("usdt:__EXE__:p { print(nosuch%d::X); }\n" % i for i in range(n))'
grows "a long comment" 0 '' 4000000 '"/*" + "x" * n + "*/ usdt:__EXE__:p { }\n"'
# More probes than bpftrace can attach to: each place where sites have the arguments counts for 0.24 and newer.
python3 - >"$tmp/many.c" <<'END'
print('#include "usdt.h"\nint main(void) {')
for i in range(257):
    print("USDT_PROBE(one, %s, 5);" % ("p%d" % i if i < 256 else "last"))
for i in range(129):
    for value in (5, 6, 5):
        print("USDT_PROBE(two, %s, %d);" % ("p%d" % i if i < 128 else "last", value))
print("}")
END
gcc -O1 -w -I "$top/include/btgen" -o "$tmp/many" "$tmp/many.c" || exit 1
many() { { "$btgen" expand --for "$1" -x "$tmp/many" -e "usdt:__EXE__:$2 { @ = count(); }" >"$tmp/out"; } 2>&1; }
over() { # NUMBER OF NAMES
	echo "btgen: warning: $1 of $2 probes $([ "$1" = 1 ] && echo is || echo are) skipped: bpftrace 0.27 attaches to at most 256 at once," \
		"without $3: name fewer, or trace the rest in another run"
}
bound() { grep -o "$tmp/many:[a-z]*:[a-z0-9]*" "$tmp/out"; }
is "$(many 0.27 'one:*')" "$(over 1 257 one:last)" "too many probes for 0.27 are known before it tries"
is "$(bound | sed -n '1p;$p'; bound | wc -l)" "$tmp/many:one:p0
$tmp/many:one:p255
256" "a pattern gets the first that fit"
is "$(many 0.27 'one:p*')" "" "256 are not too many"
is "$(many 0.27 'two:*')" "$(over 1 129 two:last)" "probes whose sites differ count more than once"
is "$(many 0.27 'two:p*')" "" "128 such are not too many"
is "$(many 0.27 '*:*')" "$(over 130 386 'one:last, two:p0, two:p1 and 127 more')" "one line, however many are skipped"
named=$(sed -n 's/.*USDT_PROBE(one, \([a-z0-9]*\),.*/usdt:__EXE__:one:\1 { @ = count(); }/p' "$tmp/many.c")
"$btgen" expand --for 0.27 -x "$tmp/many" -e 'usdt:__EXE__:two:p* { @a = count(); }' -e 'usdt:__EXE__:one:p7 { @ = count(); }' \
	>"$tmp/out" 2>"$tmp/err"
is "$(cat "$tmp/err") $(bound | grep -c two) $(bound | grep one)" "$(over 1 129 two:p127) 127 $tmp/many:one:p7" \
	"what a script names comes before what its patterns match"
is "$("$btgen" check --for 0.27 -x "$tmp/many" -e "$named" 2>&1 | grep '\[limit\]')" \
	"btgen: error: bpftrace 0.27 can attach to at most 256 probes at once, but there are 257  [limit]" \
	"a script that names too many is not cut down"
is "$(many 0.23 '*:*')" "" "0.23 has no such limit"
cat >"$tmp/bpftrace" <<'END'
#!/bin/sh
[ "$1" != --version ] || { echo "bpftrace v$FAKE_VERSION"; exit; }
echo "${BPFTRACE_MAX_PROBES-its own} ${BPFTRACE_MAX_BPF_PROGS-its own}"
END
chmod +x "$tmp/bpftrace"
limits() { FAKE_VERSION=$1 "$btgen" run --bpftrace "$tmp/bpftrace" -x "$tmp/many" -t "$2" 2>"$tmp/err"; }
if can_trace; then
	limits 0.27.1 'one:*' >/dev/null
	is "$(grep skipped "$tmp/err")" "$(over 1 257 one:last)" "-t skips those that are too many"
	is "$(limits 0.17.0 'two:*')" "its own its own" "bpftrace keeps its limits where they are enough"
	is "$(limits 0.17.0 '*')" "1288 1288" "and has them raised where 644 sites are more than 0.17 takes by itself"
	like "$(cat "$tmp/err")" '^btgen: warning: 644 sites to trace: bpftrace takes minutes' "which is said"
	is "$(BPFTRACE_MAX_PROBES=700 limits 0.17.0 '*')" "700 1288" "but what the user has set stands"
else
	skip_tracing "limits of bpftrace are raised"
fi
done_testing
