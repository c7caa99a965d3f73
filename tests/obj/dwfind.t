#!/usr/bin/env bash
# A look-up by name finds every type and enumerator where a walk with libdw finds it, however the program was built.
. "$(dirname "$0")/../lib.sh"
scan=$build/tests/unit/dwfind.t
[ -x "$scan" ] || skip_all "$scan is not built (make check builds it)"

cat >"$tmp/t.c" <<'END'
enum e { A, B = 77, LONG_ENUMERATOR_NAME }; typedef enum e e_t; struct s { struct t *p; int x; }; struct t { struct { int q; } in; }; union u { int i; };
typedef struct { int z; } anon_t; struct xs { int n; }; enum { LOOSE = 5 }; struct only_declared *od;
struct s s; struct t t; union u u; anon_t a; struct xs xs; e_t e; int l = LOOSE;
int main(void) { struct local { int y; } v = {1}; struct xs { char of_main; } own = {0}; return v.y * own.of_main; }
END
cat >"$tmp/x.cc" <<'END'
#include <string>
namespace a { namespace b { struct S { struct In { int i; } in; enum K { K1, K2 } k; enum class C : char { C1 } c; }; } inline namespace v1 { struct Ver { int v; }; } namespace { struct Hid { int h; }; } }
struct S { int other; }; struct Out { struct Fwd; Fwd *f; }; struct Out::Fwd { struct Deep { int d; } deep; }; template <class T> struct Box { T t; struct I { T u; } i; };
a::b::S s1; S s2; a::Ver ver; a::Hid hid; Out out; Out::Fwd fwd; Box<int> bi; Box<Box<char>> bb; std::string str;
int main() { return hid.h + (int)str.size(); }
END
i=0
try() { # COMPILER FLAGS SOURCE NAMES
	in_third || return
	i=$((i + 1))
	# shellcheck disable=SC2086
	if ! $1 $2 -w -o "$tmp/p$i" "$tmp/$3" 2>/dev/null; then
		skip "$1 $2 $3" "does not build"
		return
	fi
	"$scan" "$tmp/p$i" >"$tmp/out" 2>&1
	local rc=$? names
	names=$(sed -n 's/.*: \([0-9]*\) names .*/\1/p' "$tmp/out")
	[ $rc = 0 ] && [ "${names:-0}" -ge "$4" ]
	tap_result $? "$1 $2 $3: ${names:-no} names" || grep '^#' "$tmp/out" | head -n 5
}
for flags in -gdwarf-2 -gdwarf-3 -gdwarf-4 -gdwarf-5 "-g -gdwarf64" "-g -gz" "-g -gz=zlib-gnu" "-g -O2 -flto" -g3 "-g -gstrict-dwarf"; do
	try gcc "$flags" t.c 14
done
for flags in -gdwarf-3 -gdwarf-4 -gdwarf-5 -gz; do
	command -v clang >/dev/null && try clang "-g $flags" t.c 10
done
for flags in -gdwarf-3 -gdwarf-4 -gdwarf-5 "-g -O2 -flto"; do
	try g++ "$flags" x.cc 40
done
command -v clang++ >/dev/null && try clang++ "-g -fstandalone-debug" x.cc 40
# The other byte order, in 32 and 64 bit
cat >"$tmp/be.c" <<'END'
enum e { A, B = 77 }; struct s { int x; enum e e; }; struct only_declared *o; struct s s; typedef struct { int z; } anon_t; anon_t q; struct a_long_name { int a; } v;
END
echo 'struct nothing_is_before_its_name { int x; } v;' >"$tmp/first.c"
for flags in -gdwarf-4 -gdwarf-5 "-gdwarf-4 -gdwarf64" "-gdwarf-5 -gdwarf64"; do
	try "clang --target=powerpc64-linux-gnu" "-g $flags -shared -nostdlib -fuse-ld=lld" be.c 9
	try "clang --target=powerpc64-linux-gnu" "-g $flags -shared -nostdlib -fuse-ld=lld" first.c 2
done
# The offset of one string is in the tables of several units, that of another in one
echo 'struct t { long other; } t2; struct of_this_unit { int n; struct xs *x; } of_this;' >"$tmp/second.c"
for flags in -gdwarf-4 -gdwarf-5 "-gdwarf-5 -gdwarf64"; do
	command -v clang >/dev/null && try clang "-g $flags $tmp/second.c" t.c 12
done
# A name that many strings end in
{
	echo 'struct id { int own; } id; enum state { END_state } state;'
	for i in {1..30}; do echo "struct s$i { struct id *s${i}_id; int s${i}_state; } v$i;"; done
	echo 'int main(void) { struct state { int z; } s = {0}; return s.z; }'
} >"$tmp/ends.c"
for compiler in gcc clang; do
	command -v $compiler >/dev/null && try $compiler "-gdwarf-4" ends.c 30
