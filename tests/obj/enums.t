#!/usr/bin/env bash
# btgen enums: the numbers are those that the compiler gave the enumerators.
. "$(dirname "$0")/../lib.sh"

# The fixture prints its own enumerators; what it prints is what the tables must say.
cat >"$tmp/a.c" <<'END'
#include <stdio.h>
#define E(name) printf(#name " %lld\n", (long long)name)
enum plain { P_A, P_B, P_C };
enum sparse { S_A = 5, S_B = 100, S_C = 7, S_D };
enum negative { N_A = -3, N_B, N_C = 2147483647 };
enum wide { W_A = 1, W_B = 0xffffffffffffULL, W_C = 0xffffffffffffffffULL };
enum wide_negative { X_A = -9223372036854775807LL - 1, X_B = 0, X_C = 9223372036854775807LL };
enum twice { T_A = 1, T_B = 2, T_C = 1, T_D = 2, T_E = 1 };
enum __attribute__((packed)) tiny { Y_A = 200, Y_B = 1 };
enum __attribute__((packed)) tiny_negative { Z_A = -128, Z_B = 100, Z_C = 127 };
enum high { H_A = 0x80000000u, H_B = 0xfffffffdu };
typedef enum { U_A = 3, U_B = 9 } unnamed_t;
typedef enum plain plain_t;
enum PRE { PRE_ = 1, PRE_1 = 2, PRE_X = 3, OTHER = 4 };
enum declared_only *nothing;
int main(void)
{
	enum plain p = P_A; enum sparse s = S_A; enum negative n = N_A; enum wide w = W_A; enum wide_negative x = X_A;
	enum twice t = T_A; enum tiny y = Y_A; enum tiny_negative z = Z_A; unnamed_t u = U_A; plain_t pt = P_A; enum PRE e = PRE_X;
	enum high h = H_A;
	printf("%d", (int)(p + s + n + w + x + t + y + z + u + pt + e + h) * 0 + (nothing != 0));
	{ enum inside { INSIDE_A = 1 } i = INSIDE_A; printf("%d\n", (int)i * 0); }
	E(P_A); E(P_B); E(P_C); E(S_A); E(S_B); E(S_C); E(S_D); E(N_A); E(N_B); E(N_C); E(W_A); E(W_B); E(W_C); E(X_A); E(X_B); E(X_C);
	E(T_A); E(T_B); E(Y_A); E(Y_B); E(Z_A); E(Z_B); E(Z_C); E(U_A); E(U_B); E(H_A); E(H_B);
	return 0;
}
END
all="plain sparse negative wide wide_negative twice tiny tiny_negative high unnamed_t"
from_json='
import json, sys
for e in json.load(sys.stdin):
    for v in e["values"]:
        n = v["value"]
        print(v["name"], n - (1 << 64) if n >= 1 << 63 else n)
'

check_build() { # CLAIM FILE
	# shellcheck disable=SC2086 # a list of names
	is "$("$btgen" enums -x "$2" --json $all 2>&1 | python3 -c "$from_json" 2>&1 | sort)" "$want" "$1"
}

gcc -g -o "$tmp/a" "$tmp/a.c"
want=$("$tmp/a" | tail -n +2 | sort)
[ -n "$want" ] || exit 1
check_build "values equal what the program prints: explicit, sparse, negative, 64 bits, narrow" "$tmp/a"
for flags in -gdwarf-2 -gdwarf-3 -gdwarf-4 -gdwarf-5 "-g -gdwarf64" "-g -gz=zlib" "-g -O2 -flto" "-g -fdebug-types-section" \
	"-gdwarf-4 -fdebug-types-section" "-g3 -gstrict-dwarf -gdwarf-2"; do
	# shellcheck disable=SC2086
	gcc $flags -o "$tmp/b" "$tmp/a.c" && check_build "... built by gcc $flags" "$tmp/b"
done
(cd "$tmp" && gcc -g -gsplit-dwarf -c -o split.o a.c && gcc -g -o split split.o)
check_build "... split into a .dwo file" "$tmp/split"
gcc -g -gsplit-dwarf -gdwarf-4 -c -o "$tmp/split4.o" "$tmp/a.c" && gcc -o "$tmp/split4" "$tmp/split4.o"
check_build "... split as DWARF 4 does" "$tmp/split4"
rm "$tmp/split.dwo"
like "$("$btgen" enums -x "$tmp/split" plain 2>&1)" 'the types of 1 units are in split files.*split\.dwo' \
	"a .dwo file that is gone is named"
for flags in -g -gdwarf-4 "-g -gsplit-dwarf" "-g -gz"; do
	if ! command -v clang >/dev/null; then
		skip "... built by clang $flags" "no clang"
	else
		# shellcheck disable=SC2086
		(cd "$tmp" && clang $flags -w -c -o c.o a.c && clang -g -o c c.o) && check_build "... built by clang $flags" "$tmp/c"
	fi
