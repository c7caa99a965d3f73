#!/usr/bin/env python3
"""Random scripts against C: clauses that share maps, over rounds of values, for seconds, as root.

    tests/fuzz/scripts.py [--seed N] [--seconds N] [--scripts N] [--tries N] FOLDER

Makes a script and a C program that keeps the same state: the program computes each clause itself, prints what it gets, and then fires
the clause's probe, some rounds long with other values each. What the script prints, line by line, and its maps at the end must be the
same. Expressions and values are those of tests/fuzz/numbers.py; what is new is what lies between them: variables, maps, keys and
aggregations that get numbers of several types at several places, blocks, loops, macros.

A script with a wrong value, or that is refused, is made as short as it can be while it stays so, and printed. $BTGEN_BPFTRACE is the
bpftrace, else the system's. --seed with the number that was printed does it again. FOLDER keeps the files of the last script.

Not here: bswap(), which goes by its operand's width, and constants of C headers, whose sign is not known. They have tests of their
own: stores.t, headers.t.
"""
import argparse
import os
import random
import re
import sys
import time

from expressions import HELPERS, SUMS, TRUTHS, Bench, Maker, Node, Refused, Row, random_types, version_of_bpftrace
from numbermodel import CASTS, definitions, filled, fired, leaf

ROUNDS, PROBES = 120, 5
COST_OF_CLAUSE = {17: 30, 20: 18, 22: 30, 23: 44}  # reads of memory, about: of the stack, and of what the kernel verifies
CONSTANTS = [("COLOR_TOP", "2147483649L"), ("COLOR_RED", "3L"), ("STATE_BAD", "(-3L)"), ("STATE_WORSE", "(-2000000000L)"),
             ("sizeof(uint64)", "8L"), ("LIMIT", "5L"), ("LOW", "(-7L)"), ("MANY", "4294967296L")]
DEFINES = "#define LIMIT 5\n#define LOW (-7)\n#define MANY 4294967296\n#define PLUS(a, b) ((a) + (b))\n#define HALF(a) ((a) / 2)\n" \
    "#define LESS(a, b) ((a) < (b))\n#define SMALL(a, b) ((a) < (b) ? (a) : (b))\n#define BYTE(a) ((uint8)(a))\n"
OWN_MACROS = "macro plus(a, b) { a + b }\nmacro less(a, b) { a < b }\n"
WORDS = ["a", "state", "longer text"]

STATE = r"""#include <stdarg.h>
#include <string.h>
#define OPEN(id) if (is_open) printf("open " id "\n")
struct map { int n; struct entry { char key[200]; long k; unsigned long value, second; long count; } e[4000]; };
static const char *key(const char *format, ...)
{
	static char text[16][200];
	static int i;
	va_list v;
	va_start(v, format);
	vsnprintf(text[i = (i + 1) % 16], 200, format, v);
	va_end(v);
	return text[i];
}
static struct entry *look(struct map *m, const char *key)
{
	for (int i = 0; i < m->n; i++)
		if (strcmp(m->e[i].key, key) == 0)
			return &m->e[i];
	return NULL;
}
static unsigned long peek(struct map *m, const char *key)
{
	struct entry *e = look(m, key);
	return e ? e->value : 0;
}
static unsigned long peek_second(struct map *m, const char *key)
{
	struct entry *e = look(m, key);
	return e ? e->second : 0;
}
static struct entry *slot(struct map *m, const char *key, long k)
{
	struct entry *e = look(m, key);
	if (!e) {
		e = &m->e[m->n++];
		*e = (struct entry){ .k = k };
		strcpy(e->key, key);
	}
	return e;
}
static void drop(struct map *m, const char *key)
{
	struct entry *e = look(m, key);
	if (e)
		*e = m->e[--m->n];
}
static const char *state_name(long v) { return v == -2000000000 ? "STATE_WORSE" : v == -3 ? "STATE_BAD" : v == 5 ? "STATE_GOOD" : key("%ld", v); }
enum function { COUNT, SUM, AVG, STATS, MIN, MAX };
static void sample(struct entry *e, enum function f, int is_unsigned, unsigned long v)
{
	long sum;
	if (f == MIN || f == MAX) {
		int is_less = is_unsigned ? v < e->value : (long)v < (long)e->value;
		if (e->count++ == 0 || (v != e->value && is_less == (f == MIN)))
			e->value = v;
		return;
	}
	if (!is_unsigned && __builtin_add_overflow((long)e->value, (long)v, &sum)) is_open = 1;
	e->value += v;
	e->count++;
}
static const char *number(int is_unsigned, unsigned long v) { return is_unsigned ? key("%lu", v) : key("%ld", (long)v); }
static void show(struct map *m, const char *name, int function, int is_unsigned, int is_pair, int second_is_unsigned)
{
	for (struct entry *e = m->e; e < m->e + m->n; e++) {
		const char *average = number(is_unsigned, is_unsigned ? e->value / (e->count ?: 1) : (unsigned long)((long)e->value / (e->count ?: 1)));
		printf("%s%s%s%s: ", name, *e->key ? "[" : "", e->key, *e->key ? "]" : "");
		if (function == COUNT)
			printf("%ld\n", e->count);
		else if (function == AVG)
			printf("%s\n", average);
		else if (function == STATS)
			printf("count %ld, average %s, total %s\n", e->count, average, number(is_unsigned, e->value));
		else if (is_pair)
			printf("(%s, %s)\n", number(is_unsigned, e->value), number(second_is_unsigned, e->second));
		else
			printf("%s\n", number(is_unsigned, e->value));
	}
}
"""