done
# What today's compilers do not write, or seldom. Each unit has a table of abbreviations of its own (DWARF 5 section 7.5.3).
cat >"$tmp/odd.h" <<'END'
	.section .note.GNU-stack,"",@progbits
	.section .debug_str,"",@progbits
.Lstr:
	.section .debug_info,"",@progbits
.Linfo:
	.macro table # the next table, which begins with the unit's DIE: its producer as string
	.section .debug_abbrev,"",@progbits
3:	.byte 1, 0x11, 1, 0x25, 8, 0, 0
	.endm
	.macro unit # of that table
	.byte 0
	.section .debug_info,"",@progbits
	.4byte 2f - 1f
1:	.2byte 4
	.4byte 3b
	.byte 8, 1
	.asciz "hands"
	.endm
	.macro name text
	.section .debug_str,"",@progbits
4:	.asciz "\text"
	.section .debug_info,"",@progbits
	.4byte 4b
	.endm
END
cat "$tmp/odd.h" - >"$tmp/odd.s" <<'END'
	table
	.byte 2, 0x13, 0, 0x03, 8, 0x0b, 0x0b, 0, 0		# struct: name as string, byte_size
	unit
	.byte 2
	.asciz "in_the_unit"
	.byte 4, 0
2:	table
	.byte 2, 0x13, 0, 0x0b, 0x0f, 0x03, 0x0e, 0, 0		# struct: byte_size as udata, name as strp
	unit
	.byte 2, 0x84, 0
	name behind_a_number
	.byte 0
2:	table
	.byte 2, 0x13, 0, 0x01, 0x13, 0x03, 0x0e, 0x0b, 0x0b, 0, 0	# struct: sibling, name as strp, byte_size
	unit
	.byte 2
	.4byte 5f - 1b + 4
	name behind_a_reference
	.byte 4
5:	.byte 0
2:	table
	.byte 2, 0x13, 0, 0x03, 0x16, 0x0b, 0x0b, 0, 0		# struct: name as indirect
	unit
	.byte 2, 8
	.asciz "of_indirect_form"
	.byte 4, 0
2:	table
	.byte 2, 0x13, 0, 0x03, 0x0e, 0x0b, 0x0b, 0, 0		# struct: name as strp, byte_size
	.byte 0x90, 1, 0x13, 0, 0x03, 0x0e, 0x0b, 0x0b, 0, 0	# the same
	unit
	.byte 0x82, 0x80, 0
	name number_longer_than_it_must_be
	.byte 4, 0x90, 1
	name number_of_two_bytes
	.byte 4, 0
2:	table
	.byte 2, 0x13, 0, 0x03, 0x0e, 0x3c, 0x0c, 0, 0		# struct: name as strp, declaration as flag
	.byte 3, 0x13, 0, 0x47, 0x13, 0x0b, 0x0b, 0, 0		# struct: specification as ref4
	.byte 4, 0x39, 1, 0x03, 8, 0, 0			# namespace: name as string
	unit
	.byte 4
	.asciz "ns"
5:	.byte 2
	name completed_here
	.byte 1
	.ifdef FAR
.Lfar:	.byte 2
	name completed_elsewhere
	.byte 1
	.endif
	.byte 0, 3
	.4byte 5b - 1b + 4
	.byte 4, 0
2:
	.ifdef FAR
	table
	.byte 2, 0x13, 0, 0x47, 0x10, 0x0b, 0x0b, 0, 0		# struct: specification as ref_addr
	unit
	.byte 2
	.4byte .Lfar - .Linfo
	.byte 4, 0
2:
	.endif
END
# A unit of more bytes than are searched at once, with a name in every five; around the edge of what is searched first others than before
cat "$tmp/odd.h" - >"$tmp/dense.s" <<'END'
	table
	.byte 2, 0x13, 0, 0x03, 0x0e, 0, 0
	unit
	.rept 12800
	.byte 2
	.4byte .Lstr
	.endr
	.set i, 0
	.rept 500
	.byte 2
	.4byte .Lstr + 5 * i
	.set i, i + 1
	.endr
	.byte 0
2:	.section .debug_str,"",@progbits
	.set i, 0
	.rept 500
	.byte 'n', '0' + i / 100, '0' + i / 10 % 10, '0' + i % 10, 0
	.set i, i + 1
	.endr
END
echo 'int main(void) { return 0; }' >"$tmp/main.c"
assemble() { # NAMES CLAIM FILE [OPTION]: the program is $tmp/FILE
	gcc -o "$tmp/$3" ${4+"$4"} "$tmp/$3.s" "$tmp/main.c"
	is "$("$scan" "$tmp/$3" | sed -n 's/^ok .*: \([0-9]* names .*\)/\1/p')" "$1 names are where libdw finds them" "$2"
}
assemble 500 "names as dense as they can be" dense
odd="in_the_unit behind_a_number behind_a_reference of_indirect_form number_longer_than_it_must_be number_of_two_bytes ns::completed_here"
assemble 7 "odd DIEs" odd
for name in $odd; do
	is "$("$btgen" types --json -x "$tmp/odd" $name 2>&1 | grep -c '"size": 4')" 1 "... $name"