done

objcopy --only-keep-debug "$tmp/a" "$tmp/a.debug"
objcopy --strip-debug --add-gnu-debuglink="$tmp/a.debug" "$tmp/a" "$tmp/stripped"
check_build "... stripped, with .gnu_debuglink" "$tmp/stripped"
gcc -g -c -o "$tmp/a.o" "$tmp/a.c" && check_build "... in an object file" "$tmp/a.o"

out=$("$btgen" enums -x "$tmp/a" negative:neg:N_ plain twice:tw tiny_negative:tn 2>&1)
is "$(printf '%s\n' "$out" | grep '@neg\[')" '	@neg[-3] = "A";
	@neg[4294967293] = "A";
	@neg[-2] = "B";
	@neg[4294967294] = "B";
	@neg[2147483647] = "C";' "negative keys are there sign-extended and zero-extended"
like "$out" '@tn\[128\] = "Z_A";' "... to the enum's own width"
is "$(printf '%s\n' "$out" | grep -cE '^(BEGIN|END)$')" 2 "all tables share one BEGIN and one END"
is "$(printf '%s\n' "$out" | grep clear)" "$(printf '\tclear(@neg);\n\tclear(@plain);\n\tclear(@tw);\n\tclear(@tn);')" \
	"END clears every table"
is "$(printf '%s\n' "$out" | grep '@tw\[')" "$(printf '\t@tw[1] = "T_A";\n\t@tw[2] = "T_B";')" "the first name of a value wins"
like "$out" '^// +T_A is also T_C, T_E$' "... and the others are listed"
is "$("$btgen" enums -x "$tmp/a" PRE:m:PRE_ | grep '@m\[')" \
	"$(printf '\t@m[1] = "PRE_";\n\t@m[2] = "1";\n\t@m[3] = "X";\n\t@m[4] = "OTHER";')" \
	"a prefix is stripped where something remains"
like "$("$btgen" enums -x "$tmp/a" 'enum wide:w')" '@w\[18446744073709551615\] = "W_C"' \
	"a 64-bit unsigned value stays unsigned; \`enum' may be written"

like "$("$btgen" enums -x "$tmp/a" plian 2>&1)" 'no enum "plian".*' "an unknown enum is an error"
like "$("$btgen" enums -x "$tmp/a" plian 2>&1)" 'did you mean "plain"' "... with the nearest name"
not_ok "... and status 1" "$btgen" enums -x "$tmp/a" plian -o "$tmp/none" 2>/dev/null
not_ok "... and no file" test -e "$tmp/none"
like "$("$btgen" enums -x "$tmp/a" inside 2>&1)" 'no enum "inside"' "an enum inside of a function is not found"
like "$("$btgen" enums -x "$tmp/a" declared_only 2>&1)" 'declared|no enum' "a declaration is not a definition"
strip -o "$tmp/none.exe" "$tmp/a"
like "$("$btgen" enums -x "$tmp/none.exe" plain 2>&1)" 'none\.exe.*(-dbgsym|-g)' "without DWARF the error says what to install"
id=$(readelf -n "$tmp/a" | sed -n 's/.*Build ID: //p')
like "$("$btgen" enums -x "$tmp/none.exe" plain 2>&1)" "\.build-id/${id:0:2}/${id:2}\.debug" "... and the path of the debug file"
like "$("$btgen" enums -x /dev/null plain 2>&1)" '/dev/null' "a file that is no ELF file is named"

# Two units with an enum of one name: the same is fine, a different one is reported.
printf 'enum same { A1, A2 } a1; enum odd { B1 = 1, B2 } b1;\n' >"$tmp/u1.c"
printf 'enum same { A1, A2 } a2; enum odd { B1 = 7, B2 } b2; int main(void){return 0;}\n' >"$tmp/u2.c"
gcc -g -o "$tmp/units" "$tmp/u1.c" "$tmp/u2.c"
is "$("$btgen" enums -x "$tmp/units" same 2>&1 >/dev/null)" "" "the same definition in two units is no news"
like "$("$btgen" enums -x "$tmp/units" odd 2>&1)" 'warning: "odd" is defined differently in .*u1\.c and .*u2\.c' \
	"different ones are reported with their units"
like "$("$btgen" enums -x "$tmp/units" odd 2>/dev/null)" '@odd\[1\] = "B1"' "... and the first wins"

