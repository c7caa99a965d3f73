#!/usr/bin/env bash
# What a probe costs while nobody traces: the instructions of <sys/sdt.h>, no loaded byte for types and names, and
# nothing at all when compiled out.
. "$(dirname "$0")/../lib.sh"
# shellcheck disable=SC2154 # top, tmp: lib.sh

include="-I$top/include"
drop_in="-I$top/include/btgen/compat"
has_original=no
gcc -E -xc - <<<'#include <sys/sdt.h>' >/dev/null 2>&1 && has_original=yes

# code FILE: its instructions, without addresses
code() {
	objdump -d --no-show-raw-insn "$1" | sed -n 's/^ *[0-9a-f]*:\t//p' |
		sed 's/ *#.*//; s/<[^>]*>//; s/\<[0-9a-f]\{1,6\} *$//; s/[ \t]*$//'
}

# loaded FILE: bytes in loaded segments, counted by `size`
loaded() {
	size "$1" | awk 'NR == 2 { print $1 + $2 + $3 }'
}

cat >"$tmp/r.c" <<'EOF'
#include <sys/sdt.h>
struct s { long a; int b; };
int registers(int a, unsigned char b, const char *str, struct s *s)
{
	DTRACE_PROBE(p, none);
	DTRACE_PROBE4(p, four, a, b, str, s);
	STAP_PROBE6(p, six, a, 5, -1L, str, (void *)0, s);
	return a + b;
}
EOF
cat >"$tmp/l.c" <<'EOF'
#include <sys/sdt.h>
long loop(const long *v, long n, long *out)
{
	long sum = 0;
	for (long i = 0; i < n; i++) {
		DTRACE_PROBE2(p, step, i, sum);
		sum += v[0] + v[1] + *out; /* not read again after the probe */
	}
	return sum;
}
EOF
if [ $has_original = yes ]; then
	for opt in -O1 -O2 -O3 -Os; do
		gcc $opt -g -w -c -o "$tmp/real.o" "$tmp/r.c"
		gcc $opt -g "$drop_in" -c -o "$tmp/ours.o" "$tmp/r.c"
		is "$(code "$tmp/ours.o")" "$(code "$tmp/real.o")" \
			"gcc $opt: arguments in registers and constants: the instructions of the original"
		is "$(loaded "$tmp/ours.o")" "$(loaded "$tmp/real.o")" "gcc $opt: types and names add no byte to what is loaded"
	done
	gcc -O2 -g -w -c -o "$tmp/real.o" "$tmp/l.c"
	gcc -O2 -g "$drop_in" -c -o "$tmp/ours.o" "$tmp/l.c"
	is "$(code "$tmp/ours.o" | grep -v nop | grep -c '(%r')" "$(code "$tmp/real.o" | grep -v nop | grep -c '(%r')" \
		"gcc -O2: nothing is read from memory again because of a probe in a loop"
	if command -v clang >/dev/null; then
		clang -O2 -g -w -c -o "$tmp/real.o" "$tmp/r.c"
		clang -O2 -g "$drop_in" -c -o "$tmp/ours.o" "$tmp/r.c"
		n=$(code "$tmp/ours.o" | wc -l) m=$(code "$tmp/real.o" | wc -l)
		ok "clang -O2: no more instructions than the original ($n, the original has $m)" [ "$n" -le "$m" ]
	fi
	cat >"$tmp/m.c" <<'EOF'
#include <sys/sdt.h>
struct s { long a; int b; };
void memory(struct s *s) { DTRACE_PROBE2(p, mem, s->a, s->b); }
EOF
	gcc -O2 -g -w -c -o "$tmp/real.o" "$tmp/m.c"
	gcc -O2 -g "$drop_in" -c -o "$tmp/ours.o" "$tmp/m.c"
	is $(($(code "$tmp/ours.o" | wc -l) - $(code "$tmp/real.o" | wc -l))) 2 "an argument in memory costs one load each"
	gcc -O2 -g "$drop_in" -DSTAP_SDT_ARG_CONSTRAINT=nor -c -o "$tmp/ours.o" "$tmp/m.c"
	is "$(code "$tmp/ours.o")" "$(code "$tmp/real.o")" "and nothing with the original's constraint (nor)"
else
	skip "the instructions of the original" "no <sys/sdt.h> (systemtap-sdt-dev)"
fi

# A template in a shared library: no symbol for the dynamic linker, no byte.
cat >"$tmp/t.cc" <<'EOF'
#include <btgen/usdt.h>
template <class T> T keep(T v) { USDT_PROBE(p, keep, v, sizeof(T)); return v; }
inline int also(int v) { USDT_PROBE(p, also, v); return v; }
long use(long a, short b) { return keep(a) + keep(b) + also(b); }
EOF
for cc in g++ clang++; do
	command -v $cc >/dev/null || { skip "$cc: a shared library" "no $cc"; continue; }
	for opt in -O0 -O2; do
		$cc -std=c++11 $opt -g "$include" -fPIC -shared -o "$tmp/t.so" "$tmp/t.cc"
		$cc -std=c++11 $opt -g "$include" -fPIC -shared -DUSDT_DISABLE -o "$tmp/off.so" "$tmp/t.cc"
		is "$(readelf -W --dyn-syms "$tmp/t.so" | awk '{ print $5, $8 }' | sort)" \
			"$(readelf -W --dyn-syms "$tmp/off.so" | awk '{ print $5, $8 }' | sort)" \
				"$cc $opt: a library exports nothing for its probes"
	done
