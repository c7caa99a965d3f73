#!/usr/bin/env bash
# One name, several definitions: the one beside the code that a clause traces is meant, and where nothing tells which one
# is, that is said.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

# Two source files, each with types of its own under the same names, as C has it; main.c has only declarations.
cat >"$tmp/u1.c" <<'END'
#include "usdt.h"
enum color { RED = 1, BLUE = 5, SAME = 9 };
enum state { OFF = 0, ON = 1 };
typedef int word_t;
struct odd { int a; long b; };
struct both { int x; char pad[3]; };
struct holds { struct odd *odd; } held1;
__attribute__((noinline)) int one(enum color c, struct odd *o, enum state s)
{
	word_t w = (word_t)c; struct both b = {w, "a"};
	USDT_PROBE(t, one, c, o, s);
	return o->a + w + (int)s + b.x;
}
END
cat >"$tmp/u2.c" <<'END'
#include "usdt.h"
enum colour { BLUE = 6, RED = 2, SAME = 9 };
enum state { OFF = 3, ON = 4 };
typedef unsigned char word_t;
struct odd { char b; short a; };
struct both { int x; char pad[3]; };
__attribute__((noinline)) int two(enum colour c, struct odd *o, enum state s)
{
	word_t w = (word_t)c; struct both b = {w, "a"};
	USDT_PROBE(t, two, c, o, s);
	return o->a + w + (int)s + b.x;
}
END
cat >"$tmp/main.c" <<'END'
#include "usdt.h"
struct odd; int one(int, struct odd *, int); int two(int, struct odd *, int);
struct has_odd { struct odd *odd; long next; };
__attribute__((noinline)) void neither(struct has_odd *h) { USDT_PROBE(t, neither, h); }
int main(void)
{
	static struct { int a; int b; } bytes = {0x01020304, 0};
	struct has_odd h = {(struct odd *)&bytes, 0};
	neither(&h);
	return (one(1, h.odd, 1) + two(2, h.odd, 3)) * 0;
}
END

