#!/usr/bin/env bash
# Arguments behind the sixth, and globals: up to 0.23 bpftrace has no argN for the ones and a wrong one for the others. They are
# read where the note says that they are.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"
[[ $(uname -m) =~ ^(x86_64|aarch64)$ ]] || skip_all "the names of registers are known on x86-64 and aarch64 only"
version=$("$bpftrace" --version | sed 's/.*v0\.\([0-9]*\).*/\1/')

cat >"$tmp/far.c" <<'E2'
#include <btgen/usdt.h>
#include <stdint.h>
#include <stdio.h>
enum mode { OFF, ON = 3, BAD = -1 };
struct box { int delta; unsigned low : 3; char name[20]; };
static volatile int touched;
__attribute__((noinline, noclone)) static void small(int n, int8_t a, uint8_t b, int16_t c, uint16_t d, int32_t e, uint32_t f)
{
	USDT_PROBE(far, small, n, n, n, n, n, n, a, b, c, d, e, f);
	printf("small %d %u %d %u %d %u\n", a, b, c, d, e, f);
	printf("signs %d%d%d%d %d %d %d\n", a < 0, c < 0, e < -5, f > 5, e / 1000, b - d, -(long)f < 0);
}
__attribute__((noinline, noclone)) static void large(int n, int64_t a, uint64_t b, struct box *box, const char *text, enum mode mode)
{
	touched += text[0] + box->name[0];
	USDT_PROBE(far, large, n, n, n, n, n, n, a, b, box, text, mode, 7);
	printf("large %ld %lu %d %s %s %s %d\n", a, b, box->delta, box->name, text, mode == BAD ? "BAD" : "?", 7);
}
__attribute__((noinline, noclone)) static void twice(int n, int other)
{
	USDT_PROBE(far, same, n, n, n, n, n, n, USDT_ARG(7, "seventh"));
	USDT_PROBE(far, same, n, n, n, n, n, n, USDT_ARG(7, "seventh"));
	USDT_PROBE(far, spread, n, n, n, n, n, n, USDT_ARG(n, "seventh"));
	USDT_PROBE(far, spread, n, n, n, n, n, n, USDT_ARG(7, "seventh"));
}
int main(int argc, char **argv)
{
	struct box box = {-9, 5, "in a box"};
	char text[] = "hello";
	getchar();
	for (int i = 0; i < 2; i++) {
		small(argc, -1 - i, 255, -300, 65000, -70000, 4000000000u);
		large(argc, -5000000000, 0xffffffffffffff00, &box, text, i ? BAD : BAD);
		twice(argc, i);
	}
	puts("done");
	return 0;
}
E2

cat >"$tmp/far.bt" <<'E2'
usdt:__EXE__:far:small { printf("small %d %u %d %u %d %u\n", arg6, arg7, arg8, arg9, arg10, arg11); }
usdt:__EXE__:far:small { printf("signs %d%d%d%d %d %d %d\n", args.a < 0, args.c < 0, args.e < -5, args.f > 5, args.e / 1000, args.b - args.d, -args.f < 0); }
usdt:__EXE__:far:large /args.a < 0 && args.10 == BAD/ {
	printf("large %d %u %d %s %s %s %d\n", args.a, args.b, args.box->delta, str(args.box->name), str(args.text), enum_name(mode, args.mode), arg11);
}
E2

# build NAME OPTION...: registers or, with the constraint "nor", memory
build() { "${CC:-gcc}" -g "${@:2}" -I"$top/include" -o "$tmp/$1" "$tmp/far.c"; }
build registers -O2
build pushed -O0
build memory -O0 -DUSDT_CONSTRAINT='"nor"'
build both -O2 -fno-omit-frame-pointer -DUSDT_CONSTRAINT='"nor"'
build still -O1 -fno-pie -no-pie
for way in registers pushed memory both still; do
	live_start "$tmp/$way"
	ok "$way: a script that reads them is accepted" live_trace "$live_pid" "$tmp/far.bt"
	echo >&8
	wait_for grep -q '^done' "$tmp/answers"
	live_wait
	exec 8>&-
	is "$(grep -v '^$' "$tmp/trace" | sort)" "$(grep -v '^done' "$tmp/answers" | sort)" "$way: and prints what the program passed"

	live_start "$tmp/$way"
	ok "$way: -t traces them" live_trace -t far:small -t far:large "$live_pid"
	echo >&8
	wait_for grep -q '^done' "$tmp/answers"
	live_wait
	exec 8>&-
	is "$(sed -nE 's/.*far:small .*[^a-z]a=(\S+) b=(\S+) c=(\S+) d=(\S+) e=(\S+) f=(\S+)$/small \1 \2 \3 \4 \5 \6/p
s/.*far:large .*[^a-z]a=(\S+) b=(\S+) box=\S+ text="(.*)" mode=(\S+) arg11=7$/large \1 \2 \3 \4/p' "$tmp/trace" | sort)" \
		"$(sed -nE 's/^large (\S+) (\S+) -9 in a box (.*) 7$/large \1 \2 \3/p; /^small/p' "$tmp/answers" |
			sort)" "$way: with the same values"
	unlike "$(cat "$tmp/trace")" '=\?' "$way: none is unknown"
done