done

# Compiled out.
cat >"$tmp/off.c" <<'EOF'
#ifdef WITH
#include <btgen/usdt.h>
USDT_SEMA_DEFINE(mine);
USDT_DOC(p, one, "never");
#else
#define USDT_PROBE(...) do { } while (0)
#define USDT_PROBE_LAZY(...) do { } while (0)
#define USDT_PROBE_SEMA(...) do { } while (0)
#define USDT_ENABLED(...) 0
#define USDT_SEMA_ENABLED(...) 0
#endif
int costly(int x);
int only_for_the_probe_is_fine(int a, int unused_but_for_the_probe, const char *s, double d)
{
	USDT_PROBE(p, one, a, s, costly(a), "text", a++);
	USDT_PROBE_LAZY(p, two, costly(a));
	USDT_PROBE_SEMA(mine, p, three, unused_but_for_the_probe);
	(void)unused_but_for_the_probe, (void)s, (void)d;
	if (USDT_ENABLED(p, two) || USDT_SEMA_ENABLED(mine))
		costly(a);
	return a;
}
EOF
cp "$tmp/off.c" "$tmp/off.cc"
for cc in gcc clang g++ clang++; do
	command -v $cc >/dev/null || { skip "$cc: compiled out" "no $cc"; continue; }
	src=off.c std=c11
	case $cc in *++) src=off.cc std=c++11 ;; esac
	for opt in -O0 -O2; do
		$cc -std=$std $opt -Wall -Wextra -Wshadow -pedantic -Werror "$include" -DWITH -DUSDT_DISABLE -c -o "$tmp/off.o" "$tmp/$src"
		$cc -std=$std $opt -c -o "$tmp/none.o" "$tmp/$src"
		is "$(size -A "$tmp/off.o" |
			awk '/^\.(text|data|bss|rodata|note|probes|stapsdt)/ && $2 { print $1, $2 }'; code "$tmp/off.o")" \
			"$(size -A "$tmp/none.o" |
				awk '/^\.(text|data|bss|rodata|note|probes|stapsdt)/ && $2 { print $1, $2 }'; code "$tmp/none.o")" \
			"$cc $opt -DUSDT_DISABLE: the code of a program without probes, no warning"
	done
	printf '#include <btgen/usdt.h>\nvoid f(void) { USDT_PROBE(p, n, no_such_variable); }\n' >"$tmp/bad.${src#off.}"
	not_ok "$cc -DUSDT_DISABLE: arguments are still checked" \
		$cc -std=$std "$include" -DUSDT_DISABLE -fsyntax-only "$tmp/bad.${src#off.}" 2>/dev/null
done

# Strict programs.
cat >"$tmp/strict.c" <<'EOF'
#include <btgen/usdt.h>
struct s { char name[8]; int v; const volatile int *cv; };
int strict(struct s *p, float f, void (*fn)(void));
USDT_SEMA_DEFINE(sema);
USDT_DOC(p, one, "when it happens");
int strict(struct s *p, float f, void (*fn)(void))
{
	USDT_PROBE(p, one, p->name, p->v, p->cv, fn, USDT_BITS(f), USDT_ARG(p, "all"));
	USDT_PROBE_LAZY(p, one, p->v);
	if (USDT_SEMA_ENABLED(sema))
		USDT_PROBE_SEMA(sema, p, two, p->v);
	return USDT_ENABLED(p, one);
}
EOF
cp "$tmp/strict.c" "$tmp/strict.cc"
strict="-O2 -Wall -Wextra -pedantic -Werror -Wshadow -Wconversion -Wsign-conversion -Wcast-qual -Wundef -Wredundant-decls -Wwrite-strings -Wpointer-arith -Wvla"
for how in "gcc -std=c11 -Wstrict-prototypes -Wdeclaration-after-statement -Wnested-externs" "clang -std=c11 -Wstrict-prototypes" \
	"g++ -std=c++11 -Wold-style-cast -Wuseless-cast -Wzero-as-null-pointer-constant" \
	"clang++ -std=c++11 -Wold-style-cast -Wzero-as-null-pointer-constant"; do
	command -v "${how%% *}" >/dev/null || { skip "$how" "no ${how%% *}"; continue; }
	src=strict.c
	case $how in *++*) src=strict.cc ;; esac
	# shellcheck disable=SC2086
	$how $strict "$include" -c -o "$tmp/strict.o" "$tmp/$src" >"$tmp/err" 2>&1
	is "$(head -n 5 "$tmp/err")" "" "$how: nothing to warn of"
done
done_testing