build() { # COMPILER FLAGS -> $tmp/p
	(cd "$tmp" && rm -f p ./*.dwo ./*.o &&
		for f in u1 u2 main; do $1 $2 -w -I "$top/include/btgen" -c -o $f.o $f.c || exit; done && $1 $2 -o p u1.o u2.o main.o)
}
expand() { # TEXT: the program, without definitions; messages in $tmp/err
	"$btgen" expand -W no-disagree --for 0.27 -x "$tmp/p" -e "$1" 2>"$tmp/err" | grep -a usdt:
}
said() { sed -n "s,^$tmp/,,; s/.*warning: //p" "$tmp/err" | sed "s,$tmp/,,g"; }

build gcc "-g -O1" || exit 1
is "$(expand 'usdt:__EXE__:one /arg0 == RED/ { print((RED, BLUE)); }
usdt:__EXE__:two /arg0 == RED/ { print((RED, BLUE)); }' | sed 's/.*\//\//')" '/ { print((1, 5)); }
/ { print((2, 6)); }' "an enumerator is the one of the source file with the clause's probe"
is "$(said)" "" "... and nothing is said"
like "$(expand 'usdt:__EXE__:two /arg0 == RED/ { }')" 'arg0 == 2' "... in the predicate, too"
is "$(expand 'usdt:__EXE__:one { print((sizeof(struct odd), offsetof(struct odd, a), sizeof(word_t))); }
usdt:__EXE__:two { print((sizeof(struct odd), offsetof(struct odd, a), sizeof(word_t))); }' | sed 's/.*{/{/')" \
	'{ print((16, 0, 4)); }
{ print((4, 2, 1)); }' "so are sizeof, offsetof and typedefs"
text='usdt:__EXE__:one { print(((struct odd *)arg1)->a); } usdt:__EXE__:two { print(((struct odd *)arg1)->a); }'
like "$(expand "$text")" 'one \{.*int32\)\(\(struct odd \*\)arg1.*two \{.*int16\)\(\(struct odd_2 \*\)arg1' \
	"two structs of one name are two definitions"
is "$(said)" "" "... in one program, without a word"
is "$("$btgen" expand --for 0.17 -x "$tmp/p" -e '#pragma enum m1 state
#pragma enum m2 state
usdt:__EXE__:one { printf("%s", @m1[arg2]); } usdt:__EXE__:two { printf("%s", @m2[arg2]); }' 2>&1 |
	grep -o '@m[12]\[[0-9]*\] = "O[FN]*"' | tr '\n' ' ')" \
	'@m1[0] = "OFF" @m1[1] = "ON" @m2[3] = "OFF" @m2[4] = "ON" ' "a table has the names of the enum of the clause that reads it"
printf 'm3 state\n' >"$tmp/conf"
like "$("$btgen" expand --conf "$tmp/conf" --for 0.17 -x "$tmp/p" -e 'usdt:__EXE__:two { printf("%s", @m3[arg2]); }' \
	2>&1)" '@m3\[3\] = "OFF"' "... from the list of tables, too"
if [ -r /sys/kernel/btf/vmlinux ]; then # it has these names, too: without them 0.27 is given the enum
	like "$(expand 'usdt:__EXE__:two { printf("%s", enum_name(state, arg2)); }'; "$btgen" expand --for 0.27 -x "$tmp/p" \
		-e 'usdt:__EXE__:two { printf("%s", enum_name(state, arg2)); }' 2>&1)" \
		'@enum_state\[3\] = "OFF"' "... and for enum_name()"
	out=$("$btgen" expand --for 0.27 -x "$tmp/p" -e 'usdt:__EXE__:one { printf("%s", enum_name(state, arg2)); }
usdt:__EXE__:two { printf("%s", enum_name(state, arg2)); } usdt:__EXE__:one { printf("%s\n", enum_name(state, arg2)); }' 2>&1)
	is "$(grep -o '@enum_state[_2]*\[[0-9]*\] = "O[FN]*"' <<<"$out" | tr '\n' ' ')" \
		'@enum_state[0] = "OFF" @enum_state[1] = "ON" @enum_state_2[3] = "OFF" @enum_state_2[4] = "ON" ' \
			"... where each of two clauses has a table"
	is "$(grep -o 'f("[^,]*, @enum_state[_2]*' <<<"$out" | grep -o '@.*' | tr '\n' ' ')$(grep warning <<<"$out")" \
		"@enum_state @enum_state @enum_state_2 " "... and reads its own: the two on one probe are one clause"
else
	skip "... and for enum_name()" "no /sys/kernel/btf/vmlinux here"
fi
like "$(expand 'uprobe:__EXE__:two { print(RED); } usdt:__EXE__:one { print(RED); }')" '\{ print\(1\)' \
	"a function's source file counts like a probe's"
like "$("$btgen" expand -x "$tmp/p" -e 'uprobe:__EXE__:two { print(RED); }' 2>&1)" 'print\(2\)' "... in a clause of its own"

like "$(expand 'usdt:__EXE__:neither { print(RED); }')" 'print\(1\)' "where the probe's file has none the first is taken"
is "$(said)" '"RED" is 1 in u1.c and 2 in u2.c; 1 is used' "... and a warning names both files and both values"
expand 'usdt:__EXE__:neither { print(SAME); print(sizeof(struct both)); }' >/dev/null
is "$(said)" "" "nothing is said where all files agree"
expand 'usdt:__EXE__:neither { print(sizeof(struct odd)); }' >/dev/null
is "$(said)" '"odd" is defined differently in u1.c and u2.c; the first is used' "a struct is warned of in the same way"
expand 'usdt:__EXE__:neither { print(sizeof(word_t)); }' >/dev/null
is "$(said)" '"word_t" is defined differently in u1.c and u2.c; the first is used' "... a typedef of a number, too"
expand 'usdt:__EXE__:neither { printf("%s", enum_name(state, arg0)); }' >/dev/null
is "$(said)" '"state" is defined differently in u1.c and u2.c; the first is used' "... and an enum"
expand 'usdt:__EXE__:neither { print(((struct has_odd *)arg0)->odd->a); }' >/dev/null
is "$(said)" '"odd" is defined differently in u1.c and u2.c; the first is used' \
	"... and what a pointer leads to whose file only declares it"
expand 'usdt:__EXE__:one { } BEGIN { print(RED); }' >/dev/null
is "$(said)" "" "BEGIN means what the script's probes have"
expand 'usdt:__EXE__:one, usdt:__EXE__:two { print(RED); }' >/dev/null
is "$(said)" '"RED" is 1 in u1.c and 2 in u2.c; 1 is used' "probes of one clause that do not agree are warned of"
expand 'usdt:__EXE__:one { } usdt:__EXE__:two { } BEGIN { print(RED); }' >/dev/null
is "$(said)" '"RED" is 1 in u1.c and 2 in u2.c; 1 is used' "... those of a script in BEGIN"
like "$(cat "$tmp/err")" 'note: the traced sites do not all refer to the same one: write a clause for each probe' "... with what to do"
expand 'usdt:__EXE__:one, usdt:__EXE__:neither { print(((struct odd *)arg0)->a); }' >/dev/null
is "$(said)" '"odd" is defined differently in u1.c and u2.c; the first is used' "... and a probe whose file has none may mean any"
expand 'usdt:__EXE__:two, usdt:__EXE__:neither { print(((struct odd *)arg0)->a); }' >/dev/null
is "$(said)" '"odd" is defined differently in u2.c and u1.c; the first is used' "... such as another than the probe before it"
expand '#define RED 1
#define RED 2
usdt:__EXE__:one { print(RED); }' >/dev/null
like "$(cat "$tmp/err")" 'macro "RED" is redefined differently' "a macro of the template with two values is an error"

# However it is stored, the source file is found
text='usdt:__EXE__:one { print((RED, sizeof(struct odd))); } usdt:__EXE__:two { print((RED, sizeof(struct odd))); }'
for compiler in gcc clang; do
	for flags in -gdwarf-3 -gdwarf-4 -gdwarf-5 "-gdwarf-4 -gsplit-dwarf" "-gdwarf-5 -gsplit-dwarf" "-g -fdebug-types-section" \
		"-gdwarf-4 -gsplit-dwarf -fdebug-types-section" "-gdwarf-5 -gsplit-dwarf -fdebug-types-section" "-g -gz" "-g -flto -O2"; do
		in_third || continue
		claim="stored as $compiler $flags does it, each clause has its own"
		if ! command -v $compiler >/dev/null || ! build $compiler "-O1 $flags" 2>/dev/null; then
			skip "$claim" "cannot be built"
			continue
		fi
		case $compiler$flags in
		gcc*split*types*) # one section for each type unit: libdw reads the first alone
			is "$(expand "$text")" "" "stored as $compiler $flags does it, nothing is guessed"
			like "$(cat "$tmp/err")" \
				'split files that cannot be read, e\.g\. "u1\.dwo": .* type units \(build without -fdebug-types-section\)' "... and the error names the file and a remedy"
			continue
			;;
		esac
		is "$(expand "$text" | grep -o '([0-9]*, [0-9]*)' | tr '\n' ' ')$(said)" "(1, 16) (2, 4) " "$claim"
		expand 'usdt:__EXE__:neither { print(RED); }' >/dev/null
		# A type unit that clang splits has neither a name nor a list of files.
		like "$(said)" '"RED" is 1 in (.*u1\.c.*|a type unit) and 2 in (.*u2\.c|a type unit)' "... and the warning names the files"
	done
done
for version in 4 5; do
	compiler=gcc
	[ $version = 4 ] || compiler=clang # llvm-dwp 14 fails on what gcc makes, or does not end
	if command -v llvm-dwp >/dev/null && build $compiler "-gdwarf-$version -gsplit-dwarf -O1" &&
		(cd "$tmp" && guard llvm-dwp -e p -o p.dwp && rm ./*.dwo) 2>/dev/null; then
		got=$(expand "$text" | grep -o '([0-9]*, [0-9]*)' | tr '\n' ' ')
		if [ -n "$got" ]; then
			is "$got$(said)" "(1, 16) (2, 4) " "DWARF $version: joined by dwp, each clause has its own"
		else # elfutils before 0.192
			like "$(cat "$tmp/err")" 'p\.dwp exists .*: keep the \.dwo files' \
				"DWARF $version: joined by dwp, nothing is guessed, and a note names the file and a remedy"
		fi
		rm "$tmp/p.dwp"
	else
		skip "DWARF $version: joined by dwp" "no llvm-dwp, or no $compiler"
	fi
	build gcc "-gdwarf-$version -gsplit-dwarf -O1" && rm "$tmp/u2.dwo"
	is "$(expand 'usdt:__EXE__:one { print(RED); print(sizeof(struct odd)); }' |
		grep -c 'print(1); print(16)')$(said)" 1 "DWARF $version: a split file that is gone is no matter to other files"
	expand 'usdt:__EXE__:two { print(sizeof(struct odd)); }' >/dev/null
	is "$(said)" 'the types of the traced code are in "u2.dwo", which cannot be read; those of other files are used, such as "struct odd" of u1.c' \
		"... and where it has the probe, a warning says whose types are used"
	like "$(cat "$tmp/err")" 'split files that are missing, e\.g\. "u2\.dwo"' "... and why"
done
build gcc "-g -O1"
if command -v dwz >/dev/null; then
	cp "$tmp/p" "$tmp/p2" && dwz -m "$tmp/common.debug" -h "$tmp/p" "$tmp/p2" 2>/dev/null
	is "$(expand "$text" | grep -o '([0-9]*, [0-9]*)' | tr '\n' ' ')$(said)" "(1, 16) (2, 4) " \
		"stored as dwz does it, each clause has its own"
	build gcc "-g -O1"
else
	skip "stored as dwz does it" "no dwz"
fi
objcopy --only-keep-debug --compress-debug-sections "$tmp/p" "$tmp/p.debug" && strip "$tmp/p" &&
	objcopy --add-gnu-debuglink="$tmp/p.debug" "$tmp/p"
is "$(expand "$text" | grep -o '([0-9]*, [0-9]*)' | tr '\n' ' ')$(said)" "(1, 16) (2, 4) " "in a compressed file of its own, too"

# A difference that only the sign, an inner struct or an array's elements show
differ() { # CLAIM DEFINITION DEFINITION NAME
	printf '%s x1;\n' "$2" >"$tmp/d1.c" && printf '%s x2; int main(void) { return 0; }\n' "$3" >"$tmp/d2.c"
	gcc -g -w -o "$tmp/d" "$tmp/d1.c" "$tmp/d2.c" &&
		like "$("$btgen" types -x "$tmp/d" "$4" 2>&1 >/dev/null)" 'is defined differently in .*d1\.c and .*d2\.c' "$1"
}
differ "a member with another sign is a difference" "struct s { int a; }" "struct s { unsigned a; }" s
differ "... an array of others of that size" "struct s { int a[2]; long b; }" \
	"struct s { short a[2]; long b __attribute__((aligned(8))); }" s
differ "... a struct inside" "struct s { struct { int a, b; } in; }" "struct s { struct { int b, a; } in; }" s
differ "... a pointer to another struct" "struct t1 { int a; }; struct s { struct t1 *p; }" \
	"struct t2 { int b; }; struct s { struct t2 *p; }" s
differ "... an enumerator with another value" "enum s { A, B }" "enum s { A, B = 2 }" s

# C++: enumerators by their names with scopes
cat >"$tmp/x.cc" <<'END'
#include "usdt.h"
namespace ns { enum class Color : short { RED = -1, GREEN = 300 }; enum E { E_A = 4 }; namespace { enum Hid { HID = 5 }; }
struct Outer { enum Inner { IN_A = 1, IN_B = 40 }; enum class K : unsigned char { One = 250 }; Inner i; K k; template <typename T> struct Box { enum class Q { Two = 11 }; Q q; }; };
enum class W : unsigned long { BIG = 0xffffffffffffffff }; W w; Hid h; }
enum E { E_GLOBAL = 9 };
int main() { ns::Color c = ns::Color::RED; ns::E e = ns::E_A; E g = E_GLOBAL; ns::Outer o{}; ns::Outer::Box<int> b; USDT_PROBE(t, p, (int)c, (int)e, &o, &b); return g * 0; }
END
if g++ -g -w -I "$top/include/btgen" -o "$tmp/p" "$tmp/x.cc"; then
	fold() { expand "usdt:__EXE__:p { print($1); }" | sed 's/.*print(//; s/); }$//'; }
	is "$(fold ns::Color::RED) $(fold ns::Color::GREEN)" "(-1) 300" "an enumerator of an enum class in a namespace"
	is "$(fold ns::E_A) $(fold ns::E::E_A) $(fold E_GLOBAL) $(fold E::E_GLOBAL) $(fold ::E_GLOBAL)" "4 4 9 9 9" \
		"... of a plain enum, with its name or without"
	is "$(fold ns::Outer::IN_B) $(fold ns::Outer::Inner::IN_B) $(fold ns::Outer::K::One) $(fold ns::HID)" \
		"40 40 250 5" "... in a class, and in an unnamed namespace"
	is "$(fold ns::W::BIG)" "0xffffffffffffffff" "... of 64 bits"
	like "$(fold 'arg0 == 1 ? ns::E_A : ns::HID')" '== 1 \? 4 : 5$' "a choice's colon is not one of a name"
	expand 'usdt:__EXE__:p { print(ns::Color::REED); }' >/dev/null
	like "$(cat "$tmp/err")" '1:35: error: no type or enumerator "ns::Color::REED"' "an unknown one is an error at its place"
	like "$(cat "$tmp/err")" 'did you mean "ns::Color::RED"' "... with the nearest name"
fi
printf '#include "usdt.h"\nnamespace { enum class L { V = %s }; } int %s() { L l = L::V; USDT_PROBE(t, %s, l); return (int)l; }\n' 3 f f >"$tmp/a1.cc"
printf '#include "usdt.h"\nnamespace { enum class L { V = %s }; } int %s() { L l = L::V; USDT_PROBE(t, %s, l); return (int)l; } int f(); int main() { return (f() + g()) * 0; }\n' 4 g g >"$tmp/a2.cc"
if g++ -g -w -I "$top/include/btgen" -o "$tmp/p" "$tmp/a1.cc" "$tmp/a2.cc"; then
	is "$(expand 'usdt:__EXE__:f { print(L::V); } usdt:__EXE__:g { print(L::V); }' | grep -o 'print([0-9])' |
		tr '\n' ' ')" "print(3) print(4) " "unnamed namespaces of two files are two"
fi

# A name that is a typedef and the tag of another type: without a keyword C means the typedef, and so does gdb
cat >"$tmp/alias.c" <<'END'
#include "usdt.h"
struct b { long x; int y; };
typedef struct b a; struct a { char c; };
typedef struct { short q; } anon; struct anon { int z; };
typedef enum { EA, EB } en; enum en { EC = 5, ED };
typedef struct a *ptr; struct ptr { int w[3]; };
typedef unsigned num; struct num { char n[3]; };
typedef struct same { int s; } same; typedef void none; struct none { int v; };
typedef struct hidden hidden_t; typedef hidden_t hidden2; struct hidden2 { int i; };
int f(a *p, struct a *q, anon *r, struct anon *s, en e, enum en e2, ptr t, struct ptr *u, num n, struct num *m, same *v, hidden2 *w, struct hidden2 *x, none *y, struct none *z)
{
	USDT_PROBE(t, f, p, q, r, s, e, e2, t, u, n, v);
	return 0;
}
int main(void) { return f(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0); }
END
for flags in -g -gdwarf-4 "-g -fdebug-types-section" "-g -gsplit-dwarf"; do
	in_third || continue
	# shellcheck disable=SC2086
	(cd "$tmp" && gcc $flags -w -I "$top/include/btgen" -c -o alias.o alias.c && gcc -o p alias.o) || exit 1
	text='usdt:__EXE__:f { print(('
	want='('
	for name in a 'struct a' anon 'struct anon' en 'enum en' ptr 'struct ptr' num 'struct num' same 'struct same'; do
		text+="sizeof($name), " want+="$(gdb -batch -ex "print sizeof($name)" "$tmp/p" 2>/dev/null | sed 's/.* = //'), "
	done
	claim="$flags: a typedef is meant where no keyword says that it is a tag of the same name"
	if command -v gdb >/dev/null; then
		is "$(expand "${text%, })); }" | grep -o '([0-9][0-9, ]*)')" "${want%, })" "$claim"
	else
		skip "$claim" "no gdb"
	fi
	is "$(said)" "" "... and nothing is said"
done
gcc -g -w -I "$top/include/btgen" -o "$tmp/p" "$tmp/alias.c"
is "$("$btgen" types -x "$tmp/p" a 2>&1 | grep -E '^(struct|typedef)')" 'struct b {
typedef struct b a;' "so it is in btgen types"
is "$("$btgen" types -x "$tmp/p" 'struct a' 2>&1 | grep -E '^(struct|typedef)')" 'struct a {' "... where the keyword asks for the tag"
is "$(expand 'usdt:__EXE__:f { print((((a *)arg0)->y, ((struct a *)arg1)->c, ((ptr)arg6)->c)); }' |
	grep -o '(struct [a-z]* \*)' | tr '\n' ' ')" "(struct b *) (struct a *) (struct a *) " "... and in casts"
like "$("$btgen" enums -x "$tmp/p" en:m 2>&1)" '@m\[0\] = "EA"' "... and in enum tables"
unlike "$("$btgen" types -x "$tmp/p" hidden2 none 2>&1)" 'int [iv]' \
	"a typedef of void, or of a type that is only declared, is not the tag either"

printf '#include "usdt.h"\nstruct a { char c; } a1; int f(struct a *p) { USDT_PROBE(t, f, p); return 0; }\n' >"$tmp/tag.c"
cat >"$tmp/name.c" <<'END'
#include "usdt.h"
struct b {
	long x;
} b1;
typedef struct b a;
int g(a *p) {
	USDT_PROBE(t, g, p);
	return 0;
}
int f(void *);
int main(void) { return f(&b1) + g(&b1); }
END
for order in "tag name" "name tag"; do
	(cd "$tmp" && gcc -g -w -I "$top/include/btgen" -o p "${order% *}.c" "${order#* }.c") || exit 1
	"$btgen" types -x "$tmp/p" a >"$tmp/out" 2>"$tmp/err"
	is "$(grep typedef "$tmp/out")$(said)" \
		'typedef struct b a;"a" is a typedef in name.c and a tag in tag.c; the typedef is used' \
		"$order: where they are of two files, that is said"
	is "$(expand 'usdt:__EXE__:f { print((sizeof(a), sizeof(struct a))); } usdt:__EXE__:g { print((sizeof(a), sizeof(struct a))); }' | grep -o '([0-9]*, [0-9]*)' | tr '\n' ' ')$(said)" "(1, 1) (8, 1) " "... and each clause has its own"
done
cat >"$tmp/alias.cc" <<'END'
#include "usdt.h"
namespace n {
struct b {
	long x;
};
typedef b a;
} // namespace n
struct a {
	char c;
} a1;
n::a b1;
struct b : n::b {
	typedef short a;
	a v;
} b2;
int main() {
	USDT_PROBE(t, f, &a1);
	return a1.c + b1.x + b2.v;
}
END
if g++ -g -w -I "$top/include/btgen" -o "$tmp/p" "$tmp/alias.cc"; then
	is "$(expand 'usdt:__EXE__:f { print((sizeof(a), sizeof(n::a), sizeof(b), sizeof(b::a))); }' |
		grep -o '([0-9, ]*)')$(said)" "(1, 8, 16, 2)" "C++: a typedef of another scope is another name"
fi

# Two libraries of a process
lib() { # N SOURCE
	gcc -g -O1 -w -I "$top/include/btgen" -shared -fPIC -o "$tmp/lib$1.so" -xc - <<<"$2"
}
lib 1 '#include "usdt.h"
enum e { RED = 1, SAME = 9 }; struct odd { int a; long b; };
int one(enum e c, struct odd *o) { USDT_PROBE(one, p1, c, o); return o->a + (c == RED); }'
lib 2 '#include "usdt.h"
enum e { RED = 2, SAME = 9 }; struct odd { char b; short a; };
int two(enum e c, struct odd *o) { USDT_PROBE(two, p2, c, o); return o->a + (c == RED); }'
cat >"$tmp/m.c" <<'END'
#include "usdt.h"
#include <unistd.h>
struct odd;
int one(int, struct odd *);
int two(int, struct odd *);
int main(void) {
	static char b[100];
	USDT_PROBE(m, main_, 1);
	one(1, (struct odd *)b);
	two(2, (struct odd *)b);
	sleep(1000);
	return 0;
}
END
for order in "1 2" "2 1"; do
	gcc -g -w -I "$top/include/btgen" -o "$tmp/m" "$tmp/m.c" -L "$tmp" -l:lib"${order% *}".so -l:lib"${order#* }".so -Wl,-rpath,"$tmp"
	"$tmp/m" &
	pid=$!
	own $pid
	wait_for grep -q lib2.so /proc/$pid/maps
	out=$("$btgen" expand --for 0.27 -p $pid \
		-e 'usdt:__EXE__:p1 { print((RED, sizeof(struct odd))); } usdt:__EXE__:p2 { print((RED, sizeof(struct odd))); }' 2>&1)
	is "$(grep -o '([0-9]*, [0-9]*)\|warning.*' <<<"$out" | tr '\n' ' ')" "(1, 16) (2, 4) " \
		"libraries in the order $order: each clause has what its probe's library has"
	out=$("$btgen" expand --for 0.27 -p $pid -e 'usdt:__EXE__:main_ { print((RED, SAME)); }' 2>&1)
	like "$out" 'warning: "RED" is [12] in [^ ]* of [^ ]*/lib[12]\.so and [12] in [^ ]* of [^ ]*/lib[12]\.so; [12] is used' "... elsewhere a warning names both libraries and values"
	is "$(grep -c warning <<<"$out")" 1 "... and says nothing of what is the same in both"
	out=$("$btgen" expand --for 0.27 -p $pid \
		-e 'usdt:__EXE__:p1, usdt:__EXE__:p2, usdt:__EXE__:main_ { print((RED, sizeof(struct odd))); }' 2>&1)
	like "$out" 'warning: "RED" is 1 in [^ ]* of [^ ]*/lib1\.so and 2 in [^ ]* of [^ ]*/lib2\.so; 1 is used' \
		"... so it does in a clause with probes of both"
	like "$("$btgen" enums -p $pid e 2>&1)" 'warning: "e" is defined differently in [^ ]* of .*/lib' "btgen enums -p warns, too"
	like "$("$btgen" types -p $pid odd 2>&1)" 'warning: "odd" is defined differently in [^ ]* of .*/lib' "... and so does btgen types"
	kill $pid
done
is "$("$btgen" types -x "$tmp/lib1.so" -x "$tmp/lib2.so" --at two --json odd 2>&1 | grep -o '"size": [0-9]*, "unit"')" \
	'"size": 4, "unit"' "--at chooses among files as it does among units"

# A library's file that only declares a struct means the one of its library, not the one of the executable
printf 'struct box { long z; long y; int id; }; struct box the_box = {7, 42};\n' >"$tmp/l2.c"
cat >"$tmp/l.c" <<'END'
#include "usdt.h"
struct box;
extern struct box the_box;
int three(void) {
	struct box *b = &the_box;
	USDT_PROBE(l, fire, b);
	return 0;
}
END
cat >"$tmp/m.c" <<'END'
#include "usdt.h"
#include <unistd.h>
struct box {
	int a;
	int b;
} file_box;
int three(void);
int main(void) {
	USDT_PROBE(m, outer, &file_box);
	three();
	sleep(1000);
	return 0;
}
END
gcc -g -w -I "$top/include/btgen" -shared -fPIC -o "$tmp/lib3.so" "$tmp/l.c" "$tmp/l2.c"
gcc -g -w -I "$top/include/btgen" -o "$tmp/m" "$tmp/m.c" -L "$tmp" -l:lib3.so -Wl,-rpath,"$tmp"
"$tmp/m" &
pid=$!
own $pid
wait_for grep -q lib3.so /proc/$pid/maps
clause='usdt:__EXE__:outer, usdt:__EXE__:fire'
out=$("$btgen" expand --for 0.27 -p $pid -e "$clause { print(((struct box *)arg0)->a); }" 2>&1)
like "$out" 'warning: "box" is defined differently in [^ ]*m\.c of [^ ]*/m and [^ ]*l2\.c of [^ ]*/lib3\.so; the first is used' \
	"in a clause over probes of both, a warning names both structs"
out=$("$btgen" expand --for 0.27 -p $pid -e "$clause { print(args.0->a); }" 2>&1)
like "$out" 'error: the probes of this clause disagree about the type of 0: struct box of [^ ]*m\.c in m:outer, of [^ ]*l2\.c in l:fire' \
	"... and for an argument, whose type is known, it is an error"
for cast in '((struct box *)arg0)' args.0; do
	out=$("$btgen" expand --for 0.27 -p $pid -e "usdt:__EXE__:outer { print($cast->a); } usdt:__EXE__:fire { print($cast->id); }" 2>&1)
	unlike "$out" 'warning|error' "$cast in a clause for each: each has its own"
done
kill $pid

# Types that a function has to itself: the program prints what the compiler takes them for at each probe
cat >"$tmp/inner.c" <<'END'
#include "usdt.h"
#include <stddef.h>
#include <stdio.h>
struct box { int a; int b; } file_box = {1, 2};
#define AT(probe, arg, on) USDT_PROBE(a, probe, arg); printf("%s (%zu, %zu, %s)\n", #probe, sizeof(struct box), offsetof(struct box, a), on)
__attribute__((noinline)) void inner(int i)
{
	struct box { char pad[12]; int a; } x = {"inner", 700 + i};
	enum mode { ON = 5, OFF = 6 } m = ON;
	AT(inner, &x, m == 5 ? "5" : "");
	__asm__ volatile("" ::"r"(&x), "r"(m) : "memory");
}
static inline __attribute__((always_inline)) void inlined(int i)
{
	AT(before, &file_box, "ON");
	{
		struct box { char pad[20]; int a; } x = {"deep", 800 + i};
		enum mode { ON = 7 } m = ON;
		AT(deep, &x, m == 7 ? "7" : "");
		{
			AT(deeper, &x, "7");
		}
		__asm__ volatile("" ::"r"(&x), "r"(m) : "memory");
	}
	{
		AT(beside, &file_box, "ON");
	}
}
__attribute__((noinline)) void outer(int i) { AT(outer, &file_box, "ON"); inlined(i); }
int main(int argc, char **argv) { inner(argc); outer(argc); if (argc > 1) inlined(argc); return 0; }
END
build_inner() { (cd "$tmp" && "$@" -g -O2 -no-pie -fno-pie -w -I "$top/include/btgen" -o p inner.c); }
if [ "$(gcc -dumpversion | cut -d. -f1)" -le 12 ]; then # newer ones, and clang, put the types of inner blocks elsewhere
for flags in -O0 -O1 -O2 "-O2 -flto" "-O2 -gz" "-O1 -gdwarf-4" "-O1 -fdebug-types-section" "-O1 -gsplit-dwarf"; do
	in_third || continue
	# shellcheck disable=SC2086
	(cd "$tmp" && gcc -g $flags -no-pie -fno-pie -w -I "$top/include/btgen" -c -o inner.o inner.c &&
		gcc $flags -no-pie -o p inner.o) || exit 1
	got=
	while read -r probe _; do
		got+="$probe $(expand "usdt:__EXE__:$probe { print((sizeof(struct box), offsetof(struct box, a), ON)); }" | grep -o '([0-9][^)]*)')$(said)"$'\n'
	done < <("$tmp/p")
	is "$got" "$("$tmp/p")"$'\n' "gcc $flags: a struct or enumerator of a block is meant in that block, and nowhere else"
done
build_inner gcc
for probe in inner before deep deeper beside outer; do
	at=$(readelf -nW "$tmp/p" | grep -A1 "Name: $probe\$" | sed -n 's/.*Location: \(0x[0-9a-f]*\).*/\1/p' | head -n 1)
	said=$(gdb -batch -ex "break *$at" -ex run -ex 'print sizeof(struct box)' "$tmp/p" 2>/dev/null </dev/null | sed -n 's/^\$1 = //p')
	if [ -z "$said" ]; then
		skip "gdb at $probe" "gdb cannot run the program"
		continue
	fi
	is "$(expand "usdt:__EXE__:$probe { print(sizeof(struct box)); }" | grep -o 'print([0-9]*)')" "print($said)" \
		"gdb, stopped at $probe, means the same struct"
done
like "$("$btgen" expand --for 0.27 -x "$tmp/p" \
	-e 'usdt:__EXE__:deep { printf("%s", enum_name(mode, arg0 & 7)); } usdt:__EXE__:inner { printf("%s", enum_name(mode, arg0 & 7)); }' 2>&1)" \
	'deep \{ printf\("%s", \(enum mode\)\(arg0 & 7\)\); \}.*inner \{ if \(@enum_mode_2\[arg0 & 7\] == ""\)' "enum_name() has the names of the block's enum"
like "$("$btgen" types -x "$tmp/p" --at inner box)" 'pad\[12\]' "btgen types --at means a function's own"
unlike "$("$btgen" types -x "$tmp/p" --at outer box)" 'pad' "... and not another one's"
expand 'usdt:__EXE__:outer, usdt:__EXE__:inner { print(((struct box *)arg0)->a); }' >/dev/null
is "$(said)" '"box" is defined differently in inner.c:4 and inner.c:8; the first is used' \
	"a clause over a probe in the block and one outside is warned of"
expand 'usdt:__EXE__:deep, usdt:__EXE__:inner { print(ON); }' >/dev/null
is "$(said)" '"ON" is 7 in inner.c:18 and 5 in inner.c:9; 7 is used' "... one over two blocks, too"
expand 'usdt:__EXE__:deep, usdt:__EXE__:deeper { print(((struct box *)arg0)->a); }' >/dev/null
is "$(said)" "" "... and one over two probes of a block is not"
else
	skip "which block a type belongs to" "this gcc does not record it"
fi
cat >"$tmp/both.c" <<'END'
#include "usdt.h"
struct box {
	int a;
} one;
int main(void) {
	struct box *p = &one;
	{
		struct box {
			char pad[12];
			int a;
		} x;
		USDT_PROBE(t, both, p, &x);
	}
	return 0;
}
END
gcc -g -w -I "$top/include/btgen" -o "$tmp/p" "$tmp/both.c"
like "$("$btgen" expand --for 0.27 -x "$tmp/p" -e 'usdt:__EXE__:both { print(args.1->a); }' 2>&1)" 'pad\[12\]' \
	"an argument whose type is the block's can be followed"
unlike "$("$btgen" expand --for 0.27 -x "$tmp/p" -e 'usdt:__EXE__:both { print(args.p->a); }' 2>&1)" 'pad|error' \
	"... and so can one whose type the block hides"
for compiler in gcc clang; do
	command -v $compiler >/dev/null && build_inner $compiler || continue
	while read -r probe answer; do
		out=$(expand "usdt:__EXE__:$probe { print((sizeof(struct box), offsetof(struct box, a))); }" | grep -o '([0-9][^)]*)')
		ok "$compiler: what is meant at $probe is right, or a warning says that there are two" test "$out" = \
			"${answer%, *})" -o -n "$(said)"
	done < <("$tmp/p")
done

# BTF: gcc writes both of two structs that functions have to themselves
cat >"$tmp/b.c" <<'END'
int f(void *p) {
	struct s {
		int a;
	} *x = p;
	return x->a;
}
long g(void *p) {
	struct s {
		long b;
	} *x = p;
	return x->b;
}
struct ok {
	int a;
} k;
END
if gcc -gbtf -c -o "$tmp/b.o" "$tmp/b.c" 2>/dev/null; then
	like "$("$btgen" types --btf "$tmp/b.o" s 2>&1)" \
		'warning: "s" is defined differently by types [0-9]+ and [0-9]+; the first is used' \
		"BTF with two definitions of a name is warned of"
	is "$("$btgen" types --btf "$tmp/b.o" ok 2>&1 >/dev/null)" "" "... and only then"
	printf 'typedef struct same { int a; } same; struct b { long x; }; typedef struct b a; struct a { char c; }; same s; a b1; struct a a1;\n' >"$tmp/b.c"
	gcc -gbtf -c -o "$tmp/b.o" "$tmp/b.c"
	like "$("$btgen" types --btf "$tmp/b.o" --json a 2>&1)" '"size": 8' "BTF: a name without a keyword is a typedef before it is a tag"
	like "$("$btgen" types --btf "$tmp/b.o" --json a 2>&1 >/dev/null)" \
		'warning: "a" is both a typedef and a tag; the typedef is used' "... which is said"
	is "$("$btgen" types --btf "$tmp/b.o" 'struct a' same 2>&1 | grep -cE 'warning|char c;|int a;')" 2 \
		"... and the keyword asks for the tag"
else
	skip "BTF with two definitions of a name" "this gcc writes no BTF"
fi

# One probe with a site in each of two files.
for members in 'long c1' 'short c2'; do
	cat >"$tmp/${members#* }.c" <<-END
		#include "usdt.h"
		struct pair { ${members% *} a, b; } pair_${members#* };
		void ${members#* }(int n) { pair_${members#* }.a = n; USDT_PROBE(t, both, &pair_${members#* }, USDT_ARG(&n, "n")); }
	END
done
echo 'void c1(int n); void c2(int n); int main(int argc, char **argv) { (void)argv; c1(argc); c2(argc); }' >"$tmp/main.c"
(cd "$tmp" && gcc -g -I "$top/include/btgen" -o p c1.c c2.c main.c) || exit 1
is "$("$btgen" probes -x "$tmp/p")" 't:both(uint64_t pair_c1, int *n)  2 sites: elsewhere arg0 is pair_c2' "structs of one name that differ are no type of the probe's argument"
is "$("$btgen" expand --for 0.27 -x "$tmp/p" -e 'usdt:__EXE__:both { print(args.pair_c1->a); }' 2>&1 | sed -n 's/.*error: //p; s/btgen: note: //p')" \
	'the sites of t:both disagree about the type of pair_c1
c1.c:3 has struct pair *
c2.c:3 has its own struct pair *
arg0 is the plain value' "... nor is one of them a site's"

# A type in the text of a probe of <sys/sdt.h>, which has no types of its own.
if echo '#include <sys/sdt.h>' | gcc -E - >/dev/null 2>&1; then
	for values in '1 c1' '3 c2'; do
		cat >"$tmp/${values#* }.c" <<-END
			#include <sys/sdt.h>
			enum state { OFF = ${values% *}, ON } volatile ${values#* }_state = ON;
			__attribute__((noinline)) void ${values#* }(int n) { STAP_PROBE1(t, ${values#* }, (enum state)(n ? ON : OFF)); }
		END
	done
	echo 'void c1(int n); void c2(int n); int main(int argc, char **argv) { (void)argv; c1(argc); c2(argc); }' >"$tmp/main.c"
	for how in 'gcc -g' 'gcc -gdwarf-4 -gsplit-dwarf' 'clang -g -fdebug-types-section'; do
		command -v "${how%% *}" >/dev/null || { skip "$how: a cast" "no ${how%% *}"; continue; }
		# shellcheck disable=SC2086
		(cd "$tmp" && $how -O1 -o p c1.c c2.c main.c) || exit 1
		is "$("$btgen" expand --for 0.17 -x "$tmp/p" -e 'usdt:__EXE__:c1 { printf("%s", args.0); }
usdt:__EXE__:c2 { printf("%s", args.0); }' | grep -oE '\[[0-9]+\] = "O[FN]+"' | tr '\n' ' ')" '[1] = "OFF" [2] = "ON" [3] = "OFF" [4] = "ON" ' "$how: a cast means the enum of its own source file"
	done
	# gcc -flto has the variables of all source files in one unit.
	for members in 'long c1' 'short c2'; do
		cat >"$tmp/${members#* }.c" <<-END
			#include <sys/sdt.h>
			static struct pair { ${members% *} a, b; } pair = { 1, 2 };
			__attribute__((noinline)) void ${members#* }(int n) { pair.a += n; STAP_PROBE1(t, ${members#* }, &pair); if (pair.a > 77) pair.b = n; }
		END
	done
	(cd "$tmp" && gcc -O2 -g -flto -o p c1.c c2.c main.c) || exit 1
	is "$("$btgen" probes -x "$tmp/p")" 't:c1(uint64_t pair)
t:c2(uint64_t pair)' "gcc -flto: the struct of a variable is not that of one with its name in another source file"
else
	skip "a cast, a variable" "no <sys/sdt.h> (systemtap-sdt-dev)"
fi
done_testing
