#!/usr/bin/env bash
# What compilers make of one function of C++: thunks, two or three destructors, instances that are nowhere but in their callers. The
# program counts its own calls; a probe of the name counts as many.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"

cd "$tmp" || exit 1
cat >classes.h <<'END'
#define NOINLINE __attribute__((noinline))
namespace acme {
struct base { long a = 1; virtual ~base(); virtual base *copy(); };
struct other { long b = 2; virtual ~other(); virtual long second(long n); virtual other *same(); };
struct derived : base, other { ~derived() override; long second(long n) override; derived *copy() override; derived *same() override; };
struct shared { long d; shared(); virtual ~shared(); virtual long second(long n); };
struct sharing : virtual shared { long e; sharing(); explicit sharing(long n); ~sharing() override; long second(long n) override; };
struct plain { long f; ~plain(); };
struct chain { chain *next; explicit chain(long n); ~chain(); };
struct last : sharing { last(); };
struct node final : base { node *next; explicit node(node *n) : next(n) { } ~node() override; };
template<typename T> struct boxed { T v; virtual ~boxed(); };
}
extern volatile long base_end, other_end, derived_end, shared_end, sharing_end, plain_end, node_end, boxed_end, other_second, derived_second,
	sharing_second, copied, samed, shared_made, sharing_made, chain_made, last_made;
END
cat >classes.cc <<'END'
#include "classes.h"
volatile long base_end, other_end, derived_end, shared_end, sharing_end, plain_end, node_end, boxed_end, other_second, derived_second,
	sharing_second, copied, samed, shared_made, sharing_made, chain_made, last_made;
namespace acme {
shared::shared() : d(4) { ++shared_made; }
sharing::sharing() : e(5) { ++sharing_made; }
sharing::sharing(long n) : e(n) { ++sharing_made; }
last::last() : sharing(7) { ++last_made; }
chain::chain(long n) : next(nullptr) { ++chain_made; if (n > 0) next = new chain(n - 1); }
chain::~chain() { delete next; }
base::~base() { ++base_end; }
base *base::copy() { return this; }
other::~other() { ++other_end; }
long other::second(long n) { ++other_second; return n; }
other *other::same() { return this; }
derived::~derived() { ++derived_end; }
long derived::second(long n) { ++derived_second; return n + b; }
derived *derived::copy() { ++copied; return this; }
derived *derived::same() { ++samed; return this; }
shared::~shared() { ++shared_end; }
long shared::second(long n) { return n; }
sharing::~sharing() { ++sharing_end; }
long sharing::second(long n) { ++sharing_second; return n + e; }
plain::~plain() { ++plain_end; }
node::~node() { ++node_end; delete next; }
template<typename T> boxed<T>::~boxed() { ++boxed_end; }
template struct boxed<long>;
template struct boxed<char>;
}
END
cat >main.cc <<'END'
#include <cstdio>
#include <unistd.h>
#include "classes.h"
static volatile long twiced, mixed, waited, sink;
namespace acme {
template<typename T> static T twice(T v) { ++twiced; return v + v; }
template<> NOINLINE int twice<int>(int v) { ++twiced; return v + v; }
static NOINLINE long mix(long n) { ++mixed; return n; }
static NOINLINE long mix(double n) { ++mixed; return mix((long)n); }
struct made_late { long v; made_late() : v(getpid() > 0) { } };
thread_local made_late late;
}
using namespace acme;
NOINLINE static long waits(long n) { ++waited; return n + late.v; }
NOINLINE static long use(other *o, base *b, shared *s, long n)
{
	base *c = b->copy();
	other *same = o->same();
	return o->second(n) + s->second(n) + (c == b) + (same == o);
}
int main()
{
	for (long i = 0; i < 5; i++) {
		derived *d = new derived;
		sharing *s = new sharing, on_stack;
		other simple;
		plain here{i};
		boxed<long> box{};
		sink = sink + use(d, d, s, i) + use(&simple, d, s, i) + on_stack.second(i) + d->second(2) + waits(i);
		sink = sink + twice<long>(i) + twice<int>((int)i) + (long)twice<double>(1.5 * (double)i) + mix(1.0 * (double)i);
		delete new node(new node(i % 2 ? new node(nullptr) : nullptr));
		delete new boxed<char>;
		delete new chain(i);
		sink = sink + last().second(i);
		if (i % 2)
			delete (base *)d;
		else
			delete (other *)d;
		delete (shared *)s;
	}
#define SAY(name, n) printf("%s %ld\n", name, n)
	SAY("acme::base::~base", base_end), SAY("acme::other::~other", other_end), SAY("acme::derived::~derived", derived_end);
	SAY("acme::shared::~shared", shared_end), SAY("acme::sharing::~sharing", sharing_end), SAY("acme::plain::~plain", plain_end);
	SAY("acme::node::~node", node_end), SAY("acme::boxed<char>::~boxed", 5L), SAY("acme::boxed<long>::~boxed", boxed_end - 5);
	SAY("acme::other::second", other_second), SAY("acme::derived::second", derived_second), SAY("acme::sharing::second", sharing_second);
	SAY("acme::derived::copy", copied), SAY("acme::derived::same", samed), SAY("acme::twice", twiced), SAY("acme::mix", mixed);
	SAY("acme::shared::shared", shared_made), SAY("acme::sharing::sharing", sharing_made), SAY("acme::chain::chain", chain_made);
	SAY("acme::last::last", last_made), SAY("waits", waited);
}
END

