#!/usr/bin/env bash
# Where a probe may stand: any statement of C and C++, under strict warnings, in each standard; and a debugger that stops at it
# shows the program's line, not the header's.
. "$(dirname "$0")/../lib.sh"
# shellcheck disable=SC2154 # top, tmp, btgen: lib.sh

include="-I$top/include"
cd "$tmp" || exit

# --- warnings

cat >strict.c <<'EOP'
#include <btgen/usdt.h>
enum colour { RED, BLUE = 70000 };
struct item { int id; unsigned bits : 3; enum colour colour; const char *name; struct item *next; char text[8]; };
USDT_SEMA_DEFINE(mine);
USDT_DOC(k, all, "each kind");
int all(struct item *it, float f, const volatile unsigned char *p, int (*fn)(int));
int all(struct item *it, float f, const volatile unsigned char *p, int (*fn)(int))
{
	int n = it->id;
	USDT_PROBE(k, none);
	USDT_PROBE(k, all, n, it->bits, it->colour, it->name, it->text, *it->next->text, USDT_BITS(f), *p, fn, &n);
	if (n)
		USDT_PROBE(k, named, USDT_ARG(-n, "minus"), USDT_ARG(n + 1, "more", "one more", "items"), it, 1L);
	else
		USDT_PROBE_LAZY(k, lazy, fn(n), "text");
	if (USDT_SEMA_ENABLED(mine))
		USDT_PROBE_SEMA(mine, k, sema, n);
	return USDT_ENABLED(k, lazy) + n;
}
EOP
cp strict.c strict.cc
both="-g -Werror -Wall -Wextra -Wshadow -Wconversion -Wsign-conversion -Wundef -Wcast-qual -Wwrite-strings -Wpointer-arith -Wvla \
	-Wformat=2 -Wredundant-decls -Wmissing-declarations"
c="$both -Wstrict-prototypes -Wmissing-prototypes -Wdeclaration-after-statement -Wnested-externs"
kernel="-O2 -ffreestanding -fno-pie -mno-red-zone -mcmodel=kernel -fno-common -fno-strict-aliasing"
[ "$(uname -m)" = x86_64 ] || kernel="-O2 -ffreestanding"

strict() { # COMPILER STANDARD FLAGS...: in each of these ways; a third of them
	local cc=$1 std=$2 src=strict.c how out wrong=
	shift 2
	in_third || return
	command -v "$cc" >/dev/null || { skip "$cc -std=$std" "no $cc"; return; }
	[[ $cc != *++ ]] || src=strict.cc
	for how in -O0 -O2 "-O2 -DUSDT_DISABLE" "$kernel"; do
		# shellcheck disable=SC2086
		out=$($cc -std=$std $how "$@" "$include" -c -o strict.o $src 2>&1) || wrong+="$how: $(head -n 3 <<<"$out")"
	done
	is "$wrong" "" "$cc -std=$std: nothing to warn of, as strictly as one may ask, as a kernel is built, too"
}
# shellcheck disable=SC2086
for cc in gcc clang; do
	strict $cc gnu89 -Werror -Wall -Wextra -Wshadow -Wconversion -Wundef -Wdeclaration-after-statement
	for std in c99 c11 gnu17 c2x; do strict $cc $std $c -Wpedantic; done
done
# shellcheck disable=SC2086
for cc in g++ clang++; do
	for std in c++11 gnu++14 c++17 c++20; do strict $cc $std $both -Wpedantic -fno-exceptions -Wzero-as-null-pointer-constant; done
done

# --- places