class Text(Row):
    """An expression as text, for a place where statements may stand before it, or (@is_pure) not."""

    def __init__(self, ident, node, is_pure, base="$%s"):
        self.ident, self.node, self.use, self.base = ident, node, "filter" if is_pure else "number", base
        self.n, self.before, self.c_before, self.loop = 0, [], [], None
        self.text, self.c = self.both(node)
        self.text = " " + self.text if self.text.startswith("*") else self.text  # "/*" begins a comment


class Statement:
    """Its text and its C, with a \\0 for each block; what its number is, by which it can be left away."""

    def __init__(self, ident, text, c, *blocks):
        self.ident, self.text, self.c, self.blocks = ident, text, c, blocks

    def written(self, without, is_c):
        if self.ident in without:
            return ""
        text = self.c if is_c else self.text
        for b in self.blocks:
            text = text.replace("\0", " ".join(filter(None, (s.written(without, is_c) for s in b))), 1)
        return text

    def idents(self):
        yield self.ident
        for b in self.blocks:
            for s in b:
                yield from s.idents()


class Name:
    """A variable or map: what it is called, and what goes in."""

    def __init__(self, text, is_unsigned=False, columns=None, function=None, c=None, second=None):
        self.text, self.is_unsigned, self.columns, self.function, self.second = text, is_unsigned, columns, function, second
        self.c = c or text[1:]

    @property
    def is_map(self):
        return self.text[0] == "@"


