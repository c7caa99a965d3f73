#!/usr/bin/env bash
# What is written wrongly does not compile, the message says what to write, and it names the line of the program.
. "$(dirname "$0")/../lib.sh"
# shellcheck disable=SC2154 # top, tmp: lib.sh

include="-I$top/include"
name='a name of USDT is made of letters, digits and _, the first no digit, and has no quotes: USDT_PROBE\(app, start, x\)'
no_name='a USDT probe has a provider and a name: USDT_PROBE\(provider, name, args...\)'
object='USDT argument 1 is (an object, or void: pass an object by its address|no integer, enum or pointer .* a struct by its address)'
number='is no integer, enum or pointer of at most 8 bytes: pass a float or double as USDT_BITS\(x\)'
void='USDT argument 1 is (an object, or )?void: pass'
arg='USDT_ARG takes a name in quotes: USDT_ARG\(x, \\?"name\\?"\)'
doc='USDT_DOC takes a sentence in quotes: USDT_DOC\(app, start, \\?"when it fires\\?"\)'
empty='is empty: a comma too many, or a macro for nothing'
many='a USDT probe has at most 12 arguments'
bits='USDT_BITS takes a float or a double|usdt_bits_takes_a_float_or_a_double'

cat >"$tmp/before" <<'END'
#include <btgen/usdt.h>
struct big { long a[4]; };
union both { int i; float f; };
struct unknown;
#define NOTHING
#define start_of "start"
#ifdef __cplusplus
struct owner { owner(const owner &) = delete; owner(int); int get(); };
enum class shade { LIGHT };
#endif
void nothing(void);
void f(float fl, double d, long double ld, struct big s, union both u, __int128 q, struct unknown *p, int x, struct big *at);
END

# try COMPILER WANT WHERE CODE [OPTION...]: WHERE is in (a function) or out (at file scope)
try() {
	local cc=$1 want=$2 where=$3 code=$4 src=bad.c std=gnu11 line=15 got
	shift 4
	case $cc in *++*) src=bad.cc std=gnu++17 ;; esac
	{
		cat "$tmp/before"
		[ $where = in ] || { printf '%s\n' "$code"; line=13; }
		echo 'void f(float fl, double d, long double ld, struct big s, union both u, __int128 q, struct unknown *p, int x, struct big *at)'
		printf '{ (void)fl, (void)d, (void)ld, (void)s, (void)u, (void)q, (void)p, (void)x, (void)at;\n%s\n}\n' \
			"$([ $where = out ] || printf '%s' "$code")"
	} >"$tmp/$src"
	if $cc -std=$std "$include" "$@" -fsyntax-only "$tmp/$src" >"$tmp/err" 2>&1; then
		echo "it compiles"
	elif ! got=$(grep -E 'error: ' "$tmp/err" | grep -vE 'pasting' | head -n 1) || ! grep -qE -- "$want" <<<"$got"; then
		# one line of GCC's may be about the call, and the note behind it about the function
		grep -qE "note: .*($want)|($want).*declared here" "$tmp/err" || echo "$got"
	elif ! grep -qE "$src:$line:" "$tmp/err"; then
		echo "line $line is not named: $(head -n 3 "$tmp/err")"
	fi
}

# The newest version of a compiler that is installed under a name of its own beside the default one, as clang-19 beside clang.
newest() { # COMPILER
	local n
	n=$(compgen -c "$1-" | grep -xE "${1//+/\\+}-[0-9]+" | sed 's/.*-//' | sort -n | tail -n 1)
	[ -z "$n" ] || [ "$("$1" -dumpversion 2>/dev/null | cut -d. -f1)" = "$n" ] || echo "$1-$n"
}
declare -A newest
for cc in gcc clang g++ clang++; do newest[$cc]=$(newest $cc); done
echo "# beside the default compilers: ${newest[*]}"

