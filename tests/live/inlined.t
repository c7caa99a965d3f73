#!/usr/bin/env bash
# vars.NAME on lines whose code is inlined: the variable that the text around the line means, as the program itself logs it.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"
version=$("$bpftrace" --version | sed 's/.*v0\.\([0-9]*\).*/\1/')
if [ "$version" -lt 20 ]; then
	skip "inlined" "this bpftrace attaches only to entries"
	done_testing
	exit
fi

cat >"$tmp/scale.h" <<'END'
static inline int scale(int v, int k)
{
	int n = v * k;
	if (n > 20)
		n -= v;
	return n;
}
END
cat >"$tmp/serve.c" <<'END'
#include <stdio.h>
#include "scale.h"
struct req { int id, len; };
__attribute__((noinline)) int serve(struct req *r, int k);
int serve(struct req *r, int k)
{
	int v = r->id * 1000;
	int s = scale(r->len, k);
	return v + s;
}
int main(void)
{
	struct req r;
	int total = 0;
	for (int i = 0; i < 4; i++) {
		r.id = i;
		r.len = 24 + i;
		total += serve(&r, i + 1);
		fprintf(stderr, "serve v=%d id=%d k=%d\nscale v=%d k=%d len=%d\n", i * 1000, i, i + 1, 24 + i, i + 1, 24 + i);
	}
	return total == 0;
}
END
cat >"$tmp/serve.bt" <<'END'
uprobe:__EXE__@serve.c:8 { printf("serve v=%d id=%d k=%d\n", vars.v, vars.r->id, vars.k); }
uprobe:__EXE__@scale.h:3 { printf("scale v=%d k=%d len=%d\n", vars.v, vars.k, vars.r->len); }
END

compare() { # BUILD...: of the two functions in one line each has its own variables, and the inner one those around it
	"$@" -g -o "$tmp/serve" "$tmp/serve.c" || { ok "$*: compiles" false; return; }
	"$live_sh" -q -c "$tmp/serve" -o "$tmp/trace" "$tmp/serve.bt" 2>"$tmp/messages"
	is "$(grep -E '^(serve|scale)' "$tmp/trace" | sort)" "$("$tmp/serve" 2>&1 | sort)" "$*: a line's variables are those of its function"
}
compare gcc -O2
if command -v clang >/dev/null; then compare clang -O2; fi

# --- a parameter that is stored some instructions later: gdb shows what was in its place before
cat >"$tmp/late.c" <<'END'
struct str { char *p; unsigned long n; };
__attribute__((noinline)) void use(struct str *s);
void use(struct str *s) { __asm__ volatile("" : : "r"(s) : "memory"); }
__attribute__((noinline)) unsigned long late(struct str s, unsigned long k);
unsigned long late(struct str s, unsigned long k)
{
	unsigned long sum = k * 3;
	use(&s);
	sum += s.n;
	return sum;
}
int main(void) { return late((struct str){(char *)501, 3}, 7) == 0; }
END
if command -v clang >/dev/null; then
	clang -Os -g -o "$tmp/late" "$tmp/late.c"
	echo 'uprobe:__EXE__@late.c:7 { printf("%d\n", vars.s.n); }' >"$tmp/late.bt"
	echo 'uprobe:__EXE__@late.c:9 { printf("%d %d\n", vars.s.n, (uint64)vars.s.p); }' >"$tmp/stored.bt"
	like "$("$btgen" check -x "$tmp/late" "$tmp/late.bt" 2>&1)" 'cannot read variable s at .*: the function has not stored it yet' \
		"what the function has not stored is refused"
	"$live_sh" -q -c "$tmp/late" -o "$tmp/trace" "$tmp/stored.bt" 2>"$tmp/messages"
	is "$(grep . "$tmp/trace")" "3 501" "and is there after its first call"
fi

# --- a hint is a place of the same file that can be pasted
if command -v g++ >/dev/null; then
	cat >"$tmp/box.cc" <<'END'
