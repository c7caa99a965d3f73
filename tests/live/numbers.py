#!/usr/bin/env python3
"""Narrow numbers against C: writes a program that fires one probe and says what each expression is, and the scripts that say it, too.

    numbers.py FOLDER VERSION

FOLDER gets numbers.c, and for each script of that bpftrace, whose name is printed, NAME.bt and NAME.rows, the names of its rows. The
program prints `ROW VALUE` for each row of all scripts; what a script prints must be the same (numbermodel.py). tests/fuzz/numbers.py
makes random expressions of the same parts.
"""
import argparse
import os

from numbermodel import BINARY, BITS, CASTS, COMPOUND, NAMES, Part, leaf, program, says, write_scripts

# what is done with one value: the script's text and C's, of X
USES = [("-X", "-X"), ("~X", "~X"), ("!X", "!X"), ("X < 0", "X < 0"), ("X >= 100", "X >= 100"), ("X / 3", "X / 3"), ("X % 7", "X % 7"),
        ("X >> 2", "X >> 2"), ("X << 3", "X << 3"), ("-X / 2", "-X / 2"), ("~X < 0", "~X < 0"), ("X * X", "X * X"), ("X + 1", "X + 1"),
        ("1 - X", "1 - X"), ("X & 0xfff", "X & 0xfff"), ("(X > 3) + (X < 300)", "(X > 3) + (X < 300)"), ("(X > 3) - (X != 0)", "(X > 3) - (X != 0)"),
        ("(X != 0) << 3", "(long)(X != 0) << 3"), ("X ? 7 : -7", "X ? 7 : -7"), ("X < 0 ? X : -X", "X < 0 ? X : -X"),
        ("(X < 0 ? X : 5) / 2", "(X < 0 ? X : 5) / 2"), ("-(X == 1)", "-(long)(X == 1)"), ("(X - 1) < 0", "(X - 1) < 0")]
USES += [(f"({c})X", f"({c}_t)X") for c in CASTS] + [(f"({c})X + 1", f"(LEAF({c}_t)({c}_t)X) + 1") for c in CASTS]
USES += [("(int64)(X > 0)", "(long)(X > 0)"), ("(uint8)X < 100", "(uint8_t)X < 100"), ("(int8)X / 2", "(long)(int8_t)X / 2")]

# How a value is reached: statements before, and its text. T is the name of the type.
ACCESS = [
    ("member", "", "$p->T"),
    ("element", "", "$p->a_T[1]"),
    ("index", "$i = 1;", "$p->a_T[$i]"),
    ("pointee", "", "*$p->p_T"),
    ("argument", "", "args.T"),
    ("variable", "$x_T = $p->T;", "$x_T"),
    ("pair", "$t_T = ($p->T, 1);", "$t_T.0"),
    ("map", "@m_T = $p->T;", "@m_T"),
    ("keyed", "@k_T[1] = $p->T;", "@k_T[1]"),
]
# Those that bpftrace itself does not read, or reads as unsigned: with a few uses.
READ_BY_ADDRESS = [
    ("grid", "", "$p->g_T[1][1]"),
    ("row", "$i = 1;", "$p->g_T[$i][1]"),
    ("pointer", "$i = 1;", "$p->r_T[$i]"),
    ("struct", "$i = 1;", "$p->s[$i].T"),
    ("structs", "$i = 1;", "$p->sp[$i].T"),
    ("links", "$i = 1;", "$p->spp[$i]->T"),
]
FEW_USES = [u for u in USES if u[0] in ("-X", "X < 0", "X / 3", "X >> 2", "X + 1", "X < 0 ? X : -X", "(int8)X")]


def one_value(part, names, access, uses=tuple(USES)):
    """Each use of a value that is reached so: the statements before, and its text, of the type T."""
    before, text = access
    for t in names:
        for use, c in uses:
            c = c.replace("LEAF(uint64_t)", "(unsigned long)").replace("X", leaf(t))
            for cast in CASTS:
                c = c.replace(f"LEAF({cast}_t)", "(long)")
            part.row(use.replace("X", text.replace("T", t)), c, before.replace("T", t))


