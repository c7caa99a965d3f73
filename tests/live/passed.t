#!/usr/bin/env bash
# args.NAME of C++ functions that return classes, or take them by value: the program itself prints what it was called with.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"
[ "$(uname -m)" = x86_64 ] || skip_all "the registers are those of x86-64"

# Which register a parameter is in depends on what is returned, and on what is passed by value before it.
cat >"$tmp/passed.cc" <<'END'
#include <cstdio>
#include <string>
#include <memory>
#include <utility>
static void touch(const void *p) { __asm__ volatile("" : : "r"(p) : "memory"); }
template <typename... A> static int use(A &...a) { (touch(&a), ...); return 0; }
struct Two { int a, b; }; struct Three { int a[3]; }; struct Long { long a, b; }; struct Big { long a[3]; };
struct Real { double d; }; struct Mixed { double d; int n; }; struct Reals { float x, y, z; }; struct None {}; struct Bits { int a : 3, b : 9; };
struct Copies { int n; Copies(int k) : n(k) {} Copies(const Copies &o) : n(o.n) {} };
struct Moves { int n; Moves(int k) : n(k) {} Moves(Moves &&) = default; };
struct Defaulted { int n; Defaulted(int k) : n(k) {} Defaulted(const Defaulted &) = default; ~Defaulted() = default; };
struct Outside { int n; Outside(int k) : n(k) {} Outside(const Outside &); };
Outside::Outside(const Outside &) = default;
struct Ends { long n; ~Ends() { use(n); } }; struct Has { Ends e; }; struct Is : Ends {}; struct Virtual { virtual void f() { use(*this); } };
struct Slice { const char *p; long n; Slice(const char *s, long k) : p(s), n(k) {} Slice(const Slice &o, long from) : p(o.p + from), n(o.n - from) {} };
struct Assigned { int n; Assigned &operator=(Assigned &&) = delete; }; struct __attribute__((packed)) Across { long a : 40, b : 40; };
struct Parts : Two { Long l() { return {1, 2}; } }; union Either { long l; double d; };
template <typename T> struct Box { T v; Box(T x) : v(x) {} Box(const Box &o) : v(o.v) { use(v); } };
#define NOIPA extern "C" __attribute__((noinline, noclone))
#pragma GCC diagnostic ignored "-Wreturn-type-c-linkage"
#define RETURNS(name, type, value) NOIPA type name(int k, long m) { printf(#name " k=%d m=%ld\n", k, m); use(k, m); return value; }
#define TAKES(name, type) NOIPA int name(int k, type t, long m, short s) { printf(#name " k=%d m=%ld s=%d\n", k, m, s); return use(k, t, m, s); }
#define ALL(f, ...) f(two, Two, (Two{1, 2})) f(three, Three, (Three{{1, 2, 3}})) f(longs, Long, (Long{1, 2})) f(big, Big, (Big{{1, 2, 3}})) \
	f(real, Real, Real{1}) f(mixed, Mixed, (Mixed{1, 2})) f(reals, Reals, (Reals{1, 2, 3})) f(none, None, None()) f(bits, Bits, (Bits{1, 2})) \
	f(copies, Copies, Copies(1)) f(moves, Moves, Moves(1)) f(defaulted, Defaulted, Defaulted(1)) f(outside, Outside, Outside(1)) \
	f(ends, Ends, Ends{1}) f(has, Has, Has{1}) f(is, Is, Is()) f(virt, Virtual, Virtual()) f(slice, Slice, Slice("a", 1)) f(assigned, Assigned, Assigned{1}) f(across, Across, (Across{1, 2})) f(parts, Parts, Parts()) f(either, Either, Either{1}) \
	f(box, Box<short>, Box<short>(1)) f(text, std::string, std::string("a")) f(owner, std::unique_ptr<int>, std::make_unique<int>(1)) f(pair, PAIR, PAIR(1, 2))
