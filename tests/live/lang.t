#!/usr/bin/env bash
# Every way to reach a value times everything that is done with one: what the program itself says is what must be printed.
# What a version does not take is refused, and listed here; nothing else may be, and nothing may be wrong in silence.
. "$(dirname "$0")/../lib.sh"
. "$top/tests/live.sh"
version=$("$bpftrace" --version | sed 's/.*v0\.\([0-9]*\).*/\1/')

cat >"$tmp/l.c" <<'E2'
#include <btgen/usdt.h>
#include <stdio.h>
#include <unistd.h>
enum color { RED = 1, GREEN = 5, BLUE = -2 };
struct in { int delta; int bits : 5; unsigned three : 3; int whole : 32; short narrow; signed char tiny; unsigned long big; enum color color; char name[24]; int row[3]; void *owner; };
struct out { struct in *p, *q; struct in *list[3]; struct in a, b[2]; struct out *self; };
static struct in x = {-9, -4, 5, -5, -300, -7, 0xffffffffffffff00, BLUE, "a name of 20 letters", {-1, -8, -27}, &x}, other = {1, 1, 1, 1, 1, 1, 1, RED, "other", {1, 1, 1}};
static struct out o = {.p = &x, .q = &other, .list = {&other, &x, &other}};
int main(void)
{
	struct in *p = &x, *q = &other;
	struct out *out = &o;
	int one = 1;
	char c;
	o.a = o.b[1] = x, o.b[0] = other, o.self = &o;
	while (read(0, &c, 1) == 1 && c != 'x')
		;
	USDT_PROBE(lang, ev, out, p, q, one);
	printf("delta %d\nhalf %d\nrest %d\nshift %d\nbits %d\nthird %d\nthree %u\nwhole %d\nnarrow %d\ntiny %d\nbig %lu\nbelow %d\nname %s\n", x.delta, x.delta / 2,
	       x.delta % 4, x.delta >> 1, x.bits, x.bits / 3, x.three, x.whole, x.narrow, x.tiny, x.big, x.delta < 0, x.name);
	printf("cut a na\ncolor BLUE\nsame %d\nrow %d\nrows %d\nkey -9\nsum %d\nsize %zu\nmixed %lu\nneg %d\nstring %d\nowner %d\ndone\n", x.color == BLUE, x.row[2], x.row[1] / 3,
	       x.delta + x.bits, sizeof(x.name), x.delta / x.big, -x.delta, 1, x.owner != NULL);
	return 0;
}
E2
gcc -O1 -g -fwrapv -I"$top/include" -o "$tmp/l" "$tmp/l.c" || exit 1

# What is done with it: a name, then statements in which R is what was reached
ops='delta	printf("delta %ld\n", R->delta);
half	printf("half %ld\n", R->delta / 2);
rest	printf("rest %ld\n", R->delta % 4);
shift	printf("shift %ld\n", R->delta >> 1);
bits	printf("bits %ld\n", R->bits);
third	printf("third %ld\n", R->bits / 3);
three	printf("three %ld\n", R->three);
whole	printf("whole %ld\n", R->whole);
narrow	printf("narrow %ld\n", R->narrow);
tiny	printf("tiny %ld\n", R->tiny);
big	printf("big %lu\n", R->big);
below	printf("below %d\n", R->delta < 0 ? 1 : 0);
name	printf("name %s\n", str(R->name));
cut	printf("cut %s\n", str(R->name, 4));
color	printf("color %s\n", enum_name(color, R->color));
same	printf("same %d\n", R->color == BLUE ? 1 : 0);
row	printf("row %ld\n", R->row[2]);
rows	$j = 1; printf("rows %ld\n", R->row[$j] / 3);
key	@k[R->delta] = 1; if (@k[-9] == 1) { printf("key -9\n"); }
sum	printf("sum %ld\n", R->delta + R->bits);
size	printf("size %d\n", sizeof(R->name));
mixed	printf("mixed %lu\n", R->delta / R->big);
neg	printf("neg %ld\n", -R->delta);
string	if (str(R->name) == "a name of 20 letters") { printf("string 1\n"); }
owner	@w[R->owner] = 1; if (R->owner && !(!R->owner)) { printf("owner %d\n", @w[R->owner]); }'

