#!/usr/bin/env bash
# vars.NAME: what is said of variables that cannot be read where a clause stops, and what is written for those that can.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
[ "$(uname -m)" = x86_64 ] || skip_all "registers are those of x86-64"

cat >"$tmp/app.c" <<'END'
struct point { int x; short y; };
struct box { struct point at; long many[4]; float weight; };
long total = 5;
static __thread int own;
volatile long sink;
int elsewhere_at;
__attribute__((noinline)) int scale(struct box *box, signed char by, double real)
{
	int wide = by * 2;
	struct box copy = *box;
	if (wide > 2) {
		int inner = wide + 1;
		sink += inner;
		sink += own;
	}
	sink += copy.at.x + (long)real;
	return wide;
}
__attribute__((noinline)) long twice(long by)
{
	sink += by;
	return by * 2;
}
int main(int argc, char **argv)
{
	struct box box = {{3, 4}, {1, 2, 3, 4}, 2.5f};
	(void)argv;
	sink += twice(argc);
	return scale(&box, (signed char)argc, 1.5) + (int)total;
}
END
cd "$tmp" || exit 1
gcc -g -O0 -no-pie -o "$tmp/app" app.c
line() { # NUMBER: the first instruction of that line
	objdump --dwarf=decodedline "$1" | awk -v line="$2" '$1 == "app.c" && $2 == line && !seen++ { print $3 }'
}
app=$tmp/app
said() { "$btgen" check --for 0.23 -x "$app" -e "$1" 2>&1 | grep -vE '^ {4}|^$' | sed 's/^<command line>:[0-9]*:[0-9]*: //; s/^btgen: //'; }
text() { "$btgen" expand --for 0.23 -x "$app" -e "$1" 2>/dev/null | sed -n 's/^uprobe[^{]*{ print(\(.*\)); }$/\1/p'; }

at=$(line "$app" 16)
is "$(text "uprobe:__EXE__:$at { print(vars.wide); }")" '(int64)(int32)*(uint32 *)(reg("bp") - 20)' "a local variable is where the frame has it"
is "$(text "uprobe:__EXE__:$at { print(vars.copy.at.y); }")" '(int64)(int16)*(uint16 *)(reg("bp") - 80 + 0 + 4)' "and so is a member of one"
is "$(text "uprobe:__EXE__:scale { print(vars.by); }")" '(int64)(int8)reg("si")' "at the entry a parameter is in its register"
like "$(text "uprobe:__EXE__:$at { print(vars.total); }")" '^\(int64\)\*\(uint64 \*\)\([0-9]+\)$' "a global of a program that lies at one place is at its address"
is "$(text "uprobe:__EXE__:scale+8 { print(vars.total); }")" "$(text "uprobe:__EXE__:$at { print(vars.total); }")" "also behind an entry"

like "$(said "uprobe:__EXE__:$at { print(vars.wid); print(vars.inner); }")" \
	'^error: there is no variable wid at scale\+0x[0-9a-f]+ \(app.c:16\)
note: did you mean vars.wide\?
note: variables of the function that can be read there: box, by, (real, )?wide, copy
error: there is no variable inner at scale\+0x[0-9a-f]+ \(app.c:16\)' "a name that is not there, and one of an inner block"
like "$(said "uprobe:__EXE__:scale { print(vars.wide); }")" \
	'^error: cannot read variable wide at scale\+0x0 \(app.c:8\): the function has not stored it yet
note: the nearest place where it can be read is scale\+0x[0-9a-f]+ \(app.c:10\)$' "a local at the entry"
like "$(said "uprobe:__EXE__:scale+1 { print(vars.by); }")" \
	'^error: cannot read variable by at scale\+0x1 \(app.c:8\): the function has not stored it yet
note: the nearest place where it can be read is scale\+0x0 \(app.c:8\)$' "a parameter while it is being stored"
like "$(said "uprobe:__EXE__:$(line "$app" 9) { print(vars.wide); print(vars.copy.at.x); }")" \
	'^error: cannot read variable wide at .*app.c:9\): it is declared there, and has no value yet
