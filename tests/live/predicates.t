#!/usr/bin/env bash
# Conditions of every kind, as predicates (which btgen joins with && or writes as if()) and in if(), are true where C says so.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"
can_trace || skip_all "needs root and bpftrace"

python3 - "$tmp" <<'END' || exit 1
import re
import sys

# Conditions that are C, too, with `v` for args.v; others with what they are in C.
ALIKE = """v  v->p  v->p + 1  v->neg  !v->neg  v->neg < 0  v->neg / 2 == -1  v->bf  v->b  v->u64  v->u64 > 5  v->arr[1]
v->st  v->st == BUSY  v->st != IDLE && v->neg  v->i32 == 1 ? v->neg : v->bf  v->p == v  v->p != 0 && v->neg < 0  v->p && v->b
v->p || v->b  !v->p  (v->p)  (v->neg & 3) == 1  v->neg + v->bf  -1  0"""
OTHERS = [("args.v->p->p", "v->p && v->p->p"), ("args.s", "v->s"), (" *args.s", "*v->s"), ('str(args.s) == "text"', 'strcmp(v->s, "text") == 0'),
          ('args.v->name == "abc"', 'strcmp(v->name, "abc") == 0'), ('strncmp(args.v->name, "abcd", 3) == 0', 'strncmp(v->name, "abcd", 3) == 0'),
          ("args.st", "v->st"), ("args.st == BUSY", "v->st == BUSY"), ("arg1", "v->st"), ("(arg1 & 2)", "v->st & 2"), ("@number", "1"),
          ("@none", "0"), ('@text == "yes"', "1"), ("@pointer[1]", "1"), ("@pointer[0]", "0"), ("@pair.1 == 2", "1"), ("pid == 0", "0")]
rows = [(re.sub(r"\bv\b", "args.v", c), c) for c in re.split(r"  |\n", ALIKE)] + OTHERS
with open(sys.argv[1] + "/t.c", "w") as f:
    f.write("""#include <btgen/usdt.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
enum st { IDLE, BUSY, DONE };
struct o { enum st st; int32_t i32; struct o *p; uint64_t u64; char name[16]; int8_t neg; unsigned bf : 3; const char *s; _Bool b; int arr[4]; };
__attribute__((noinline)) int start(struct o *p) { __asm__ volatile(""); return p != NULL; }
static void event(int n, struct o *v)
{
	USDT_PROBE(app, it0, v, v->st, v->s, n);
	USDT_PROBE(app, it1, v, v->st, v->s, n);
	USDT_PROBE(app, it2, v, v->st, v->s, n);
	USDT_PROBE(app, it3, v, v->st, v->s, n);
""" + "".join(f'\tif ({c}) printf("%d {i}\\n", n);\n' for i, (_, c) in enumerate(rows)) + """}
int main(void)
{
	static struct o y = { .name = "", .s = "" };
	struct o x = { BUSY, 1, &x, 1ull << 63, "abc", -3, 5, "text", 1, {1, 2, 3, 4} };
	struct o z = { DONE, 1, &y, 7, "abcdef", -2, 0, "texts", 0, {0} };
	start(&x);
	event(1, &x), event(2, &y), event(3, &z);
	return 0;
}
""")
tests = [f'if ({ask}) {{ printf("i %d {i}\\n", args.n); }}' for i, (ask, _) in enumerate(rows)]
with open(sys.argv[1] + "/t.bt", "w") as f:
    f.write('uprobe:__EXE__:start { @number = 7; @text = "yes"; @pair = (1, 2); @pointer[1] = args.p; }\n')
    for i, (ask, _) in enumerate(rows):  # 0.17 does not load programs with all of them
        f.write(f'usdt:__EXE__:app:it{i % 4} /{ask}/ {{ printf("p %d {i}\\n", args.n); }}\n')
    f.write("".join(f"usdt:__EXE__:app:it{k} {{ {' '.join(tests[k::4])} }}\n" for k in range(4)))
    f.write("END { clear(@number); clear(@text); clear(@pair); clear(@pointer); clear(@none); }\nBEGIN { @none = 0; }\n")
END
gcc -O1 -g -w -I"$top/include" -o "$tmp/t" "$tmp/t.c" || exit 1

want=$("$tmp/t")
"$live_sh" -q -c "$tmp/t" "$tmp/t.bt" >"$tmp/out" 2>"$tmp/messages" || sed 's/^/# /' "$tmp/messages"
is "$(sed -n 's/^p //p' "$tmp/out" | sort)" "$(sort <<<"$want")" "predicates"
is "$(sed -n 's/^i //p' "$tmp/out" | sort)" "$(sort <<<"$want")" "conditions of if()"
done_testing