cat >places.cc <<'EOP'
#include <btgen/usdt.h>
struct item { int id; int bits : 3; const char *name; };
int sink;
#if __cplusplus >= 202002L
constexpr int twice(int x)
{
	if (!__builtin_is_constant_evaluated())
		USDT_PROBE(p, in_constexpr, x);
	return 2 * x;
}
static_assert(twice(4) == 8, "");
#else
int twice(int x) { USDT_PROBE(p, in_constexpr, x); return 2 * x; }
#endif
template <class T> T variable = T(7);
template <class T> T tmpl(T v) { USDT_PROBE(p, in_template, v, variable<T>, sizeof(T)); USDT_PROBE_LAZY(p, lazy, v); return v; }
struct base {
	virtual ~base() {}
	virtual int get() const noexcept { USDT_PROBE(p, method, this); return 1; }
};
struct derived : base {
	int m;
	derived(int i) : m(i) { USDT_PROBE(p, constructor, m, this); }
	~derived() override { USDT_PROBE(p, destructor, m); }
	int get() const noexcept override { USDT_PROBE(p, overridden, m); return m; }
	int operator()(int x) { USDT_PROBE(p, call, x, this->m); return x; }
};
namespace a { namespace b { inline int deep(int x) { USDT_PROBE(p, nested, x); return x; } } }
namespace { int hidden(int x) { USDT_PROBE(p, anonymous, x); return x; } }
int run(int n, const char *text, item *it);
int run(int n, const char *text, item *it)
{
	auto l = [=, &it](int k) mutable { USDT_PROBE(p, lambda, k, n, it->id, text); n++; return k; };
	auto g = [](auto v) { USDT_PROBE(p, generic_lambda, v); return v; };
	__asm__ __volatile__("990:\tnop\n1: nop\n" ::: "memory");
	USDT_PROBE(p, next_to_asm, n);
	__asm__ __volatile__("1:\tnop" : "+r"(n));
again:
	USDT_PROBE(p, after_label, n);
	if (n > 1000)
		goto again;
	if (n)
		USDT_PROBE(p, one, n);
	else
		USDT_PROBE(p, other, n);
	for (int i = 0; i < 2; i++)
		USDT_PROBE(p, loop, i, it->bits);
	switch (n) {
	case 1: USDT_PROBE(p, in_case, n); break;
	default: USDT_PROBE_LAZY(p, in_default, n);
	}
	USDT_PROBE(p, same_line, n); USDT_PROBE(p, same_line, n);
	if (USDT_ENABLED(p, in_default))
		sink++;
	derived d(n);
	const base &as_base = d;
	return l(1) + g(2) + tmpl(3) + (int)tmpl(4L) + a::b::deep(n) + hidden(n) + d(n) + as_base.get() + base().get() + twice(n);
}
int main(int argc, char **argv) { item it = {argc, 1, argv[0]}; return run(argc, argv[0], &it) == 0; }
EOP
want='p:after_label(int [n]) -
p:anonymous(int [x]) -
p:call(int [x], int [this->m]) -
p:constructor(int [m], struct derived * [this]) -
p:destructor(int [m]) -
p:generic_lambda(int [v]) -
p:in_case(int [n]) -
p:in_constexpr(int [x]) -
p:in_default(int [n]) sema
p:in_template(int [v], int [variable<T>], unsigned long [sizeof(T)]) -
p:in_template(long [v], long [variable<T>], unsigned long [sizeof(T)]) -
p:lambda(int [k], int [n], int [it->id], const char * [text]) -
p:lazy(int [v]) sema
p:lazy(long [v]) sema
p:loop(int [i], int [it->bits]) -
p:method(const struct base * [this]) -
p:nested(int [x]) -
p:next_to_asm(int [n]) -
p:one(int [n]) -
p:other(int [n]) -
p:overridden(const int [m]) -
p:same_line(int [n]) -'
sites() { "$top/tests/header/sites.py" "$btgen" "$1" | sed 's/ [^ ]*:[0-9]*$//' | LC_ALL=C sort -u; }
for how in "g++ -std=c++14 -O0" "g++ -std=c++20 -O0" "g++ -std=c++17 -O1 -fno-exceptions -fno-rtti" "clang++ -std=c++14 -O1 -fno-exceptions" \
	"clang++ -std=c++20 -O0"; do
	command -v "${how%% *}" >/dev/null || { skip "$how" "no ${how%% *}"; continue; }
	# shellcheck disable=SC2086
	$how -g -Wall -Wextra -Wpedantic -Wshadow -Werror "$include" -o places places.cc && ./places ||
		{ ok "$how: compiles and runs" false; continue; }
	is "$(sites places | sed 's/const int \[m\]/int [m]/')" "${want//const int \[m\]/int [m]}" \
		"$how: lambdas, templates, methods, labels, beside other asm; their types are known"
done

