#!/usr/bin/env bash
# btgen types: sizes, offsets and values are those that gdb sees, and what is printed compiles with that layout.
. "$(dirname "$0")/../lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/obj/layouts.sh
. "$here/layouts.sh"
command -v gdb >/dev/null || skip_all "no gdb"

cat >"$tmp/t.c" <<'END'
#include <stdbool.h>
enum st { ST_A = -1, ST_B };
enum __attribute__((packed)) small { SM_A, SM_B = 200 };
struct in { char a; int b; };
typedef struct { short q; long r; struct in deep[2]; } anon_t;
typedef const anon_t *volatile anon_p;
struct item {
	char c; struct in in; struct in ins[3]; struct { int x; union { int y; float z; } u; } s, ss[2]; union { int l1; char l2[8]; };
	unsigned b1 : 3; int b2 : 6; unsigned long b3 : 40; _Bool b4 : 1; enum st be : 4; unsigned : 0; unsigned char b5 : 7; enum st st; enum small sm;
	anon_t an; anon_t *anp; anon_p app; struct item *next, *arr[4]; char name[224]; int m[2][3][4]; void (*fn)(int); bool ok; double d; long double ld;
	__int128 i128; _Complex double cd; const char *const *argv; int unroll, int32, linux_, _gap0; struct declared_only *dp; char flex[];
};
struct __attribute__((packed)) pk { char a; long b; unsigned short c : 9; int d; };
struct al { char a; __attribute__((aligned(64))) int b; };
struct zero { int n; int none[0]; struct in tail[]; };
struct nothing { };
union un { char c; struct item *p; struct { int a, b; } s; unsigned bits : 11; long arr[3]; };
struct big { char a[4096]; struct pk p[10]; };
struct item *item; struct pk pk; struct al al; struct zero *zero; union un un; struct big big; struct nothing nothing;
int main(void) { return 0; }
END

