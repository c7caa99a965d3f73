#!/usr/bin/env bash
# retval of functions: what the program itself says they returned.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"

cat >"$tmp/app.c" <<'EOF'
#include <stdbool.h>
#include <stdio.h>
#include <stdint.h>
#include <unistd.h>
enum state { IDLE, RUNNING = 7, BROKEN = -2 };
struct item { long id; struct item *next; char name[8]; int n[2]; };
#define NOIPA __attribute__((noinline))
static struct item second = {2, NULL, "second", {5, -6}}, first = {1, &second, "first", {3, -4}};
static int number = -8;
NOIPA int less(int n);
NOIPA int less(int n) { return n - 5; }
/* The upper half of the register is that of the argument. */
NOIPA int cut(long n);
NOIPA int cut(long n) { return (int)n; }
NOIPA enum state turn(int n);
NOIPA enum state turn(int n) { return n == 3 ? BROKEN : RUNNING; }
NOIPA bool is_even(int n);
NOIPA bool is_even(int n) { return n % 2 == 0; }
NOIPA short narrow(int n);
NOIPA short narrow(int n) { return (short)-n; }
NOIPA unsigned char byte(int n);
NOIPA unsigned char byte(int n) { return (unsigned char)(n + 200); }
NOIPA long wide(int n);
NOIPA long wide(int n) { return -5000000000L * n; }
NOIPA unsigned long uwide(int n);
NOIPA unsigned long uwide(int n) { return -(unsigned long)n; }
NOIPA struct item *find(int n);
NOIPA struct item *find(int n) { return n == 3 ? &first : NULL; }
NOIPA int *cell(int n);
NOIPA int *cell(int n) { number += n; return &number; }
NOIPA const char *text(int n);
NOIPA const char *text(int n) { return n == 3 ? first.name : second.name; }
NOIPA double half(int n);
NOIPA double half(int n) { return n / 2.0; }
NOIPA void nothing(int n);
NOIPA void nothing(int n) { number += n; }
int main(void)
{
	char c;
	setlinebuf(stdout);
	while (read(0, &c, 1) == 1) {
		for (int n = 3; n < 5; n++) {
			int l = less(n);
			printf("less %d %d %d %d\n", l, l < 0, l == -1, l >= 0);
			int k = cut(0x5a5a5a5a00000000 - n);
			printf("cut %d %d\n", k, k < -3);
			enum state s = turn(n);
			printf("turn %s %d\n", s == BROKEN ? "BROKEN" : "RUNNING", s == BROKEN);
			printf("is_even %d\n", is_even(n));
			printf("narrow %d\n", narrow(n));
			printf("byte %d\n", byte(n));
			long w = wide(n);
			printf("wide %ld %d\n", w, w < 0);
			printf("uwide %lu\n", uwide(n));
			struct item *i = find(n);
			printf("find %ld\n", i ? (long)(uintptr_t)i - 8 : -8L);
			if (i)
				printf("item %ld %s %s %ld %d\n", i->id, i->name, i->next->name, (*i).id, i[0].n[1]);
			printf("cell %d\n", *cell(n));
			printf("text %s\n", text(n));
			nothing(n);
			number += (long)half(n);
		}
		puts("done");
	}
	return 0;
}
EOF
cat >"$tmp/calls.bt" <<'EOF'
uretprobe:__EXE__:less { printf("less %d %d %d %d\n", retval, retval < 0, retval == -1, retval >= 0); }
uretprobe:__EXE__:cut { printf("cut %d %d\n", retval, retval < -3); }
uretprobe:__EXE__:turn { printf("turn %s %d\n", retval, retval == BROKEN); @[retval] = count(); }
uretprobe:__EXE__:is_even { printf("is_even %d\n", retval); }
uretprobe:__EXE__:narrow { printf("narrow %d\n", retval); }
uretprobe:__EXE__:byte { printf("byte %d\n", retval); }
uretprobe:__EXE__:wide { printf("wide %ld %d\n", retval, retval < 0); }
uretprobe:__EXE__:uwide { printf("uwide %lu\n", retval); }
uretprobe:__EXE__:find { printf("find %ld\n", retval - 8); }
uretprobe:__EXE__:find /retval != 0/ { printf("item %ld %s %s %ld %d\n", retval->id, retval->name, retval->next->name, (*retval).id, retval[0].n[1]); }
uretprobe:__EXE__:cell { printf("cell %d\n", *retval); }
uretprobe:__EXE__:text { printf("text %s\n", str(retval)); }
EOF
returns() { # BUILD...: what it says and what is traced are the same
	"$@" -g -o "$tmp/app" "$tmp/app.c" 2>"$tmp/errors" || { ok "$*: compiles" false; sed 's/^/# /' "$tmp/errors"; return; }
	live_start "$tmp/app"
	ok "$*: it attaches" live_trace "$live_pid" "$tmp/calls.bt"
	printf x >&8
	wait_for grep -q 'done' "$tmp/answers"
	live_wait INT
	is "$(grep -v '^@\|^$' "$tmp/trace")" "$(grep -v 'done' "$tmp/answers")" "$*: what the functions say they returned"
	is "$(grep '^@' "$tmp/trace" | sort)" $'@[BROKEN]: 1\n@[RUNNING]: 1' "$*: enumerators have their names"
	# of `retval - 8`, which is as bpftrace has it, 0.27 warns on its own
	is "$(grep 'warning\|WARN\|error' "$tmp/messages" | grep -v "calls.bt:9:.*bpftrace: Expression of type: uint64")" "" "$*: and nothing is complained of"
	exec 8>&-
	wait_end "$live_pid"
}
returns gcc -O2
if command -v clang >/dev/null; then
	returns clang -O1
