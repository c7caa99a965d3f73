#!/usr/bin/env bash
# A look-up by name finds every type and enumerator where a walk with libdw finds it, however the program was built.
. "$(dirname "$0")/../lib.sh"
scan=$build/tests/unit/dwfind.t
[ -x "$scan" ] || skip_all "$scan is not built (make check builds it)"

cat >"$tmp/t.c" <<'END'
enum e { A, B = 77, LONG_ENUMERATOR_NAME }; typedef enum e e_t; struct s { struct t *p; int x; }; struct t { struct { int q; } in; }; union u { int i; };
typedef struct { int z; } anon_t; struct xs { int n; }; enum { LOOSE = 5 }; struct only_declared *od;
struct s s; struct t t; union u u; anon_t a; struct xs xs; e_t e; int l = LOOSE;
int main(void) { struct local { int y; } v = {1}; return v.y * 0; }
END
cat >"$tmp/x.cc" <<'END'
#include <string>
namespace a { namespace b { struct S { struct In { int i; } in; enum K { K1, K2 } k; enum class C : char { C1 } c; }; } inline namespace v1 { struct Ver { int v; }; } namespace { struct Hid { int h; }; } }
struct S { int other; }; struct Out { struct Fwd; Fwd *f; }; struct Out::Fwd { struct Deep { int d; } deep; }; template <class T> struct Box { T t; struct I { T u; } i; };
a::b::S s1; S s2; a::Ver ver; a::Hid hid; Out out; Out::Fwd fwd; Box<int> bi; Box<Box<char>> bb; std::string str;
int main() { return hid.h + (int)str.size(); }
END
i=0
try() { # COMPILER FLAGS SOURCE
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
for flags in -gdwarf-4 -gdwarf-5 "-gdwarf-4 -gdwarf64" "-gdwarf-5 -gdwarf64"; do
	try "clang --target=powerpc64-linux-gnu" "-g $flags -shared -nostdlib -fuse-ld=lld" be.c 9
done
# A unit of more bytes than are searched at once: each name is somewhere else in it
for ((i = 0; i < 4000; i++)); do
	echo "struct name_$i { int a, b; } v$i;"
done >"$tmp/large.c"
try gcc "-g -shared" large.c 4000

# What today's compilers do not write, or seldom: names behind something of variable size, in the unit itself, of a form that
# is named in the DIE; numbers of abbreviations that are longer than they must be; definitions that complete a
# declaration, in this unit or another one.
cat >"$tmp/odd.s" <<'END'
	.section .debug_abbrev,"",@progbits
	.byte 1, 0x11, 1, 0x25, 8, 0, 0			# unit: producer
	.byte 2, 0x13, 0, 0x03, 8, 0x0b, 0x0b, 0, 0		# struct: name as string, byte_size
	.byte 3, 0x13, 0, 0x0b, 0x0f, 0x03, 0x0e, 0, 0	# struct: byte_size as udata, name as strp
	.byte 4, 0x13, 0, 0x03, 0x16, 0x0b, 0x0b, 0, 0	# struct: name as indirect
	.byte 5, 0x13, 0, 0x03, 0x0e, 0x3c, 0x0c, 0, 0	# struct: name as strp, declaration as flag
	.byte 6, 0x13, 0, 0x47, 0x13, 0x0b, 0x0b, 0, 0	# struct: specification as ref4
	.byte 7, 0x39, 1, 0x03, 8, 0, 0			# namespace: name as string
	.byte 8, 0x13, 0, 0x47, 0x10, 0x0b, 0x0b, 0, 0	# struct: specification as ref_addr
	.byte 0
.Lfixed:	.byte 1, 0x11, 1, 0x25, 8, 0, 0
	.byte 2, 0x13, 0, 0x03, 0x0e, 0x0b, 0x0b, 0, 0		# struct: name as strp
	.byte 0
	.section .debug_str,"MS",@progbits,1
.Lvaries:	.asciz "behind_a_number"
.Ldecl:	.asciz "completed_here"
.Lfar:	.asciz "completed_elsewhere"
.Llong:	.asciz "number_longer_than_it_must_be"
	.section .note.GNU-stack,"",@progbits
	.section .debug_info,"",@progbits
.Lstart:
	.macro unit table
	.4byte 2f - 1f
1:	.2byte 4
	.4byte \table
	.byte 8, 1
	.asciz "hand"
	.endm
	unit .debug_abbrev
	.byte 3, 4
	.4byte .Lvaries
	.byte 2
	.asciz "in_the_unit"
	.byte 4, 0
2:	unit .debug_abbrev
	.byte 4, 8
	.asciz "of_indirect_form"
	.byte 4, 0
2:	unit .debug_abbrev
	.byte 7
	.asciz "ns"
.Lnear_decl:	.byte 5
	.4byte .Ldecl
	.byte 1
.Lfar_decl:	.byte 5
	.4byte .Lfar
	.byte 1, 0
	.byte 6
	.4byte .Lnear_decl - 1b + 4
	.byte 4, 0
2:	unit .debug_abbrev
	.byte 8
	.4byte .Lfar_decl - .Lstart
	.byte 4, 0
2:	unit .Lfixed
	.byte 0x82, 0x80, 0
	.4byte .Llong
	.byte 4, 0
2:
END
echo 'int main(void) { return 0; }' >"$tmp/main.c"
gcc -o "$tmp/odd" "$tmp/odd.s" "$tmp/main.c"
is "$("$scan" "$tmp/odd" | grep -o '[0-9]* names .*')" "6 names are where libdw finds them" "odd DIEs"
for name in behind_a_number in_the_unit of_indirect_form ns::completed_here ns::completed_elsewhere number_longer_than_it_must_be; do
	is "$("$btgen" types --json -x "$tmp/odd" $name 2>&1 | grep -c '"size": 4')" 1 "... $name"
done

# What it does not handle it must refuse, not answer wrongly.
for flags in "-g -fdebug-types-section" "-gdwarf-4 -fdebug-types-section" "-gdwarf-4 -gsplit-dwarf" "-g -gsplit-dwarf"; do
	# shellcheck disable=SC2086
	(cd "$tmp" && g++ $flags -w -o q x.cc)
	like "$("$scan" "$tmp/q")" 'SKIP for libdw alone' "refused: g++ $flags"
done
g++ -g -c -o "$tmp/x.o" "$tmp/x.cc"
like "$("$scan" "$tmp/x.o")" 'SKIP for libdw alone' "refused: an object file, which needs relocation"
done_testing