build() { # COMPILER FLAGS SOURCE -> $tmp/p; compiled and linked in $tmp, where .dwo files are left
	(cd "$tmp" && rm -f p p.o ./*.dwo && $1 $2 -w -c -o p.o "$3" && $1 $2 -o p p.o) 2>"$tmp/cc.err"
}

for flags in -gdwarf-2 -gdwarf-3 -gdwarf-4 -gdwarf-5 "-gdwarf-5 -gsplit-dwarf" "-gdwarf-4 -gsplit-dwarf" \
	"-g -fdebug-types-section" "-g -gz" "-g -O2 -flto" "-g -gdwarf64"; do
	in_third && build gcc "$flags" t.c && compare "C, gcc $flags" "$tmp/p" 8
done
for flags in -gdwarf-4 -gdwarf-5 "-g -gsplit-dwarf" "-g -fdebug-types-section" "-g -gz"; do
	in_third && build clang "$flags" t.c && compare "C, clang $flags" "$tmp/p" 8
done
libc=$(ldconfig -p | sed -n 's/.*libc\.so\.6.*=> //p' | head -n 1)

# There and back: what is printed is compiled with debug information, and read again. Bitfields cannot be asserted in C;
# here their places are compared.
there_and_back() { # CLAIM FILE
	"$btgen" types -x "$2" -l | grep -E '^(struct|union) ' | shuf --random-source=<(yes 42) -n "$sample" >"$tmp/names"
	mapfile -t names <"$tmp/names"
	"$btgen" types -x "$2" --json "${names[@]}" >"$tmp/a.json" 2>/dev/null
	"$btgen" types -x "$2" -o "$tmp/back.c" "${names[@]}" 2>/dev/null
	sed -E 's/.*/&/; s/^(struct|union) (.*)$/\1 \2 *use_\2;/' "$tmp/names" >>"$tmp/back.c"
	gcc -g -w -c -o "$tmp/back.o" "$tmp/back.c" 2>"$tmp/cc.err" || sed 's/^/#   /' "$tmp/cc.err" | head -n 5
	"$btgen" types -x "$tmp/back.o" --json "${names[@]}" >"$tmp/b.json" 2>/dev/null
	python3 "$here/same_layout.py" "$tmp/a.json" "$tmp/b.json"
	tap_result $? "$1: read again, what was printed is the same, bitfields included"
}
gcc -g -w -o "$tmp/p" "$tmp/t.c"
there_and_back "C" "$tmp/p"
[ -r "$libc" ] && "$btgen" types -x "$libc" -l >/dev/null 2>&1 && there_and_back "libc" "$libc"

# Other machines: the compiler that made the object checks what is printed, byte order and pointer size included.
sed 's/unsigned long b3/unsigned long long b3/; s/__int128 i128;//; /stdbool/s/.*/typedef _Bool bool;/' "$tmp/t.c" >"$tmp/cross.c"
for machine in aarch64 powerpc64 s390x i386 riscv64; do
	if ! clang --target=$machine-linux-gnu -g -w -ffreestanding -c -o "$tmp/cross.o" "$tmp/cross.c" 2>/dev/null; then
		skip "C for $machine" "no clang for it"
		continue
	fi
	"$btgen" types -x "$tmp/cross.o" --assert item pk al zero un big anon_t >"$tmp/h.h" 2>"$tmp/err" &&
		clang --target=$machine-linux-gnu -w -ffreestanding -fsyntax-only -xc "$tmp/h.h" 2>>"$tmp/err" &&
		[ "$(grep -c _Static_assert "$tmp/h.h")" -gt 50 ]
	tap_result $? "C for $machine: the printed C has the same layout there" || sed 's/^/#   /' "$tmp/err" | head -n 5
done

# Split files: what is read is what the same program has when it is not split. Type units in a .dwo of gcc are not read, nor is a
# .dwp before elfutils 0.192: all of it is refused then, and a note names a file.
cat >"$tmp/x.cc" <<'END'
namespace ns {
struct Derived {
	int x;
};
enum class E : short { A = -1, B };
} // namespace ns
template <typename T> struct Box {
	T t;
	ns::E e : 4;
	struct In {
		T *p;
	} in;
};
typedef int number;
union U {
	int i;
	float f;
	ns::Derived d[2];
};
ns::Derived d;
Box<int> b;
number n;
U u;
int main() { return d.x; }
END
printf 'struct Other { long l; char text[8]; }; enum Plain { PLAIN = 7 }; Other o; Plain p;\n' >"$tmp/y.cc"
split_names=(ns::Derived ns::E 'Box<int>' 'Box<int>::In' number U Other Plain)
split_json() { "$btgen" types -x "$1" --json "${split_names[@]}" 2>&1; }
split_build() { # COMPILER FLAGS
	# shellcheck disable=SC2086
	(cd "$tmp" && rm -f p p.dwp ./*.dwo && $1 $2 -w -c x.cc y.cc && $1 $2 -o p x.o y.o) 2>"$tmp/cc.err"
}
for version in 4 5; do
	split_build g++ "-gdwarf-$version -gsplit-dwarf -fdebug-types-section"
	out=$(split_json "$tmp/p")
	unlike "$out" '"size"' "DWARF $version: type units in .dwo files are refused"
	like "$out" 'split files that cannot be read, e\.g\. "x\.dwo": .* type units \(build without -fdebug-types-section\)' "... naming one of the files, and the remedy"
	like "$("$btgen" types -x "$tmp/p" -l 2>&1)" \
		'warning: the types of 2 compilation units are missing from the list' "... also where types are listed"
	split_build g++ "-gdwarf-$version -gsplit-dwarf"
	rm "$tmp/x.dwo" && : >"$tmp/x.dwo"
	out=$("$btgen" types -x "$tmp/p" ns::Derived 2>&1)
	is "$?" 1 "... a damaged file is an error"
	like "$out" 'split files that cannot be read, e\.g\. "x\.dwo"' "... that names it"
	like "$("$btgen" types -x "$tmp/p" -l 2>&1)" \
		'warning: the types of 1 compilation units are missing from the list' "... and a warning of a list without it"
done
read_or_refused() { # CLAIM GOT WANT
	case $2 in
	*'p.dwp exists but '*) unlike "$2" '"size"|^struct' "$1: refused" ;;
	*) is "$2" "$3" "$1: read" ;;
	esac
}
# Some of them never end, or crash: whether there is a file is no claim about btgen.
join_split() { { (cd "$tmp" && ulimit -t 1 -c 0 && $1 -e p -o p.dwp); } >"$tmp/cc.err" 2>&1; }
for version in 4 5; do
	for dwp in dwp llvm-dwp; do
		for compiler in g++ clang++; do
			claim="DWARF $version: what $dwp makes of $compiler's files"
			if ! command -v $compiler >/dev/null || ! split_build $compiler -gdwarf-$version ||
				! split_json "$tmp/p" >"$tmp/want" ||
				! split_build $compiler "-gdwarf-$version -gsplit-dwarf" ||
				! join_split $dwp; then
				skip "$claim" "cannot be made: $(tail -n 1 "$tmp/cc.err")"
				continue
			fi
			rm "$tmp"/*.dwo
			read_or_refused "$claim" "$(split_json "$tmp/p")" "$(cat "$tmp/want")"
			mv "$tmp/p.dwp" "$tmp/whole"
			head -c $(($(stat -c %s "$tmp/whole") / 2)) "$tmp/whole" >"$tmp/p.dwp"
			unlike "$(split_json "$tmp/p")" '"size"' "... and half of it is not"
		done
	done
done
for version in 4 5; do
	for dwp in dwp llvm-dwp; do
		for compiler in g++ clang++; do
			claim="DWARF $version: a .dwp with type units, of $dwp and $compiler"
			split_build $compiler -gdwarf-$version && want=$(split_json "$tmp/p") &&
				want_list=$("$btgen" types -x "$tmp/p" -l 2>&1)
			if ! split_build $compiler "-gdwarf-$version -gsplit-dwarf -fdebug-types-section" ||
				! join_split $dwp; then
				skip "$claim" "cannot be made: $(tail -n 1 "$tmp/cc.err")"
				continue
			fi
			rm "$tmp"/*.dwo
			read_or_refused "$claim" "$(split_json "$tmp/p" | sed 's/"unit": "[^"]*"//')" \
				"$(sed 's/"unit": "[^"]*"//' <<<"$want")"
			read_or_refused "... its list" "$("$btgen" types -x "$tmp/p" -l 2>&1 | sort)" "$(sort <<<"$want_list")"
		done
	done
done

# What is said when a type cannot be had
build gcc -g t.c
like "$("$btgen" types -x "$tmp/p" itme 2>&1)" 'no type "itme"' "an unknown type is an error"
like "$("$btgen" types -x "$tmp/p" itme 2>&1)" 'did you mean "item"' "... with the nearest name"
like "$("$btgen" types -x "$tmp/p" declared_only 2>&1)" '"declared_only" is declared .*not defined' \
	"a type that is only declared is told from one that is not there"
like "$("$btgen" types -x "$tmp/p" 'union item' 2>&1)" 'no type "union item"' "the keyword must fit"
not_ok "an error leaves status 1" "$btgen" types -x "$tmp/p" item nosuch -o "$tmp/none" 2>/dev/null
not_ok "... and no file" test -e "$tmp/none"
is "$("$btgen" types -x "$tmp/p" in anon_t | tail -n 1)" "typedef struct anon_t anon_t;" \
	"a typedef that was asked for can be used by its name"

cat >"$tmp/td.c" <<'END'
struct cfg {
	int n;
};
typedef struct cfg cfg_t;
typedef const cfg_t *cfg_p;
cfg_p p;
typedef unsigned u32;
u32 v;
int main(void) { return 0; }
END
gcc -g -o "$tmp/td" "$tmp/td.c"
is "$("$btgen" types -x "$tmp/td" cfg_p u32 | tr -d '\n\t')" \
	"#pragma pack(push,1)struct cfg {int n;};#pragma pack(pop)typedef struct cfg *cfg_p;typedef unsigned int u32;" \
		"a typedef of a pointer defines what it points to"
like "$("$btgen" types -x "$tmp/td" --bpftrace cfg_p)" 'struct cfg' "... for bpftrace, too"

# Two units with a struct of one name
printf 'struct odd { int a; long b; } o1; int one(void) { return o1.a; }\n' >"$tmp/u1.c"
cat >"$tmp/u2.c" <<'END'
struct odd {
	char b;
	short a;
} o2;
int one(void);
int two(void) { return o2.b; }
int main(void) { return one() + two(); }
END
gcc -g -o "$tmp/units" "$tmp/u1.c" "$tmp/u2.c"
size_at() { "$btgen" types -x "$tmp/units" --json "$@" odd 2>"$tmp/err" | sed -n 's/.*"size": \([0-9]*\), "unit.*/\1/p'; }
is "$(size_at)" 16 "the first definition of several is taken"
like "$(cat "$tmp/err")" 'warning: "odd" is defined differently in .*u1\.c and .*u2\.c' "... with a warning"

# Six units that include a header, of which the fifth has a type of the same size, at the same line, with other members or values
cat >"$tmp/same.h" <<'END'
struct item { T value; struct item *next; };
enum kind { K, TWO };
typedef struct { T pair; int second; } couple;
union both { T u; float f; };
struct outer { struct item in; couple c; };
END
for compiler in "gcc -gdwarf-4" "gcc -gdwarf-5" "clang -gdwarf-4" "clang -gdwarf-5"; do
	command -v "${compiler%% *}" >/dev/null || continue
	for other in "-DT=int -DK=ONE" "-DT=unsigned -DK=ONE" "-DT=int -DK=ODD"; do
		objects=()
		for i in 1 2 3 4 5 6; do
			words="-DT=int -DK=ONE"
			[ $i != 5 ] || words=$other
			[ $i != 6 ] || use='struct user { int item, kind, couple, both; } u; int main(void) { return 0; }'
			# shellcheck disable=SC2086
			printf '#include "same.h"\nstruct outer o%s; enum kind k%s; union both b%s; %s\n' $i $i $i "${use-}" |
				$compiler -c -x c -I "$tmp" $words -o "$tmp/same$i.o" -
			objects+=("$tmp/same$i.o")
		done
		unset use
		gcc -o "$tmp/same" "${objects[@]}"
		differ=
		for type in "struct item" "enum kind" couple "union both" "struct outer"; do
			! "$btgen" types -x "$tmp/same" "$type" 2>&1 | grep -q 'is defined differently' || differ+="${type##* } "
		done
		case $other in
		*unsigned*) expected='item couple both outer ' ;;
		*ODD) expected='kind ' ;;
		*) expected= ;;
		esac
		is "$differ" "$expected" "$compiler, $other in one unit of six: what differs is found"
	done