fi
said() { # SCRIPT REGEX CLAIM
	local out
	out=$("$btgen" check --for 0.23 -x "$tmp/app" -e "$1" 2>&1)
	like "$out" "$2" "$3"
}
said 'uretprobe:__EXE__:find { printf("%d\n", retval->nxt); }' 'struct item has no member nxt' "a member that it does not have"
said 'uretprobe:__EXE__:nothing { printf("%d\n", retval); }' 'warning: retval is whatever the register holds: nothing\(\) returns nothing  \[argument\]' \
	"a function that returns nothing"
said 'uretprobe:__EXE__:half { printf("%d\n", retval); }' 'warning: retval is whatever the register holds: half\(\) returns a floating-point number  \[argument\]' \
	"a function that returns a double"
said 'uretprobe:__EXE__:is_even /retval == 2/ { @ = count(); }' 'this is always false: retval is a bool' "a number that it never is"

# LLVM drops results that nobody looks at: what is then in the register is no result.
if command -v clang >/dev/null; then
	cat >"$tmp/drop.c" <<'EOF'
volatile long sink;
static __attribute__((noinline)) int dropped(int x) { sink += x; return x + 1; }
__attribute__((noinline)) int kept(int x) { sink += x; return x + 1; }
int main(int argc, char **argv) { (void)argv; dropped(argc); return kept(argc) == 9; }
EOF
	clang -O2 -g -o "$tmp/drop" "$tmp/drop.c"
	is "$(clauses_of 0.17 "$tmp/drop" 'uretprobe:dropped' 'uretprobe:kept' | grep -o 'uretprobe:[a-z]* *retval=%ld')" \
		"uretprobe:kept retval=%ld" "clang: a function that nobody else can call may have lost its result"
else
	skip "clang: dropped results" "no clang"
fi

# An exception through a function with a return probe ends the program, as with bpftrace alone. Who traces so is warned.
cat >"$tmp/throws.cc" <<'END'
#include <cstdio>
#include <stdexcept>
__attribute__((noinline)) int inner(int n) { if (n % 2) throw std::runtime_error("odd"); return n; }
__attribute__((noinline)) int middle(int n) { return inner(n) + 1; }
int main()
{
	int caught = 0;
	for (int i = 0; i < 6; i++)
		try { middle(i); } catch (const std::exception &) { caught++; }
	std::printf("caught %d\n", caught);
}
END
if g++ -O1 -g -o "$tmp/throws" "$tmp/throws.cc" 2>/dev/null; then
	is "$("$tmp/throws")" "caught 3" "a program catches exceptions"
	bare=$(guard "$bpftrace" -e "uretprobe:$tmp/throws:_Z6middlei { @ = count(); }" -c "$tmp/throws" 2>&1)
	like "$bare" "terminate called after throwing" "bpftrace alone: not with a return probe"
	for how in "-t uretprobe:middle" "-e uretprobe:__EXE__:middle{}"; do
		# shellcheck disable=SC2086
		like "$("$live_sh" $how -c "$tmp/throws" 2>&1)" \
			"warning: .*/throws has C\+\+ exceptions: a return probe can crash the program, unless none is thrown" "$how: a warning tells of it"
	done
	# shellcheck disable=SC2086
	is "$("$live_sh" -t uprobe:middle -c "$tmp/throws" 2>&1 | grep -c 'C++ exceptions\|terminate')" 0 "calls alone are harmless"
else
	skip "exceptions through return probes" "no g++"
fi

# Where a program begins the stack has argc, not a return address.
if [ "$(uname -m)" = x86_64 ]; then
	cat >"$tmp/begins.c" <<'END'
#include <stdio.h>
__attribute__((noinline)) int begins(int n) { __asm__ volatile("" : "+r"(n)); return n; }
int main(int argc, char **argv) { printf("%s has %d\n", argv[begins(1)], argc); return 0; }
END
	gcc -O1 -g -o "$tmp/begins" "$tmp/begins.c" || exit 1
	for trace in "-t uretprobe:begins:* --count" "--calls begins:*" "-e uretprobe:__EXE__:*{@[probe]=count();}"; do
		set -f
		# shellcheck disable=SC2086 # several options
		out=$(guard "$live_sh" --bpftrace "$bpftrace" $trace -c "'$tmp/begins' one" -o "$tmp/trace" 2>"$tmp/messages")
		set +f
		is "$out" "one has 2" "$trace: the program has its arguments"
		like "$(cat "$tmp/messages")" "1 (function|of 3 places) of \* is (skipped|not traced), as a return probe there changes the program's arguments" "... and what is left out is said"
	done
	like "$("$live_sh" -n -x "$tmp/begins" -e 'uretprobe:__EXE__:_start { }' 2>&1)" "error: _start cannot be traced: a return probe there changes the program's arguments" "by name: an error"
fi
done_testing