class Script(Maker):
    """A random script."""

    def __init__(self, rng, version):
        super().__init__(rng, version)
        self.n, self.n_names, self.begin, self.clauses, self.variables, self.typing = 0, 0, [], [], [], set()
        self.names, self.locals, self.room, self.is_loop, self.is_pure, self.base = [], [], 0, 0, False, "$%s"
        self.names = [self.new_map() for _ in range(rng.randint(7, 11))]
        # bpftrace casts no element of a tuple that comes later; to 0.23 no map. An enumerator has its name only where the enum is known.
        places = [(n, rng.randint(0 if "enum" in (n.columns or []) else -1, 0 if version < 24 or n.second is not None else PROBES - 1)) for n in self.names]
        for n, place in places:
            if place == -1:
                self.begin.append(self.anchor(n, in_begin=True))
        for i in range(PROBES):
            self.clauses.append(self.clause(i, [n for n, place in places if place == i]))

    # Expressions

    def leaf(self):
        r = self.rng
        if r.random() < 0.4:
            found = self.state()
            if found:
                return found
        if r.random() < 0.12:
            return Node("state", r.choice(CONSTANTS) + (False,))
        for _ in range(9):
            n = super().leaf()
            if n.kind == "number" or n.what[0] != "loop" and not (self.is_loop and n.what[0] == "argument"):
                return n
        return Node("number", 1)

    def state(self):
        """What is kept of a name, or None."""
        r = self.rng
        name = r.choice(self.locals + [n for n in self.names if not n.function])
        if name.second is not None:
            i = r.randint(0, 1)
            c = f"peek{'_second' * i}(&{name.c}, \"\")" if name.is_map else f"{name.c}_{i}"
            is_unsigned = (name.is_unsigned, name.second)[i]
            return Node("state", (f"{name.text}.{i}", f"((unsigned long){c})" if is_unsigned else f"((long){c})", is_unsigned))
        if not name.is_map:
            return Node("state", (name.text, f"((unsigned long){name.c})" if name.is_unsigned else f"((long){name.c})", name.is_unsigned))
        text, c, _k = self.key(name)
        if name.columns and self.version >= 22 and r.random() < 0.15:
            return Node("state", (f"has_key({name.text}, {self.as_argument(text)})", f"((long)(look(&{name.c}, {c}) != NULL))", False))
        return Node("state", (name.text + text, f"(({'unsigned ' * name.is_unsigned}long)peek(&{name.c}, {c}))", name.is_unsigned))

    @staticmethod
    def as_argument(key):
        """@key, [1, 2], as has_key() and delete() of two arguments take it: 1, or (1, 2)."""
        inner = key[1:-1]
        depth = quoted = 0
        for ch in inner:
            quoted ^= ch == '"'
            depth += 0 if quoted else (ch in "([") - (ch in ")]")
            if ch == "," and depth == 0 and not quoted:
                return f"({inner})"
        return inner

    def node(self, depth):
        r = self.rng
        if depth > 0 and r.random() < 0.08:
            return self.macro(depth)
        n = super().node(depth)
        if self.is_pure and n.kind in ("keep", "step"):
            return n.kids[0]
        return n

    def macro(self, depth):
        was, self.is_pure = self.is_pure, True
        a, b = self.node(depth - 1), self.node(depth - 1)
        self.is_pure = was
        is_own = self.version >= 27 and self.rng.random() < 0.5
        # A macro of bpftrace's that divides is refused: its parameter would be evaluated more than once.
        kind = self.rng.choice(["plus", "less"] + ["half", "byte", "small"] * (not is_own))
        if kind == "small" and a.is_unsigned() != b.is_unsigned():
            kind = "plus"
        if kind == "less" and is_own:  # signed in one call and unsigned in another: there is a warning
            a, b = Node("cast", "int64", a), Node("cast", "int64", b)
        body = {"plus": Node("binary", "+", a, b), "half": Node("binary", "/", a, Node("number", 2)), "less": Node("binary", "<", a, b),
                "byte": Node("cast", "uint8", a), "small": Node("choice", None, Node("binary", "<", a, b), a, b)}[kind]
        return Node("macro", (kind if is_own else kind.upper(), [a] if kind in ("half", "byte") else [a, b]), body)

    def expr(self, depth=3, is_pure=False, fits=None, base=None):
        """An expression as Text; @fits: of a name with this sign."""
        was, self.is_pure = self.is_pure, is_pure or self.is_pure
        for _ in range(30):
            n = self.node(self.rng.randint(0, depth))
            if n.cost() <= min(12, max(self.room, 1)):
                break
        else:
            n = Node("number", 3)
        if fits is False and n.is_unsigned():
            n = Node("cast", "int64", n)
        self.is_pure = was
        self.room -= n.cost()
        self.n += 1
        return Text(self.n, n, is_pure or was, base or self.base)

    def key(self, name):
        """The key of one element: its text, C's, and its number if it is one."""
        if not name.columns:
            return "", '""', "0"
        r, texts, formats, cs = self.rng, [], [], []
        for column in name.columns:
            how = r.random()
            if column == "text":
                words = r.sample(WORDS, 2)
                # Up to 0.22 a variable that is the only key is freed, so btgen refuses one in a loop.
                if how < 0.6 or (self.version < 23 and self.is_loop and len(name.columns) == 1):
                    t, c = f'"{words[0]}"', f'"{words[0]}"'
                else:
                    t, c = f'$p->i16 < 0 ? "{words[0]}" : "{words[1]}"', f'p->i16 < 0 ? "{words[0]}" : "{words[1]}"'
                    t = t if self.base == "$%s" else t.replace("$p", "args.p")
            elif column == "enum":
                t, c = self.base % "p" + "->e", "state_name(p->e)"
            else:
                if column == "truth":
                    op = r.choice(TRUTHS)
                    a, b = [Node("leaf", ("member", r.choice(["u8", "i8", "u64", "i32", "b", "ub"]), w)) for w in "pq"]
                    n = Node("binary", op, a, b)
                elif column == "unsigned":
                    n = Node("leaf", ("member", "u64", r.choice("pq"))) if how < 0.5 else Node("cast", "uint64", Node("number", r.choice([1, 7])))
                elif how < 0.4:
                    n = Node("number", r.randint(0, 3))
                elif how < 0.6:
                    n = Node("binary", "&", Node("leaf", ("member", r.choice(["u8", "i8", "u32", "i64", "ub", "e"]), r.choice("pq"))), Node("number", 3))
                elif how < 0.8:
                    n = Node("leaf", ("member", r.choice(["u8", "i8", "u16", "u32", "i32", "i64", "b", "sb", "ub"]), r.choice("pq")))
                elif how < 0.9:
                    n = Node("unary", "-", Node("number", r.randint(0, 3)))
                else:
                    n = Node("state", r.choice(CONSTANTS) + (False,))
                written = Text(0, n, True, self.base)
                t, c = written.text, written.c
            texts.append(t)
            formats.append("%lu" if column == "unsigned" else "%s" if column in ("text", "enum") else "%ld")
            cs.append(f"({'unsigned ' * (column == 'unsigned')}long)({c})" if column not in ("text", "enum") else c)
        k = cs[0] if name.columns[0] not in ("text", "enum") else "0"
        return f"[{', '.join(texts)}]", f'key("{", ".join(formats)}", {", ".join(cs)})', k

    # Names

    def new_map(self):
        r = self.rng
        self.n_names += 1
        columns = r.choice([None, ["signed"], ["signed"], ["unsigned"], ["text"], ["enum"], ["truth"], ["signed", "text"], ["text", "unsigned"],
                            ["enum", "truth"], ["signed", "signed", "text"]])
        is_unsigned, how = r.random() < 0.3, r.random()
        if how < 0.35:
            function = r.choice(["count", "sum", "stats", "avg", "min", "max"])
            return Name(f"@a{self.n_names}", is_unsigned, columns, function)
        if how < 0.45:
            return Name(f"@t{self.n_names}", is_unsigned, None, second=r.random() < 0.3)
        return Name(f"@m{self.n_names}", is_unsigned, columns)

    def anchor(self, name, in_begin=False):
        """A statement that gives this map its type, whatever else is left away."""
        r, ident = self.rng, self.ident()

        def first(is_unsigned):
            if in_begin or not is_unsigned and r.random() < 0.5:
                v = r.choice([0, 1, 5, 4294967296])
                return (f"(uint64){v}", f"{v}UL") if is_unsigned else (str(v), f"{v}L")
            t = "u64" if is_unsigned else r.choice(["u8", "i8", "u16", "i32", "u32", "i64", "b"])
            return f"$p->{t}", leaf(t)
        text, c = first(name.is_unsigned)
        if in_begin and name.columns:
            parts = {"signed": ("2", '"%ld"', "2L"), "unsigned": ("(uint64)3", '"%lu"', "3UL"), "text": ('"a"', '"%s"', '"a"'),
                     "truth": ("3 > 2", '"%ld"', "1L")}
            key = f"[{', '.join(parts[column][0] for column in name.columns)}]"
            formats = " \", \" ".join(parts[column][1] for column in name.columns)
            c_key, k = f"key({formats}, {', '.join(parts[column][2] for column in name.columns)})", parts[name.columns[0]][2].strip('"')
            k = k if k[0].isdigit() else "0"
        else:
            key, c_key, k = self.key(name)
        return Statement(ident, *self.stored(name, key, c_key, k, text, c, first(name.second) if name.second is not None else None))

    def stored(self, name, key, c_key, k, text, c, second=None):
        """A statement's text and C."""
        where = f"slot(&{name.c}, {c_key}, {k})"
        if name.function == "count":
            return f"{name.text}{key} = count();", f"{where}->count++;"
        if name.function:
            c = f"sample({where}, {name.function.upper()}, {int(name.is_unsigned)}, {c});"
            return f"{name.text}{key} = {name.function}({text});", c
        if second:
            return f"{name.text} = ({text}, {second[0]});", f"{{ struct entry *e = {where}; unsigned long a = {c}, b = {second[1]}; e->value = a; e->second = b; }}"
        return f"{name.text}{key} = {text};", f"{{ unsigned long v = {c}; {where}->value = v; }}"

    def ident(self):
        self.n += 1
        return self.n

    # Statements

    def guarded(self, ident, written, c):
        """C of a statement whose expressions are these."""
        before = " ".join(b for w in written for b in w.c_before)
        return f"{{ is_open = 0; {before} " + c + f' OPEN("{ident}"); }}'

    @staticmethod
    def before(written):
        return "".join(b + " " for w in written for b in w.before)

    def statement(self, depth):
        r = self.rng
        kinds = {"print": 34, "set": 18, "step": 14, "bump": 12, "sample": 12, "pair": 5, "delete": 3}
        if depth > 0:
            kinds.update({"if": 14, "while": 4, "unroll": 3, "over": 4, "range": 4 if self.version >= 27 else 0, "let": 4 if self.version >= 23 else 0})
        if self.is_loop:
            kinds.update({"leave": 3})
        kind = r.choices(list(kinds), list(kinds.values()))[0]
        self.room -= 1
        return getattr(self, "make_" + kind)(depth)

    def block(self, depth, most=3):
        kept, out = list(self.locals), []
        for _ in range(self.rng.randint(1, most)):
            if self.room > 0 or not out:
                out += self.statement(depth - 1) or []
        self.locals = kept
        return out

    def make_print(self, _depth):
        ident, xs = self.ident(), [self.expr() for _ in range(self.rng.choice([1, 1, 2]))]
        is_unsigned = [x.node.is_unsigned() for x in xs]
        letters = [self.rng.choice(["%lu", "%llu"] if u else ["%ld", "%lld"] + ["%d"] * (x.node.kind == "binary")) for u, x in zip(is_unsigned, xs)]
        text = self.before(xs) + f'printf("p{ident} {" ".join(letters)}\\n", {", ".join(x.text for x in xs)});'
        c_letters = " ".join("%lu" if u else "%ld" for u in is_unsigned)
        values = " ".join(f"{'unsigned ' * u}long v{i} = {x.c};" for i, (u, x) in enumerate(zip(is_unsigned, xs)))
        c = f'{values} printf("p{ident} {c_letters}\\n", {", ".join(f"v{i}" for i in range(len(xs)))});'
        return [Statement(ident, text, self.guarded(ident, xs, c))]

    def kept_names(self):
        return [n for n in self.names + self.locals if not n.function and n.second is None and not n.text.startswith(("$w", "$r", "$kv"))]

    def make_set(self, _depth):
        name, ident = self.rng.choice(self.kept_names()), self.ident()
        x = self.expr(fits=name.is_unsigned)
        if name.text.startswith("$l"):
            return None
        if name.is_map:
            key, c_key, k = self.key(name)
            text, c = self.stored(name, key, c_key, k, x.text, x.c)
        else:
            text, c = f"{name.text} = {x.text};", f"{name.c} = {x.c};"
        return [Statement(ident, self.before([x]) + text, self.guarded(ident, [x], c))]

    def make_step(self, _depth):
        name, ident = self.rng.choice(self.kept_names()), self.ident()
        if name.text.startswith("$l"):
            return None
        if self.rng.random() < 0.15:
            op, x = self.rng.choice(["<<", ">>"]), Text(0, Node("number", self.rng.choice([1, 4, 33])), True)
        else:
            op = self.rng.choice(SUMS + ["/", "%"])
            x = self.expr(2, fits=name.is_unsigned)
        return [self.step(name, ident, op, x)]

    def step(self, name, ident, op, x):
        sign = "unsigned " * name.is_unsigned
        key, c_key, k = self.key(name) if name.is_map else ("", "", "")
        cell = f"slot(&{name.c}, {c_key}, {k})->value" if name.is_map else name.c
        c = f"{sign}long old = {'peek(&%s, %s)' % (name.c, c_key) if name.is_map else name.c}; {sign}long v = {self.c_binary(op, 'old', x.c)}; {cell} = v;"
        return Statement(ident, self.before([x]) + f"{name.text}{key} {op}= {x.text};", self.guarded(ident, [x], c))

    @staticmethod
    def c_binary(op, a, b):
        return f"({a} >> {b})" if op == ">>" else Row.c_binary(op, a, b)

    def make_bump(self, _depth):
        name, ident, op = self.rng.choice(self.kept_names()), self.ident(), self.rng.choice(["++", "--"])
        if name.text.startswith("$l"):
            return None
        step = self.step(name, ident, op[0], Text(0, Node("number", 1), True))
        target = step.text.rsplit(f" {op[0]}= ", 1)[0]
        step.text = f"{op}{target};" if self.rng.random() < 0.5 else f"{target}{op};"
        return [step]

    def make_sample(self, _depth):
        names = [n for n in self.names if n.function]
        if not names:
            return None
        name, ident = self.rng.choice(names), self.ident()
        x = self.expr(fits=name.is_unsigned)
        key, c_key, k = self.key(name)
        text, c = self.stored(name, key, c_key, k, x.text, x.c)
        return [Statement(ident, self.before([x]) + text, self.guarded(ident, [x], c))]

    def make_pair(self, _depth):
        ident = self.ident()
        maps = [n for n in self.names if n.second is not None]
        if maps and self.rng.random() < 0.6:
            name = self.rng.choice(maps)
            xs = [self.expr(2, fits=name.is_unsigned), self.expr(2, fits=name.second)]
            text, c = self.stored(name, "", '""', "0", xs[0].text, xs[0].c, (xs[1].text, xs[1].c))
            c = c.replace(xs[0].c, xs[0].c, 1) if "%" in xs[0].c else c
            return [Statement(ident, self.before(xs) + text, self.guarded(ident, xs, c))]
        names = [n for n in self.locals if n.second is not None]
        if not names:
            return None
        name = self.rng.choice(names)
        xs = [self.expr(2, fits=name.is_unsigned), self.expr(2, fits=name.second)]
        c = f"unsigned long a = {xs[0].c}, b = {xs[1].c}; {name.c}_0 = a; {name.c}_1 = b;"
        return [Statement(ident, self.before(xs) + f"{name.text} = ({xs[0].text}, {xs[1].text});", self.guarded(ident, xs, c))]

    def make_delete(self, _depth):
        names = [n for n in self.names if n.columns and not n.function]
        if not names:
            return None
        name, ident = self.rng.choice(names), self.ident()
        key, c, _k = self.key(name)
        text = f"delete({name.text}, {self.as_argument(key)});" if self.version >= 24 and self.rng.random() < 0.5 else f"delete({name.text}{key});"
        return [Statement(ident, text, f"drop(&{name.c}, {c});")]

    def make_if(self, depth):
        ident, x = self.ident(), self.expr(2)
        then = self.block(depth)
        text = self.before([x]) + f"if ({x.text})" + " { \0 }"
        c = f"_Bool yes{ident} = ({x.c}) != 0;" + f' OPEN("{ident}"); if (yes{ident}) {{ \0 }}'
        blocks, closing = [then], ""
        if self.rng.random() < 0.3:
            y = self.expr(2, is_pure=True)
            text += f" else if ({y.text})" + " { \0 }"
            c += f" else {{ is_open = 0; _Bool or{ident} = ({y.c}) != 0;" + f' OPEN("{ident}"); if (or{ident}) {{ \0 }}'
            closing = " }"
            blocks.append(self.block(depth))
        if self.rng.random() < 0.5:
            text, c = text + " else { \0 }", c + " else { \0 }"
            blocks.append(self.block(depth))
        before = " ".join(x.c_before)
        return [Statement(ident, text, f"{{ is_open = 0; {before} {c}{closing} }}", *blocks)]

    def looped(self, depth, locals_=()):
        kept, room = list(self.locals), self.room
        self.locals, self.room, self.is_loop = self.locals + list(locals_), min(self.room, 8), self.is_loop + 1
        block = self.block(1 if depth > 1 else 0, 2)
        self.is_loop -= 1
        self.locals, self.room = kept, room - 3 * max(1, min(room, 8) - self.room)
        return block

    def make_while(self, depth):
        ident, n = self.ident(), self.rng.randint(1, 3)
        name = Name(f"$w{ident}")
        block = self.looped(depth, [name])
        return [Statement(ident, f"$w{ident} = 0; while ($w{ident} < {n}) {{ $w{ident}++; \0 }}", f"{{ long w{ident} = 0; while (w{ident} < {n}) {{ w{ident}++; \0 }} }}", block)]

    def make_unroll(self, depth):
        ident, n = self.ident(), self.rng.randint(1, 3)
        was = self.is_loop
        block = [s for s in self.looped(depth) if not re.search(r"\b(break|continue)\b", s.text) and not s.blocks]
        self.is_loop = was
        return [Statement(ident, f"unroll ({n}) {{ \0 }}", f"for (int i{ident} = 0; i{ident} < {n}; i{ident}++) {{ \0 }}", block)] if block else None

    def make_range(self, depth):
        ident, n = self.ident(), self.rng.randint(1, 3)
        block = self.looped(depth, [Name(f"$r{ident}")])
        return [Statement(ident, f"for ($r{ident} : 0..{n}) {{ \0 }}", f"for (long r{ident} = 0; r{ident} < {n}; r{ident}++) {{ \0 }}", block)]

    def make_over(self, _depth):
        """for over a map: in any order, so its block only adds."""
        maps = [n for n in self.names if n.columns == ["signed"] and not n.function]
        others = [n for n in self.kept_names() if n.is_map and n.columns != ["signed"]]
        if self.version < 23 or not maps or not others or self.is_loop:
            return None
        over, to, ident = self.rng.choice(maps), self.rng.choice(others), self.ident()
        names, was = self.names, self.locals
        self.names, self.is_loop = [n for n in names if n is not to and n is not over], 1
        self.locals = [Name("$kv.0", c="kv0"), Name("$kv.1", over.is_unsigned, c="kv1")] * 4
        x = self.expr(2, fits=to.is_unsigned)
        body = self.step(to, self.ident(), "+", x)
        self.names, self.locals, self.is_loop = names, was, 0
        sign = "unsigned " * over.is_unsigned
        return [Statement(ident, f"for ($kv : {over.text}) {{ \0 }}",
                          f"for (int i = 0; i < {over.c}.n; i++) {{ long kv0 = {over.c}.e[i].k; {sign}long kv1 = {over.c}.e[i].value; \0 }}", [body])]

    def make_leave(self, _depth):
        ident, x = self.ident(), self.expr(1, is_pure=True)
        word = self.rng.choice(["break", "continue"])
        c = f'{{ is_open = 0; _Bool yes = ({x.c}) != 0; OPEN("{ident}"); if (yes) {word}; }}'
        return [Statement(ident, f"if ({x.text}) {{ {word}; }}", c)]

    def make_let(self, depth):
        """A variable with a type, of the rest of its block: in an if of its own."""
        ident, t = self.ident(), self.rng.choice(CASTS)
        member = t.replace("uint", "u").replace("int", "i")
        name = Name(f"$l{ident}", t == "uint64")
        kept = list(self.locals)
        self.locals = self.locals + [name] * 3
        block = self.block(depth)
        self.locals = kept
        return [Statement(ident, f"if ($p->u8 >= 0) {{ let {name.text} : {t} = $p->{member}; \0 }}", f"{{ {t}_t {name.c} = p->{member}; \0 }}", block)]

    # Clauses

    def clause(self, i, anchored):
        """(its number, predicate, statements)"""
        r = self.rng
        self.room = COST_OF_CLAUSE[max(v for v in COST_OF_CLAUSE if v <= self.version)]
        filter_ = None
        self.locals = []
        if r.random() < 0.3:
            kept, self.names, self.base = self.names, [n for n in self.names if not n.columns and n.second is None], "args.%s"
            x = self.expr(2, is_pure=True) if [n for n in self.names if not n.function] else None
            self.names, self.base = kept, "$%s"
            if x:
                filter_ = Statement(self.ident(), f" /{x.text}/", "")
                filter_.c = f'is_open = 0; _Bool filter = ({x.c}) != 0; OPEN("{filter_.ident}"); if (!filter) return;'
        out = [self.anchor(n) for n in anchored]
        self.variables.append([])
        out += [self.declared() for _ in range(r.randint(2, 4))]
        self.typing |= {s.ident for s in out}
        while self.room > 0:
            out += self.statement(2) or []
        return i, filter_, out

    def declared(self):
        """A variable of the clause, with its first value."""
        r, ident = self.rng, self.ident()
        is_unsigned = r.random() < 0.3
        t = "u64" if is_unsigned else r.choice(["u8", "i8", "u16", "i32", "u32", "i64", "b", "ue"])
        if r.random() < 0.25:
            name = Name(f"$t{ident}", is_unsigned, second=False)
            self.variables[-1] += [(name.c + "_0", is_unsigned), (name.c + "_1", False)]
            text, c = f"{name.text} = ($q->{t}, 1);", f"{name.c}_0 = {leaf(t, 'q')}; {name.c}_1 = 1;"
        else:
            name = Name(f"$v{ident}", is_unsigned)
            self.variables[-1].append((name.c, is_unsigned))
            text, c = f"{name.text} = $q->{t};", f"{name.c} = {leaf(t, 'q')};"
            if r.random() < 0.4:  # the first value is another's
                text, c = f"{name.text} = {r.choice(['0', 'COLOR_RED', 'sizeof(uint64)', '$q->i8 < 0'])}; " + text, c
        self.locals.append(name)
        return Statement(ident, text, c)

    # The whole

    def idents(self):
        """Of what can be left away: what gives names their types stays."""
        for _i, filter_, block in self.clauses:
            yield from [filter_.ident] if filter_ else []
            for s in block:
                yield from (i for i in s.idents() if i not in self.typing)

    def text(self, without):
        out = [DEFINES.rstrip()] + [OWN_MACROS.rstrip()] * (self.version >= 27)
        begin = [s.written(without, False) for s in self.begin]
        if any(begin):
            out += ["BEGIN {"] + ["\t" + line for line in begin if line] + ["}"]
        for i, filter_, block in self.clauses:
            lines = [line for line in (s.written(without, False) for s in block) if line]
            if lines:
                head = filter_.written(without, False) if filter_ else ""
                out += [f"usdt:__EXE__:numbers:s{i}{head} {{", "\t$p = args.p; $q = args.q;"] + ["\t" + line for line in lines] + ["}"]
        return "\n".join(out) + "\n"

    def c(self, without, rounds):
        out = [definitions(), HELPERS, STATE]
        out += [f"static struct map {n.c};\n" for n in self.names]
        for i, filter_, block in self.clauses:
            out.append(f"static void clause{i}(struct numbers *p, struct numbers *q)\n{{\n")
            out += [f"\t{'unsigned ' * u}long {c} = 0;\n" for c, u in self.variables[i]]
            out += ["\t" + s.written(without, True) + "\n" for s in [filter_] * bool(filter_) + block] + ["}\n"]
        fills = "".join(f"static void fill{i}(struct numbers *p, struct numbers *q)\n{{\n{filled(types)}}}\n" for i, types in enumerate(rounds))
        begin = "".join("\t" + s.written(without, True) + "\n" for s in self.begin)
        fire = "".join(f"static void round{i}(struct numbers *p, struct numbers *q)\n{{\n\tclause{i}(p, q);\n{fired(f's{i}')}}}\n" for i in range(PROBES))
        played = "".join(f"\tfill{k}(p, q);\n" + "".join(f"\tround{i}(p, q);\n" for i in range(PROBES)) for k in range(len(rounds)))
        shown = ""
        for n in self.names:
            function = n.function.upper() if n.function in ("count", "avg", "stats") else "-1"
            shown += f'\tshow(&{n.c}, "{n.text}", {function}, {int(n.is_unsigned)}, {int(n.second is not None)}, {int(bool(n.second))});\n'
        main = f"""int main(void)
{{
	struct numbers *p = &first, *q = &second;
	char c;
	while (read(0, &c, 1) == 1 && c != 'x')
		;
{begin}{played}{shown}	return 0;
}}
"""
        return "".join(out + [fills, fire, main])