note: the nearest place where it can be read is .*app.c:10\)
error: cannot read variable copy at .*app.c:9\): it is declared on line 10
note: ' "a variable before its declaration is done"
like "$(said "uprobe:__EXE__:$at { print(vars.real); }")" 'error: bpftrace cannot read a double' "a double"
like "$(said "uprobe:__EXE__:$(line "$app" 14) { print(vars.own); }")" 'error: cannot read variable own at .*: it is thread-local' "a thread's own variable"
like "$(said "uprobe:__EXE__:scale, uprobe:__EXE__:twice { print(vars.by); }")" \
	'^error: the places of this clause have variable by with different types: scale\+0x0 \(app.c:8\) and twice\+0x0 \(app.c:20\)
note: write a clause for each$' "one name with two types"
is "$("$btgen" expand --for 0.23 -x "$app" -e "uprobe:__EXE__:$(line "$app" 21), uprobe:__EXE__:twice { print(vars.by); }" | sed -n 's/^uprobe.*{ print(\(.*\)); }$/\1/p' | sed 's/== [0-9]*/== N/')" \
	'(int64)((reg("ip") & 4095) == N ? (uint64)reg("di") : (uint64)*(uint64 *)(reg("bp") - 8))' \
	"one variable in two places: the address tells"
like "$(said "uretprobe:__EXE__:scale { print(vars.by); }")" '^error: vars.NAME needs a usdt probe or uprobe of the target' "a return is no place"
like "$(said 'BEGIN { print(vars.by); }')" '^error: vars.NAME needs a usdt probe or uprobe of the target' "nor is BEGIN"
like "$("$btgen" expand --for 0.23 -x "$app" -e "uprobe:__EXE__:$at { print(vars.copy.many); @ = vars.copy.many[5]; }" 2>&1)" \
	'error: the array has 4 elements' "an index behind the end"

gcc -g -O2 -o "$tmp/fast" app.c
app=$tmp/fast
like "$(said 'uprobe:__EXE__:main+1 { print(vars.argv); print(vars.argcc); }')" \
	'error: cannot read variable argv at main\+0x1 .*|error: there is no variable argcc at main\+0x1 ' "optimized code says what it lost"

# A function of another convention has room in its caller's frame, which it fills itself.
cat >"$tmp/odd.c" <<'END'
__attribute__((ms_abi, noinline)) long windows(long a, long b, long c, long d, long e) { return a + b + c + d + e; }
__attribute__((noinline)) long many(int a, int b, int c, int d, int e, int f, int g) { return a + b + c + d + e + f + g; }
int main(int argc, char **argv) { return (int)(windows(argc, 2, 3, 4, 5) + many(1, 2, 3, 4, 5, 6, argc)) + !argv; }
END
gcc -g -O0 -o "$tmp/odd" odd.c
app=$tmp/odd
like "$(said 'uprobe:__EXE__:windows { print(vars.a); }')" \
	'^error: cannot read variable a at windows\+0x0 \(odd.c:1\): where it is passed is not known' \
	"above the frame, where another convention stores it"
is "$(text 'uprobe:__EXE__:many { print(vars.g); }')" '(int64)(int32)*(uint32 *)(reg("sp") + 8)' "... and where the caller has put it"

# A value that the debug information computes: a sum of what an operator gives.
cat >"$tmp/sum.c" <<'END'
struct tuple { int x; unsigned len; };
__attribute__((noinline)) long update(struct tuple *t, long room)
{
	unsigned long size = (t->len + 7ul) & ~7ul;
	asm volatile("nop");
	return room;
}
int main(int argc, char **argv)
{
	struct tuple t = {1, 121};
	asm volatile("" : : "r"(&t) : "memory");
	return (int)update(&t, argc);
}
END
gcc -g -O2 -o "$tmp/sum" sum.c
app=$tmp/sum
sum=$(text 'uprobe:__EXE__@sum.c:5 { print(vars.size); }' | sed 's/(uint64)\*(uint32 \*)(reg("di") + 4)/121/; s/(uint64)//g')
like "$sum" '121.* & .* \+ 7' "a value that is computed"
is "$((sum))" 128 "... has the order of its operators"
like "$(said 'uprobe:__EXE__@sum.c:4 { print(vars.sizes); }')" \
	'^error: there is no variable sizes at update\+0x[0-9a-f]+ \(sum.c:4\)$' "of the lines that begin at an address, the script's is named"

gcc -O2 -o "$tmp/bare" sum.c
app=$tmp/bare
like "$(said 'uprobe:__EXE__:update { print(vars.t); }')" \
	"^error: variable t: no debug information in $tmp/bare for the code of this clause\$" "without debug information the file is named"

