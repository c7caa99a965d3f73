#!/usr/bin/env bash
# -t, --calls and --count of a C++ program, in the words of its source: the program itself prints the names.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"

cat >"$tmp/names.cc" <<'END'
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>
#define NOIPA __attribute__((noinline))
#define SAY(name) puts(name)
volatile long sink;
namespace desk {
struct book {
	NOIPA void add(int n);
	NOIPA void add(const std::string &why);
	NOIPA void rename(const std::string &to);
	NOIPA void look() const;
	NOIPA void operator()(int n);
};
void book::add(int n) { SAY("desk::book::add(int)"); sink += n; }
void book::add(const std::string &why) { SAY("desk::book::add(std::string const&)"); sink += (long)why.size(); }
void book::rename(const std::string &to) { SAY("desk::book::rename"); sink += (long)to.size(); }
void book::look() const { SAY("desk::book::look"); sink++; }
void book::operator()(int n) { SAY("desk::book::operator()"); sink += n; }
NOIPA std::string make(int n) { SAY("desk::make"); return std::string((size_t)n, 'x'); }
NOIPA void join(const std::vector<std::string> &all, std::string_view by) { SAY("desk::join"); sink += (long)(all.size() + by.size()); }
template <class T> NOIPA void put(T v) { SAY("desk::put<std::string>"); sink += (long)v.size(); }
namespace { NOIPA void hide(int n) { SAY("desk::(anonymous namespace)::hide"); sink += n; } }
}
int main()
{
	setlinebuf(stdout);
	getchar();
	desk::book b;
	b.add(3); b.add("three"); b.rename("x"); b.look(); b(4); desk::make(5); desk::join({"a", "b"}, ", ");
	desk::put(std::string("x")); desk::hide(6);
	puts("done");
}
END
names() { # OPTION...: what is traced of the program that the one before began, by its names
	live_start "$tmp/app"
	ok "$1 $2: it attaches" live_trace "$@" "$live_pid"
	echo >&8
	live_wait
	exec 8>&-
}
said() { grep -v 'done' "$tmp/answers"; }
for build in 'g++ -O0' 'g++ -O2' 'clang++ -O0' 'clang++ -O2'; do
	read -r compiler level <<<"$build"
	command -v "$compiler" >/dev/null || continue
	$compiler $level -g -std=c++17 -o "$tmp/app" "$tmp/names.cc" || exit 1
	names -t 'uprobe:desk::*'
	is "$(sed -n 's/.* uprobe:\(.*\)/\1/p' "$tmp/trace" | sed 's/ [a-z_0-9]*=.*//; s/ \[clone .*//')" "$(said)" "$build -t: functions without parameters, overloads with them"
done
names -t 'uprobe:desk::book::add(std::string const&)'
like "$(cat "$tmp/trace")" ' uprobe:desk::book::add ' "an overload is found by the name that is shown, and alone needs no parameters"
names --count -t 'uprobe:desk::*'
is "$(sed -n 's/^@count\[uprobe:\(.*\)\]: 1$/\1/p' "$tmp/trace" | sort)" "$(said | sort)" "--count: the same names"
names --calls 'desk::*' --force
is "$(sed -n 's/.*  \(desk::.*\);$/\1/p' "$tmp/trace")" "$(said | sed '/[a-z]([a-z].*)$/!s/$/()/')" "--calls: the same names"
done_testing