done
is "$(size_at --at one) $(size_at --at two)" "16 4" "--at takes the one that a function's unit has"
is "$(cat "$tmp/err")" "" "... without a warning"
like "$("$btgen" types -x "$tmp/units" --at tow odd 2>&1)" 'no function "tow"' "... and says so when there is no such function"

# Names that an heir takes from its base
cat >"$tmp/hide.cc" <<'END'
struct Empty {};
struct Base {
	int m;
	union {
		int u;
		float f;
	};
	int after;
};
struct Heir : Base {
	Empty m;
	union {
		char u;
		short v;
	};
};
Heir h;
int main() { return h.after; }
END
g++ -g -o "$tmp/hide" "$tmp/hide.cc"
out=$("$btgen" types -x "$tmp/hide" --assert Heir 2>&1)
unlike "$out" 'int m;|int u;' "a base's member is hidden by one of an empty class, and in an anonymous union by another's"
like "$out" '^// m of a base is hidden.*' "... which is said"
ok "... and the rest compiles with its layout" gcc -w -fsyntax-only -xc - <<<"$out"

# Pointers
like "$("$btgen" types -x "$tmp/p" item)" '	struct item \*next;' "a pointer to a type that is defined is typed"
build gcc -g t.c
cat >"$tmp/n.c" <<'END'
struct n3 {
	int v;
};
struct n2 {
	struct n3 *p;
};
struct n1 {
	struct n2 *p, *q[2];
	struct n3 *z;
} n;
int main(void) { return 0; }
END
gcc -g -o "$tmp/n" "$tmp/n.c"
is "$("$btgen" types -x "$tmp/n" --follow 1 n1 | tr -d '\n\t')" \
	"#pragma pack(push,1)struct n1 {struct n2 *p;struct n2 *q[2];struct n3 *z;};struct n2 {struct n3 *p;};struct n3 {int v;};#pragma pack(pop)" "--follow 1 defines what pointers lead to"
