#!/usr/bin/env bash
# -t, --calls and --count of a C++ program, in the words of its source: the program itself prints the names and the values.
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

# Classes of the library: by reference, behind a pointer that is passed for what has a destructor, in registers, and in structs.
cat >"$tmp/values.cc" <<'END'
#include <cstdio>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>
#ifdef __clang__
#define NOIPA __attribute__((noinline, optnone))
#else
#define NOIPA __attribute__((noipa))
#endif
using std::string, std::string_view, std::optional, std::vector;
static const char *quoted(string_view s)
{
	static string room[4];
	static unsigned i;
	return (room[i++ % 4] = "\"" + string(s) + "\"").c_str();
}
static const char *number(const optional<int> &o)
{
	static char room[4][16];
	static unsigned i;
	char *p = room[i++ % 4];
	snprintf(p, sizeof(room[0]), o ? "%d" : "nullopt", o.value_or(0));
	return p;
}
struct own { int id; ~own() { id = 0; } };
struct order { long pad; string owner; vector<short> fills; std::unique_ptr<own> o; optional<int> limit; string_view tag; };
struct mine { int size; };
NOIPA void by_ref(const string &a, string &b, int n) { printf("a=%s b=%s n=%d\n", quoted(a), quoted(b), n); }
NOIPA void by_pointer(const string *a, int n) { printf("a=%s n=%d\n", quoted(*a), n); }
NOIPA void by_value(string a, int n, vector<string> v) { printf("a=%s n=%d v={size = %zu, ...}\n", quoted(a), n, v.size()); }
NOIPA void view(string_view a, int n, string_view b) { printf("a=%s n=%d b=%s\n", quoted(a), n, quoted(b)); }
NOIPA void view_ref(const string_view &a) { printf("a=%s\n", quoted(a)); }
NOIPA void pointers(std::unique_ptr<own> a, const std::shared_ptr<own> &b, const std::unique_ptr<own[]> &c)
{
	printf("a=%p b=%p c=%p\n", (void *)a.get(), (void *)b.get(), (void *)c.get());
}
NOIPA void sizes(const vector<long> &a, vector<order> &b, const vector<char> *c)
{
	printf("a={size = %zu, ...} b={size = %zu, ...} c={size = %zu, ...}\n", a.size(), b.size(), c->size());
}
NOIPA void counts(const std::map<string, int> &a, std::multiset<long> &b, const std::unordered_map<int, string> *c, const std::list<short> &d)
{
	printf("a={size = %zu, ...} b={size = %zu, ...} c={size = %zu, ...} d={size = %zu, ...}\n", a.size(), b.size(), c->size(), d.size());
}
NOIPA void optionals(optional<int> a, const optional<int> &b, int n, const optional<string> &c)
{
	printf("a=%s b=%s n=%d c=%s\n", number(a), number(b), n, c ? quoted(*c) : "nullopt");
}
NOIPA void nul(const string &a, const string &b) { if (a.size() + b.size() == 26) puts("a=\"a\\x00b\" b=\"012345678901234567890\"..."); }
NOIPA void deep(const order &o)
{
	printf("o={pad = %ld, owner = %s, fills = {size = %zu, ...}, o = %p, limit = %s, tag = {size = %zu, ...}}\n", o.pad, quoted(o.owner), o.fills.size(), (void *)o.o.get(),
	       number(o.limit), o.tag.size());
}
volatile long sink;
NOIPA void late(int a, int b, int c, int d, int e, string_view f) { sink += a + b + c + d + e + (long)f.size(); }
struct node { virtual ~node() {} int id = 0; string name; unsigned flag : 3; std::shared_ptr<node> next; };
struct tree : mine { std::unique_ptr<node> top, all[2]; std::shared_ptr<node> last; struct { std::unique_ptr<node> none; } in; };
NOIPA void owned(tree *t, const std::shared_ptr<node> &by)
{
	printf("owned %d %s %d %d %d 0 %d %d\n", t->top->id, quoted(t->top->name), t->top->flag, t->all[1]->id, t->last->next->id, (*t->last).id, by->id);
}
NOIPA void other(const vector<bool> &a, const std::map<int, int> &b, const std::wstring &c, mine d) { sink += (long)(a.size() + b.size() + c.size()) + d.size; }
int main()
{
	setlinebuf(stdout);
	getchar();
	string empty, shorter = "desk-a", longer = "a text of more than 15 bytes, in memory of its own", moved = longer, taken = std::move(moved);
	char letters[] = "abcdefghij";
	by_ref(shorter, longer, -1);
	by_ref(empty, shorter, 2);
	by_ref(moved, taken, 3);
	by_pointer(&longer, 4);
	by_value(shorter, 5, {"a", "b", "c"});
	by_value(longer, 6, {});
	view("", 7, string_view(letters + 2, 3));
	view(longer, -8, string_view(letters, 1));
	view_ref(string_view(letters + 1, 4));
	pointers(std::make_unique<own>(), std::make_shared<own>(), std::make_unique<own[]>(3));
	pointers(nullptr, nullptr, nullptr);
	vector<order> orders(2);
	vector<char> bytes(77);
	sizes({1, 2, 3}, orders, &bytes);
	std::multiset<long> numbers{5, 5, 6};
	std::unordered_map<int, string> names{{1, "a"}, {2, "b"}};
	counts({{"a", 1}}, numbers, &names, {1, 2, 3, 4});
	optionals(42, -43, 9, "text");
	optionals(std::nullopt, std::nullopt, 10, std::nullopt);
	nul(string("a\0b", 3), string("012345678901234567890\0x", 23));
	deep(order{-11, "owner", {1, 2}, std::make_unique<own>(), 12, "tag"});
	tree t;
	t.top = std::make_unique<node>();
	t.top->id = -3;
	t.top->name = "the name of the topmost node";
	t.top->flag = 6;
	t.all[1] = std::make_unique<node>();
	t.all[1]->id = 8;
	t.last = std::make_shared<node>();
	t.last->id = 9;
	t.last->next = std::make_shared<node>();
	t.last->next->id = -10;
	owned(&t, t.last->next);
	late(1, 2, 3, 4, 5, "x");
	other({true}, {{1, 2}}, L"wide", {3});
	puts("done");
}
END
for build in 'g++ -O0' 'g++ -O2' 'clang++ -O0' 'clang++ -O2'; do
	read -r compiler level <<<"$build"
	command -v "$compiler" >/dev/null || continue
	$compiler $level -g -std=c++17 -o "$tmp/app" "$tmp/values.cc" || exit 1
	functions=()
	for f in by_ref by_pointer by_value view view_ref pointers sizes counts optionals nul; do functions+=(-t "uprobe:$f"); done
	names "${functions[@]}"
	# clang may not say where a class that is passed behind a pointer is before the prologue has ended.
	sed -n 's/.* uprobe:[a-z_]* //p' "$tmp/trace" | sed 's/^a=? n=? v=?$/a unknown/' >"$tmp/got"
	grep -v '^done\|^o=\|^owned' "$tmp/answers" | sed 's/(nil)/0x0/g' >"$tmp/want"
	[ "$compiler" = g++ ] || { grep -q 'a unknown' "$tmp/got" && sed -i 's/^a=.* v=.*/a unknown/' "$tmp/want"; }
	is "$(cat "$tmp/got")" "$(cat "$tmp/want")" "$build -t: values of the library's classes"
	names -t uprobe:deep --deep 1
	is "$(sed -n 's/.* uprobe:[a-z_]* //p' "$tmp/trace")" "$(grep '^o=' "$tmp/answers")" "$build --deep: members of such classes"
	names -t uprobe:other -t uprobe:late
	like "$(tr '\n' ' ' <"$tmp/trace")" ' uprobe:late a=1 b=2 c=3 d=4 e=5 f=\? .* uprobe:other a=0x[0-9a-f]+ b=\{size = 1, ...\} c=0x[0-9a-f]+ d=(\?|3) $' \
		"$build: of other classes, and of one that no two registers are left for, nothing is said"
