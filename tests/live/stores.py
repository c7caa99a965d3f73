#!/usr/bin/env python3
"""Variables, maps, keys, tuples and aggregations that get two values of different types, against C.

    stores.py FOLDER VERSION [-n ROWS] [--seed N]

Writes FOLDER/stores.c and, for each script of that bpftrace, whose name is printed, NAME.bt and NAME.rows (numbermodel.py). The
model (btgen-template(5), Numbers): what a name holds has 64 bits; it is unsigned if an unsigned number of 64 bits goes in anywhere.
"""
import argparse
import itertools
import os
import random

from numbermodel import Part, leaf, program, says, write_scripts

# script, C; what is unsigned and has 64 bits
VALUES = [("0", "0L"), ("5", "5L"), ("-5", "-5L"), ("$p->i8 < 0", "1L"), ("$p->u8 > 200", "0L"), ("pid", "(long)getpid()"),
          ("COLOR_TOP", "2147483649L"), ("STATE_BAD", "-3L"), ("sizeof(uint64)", "8L"), ("(uint8)$p->i16", "(long)(uint8_t)p->i16"),
          ("(int8)$p->u8", "(long)(int8_t)p->u8"), ("args.u8", leaf("u8")), ("args.i32", leaf("i32")), ("args.u32", leaf("u32"))]
VALUES += [(f"$p->{t}", leaf(t)) for t in ("u8", "i8", "u16", "u32", "i32", "i64", "b", "e", "ue", "sb", "ub")]
UNSIGNED = [("$p->u64", leaf("u64")), ("$q->u64", leaf("u64", "q")), ("args.u64", leaf("u64")), ("(uint64)$p->i8", "(unsigned long)(long)p->i8"),
            ("(uint64)$p->u8", "(unsigned long)p->u8"), ("18446744073709551615", "18446744073709551615UL")]

# what is done with a name V that gets A and B: the script's statements, C's of a variable v, and what is looked at
FORMS = [("V = A; V = B;", "v = A; v = B;", "V"), ("V = A; V = B;", "v = A; v = B;", "V > 5"), ("V = A; V = B;", "v = A; v = B;", "V / 3"),
         ("V = A; if (B > V) { V = B; }", "v = A; if (B > v) v = B;", "V"), ("V = A; if (B < V) { V = B; }", "v = A; if (B < v) v = B;", "V"),
         ("V = A; V += B;", "v = A; v += B;", "V"), ("V = A; V -= B;", "v = A; v -= B;", "V"), ("V = A; V |= B;", "v = A; v |= B;", "V < 0"),
         ("V = A; V = B; V++;", "v = A; v = B; v++;", "V"), ("V = A; V = B; V--;", "v = A; v = B; v--;", "V"),
         ("V = A; V = B; V -= 1;", "v = A; v = B; v -= 1;", "V"), ("V = A; V = B; --V;", "v = A; v = B; --v;", "V > 5")]


def in_c(before, use, a, b, is_unsigned):
    before = before.replace("A", "\1").replace("B", "\2").replace("\1", a).replace("\2", b)
    return f"({{ {'unsigned long' if is_unsigned else 'long'} v = 0; {before} {use.replace('V', 'v')}; }})"


