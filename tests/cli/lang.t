#!/usr/bin/env bash
# What the parser's tree is good for, without tracing: functions, macros, comments, names of maps, templates in casts.
. "$(dirname "$0")/../lib.sh"

cat >"$tmp/t.cc" <<'E2'
#include <btgen/usdt.h>
namespace acme {
template <class T, int N> struct ring { int head; T buf[N]; void push(T v) { USDT_PROBE(shop, push, this, v); } };
enum class st : int { a = -1, b = 3 };
}
struct in { int delta; short n; };
static acme::ring<int, 4> r;
static in x;
int main() { volatile int one = 1; acme::st s = one ? acme::st::a : acme::st::b; in *p = &x; r.push(one); USDT_PROBE(shop, ev, p, s); return x.delta; }
E2
g++ -g -O1 -I"$top/include" -o "$tmp/t" "$tmp/t.cc" || exit 1

# body TEXT: the program without definitions
body() { "$btgen" expand --for 0.27 -x "$tmp/t" -e "$1" 2>"$tmp/err" | sed '/^#pragma pack(push/,/^#pragma pack(pop/d'; }

like "$(body 'fn f($p : struct in *) : int64 { return $p->n; } usdt:__EXE__:ev { @ = 1; }')" 'return \(int64\)\(int16\)\$p->n; }' \
	"members are read right in a function"
like "$("$btgen" expand --for 0.27 -x "$tmp/t" -e 'fn f($p : struct in *) : int64 { return $p->n; } usdt:__EXE__:ev { }')" 'struct in \{' \
	"the struct of a function's parameter is supplied"
like "$(body 'macro m($p) { ((struct in *)$p)->n } usdt:__EXE__:ev { @ = 1; }')" '\(int64\)\(int16\)\(\(struct in \*\)\$p\)->n }' \
	"members are read right in a macro"
like "$(body 'usdt:__EXE__:ev { let $s : acme::st = arg1; print($s); }')" 'let \$s : int64 = \(int64\)arg1; print' \
	"a variable that is declared with an enum is a number with its sign"
like "$(body 'usdt:__EXE__:push { print(((acme::ring<int, 4> *)arg0)->buf[1]); }')" 'struct acme__ring_int_4_ \*\)arg0' \
	"a cast to a C++ template"
like "$(body 'usdt:__EXE__:push { print(args.this->head); }')" '\*\(uint32 \*\)\(\(uint64\)arg0 \+ 0\)' \
	"a pointer to one that has no cast is followed by its address"
if [ -r /sys/kernel/btf/vmlinux ]; then
	body 'usdt:__EXE__:ev { print(((struct file *)arg0)->f_flags); print(((struct file *)arg0)->f_mode); }' >/dev/null
	is "$(grep -c 'warning: .*/t has no struct file: using the kernel' "$tmp/err")" 1 \
		"a tag that only the kernel has, in a clause of the program, is said once"
	body 'usdt:__EXE__:ev { print(((struct task_struct *)curtask)->pid); } kprobe:vfs_read { print(((struct file *)arg0)->f_flags); }' >/dev/null
	is "$(cat "$tmp/err")" "" "where the kernel is meant nothing is said"
else
	skip "tags of the kernel" "no kernel BTF"
fi
is "$(body 'usdt:__EXE__:ev { $t = (1, (args.p, 2)); print($t.1.0.n); print($t.1.0->n); }' |
	sed 's/.*; print(\(.*\)); print(\(.*\)); }/\1 \2/' | tr -d ' ')" \
	'(int64)(int16)$t.1.0->n(int64)(int16)$t.1.0->n' "a name behind the number of an element"
is "$(body 'usdt:__EXE__:ev { $p = args.p; print($p.delta); }' | sed 's/.*print/print/')" 'print((int64)(int32)$p->delta); }' \
	"a point behind a pointer is an arrow"
like "$(body 'usdt:__EXE__:ev { $t = (1, args.p); print($t.1.n); }')" '\(int64\)\(int16\)\$t ?\.1 ?->n\)' \
	"so is one behind an element of a tuple"

for name in acme::st::b ::acme::st::b; do
	like "$(body "usdt:__EXE__:ev { if (args.s == $name) { print(args.p->n); } }")" \
		'if \(arg1 == 3\) { print\(\(int64\)\(int16\)\(\(struct in \*\)arg0\)->n\)' \
		"$name is a name like any other: what stands beside it is looked into"
done
like "$(body 'usdt:__EXE__:ev { $x = acme::st::a; print($x / 2); }')" '\$x = \(-1\); print\(\(int64\)' \
	"an enumerator below 0 is divided with its sign"
like "$(body 'usdt:__EXE__:ev { $x = if (pid) { args.p->n } else { 2 }; print($x / 2); }')" 'print\(\(int64\)' \
	"a choice of blocks has the sign of their values"
