#!/usr/bin/env python3
"""Random scripts of texts: where they come from crossed with where they go, for seconds, as root.

    tests/fuzz/texts.py [--seed N] [--seconds N] [--scripts N] [--tries N] FOLDER

A program fires a probe with records of texts: pointers, arrays that are full, counted ones, enumerators, names that are empty or NULL.
Clauses print, compare, keep and count them; the values are known here, and each clause is computed as C would. What the script prints,
line by line, and its maps at the end must be the same. Options, output and $BTGEN_BPFTRACE are those of scripts.py.
"""
import json
import random

from expressions import Refused
from scripts import Traced, play_scripts

ROUNDS = 24
ENUM = {1: b"ST_IDLE", 2: b"ST_BUSY", 7: b"ST_GONE"}
PIECES = [b"a", b"Zed", b" ", b", ", b"]", b": ", b"0", b"/", b"=", b"%s", b"%", b"\\", b'"', b"'", b"\xc3\xa9", b"-1", b"(", b")", b"queue", b"x", b"{"]

C = r"""#include <btgen/usdt.h>
#include <stdint.h>
#include <stdio.h>
enum st { ST_IDLE = 1, ST_BUSY = 2, ST_GONE = 7 };
struct rec { char full[8]; char name[24]; const char *p, *q; uint8_t len; int16_t n; enum st st; uint64_t wide; };
static struct rec recs[] = {
%s};
int main(void)
{
	if (getchar() != 'x')
		return 1;
	for (unsigned i = 0; i < sizeof(recs) / sizeof(*recs); i++) {
		struct rec *r = &recs[i];
		USDT_PROBE(t, r, r, i, USDT_ARG(r->p, "s"), USDT_ARG(r->st, "st"));
	}
	getchar();
	return 0;
}
"""


def quoted(text):
    """As C and bpftrace have it."""
    return '"' + text.decode().replace("\\", "\\\\").replace('"', '\\"') + '"'


def in_c(text):
    return "NULL" if text is None else '"' + "".join(f"\\{b:03o}" for b in text) + '"'


class Record:
    def __init__(self, rng):
        def words(most):
            text = b"".join(rng.choice(PIECES) for _ in range(rng.randrange(6)))[:most]
            return text.decode(errors="ignore").encode()
        few = [b"queue", b"Zed", b"a, b", b"", b"queue 12"]
        self.full = rng.choice([b"12345678", b"queue", words(8), rng.choice(few)])
        self.name = rng.choice([words(23), rng.choice(few)])
        self.p = rng.choice([words(40), rng.choice(few), rng.choice(few)])
        self.q = rng.choice([None, words(30), rng.choice(few)])
        self.len = rng.randrange(12)
        self.n = rng.randrange(-3, 6)
        self.st = rng.choice([1, 2, 7, 7, 5])
        self.wide = rng.randrange(9)

    def c(self):
        return f"\t{{ {in_c(self.full)}, {in_c(self.name)}, {in_c(self.p)}, {in_c(self.q)}, {self.len}, {self.n}, (enum st){self.st}, {self.wide} }},\n"


class Is:
    """An expression: what is written, and what it is worth with a State."""

    def __init__(self, text, value):
        self.text, self.value = text, value


class State:
    def __init__(self, script):
        self.maps = {m: {} for m in script.maps}
        self.out, self.variables, self.r, self.i, self.is_json = [], {}, None, 0, script.is_json

    def say(self, line, values):
        """A line, and in JSON the values in it."""
        self.out.append(line + (b" <" + b"; ".join(v if isinstance(v, bytes) else number(v) for v in values) + b">" if self.is_json else b""))


def in_enum(n):
    return ENUM.get(n, str(n).encode())


