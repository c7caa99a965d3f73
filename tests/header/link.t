#!/usr/bin/env bash
# The notes survive linkers that drop unused sections, link-time optimisation and strip; semaphores are shared as promised.
. "$(dirname "$0")/../lib.sh"
# shellcheck disable=SC2154 # top, tmp: lib.sh

include="-I$top/include"
probes=$top/tests/header/probes.py
cat >"$tmp/a.c" <<'EOF'
#include <btgen/usdt.h>
USDT_SEMA_DEFINE(shared);
USDT_DOC(p, both, "when \"it\" happens, 100% of the time");
int other(int x);
int never_called(int x) { USDT_PROBE(p, dead, x); return x; }
int main(int argc, char **argv)
{
	(void)argv;
	USDT_PROBE(p, both, argc);
	USDT_PROBE(p, plain, argc);
	USDT_PROBE_LAZY(p, lazy, argc);
	USDT_PROBE_SEMA(shared, p, one, argc);
	return other(argc) != argc;
}
EOF
cat >"$tmp/b.c" <<'EOF'
#include <btgen/usdt.h>
USDT_SEMA_DECLARE(shared);
int other(int x)
{
	if (USDT_ENABLED(p, both)) /* gives all sites of p:both their semaphore, those of a.c too */
		USDT_PROBE(p, both, x, x);
	USDT_PROBE_LAZY(p, lazy, x);
	if (USDT_SEMA_ENABLED(shared))
		USDT_PROBE_SEMA(shared, p, two, x);
	return x;
}
EOF
live() { grep -v 'p:dead' | sed 's/ [^ ]*:[0-9]*$//' | sort; }
want='p:both(int [argc]) sema
p:both(int [x], int [x]) sema
p:lazy(int [argc]) sema
p:lazy(int [x]) sema
p:one(int [argc]) sema
p:plain(int [argc]) -
p:two(int [x]) sema'

semaphores() { # FILE: name and address of each semaphore
	readelf -nW "$1" | awk '
		match($0, /Name: /) { n = substr($0, RSTART + 6) }
		match($0, /Semaphore: /) { print n, substr($0, RSTART + 11) }' | grep -v ' 0x0*$' | sort -u
}

for how in "gcc -O2" "gcc -O2 -fuse-ld=lld" "gcc -O2 -fuse-ld=mold" "gcc -O2 -flto" "clang -O2" "clang -O2 -fuse-ld=lld" \
	"clang -O2 -flto -fuse-ld=lld" \
	"clang -O2 -fuse-ld=mold"; do
	cc=${how%% *} linker=${how##*-fuse-ld=}
	command -v "$cc" >/dev/null || { skip "$how" "no $cc"; continue; }
	[ "$linker" = "$how" ] || command -v "ld.$linker" >/dev/null || { skip "$how" "no $linker"; continue; }
	# shellcheck disable=SC2086
	$how -g -ffunction-sections -fdata-sections -Wl,--gc-sections "$include" -o "$tmp/ab" "$tmp/a.c" "$tmp/b.c" ||
		{ ok "$how links" false; continue; }
	is "$("$probes" "$tmp/ab" | live)" "$want" "$how --gc-sections: all sites, with types and texts; the base section is there"
	is "$(semaphores "$tmp/ab" | awk '{ print $2 }' | sort | uniq -c | awk '{ print $1 }' | sort | xargs)" "1 1 2" \
		"$how: one semaphore for each probe, one for the two probes that share it"
	ok "$how: it runs" "$tmp/ab"
done

gcc -O2 -g "$include" -o "$tmp/ab" "$tmp/a.c" "$tmp/b.c"
untyped=$("$probes" --no-types "$tmp/ab")
for how in strip "strip -g" "strip --strip-unneeded" eu-strip "llvm-strip --strip-all-gnu"; do
	command -v "${how%% *}" >/dev/null || { skip "$how" "no ${how%% *}"; continue; }
	cp "$tmp/ab" "$tmp/stripped"
	# shellcheck disable=SC2086
	$how "$tmp/stripped"
	is "$("$probes" --no-types "$tmp/stripped")" "$untyped" "names, files and lines survive $how"
done
is "$(readelf -SW "$tmp/ab" | awk '/note\.btgen/ { print $3, $8 }')" "NOTE 0" "the note of ours is a note and is not loaded"

# One probe's semaphore in an executable is not that of the library, which has its own.
if can_trace; then
	cat >"$tmp/lib.c" <<'EOF'
#include <btgen/usdt.h>
#include <stdio.h>
void lib(int x) { if (USDT_ENABLED(p, both)) printf("library on\n"); USDT_PROBE(p, both, x); }
EOF
	cat >"$tmp/exe.c" <<'EOF'
#include <btgen/usdt.h>
#include <stdio.h>
void lib(int x);
int main(void) { if (USDT_ENABLED(p, both)) printf("program on\n"); USDT_PROBE(p, both, 1); lib(1); return 0; }
EOF
	gcc -O2 -g "$include" -fPIC -shared -o "$tmp/libl.so" "$tmp/lib.c"
	gcc -O2 -g "$include" -o "$tmp/exe" "$tmp/exe.c" "$tmp/libl.so" -Wl,-rpath,"$tmp"
	guard bpftrace -o "$tmp/out" -e "usdt:$tmp/libl.so:p:both { printf(\"%d\", arg0); }" -c "$tmp/exe" >"$tmp/ran" 2>/dev/null
	is "$(grep ' on' "$tmp/ran")" "library on" "a tracer of the library raises the library's semaphore, not the program's"
else
	skip_tracing "a library has semaphores of its own"
fi
# Functions that are alike become one: the notes of both probes have its address.
cat >"$tmp/fold.c" <<'EOF'
#include <btgen/usdt.h>
#define FUNCTION(name, probe, code) __attribute__((noinline)) void name(int n) { USDT_PROBE(p, probe, n); __asm__ volatile(code); }
FUNCTION(a, one, "nop")
FUNCTION(b, two, "nop")
FUNCTION(c, twice, "nop\n nop")
FUNCTION(d, twice, "nop\n nop")
FUNCTION(e, alone, "nop\n nop\n nop")
int main(int argc, char **argv) { (void)argv; a(argc), b(argc), c(argc), d(argc), e(argc); return 0; }
EOF
# folded VERSION PROBE: what btgen says of it
folded() { "$btgen" check --for "$1" -x "$tmp/fold" -e "usdt:__EXE__:p:$2 { @ = count(); }" 2>&1 | sed -n 's/.*warning: \(.*\)  \[.*/\1/p'; }
if command -v ld.lld >/dev/null; then
	fold() { gcc -O2 -g -ffunction-sections -fuse-ld=lld -Wl,--icf="$1" "$include" -o "$tmp/fold" "$tmp/fold.c"; }
	ok "a program links with folded code" fold all
	is "$(folded 0.17 one)" "events of p:two are seen as p:one, too: the linker has folded the code of both" "a probe whose count has another's events"
	is "$(folded 0.23 twice)" "" "sites at one address are one up to 0.23"
	is "$(folded 0.27 twice)" "1 of 2 sites of p:twice lie at the address of another, where the linker has folded code: bpftrace counts an event there once for each" \
		"... and several from 0.24 on"
	is "$(folded 0.27 alone)" "" "nothing is said of a probe whose code is its own"
	fold none
	is "$(folded 0.17 one)$(folded 0.27 twice)" "" "... or where the linker folds nothing"
else
	skip "folded code" "no lld"
fi
done_testing
