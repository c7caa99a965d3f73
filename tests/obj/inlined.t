#!/usr/bin/env bash
# Inlined copies of a function that has a uprobe: as many as gdb has places for a breakpoint beside the function itself.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
command -v gdb >/dev/null || skip_all "no gdb"

cat >"$tmp/in.h" <<'EOF'
static inline int in_header(int n) { int s = 0; for (int i = 0; i < n; i++) s += i ^ n; return s; }
EOF
cat >"$tmp/one.c" <<'EOF'
#include "in.h"
extern volatile int sink;
static inline __attribute__((always_inline)) int only(int n) { return n * sink; }
int both(int n); int both(int n) { sink += n; sink ^= 5; return sink; }
int far(int n);
__attribute__((noinline)) int a(int n); __attribute__((noinline)) int a(int n) { return both(n) + only(n) + far(n); }
__attribute__((noinline)) int b(int n); __attribute__((noinline)) int b(int n) { return both(n) * 2 + both(n + 1); }
__attribute__((noinline)) int c(int n); __attribute__((noinline)) int c(int n) { return both(n) * 3; }
int (*volatile pointer)(int) = in_header;
int main(int argc, char **argv) { (void)argv; return a(argc) + b(argc) + c(argc) + both(argc) + pointer(3); }
EOF
cat >"$tmp/two.c" <<'EOF'
#include "in.h"
volatile int sink;
int far(int n); int far(int n) { return in_header(n) + in_header(sink); }
EOF
said() { # FUNCTION
	"$btgen" check --for 0.17 -x "$tmp/app" -e "uprobe:__EXE__:$1 { @ = count(); }" 2>&1
}
places() { # FUNCTION: for a breakpoint, as gdb knows them
	gdb -nx -batch -ex "break $1" "$tmp/app" 2>/dev/null |
		sed -n 's/^Breakpoint 1.*(\([0-9]*\) locations.*/\1/p; t; s/^Breakpoint 1.*/1/p'
}
begins() { # FUNCTION: where readelf or gdb has a block, or a piece of one, begin
	{
		readelf --debug-dump=info,Ranges,addr -W "$tmp/app" 2>/dev/null
		gdb -nx -batch -ex "break $1" -ex "info breakpoints" "$tmp/app" 2>/dev/null
	} | grep -o '\b\(0x\)\?[0-9a-f]\{4,16\}\b' | sed 's/^\(0x\)\?0*/0x/' | sort -u
}
attached() { # FUNCTION: to which addresses
	"$btgen" expand --for 0.23 -x "$tmp/app" -e "uprobe:__EXE__:$1 { @ = count(); }" 2>/dev/null | grep -o ':0x[0-9a-f]*' | tr -d : | sort -u
}
for how in "gcc -O2" "gcc -O2 -flto -ffat-lto-objects" "gcc -O2 -gdwarf-4" "gcc -O3 -gsplit-dwarf" "clang -O2"; do
	command -v "${how%% *}" >/dev/null || { skip "$how" "no ${how%% *}"; continue; }
	# shellcheck disable=SC2086
	(cd "$tmp" && $how -g -o app one.c two.c) || { ok "$how compiles" false; continue; }
	for f in both in_header far; do
		nm "$tmp/app" | grep -q " [tT] $f$" || continue # all of it is inlined
		n=$(said $f | sed -n 's/.*warning: \([0-9]*\) inlined cop.* of.*/\1/p')
		is "$((${n:-0} + 1))" "$(places $f)" "$how: copies of $f() are counted as gdb does"
		is "$(attached $f | wc -l)" "$(($(places $f) - 1))" "$how: a newer bpftrace traces each of them"
		is "$(attached $f | comm -23 - <(begins $f))" "" "$how: where its code begins"
	done
	like "$(said only)" 'error: only\(\) has no code to probe: it is inlined in a\(\)' \
		"$how: a function that is only inlined"
	if [ -z "$(places only)" ]; then # gdb 16, of what gcc 14 links with -flto
		skip "$how: a newer bpftrace traces its copy" "this gdb finds no only()"
	else
		is "$(attached only | wc -l)" "$(places only)" "$how: a newer bpftrace traces its copy"
	fi
done
gcc -O2 -g -o "$tmp/app" "$tmp/one.c" "$tmp/two.c" || exit 1
like "$(said both)" 'warning: 5 inlined copies of both\(\) are not seen by this probe: in [a-d, main()]*, [a-d, main()]* and 1 other  \[inlined\]' \
	"three of those that call it are named"