# A global's place is a symbol, of which bpftrace up to 0.23 reads rubbish; from 0.24 on it refuses such a probe.
cat >"$tmp/sym.c" <<'E2'
#include <btgen/usdt.h>
#include <stdio.h>
unsigned char counter = 200;
static short low = -3;
static struct { int first, second; } pair = {1, -70000};
__attribute__((noinline)) static void hit(int n) { USDT_PROBE(sym, hit, n, counter, low, pair.second); }
int main(void)
{
	getchar();
	for (int i = 0; i < 3; i++) {
		counter++, low--, pair.second *= 3;
		hit(i);
		printf("hit n=%d counter=%u low=%d second=%d %d\n", i, counter, low, pair.second, pair.second / 1000);
	}
	puts("done");
	return 0;
}
E2
for pie in '-fno-pie -no-pie' '-fPIE -pie'; do
	[ "$version" -lt 24 ] || break
	# shellcheck disable=SC2086 # two words
	"${CC:-gcc}" -O2 -g -fno-section-anchors $pie -DUSDT_CONSTRAINT='"nor"' -I"$top/include" -o "$tmp/sym" "$tmp/sym.c"
	like "$(readelf -nW "$tmp/sym")" '@counter\(%rip\) -2@low\(%rip\) -4@(pair\+4|4\+pair)\(%rip\)|#:lo12:counter\] .*#:lo12:low\] .*-4@\[x[0-9]+, (4|#:lo12:pair\+4)\]' \
		"$pie: places that are symbols"
	live_start "$tmp/sym"
	ok "$pie: a script that reads them is accepted" live_trace "$live_pid" \
		-e 'usdt:__EXE__:sym:hit { printf("hit n=%d counter=%d low=%d second=%d %d\n", arg0, args.counter, arg2, arg3, arg3 / 1000); }'
	echo >&8
	wait_for grep -q '^done' "$tmp/answers"
	live_wait
	exec 8>&-
	is "$(grep hit "$tmp/trace")" "$(grep hit "$tmp/answers")" "$pie: and prints what the program passed"
done
strip -o "$tmp/stripped" "$tmp/sym" 2>/dev/null &&
	like "$("$btgen" expand --for 0.17 -x "$tmp/stripped" -e 'usdt:__EXE__:sym:hit { print(arg1); }' 2>&1)" \
		'error: bpftrace 0.17 cannot read arg1 of sym:hit: it is at (counter\(%rip\)|\[x[0-9]+, #:lo12:counter\])' \
			"where no symbol table says where it is, it is refused"

# Behind a floating-point number, as SystemTap's header writes it, bpftrace up to 0.23 has no arguments at all.
cat >"$tmp/behind.c" <<'E2'
#include <stdio.h>
__asm__(".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n.weak _.stapsdt.base\n.hidden _.stapsdt.base\n"
	"_.stapsdt.base: .space 1\n.size _.stapsdt.base,1\n.popsection\n");
__attribute__((noinline)) static void hit(double d, int n)
{
	__asm__ volatile("990: nop\n.pushsection .note.stapsdt,\"?\",\"note\"\n.balign 4\n.4byte 992f-991f,994f-993f,3\n"
			 "991: .asciz \"stapsdt\"\n992: .balign 4\n993: .8byte 990b,_.stapsdt.base,0\n.asciz \"sym\"\n.asciz \"behind\"\n"
			 ".asciz \"-4@%1 8f@%0 -4@%1 8@%2\"\n994: .balign 4\n.popsection\n" : : FLOAT (d), "r"(n), "n"(7));
}
int main(void) { getchar(); for (int i = 0; i < 3; i++) hit(1.5, -i); puts("done"); fflush(stdout); getchar(); }
E2
if [ "$version" -lt 24 ]; then
	float=x
	[ "$(uname -m)" = x86_64 ] || float=w
	"${CC:-gcc}" -O2 -DFLOAT="\"$float\"" -o "$tmp/behind" "$tmp/behind.c"
	live_start "$tmp/behind"
	live_round "$live_pid" -e 'usdt:__EXE__:sym:behind { printf("%d %d %d\n", arg0, arg2, arg3); }'
	is "$(grep . "$tmp/trace")" $'0 0 7\n-1 -1 7\n-2 -2 7' "what is behind a floating-point number is read all the same"
fi

# Where sites have it in different places no expression is right for all.
spread=$("$btgen" expand --for 0.17 -x "$tmp/registers" -e 'usdt:__EXE__:far:spread { @ = args.seventh; }' 2>&1)
like "$spread" 'error: bpftrace 0.17 reads arg0 to arg5 only' "what sites disagree about is refused"
like "$spread" 'note: at one site arg6 is -4@\$?7: no single expression reads it there and at the other sites' "with one of the places"
like "$("$btgen" expand --for 0.17 -x "$tmp/registers" -e 'usdt:__EXE__:far:same { @ = args.seventh; }')" \
	'@ = \(int64\)\(int32\)7' "what they agree about is not"
live_start "$tmp/registers"
ok "-t traces such a probe" live_trace -t far:spread "$live_pid"
echo >&8
wait_for grep -q '^done' "$tmp/answers"
live_wait
exec 8>&-
is "$(sed 's/.* seventh=//' "$tmp/trace" | sort | uniq -c | tr -s ' \n' ' ')" \
	"$([ "$version" -ge 24 ] && echo ' 2 1 2 7 ' || echo ' 4 ? ')" \
	"and prints a question mark where this bpftrace cannot read it"
done_testing
