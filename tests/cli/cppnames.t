#!/usr/bin/env bash
# Names of C++ functions as nm -C prints them, pasted in quotes, and shorter ones: the oracle is nm, which has the addresses.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

command -v g++ >"$tmp/which" || skip_all "no g++"
command -v nm >"$tmp/which" || skip_all "no nm"

cat >"$tmp/app.cc" <<'END'
#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>
namespace acme {
struct item { std::string name; int n; bool operator<(const item &o) const { return n < o.n; } };
template<typename T> T put(T x, T y) { return x + y; }
template<typename T> T get(T x) { return x; }
inline int get(int x) { return x + 1; }
static inline __attribute__((always_inline)) int hide(int x) { return x + 1; }
template<typename T> T hide(T x) { return x; }
template<typename T> struct box {
	T v;
	struct in { int deep(int k) { return k; } };
	explicit box(T x) : v(x) { if (x > 100) v = 100; }
	~box() { v = 0; }
	T get(int k) const { return v + k; }
	bool operator<(const box &o) const { return v < o.v; }
	operator int() const { return 7; }
	template<typename U> U as(U) { return U(v); }
};
namespace { int hidden(int x) { return x * 2; } }
template<typename F> auto apply(F f, int n) -> decltype(f(n)) { return f(n); }
std::vector<item> make(int n) { std::vector<item> v; v.push_back({std::to_string(n), n}); std::sort(v.begin(), v.end()); return v; }
std::function<int(int)> adder(int k) { return [k](int x) { return x + k; }; }
}
std::string join(const std::vector<acme::item> &v) { std::string s; for (auto &i : v) s += i.name; return s; }
int main()
{
	std::map<std::string, std::vector<int>> m;
	m["a"].push_back(1);
	auto next = [](auto x) { return x + 1; };
	acme::box<int> b(1);
	acme::box<long> c(2);
	acme::box<int>::in i;
	acme::box<long>::in j;
	return acme::get(1) + acme::get<int>(1) + acme::hide(1) + acme::hide<int>(1) + acme::put(1, 2) + acme::put(1L, 2L) + acme::hidden(1) + acme::apply(next, 1) + int(next(2.5)) + b.get(1) + c.get(1) + int(b) + int(c) +
		acme::adder(1)(2) + join(acme::make(3)).size() + (b < b) + (c < c) + i.deep(1) + j.deep(1) + b.as(2L) + c.as(2);
}
END
g++ -O0 -g -std=c++17 -o "$tmp/app" "$tmp/app.cc" || exit 1

# places NAME...: the addresses of each name's attach points, by number
places() {
	printf '%s\n' "$@" | awk '{ gsub(/"/, "\\\""); printf "uprobe:__EXE__:\"%s\" { @[%d] = count(); }\n", $0, NR }' >"$tmp/all.bt"
	"$btgen" expand -x "$tmp/app" "$tmp/all.bt" >"$tmp/program" || return
	awk 'NR == FNR { at[$3] = $1; next } / @\[[0-9]+\]/ {
		match($0, /@\[[0-9]+\]/); n = substr($0, RSTART + 2, RLENGTH - 3); sub(/ *\{.*/, ""); gsub(/"/, "")
		for (i = split($0, all, ", "); i; i--) { sub(/.*:/, "", all[i]); print n, all[i] in at ? at[all[i]] : all[i] }
	}' <(nm "$tmp/app") <(sed 's/} uprobe/}\nuprobe/g' "$tmp/program") | sort -u
}
# the same for names of which nm -C prints what a pattern matches
listed() {
	local n=0 one
	for one; do n=$((n + 1)) && nm -C "$tmp/app" | sed -nE "s/^([0-9a-f]{16}) [tTwW] ($one)\$/$n \\1/p"; done | sort -u
}

nm -C "$tmp/app" | sed -nE 's/^[0-9a-f]{16} [tTwW] (.*\(.*)/\1/p' | sort -u >"$tmp/names"
mapfile -t names <"$tmp/names"
ok "a program of containers and lambdas has many names (${#names[@]})" test ${#names[@]} -gt 200
places "${names[@]}" >"$tmp/got"
awk 'NR == FNR { number[$0] = FNR; next } match($0, /^[0-9a-f]+ [tTwW] /) { name = substr($0, RLENGTH + 1); if (name in number) print number[name], $1 }' \
	"$tmp/names" <(nm -C "$tmp/app") | sort -u >"$tmp/want"
is "$(cat "$tmp/got")" "$(cat "$tmp/want")" "each in quotes is that function and no other: results, lambdas, constructors of std"

is "$(places acme::box::get acme::box::in::deep 'acme::box::operator<' 'acme::box::operator int' acme::box::as acme::box::box 'acme::box::~box' acme::put)" \
	"$(listed 'acme::box<.*>::get\(.*' 'acme::box<.*>::in::deep\(.*' 'acme::box<.*>::operator<\(.*' 'acme::box<.*>::operator int\(.*' \
		'.* acme::box<.*>::as<.*' 'acme::box<[a-z]*>::box\(.*' 'acme::box<[a-z]*>::~box\(.*' '.* acme::put<.*')" \
	"a class template without arguments is all instances"
is "$(places 'acme::box<int>::get' 'acme::box<int>::as' 'acme::box<long>::in::deep(int)')" \
	"$(listed 'acme::box<int>::get\(.*' '.* acme::box<int>::as<.*' 'acme::box<long>::in::deep\(.*')" "... with them it is one"
is "$(places 'acme::get(int)')" "$(listed 'acme::get\(int\)')" "parameters without a template's arguments: the function that is no instance"
is "$("$btgen" expand -x "$tmp/app" -e 'uprobe:__EXE__:"acme::hide(int)" { @ = 1; }' 2>&1 | head -n 1)" \
	"<command line>:1:1: error: no function acme::hide(int) in $tmp/app" "... also where that function is only inlined"
for name in join 'join[abi:cxx11]' 'join(std::vector<acme::item, std::allocator<acme::item> > const&)'; do
	is "$(places "$name")" "$(listed 'join.*')" "a tag of the ABI may be written: $name"
done

# A class that no script can name: its members are read, a copy is an error, which bpftrace would only report of the next member.
of_box() { "$btgen" expand -x "$tmp/app" -e 'uprobe:__EXE__:"acme::box<int>::get" { '"$1"' }' 2>&1 | grep -oE 'error: .*|@ = .*' | head -n 1; }
like "$(of_box '@ = (*args.this).v;')" '^@ = .*\*\(uint32 \*\)' "a member of *this of a template's instance"
is "$(of_box '$o = *args.this; @ = $o.v;')" "error: bpftrace cannot copy struct acme::box<int>, whose name no script can spell: use a pointer" "a copy of one is an error"

done_testing
