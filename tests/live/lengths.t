#!/usr/bin/env bash
# str(p, n) has n characters on every bpftrace, whatever n is and wherever the text goes.
. "$(dirname "$0")/../lib.sh"
. "$top/tests/live.sh"
can_trace || skip_all "needs root and bpftrace"

cat >"$tmp/t.c" <<'E2'
#include <btgen/usdt.h>
#include <stdint.h>
#include <stdio.h>
enum five { FIVE = 5 };
struct slice { const char *p; uint8_t u8; uint16_t u16; uint32_t u32; uint64_t u64; int8_t i8; int i32; unsigned bits : 5; int sbits : 5; enum five e;
	char text[12]; uint8_t of[2]; };
// One for each clause: those of one probe are one program to some bpftraces, and too large a one.
#define TAKE(i) __attribute__((noinline)) void take##i(struct slice *s, int n, const char *text) { __asm__ volatile("" :: "r"(s), "r"(n), "r"(text)); }
#include "calls.h"
int main(void)
{
	static char text[] = "helloWORLD";
	static struct slice s = {text, 5, 5, 5, 5, 5, 5, 5, 5, FIVE, "helloWORLD", {0, 5}};
	uint16_t n = 5;
	printf("%.*s\n", n, text);
	fflush(stdout);
	if (getchar() == 'x') {
#undef TAKE
#define TAKE(i) take##i(&s, n, text);
#include "calls.h"
		USDT_PROBE(t, text, USDT_ARG((char *)text, "text"), n, &s);
	}
	return puts("done");
}
E2
lengths=('args.s->'{u8,u16,u32,u64,i8,i32,bits,sbits,e,of[1]} args.n '(uint32)args.s->u64' 'args.s->u8 - 1 + 1' 'args.n ? 5 : 4'
	5 0x5 FIVE 'sizeof(uint32) + 1')
cat >"$tmp/others.bt" <<'E2'
{ $n = args.s->u16; printf("%s\n", str(args.text, $n)); }
{ @n = args.s->u32; printf("%s\n", str(args.text, @n)); }
{ printf("%s\n", str(args.s->text, args.s->u8)); }
{ $t = str(args.text, args.n); printf("%s\n", $t); }
{ @t = str(args.text, args.s->u8); printf("%s\n", @t); }
{ if (str(args.text, 5) == "hello") { printf("hello\n"); } }
/str(args.text, args.s->u16) == "hello"/ { printf("hello\n"); }
E2
{
	for length in "${lengths[@]}"; do printf '{ printf("%%s\\n", str(args.text, %s)); }\n' "$length"; done
	cat "$tmp/others.bt"
} | awk '{ printf "uprobe:__EXE__:take%d %s\n", NR, $0 }' >"$tmp/t.bt"
cat >>"$tmp/t.bt" <<'E2'
usdt:__EXE__:t:text { printf("%s\n", str(args.text, args.n)); }
usdt:__EXE__:t:text { printf("%s\n", str(arg0, arg1)); }
usdt:__EXE__:t:text { @k[str(args.text, args.n)] = count(); @k[str(args.s->p, args.s->bits)] = count(); @k[str(args.text, 5)] = count(); }
END { clear(@n); clear(@t); }
E2
sed -n 's/.*:take\([0-9]*\) .*/TAKE(\1)/p' "$tmp/t.bt" >"$tmp/calls.h"
gcc -O1 -g -I"$top/include" -o "$tmp/t" "$tmp/t.c" || exit 1
n=$(grep -c printf "$tmp/t.bt")
live_start "$tmp/t"
live_round "$live_pid" "$tmp/t.bt"
text=$(head -n 1 "$tmp/answers")
is "$(grep -v '^@' "$tmp/trace" | grep . | sort | uniq -c | xargs)" "$n $text" "each of $n clauses prints the $n times that the program has it"
is "$(grep '^@k' "$tmp/trace")" "@k[$text]: 3" "as a key it is one, however its length is given"

live_start "$tmp/t"
live_round -f json "$live_pid" -e 'usdt:__EXE__:t:text { printf("%s %s\n", str(args.text, args.s->u8), str(args.text, 0)); }'
is "$(grep -o '"text": *"[^"]*"' "$tmp/trace" | head -n 1)" "\"text\": \"$text \"" "in JSON, and a length of 0 is an empty text"

done_testing