def parts(rng, n, version):
    values = [(s, c, False) for s, c in VALUES] + [(s, c, True) for s, c in UNSIGNED]
    pairs = list(itertools.product(values, values))

    enumerator, u64 = [next(v for v in values if v[0] == text) for text in ("$p->ue", "$p->u64")]

    def rows(forms):
        every = list(itertools.product(forms, pairs))
        rng.shuffle(every)
        return every[:n]

    for kind, name in (("var", "$vN"), ("map", "@vN"), ("keyed", "@vN[1]")):
        part = Part(kind)
        for (before, c, use), (a, b) in rows(FORMS):
            v = name.replace("N", f"{kind[0]}{len(part.rows)}")
            is_unsigned = a[2] or b[2]
            text = before.replace("A", "\1").replace("B", "\2").replace("V", v).replace("\1", a[0]).replace("\2", b[0])
            letter = "%lu" if is_unsigned and use == "V" else "%ld"
            part.row(use.replace("V", v), in_c(c, use, a[1], b[1], is_unsigned), text, f'printf("ID {letter}\\n", X);')
        part.CHUNK = 640 if kind == "var" else 160
        yield part
    part = Part("tuple")
    for _form, (a, b) in rows([None]):
        t = f"$t{len(part.rows)}"
        part.row(f"{t}.0", in_c("v = B;", "V", a[1], b[1], a[2] or b[2]), f"{t} = ({a[0]}, 1); {t} = ({b[0]}, 1);",
                 'printf("ID %lu\\n", X);' if a[2] or b[2] else 'printf("ID %ld\\n", X);')
    yield part
    aggregations = (("sum", "v = A; v += B;"), ("max", "v = A; if (B > v) v = B;"), ("min", "v = A; if (B < v) v = B;"), ("avg", "v = A; v += B; v /= 2;"))
    for function, c in aggregations:
        part = Part("shown" + function)
        for _form, (a, b) in rows([None]):
            narrow = {"args.u8", "args.i32", "args.u32"} & {a[0], b[0]}
            if version < 18 and narrow and (a[0] == b[0] or function in ("max", "min")):  # the kernel refuses what LLVM makes of it
                continue
            is_unsigned = a[2] or b[2]
            if version in (18, 19) and function == "min" and is_unsigned:
                continue
            is_cut = is_unsigned and (version <= 21 if function == "max" else function == "min" and version in (17, 20, 21))  # see samples.t
            if function == "avg" and version < 24 and is_unsigned:  # it divides with a sign
                continue
            m = f"@{part.name}{len(part.rows)}"
            use = "(V < 1UL << 62 ? V : (1UL << 62) - 1)" if is_cut else "V"
            part.row("", in_c(c, use, a[1], b[1], is_unsigned), line=f"{m} = {function}({a[0]}); {m} = {function}({b[0]});")
        part.CHUNK = 160
        yield part
    shown = (("last", "MAP = A; MAP = B;"), ("pair", "MAP = (A, 1); MAP = (B, 1);"), ("key", "MAP[A] = 1; delete(MAP[A]); MAP[B] = 1;"),
             ("counted", "MAP = A; MAP--; MAP = B;"))
    for kind, line in shown:
        part = Part("shown" + kind)
        for _form, (a, b) in rows([None]) + [(None, (enumerator, u64))] * (kind == "counted"):
            if {a[0], b[0]} <= {"$p->e", "STATE_BAD", "0", "5"} or {a[0], b[0]} <= {"$p->ue", "COLOR_TOP", "0", "5"}:  # printed by name
                continue
            text = line.replace("MAP", "\3").replace("A", "\1").replace("B", "\2").replace("\3", f"@{part.name}{len(part.rows)}")
            part.row("", in_c("v = B;", "V", a[1], b[1], a[2] or b[2]), line=text.replace("\1", a[0]).replace("\2", b[0]))
        part.CHUNK = 160
        yield part


def tuples(rng, n):
    """An element has the type of all that goes in, also of what a clause does not reach."""
    part = Part("element")
    values = [(s, c, False) for s, c in VALUES] + [(s, c, True) for s, c in UNSIGNED]
    forms = list(itertools.product(("$t", "@t"), values, values, ("V.0 / 2", "V.0 < 0", "V.0 >> 1", "V.0 - 1 > 5")))
    rng.shuffle(forms)
    for v, a, b, use in forms[:n]:
        name = f"{v}{len(part.rows)}"
        part.row(use.replace("V", name), in_c("v = A;", use.replace("V.0", "V"), a[1], b[1], a[2] or b[2]),
                 f"{name} = ({a[0]}, 1); if ($p->u8 > 250) {{ {name} = ({b[0]}, 1); }}")
    part.CHUNK = 160
    return part


