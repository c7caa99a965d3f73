#!/usr/bin/env bash
# Numbers of less than 64 bits with their highest bit set: quotients and remainders of all pairs of types are those of their values,
# and so are casts of unsigned ones to signed types.
. "$(dirname "$0")/../lib.sh"
. "$top/tests/live.sh"

types='u8 u16 u32 bits flag i8 i16 i32 i64'
forms='member element pointee'

# place POINTER TYPE FORM: how C and the script write it; a bit-field is neither an element nor pointed to
place() {
	case $3:$2 in
	member:* | *:bits | *:flag) echo "$1->$2" ;;
	element:*) echo "$1->a_$2[1]" ;;
	pointee:*) echo "*$1->p_$2" ;;
	esac
}

# each_pair FORM COMMAND...: runs it with LEFT OPERATOR RIGHT and the two places
each_pair() {
	local form=$1 l op r
	shift
	for l in $types; do
		for op in / %; do
			for r in $types; do
				"$@" "$l $op $r" "$(place '$p' "$l" "$form")" $op "$(place '$q' "$r" "$form")"
			done
		done
	done
}
# The values as C has them in 64 bits, which hold all of them
in_c() { printf '\tprintf("%s %s %%ld %%d\\n", (long)%s %s (long)%s, (long)%s %s (long)%s < 3);\n' "$form" "${1//%/%%}" "${@:2:3}" "${@:2:3}" | tr -d '$'; }
in_script() { printf '\tprintf("%s %s %%ld %%d\\n", %s %s %s, %s %s %s < 3);\n' "$form" "${1//%/%%}" "${@:2:3}" "${@:2:3}"; }

{
	cat <<'E2'
#include <btgen/usdt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>
#define ALL(X) X(u8, uint8_t) X(u16, uint16_t) X(u32, uint32_t) X(i8, int8_t) X(i16, int16_t) X(i32, int32_t) X(i64, int64_t)
#define MEMBERS(m, T) T m, a_##m[2], *p_##m;
#define COPY(m, T) s->a_##m[1] = s->m, s->p_##m = &s->m;
struct st { ALL(MEMBERS) unsigned bits : 5; bool flag; };
static struct st top = {.u8 = 200, .u16 = 60000, .u32 = 4000000000, .i8 = -100, .i16 = -30000, .i32 = -2000000000,
	.i64 = -9000000000000000000, .bits = 29, .flag = true};
static struct st low = {.u8 = 7, .u16 = 9, .u32 = 11, .i8 = -3, .i16 = 5, .i32 = -6, .i64 = 13, .bits = 4, .flag = true};
static void fill(struct st *s) { ALL(COPY) }
E2
	for form in $forms; do
		echo "static void say_$form(struct st *p, struct st *q)"
		echo '{' && each_pair $form in_c && echo '}'
	done
	cat <<'E2'
int main(void)
{
	struct st *both[][2] = {{&top, &top}, {&top, &low}, {&low, &top}};
	long sum[4] = {0};
	char c;
	fill(&top), fill(&low);
	while (read(0, &c, 1) == 1 && c != 'x')
		;
	for (int i = 0; i < 3; i++) {
		struct st *p = both[i][0], *q = both[i][1];
		USDT_PROBE(narrow, pair, p, q);
		say_member(p, q), say_element(p, q), say_pointee(p, q);
		sum[0] += (long)p->u32 / q->i32, sum[1] += p->u8 / q->i8, sum[2] += p->u16 % q->i64, sum[3] += p->i32 % (long)q->u32;
		printf("kept %ld %d\n", (long)p->u32 / q->i32, p->u8 % q->i8);
		printf("@key[%ld,%d]: 1\n", (long)p->u32 / q->i32, p->u8 / q->i8);
		printf("cast %d %d %ld %d %d %d %d %d\n", p->u8, p->u16, (long)p->u32, p->bits, p->flag, p->u8, p->u8, p->u16);
		printf("computed %d %d %d %d\n", p->u8 + p->u16, p->u8 < 100, p->u8 - 201, p->u8 / 3);
		printf("reached %d %ld %d %d\n", p->a_u8[1], (long)*p->p_u32, p->u8, p->u16);
	}
	printf("@u32: %ld\n@u8: %ld\n@u16: %ld\n@i32: %ld\ndone\n", sum[0] / 3, sum[1] / 3, sum[2] / 3, sum[3] / 3);
	return 0;
}
E2
} >"$tmp/n.c"
gcc -O1 -g -I"$top/include" -o "$tmp/n" "$tmp/n.c" || exit 1

# traced SCRIPT: with all values
traced() {
	live_start "$tmp/n"
	live_trace "$live_pid" "$1" || return 1
	live_say x
	exec 8>&-
	live_wait
}
same() { is "$(grep -sE "^($1)" "$tmp/trace" | sort)" "$(grep -E "^($1)" "$tmp/answers" | sort)" "$2"; }

for form in $forms; do
	for l in $types; do
		for op in / %; do
			echo 'usdt:__EXE__:pair { $p = args.p; $q = args.q;' # 0.17 has room for few of these in one clause
			for r in $types; do in_script "$l $op $r" "$(place '$p' "$l" $form)" $op "$(place '$q' "$r" $form)"; done
			echo '}'
		done
	done >"$tmp/$form.bt"
	ok "$form: the program is accepted and attached" traced "$tmp/$form.bt"
	same "$form " "$form: / and % of all pairs of types"
done

cat >"$tmp/uses.bt" <<'E2'
usdt:__EXE__:pair {
	$p = args.p; $q = args.q;
	@u32 = avg($p->u32 / $q->i32);
	@u8 = avg($p->u8 / $q->i8);
	@u16 = avg($p->u16 % $q->i64);
	@i32 = avg($p->i32 % $q->u32);
	@key[$p->u32 / $q->i32, $p->u8 / $q->i8] = 1;
	$v = $p->u32 / $q->i32; $w = $p->u8 % $q->i8;
	printf("kept %ld %d\n", $v, $w);
}
usdt:__EXE__:pair {
	$p = args.p; $v = $p->u8;
	printf("cast %d %d %ld %d %d %d %d %d\n", (int64)$p->u8, (int64)$p->u16, (int64)$p->u32, (int64)$p->bits, (int64)$p->flag, (int32)$p->u8,
		(int16)$p->u8, (int32)$p->u16);
	printf("computed %d %d %d %d\n", (int64)$p->u8 + $p->u16, (int64)$p->u8 < 100, (int64)$p->u8 - 201, (int64)$p->u8 / 3);
	printf("reached %d %ld %d %d\n", (int64)$p->a_u8[1], (int64)*$p->p_u32, (int64)$v, (int64)($p->u16));
}
E2
ok "other uses: the program is accepted and attached" traced "$tmp/uses.bt"
same '@u32:|@u8:|@u16:|@i32:' "avg() of them"
is "$(sed -n 's/, /,/;/^@key/p' "$tmp/trace" | sort)" "$(grep '^@key' "$tmp/answers" | sort -u)" "keys of maps"
same kept "variables"
same cast "(int64), (int32) and (int16) of an unsigned member"
same computed "what is computed with such a cast"
same reached "casts of an element, of what a pointer leads to, and of a variable"
done_testing
