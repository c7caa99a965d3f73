#!/usr/bin/python3
"""macros.py SEED: a C program with random macros around probes, many of them defined otherwise by -DD0 to -DD3, or again.

What a site's arguments are depends on all of them; each member of its struct has a type of its own, so that a wrong guess shows.
"""
import random
import sys

random.seed(int(sys.argv[1]))
TYPES = ["char *", "int *", "short *", "struct a *", "struct b *", "long *", "enum e *", "double *"]
MEMBERS = ["m%d" % i for i in range(len(TYPES))]


def expr(p):
    member = "%s->%s" % (random.choice([p, "(%s)" % p]), random.choice(MEMBERS))
    return random.choice([member, member, member, "(%s)" % member, "&" + member, "(%s)%s" % (random.choice(TYPES), member)])


def field(k):
    return "#define F%d(r) %s" % (k, expr("r"))


def thing(k):
    return "#define O%d %s" % (k, expr("p"))


def wrapper(k):
    some = ["a", "b", "O%d" % random.randrange(4), "F%d(p)" % random.randrange(4), "(%s)(a)" % random.choice(TYPES)]
    args = "n, %s, %s" % (random.choice(some), random.choice(some[:3]))
    call = "W%d(%s)" % (k - 1, args) if k and random.random() < 0.5 else "DTRACE_PROBE2(macros, %s)" % args
    return "#define W%d(n, a, b) %s" % (k, random.choice([call, "do { if (sink) { } %s; } while (0)" % call]))


def maybe(make, k):
    again = "#undef %s\n%s" % (make(k).split()[1].partition("(")[0], make(k))
    return random.choice([make(k), "#ifdef D%d\n%s\n#else\n%s\n#endif" % (random.randrange(4), make(k), make(k)),
                          "%s\n#if defined(D%d) && !defined(D%d)\n%s\n#endif" % (make(k), *random.sample(range(4), 2), again),
                          make(k) + "\n" + again])


print("#include <sys/sdt.h>\nvolatile int sink;\nstruct a { int x; }; struct b { long y; }; enum e { E };")
print("struct s { %s };" % " ".join("%s%s;" % m for m in zip(TYPES, MEMBERS)))
print("\n".join(maybe(make, k) for make in (field, thing, wrapper) for k in range(4)))
print("__attribute__((noinline)) static void f(struct s *p, char *q)\n{")
for n in range(12):
    args = [random.choice(["p->" + random.choice(MEMBERS), "q", "F%d(p)" % random.randrange(4), "O%d" % random.randrange(4)]) for _ in "ab"]
    print("\tW%d(p%d, %s, %s);" % (random.randrange(4), n, *args))
    if random.random() < 0.2:
        k = random.randrange(4)
        print("#undef F%d\n%s" % (k, field(k)))
print("\tsink += q != 0;\n}\nstatic struct s s;\nint main(int argc, char **argv) { f(&s, argv[argc > 1]); return 0; }")