class Statement:
    def __init__(self, ident, text, run, *blocks):
        self.ident, self.text, self.run, self.blocks = ident, text, run, blocks

    def written(self, without):
        if self.ident in without:
            return ""
        return self.text(*[" ".join(s.written(without) for s in block) for block in self.blocks])

    def do(self, state, without):
        if self.ident not in without:
            self.run(state, *[lambda block=block: [s.do(state, without) for s in block] for block in self.blocks])

    def idents(self):
        yield self.ident
        for block in self.blocks:
            for s in block:
                yield from s.idents()


def number(n):
    return str(n).encode()


class Script:
    """Clauses of one probe; a map has one form, a variable belongs to its clause."""

    def __init__(self, rng, version):
        self.rng, self.version, self.last = rng, version, 0
        self.maps, self.variables, self.budget, self.is_json = {}, [], 0, rng.random() < 0.4
        for i in range(rng.randrange(2, 6)):
            columns = rng.choice(["t", "t", "tn", "nt", "et", "tt", "e", "te"])
            self.maps[f"@m{i}"] = (columns, rng.choice(["++", "count()", "sum", "text", "text", "enum"]))
        self.macros = ["#define CUT(a) str(a, 3)", "#define PICK(c, a, b) ((c) ? (a) : (b))", "#define SAME(a, b) ((a) == (b))", "#define NAME args.r->name"]
        self.own = ["macro pick(c, a, b) { c ? a : b }"] if version >= 27 else []
        self.clauses = [self.clause() for _ in range(rng.randrange(1, 5))] + [self.anchors()]

    def ident(self):
        self.last += 1
        return self.last

    # --- expressions

    def count(self):
        rng = self.rng
        k = rng.randrange(1, 11)
        return rng.choice([Is(str(k), lambda s: k), Is(str(k), lambda s: k), Is("args.r->len", lambda s: s.r.len), Is("args.i", lambda s: s.i),
                           Is("args.r->wide", lambda s: s.r.wide), Is("(args.r->len + 1)", lambda s: s.r.len + 1)])

    def place(self):
        """What str() reads."""
        return self.rng.choice([Is("args.s", lambda s: s.r.p), Is("args.r->p", lambda s: s.r.p), Is("args.r->q", lambda s: s.r.q or b""),
                                Is("args.r->name", lambda s: s.r.name), Is("args.r->full", lambda s: s.r.full)])

    def literal(self):
        text = self.rng.choice([b"queue", b"Zed", b"a, b", b"no", b"a longer text", b"ST_BUSY", b"%d", b'"', b"", b"\xc3\xa9", b"x]: 5"])
        if self.is_json and not text:  # a choice of "" fills a line, and is no field
            text = b"no"
        return Is(quoted(text), lambda s: text)

    def words(self, depth=2):
        self.budget -= 1
        rng = self.rng
        held = [m for m, (_, kind) in self.maps.items() if kind == "text"]
        what = rng.choice(["str", "str", "str", "counted", "array", "literal", "choice", "variable", "map", "macro", "own"] if depth and self.budget > 0
                          else ["str", "array", "literal"])
        if what == "variable" and self.variables:
            name = rng.choice(self.variables)
            return Is(name, lambda s: s.variables[name])
        if what == "map" and held:
            name = rng.choice(held)
            key = self.key(name)
            return Is(name + key.text, lambda s: s.maps[name].get(key.value(s), b""))
        if what == "choice":
            c, a, b = self.condition(depth - 1), self.words(depth - 1), self.words(depth - 1)
            lone = not any("[" in x.text for x in (c, a, b))  # brackets do not keep a macro's arguments together
            how = rng.choice(["({} ? {} : {})", "PICK({}, {}, {})" if lone else "({} ? {} : {})"] + (["pick({}, {}, {})"] if self.own and rng.random() < 0.3 else []))
            return Is(how.format(c.text, a.text, b.text), lambda s: a.value(s) if c.value(s) else b.value(s))
        if what == "macro":
            p = self.place()
            return Is(f"CUT({p.text})", lambda s: p.value(s)[:3])
        if what == "counted":
            p, n = self.place(), self.count()
            if p.text == "args.r->full":  # as in C, where it is full the next member follows
                return Is(f"str({p.text}, {n.text})", lambda s: (s.r.full + s.r.name * (len(s.r.full) == 8))[:n.value(s)])
            return Is(f"str({p.text}, {n.text})", lambda s: p.value(s)[:n.value(s)])
        if what == "array":
            return rng.choice([Is("args.r->full", lambda s: s.r.full), Is("args.r->name", lambda s: s.r.name), Is("NAME", lambda s: s.r.name)])
        if what == "literal":
            return self.literal()
        p = self.place()
        return Is(f"str({p.text})", lambda s: p.value(s))

    def condition(self, depth=2):
        rng = self.rng
        what = rng.choice(["number", "number", "enum", "same", "same", "differ", "strncmp", "contains", "and", "not", "seen"] if depth else ["number", "enum", "same"])
        k = rng.randrange(6)
        if what == "number":
            return rng.choice([Is(f"args.r->n < {k}", lambda s: s.r.n < k), Is(f"args.i > {k}", lambda s: s.i > k), Is(f"args.r->len == {k}", lambda s: s.r.len == k)])
        if what == "enum":
            n = rng.choice(list(ENUM))
            return rng.choice([Is(f"args.r->st == {ENUM[n].decode()}", lambda s: s.r.st == n), Is(f"args.st != {ENUM[n].decode()}", lambda s: s.r.st != n)])
        if what == "and":
            a, b = self.condition(depth - 1), self.condition(depth - 1)
            return rng.choice([Is(f"({a.text} && {b.text})", lambda s: a.value(s) and b.value(s)), Is(f"({a.text} || {b.text})", lambda s: a.value(s) or b.value(s))])
        if what == "not":
            a = self.condition(depth - 1)
            return Is(f"!({a.text})", lambda s: not a.value(s))
        counted = [m for m, (_, kind) in self.maps.items() if kind == "++"]
        if what == "seen" and counted:
            name = rng.choice(counted)
            key = self.key(name, 0)
            return Is(f"{name}{key.text} > {k}", lambda s: s.maps[name].get(key.value(s), 0) > k)
        a, b = self.words(0), rng.choice([self.literal, self.literal, lambda: self.words(0)])()
        if what == "strncmp":
            return Is(f"strncmp({a.text}, {b.text}, {k + 1}) == 0", lambda s: a.value(s)[:k + 1] == b.value(s)[:k + 1])
        if what == "contains":
            b = self.literal()
            return Is(f"strcontains({a.text}, {b.text})", lambda s: b.value(s) in a.value(s))
        if what == "differ":
            return Is(f"{a.text} != {b.text}", lambda s: a.value(s) != b.value(s))
        return Is(rng.choice(["{} == {}", "SAME({}, {})" if "[" not in a.text + b.text else "{} == {}"]).format(a.text, b.text), lambda s: a.value(s) == b.value(s))

    def number(self):
        return self.rng.choice([Is("args.i", lambda s: s.i), Is("args.r->n", lambda s: s.r.n), Is("args.r->len", lambda s: s.r.len), Is("7", lambda s: 7)])

    def enum(self):
        return self.rng.choice([Is("args.st", lambda s: in_enum(s.r.st)), Is("args.r->st", lambda s: in_enum(s.r.st))])

    def key(self, name, depth=1):
        parts = [{"t": lambda: self.words(depth), "n": self.number, "e": self.enum}[c]() for c in self.maps[name][0]]
        return Is("[" + ", ".join(p.text for p in parts) + "]", lambda s: tuple(p.value(s) for p in parts))

    # --- statements

    def statement(self, depth):
        makers = [self.make_printf, self.make_printf, self.make_count, self.make_count, self.make_print, self.make_variable, self.make_delete]
        if depth:
            makers += [self.make_if, self.make_if, self.make_while]
        return self.rng.choice(makers)(depth)

    def block(self, depth, most=3):
        outer = list(self.variables)
        statements = [self.statement(depth) for _ in range(self.rng.randrange(1, most + 1))]
        self.variables = outer
        return statements

    def make_printf(self, _depth):
        ident, rng = self.ident(), self.rng
        forms, parts = [], []
        for _ in range(rng.randrange(1, 4)):
            what = rng.choice("ttten")
            form, part = rng.choice([("%s", None), ("%s", None), ("%-12s", -12), ("%10s", 10)]), None
            if what == "n":
                form = ("%d", None)
            part = {"t": self.words, "e": self.enum, "n": self.number}[what]()
            forms.append(form[0])
            parts.append((part, form[1]))

        def shown(part, width, s):
            v = part.value(s)
            v = v if isinstance(v, bytes) else number(v)
            return v if width is None else v.rjust(width) if width > 0 else v.ljust(-width)

        def run(s):
            s.say(b"p%d " % ident + b"|".join(shown(part, width, s) for part, width in parts), [part.value(s) for part, _ in parts ])
        text = f'printf("p{ident} {"|".join(forms)}\\n", {", ".join(part.text for part, _ in parts)});'
        return Statement(ident, lambda: text, run)

    def make_print(self, _depth):
        ident, a, b = self.ident(), self.words(1), self.number()
        if "@" in a.text:  # some versions take a map's element here, and print it themselves
            return self.make_printf(0)
        if self.rng.random() < 0.5:
            return Statement(ident, lambda: f"print(({ident}, {a.text}, {b.text}));", lambda s: s.say(b"(%d, %s, %d)" % (ident, a.value(s), b.value(s)), [ident, a.value(s), b.value(s)]))
        return Statement(ident, lambda: f"print({a.text});", lambda s: s.say(a.value(s), [a.value(s)]))

    def make_count(self, _depth):
        ident, name = self.ident(), self.rng.choice(list(self.maps))
        key, (_, kind) = self.key(name), self.maps[name]
        if kind in ("text", "enum"):
            v = self.words(1) if kind == "text" else self.enum()
            return Statement(ident, lambda: f"{name}{key.text} = {v.text};", lambda s: s.maps[name].__setitem__(key.value(s), v.value(s)))
        n = self.number() if kind == "sum" else Is("", lambda s: 1)
        end = {"++": "++", "count()": " = count()", "sum": f" = sum({n.text})"}[kind]

        def run(s):
            k = key.value(s)
            s.maps[name][k] = s.maps[name].get(k, 0) + n.value(s)
        return Statement(ident, lambda: f"{name}{key.text}{end};", run)

    def make_variable(self, depth):
        """One that is known from here on, or a new value of one."""
        ident = self.ident()
        value = self.words(2)
        if self.variables and self.rng.random() < 0.5:
            name = self.rng.choice(self.variables)
        elif depth < 2:  # it is not known outside of the block
            return self.make_printf(depth)
        else:
            name = f"$v{ident}"
            self.variables.append(name)
            ident = 0
        return Statement(ident, lambda: f"{name} = {value.text};", lambda s: s.variables.__setitem__(name, value.value(s)))

    def make_delete(self, _depth):
        ident, name = self.ident(), self.rng.choice(list(self.maps))
        key = self.key(name, 0)
        return Statement(ident, lambda: f"delete({name}{key.text});", lambda s: s.maps[name].pop(key.value(s), None))

    def make_if(self, depth):
        ident, c = self.ident(), self.condition()
        yes, no = self.block(depth - 1), self.block(depth - 1) if self.rng.random() < 0.6 else []

        def run(s, do_yes, do_no):
            (do_yes if c.value(s) else do_no)()
        return Statement(ident, lambda y, n: f"if ({c.text}) {{ {y} }}" + (f" else {{ {n} }}" if n else ""), run, yes, no)

    def make_while(self, depth):
        ident, n, body = self.ident(), self.rng.randrange(1, 4), self.block(depth - 1, 2)
        how = self.rng.choice(["unroll(%d) {{ {} }}" % n, f"$j{ident} = 0; while ($j{ident} < {n}) {{{{ {{}} $j{ident}++; }}}}"])

        def run(_s, do):
            for _ in range(n):
                do()
        return Statement(ident, how.format, run, body)

    def clause(self):
        self.variables, self.budget = [], 8
        where = self.condition(1) if self.rng.random() < 0.4 else None
        ident = self.ident()
        body = self.block(2, 4)

        def run(s, do):
            s.variables = {}
            if not where or where.value(s):
                do()
        head = "usdt:__EXE__:t:r " + (f"/{where.text}/ " if where else "")
        return Statement(ident, lambda b: f"{head}{{ {b} }}", run, body)

    def anchors(self):
        """Sets each map that may be read, in a clause that never runs: what is only read is an error."""
        def nothing(_state, _do):
            pass
        body, self.variables, self.budget = [], [], 0
        for name, (_, kind) in self.maps.items():
            end = {"++": "++", "count()": " = count()", "sum": " = sum(args.i)", "text": f" = {self.words(0).text}", "enum": " = args.st"}[kind]
            written = f"{name}{self.key(name, 0).text}{end};"
            body.append(Statement(self.ident(), lambda written=written: written, lambda s: None))
        return Statement(self.ident(), lambda b: f"usdt:__EXE__:t:r /args.i == 99/ {{ {b} }}", nothing, body)

    # --- as a whole

    def idents(self):
        return [i for c in self.clauses for i in c.idents() if i]

    def text(self, without):
        return "\n".join(self.macros + self.own + [t for t in (c.written(without) for c in self.clauses) if t]) + "\n"

    def values(self, records, without):
        s = State(self)
        for s.i, s.r in enumerate(records):
            for c in self.clauses:
                c.do(s, without)
        lines = list(s.out)
        for name, entries in s.maps.items():
            for key, value in entries.items():
                shown = b", ".join(k if isinstance(k, bytes) else number(k) for k in key)
                if self.version >= 24 and self.maps[name][0] == "t" and len(shown) > 1 and shown[:1] + shown[-1:] == b"()":
                    shown = shown[1:-1]  # as bpftrace prints a tuple
                lines.append(b"%s[%s]: %s" % (name.encode(), shown, value if isinstance(value, bytes) else number(value)))
        return lines