def parts():
    binary = Part("binary")
    sign = Part("sign")
    condition = Part("condition")
    yes_or_no = 'if (X) { printf("ID 1\\n"); } else { printf("ID 0\\n"); }'
    for a in NAMES:
        for b in NAMES:
            for op in BINARY:
                binary.row(f"$p->{a} {op} $q->{b}", f"{leaf(a)} {op} {leaf(b, 'q')}")
                if op in ("<", ">=", "==", "&&", "&"):
                    condition.row(f"$p->{a} {op} $q->{b}", f"({leaf(a)} {op} {leaf(b, 'q')}) != 0", line=yes_or_no)
            for op in ["+", "-", "*", "&", "|", "^", "%", "/"]:
                both = f"{leaf(a)} {op} {leaf(b, 'q')}"
                sign.row(f"($p->{a} {op} $q->{b}) < 0", f"({both}) < 0")
                sign.row(f"($p->{a} {op} $q->{b}) / 3", f"({both}) / 3")
    for op in BINARY[8:]:
        for x, c in (("($p->b && 1)", "1"), ("!$p->b", "0"), ("($p->i8 < 0)", "1")):
            binary.row(f"{x} {op} $p->u64", f"{c} {op} {leaf('u64')}")
            binary.row(f"$p->u64 {op} {x}", f"{leaf('u64')} {op} {c}")
        binary.row(f"1 - $p->u64 {op} (-5 | !1)", f"(1 - {leaf('u64')}) {op} -5L")
        binary.row(f"$q->u64 {op} ($p->u8 | !1)", f"{leaf('u64', 'q')} {op} {leaf('u8')}")
        for t in NAMES[:10]:
            binary.row(f"$q->u64 {op} args.{t}", f"{leaf('u64', 'q')} {op} {leaf(t)}")
            binary.row(f"args.{t} {op} args.u64", f"{leaf(t)} {op} {leaf('u64')}")
    for t in NAMES:
        if t not in ("b", "ue"):  # & is 0
            sign.row(f"-1 / ($p->{t} & $p->u64)", f"-1 / ({leaf(t)} & {leaf('u64')})")
    for t in NAMES:  # a mask and a remainder are narrow, whatever they are of
        x = "(int64)$p->u64" if t == "u64" else f"$p->{t}"
        for op in ("/ 2", "% 2", ">> 1", "< 2"):
            sign.row(f"(({x} & 7) - 3) {op}", f"(((long){leaf(t)} & 7) - 3) {op}")
        sign.row(f"5 % (({x} & 1) - 2)", f"5 % (((long){leaf(t)} & 1) - 2)")
        sign.row(f"(({x} & 0xff) % 10 - 5) / 2", f"(((long){leaf(t)} & 0xff) % 10 - 5) / 2")
    yield from (binary, sign, condition)
    for name, before, text in ACCESS:
        names = [t for t in NAMES if not (t in BITS and name in ("element", "index", "pointee"))]
        part = Part(name)
        part.CLAUSE = 8 if name == "argument" else part.CLAUSE  # 0.20 to 0.22 have no room for more
        one_value(part, names[:10] if name == "argument" else names, (before, text))
        yield part
    address = Part("address")
    for name, before, text in READ_BY_ADDRESS:
        names = [t for t in NAMES if not (t in BITS and "_T" in text)]
        one_value(address, names, (before, text), FEW_USES)
        one_value(address, names, (before + f" @{name}_T = {text};", f"@{name}_T"), FEW_USES[:3])
    address.CHUNK = 160
    yield address
    choice = Part("choice")
    for t in NAMES:
        for op in ("/ 3", "% 7", ">> 2", "+ 1", "< 0"):
            choice.row(f"($p->i32 < 0 ? $p : $q)->{t} {op}", f"{leaf(t)} {op}")
            choice.row(f"($p->i32 > 0 ? $p : $q)->{t} {op}", f"{leaf(t, 'q')} {op}")
            choice.row(f"($p->i32 > 0 ? $p->{t} : $q->{t}) {op}", f"{leaf(t, 'q')} {op}")
        choice.row(f"($p->{t} < $q->{t} ? $p->{t} : $q->{t}) / ($q->i8 < 0 ? $q->{t} : 3)", f"({leaf(t)} < {leaf(t, 'q')} ? {leaf(t)} : {leaf(t, 'q')}) / {leaf(t, 'q')}")
    choice.row("$p->b ? $p->i64 : ~1", leaf("i64"))
    choice.row("$p->i8 > 0 ? $p->i64 : ~1", "~1L")
    choice.row("$p->b ? ~1 : -1", "~1L")
    for many in ("9223372036854775808", "(2147483648 << 32)", "1 << 63"): # 0.27 ended by a signal
        choice.row(f"$p->b ? {many} : $p->i64", "1L << 63")
        choice.row(f"$p->i8 > 0 ? {many} : $p->i64", leaf("i64"))
    for text in ("-(~1)", "~1 + 2", "2 - ~1", "~1 * 3", "-(~(1 | 2))", "~(1 | 2) + $p->i8", "~1 < $p->i64", "$p->u64 & ~7", "~~1 - ~0"):
        choice.row(text, text.replace("$p->u64", leaf("u64")).replace("$p->i8", leaf("i8")).replace("$p->i64", leaf("i64")))
    for t in NAMES:
        for c, p in (("$q->i8 < 0", True), ("$q->i8 > 0", False), ("$p->b", True)):
            x = leaf(t) if p else leaf(t, "q")
            choice.row(f"{c} ? @c_{t} : @d_{t}", x, f"@c_{t} = $p->{t}; @d_{t} = $q->{t};")
            choice.row(f"({c} ? $p->{t} > 3 && $p->b : 7) + 1", f"({leaf(t)} > 3) + 1" if p else "8")
        choice.row(f"$p->i8 > 0 ? 1 : ($q->b ? ($p->{t} > 5 ? @c_{t} : -1) : 9)", f"{leaf(t)} > 5 ? {leaf(t)} : -1")
    for t, cast in (("i8", "int8"), ("i16", "int16"), ("i32", "int32"), ("e", "int32")):  # a cast that only one of both needs
        for o in ("u8", "u16", "u32", "ue", "i64", "u64"):
            cut = f"(long)({cast}_t){leaf(o, 'q')}"
            choice.row(f"({cast})($p->i8 > 0 ? $p->{t} : $q->{o})", cut)
            choice.row(f"({cast})($p->i8 < 0 ? $q->{o} : $p->{t})", cut)
            before = f"$v_{t}_{o} = $q->{o}; if ($p->i8 > 0) {{ $v_{t}_{o} = $p->{t}; }}"
            choice.row(f"({cast})$v_{t}_{o}", cut, before)
    yield choice
    fall = Part("fall")
    both, i = ("p->u64 - q->u64", "q->u64 - p->u64"), 0
    for var in ("$f", "@f"):
        for difference in both:
            for how in ("V = X - Y;", "V = X; V -= Y;", "W = X - Y; V = W;"):
                for use in ("V < 1", "V <= $p->i64", "1 > V", "$p->u64 > V", "V / 3", "V + 0"):
                    x, y = ["$" + part for part in difference.split(" - ")]
                    name, i = f"{var}{i}", i + 1
                    before = how.replace("W", f"{var}w{i}").replace("V", name).replace("X", x).replace("Y", y)
                    c = use.replace("V", f"(unsigned long)({difference})").replace("$p->i64", "(unsigned long)p->i64").replace("$", "")
                    fall.row(use.replace("V", name), c, before)
    for op in ("<", ">=", "==", ">"):
        fall.row(f"$p->u64 {op} -1", f"p->u64 {op} (unsigned long)-1")
        fall.row(f"-2 {op} $q->u64", f"(unsigned long)-2 {op} q->u64")
    for rest in ("1 % $p->i64", "1 % $p->i64 >> 1", "1 / $q->u64"):
        c = rest.replace("$", "").replace("1 /", "1UL /")
        fall.row(f"(({rest}) ^ $p->b) - 3", f"(long)(({c}) ^ p->b) - 3")
    for a in ("u8", "u16", "u32"):
        fall.row(f"$p->i8 / ($p->{a} % $q->u64)", f"(unsigned long)(long)p->i8 / ((unsigned long)p->{a} % q->u64)")
        fall.row(f"1 <= 1 - ($p->{a} % $q->u64)", f"1 <= 1 - ((unsigned long)p->{a} % q->u64)")
    for var in ("$nN", "@nN", "@nN[1]"):
        for use in ("< $q->u64", "+ $q->u64", "/ $q->u64", "== 1"):
            name = var.replace("N", str(len(fall.rows)))
            fall.row(f"{name} {use}", f"((long)p->i8 & 1) {use}".replace("$q->u64", leaf("u64", "q")), f"{name} = 1 & $p->i8;")
    for one in ("$p->i8 & 3", "$p->i64 & 4294967296"):
        name = f"$n{len(fall.rows)}"
        c = f"(1 & (long)({one})) | (unsigned long)q->u32 << 2".replace("$", "")
        fall.row(name, c, f"{name} = 1 & ({one}); {name} |= $q->u32 << 2;")
    yield fall
    literal, i = Part("literal"), 0
    for t in NAMES:
        if t in ("u64", "i64"):
            continue
        for before in ("V = 0; V += X;", "V = 1; V = X;", "V = X; V = 0; V |= X;", "V = 0; if (pid) { V = X; }"):
            for use in ("V", "V / 3", "V < 5", "$q->i8 < 0 ? V : $p->T", "V - $q->u8", "-V", "V + 1 > $p->T"):
                name, i = f"$l{i}", i + 1
                literal.row(use.replace("V", name).replace("T", t), use.replace("V", leaf(t)).replace("$p->T", leaf(t)).replace("$q->", "(long)q->"),
                            before.replace("V", name).replace("X", f"$p->{t}"))
    for t in NAMES:
        for before in ("V = $p->T > 3; V = 5; V = $p->T != 4;", "V = 5; V = $p->T != 4;", "V = $p->T != 4; V += 1; V -= 1;"):
            for var in ("$", "@"):
                name, i = f"{var}l{i}", i + 1
                literal.row(name, f"{leaf(t)} != 4", before.replace("V", name).replace("T", t))
    for t in ("u8", "u32", "ue"):
        for op in ("+=", "/=", "%=", "|="):
            name, i = f"$l{i}", i + 1
            literal.row(name, f"((long)q->i16 & 7) {op[0]} {leaf(t)}", f"{name} = $q->i16 & 7; {name} {op} $p->{t};")
    for op in ("/=", "%=", "|=", "+="):  # u64 ^ i16 is an uint64, and no reason for its variable to have a sign
        name, i = f"$l{i}", i + 1
        literal.row(name, f"{leaf('u64')} {op[0]} ({leaf('u64', 'q')} ^ {leaf('i16')})", f"{name} = $p->u64; {name} {op} $q->u64 ^ $p->i16;")
    yield literal
    builtin = Part("builtin")
    for x in ("pid", "tid"):
        for use in ("-X", "~X", "-X < 0", "-(X + 1) < 0", "-X / 2", "1 - X", "-X * X", "(X > 1) - (X > 0)"):
            builtin.row(use.replace("X", x), use.replace("X", "(long)getpid()"))
            builtin.row(use.replace("X", f"$x_{x}"), use.replace("X", "(long)getpid()"), f"$x_{x} = {x};")
            builtin.row(use.replace("X", f"@x_{x}"), use.replace("X", "(long)getpid()"), f"@x_{x} = {x};")
    yield builtin
    # %d shows what has been computed in full, be it of more than 32 bits or not.
    printed, line = Part("printed"), 'printf("ID %d\\n", X);'
    for a in ("u32", "i32", "u16", "i8", "u64", "i64", "e"):
        for b in ("u32", "i32", "u16", "i8", "u64", "i64", "e"):
            for op in BINARY[:8]:
                printed.row(f"$p->{a} {op} $q->{b}", f"{leaf(a)} {op} {leaf(b, 'q')}", line=line)
            for op in ("+", "*", "|"):
                for name in ("$d", "@d"):
                    v = f"{name}{len(printed.rows)}"
                    printed.row(v, f"{leaf(a)} {op} {leaf(b, 'q')}", f"{v} = $p->{a}; {v} {op}= $q->{b};", line)
        for x in ("-X", "~X", "X << 4", "X << $p->ub", "X >> 1", "X / 1", "X / 3", "X % 5000000000", "X & 4294967295", "$p->b ? X * 2 : 1",
                  "(X - 1) * 3 % 4294967291"):
            printed.row(x.replace("X", f"$p->{a}"), x.replace("X", leaf(a)).replace("$p->ub", "p->ub").replace("$p->b", "p->b"), line=line)
    for x, value in (("pid * 1000000", "(long)getpid() * 1000000"), ("pid << 32 | tid", "(long)getpid() << 32 | getpid()"),
                     ("$p->u32 * sizeof(uint64)", f"{leaf('u32')} * 8"), ("$p->u32 - $q->u32 - 1", f"{leaf('u32')} - {leaf('u32', 'q')} - 1")):
        printed.row(x, value, line=line)
    printed.row("@sum", f"{leaf('u32')} + {leaf('u32', 'q')}", "@sum = @sum + $p->u32; @sum = @sum + $q->u32;", line)
    for x in ("$q->u32 - $p->u32 - 1", "$q->u32 - ($p->u32 + 1)", "$p->u16 - $q->u32 - $p->u32"):
        printed.row(x, f"(long)(uint32_t)({x.replace('$', '')})", line='printf("ID %u\\n", X);')
    printed.CHUNK = 200  # with maps of their own
    yield printed
    loop = Part("loop", since=23)
    for t in NAMES:
        for use, c in USES[:23]:
            loop.row(use.replace("X", "$kv.1"), c.replace("X", leaf(t)), f"@l_{t}[1] = $p->{t};", 'for ($kv : @l_NAME) { printf("ID %ld\\n", X); }'.replace("NAME", t))
    yield loop
    for kind, name in (("assign", "$v"), ("assignmap", "@v")):
        part = Part(kind)
        for a in NAMES:
            for b in NAMES:
                for op in COMPOUND:
                    v = f"{name}{len(part.rows)}"
                    part.row(v, f"{leaf(a)} {op[0]} {leaf(b, 'q')}", f"{v} = $p->{a}; {v} {op} $q->{b};")
        for t in ("b", "i32", "u64"):
            for op in ("/=", "%=", "+=", "&="):
                v = f"{name}{len(part.rows)}"
                part.row(v, f"{leaf(t)} {op[0]} (long)({leaf('i8')} < 0)", f"{v} = $p->{t}; {v} {op} $p->i8 < 0;")
        part.CHUNK = 160 if kind == "assignmap" else part.CHUNK  # each has a map of its own
        yield part


