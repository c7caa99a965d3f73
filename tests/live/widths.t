#!/usr/bin/env bash
# Words whose result depends on how wide a value is: bswap(), sizeof(), casts to arrays, is_ptr(). The oracle is what C makes of the
# same expression, which the traced program prints.
# shellcheck source=tests/lib.sh disable=SC2016
. "$(dirname "$0")/../lib.sh"
need_tracing
version=$("$bpftrace" --version | sed -n 's/^bpftrace v0\.\([0-9]*\).*/\1/p')

# One case a line: statements before it | in the script | in C, of u = *o
cat >"$tmp/cases" <<'EOF2'
|bswap(args.i)|__builtin_bswap32(i)
|bswap(args.us)|__builtin_bswap16(us)
|bswap(args.l) / 7|__builtin_bswap64(l) / 7
|bswap(args.l) > args.i|__builtin_bswap64(l) > i
|bswap(args.l)|__builtin_bswap64(l)
|bswap(args.o->s8)|(uint8_t)o->s8
|bswap(args.o->s16)|__builtin_bswap16(o->s16)
|bswap(args.o->u16)|__builtin_bswap16(o->u16)
|bswap(args.o->s32)|__builtin_bswap32(o->s32)
|bswap(args.o->u64)|__builtin_bswap64(o->u64)
|bswap(args.o->list[1])|__builtin_bswap32(o->list[1])
|bswap(*args.o->at)|__builtin_bswap32(*o->at)
|bswap(args.o->inner.port)|__builtin_bswap16(o->inner.port)
|bswap((int16)args.l)|__builtin_bswap16((int16_t)l)
|bswap((uint32)args.o->s16)|__builtin_bswap32((uint32_t)o->s16)
|bswap(args.i ? args.o->u16 : 0)|__builtin_bswap16(o->u16)
|bswap(0x1234)|__builtin_bswap32(0x1234)
|bswap(GREEN)|__builtin_bswap32(GREEN)
|bswap(args.o->color)|__builtin_bswap32(o->color)
|bswap(args.o->u16 + 1)|__builtin_bswap64(o->u16 + 1)
|bswap(bswap(args.o->s16)) + 1|(uint16_t)o->s16 + 1
|bswap(args.o->u16) * 65536|__builtin_bswap16(o->u16) * 65536L
|bswap(args.o->u16) + bswap(args.us)|__builtin_bswap16(o->u16) + __builtin_bswap16(us)
|bswap(args.o->u16) / -2|__builtin_bswap16(o->u16) / -2
|bswap(args.o->u16) > args.i|__builtin_bswap16(o->u16) > i
$a = args.o->u16;|bswap($a)|__builtin_bswap16(o->u16)
$b = 0; if (args.i) { $b = args.us; }|bswap($b)|__builtin_bswap16(us)
$c = args.o->u16; $c = args.i;|bswap((uint16)$c)|__builtin_bswap16((uint16_t)i)
$d = args.o->u16; $d++;|bswap($d)|__builtin_bswap64(o->u16 + 1)
@e = args.o->s32;|bswap(@e)|__builtin_bswap32(o->s32)
$f = (args.o->u16, args.o->s32);|bswap($f.1)|__builtin_bswap32(o->s32)
|sizeof(args.i)|sizeof i
|sizeof(args.us)|sizeof us
|sizeof(args.o)|sizeof o
|sizeof(args.o->s32)|sizeof o->s32
|sizeof(args.o->list)|sizeof o->list
|sizeof((int16)args.l)|sizeof((int16_t)l)
$g = args.o->s16;|sizeof($g)|sizeof o->s16
EOF2
[ "$version" -lt 19 ] || cat >>"$tmp/cases" <<'EOF2'
$h = (uint8[4])args.o->s32;|$h[0] * 256 + $h[3]|((uint8_t *)&o->s32)[0] * 256 + ((uint8_t *)&o->s32)[3]
$j = (uint8[4])args.i;|$j[0] * 256 + $j[3]|((uint8_t *)&i)[0] * 256 + ((uint8_t *)&i)[3]
$k = args.o->u16; $l = (uint8[2])$k;|$l[0] * 256 + $l[1]|((uint8_t *)&o->u16)[0] * 256 + ((uint8_t *)&o->u16)[1]
$m = (uint16[4])args.l;|$m[0] * 65536 + $m[3]|((uint16_t *)&l)[0] * 65536L + ((uint16_t *)&l)[3]
EOF2
[ "$version" -lt 22 ] || cat >>"$tmp/cases" <<'EOF2'
let $n : int32 = args.i;|bswap($n)|__builtin_bswap32(i)
let $p : int16; $p = args.o->s16;|bswap($p)|__builtin_bswap16(o->s16)
EOF2
[ "$version" -lt 25 ] || cat >>"$tmp/cases" <<'EOF2'
|is_ptr(args.o) ? 1 : 0|1
|is_ptr(args.i) ? 1 : 0|0
|is_integer(args.o) ? 1 : 0|0
|is_integer(args.us) ? 1 : 0|1
EOF2

{
	cat <<'EOF2'
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>
#include <btgen/usdt.h>
enum color { RED = 1, GREEN = 515 };
struct obj { int8_t s8; int16_t s16; uint16_t u16; int32_t s32; uint64_t u64; int32_t list[3]; int32_t *at; struct { uint16_t port; } inner; enum color color; };
int main(int argc, char **argv)
{
	static struct obj obj = { -2, -300, 0x1234, -70001, 0xf0debc9a78563412, { 11, -12, 13 }, &obj.list[1], { 8080 }, GREEN };
	volatile int i = 258;
	volatile unsigned short us = 0xabcd;
	volatile long l = -5000000000;
	struct obj *o = &obj;
EOF2
	echo '	if (argc > 1) {'
	awk -F'|' '{ printf "\tprintf(\"%%s = %%lx\\n\", \"%s\", (unsigned long)(%s));\n", $2, $3 }' "$tmp/cases"
	cat <<'EOF2'
		return 0;
	}
	for (;;) {
		USDT_PROBE(app, tick, o, i, us, l);
		usleep(50000);
	}
}
EOF2
} >"$tmp/app.c"
gcc -g -O1 -w -I"$top/include" -o "$tmp/app" "$tmp/app.c" || exit 1

# 0.17 has room for so many values in a clause: some cases in each
split -l 8 "$tmp/cases" "$tmp/part-"
for part in "$tmp"/part-*; do
	awk -F'|' 'BEGIN { print "usdt:__EXE__:app:tick {" } { printf "%s\nprintf(\"%s = %%lx\\n\", %s);\n", $1, $2, $2 } END { print "exit(); }" }' "$part" >"$part.bt"
	guard "$btgen" run -q --bpftrace "$bpftrace" -c "$tmp/app" "$part.bt" 2>&1 | sed '/^$/d; /^@/d' >>"$tmp/trace"
done
"$tmp/app" print >"$tmp/answers"
# value_in FILE TEXT: lines of FILE about TEXT
value_in() { awk -v text="$2 = " 'index($0, text) == 1' "$1"; }
while IFS='|' read -r _ text _; do
	is "$(value_in "$tmp/trace" "$text")" "$(value_in "$tmp/answers" "$text")" "$text is C's"
done <"$tmp/cases"
done_testing