cat >coroutine.cc <<'EOP'
#include <btgen/usdt.h>
#include <coroutine>
struct task {
	struct promise_type {
		int v = 0;
		task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
		std::suspend_always initial_suspend() noexcept { return {}; }
		std::suspend_always final_suspend() noexcept { return {}; }
		std::suspend_always yield_value(int x) { v = x; return {}; }
		void return_void() {}
		void unhandled_exception() {}
	};
	std::coroutine_handle<promise_type> h;
};
task count(int n, const char *name)
{
	for (int i = 0; i < n; i++) {
		USDT_PROBE(p, step, i, name);
		co_yield i;
		USDT_PROBE_LAZY(p, lazy, i, n);
	}
}
int main()
{
	int n = 0;
	task t = count(3, "abc");
	for (t.h.resume(); !t.h.done(); t.h.resume())
		n += t.h.promise().v;
	t.h.destroy();
	return n != 3;
}
EOP
for how in "g++ -O0" "g++ -O2" "clang++ -O0" "clang++ -O2"; do
	command -v "${how%% *}" >/dev/null || { skip "$how: a coroutine" "no ${how%% *}"; continue; }
	# shellcheck disable=SC2086
	$how -std=c++20 -g -Wall -Wextra "$include" -o coroutine coroutine.cc 2>err || { skip "$how: a coroutine" "$(head -n 1 err)"; continue; }
	ok "$how: a coroutine with probes runs" ./coroutine
	is "$(sites coroutine)" "p:lazy(int [i], int [n]) sema
p:step(int [i], const char * [name]) -" "... and has their types"
done

if [ "$(uname -m)" = x86_64 ] && command -v g++ >/dev/null; then
	ok "g++ -masm=intel: a lazy probe" g++ -masm=intel -std=c++14 -O1 -w "$include" -o places places.cc
fi

# GNU extensions as arguments: in C++ neither may become an argument of a template.
cat >extensions.cc <<'EOP'
#include <btgen/usdt.h>
int main(int argc, char **)
{
	char local[argc + 3];
	local[0] = 0;
	USDT_PROBE(p, extensions, local, ({ int q = argc; q + 1; }), __func__, &&out);
out:
	return local[0];
}
EOP
for cc in g++ clang++; do
	command -v $cc >/dev/null || continue
	$cc -std=gnu++17 -O1 -g -w "$include" -o extensions extensions.cc 2>err && ./extensions
	is "$? $(head -n 2 err)" "0 " "$cc: an array of variable length, a statement expression, a label's address"
done

# A constant expression has no place for a nop.
cat >constexpr.cc <<'EOP'
#include <btgen/usdt.h>
constexpr int twice(int x) { USDT_PROBE(p, in_constexpr, x); return 2 * x; }
EOP
for cc in g++ clang++; do
	command -v $cc >/dev/null || continue
	$cc -std=c++20 "$include" -fsyntax-only constexpr.cc >err 2>&1
	like "$(cat err)" 'constexpr.cc:2:|inline assembly is not a constant expression' "$cc: a constexpr function must ask whether it is evaluated by the compiler"
	ok "$cc: compiled out it is one as it stands" $cc -std=c++20 "$include" -DUSDT_DISABLE -fsyntax-only constexpr.cc
done

# --- gdb

cat >stop.c <<'EOP'
#include <btgen/usdt.h>
struct item { int id; const char *name; float w; };
static void work(struct item *it, int n)
{
	n += it->id;
	USDT_PROBE(p, first, it->name, n, USDT_BITS(it->w));
	n *= 2;
	USDT_PROBE_LAZY(p, second, it, n);
}
int main(int argc, char **argv) { struct item it = { argc, argv[0], 1.5f }; work(&it, argc); return 0; }
EOP
cp stop.c stop.cc
for how in "gcc -O0" "gcc -O2" "clang -O0" "clang -O2" "g++ -O0" "g++ -O2" "clang++ -O0"; do
	cc=${how%% *} src=stop.c line=6
	command -v "$cc" >/dev/null && command -v gdb >/dev/null || { skip "$how: gdb stops" "no $cc or no gdb"; continue; }
	[[ $cc != *++ ]] || src=stop.cc
	[ "$how" != "clang -O2" ] || line='[56]' # one instruction of both lines
	# shellcheck disable=SC2086
	$how -g "$include" -o stop $src
	guard gdb -nx -batch -ex 'info probes stap p' -ex 'break -probe-stap p:first' -ex run -ex 'frame' -ex step -ex step ./stop \
		>out 2>&1 </dev/null
	like "$(sed -n 's/^#0 //p' out)" " work .* at $src:$line\$" "$how: gdb stops in the program's line"
	is "$(grep -c 'usdt\.h' out) $(grep -c '^stap' out)" "0 2" "... its steps never lead into the header, and it lists both probes"
done
done_testing