# misuse WANT WHERE CODE [COMPILER...]: by all of the four, or these, and the newest of each; the same with the probes compiled out (by
# one of C, one of C++); a third of them
misuse() {
	local want=$1 where=$2 code=$3 cc wrong=
	shift 3
	in_third || return
	[ $# -gt 0 ] || set -- gcc clang g++ clang++
	for cc; do
		[ -z "${newest[$cc]-}" ] || set -- "$@" "${newest[$cc]}"
	done
	for cc; do
		command -v "$cc" >/dev/null || continue
		wrong+=$(try "$cc" "$want" "$where" "$code" | sed "s/^/$cc: /")
		[[ $cc == clang || $cc == g++ || $code == *USDT_ENABLED* ]] || wrong+=$(try "$cc" "$want" "$where" "$code" -DUSDT_DISABLE | sed "s/^/$cc -DUSDT_DISABLE: /")
	done
	is "$wrong" "" "$(tr '\n' ' ' <<<"$code")"
}

# names
misuse "$name" in 'USDT_PROBE("app", start, x);'
misuse "$name" in 'USDT_PROBE(app, "start", x);'
misuse "$name" in 'USDT_PROBE(app, my-probe, x);'
misuse "$name" in 'USDT_PROBE(my-app, start);'
misuse "$name" in 'USDT_PROBE(app, 1st, x);'
misuse "$name" in 'USDT_PROBE(app, my probe, x);'
misuse "$name" in 'USDT_PROBE(app::sub, start, x);'
misuse "$name" in 'USDT_PROBE(app, start.done, x);'
misuse "$name" in 'USDT_PROBE(app, start_of, x);'
misuse "$name" in 'USDT_PROBE(app, linux, x);' # a macro, 1, in GNU C
misuse "$name" in 'USDT_PROBE(app, start(x));'
misuse "$name" in "USDT_PROBE(app, 's', x);"
misuse "$name" in 'USDT_PROBE(app, at->a, x);'
misuse "$name" in 'USDT_PROBE(app, grün, x);' gcc g++
misuse "$name" in 'USDT_PROBE_LAZY("app", start, x);'
misuse "$name" in 'if (USDT_ENABLED(app, my-probe)) nothing();'
misuse "$name" out 'USDT_DOC("app", start, "when it fires");'
misuse "$no_name" in 'USDT_PROBE(app);'
misuse "$no_name" in 'USDT_PROBE();'
misuse "$no_name" in 'USDT_PROBE(app, , x);'
misuse "$no_name" in 'USDT_PROBE(, start, x);'
# arguments
misuse "$object" in 'USDT_PROBE(app, start, s);'
misuse "$object" in 'USDT_PROBE(app, start, u);'
misuse "$object" in 'USDT_PROBE(app, start, *at);'
misuse "$object" in 'owner o(1); USDT_PROBE(app, start, o);' g++ clang++
misuse "argument 1 $number" in 'USDT_PROBE(app, start, fl);'
misuse "argument 2 $number" in 'USDT_PROBE(app, start, 1, d);'
misuse "argument 1 $number" in 'USDT_PROBE(app, start, ld);'
misuse "argument 1 .*at most 8 bytes" in 'USDT_PROBE(app, start, q);'
misuse "argument 1 $number" in 'USDT_PROBE(app, start, &owner::get);' g++ clang++
misuse "incomplete type|undefined type|$object" in 'USDT_PROBE(app, start, *p);'
misuse "$void" in 'USDT_PROBE(app, start, nothing());'
misuse "$void" in 'USDT_PROBE(app, start, (void)x);'
misuse "argument 1 $empty" in 'USDT_PROBE(app, start, );'
misuse "argument 2 $empty" in 'USDT_PROBE(app, start, x, NOTHING, x);'
misuse "$many" in 'USDT_PROBE(app, start, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13);'
misuse "$many" in 'USDT_PROBE(app, start, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25);'
misuse "$bits" in 'USDT_PROBE(app, start, USDT_BITS(x));'
misuse "$bits" in 'USDT_PROBE(app, start, USDT_BITS(ld));'
# texts
misuse "$arg" in 'USDT_PROBE(app, start, USDT_ARG(x, size));'
misuse "$arg" in 'USDT_PROBE(app, start, USDT_ARG(x, x));'
misuse "$arg" in 'USDT_PROBE(app, start, USDT_ARG(x, the size));'
misuse "$arg" in 'USDT_PROBE(app, start, USDT_ARG(x));'
misuse usdt_arg_takes_an_expression_a_name_a_doc_and_a_unit in 'USDT_PROBE(app, start, USDT_ARG(x, "a", "b", "c", "d"));'
misuse "$doc" out 'USDT_DOC(app, start, when it fires);'
# semaphores
misuse "$name" out 'USDT_SEMA_DEFINE("mine");'
misuse "$name" out 'USDT_SEMA_DECLARE(my-own);'
misuse '__usdt_sema_mine.* (undeclared|not declared)|undeclared identifier .__usdt_sema_mine' in 'USDT_PROBE_SEMA(mine, app, start);'

# What the whole file is compiled as.
wrong_file() { # WANT CLAIM COMMAND...
	local want=$1 claim=$2
	shift 2
	command -v "$1" >/dev/null || { skip "$claim" "no $1"; return; }
	echo '#include <btgen/usdt.h>' | "$@" "$include" -fsyntax-only - >"$tmp/err" 2>&1
	like "$(grep -m 1 'error: ' "$tmp/err")" "btgen/usdt.h: $want" "$claim"
}
for cc in g++ clang++; do
	wrong_file 'C\+\+11 or later: compile with -std=c\+\+11' "$cc -std=c++98" $cc -x c++ -std=c++98
	wrong_file 'C\+\+11 or later' "$cc -std=gnu++98" $cc -x c++ -std=gnu++98
done
for cc in gcc clang; do
	wrong_file '64-bit ELF targets only; -DUSDT_DISABLE' "$cc -m32" $cc -m32 -xc
	wrong_file 'this is for C and C\+\+; assembly has STAP_PROBE' "$cc: assembly" $cc -E -x assembler-with-cpp
	wrong_file 'USDT_FAST is for x86-64 and without USDT_SITE' "$cc -DUSDT_FAST -DUSDT_SITE" $cc -DUSDT_FAST '-DUSDT_SITE="nop"' -xc
	wrong_file 'USDT_FAST has no value, or 5' "$cc -DUSDT_FAST=10" $cc -DUSDT_FAST=10 -xc
done
wrong_file 'GCC and clang only' "a compiler that is neither" clang -fgnuc-version=0 -xc
done_testing