# wrong FILE NAME...: runs ./app once; each name of that file whose count is not the program's, if there was no warning that it would not be
wrong() {
	local file=$1 name
	shift
	for name; do printf 'uprobe:%s:%s { @["%s"] = count(); }\n' "$file" "$name" "$name"; done >names.bt
	guard "$live_sh" --bpftrace "$bpftrace" -c ./app -o counted names.bt >truth 2>messages || cat messages
	sed -n 's/^@\[\(.*\)\]: \([0-9]*\)$/\1 \2/p' counted | sort >got
	sed -n 's/^names.bt:\([0-9]*\):.*warning: .* not seen by this probe.*/\1/p' messages | sort -u >missed
	awk 'NR == FNR { missed[$1]; next } !(FNR in missed) { print $2 " " }' missed <(printf 'x %s\n' "$@") >claimed
	grep -Ff claimed truth | grep -v ' 0$' | sort | diff - <(grep -Ff claimed got) | grep '^[<>]'
}

classes=(acme::{base::~base,other::~other,derived::~derived,shared::~shared,sharing::~sharing,plain::~plain,node::~node}
	"acme::boxed<long>::~boxed" "acme::boxed<char>::~boxed" acme::{other::second,derived::second,sharing::second,derived::copy,derived::same}
	acme::{shared::shared,sharing::sharing,chain::chain,last::last})