cat >"$tmp/x.cc" <<'END'
#include <cstdio>
namespace ns { enum class Color : short { Red = -1, Green = 300 }; enum E { E_A = 4 }; namespace { enum Hid { HID = 5 }; }
struct Outer { enum Inner { IN_A = 1, IN_B = 40 }; Inner i; template <typename T> struct Box { enum class K { One = 11 }; K k; }; }; Hid h; }
enum E { E_GLOBAL = 9 };
int main() { ns::Color c = ns::Color::Red; ns::E e = ns::E_A; E g = E_GLOBAL; ns::Outer o{}; ns::Outer::Box<unsigned int> b{}; std::printf("%d %d %d %d %d %d\n", (int)c, e, g, (int)o.i, (int)b.k, ns::h); }
END
g++ -g -o "$tmp/x" "$tmp/x.cc"
cxx() { "$btgen" enums -x "$tmp/x" "$1:m" 2>&1 | sed -n 's/^\t@m\[\(.*\)\] = "\(.*\)";/\1 \2/p' | tr '\n' ' '; }
is "$(cxx ns::Color)" "-1 ns::Color::Red 65535 ns::Color::Red 300 ns::Color::Green " "an enum class in a namespace"
is "$(cxx ns::E)|$(cxx E)" "4 E_A |9 E_GLOBAL " "the same name in a namespace and outside are two"
is "$(cxx ns::Outer::Inner)" "1 IN_A 40 IN_B " "an enum in a class"
is "$(cxx 'ns::Outer::Box<unsigned  int>::K')" "11 ns::Outer::Box<unsigned int>::K::One " "an enum in a template, whatever the blanks"
is "$(cxx 'ns::(anonymous namespace)::Hid')|$(cxx ns::Hid)" "5 HID |5 HID " "an enum in an anonymous namespace"
like "$("$btgen" enums -x "$tmp/x" Color 2>&1)" 'did you mean "ns::Color"' "a missing scope is suggested"

printf 'one plain P_ # comment\n\n# c\n@two enum sparse\nthree gone_t\n' >"$tmp/conf"
out=$("$btgen" enums -x "$tmp/a" --conf "$tmp/conf" -o "$tmp/out.bt" 2>&1)
is "$out" "$tmp/conf:5:7: warning: no enum \"gone_t\" in this program; skipped
    three gone_t
          ^~~~~~" "a listed enum that is not there is skipped, with a warning"
is "$(sed -n 's/^\t@//p' "$tmp/out.bt" | head -4)" 'one[0] = "A";
one[1] = "B";
one[2] = "C";
two[5] = "S_A";' "the others are written"
not_ok "a list of which nothing is there is an error" "$btgen" enums -x "$tmp/x" --conf "$tmp/conf" -o "$tmp/out.bt" 2>/dev/null
ok "... and the old file stays" grep -q 'two\[5\]' "$tmp/out.bt"
printf 'one plain P_ more\nbad-name plain\nalone\none sparse\ntwo sparse\ntwo sparse\n' >"$tmp/bad"
is "$("$btgen" enums -x "$tmp/a" --conf "$tmp/bad" 2>&1 | grep error | sed "s,.*/bad:,,")" \
	'1:14: error: a table is MAP TYPE [PREFIX]: unexpected word
2:1: error: "bad-name" is not the name of a map
3:1: error: a table is MAP TYPE [PREFIX]: the type is missing
6:1: error: map "two" is listed twice' "mistakes in the list are placed"
not_ok "-o into a folder that is not there fails" "$btgen" enums -x "$tmp/a" plain -o "$tmp/no/such" 2>/dev/null
is "$(find "$tmp" -name 'out.bt*' | wc -l)" 1 "no temporary file is left"
"$btgen" enums -x "$tmp/a" 2>/dev/null
is $? 2 "no names is a mistake in the command line"

make -s -C "$top" BUILD="$build" gen-enums EXE="$tmp/a" CONF="$tmp/conf" OUT="$tmp/made.bt" >/dev/null 2>&1
ok "make gen-enums writes the same file" cmp "$tmp/made.bt" "$tmp/out.bt"

sleep 1000 &
own $!
like "$("$btgen" enums -p $! plain 2>&1)" 'plain' "-p looks into a process"

if can_trace; then
	"$btgen" enums -x "$tmp/a" -o "$tmp/t.bt" negative:neg:N_ wide_negative:wn wide:w tiny:t
	printf 'interval:ms:1 { $a = (int64)-2; $b = (uint32)4294967294; printf("%%s %%s %%s|%%s\\n", @neg[$a], @neg[$b], @wn[(int64)-9223372036854775807 - 1], @neg[77]); exit(); }\n' >>"$tmp/t.bt"
	like "$(bpftrace "$tmp/t.bt" 2>&1)" '^B B X_A\|$' "bpftrace accepts the tables and finds the names"
else
	skip_tracing "bpftrace accepts the tables"
fi
done_testing