# Of these bpftrace 0.24 and newer has a variable with a sign.
VARIABLES = ("$p->u64 + $q->i64", "$p->u64 - $q->u64", "$p->i64 - $q->u64", "$p->u64 * $q->u32", "$p->i64 + $q->i64", "$p->u64 | $q->i8")


def shown():
    """What maps show at the end, by its type with a sign or without: values, keys, sums, elements of tuples."""
    rows = [(f"$p->{a} {op} $q->{b}", f"{leaf(a)} {op} {leaf(b, 'q')}")
            for a in ("u64", "i64", "u32", "i16") for b in ("u64", "i64", "u32", "i8") for op in BINARY[:8]]
    def in_c(text):
        for t in ("u64", "u32", "i64", "i8"):
            text = text.replace(f"$p->{t}", leaf(t))
        return text
    rows += [(x, in_c(x)) for x in (
        "~1L", "~1L & ~2L", "~1L + 2", "~~1L", "-~1L", "~1L ^ 5", "$p->i8 ? ~1L : 3", "$p->u64 & ~7L", "~7L | $p->u64", "$p->u64 * ~1L",
        "$p->u64 + ~3L", "~3L - $p->u64", "$p->u32 | ~7L", "$p->u32 & ~7L", "$p->u32 + ~7L", "$p->i64 ^ ~7L", "$p->i8 & ~7L", "$p->i8 * ~7L")]
    for kind, line in (("value", "@MAP = X;"), ("key", "@MAP[X] = 1;"), ("sum", "@MAP = sum(X);"), ("tuple", "@MAP = (X, 1);")):
        part = Part("shown" + kind)
        part.CHUNK = 160  # each has a map of its own
        for text, c in rows:
            part.row(text.replace("L", ""), c, line=line.replace("MAP", f"{part.name}{len(part.rows)}"))
            if text in VARIABLES:
                i = len(part.rows)
                part.row(f"$s{i}", c, line=f"$s{i} = {text}; " + line.replace("MAP", f"{part.name}{i}"))
        yield part


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("version", type=int, help="of bpftrace: 23 for 0.23")
    a = parser.parse_args()
    made, in_maps = list(parts()), list(shown())
    with open(os.path.join(a.folder, "numbers.c"), "w", encoding="ascii") as f:
        f.write(program("".join([says(part.rows) for part in made] + [says(part.rows, keeps_sign=True) for part in in_maps])))
    write_scripts(a.folder, made + in_maps, a.version)


if __name__ == "__main__":
    main()