def of_json(text):
    """The lines that records of printf() and print() have, and those of maps' entries."""
    def shown(v):
        if not isinstance(v, dict):
            return str(v)
        return bytes.fromhex(v["hex"]).decode(errors="replace") if "hex" in v else str(v["name"] or v["value"])
    for r in map(json.loads, text.split("\n")[:-1]):
        if "text" in r:
            yield shown(r["text"]) + " <" + "; ".join(map(shown, r.get("fields", {}).values())) + ">"
        for e in r.get("entries", ()):
            yield f"{r['map']}[{', '.join(map(shown, e['key']))}]: {shown(e['value'])}"


class Play(Traced):
    """A script and the records it sees."""

    def __init__(self, folder, rng, version):
        super().__init__(folder, Script(rng, version))
        self.records = [Record(rng) for _ in range(ROUNDS)]
        self.bench.build(C % "".join(r.c() for r in self.records))

    def differences(self, without=None):
        """[(line, how often, how often in the trace)], and how many lines were compared; or Refused."""
        without = self.without if without is None else without
        want, got = {}, {}
        for line in self.script.values(self.records, without):
            line = line.decode(errors="replace")
            want[line] = want.get(line, 0) + 1
        if not want:
            raise Refused("nothing is printed")
        is_json = self.script.is_json
        out = self.bench.trace(self.script.text(without), "-f", "json" if is_json else "text")[1]
        for line in of_json(out) if is_json else out.split("\n"):
            if line or line in want:
                got[line] = got.get(line, 0) + 1
        if "" in want:  # and the empty lines between maps
            got[""] = want[""]
        return [(k, want.get(k, 0), got.get(k, 0)) for k in sorted(want | got) if want.get(k) != got.get(k)], sum(want.values())


if __name__ == "__main__":
    play_scripts("lines", Play)
