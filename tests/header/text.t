#!/usr/bin/env bash
# Any expression can be an argument: its text reaches the note as it was written, and the names given to it too.
. "$(dirname "$0")/../lib.sh"
# shellcheck disable=SC2154 # top, tmp: lib.sh

include="-I$top/include"
long=$(printf 'a + %.0s' {1..1500})a

# One expression a line. C and C++; then C++ only.
cat >"$tmp/exprs" <<'EOF'
"plain"
"quote \" backslash \\ newline \n tab\t percent %d %s %% brace { | } end"
"ends in backslash \\"
'"'
'\''
'\\'
a % b
a%b
a %b
a | b || a
(a ? b : a)
((struct s){ 1, 2 }).x + 0
(&(struct s){ a, b })
({ int q = a; q + 1; })
f(a, b)
f(f(a, b), (a, b))
p->next->next->x
p[a % 2].next
(long)p & ~0xfL
*&a
!a
-a
"a" "b"
"http://x/y /* no comment */ # nor this; $1 @ ` ~"
"größe ☃"
L'x'
sizeof(struct s)
MACRO
MACRO_OF(a, b)
a == '{' && b != '}'
__LINE__ > 0
EOF
cat >"$tmp/exprs.cc" <<'EOF'
R"(raw " \ % { text)"
g<int>(a)
(h<int, long>(a))
ns::k
1'000'000 + a
static_cast<long>(a)
&p->x
nullptr
true
EOF

# program EXPRESSIONS: a probe for each, xN
program() {
	cat <<'EOF'
#include <btgen/usdt.h>
#define MACRO "macro % { text"
#define MACRO_OF(x, y) ((x) % (y) + sizeof("%{|}"))
struct s { int x, y; struct s *next; };
#ifdef __cplusplus
template <class T> T g(T v) { return v; }
template <class T, class U> U h(T v) { return v; }
namespace ns { int k; }
#endif
static int f(int a, int b) { return a + b; }
void probes(int a, int b, struct s *p)
{
	(void)f;
EOF
	local n=0 line
	while IFS= read -r line; do
		printf '\tUSDT_PROBE(t, x%d, %s);\n' $n "$line"
		n=$((n + 1))
	done <"$1"
	printf '}\nint main(int argc, char **argv) { struct s s = { 1, 2, 0 }; (void)argv; if (argc > 5) probes(1, 2, &s); return 0; }\n'
}

want() {
	local n=0 line
	while IFS= read -r line; do
		printf 't:x%d(? [%s])\n' $n "$line"
		n=$((n + 1))
	done <"$1"
}

{ cat "$tmp/exprs"; echo "$long"; } >"$tmp/all"
# Compound literals are no C++.
{ grep -v '(struct s){' "$tmp/exprs"; cat "$tmp/exprs.cc"; echo "$long"; } >"$tmp/all.cc"
for cc in gcc clang g++ clang++; do
	command -v $cc >/dev/null || { skip "$cc" "no $cc"; continue; }
	list=$tmp/all src=t.c std=gnu11
	case $cc in *++) list=$tmp/all.cc src=t.cc std=gnu++20 ;; esac
	program "$list" >"$tmp/$src"
	for opt in -O0 -O2 "-O2 -flto"; do
		# shellcheck disable=SC2086
		$cc -std=$std $opt -Wall -Wextra -Wno-unused-value "$include" -o "$tmp/t" "$tmp/$src" >"$tmp/log" 2>&1 || {
			ok "$cc $opt compiles" false
			head -n 5 "$tmp/log" | sed 's/^/#   /'
			continue
		}
		"$top/tests/header/probes.py" --no-types "$tmp/t" | sed 's/ - [^ ]*:[0-9]*$//; s/(\[/(? [/' | sort -u >"$tmp/got" # -u: clang 21 has a function and its copy
		is "$(cat "$tmp/got")" "$(want "$list" | sort)" "$cc $opt: $(wc -l <"$list") expressions, each as it was written"
	done
done
done_testing