own=(acme::{twice,mix} waits)
inside=$("$btgen" run -n --bpftrace "$bpftrace" -x "$btgen" -e 'uprobe:__EXE__:main+4 { }' >/dev/null 2>&1 && echo yes)
for build in "g++ -O0" "g++ -O2" "g++ -Os" "g++ -O3 -flto" "g++ -O0 -fPIC" "g++ -O2 -fPIC" "clang++ -O0" "clang++ -O2" "clang++ -O0 -fPIC" \
	"clang++ -O2 -fPIC"; do
	in_third || continue
	# Where bpftrace attaches to entries only, most of these names have no place.
	[[ $build == *-O0* || $inside ]] || continue
	read -r compiler options <<<"$build"
	if ! command -v "$compiler" >/dev/null; then
		skip "$build" "no $compiler"
		continue
	fi
	if [[ $build == *-fPIC ]]; then
		# shellcheck disable=SC2086 # several options
		$compiler -g $options -shared -o libclasses.so classes.cc &&
			$compiler -g $options -o app main.cc -L. -lclasses -Wl,-rpath,"$tmp" || ok "$build: builds" false
		file=$tmp/libclasses.so
		is "$(wrong "$file" "${classes[@]}")" "" "$build: each call once, in a library"
	else
		# shellcheck disable=SC2086
		$compiler -g $options -o app main.cc classes.cc || ok "$build: builds" false
		file=__EXE__
		names=("${classes[@]}" "${own[@]}")
		# Of a copy that is there for several ways to it only one is traced.
		[[ $build != *-flto ]] || names=("${classes[@]:0:6}" "${classes[@]:7}" "${own[@]}")
		is "$(wrong $file "${names[@]}")" "" "$build: each call once"
		guard "$live_sh" --bpftrace "$bpftrace" -c ./app -o counted -t 'uprobe:acme::*' --count >truth 2>messages
		sed -nE 's/^@count\[uprobe:((non-)?virtual thunk to )?([^()]*)(\(.*\))?\]: ([0-9]+)$/\3 \5/p' counted | sed -E 's/(twice)<[a-z]*>/\1/' | awk '{ n[$1] += $2 } END { for (i in n) print i, n[i] }' | sort >got
		is "$(awk -v some="$(grep -c 'not seen' messages)" 'NR == FNR { n[$1] = $2; next } ($1 in n) && ($2 > n[$1] || (!some && $2 < n[$1]))' truth got)" "" \
			"$build: by a pattern no call twice, and all of them where none is said to be missed"
		guard "$live_sh" --bpftrace "$bpftrace" -c ./app -o counted -t 'uprobe:acme::other::~other' --count >truth 2>messages
		is "$(grep -q 'not seen' messages || awk '/^@count/ { n += $NF } END { print n }' counted)" \
			"$(grep -q 'not seen' messages || sed -n 's/acme::other::~other //p' truth)" "$build: by -t each call of a destructor, or it says what it misses"
		[[ $build == *-O0* ]] || continue
		is "$(grep 'acme::.* [1-9]' truth | sort | comm -23 - got)" "" "$build: each call once by a pattern, too, instances by their name"
		guard "$live_sh" --bpftrace "$bpftrace" -c ./app -o counted -t 'uprobe:*::twic?' --count >truth 2>messages
		is "$(awk '/^@count/ { n += $NF } END { print n }' counted)" "$(sed -n 's/acme::twice //p' truth)" "$build: a pattern finds instances without their arguments"
	fi
	if [[ $build == *-O0* ]]; then
		strip -g app libclasses.so 2>/dev/null
		is "$(wrong "$file" "${classes[@]}")" "" "$build: ... without debug information, too"
	fi
done
# gcc names all lambdas operator(), and has the line of their types alone.
cat >lambdas.cc <<'END'
#include <cstdio>
#define NOINLINE __attribute__((noinline))
static volatile long sink, ones, twos, others;
NOINLINE void one(int z) { auto l = [z](int n) NOINLINE { ++ones; sink = sink + n + z; }; l(z); }
NOINLINE void two(int z) { auto l = [z](auto n) NOINLINE { ++twos; sink = sink + n - z; }; l(z); l(z + 1); }
NOINLINE void other(int z) { auto l = [z](int n) { ++others; sink = sink + n * z; }; l(z); auto m = [z](auto n) { ++others; sink = sink - n * z; }; l(z); m(z); }
int main() { one(1); two(2); other(3); other(4); printf("one %ld\ntwo %ld\n", ones, twos); }
END
for build in "g++ -O1" "g++ -O2" "clang++ -O2"; do
	command -v "${build% *}" >/dev/null || continue
	$build -g -o lambdas lambdas.cc || exit 1
	guard "$live_sh" --bpftrace "$bpftrace" -c ./lambdas -o counted -t 'uprobe:lambdas:*operator()*' --count >truth 2>messages || cat messages
	is "$(grep -v 'other(\|uprobe:operator' counted | sed -n 's/^@count.*: //p' | sort)" "$(sed 's/.* //' truth)" "$build: a lambda does not count for another"
done
not_ok "what compilers add for a variable is no function of its name" eval "\"$btgen\" check -x app -e 'uprobe:__EXE__:acme::late { @ = count(); }' 2>/dev/null"
done_testing