body 'usdt:__EXE__:ev { print((if (pid) { args.p->n } else { 2 }) / 2); }' >/dev/null
like "$(cat "$tmp/err")" 'assign it to a variable first' "and is not written twice"
for value in -rand '(-rand)' '-$x++'; do
	body "usdt:__EXE__:ev { \$x = 1; \$y = $value / 3; }" >/dev/null
	like "$(cat "$tmp/err")" 'assign it to a variable first' "nor is $value"
done
like "$(body 'usdt:__EXE__:ev { printf("%s\n", enum_name(acme::st, -pid)); }')" \
	'printf\("%s\\n", @enum_acme__st\[-\(int64\)\(uint64\)pid\]\)' \
	"a key may be negated"

# chain N: each of N maps is assigned the next one, in a clause further down
chain() {
	printf 'usdt:__EXE__:ev { @r = @m0 / 2; }'
	for ((i = 0; i < $1; i++)); do printf 'interval:s:1 { @m%d = @m%d; }' "$i" $((i + 1)); done
	printf 'interval:s:1 { @m%d = (int32)-3; }' "$1"
}
like "$(body "$(chain 40)")" '@r = \(int64\)' "a sign goes through 40 maps, of which each is assigned further down"
body "$(chain 300)" >/dev/null
like "$(cat "$tmp/err")" '^btgen: error: maps are assigned to each other across too many clauses: their types cannot be determined$' \
	"beyond what is followed it is an error"

is "$("$btgen" expand --for 0.27 -e '#define N 3
BEGIN { for ($i : 0..N) { } for ($i : N..$1) { } for ($i : 0..(N+1)) { } }' 2>&1 | tr -d '\n ')" \
	'BEGIN{for($i:0..3){}for($i:3..$1){}for($i:0..(3+1)){}}' "the ends of a range are expanded"
is "$("$btgen" expand -e '#define FOO 7
BEGIN { @FOO = FOO; @x[FOO] = 1; }')" '
BEGIN { @FOO = 7; @x[7] = 1; }' "a map's name is no macro"
is "$("$btgen" expand -e 'BEGIN { @a = 1; // dir C:\
@b = 2; }')" 'BEGIN { @a = 1;
@b = 2; }' "a backslash at the end of a comment continues nothing"
is "$(body 'usdt:__EXE__:ev { $z = (int32)-3; $a = (pid + // first
(int32)arg1 / 3 // second
+
$z % 4) / $z; // third
print($a);
}
interval:s:1 { exit(); }' | grep -n -e 'print(' -e exit | cut -d: -f1 | tr '\n' ' ')" '5 7 ' \
	"what stands several times in what it becomes moves no line further down"
like "$("$btgen" expand -e 'BEGIN { print(-7 / (uint64)2); $y = (int64)-7; print($y / (uint64)2); }')" \
	'print\(-7 / \(uint64\)2\); .* print\(\$y / \(uint64\)2\)' "a division beside an uint64 has no sign, as in C"

unknown='struct s; BEGIN { switch pid { 1: print(1) } print(1) print(2); }'
is "$("$btgen" expand --for 0.28 -e "$unknown" 2>"$tmp/err")" "$unknown" "what is not understood is passed on"
sed -i '/^btgen: note: bpftrace 0.28 is newer/d' "$tmp/err" # newer.t
is "$(grep -c . "$tmp/err"),$(head -1 "$tmp/err")" \
	"3,<command line>:1:19: warning: unknown syntax (btgen knows bpftrace's language up to 0.27): passed on unchanged and unchecked  [syntax]" \
	"that is said once"
printf '#!/bin/sh\n[ "$1" = --version ] && echo bpftrace v0.28.0 || exit 3\n' >"$tmp/bpftrace"
chmod +x "$tmp/bpftrace"
if can_trace; then
	like "$("$btgen" run --bpftrace "$tmp/bpftrace" -e "$unknown" 2>&1)" \
		'unknown syntax .btgen knows bpftrace.s language up to' "so it is when it is run"
	unlike "$("$btgen" run -q --bpftrace "$tmp/bpftrace" -e "$unknown" 2>&1)" 'btgen knows' "unless -q says that warnings are not wanted"
else
	skip_tracing "so it is when it is run"
fi
is "$("$btgen" expand --for 0.27 -e "$unknown" 2>&1 | grep error)" "<command line>:1:26: error: unexpected 'pid'  [syntax]
<command line>:1:55: error: unexpected 'print'  [syntax]" "for a bpftrace whose language btgen knows it is an error"
is "$("$btgen" expand --force --for 0.27 -e "$unknown" 2>/dev/null)" "$unknown" "--force passes it on"
done_testing
