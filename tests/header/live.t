#!/usr/bin/env bash
# A traced program prints what it passes to its probes; bpftrace must print the same.
. "$(dirname "$0")/../lib.sh"
# shellcheck disable=SC2154 # set by lib.sh

cat >"$tmp/p.c" <<'EOF'
#include <btgen/usdt.h>
#include <stdio.h>
enum state { IDLE, BUSY = 5 };
struct item { char name[16]; enum state state; unsigned small : 3; short neg; };
static int evaluated;
static int costly(int x) { evaluated++; return x + 1; }
int main(void)
{
	static struct item it = { "first", BUSY, 6, -2 };
	for (int i = 0; i < 3; i++) {
		USDT_PROBE(app, item, it.name, it.state, it.small, it.neg, i, (unsigned char)(250 + i));
		USDT_PROBE_LAZY(app, lazy, costly(i));
		printf("item %s %d %d %d %d %d\n", it.name, it.state, it.small, it.neg, i, 250 + i);
	}
	fprintf(stderr, "%d\n", evaluated);
	return 0;
}
EOF

need_tracing
# shellcheck disable=SC2016 # $ belongs to the script
prog='
	usdt:'$tmp'/p:app:item { printf("item %s %d %d %d %d %d\n", str(arg0), (int32)arg1, arg2, (int16)arg3, (int32)arg4, (uint8)arg5); }
	usdt:'$tmp'/p:app:lazy { printf("lazy %d\n", (int32)arg0); }'
for cc in gcc clang; do
	command -v $cc >/dev/null || { skip "$cc" "no $cc"; continue; }
	$cc -std=c11 -O2 -g -I"$top/include" -o "$tmp/p" "$tmp/p.c"
	"$tmp/p" >"$tmp/want" 2>"$tmp/evaluated"
	is "$(cat "$tmp/evaluated")" 0 "$cc: a lazy argument is not evaluated while nobody traces"
	guard bpftrace -o "$tmp/got" -e "$prog" -c "$tmp/p" >/dev/null 2>"$tmp/err"
	is "$(grep '^item' "$tmp/got")" "$(cat "$tmp/want")" "$cc: bpftrace prints what the program passed"
	is "$(grep -c '^lazy [123]' "$tmp/got")" 3 "$cc: a lazy probe fires while it is traced"
done

# The kernel's faster way to trace a 5-byte nop writes below the stack pointer, where a leaf function has variables.
cat >"$tmp/leaf.c" <<'EOF'
#include <btgen/usdt.h>
#include <stdio.h>
static __attribute__((noinline)) long leaf(long n)
{
	volatile long a[8];
	for (int i = 0; i < 8; i++)
		a[i] = n + i;
	USDT_PROBE(p, leaf, n);
	long sum = 0;
	for (int i = 0; i < 8; i++)
		sum += a[i] - n;
	return sum;
}
int main(void)
{
	int bad = 0;
	for (long n = 0; n < 1000; n++)
		bad += leaf(n) != 28;
	printf("%d wrong\n", bad);
	return 0;
}
EOF
if [ "$(uname -m)" = x86_64 ]; then
	for how in "" "-DUSDT_FAST" "-DUSDT_FAST=5" "-DUSDT_FAST=5 -DUSDT_NO_RED_ZONE -mno-red-zone"; do
		# shellcheck disable=SC2086
		gcc -O2 -I"$top/include" $how -o "$tmp/leaf" "$tmp/leaf.c"
		guard bpftrace -o "$tmp/got" -e 'usdt:'"$tmp"'/leaf:p:leaf { @ = count(); @s = sum(arg0); }' \
			-c "$tmp/leaf" >"$tmp/said" 2>/dev/null
		is "$(grep wrong "$tmp/said")" "0 wrong" "gcc -O2 $how: a traced leaf function keeps its variables"
		is "$(grep -o '^@.*' "$tmp/got" | sort | xargs)" "@: 1000 @s: 499500" "gcc -O2 $how: each hit is seen, with its argument"
	done
	gcc -O2 -I"$top/include" -DUSDT_FAST -o "$tmp/leaf" "$tmp/leaf.c"
	like "$(objdump -d "$tmp/leaf" --disassemble=leaf | grep -A1 -E '\s90\s+nop' | xargs)" 'nop.*cs nopw' "USDT_FAST: the 10-byte nop is behind the one that is traced"
	is "$(readelf -n "$tmp/leaf" | sed -n 's/.*Location: 0x0*\([0-9a-f]*\),.*/\1/p')" \
		"$(objdump -d "$tmp/leaf" --disassemble=leaf | sed -nE 's/^ *([0-9a-f]+):\s90\s+nop$/\1/p' | head -n 1)" "which is the note's"
else
	skip "USDT_FAST" "for x86-64"
fi
gcc -O2 -I"$top/include" -DUSDT_FAST=5 '-DUSDT_CONSTRAINT="nor"' -c -o "$tmp/leaf.o" "$tmp/leaf.c" 2>"$tmp/err"
like "$(cat "$tmp/err")" 'would be misread|is for x86-64' "USDT_FAST=5 with arguments in memory is refused"
done_testing