done
names --calls by_ref --args --force
is "$(sed -n 's/.*  by_ref(\(.*\));$/\1/p' "$tmp/trace" | sed 's/, / /g')" "$(grep '^a=.* b=".*n=' "$tmp/answers" | head -n 3 | sed 's/, / /g')" "--calls --args: the same values"
names -t uprobe:by_ref -f json
like "$(cat "$tmp/trace")" '"a": "desk-a", "b": "a text of more than 15 bytes, in memory of its own", "n": -1' "JSON: the texts"

# str() in a script, and a condition of --filter.
for build in 'g++ -O2' 'clang++ -O0'; do
	read -r compiler level <<<"$build"
	command -v "$compiler" >/dev/null || continue
	$compiler $level -g -std=c++17 -o "$tmp/app" "$tmp/values.cc" || exit 1
	# shellcheck disable=SC2016
	names -e 'uprobe:__EXE__:by_ref { printf("a=\"%s\" b=\"%s\" n=%d\n", str(args.a), str(args.b), args.n); @[str(*args.b)] = count(); }
uprobe:__EXE__:view_ref { printf("a=\"%s\"\n", str(args.a)); }
uprobe:__EXE__:deep { $o = args.o; printf("owner = \"%s\" tag = \"%s\" is_owner = %d\n", str($o->owner), str(args.o->tag), str(args.o->owner) == "owner"); }'
	sed -n '/ b=.* n=[-1-3]*$/p; /^a="[a-z]*"$/p; s/.*\(owner = "[^"]*"\).*/\1 tag = "tag" is_owner = 1/p' "$tmp/answers" >"$tmp/want"
	is "$(grep -v '^@\|^$' "$tmp/trace")" "$(cat "$tmp/want")" "$build: str() of strings by reference, of views and of members"
	is "$(grep '^@' "$tmp/trace" | sort)" "$(sed -n 's/.* b="\(.*\)" n=.*/@[\1]/p' "$tmp/answers" | sort | uniq -c | sed 's/ *\([0-9]*\) \(.*\)/\2: \1/' | grep -v '^@\[\(cde\|a\)\]')" "... and as a key"
	names -e 'uprobe:__EXE__:owned { $t = args.t; printf("owned %d \"%s\" %d %d %d %d %d %d\n", args.t->top->id, str($t->top->name), $t->top->flag, (args.t->all[1])->id, $t->last->next->id, $t->in.none->id, (*$t->last).id, (*args.by)->id); }'
	is "$(cat "$tmp/trace")" "$(grep '^owned' "$tmp/answers")" "$build: members of what std::unique_ptr and shared_ptr lead to"
	names -t uprobe:owned --filter 't->top->name == "the name of the topmost node" && t->last->next->id == -10' --count
	is "$(grep . "$tmp/trace")" "@count[uprobe:owned]: 1" "... in a filter, too"
	names -t uprobe:by_ref --filter 'b == "desk-a"'
	is "$(sed -n 's/.* uprobe:[a-z_]* //p' "$tmp/trace")" "$(grep 'b="desk-a" n' "$tmp/answers")" "$build --filter: by the text of a string"
	names -t uprobe:deep --filter 'o->owner == "owner" && "tag" == args.o->tag && o->owner != o->tag' --deep 1
	is "$(sed -n 's/.* uprobe:[a-z_]* //p' "$tmp/trace")" "$(grep '^o=' "$tmp/answers")" "... and of members"
done
done_testing