# Code of the copy before it begins, in a function of which gcc does not say that all its calls are described.
cat >"$tmp/walk.c" <<'END'
struct label { long a, b, c, d; };
struct tree { struct tree *kids; unsigned long n; struct label label; };
long total;
__attribute__((noipa)) int use(struct label *l) { return (int)++l->a; }
static inline __attribute__((always_inline)) int put(struct label l, int more)
{
	int n = use(&l);
	return n + more;
}
__attribute__((noipa)) int walk(struct tree *t, int (*fits)(struct tree *), unsigned depth)
{
	if (!t || depth > 30)
		return 0;
	for (unsigned long i = 0; i < t->n; i++)
		if (fits(&t->kids[i]) || walk(&t->kids[i], fits, depth + 1)) {
			total++;
			return put(t->kids[i].label, 3);
		}
	return 0;
}
int main(void) { return walk(0, 0, 0); }
END
app=$tmp/walk
for options in "" -gno-record-gcc-switches; do # without them nothing tells what is optimized, as of rustc's code
	gcc -g -O2 $options -o "$app" "$tmp/walk.c"
	like "$(said 'uprobe:__EXE__:put { print(vars.l.a); }')" \
		'error: cannot read variable l at walk\+0x[0-9a-f]+ \(walk.c:[0-9]+\): the inlined function has not stored it yet' \
		"a parameter in memory, where optimized code has stored only some of what is passed $options"
done

# The last code of the line that declares a variable stores a part of it.
cat >"$tmp/last.c" <<'END'
struct label { long a, b, c, d; };
long total;
__attribute__((noipa)) int use(struct label *l, long k) { return (int)++l->a + (int)k; }
__attribute__((noipa)) int last(struct label *t, int n, long x)
{
	total += x;
	struct label l = t[n];
	total++;
	return use(&l, n * 7) + 1;
}
int main(void) { struct label l[2] = {{1, 2, 3, 4}, {5, 6, 7, 8}}; return last(l, 1, 2); }
END
app=$tmp/last
gcc -g -O2 -o "$app" "$tmp/last.c"
at=$(objdump --dwarf=decodedline "$app" | awk '$1 == "last.c" && $2 == 7 { at = $3 } END { print at }')
like "$(said "uprobe:__EXE__:$at { print(vars.l.c); }")" 'error: cannot read variable l at .*: the line that declares it is not complete there' \
	"nor a variable where its line ends"

# Two addresses of which the low bits are alike.
cat >"$tmp/pages.c" <<'END'
__attribute__((noinline, aligned(4096))) int one(int n) { return n + 1; }
__attribute__((noinline, aligned(4096))) int two(char *p, int n) { return p[n]; }
int main(int argc, char **argv) { return one(argc) + two(argv[0], 0); }
END
gcc -g -o "$tmp/pages" pages.c
app=$tmp/pages
like "$(said 'uprobe:__EXE__:one, uprobe:__EXE__:two { print(vars.n); }')" \
	'^error: the places of this clause have variable n in different places: one\+0x0 \(pages.c:1\) and two\+0x0 \(pages.c:2\)
note: write a clause for each$' "two places that cannot be told apart"

# bpftrace makes a name and an offset of an address, and takes the first function of that name.
printf 'static __attribute__((noinline)) int twin(int n)\n{\n\tasm volatile("");\n\treturn n + %d;\n}\nint use%d(int n) { return twin(n); }\n' 1 1 >"$tmp/one.c"
sed 's/use1/use2/; s/n + 1/n * 3/' "$tmp/one.c" >"$tmp/two.c"
echo 'int use1(int), use2(int); int main(void) { return use1(1) + use2(2); }' >"$tmp/main.c"
gcc -g -o "$tmp/twins" "$tmp/one.c" "$tmp/two.c" "$tmp/main.c"
app=$tmp/twins
second=$(nm "$app" | awk '$3 == "twin" { print $1 }' | sort | tail -1)
like "$(said "uprobe:__EXE__:0x$second { print(1); }")" \
	'^error: bpftrace cannot attach to 0x[0-9a-f]+: several functions are called twin, and bpftrace may attach to another' \
	"an address in a function whose name another one has"
done_testing