like "$(clauses_of 0.17 "$tmp/app" 'uprobe:both' 2>&1)" 'warning: 5 inlined copies of both\(\) are not seen: in ' "-t says so, too"
is "$(clauses_of 0.17 "$tmp/app" 'uprobe:only' 2>&1)" "btgen: error: no function matches 'uprobe:only'
btgen: note: only() is inlined in a() and has no code of its own" "and of one that is only inlined"
like "$(said '*o*')" 'warning: 5 inlined copies of both\(\) .*; 1 more functions that match have copies' "a pattern warns of one, too"
like "$(clauses_of 0.17 "$tmp/app" 'uprobe:*o*' 2>&1)" 'copies of [a-z]*\(\) (is|are) not seen: in .*; 1 more of these functions' "... and -t counts each of them once"
is "$("$btgen" run -n --bpftrace "$tmp/bpftrace-0.17" -t uprobe:both --count -x "$tmp/app" 2>&1 | grep -c 'not seen')" 1 "... and --count says so once"

# older NAMES: what is said where both() is the name in other releases of what far() is here
older() { printf '#pragma optional -q both\nuprobe:__EXE__:%s { @ = count(); }\n' "$1" >"$tmp/older.bt"; "$btgen" check --for 0.17 -x "$tmp/app" "$tmp/older.bt" 2>&1; }
is "$(older 'far, uprobe:__EXE__:both' | grep both)" "" "copies of a function that another one of the clause stands for are not missed"
like "$(older 'both, uprobe:__EXE__:none' | grep warning)" 'inlined copies of both' "those of one that is all that the clause has are"
printf '#pragma optional\nuprobe:__EXE__:only { @ = count(); }\nuprobe:__EXE__:both { @b = count(); }\n' >"$tmp/optional.bt"
like "$("$btgen" check --for 0.17 -x "$tmp/app" "$tmp/optional.bt" 2>&1)" 'note: skipped, not in .*: only$' "one that is optional is skipped"

# gcc splits a function for its callers' sake: the rest is no copy, a function that calls itself has some.
cat >"$tmp/split.c" <<'EOF'
#include <stdio.h>
#include <stdlib.h>
void event(int type, int *arg);
__attribute__((noinline)) static void act(int *a) { for (int i = 0; i < 9; i++) printf("%d %d\n", *a, rand()); }
void event(int type, int *arg)
{
	if (__builtin_expect(!type, 1))
		return;
	act(arg); act(arg + 1); printf("%d", type); act(arg + 2); act(arg + 3); printf("%d", type); act(arg); exit(type);
}
int again(int n); int again(int n) { return n < 2 ? 1 : again(n - 1) + again(n - 2); }
int main(int argc, char **argv) { int a[4] = {0}; void (*volatile e)(int, int *) = event; (void)argv; e(argc, a); event(argc + 1, a); return again(argc); }
EOF
gcc -O2 -g -o "$tmp/app" "$tmp/split.c" || exit 1
if objdump -d "$tmp/app" | grep -q 'event.part'; then
	unlike "$(said event)" 'in event\(\)' "the rest of a function that gcc split is no copy of it"
else
	skip "a function that is split" "this gcc splits none"
fi
like "$(said again)" 'inlined cop(y|ies) of again\(\) (is|are) not seen by this probe: in again\(\)' "a function that calls itself has copies"