namespace acme {
struct box { int n; int grow(int by); };
}
__attribute__((noinline)) void use(int *p);
void use(int *p) { __asm__ volatile("" : : "r"(p) : "memory"); }
__attribute__((noinline)) int acme::box::grow(int by)
{
	n += by;
	int left = n * 3;
	use(&left);
	return left + by;
}
static int twice(int once)
{
	auto both = [&](int k) {
		return once + k;
	};
	return both(once);
}
int main() { twice(15); acme::box b = {7}; return b.grow(4) != 37; }
END
	g++ -O0 -g -o "$tmp/box" "$tmp/box.cc"
	echo 'uprobe:__EXE__@box.cc:8 { print(vars.left); }' >"$tmp/box.bt"
	near=$("$btgen" check -x "$tmp/box" "$tmp/box.bt" 2>&1 | grep -oE "_Z[0-9a-zA-Z_]+[+]0x[0-9a-f]+" | head -n 1)
	"$live_sh" -q -c "$tmp/box" -o "$tmp/trace" -e "uprobe:__EXE__:$near { printf(\"%d\", vars.left); }" 2>"$tmp/messages"
	is "$(grep . "$tmp/trace")" 33 "the nearest place, of C++, can be pasted: $near"
	"$live_sh" -q -c "$tmp/box" -o "$tmp/trace" -e 'uprobe:__EXE__@box.cc:16 { printf("%d", *vars.once); }' 2>"$tmp/messages"
	is "$(grep . "$tmp/trace")" 15 "what a lambda has captured"
fi
# --- an inlined lambda: gcc has where it is declared at its type alone; the line that calls it is the caller's
if command -v g++ >/dev/null; then
	cat >"$tmp/lambda.cc" <<'END'
#include <stdio.h>
static volatile long seen;
static int entries[4] = {3, 5, 7, 11};
__attribute__((noinline)) static long total(long k, int n)
{
	long sum = k;
	auto add = [&](int k) {
		int n = entries[k & 3] + k;
		fprintf(stderr, "inner k=%d n=%d\n", k, n);
		sum += n;
		return sum;
	};
	fprintf(stderr, "outer k=%ld n=%d\n", k, n);
	seen = add((int)sum & 15);
	return sum + n;
}
int main(void)
{
	long all = 0;
	for (int i = 0; i < 4; i++)
		all += total(i * 10, i);
	return all == 0;
}
END
	cat >"$tmp/lambda.bt" <<'END'
uprobe:__EXE__@lambda.cc:9 { printf("inner k=%d n=%d\n", vars.k, vars.n); }
uprobe:__EXE__@lambda.cc:14 { printf("outer k=%d n=%d\n", vars.k, vars.n); }
END
	for build in "g++ -Os" "g++ -O2" "clang++ -O2"; do
		command -v "${build% *}" >/dev/null || continue
		$build -g -o "$tmp/lambda" "$tmp/lambda.cc"
		"$live_sh" -q -c "$tmp/lambda" -o "$tmp/trace" "$tmp/lambda.bt" 2>"$tmp/messages"
		is "$(grep -E '^(inner|outer)' "$tmp/trace" | sort -u)" "$("$tmp/lambda" 2>&1 | sort -u)" "$build: a line of a lambda has its variables, and the line that calls it those around"
	done
	# Of one that is folded nothing is left but lines: its variables are none of the function around it.
	cat >"$tmp/fold.cc" <<'END'
#include <stdio.h>
__attribute__((noinline)) static void use(const void *p) { __asm__ volatile("" : : "r"(p) : "memory"); }
__attribute__((noinline)) static long fold(long v, long s)
{
	unsigned long acc = 10;
	use(&v);
	auto pick = [&](int k) {
		acc = acc * 3 + (long)k;
		long s = v * 2;
		return k + k;
	};
	acc ^= (long)pick((int)acc & 255);
	return (long)acc + s + v;
}
int main(int argc, char **argv) { return fold(argc + 100, argc) == 0; }
END
	for build in "g++ -Os" "g++ -O2" "clang++ -O2"; do
		command -v "${build% *}" >/dev/null || continue
		$build -g -o "$tmp/fold" "$tmp/fold.cc"
		unlike "$("$btgen" expand --for 0.27 -x "$tmp/fold" -e 'uprobe:__EXE__@fold.cc:10 { print(vars.s); }' 2>&1)" 'reg\(' "$build: s of a folded lambda is not that of its function"
	done
