#!/usr/bin/env python3
"""Writes a program by a seed: code of several files that compilers inline into each other, with the same names.

	tests/gdb/generate.py c|cpp SEED FOLDER

FOLDER gets main.c (or main.cpp), one.h, two.h. The program does the same in each run. No function changes its parameters; built
with -DLOG it prints each value that each is called with: `function parameter value`.
"""
import os
import random
import sys

NAMES = ["a", "b", "len", "n", "v", "k", "s", "sum", "left"]
TYPES = ["int", "long", "short", "unsigned char", "unsigned", "struct str", "struct node *"]


class Function:
    def __init__(self, number, kind, level):
        self.name, self.kind, self.level = "f%d" % number, kind, level
        self.params = []


class Writer:
    def __init__(self, language, seed):
        self.cpp = language == "cpp"
        self.rnd = random.Random(seed)
        self.functions = []
        self.out = []
        self.depth = 1

    def line(self, text):
        self.out.append("\t" * self.depth + text)

    def number(self, scopes):
        """An expression that is a number."""
        known = {}
        for scope in scopes:
            known.update(scope)
        name = self.rnd.choice(sorted(known)) if known else None
        if name is None or self.rnd.random() < 0.2:
            return str(self.rnd.randint(1, 999))
        kind = known[name]
        if kind == "struct str":
            return "(long)%s.n" % name
        if kind == "struct node *":
            return "%s->id" % name
        return name

    def value(self, kind, scopes):
        if kind == "struct str":
            return "make_str(%s, %s)" % (self.number(scopes), self.number(scopes))
        if kind == "struct node *":
            return "&nodes[(unsigned long)(%s) %% 4]" % self.number(scopes)
        return "(%s)((long)%s * %d + %s)" % (kind, self.number(scopes), self.rnd.randint(2, 9), self.number(scopes))

    def call(self, f, scopes):
        return "%s(%s)" % (f.name, ", ".join(self.value(t, scopes) for t, _ in f.params))

    def declare(self, scopes, params):
        free = [n for n in NAMES if n not in scopes[-1] and not (len(scopes) == 2 and n in params)]
        if not free:
            return
        name = self.rnd.choice(free)
        kind = self.rnd.choice(["int", "int", "long", "short", "unsigned char", "struct str", "struct node *"])
        others = [{n: t for n, t in scope.items() if n != name} for scope in scopes]
        self.line("%s %s = %s;" % (kind.replace(" *", ""), ("*" if "*" in kind else "") + name, self.value(kind, others)))
        scopes[-1][name] = kind
        if self.rnd.random() < 0.3:
            self.line("sink(&%s);" % name)

    def statement(self, f, scopes, budget, nest):
        pick = self.rnd.random()
        lower = [g for g in self.functions if g.level < f.level]
        if pick < 0.3:
            self.declare(scopes, dict((n, t) for t, n in f.params))
        elif pick < 0.5 and lower and budget["calls"] > 0 and not budget["loop"]:
            budget["calls"] -= 1
            self.line("acc += (long)%s;" % self.call(self.rnd.choice(lower), scopes))
        elif pick < 0.58 and nest < 3:
            self.line("if ((%s & 3) != %d) {" % (self.number(scopes), self.rnd.randint(0, 3)))
            self.block(f, scopes, budget, nest, {})
        elif pick < 0.7 and nest < 2 and not budget["loop"]:
            self.line("for (int i = 0; i < %d; i++) {" % self.rnd.choice([2, 4, 4, 7]))
            budget["loop"] = True
            self.block(f, scopes, budget, nest, {"i": "int"})
            budget["loop"] = False
        elif pick < 0.78 and self.cpp and nest < 3:
            self.line("auto lambda%d = [&](int k) {" % len(self.out))
            name = "lambda%d" % (len(self.out) - 1)
            self.depth += 1
            inner = scopes + [{"k": "int"}]
            for _ in range(2):
                self.statement(Function(0, "", 0), inner, {"calls": 0, "loop": True}, 3)
            self.line("return %s + k;" % self.number(inner))
            self.depth -= 1
            self.line("};")
            self.line("acc ^= (long)%s((int)acc & 255);" % name)
        else:
            self.line("acc = acc * 3 + (long)%s;" % self.number(scopes))

    def block(self, f, scopes, budget, nest, own):
        self.depth += 1
        inner = scopes + [dict(own)]
        for _ in range(self.rnd.randint(2, 4)):
            self.statement(f, inner, budget, nest + 1)
        self.depth -= 1
        self.line("}")

    def function(self, number, kind):
        f = Function(number, kind, 0 if number < 3 else number)
        f.params = [(self.rnd.choice(TYPES), n) for n in self.rnd.sample(NAMES, self.rnd.randint(1, 4))]
        start = len(self.out)
        word = {"inline": "static inline", "always": "static inline __attribute__((always_inline))",
                "static": "static", "noinline": "static __attribute__((noinline))", "extern": ""}[kind]
        params = ", ".join("%s%s" % (t if t.endswith("*") else t + " ", n) for t, n in f.params)
        self.depth = 0
        if kind == "extern":
            self.line("long %s(%s);" % (f.name, params))
        if self.cpp and kind == "inline" and self.rnd.random() < 0.5:
            self.line("template <typename T> static T %s_of(T v, int k)" % f.name)
            self.line("{")
            self.line("\tT n = v + (T)k;")
            self.line("\tsink(&n);")
            self.line("\treturn n;")
            self.line("}")
            f.template = True
        self.line("%s long %s(%s)" % (word, f.name, params) if word else "long %s(%s)" % (f.name, params))
        self.line("{")
        self.depth = 1
        for t, n in f.params:
            if "*" in t: # differs from run to run
                continue
            for what in (["%s.n" % n, "(long)%s.p" % n] if t == "struct str" else [n]):
                path = what.replace("(long)", "")
                self.out.append("\tLOG_VALUE(\"%s\", \"%s\", %s);" % (f.name, path, "(long)" + what))
        self.line("unsigned long acc = %d;" % number)
        scopes = [{}, {n: t for t, n in f.params}]
        if self.rnd.random() < 0.3:
            self.line("sink(&%s);" % f.params[0][1])
        budget = {"calls": 2, "loop": False}
        for _ in range(self.rnd.randint(4, 9)):
            self.statement(f, scopes, budget, 0)
        if getattr(f, "template", False):
            self.line("acc += (long)%s_of<long>(acc, 3);" % f.name)
            self.line("acc += %s_of<short>((short)acc, %s);" % (f.name, "(int)" + self.number(scopes)))
        self.line("return (long)acc;")
        self.depth = 0
        self.line("}")
        self.line("")
        self.functions.append(f)
        return self.out[start:]

    def write(self, folder):
        parts = {"one.h": [], "two.h": [], "main": []}
        for i in range(14):
            where = "one.h" if i < 4 else "two.h" if i < 7 else "main"
            kind = self.rnd.choice(["inline", "always", "static", "noinline"] if where != "main"
                                   else ["static", "static", "noinline", "extern", "extern"])
            parts[where] += self.function(i, kind)
        head = ["#include <stdio.h>", "struct str { const char *p; unsigned long n; };",
                "struct node { int id; struct node *next; };",
                "#ifdef LOG", "#define LOG_VALUE(f, p, v) printf(\"%s %s %ld\\n\", f, p, (long)(v))", "#else",
                "#define LOG_VALUE(f, p, v)", "#endif",
                "static struct node nodes[4] = {{1, nodes + 1}, {20, nodes + 2}, {300, nodes + 3}, {4000, nodes}};",
                "static __attribute__((noinline)) void sink(const void *p) { __asm__ volatile(\"\" : : \"r\"(p) : \"memory\"); }",
                "static inline struct str make_str(long p, long n) { struct str s = {(const char *)(p & 4095), (unsigned long)n}; return s; }",
                ""]
        tail = ["int main(void)", "{", "\tlong total = 0;", "\tfor (int round = 0; round < 3; round++) {"]
        tail += ["\t\ttotal += (long)%s;" % self.call(f, [{"round": "int"}]) for f in self.functions[7:]]
        tail += ["\t}", "\tprintf(\"%s %s %ld\\n\", \"main\", \"-\", total);", "\treturn 0;", "}"]
        os.makedirs(folder, exist_ok=True)
        for name, text in (("one.h", head + parts["one.h"]), ("two.h", parts["two.h"]),
                           ("main.cpp" if self.cpp else "main.c", ["#include \"one.h\"", "#include \"two.h\""] + parts["main"] + tail)):
            with open(os.path.join(folder, name), "w") as f:
                f.write("\n".join(text) + "\n")


if __name__ == "__main__":
    Writer(sys.argv[1], int(sys.argv[2])).write(sys.argv[3])