def scopes(rng, n, version):
    """Each `let` is a variable of its own, and so is what has the name behind its block: 0.23 refuses that."""
    part = Part("scope", since=23)
    values = [(s, c, False) for s, c in VALUES] + [(s, c, True) for s, c in UNSIGNED]
    forms = list(itertools.product(values, values, ("V / 3", "V < 0", "V > 5", "V")))
    rng.shuffle(forms)
    other = 'if ($p->u8 > 3) { let V = B; printf("%ld\\n", V); }'
    for kind, (a, b, use) in zip(itertools.cycle((0, 1, 2) if version > 23 else (0, 1)), forms[:n]):
        v = f"$s{len(part.rows)}"
        line = ('if ($p->u8 > 4) { let V = A; printf("ID %ld\\n", X); } ' + other,
                other + ' if ($p->u8 > 4) { let V = A; printf("ID %ld\\n", X); }',
                'if ($p->u8 > 3) { let V : int8 = 1; printf("%ld\\n", V); } V = A; printf("ID %ld\\n", X);')[kind]
        text = line.replace("V", "\3").replace("A", "\1").replace("B", "\2")
        text = text.replace("\1", a[0]).replace("\2", b[0]).replace("\3", v)
        part.row(use.replace("V", v), f"(long)({in_c('v = A;', use, a[1], b[1], a[2])})", line=text)
    return part


def looped(rng, n):
    """The value and the key that a loop over the map has."""
    part = Part("loop", since=23)
    values = [(s, c, False) for s, c in VALUES] + [(s, c, True) for s, c in UNSIGNED]
    forms = [f for f in FORMS if "if" not in f[0]] + [("M[A] = 1; delete(M[A]); M[B] = 1;", "v = B;", use) for use in ("V", "V > 5", "V / 3", "V < 0")]
    every = list(itertools.product(forms, values, values))
    rng.shuffle(every)
    for (before, c, use), a, b in every[:n]:
        m = f"@l{len(part.rows)}"
        text = before.replace("A", "\1").replace("B", "\2").replace("V", f"{m}[1]").replace("M", m).replace("\1", a[0]).replace("\2", b[0])
        letter = "%lu" if (a[2] or b[2]) and use == "V" else "%ld"
        part.row(use.replace("V", "$kv.0" if "M[" in before else "$kv.1"), in_c(c, use, a[1], b[1], a[2] or b[2]), text,
                 f'for ($kv : {m}) {{ printf("ID {letter}\\n", X); }}')
    part.CHUNK = 160
    return part


def declared():
    """let $x : TYPE = A; $x = B;"""
    part = Part("let", since=23)
    for t in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"):
        member = t.replace("uint", "u").replace("int", "i")
        for before, c in ((f"let V : {t} = $p->{member};", leaf(member)), (f"let V : {t} = $p->{member}; V = 7;", "7L"),
                          (f"let V : {t} = 100; V = $q->{member};", leaf(member, "q"))):
            for use in ("V", "V / 3", "V < 5", "V + 1"):
                v = f"$t{len(part.rows)}"
                part.row(use.replace("V", v), use.replace("V", f"({c})"), before.replace("V", v),
                         'printf("ID %lu\\n", X);' if t == "uint64" and use != "V < 5" else 'printf("ID %ld\\n", X);')
    return part


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("version", type=int, help="of bpftrace: 23 for 0.23")
    parser.add_argument("-n", type=int, default=160, help="rows of a kind")
    parser.add_argument("--seed", type=int, default=1)
    a = parser.parse_args()
    made = list(parts(random.Random(a.seed), a.n, a.version)) + [declared()]
    made += [tuples(random.Random(a.seed), a.n), scopes(random.Random(a.seed), a.n, a.version), looped(random.Random(a.seed), a.n)]
    with open(os.path.join(a.folder, "stores.c"), "w", encoding="ascii") as f:
        f.write(program("".join(says(part.rows, keeps_sign=True) for part in made)))
    write_scripts(a.folder, made, a.version)


if __name__ == "__main__":
    main()