def lines_of(text):
    """{what is printed: [its values]}: the lines of each printf() in their order, and the maps."""
    found = {}
    for ident, value in re.findall(r"^(p\d+) (.*)$", text, re.M):
        found.setdefault(ident, []).append(value)
    for name, value in re.findall(r"^(@[amt]\d+(?:\[.*\])?): (.*)$", text, re.M):
        found[name] = [re.sub(r"^\{ \.count = (.*), \.average = (.*), \.total = (.*) \}$", r"count \1, average \2, total \3", value)]
    return found


def is_same(want, got):
    """Also of max() and min() that bpftrace 0.17 cannot keep, >= 4611686018427387903, and of avg() to 0.23."""
    if got == ["overflow"]:
        return bool(want)
    if want and got and len(got) == 1 and re.fullmatch(r"([<>])= (-?)(\d+)", got[0]):
        sign, edge = got[0].split("= ")
        return abs(int(edge)) == 2**62 - 1 and (int(want[0]) >= int(edge) if sign == ">" else int(want[0]) <= int(edge))
    return want == got


NAMES = {"STATE_WORSE": -2000000000, "STATE_BAD": -3, "STATE_GOOD": 5}


def is_named(script, what, want, got):
    """Is that the name of the number in a map that has nothing but the enum's values and literals?"""
    name = re.escape(what.partition("[")[0])
    stores = re.findall(rf"{name}(?:\[[^;]*?\])? (\S*=) ([^;]*);", script)
    return (want and got and str(NAMES.get(got[0])) == want[0] and not re.search(rf"(\+\+|--){name}\b", script) and
            all(op == "=" and re.fullmatch(r"-?\d+|STATE_\w+|\$[pq]->(\w_)?e(\[\S*\])*", x) for op, x in stores))


