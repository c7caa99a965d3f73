#!/usr/bin/env bash
# What only bpftrace has: attach points with slashes, predicates, maps, pack; and that text which no macro
# touches keeps its lines and comments. tests/pp/bpftrace/*.in become *.out (UPDATE=1 rewrites them), and the
# real bpftrace parses each of those.
. "$(dirname "$0")/../lib.sh"

# The tree that bpftrace parses out of FILE, or its syntax errors.
tree() {
	guard bpftrace -d "$1" 2>&1 |
		sed -n '/syntax error/p; /^AST after: parser/,/^AST after: [^p]/{/^AST/d; /^---/d; /^$/d; /ERROR/,$d; p}'
}

echo 'BEGIN { exit() }' >"$tmp/hello"
has_tree=
can_trace && tree "$tmp/hello" | grep -q '^Program' && has_tree=1

cd "$top/tests/pp/bpftrace" || exit 1
for f in *.in; do
	name=${f%.in}
	"$build/tests/ppcat" "$f" >"$tmp/$name.out" 2>"$tmp/err" || cat "$tmp/err"
	if [ "${UPDATE:-}" = 1 ]; then
		cp "$tmp/$name.out" "$name.out"
	fi
	is "$(cat "$tmp/$name.out")" "$(cat "$name.out" 2>&1)" "$name becomes the expected text"
	if [ "$has_tree" ]; then
		tree "$tmp/$name.out" >"$tmp/tree"
		ok "bpftrace parses it: $(grep -c . "$tmp/tree") lines of its tree" grep -q '^Program' "$tmp/tree"
		unlike "$(cat "$tmp/tree")" 'syntax error' "and finds no syntax error"
	else
		skip "bpftrace parses $name" "needs root and a bpftrace whose -d shows what it parsed"
	fi
done

is "$(cat verbatim.out)" "$(sed 1s/.*// verbatim.in)" "a script without macros changes only in its first line"
if [ "$has_tree" ]; then
	tree verbatim.in >"$tmp/a"
	tree verbatim.out >"$tmp/b"
	is "$(cat "$tmp/b")" "$(cat "$tmp/a")" "and means the same to bpftrace"
	echo 'BEGIN { @a = 6 / /* c */ 2; @b = pid ? 1 :2; }' >"$tmp/slash"
	"$build/tests/ppcat" "$tmp/slash" >"$tmp/slash.out"
	is "$(tree "$tmp/slash.out" | grep -c 'int: [62]')" 3 \
		"a comment after a slash and a colon before a word, which bpftrace 0.17 trips over, are parsed"
fi
done_testing