done
assemble 8 "a definition whose declaration is in another unit" odd -Wa,--defsym,FAR=1
is "$("$btgen" types --json -x "$tmp/odd" ns::completed_elsewhere 2>&1 | grep -c '"size": 4')" 1 "... is found by name"

# More definitions of a name than are counted, and one in a function
{
	echo '#include "usdt.h"'
	for i in {1..260}; do echo "struct C$i { struct inner { int i; } t; } c$i;"; done
	echo 'int main() { struct inner { long x; int k; } t = {1, 2}; USDT_PROBE(app, p, &t); return t.k; }'
} >"$tmp/many.cc"
g++ -g -w -I "$top/include/btgen" -o "$tmp/many" "$tmp/many.cc"
echo 'usdt:__EXE__:app:p { print(((struct inner *)arg0)->k); }' >"$tmp/many.bt"
like "$("$btgen" expand -x "$tmp/many" "$tmp/many.bt" 2>&1)" 'long long x;' \
	"260 types inside of classes do not hide a function's own"

# The nearest name in a large file with a string that ends in two million others
cat "$tmp/odd.h" - >"$tmp/ends.s" <<'END'
	table
	.byte 2, 0x13, 0, 0x03, 0x0e, 0x0b, 0x0b, 0, 0		# struct: name as strp, byte_size
	unit
	.byte 2
	name sample
	.byte 4, 0
	.fill 65 << 20, 1, 0
2:	.section .debug_str,"",@progbits
	.fill ENDS, 2, 0x735f	# "_s"
	.byte 0
END
for n in 500000 2000000; do gcc -Wa,--defsym,ENDS=$n -o "$tmp/ends.$n" "$tmp/ends.s" "$tmp/main.c"; done
linear "ends of strings cost no more than a name is long" 1 500000 "$btgen" types -x "$tmp/ends.{}" 'struct simple'
like "$(cat "$tmp/err")" 'did you mean "sample"' "... and are no nearer names"
rm "$tmp"/ends.*
# ... and in one whose units have to be walked for each name: from the third on all names are known
cat "$tmp/odd.h" - >"$tmp/walked.s" <<'END'
	table
	.byte 2, 0x13, 0, 0x5a, 8, 0x03, 0x0e, 0x0b, 0x0b, 0, 0	# struct: description as string, name as strp, byte_size
	unit
	.irpc i, 1234
	.byte 2, 'd', 0
	name sample\i
	.byte 4
	.endr
	.fill 1 << 20, 1, 0
2:
END
gcc -o "$tmp/walked" "$tmp/walked.s" "$tmp/main.c"
said=$("$btgen" types -x "$tmp/walked" sample1 sample2 sample3 sample4 'struct simple4' 2>&1)
like "$said" 'did you mean "sample4"' "the nearest name is found after other names, too"

# A struct without bytes and without a line, as one of Rust has none, is no other namespace's.
for ns in one two; do printf 'namespace %s {\n#line 0\nstruct none { char %s[0]; };\n} static %s::none v;\n' $ns $ns $ns >"$tmp/$ns.cc"; done
g++ -g -gno-column-info -o "$tmp/none" "$tmp/one.cc" "$tmp/two.cc" -x c "$tmp/main.c"
like "$("$btgen" types -x "$tmp/none" two::none 2>&1)" 'char two\[0\];' "a struct without bytes: that of its namespace"
like "$("$btgen" types -x "$tmp/none" three::none 2>&1)" 'no type "three::none"' "... and of no other"

# What it does not handle it must refuse, not answer wrongly.
for flags in "-g -fdebug-types-section" "-gdwarf-4 -fdebug-types-section" "-gdwarf-4 -gsplit-dwarf" "-g -gsplit-dwarf"; do
	# shellcheck disable=SC2086
	(cd "$tmp" && g++ $flags -w -o q x.cc)
	like "$("$scan" "$tmp/q")" 'SKIP for libdw alone' "refused: g++ $flags"
done
echo 'struct plain { int x; } plain;' >"$tmp/plain.c"
echo 'struct split { int x; } split; int main(void) { return 0; }' >"$tmp/split.c"
(cd "$tmp" && gcc -gdwarf-5 -c plain.c && gcc -gdwarf-4 -gsplit-dwarf -c split.c && gcc -o mixed plain.o split.o)
like "$("$scan" "$tmp/mixed")" 'SKIP for libdw alone' "refused: a split unit of DWARF 4 behind a plain one of DWARF 5"
like "$("$btgen" types -x "$tmp/mixed" split 2>&1)" 'struct split {' "... whose types are found"
g++ -g -c -o "$tmp/x.o" "$tmp/x.cc"
like "$("$scan" "$tmp/x.o")" 'SKIP for libdw alone' "refused: an object file, which needs relocation"
done_testing