fi
# --- two copies that begin at one instruction: the name means its own variable
cat >"$tmp/nest.c" <<'END'
volatile int sink, other;
static inline __attribute__((always_inline)) void inner(int n) { sink = n; other = n; }
static inline __attribute__((always_inline)) int outer(int n, int m) { inner(m); sink = n; return n + m; }
__attribute__((noinline)) int work(int k, int l) { int r = outer(k, l); sink = r; return r + l; }
int main(void) { sink = work(5, 105); }
END
gcc -O2 -g -o "$tmp/nest" "$tmp/nest.c"
for f in "outer 5" "inner 105"; do
	"$live_sh" -q -c "$tmp/nest" -o "$tmp/trace" -e "uprobe:__EXE__:${f% *} { printf(\"%d\", vars.n); }" 2>"$tmp/messages"
	is "$(grep . "$tmp/trace")" "${f#* }" "a copy in a copy of C: vars.n of ${f% *}()"
done
"$live_sh" -q -c "$tmp/nest" -o "$tmp/trace" -t uprobe:outer -t uprobe:inner 2>"$tmp/messages"
like "$(sed 's/.* uprobe:/uprobe:/' "$tmp/trace" | sort | tr '\n' ';')" '^uprobe:inner n=105;uprobe:outer( n=5 m=105)?;$' "-t: parameters of copies, and never the inner one's for the outer's"
# --- what -t prints of copies is theirs, also where the first instruction is outside of the copy, as with gcc -O1
cat >"$tmp/copies.c" <<'END'
#include <stdio.h>
volatile int sink;
static inline __attribute__((always_inline)) int addup(int n, const char *s, long m) { printf("addup n=%d s=\"%s\" m=%ld\n", n, s, m); sink = n; return n + s[0] + m; }
static inline __attribute__((always_inline)) int wrap(int q, unsigned char c) { printf("wrap q=%d c=%d\n", q, c); return addup(q + 1, "text", c); }
__attribute__((noinline)) int work(int k) { int r = wrap(k * 2, k + 3); return r + addup(k, "other", -k); }
int main(void) { for (int i = 1; i < 4; i++) sink = work(i * 10); }
END
for build in 'gcc -O0' 'gcc -O1' 'gcc -O2' 'clang -O2'; do
	$build -g -o "$tmp/copies" "$tmp/copies.c" || continue
	"$tmp/copies" | awk '{ for (i = 2; i <= NF; i++) print $1, $i }' | sort >"$tmp/want"
	"$live_sh" -c "$tmp/copies" -o "$tmp/trace" -t uprobe:addup -t uprobe:wrap 2>"$tmp/messages" >/dev/null
	sed -n 's/.* uprobe://p' "$tmp/trace" | awk '{ for (i = 2; i <= NF; i++) if ($i !~ /=[?]$/) print $1, $i }' | sort >"$tmp/got"
	is "$(comm -23 "$tmp/got" "$tmp/want") $(grep -c 'uprobe:addup' "$tmp/trace") $(grep -c 'uprobe:wrap' "$tmp/trace")" " 6 3" "$build: -t prints each copy, and no argument of another"
	is "$(grep -c 'copies of addup() are traced, without arguments' "$tmp/messages")" "$((! $(grep -c '^addup' "$tmp/got")))" "... and reports that there are none only if so"
done
# --- a row of the line table without a scope, as gcc leaves of an inlined function that throws: its n is not that of main()
cat >"$tmp/lost.c" <<'END'
volatile int sink;
static inline __attribute__((always_inline)) int twice(int n) { return n * 2; }
static inline __attribute__((always_inline)) int lost(int n)
{
	int k = n + 1;
	return k;
}
__attribute__((noinline)) static int later(int n, int k, int m) { sink = lost(n) + k; __asm__ volatile(".loc 1 6\n\tnop" : : "r"(n), "r"(k)); sink = k; return n + twice(k) + m; }
int main(void) { return later(5, 6, 7) == 0; }
END
gcc -O1 -g -o "$tmp/lost" "$tmp/lost.c"
for name in n k; do
	like "$("$btgen" check -x "$tmp/lost" -e "uprobe:__EXE__@lost.c:6 { print(vars.$name); }" 2>&1)" "cannot read variable $name at .*lost.c:6\): it is optimized out" "vars.$name of a function that is not there"
done
done_testing