class Traced:
    """A `script`, with idents() and text(without), traced in a folder; what is left away of it is `without`."""

    def __init__(self, folder, script):
        self.bench, self.script, self.without = Bench(folder), script, set()

    def shorten(self, tries, is_still):
        """Leaves away what can be while @is_still(without), as long as there are @tries."""
        left = [i for i in self.script.idents() if i not in self.without]
        size = len(left) // 2
        while size and tries > 0:
            at = 0
            while at < len(left) and tries > 0:
                without = self.without | set(left[at:at + size])
                tries -= 1
                if is_still(without):
                    self.without = without
                    del left[at:at + size]
                else:
                    at += size
            size //= 2


class Play(Traced):
    """A script and its program, which has rounds of values."""

    def __init__(self, folder, rng, version):
        script = Script(rng, version)
        super().__init__(folder, script)
        self.rounds = rounds = [random_types(rng) for _ in range(ROUNDS)]
        while True:
            self.bench.build(script.c(self.without, rounds))
            opened = {int(i) for i in re.findall(r"^open (\d+)$", self.bench.answers(), re.M)}
            if not opened - self.without:
                break
            self.without |= opened

    def differences(self, without=None):
        """[(what, C's values, the script's)], and how many values were compared; or Refused."""
        without = self.without if without is None else without
        self.bench.build(self.script.c(without, self.rounds))
        want, got = map(lines_of, self.bench.trace(self.script.text(without)))
        if not want:
            raise Refused("nothing is printed")
        script = self.script.text(without)
        bad = [(k, want.get(k), got.get(k)) for k in sorted(want | got)
               if not is_same(want.get(k), got.get(k)) and not is_named(script, k, want.get(k), got.get(k))]
        return bad, sum(map(len, want.values()))