is "$("$btgen" types -x "$tmp/n" n1 | tr -d '\n\t')" \
	"#pragma pack(push,1)struct n1 {void *p;void *q[2];void *z;};#pragma pack(pop)" "other pointers are void *"

# bpftrace itself
"$btgen" types -x "$tmp/p" --bpftrace item pk al zero un big nothing anon_t >"$tmp/b.bt" 2>"$tmp/err"
unlike "$(cat "$tmp/b.bt")" '^(typedef|enum|struct [a-z]+;)|__attribute__|/\*|//|\bbool ' \
	"--bpftrace writes nothing that a bpftrace refuses"
like "$(cat "$tmp/b.bt")" '	int unroll_;' "a member called as a bpftrace word is respelled"
if can_trace; then
	cat >>"$tmp/b.bt" <<'END'
BEGIN { printf("%d %d %d %d %d %d %d\n", sizeof(struct item), sizeof(struct pk), sizeof(struct al), sizeof(struct zero), sizeof(union un), sizeof(struct big), sizeof(struct anon_t)); exit(); }
END
	want=$(gdb -nx -batch -ex 'printf "%d %d %d %d %d %d %d\n",sizeof(struct item),sizeof(struct pk),sizeof(struct al),sizeof(struct zero),sizeof(union un),sizeof(struct big),sizeof(anon_t)' "$tmp/p" 2>/dev/null | tail -n 1)
	like "$(bpftrace "$tmp/b.bt" 2>&1)" "^$want\$" "bpftrace accepts the definitions and has the program's sizes"