typedef std::pair<int, long> PAIR;
#define R(n, t, v) RETURNS(r_##n, t, v)
#define T(n, t, v) TAKES(t_##n, t)
ALL(R) ALL(T)
NOIPA int t_floats(double a, int k, float b, Two t, Reals r, Mixed m, long l, Long last) { printf("t_floats k=%d l=%ld\n", k, l); return use(a, k, b, t, r, m, l, last); }
NOIPA int t_eight(None n, double a, double b, double c, double d, double e, double f, double g, Mixed m, int k) { printf("t_eight k=%d\n", k); return use(n, a, b, c, d, e, f, g, m, k); }
NOIPA int t_full(long a, long b, long c, long d, long e, Long none_left, int k) { printf("t_full e=%ld k=%d\n", e, k); return use(a, b, c, d, e, none_left, k); }
__attribute__((noinline)) int t_lost(Copies, int k, long m) { printf("t_lost k=%d m=%ld\n", k, m); return use(k, m); } // LLVM does not record the first
template <typename... A> __attribute__((noinline)) int t_pack(Copies, A... all, long m) { printf("t_pack m=%ld\n", m); return use(all..., m); }
template <typename... A> static __attribute__((noinline)) int t_hidden(int k, A... all, long m) { printf("t_hidden k=%d m=%ld\n", k, m); return use(k, all..., m); } // gcc has no symbol in DWARF
#define CALL(n, t, v) r_##n(i * 3 + 1, i - 70L); t_##n(i + 11, v, i * 1000L, (short)(-i - 1));
int main()
{
	for (int i = 0; i < 2; i++) {
		ALL(CALL)
		t_floats(1, i + 5, 2, Two{1, 2}, Reals{1, 2, 3}, Mixed{1, 2}, i - 9L, Long{1, 2});
		t_eight(None(), 1, 2, 3, 4, 5, 6, 7, Mixed{1, 2}, i + 3);
		t_lost(Copies(1), i + 5, i - 9L);
		t_hidden<int, short>(i, i + 1, i + 2, i - 8L);
		t_pack<int, short>(Copies(1), i, i, i - 8L);
		t_full(1, 2, 3, 4, i + 5L, Long{1, 2}, i + 6);
	}
}
END
for build in 'g++ -O0' 'g++ -O2' 'clang++ -O0' 'clang++ -O2' 'g++ -O0 -gdwarf-4' 'g++ -O1 -fdebug-types-section'; do
	read -ra words <<<"$build"
	command -v "${words[0]}" >/dev/null || continue
	"${words[@]}" -w -g -std=c++17 -o "$tmp/app" "$tmp/passed.cc" || { ok "$build: compiles" false; continue; }
	"$tmp/app" >"$tmp/answers"
	sort -u -k1,1 "$tmp/answers" | awk '{ for (i = 2; i <= NF; i++) { split($i, f, "="); print "uprobe:__EXE__:" $1 " { printf(\"" $1 " " f[1] "=%d\\n\", (int64)args." f[1] "); }" } }' >"$tmp/passed.bt"
	while refused=$("$btgen" check -x "$tmp/app" "$tmp/passed.bt" 2>&1 | sed -n 's/.*passed.bt:\([0-9]*\):[0-9]*: error: .*/\1d/p') && [ -n "$refused" ]; do
		sed -i "$refused" "$tmp/passed.bt" # what is read is what is meant
	done
	guard "$live_sh" --bpftrace "$bpftrace" -q -c "$tmp/app" -o "$tmp/trace" "$tmp/passed.bt" >/dev/null 2>"$tmp/messages"
	awk '{ for (i = 2; i <= NF; i++) print $1, $i }' "$tmp/answers" | sort >"$tmp/want"
	grep '^[rt]_' "$tmp/trace" | sort >"$tmp/got"
	is "$(comm -23 "$tmp/got" "$tmp/want")" "" "$build: no argument of a function that passes or returns a class is another"
	case $build in *-gdwarf-4) least=30 ;; *) least=96 ;; esac
	ok "... and most are read ($(wc -l <"$tmp/got") of $(wc -l <"$tmp/want"))" [ "$(wc -l <"$tmp/got")" -ge $((least * $(wc -l <"$tmp/want") / 100)) ]
done
done_testing