# Clones and parts, as gcc names them. (A function called clone would be exported for the C library.)
cat >"$tmp/clones.c" <<'EOF'
volatile int sink;
__attribute__((noinline)) int shoot(int n) { return n + sink; }
__attribute__((noinline)) int whole(int n) { return n - sink; }
__attribute__((noinline)) int other(int n) { return n * sink; }
__attribute__((noinline)) int rest(int n) { return n ^ sink; }
int main(int argc, char **argv) { (void)argv; return shoot(argc) + whole(argc) + other(argc) + rest(argc); }
EOF
gcc -O2 -g -o "$tmp/app" "$tmp/clones.c" || exit 1
objcopy --redefine-sym shoot=shoot.isra.0 --redefine-sym other=whole.constprop.0 --redefine-sym rest=rest.part.0 "$tmp/app"
where() { printf '0x%x' "0x$(nm "$tmp/app" | sed -n "s/ T $1\$//p")"; }
is "$(attached shoot)" "$(where shoot.isra.0)" "a function that is only there as a clone"
like "$("$btgen" expand --for 0.23 -x "$tmp/app" -e 'uprobe:__EXE__:whole { @ = count(); }')" ":whole, uprobe:.*:$(where whole.constprop.0) " "a clone beside the function"
like "$("$btgen" check -v --for 0.23 -x "$tmp/app" -e 'uprobe:__EXE__:whole { @ = count(); }' 2>&1)" 'is clone whole.constprop.0' "-v names it"
like "$("$btgen" check --for 0.23 -x "$tmp/app" -e 'uprobe:__EXE__:whole { @ = sum(arg0); }' 2>&1)" \
	'warning: 1 clone of whole\(\) is not seen by this probe, as its parameters may be others: whole.constprop.0  \[inlined\]' \
	"it is not attached to where its registers may hold other things"
like "$("$btgen" check --for 0.23 -x "$tmp/app" -e 'uprobe:__EXE__:shoot { @ = sum(arg0); }' 2>&1)" \
	'warning: shoot.isra.0 is a clone whose parameters may be others' "nor in silence where there is nothing else"
is "$(said rest | grep -v '\^\|uprobe:')" "<command line>:1:1: error: no function rest in $tmp/app
btgen: note: rest.part.0 is a part that gcc split off rest(): not every call runs it" "a part of a function is none"
# What gcc makes where no caller wants the result.
like "$("$btgen" check --for 0.23 -x "$tmp/app" -e 'uretprobe:__EXE__:shoot { print(retval); }' 2>&1)" \
	'warning: retval may be whatever the register holds: .* shoot.isra.0  \[argument\]' "a clone may have no result"
like "$("$btgen" check --for 0.23 -x "$tmp/app" -e 'uretprobe:__EXE__:shoot.isra.0 { print(retval); }' 2>&1)" \
	'warning: retval may be whatever the register holds: .* shoot.isra.0  \[argument\]' "nor by its symbol"
is "$(clauses_of 0.23 "$tmp/app" uretprobe:shoot | grep -c 'retval=')" 0 "-t does not print it"
is "$(clauses_of 0.23 "$tmp/app" uretprobe:whole | grep -c 'retval=')" 2 "other results it prints"
like "$("$btgen" run -n -x "$tmp/app" --calls shoot 2>&1)" '"uretprobe:shoot.isra.0"' "--calls has the name of the function for its return, too"
# Inside of a function bpftrace reads the parameters from where they were when it began.
inside=$(printf '0x%x' $((0x$(nm "$tmp/app" | sed -n 's/ T whole$//p') + 4)))
for at in whole+4 "$inside"; do
	like "$("$btgen" check --for 0.27 -x "$tmp/app" -e "uprobe:__EXE__:$at { print(args.n); }" 2>&1)" \
		'error: args are those of a call, which an address inside a function is not: use vars.NAME' "$at: args.NAME is refused"
	like "$("$btgen" check --for 0.27 -x "$tmp/app" -e "uprobe:__EXE__:$at { print(arg0); }" 2>&1)" \
		'warning: argN is a register, .*: use vars.NAME  \[argument\]' "$at: argN is a register"
done
is "$("$btgen" check --for 0.27 -x "$tmp/app" -e "uprobe:__EXE__:$(where whole) { print(args.n); }" 2>&1)" "" "the address of a function is a call"
cat >"$tmp/chosen.c" <<'EOF'
static int fast(int n) { return n + 1; }
static int (*choose(void))(int) { return fast; }
int pick(int n) __attribute__((ifunc("choose")));
int main(int argc, char **argv) { (void)argv; return pick(argc); }
EOF
if gcc -O1 -g -o "$tmp/app" "$tmp/chosen.c" 2>/dev/null; then
	like "$(said pick)" 'error: pick\(\) is chosen when the program is loaded \(ifunc\), and what was chosen is not known' "an ifunc, without a process"
else
	skip "an ifunc" "this compiler has none"
fi

# Names of Rust, in both manglings: those of nm -C and, of Rust's own, of gdb.
cat >"$tmp/names.rs" <<'EOF'
mod acme {
    pub struct Server { pub v: u32 }
    pub struct Box<T> { pub t: T }
    pub trait Handle { fn run(&self, n: u32) -> u32; }
    impl Server {
        #[inline(never)] pub fn handle(&self, n: u32) -> u32 { self.v + n + std::process::id() }
        #[inline(always)] pub fn quick(&self, n: u32) -> u32 { self.v ^ n ^ std::process::id() }
    }
    impl Handle for Server { #[inline(never)] fn run(&self, n: u32) -> u32 { self.v * n + std::process::id() } }
    impl<T: Copy + Into<u32>> Handle for Box<T> { #[inline(never)] fn run(&self, n: u32) -> u32 { self.t.into() - n * std::process::id() } }
    #[inline(never)] pub fn put<T: Into<u32>>(t: T) -> u32 { t.into() + std::process::id() }
}
use acme::Handle;
#[inline(never)] fn apply(f: &dyn Fn(u32) -> u32) -> u32 { f(std::process::id()) }
fn main() {
    let (s, b) = (acme::Server { v: 3 }, acme::Box { t: 4u16 });
    println!("{} {} {} {} {} {} {}", s.handle(4), s.quick(5), s.run(6), b.run(7), acme::put(8u8), acme::put(9u16), apply(&|n| n ^ s.v));
}
EOF
export RUSTC_BOOTSTRAP=1 # each has one of the two for its own tests alone
for mangling in legacy v0; do
	command -v rustc >/dev/null || { skip "Rust, $mangling" "no rustc"; continue; }
	rustc -g -O -Z unstable-options -C symbol-mangling-version=$mangling -o "$tmp/app" "$tmp/names.rs" 2>/dev/null ||
		{ skip "Rust, $mangling" "this rustc does not have it"; continue; }
	symbol=$(nm "$tmp/app" | sed -n 's/.* [tT] \(.*6handle.*\)$/\1/p' | grep acme)
	like "$("$btgen" expand --for 0.17 -x "$tmp/app" -e 'uprobe:__EXE__:names::acme::Server::handle { @ = count(); }' 2>&1)" ":$symbol " "Rust, $mangling: a method"
	is "$(attached names::acme::Server::quick | wc -l)" 1 "Rust, $mangling: one that is inlined"
	"$btgen" expand --for 0.23 -x "$tmp/app" -e 'uprobe:__EXE__:names::acme::put { @ = count(); }' >"$tmp/all" 2>&1
	like "$(cat "$tmp/all")" '^uprobe:[^ ]*3put[^ ]*, uprobe:[^ ]*3put[^ ]* \{' "Rust, $mangling: all instances"
	like "$("$btgen" expand --for 0.23 -x "$tmp/app" -e 'uprobe:__EXE__:"names::acme::put<u16>" { @ = count(); }' 2>&1)" '^uprobe:[^ ]*3put[^ ]* \{' "Rust, $mangling: one of them, as gdb prints it"
	grep -q -- -liberty "$top/config.mak" || { skip "Rust, $mangling: names of nm -C" "built without libiberty"; continue; }
	nm -C "$tmp/app" | sed -nE 's/^0*([0-9a-f]+) [tT] (<?names::.*)/\1 \2/p' | sort >"$tmp/names"
	while read -r addr name; do # by its symbol, or as it is
		symbol=$(nm "$tmp/app" | sed -n "s/^0*$addr [tT] //p")
		"$btgen" expand --for 0.23 -x "$tmp/app" -e "uprobe:__EXE__:\"$name\" { @ = count(); }" 2>&1 | tr ',{' '\n\n' | grep -qE ":(\"?${symbol//$/\\$}\"?|0x$addr) *$" && printf '%s %s\n' "$addr" "$name"
	done <"$tmp/names" >"$tmp/found"
	is "$(cat "$tmp/found")" "$(cat "$tmp/names")" "Rust, $mangling: each name of nm -C is one"
	is "$("$btgen" probes -x "$tmp/app" 'uprobe:*names::*' | sed -E 's/^uprobe:(.*)\([^()]*(\(.*)?\)$/\1/' | sort)" "$(cut -d' ' -f2- "$tmp/names" | sort)" "Rust, $mangling: -l has these names"
	strip -o "$tmp/stripped" -g "$tmp/app"
	like "$("$btgen" expand --for 0.23 -x "$tmp/stripped" -e 'uprobe:__EXE__:names::acme::put { @ = count(); }' 2>&1)" '^uprobe:[^ ]*, uprobe:[^ ]* \{' "Rust, $mangling: all instances, without debug information"
done
done_testing
