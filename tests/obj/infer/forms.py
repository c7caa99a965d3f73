#!/usr/bin/python3
"""A C program whose probes have arguments of every type in every form: what tests/obj/infer.t infers them from.

    forms.py          probes by their own macros and by macros around them
    forms.py count    all by one macro that counts its arguments
"""
import sys


TYPES = ["int", "unsigned", "long", "unsigned long", "short", "unsigned short", "signed char", "unsigned char", "char", "_Bool", "enum kind",
         "struct other *", "char *", "const char *", "int *"]
# form: the probe's call, by @ for its name, and what it reads; p is a struct with members of type T, v and w are Ts, q a T *
FORMS = """
PROBE1(@plain, v)
PROBE1(@member, p->first)
PROBE1(@second, p->second)
PROBE1(@array, p->row)
PROBE1(@element, p->row[1])
PROBE1(@deref, *q)
PROBE1(@pointer, q)
PROBE1(@address, &p->second)
PROBE1(@whole, p)
PROBE2(@both, v, q)
PROBE2(@chain, p->next->second, p->next)
PASS(@pass, v, q)
SWAP(@swap, v, q)
SWAP(@swap2, p, n)
MEMBER(@inside, p)
SIZE(@size, q)
LATE(@late, v, p)
FIRST(@first, q, n)
PROBE1(@local, w)
PROBE1(@global, TAG_global)
PROBE1(@address2, &TAG_global)
""".split("\n")[1:-1]

print("""#define SDT_USE_VARIADIC
#include <sys/sdt.h>
""" + ("""#define PICK(a, b, c, n, ...) n
#define JOIN(a, b) a##b
#define CALL(k, n, ...) JOIN(DTRACE_PROBE, k)(form, n, __VA_ARGS__)
#define PROBE(n, ...) CALL(PICK(__VA_ARGS__, 3, 2, 1, 0), n, __VA_ARGS__)
#define PROBE1 PROBE
#define PROBE2 PROBE
""" if "count" in sys.argv else """#define PROBE1(n, a) DTRACE_PROBE1(form, n, a)
#define PROBE2(n, a, b) DTRACE_PROBE2(form, n, a, b)
""") + """#define PASS(n, a, b) DTRACE_PROBE2(form, n, (a), b)
#define SWAP(n, a, b) DTRACE_PROBE2(form, n, b, a)
#define MEMBER(n, a) DTRACE_PROBE1(form, n, a->second)
#define SIZE(n, a) DTRACE_PROBE1(form, n, sizeof(*a))
#define LATE(n, ...) STAP_PROBEV(form, n, sink, __VA_ARGS__)
#define FIRST(n, a, ...) DTRACE_PROBE1(form, n, a)
enum kind { RD, WR };
struct other { long x; };
volatile int sink;
#define KEEP __attribute__((noinline))""")
calls = []
for i, t in enumerate(TYPES):
    tag = f"t{i}_"
    print(f"struct {tag} {{ {t} first; {t} row[3]; {t} second; struct {tag} *next; }};\n{t} {tag}global;\nstatic struct {tag} {tag}s;")
    print(f"KEEP static void {tag}f({t} v, struct {tag} *p, {t} *q, int n)\n{{\n\t{t} w = p->row[n & 1];")
    for form in FORMS:
        print("\t" + form.replace("@", tag).replace("TAG_", tag) + ";")
    print(f"\t{{\n\t\tlong v = n;\n\t\tstruct {tag} *q = p->next;\n\t\tPROBE2({tag}block, v, q);\n\t}}")
    print("\tsink = n + (p->next != 0) + (q != 0) + (v == w);\n}")
    calls.append(f"\t{tag}s.next = &{tag}s;\n\t{tag}f({tag}global, &{tag}s, argc > 1 ? &{tag}global : &{tag}s.second, argc);")
print("int main(int argc, char **argv)\n{\n\t(void)argv;\n" + "\n".join(calls) + "\n\treturn 0;\n}")