# How it is reached: a name, the first version, statements before, R, and what closes them
ways='a cast~17~~((struct in *)arg1)~
a variable~17~$p = (struct in *)arg1;~$p~
let~23~let $p = (struct in *)arg1;~$p~
let with a type~23~let $p : struct in * = (struct in *)arg1;~$p~
args~17~~args.p~
a member~17~~args.out->p~
a member of a member~17~$o = args.out;~$o->self->self->p~
an embedded struct~17~$o = args.out; $in = 1;~$o->a~
an array of pointers~17~$o = args.out;~$o->list[1]~
a variable index~17~$o = args.out; $i = 1;~$o->list[$i]~
an array of structs~17~$o = args.out;~$o->b[1]~
structs by a variable~17~$o = args.out; $i = 1;~$o->b[$i]~
an address~17~$i = 1; $p = &args.out->self->b[$i];~$p~
a map~17~@m[tid] = args.p;~@m[tid]~
a map of the outer~17~@o[tid] = args.out;~@o[tid]->p~
for over a map~23~@f[1] = args.p; for ($kv : @f) {~$kv.1~}
for over a range~27~for ($n : 0..1) { $p = args.p;~$p~}
while~17~$i = 0; while ($i < 1) { $i = $i + 1; $p = args.p;~$p~}
a block~23~if (args.one == 1) { let $p = args.q; } let $p = args.p;~$p~
a choice~17~$p = args.p; $q = args.q;~(args.one == 1 ? $p : $q)~
a chosen variable~17~$t = args.one == 2 ? args.q : args.p;~$t~
a choice of choices~17~$p = args.p; $q = args.q;~(args.one == 2 ? $q : (args.one == 3 ? $q : $p))~
a tuple~17~$t = (1, args.p);~$t.1~
points behind a tuple~17~$t = (1, args.p);~$t.1~
points behind a loop~23~@f[1] = args.p; for ($kv : @f) {~$kv.1~}
a tuple in a tuple~23~$t = (1, (args.p, 2));~$t.1.0~
brackets~17~$p = args.p;~((($p)))~
a pointer moved~17~$p = args.p;~($p + 1 - 1)~
a macro~27~~the(args.p)~
a copied struct~23~$c = *args.p;~$c~
a struct in place~17~$p = args.p;~(*$p)~'

# program BEFORE REACH AFTER: all operations; 0.17 has room for few strings in one clause, and takes 0.1 s to leave each
program() {
	local op text body='' n=0
	while IFS=$'\t' read -r op text; do
		# a struct that is held as a value has no address: bpftrace itself refuses the variable index
		[[ $way != 'a copied struct' || $op != rows && $op != cut ]] || continue
		[[ $way != 'a choice'* && $way != 'a macro' || $text != *[/%]' '[234$]* ]] || continue # refused, see below
		body+=" ${text//R->/$2}"
		n=$((n + 1))
		case $op in name | cut | color | string | key) n=5 ;; esac
		if [ $n -ge 5 ]; then
			echo "usdt:__EXE__:lang:ev { $1 $body $3 }"
			body='' n=0
		fi
	done <<<"$ops"
	[ -z "$body" ] || echo "usdt:__EXE__:lang:ev { $1 $body $3 }"
	[[ $way != 'a macro' ]] || echo 'macro the(e) { e }'
	echo 'END { clear(@m); clear(@o); clear(@f); clear(@k); clear(@w); }'
}

while IFS='~' read -r way since before reach after; do
	in_third || continue
	arrow='->'
	case $way in 'an embedded struct' | 'an array of structs' | 'structs by a variable' | 'a copied struct' | 'a struct in place' | points*) arrow=. ;; esac
	program "$before" "$reach$arrow" "$after" >"$tmp/way.bt"
	grep -q '@m\[' "$tmp/way.bt" || sed -i 's/clear(@m);//' "$tmp/way.bt"
	grep -q '@o\[' "$tmp/way.bt" || sed -i 's/clear(@o);//' "$tmp/way.bt"
	grep -q '@f\[' "$tmp/way.bt" || sed -i 's/clear(@f);//' "$tmp/way.bt"
	if [ "$version" -lt "$since" ]; then
		skip "$way" "bpftrace 0.$version has no such construct (from 0.$since)"
		continue
	fi
	live_start "$tmp/l"
	if ! live_trace "$live_pid" "$tmp/way.bt"; then
		ok "$way: the program is accepted" false
		continue
	fi
	echo x >&8
	wait_for grep -q '^done' "$tmp/answers"
	live_wait
	exec 8>&-
	wait_end "$live_pid"
	while IFS=$'\t' read -r op text; do
		[[ $way != 'a c'* && $way != 'a macro' ]] || grep -q "printf(\"$op " "$tmp/way.bt" || continue
		is "$(grep "^$op " "$tmp/trace")" "$(grep "^$op " "$tmp/answers")" "$way: $op"
	done <<<"$ops"
