#!/usr/bin/env bash
# C headers in a script, and #if on what bpftrace's clang knows: what bpftrace alone makes of the same text is right, or
# btgen says that it cannot know.
. "$(dirname "$0")/../lib.sh"
. "$top/tests/live.sh"
version=$("$bpftrace" --version | sed 's/.*v0\.\([0-9]*\).*/\1/')

# bare TEXT; ours TEXT [OPTION...]: what it prints on bpftrace alone, and through btgen
bare() {
	printf '%s\n' "$1" >"$tmp/bare.bt"
	"$bpftrace" "$tmp/bare.bt" 2>"$tmp/bare.err" | grep -v '^Attach' | grep .
}
ours() {
	printf '%s\n' "$1" >"$tmp/ours.bt"
	shift
	"$live_sh" -q "$@" "$tmp/ours.bt" 2>"$tmp/err" | grep .
}

# same TEXT CLAIM: and it is not nothing
same() {
	local want
	want=$(bare "$1")
	[ -n "$want" ] || sed 's/^/# bare: /' "$tmp/bare.err"
	is "$(ours "$1")" "${want:-something}" "$2" || sed 's/^/# /' "$tmp/err"
}

same '#include <errno.h>
#include <signal.h>
BEGIN { printf("%d %d %d\n", EPERM, ENOENT, SIGINT); exit(); }' 'macros of system headers are there'
same '#undef linux
enum e { before, linux, unix_ };
BEGIN { printf("%d %d\n", before, linux); exit(); }' '#undef of what clang predefines reaches it'
printf '#ifdef WITH_B\nstruct with { int a, b; };\n#else\nstruct with { int a; };\n#endif\n' >"$tmp/with.h"
same '#define WITH_B 1
#undef WITH_A
#include "'"$tmp"'/with.h"
BEGIN { printf("%d\n", sizeof(struct with)); exit(); }' 'what is defined before a header is there for it'
for there in 'sys/socket.h' 'lol/no.h' 'stddef.h'; do
	same "#if __has_include(<$there>)