def judge(play, tries):
    """How many values were compared, whether it is refused, and a report or None."""
    def fails_alike(without):
        try:
            return bool(play.differences(without)[0]) and not why
        except Refused as other:
            return str(other).splitlines()[:1] == why.splitlines()[:1]
    why = ""
    try:
        bad, n = play.differences()
    except Refused as refusal:
        why, bad, n = str(refusal), [], 0
    if not bad and not why:
        return n, False, None
    play.shorten(tries, fails_alike)
    shown = ["\t" + line for line in why.splitlines()[:8]]
    if bad:
        shown = [f"\t{what}: {got}, not {want}" for what, want, got in (play.differences()[0] or bad)[:6]]
    text = "\n".join([f"{len(bad)} of {n} are wrong" if bad else "refused"] + shown)
    return n, bool(why), f"{text}\n{play.script.text(play.without)}"


def play_scripts(kinds, make):
    """A command line, and as many of @make(folder, rng, version) as it asks for. @kinds: what is compared, for the last line"""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--seed", type=int, help="of the first script; else one that is printed")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--scripts", type=int, help="so many, with seeds that follow each other, whatever time it takes")
    parser.add_argument("--tries", type=int, default=60, help="to make what is wrong shorter")
    a = parser.parse_args()
    os.makedirs(a.folder, exist_ok=True)
    name, version = version_of_bpftrace()
    seed = a.seed if a.seed is not None else random.SystemRandom().randrange(2 ** 32)
    end, n, refused, scripts, wrong = time.time() + a.seconds, 0, 0, 0, 0
    while scripts < a.scripts if a.scripts else scripts == 0 or time.time() < end:
        rng = random.Random(seed + scripts)
        play = make(a.folder, rng, version)
        compared, is_refused, report = judge(play, a.tries)
        if report:
            print(f"{name}, seed {seed + scripts}: {report}", flush=True)
        n, refused, scripts, wrong = n + compared, refused + is_refused, scripts + 1, wrong + bool(report and not is_refused)
    print(f"{name}: {n} {kinds} of {scripts} scripts from seed {seed} on compared, {refused} scripts refused, {wrong} wrong", flush=True)
    sys.exit(1 if wrong or not n else 0)


if __name__ == "__main__":
    play_scripts("values", Play)