done <<<"$ways"
like "$("$btgen" expand --for 0.27 -x "$tmp/l" -e 'usdt:__EXE__:lang:ev { $c = *args.p; print(str($c.name, 4)); }' 2>&1)" \
	'error: str\(\) with a length cannot be used on a copy of a struct: read the member through a pointer' "a string in a copy is not cut"
if [ "$version" -ge 27 ]; then
	# The bodies of macros, one of them called before it stands there, one by another one, one of two of a name
	live_start "$tmp/l"
	cat >"$tmp/macro.bt" <<'E2'
macro bits(e) { e->bits }
macro half($e) { $d = $e->delta; $d / 2 }
macro third(e) { $b = bits(e); $b / 3 }
usdt:__EXE__:lang:ev { $p = args.p; printf("bits %ld\nhalf %ld\nthird %ld\nname %s\n", bits($p), half($p), third(args.p), text($p)); }
macro text(@e) { @e }
macro text(e) { str(e->name) }
E2
	live_trace "$live_pid" "$tmp/macro.bt" || ok "macros: the program is accepted" false
	echo x >&8
	wait_for grep -q '^done' "$tmp/answers"
	live_wait
	exec 8>&-
	wait_end "$live_pid"
	for op in bits half third name; do
		is "$(grep "^$op " "$tmp/trace")" "$(grep "^$op " "$tmp/answers")" "the body of a macro: $op"
	done
fi
like "$("$btgen" expand --for 0.27 -x "$tmp/l" -e 'macro m(e) { e->delta } usdt:__EXE__:lang:ev { m(args.p); m(args.out); }' 2>&1)" \
	'error: this macro is called with struct in \* and with struct out \*: write a macro for each' "a macro cannot have two types"
while IFS='~' read -r one other message; do
	like "$("$btgen" expand --for 0.27 -x "$tmp/l" -e "macro m(e) { e } usdt:__EXE__:lang:ev { \$c = *args.p; m($one); m($other); }" 2>&1)" \
		":1:$((62 + ${#one})): error: this macro is called with $message: write a macro for each\$" "nor can it have $one and $other"
done <<'E2'
args.p~*args.p~struct in \* and with struct in
$c~args.p~struct in and with struct in \*
(int16 *)arg1~args.p->row~int16 \* and with int\[3\]
*args.p~*args.out~struct in and with struct out
E2
for two in 'args.p,$c.p' 'args.p->row,args.p->name' '*args.p,args.out->a' 'args.p,args.one' 'args.p,arg1'; do
	ok "it can have ${two/,/ and }" "$btgen" expand -o /dev/null --for 0.27 -x "$tmp/l" -e "macro m(e) { e } usdt:__EXE__:lang:ev { \$c = *args.out; m(${two%,*}); m(${two#*,}); }"
done
for call in 'm()' m; do
	for in in "{ print($call); }" "/$call == 3/ { }"; do
		like "$("$btgen" expand --for 0.27 -x "$tmp/l" -e "macro m() { n() } macro n() { arg1 } usdt:__EXE__:lang:ev $in" 2>&1)" \
			':1:31: error: bpftrace does not support argN of a usdt probe inside a macro: pass it as an argument  \[argument]$' "argN in a macro: $in"
	done
done
like "$("$btgen" expand --for 0.27 -x "$tmp/l" -e 'macro m(x) { x + arg1 } macro n() { arg1 } usdt:__EXE__:lang:ev { print(n); } uprobe:__EXE__:main { print(m(arg0)); }' 2>&1)" \
	':1:37: error: bpftrace does not support argN' "but not of a function's"
like "$("$btgen" expand --for 0.27 -x "$tmp/l" -e 'macro m() { @n++; @n } usdt:__EXE__:lang:ev { printf("%s\n", enum_name(color, m)); }' 2>&1)" \
	'\$key = \(int64\)m; if \(@enum_color\[\$key\] == ""\)' "a macro is called once for an enumerator's name"
like "$("$btgen" expand --for 0.27 -x "$tmp/l" -e 'macro RED(RED) { RED } usdt:__EXE__:lang:ev { print(RED(5)); }' 2>&1)" \
	'macro RED\(RED\) \{ RED \}' "a macro's parameter is no enumerator"
done_testing