else
	skip_tracing "bpftrace accepts the definitions"
fi

cat >"$tmp/arrays.c" <<'END'
#include <btgen/usdt.h>
struct request { int m[3][4]; char (*rows)[3]; struct request *list[2]; };
int main(void) { static struct request r; struct request *p = &r; int (*q)[7] = (void *)p; USDT_PROBE(arrays, one, p, q); return 0; }
END
"${CC:-gcc}" -g -O1 -I"$top/include" -o "$tmp/arrays" "$tmp/arrays.c"
is "$("$btgen" types -x "$tmp/arrays" --json request | python3 -c 'import json, sys
print([m["type"] for m in json.load(sys.stdin)[0]["members"]])')" "['int[3][4]', 'char (*)[3]', 'struct request *[2]']" \
	"arrays of arrays and pointers to arrays as C writes them, in JSON"
like "$("$btgen" probes -v -x "$tmp/arrays")" 'int \(\*\)\[7\]' "and in lists of probes"
if [ -r /sys/kernel/btf/vmlinux ]; then
	like "$("$btgen" types -x "$tmp/arrays" --bpftrace request 2>"$tmp/err")" '^struct user_request \{' \
		"--bpftrace gives a tag that the kernel has another name"
	like "$(cat "$tmp/err")" 'warning: the kernel also has a type request: this one is printed as user_request' "and says so"
	like "$("$btgen" types -x "$tmp/arrays" request)" '^struct request \{' "which plain C does not need"
else
	skip "--bpftrace and tags of the kernel" "no kernel BTF"
fi

is "$("$btgen" types -x "$targets/nvmf_tgt" -l --json | python3 -c 'import json, sys
for t in json.load(sys.stdin): print(t["type"])')" "$("$btgen" types -x "$targets/nvmf_tgt" -l)" "a list as JSON has the same types"
is "$("$btgen" types -v -x "$targets/nvmf_tgt" option 2>&1)" "$("$btgen" types -x "$targets/nvmf_tgt" option)" \
	"-v has nothing to say where each definition was compared"

# Kernel BTF
if [ -r /sys/kernel/btf/vmlinux ]; then
	"$btgen" types --btf vmlinux --assert task_struct sock request 'enum pid_type' >"$tmp/k.h" 2>"$tmp/err"
	ok "kernel types compile with their layout" gcc -w -fsyntax-only -xc "$tmp/k.h"
	like "$("$btgen" types --btf vmlinux -l 'task_str*' 2>&1)" '^struct task_struct$' "kernel types are listed"
	like "$("$btgen" enums --btf vmlinux pid_type:p:PIDTYPE_)" '@p\[1\] = "TGID"' "kernel enums become tables"
	like "$("$btgen" types --btf vmlinux task_strut 2>&1)" 'did you mean "task_struct"' "the nearest kernel type is offered"
else
	skip "kernel types" "no kernel BTF"
fi
like "$("$btgen" types --btf /etc/passwd x 2>&1)" '/etc/passwd: error: ' "a file without BTF is named"
done_testing