#define R 1
#else
#define R 0
#endif
BEGIN { printf(\"there %d\\n\", R); exit(); }" "__has_include knows of $there what bpftrace does"
done

# What #if must know: each name of the table, its value, and some that clang has not
names=$(sed -n 's/^ *{"\([A-Za-z_0-9]*\)", \(NULL\|"\(.*\)"\)},$/\1 \3/p' "$top/gen/dialect/predefined.c")
ok "the table has names" test "$(wc -l <<<"$names")" -gt 40
text='' say='' i=0
while read -r name value; do
	i=$((i + 1)) condition=1
	[ -z "$value" ] || condition="$name == $value"
	text+="#ifdef $name
#if $condition
#define K_$i 2
#else
#define K_$i 1
#endif
#else
#define K_$i 0
#endif
"
	say+="printf(\"$name %d\\n\", K_$i); "
done <<<"$names
BPFTRACE_HAVE_BTF
__aarch64__
__x86_64__
__APPLE__
__KERNEL__
__BPF_TRACING__
__powerpc64__"
same "$text BEGIN { $say exit(); }" '#if knows the macros of clang and their values'
is "$(ours 'BEGIN { printf("%d\n", __INT_MAX__); exit(); }')" 2147483647 'elsewhere they are left to bpftrace'

# A struct of the script's own header that the kernel has, too
cat >"$tmp/t.c" <<'E'
#include <string.h>
#include <time.h>
#include <unistd.h>
enum color { RED = 70 };
struct request { char name[16]; int tag; enum color color; };
struct list_head { short a; int b; };
__attribute__((noipa)) int handle(struct request *r, struct list_head *l, struct tm *t) { return r->tag + l->b + t->tm_year; }
int main(void)
{
	struct request r = {"", 42, RED};
	struct list_head l = {3, 9};
	struct tm t = {.tm_year = 77};
	char c;
	memset(r.name, 1, 16);
	while (read(0, &c, 1) == 1 && c != 'q')
		handle(&r, &l, &t);
	return 0;
}
E
mkdir "$tmp/own" "$tmp/own/sub"
cat >"$tmp/own/req.h" <<'E'
#pragma once
#include "sub/more.h"
struct request { char name[16]; int tag; };
enum color { RED = 7, GREEN };
#define LIMIT 12
E
echo 'struct list_head { short a; int b; };' >"$tmp/own/sub/more.h"
cat >"$tmp/own/req.bt" <<'E'
#include "req.h"
uprobe:__EXE__:handle {
	printf("tag %d b %d red %d limit %d\n", ((struct request *)arg0)->tag, ((struct list_head *)arg1)->b, RED, LIMIT);
}
E
for how in "" "-g"; do
	gcc -O1 $how -o "$tmp/t" "$tmp/t.c" || exit 1
	live_start "$tmp/t"
	ok "the script attaches to a program built with ${how:-no debug information}" live_trace "$live_pid" "$tmp/own/req.bt"
	live_say ''
	wait_for grep -q tag "$tmp/trace"
	live_wait INT
	is "$(sort -u "$tmp/trace" | grep .)" "tag 42 b 9 red 7 limit 12" "what its header defines is what it says"
	live_quit
done
cat >"$tmp/own/tm.bt" <<'E'
#include <time.h>
uprobe:__EXE__:handle { printf("year %d\n", ((struct tm *)arg2)->tm_year); }
E
live_start "$tmp/t"
ok "a struct that the target and a system header have attaches" live_trace "$live_pid" "$tmp/own/tm.bt"
live_say ''
wait_for grep -q year "$tmp/trace"
live_wait INT
is "$(sort -u "$tmp/trace" | grep .)" "year 77" "and is read right"
live_quit

# What is not there, and what cannot be known, is an error where it stands
ours $'BEGIN { exit(); }\n#include <lol/no.h>' >/dev/null
like "$(cat "$tmp/err")" "ours.bt:2:10: error: bpftrace: 'lol/no.h' file not found" 'a header that is not there is an error at its line'
for ask in '#ifdef EPERM' '#if EPERM > 0' '#if defined(EPERM)'; do
	is "$(ours "#include <errno.h>
$ask
BEGIN { printf(\"yes\\n\"); exit(); }
#else
BEGIN { printf(\"no\\n\"); exit(); }
#endif")" "" "\"$ask\" after the header takes no branch"
	like "$(cat "$tmp/err")" 'ours.bt:2:[0-9]*: error: bpftrace: #if does not know EPERM, a macro of a C header' 'but is an error there'
done
is "$(ours '#include <errno.h>
#ifndef MINE
#define MINE 3
#endif
#if MINE == 3 && !defined(OTHER)
BEGIN { printf("%d %d\n", MINE, EPERM); exit(); }
#endif')" "3 1" "a default of the script's own still works after a header"
ours '#include <errno.h>
#ifndef EPERM
#define EPERM 99
#endif
BEGIN { printf("%d\n", EPERM); exit(); }' >/dev/null
like "$(cat "$tmp/err")" 'ours.bt:2:9: error: bpftrace: #if does not know EPERM' 'but not one that the header has'

# import
if [ "$version" -ge 24 ]; then
	mkdir -p "$tmp/own/lib"
	echo 'macro two() { 2 }' >"$tmp/own/helpers.bt"
	echo 'macro three() { 3 }' >"$tmp/own/lib/three.bt"
	printf 'import "helpers.bt";\nimport "lib";\nBEGIN { printf("%%d %%d\\n", two(), three()); exit(); }\n' >"$tmp/own/import.bt"
	chmod -R go-w "$tmp/own"
	is "$(cd / && "$live_sh" -q "$tmp/own/import.bt" 2>&1 | grep .)" "2 3" "files and folders are imported from beside the script"
	sed -i 's/^BEGIN .*/uprobe:__EXE__:main { print(two()); }/' "$tmp/own/import.bt"
	like "$("$btgen" expand -x "$btgen" "$tmp/own/import.bt" 2>&1)" \
		'import.bt:1:8: warning: macros of an imported file see no types of the target: use #include' \
		'with a target, that such a file is not looked into is said'
	sed -i 's/^import \("helpers.bt"\);/#include \1/; /^import/d' "$tmp/own/import.bt"
	like "$("$btgen" expand --for 0.27 -x "$btgen" "$tmp/own/import.bt" 2>&1)" '^macro two\(\) \{ 2 \}' '#include brings it in'
fi

# cpid
is "$("$live_sh" -q -c 'sleep 20' -e 'BEGIN /cpid > 1/ { printf("%d\n", cpid == __PID__ ? 1 : 0); exit(); }' 2>&1 |
	grep .)" 1 "cpid is the program that -c has started"
like "$("$live_sh" --bpftrace "$bpftrace" -e 'BEGIN { printf("%d\n", cpid); exit(); }' 2>&1)" \
	':1:24: (error|warning): bpftrace: .*cpid' 'without -c it is the error that it is, or 0 with a warning'
done_testing
