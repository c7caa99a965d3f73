#!/usr/bin/env bash
# The name scanner finds every type and enumerator where a walk with libdw finds it, however the program was built.
. "$(dirname "$0")/../lib.sh"
scan=$build/tests/unit/dwscan.t
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
# What it does not handle it must refuse, not answer wrongly.
for flags in "-g -fdebug-types-section" "-gdwarf-4 -fdebug-types-section" "-gdwarf-4 -gsplit-dwarf" "-g -gsplit-dwarf"; do
	# shellcheck disable=SC2086
	(cd "$tmp" && g++ $flags -w -o q x.cc)
	like "$("$scan" "$tmp/q")" 'SKIP not for dwscan' "refused: g++ $flags"
done
g++ -g -c -o "$tmp/x.o" "$tmp/x.cc"
like "$("$scan" "$tmp/x.o")" 'SKIP not for dwscan' "refused: an object file, which needs relocation"
done_testing
