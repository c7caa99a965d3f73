"""The programs of tests/live/numbers.py and tests/fuzz/numbers.py: narrow numbers of each type, and a row for each expression.

The model (btgen-template(5), Numbers): a value has 64 bits and the sign of its C type; only an operand that is an unsigned number
of 64 bits makes a result unsigned. So C computes with leaves that are converted to long, or unsigned long, first.
"""

import os

# name, C declaration of a member called NAME, the value in p, the value in q
TYPES = [
    ("u8", "uint8_t NAME", "200", "255"),
    ("i8", "int8_t NAME", "-9", "-100"),
    ("u16", "uint16_t NAME", "60000", "65534"),
    ("i16", "int16_t NAME", "-300", "-32768"),
    ("u32", "uint32_t NAME", "4000000000u", "2147483648u"),
    ("i32", "int32_t NAME", "-70000", "-2147483647"),
    ("u64", "uint64_t NAME", "0xfffffffffffffff0u", "0x8000000000000003u"),
    ("i64", "int64_t NAME", "-5000000001", "-9000000000000000000"),
    ("b", "bool NAME", "true", "true"),
    ("e", "enum state NAME", "STATE_BAD", "STATE_WORSE"),
    ("ue", "enum color NAME", "COLOR_RED", "COLOR_TOP"),
    ("sb", "int NAME : 7", "-5", "-64"),
    ("ub", "unsigned NAME : 6", "60", "63"),
]
NAMES = [t[0] for t in TYPES]
BITS = ("sb", "ub")
BINARY = ["+", "-", "*", "/", "%", "&", "|", "^", "<", "<=", ">", ">=", "==", "!=", "&&", "||"]
COMPOUND = ["+=", "-=", "*=", "/=", "%=", "&=", "|=", "^="]
CASTS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]


def leaf(name, where="p"):
    """C's text for a value of the model."""
    return f"((unsigned long){where}->{name})" if name == "u64" else f"((long){where}->{name})"


class Part:
    """Rows of one kind. A script has at most CHUNK of them, a clause at most CLAUSE."""
    CHUNK, CLAUSE = 640, 40

    def __init__(self, name, since=17):
        self.name, self.since, self.rows = name, since, []

    def row(self, text, c, before="", line='printf("ID %ld\\n", X);'):
        """@text in a script, behind what stands @before it, is @c in C; @line prints it."""
        ident = f"{self.name}.{len(self.rows)}"
        line = line.replace("ID", ident).replace("X", text)
        self.rows.append((ident, c, f"{before} {line}".strip()))

    def scripts(self):
        for i in range(0, len(self.rows), self.CHUNK):
            chunk = self.rows[i:i + self.CHUNK]
            out = []
            for k in range(0, len(chunk), self.CLAUSE):
                out.append("usdt:__EXE__:numbers:all {\n\t$p = args.p; $q = args.q;")
                out += ["\t" + line for _ident, _c, line in chunk[k:k + self.CLAUSE]]
                out.append("}")
            yield [r[0] for r in chunk], "\n".join(out) + "\n"


def write_scripts(folder, parts, version):
    """FOLDER gets NAME.bt and NAME.rows, the names of its rows, of each script that such a bpftrace has; their names are printed."""
    for part in parts:
        for i, (idents, script) in enumerate(part.scripts() if version >= part.since else []):
            name = f"{part.name}-{i}"
            with open(os.path.join(folder, name + ".bt"), "w", encoding="ascii") as f:
                f.write(script)
            with open(os.path.join(folder, name + ".rows"), "w", encoding="ascii") as f:
                f.writelines(i + "\n" for i in sorted(idents))
            print(name)


def says(rows, keeps_sign=False):
    """C statements that print each of these rows; with a sign, or @keeps_sign: as the type of the row has it."""
    cast = "" if keeps_sign else "(long)"
    return "".join(f'\tprintf(FORMAT({cast}({c})), "{ident}", {cast}({c}));\n' for ident, c, _line in rows)


def definitions(types=tuple(TYPES)):
    """C's headers, enums and structs of a program."""
    one = members = "".join(f"\t{d.replace('NAME', n)};\n" for n, d, _p, _q in types)
    for n, d, _p, _q in types:
        if n not in BITS:
            members += f"\t{d.replace('NAME', 'a_' + n)}[2];\n\t{d.replace('NAME', '*p_' + n)};\n"
            members += f"\t{d.replace('NAME', 'g_' + n)}[2][2];\n\t{d.replace('NAME', '*r_' + n)};\n"
    members += "\tstruct one s[2], *sp, **spp;\n"
    return f"""#include <btgen/usdt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>
#define FORMAT(x) _Generic(x, unsigned long: "%s %lu\\n", default: "%s %ld\\n")
enum state {{ STATE_WORSE = -2000000000, STATE_BAD = -3, STATE_GOOD = 5 }};
enum color {{ COLOR_RED = 3, COLOR_TOP = 0x80000001u }};
struct one {{
{one}}};
struct numbers {{
{members}}};
static struct numbers first, second;
"""


def filled(types=tuple(TYPES)):
    """C statements that give p and q their values."""
    fill = ""
    for n, _d, pv, qv in types:
        for s, v in (("p", pv), ("q", qv)):
            fill += f"\t{s}->{n} = {s}->s[1].{n} = {v};\n"
            if n not in BITS:
                fill += f"\t{s}->a_{n}[1] = {v}; {s}->p_{n} = &{s}->{n};\n"
                fill += f"\t{s}->g_{n}[1][1] = {v}; {s}->r_{n} = {s}->a_{n};\n"
    for s in ("p", "q"):
        fill += f"\tstatic struct one *links_{s}[2];\n\t{s}->sp = {s}->s; {s}->spp = links_{s}; links_{s}[1] = &{s}->s[1];\n"
    return fill


def fired(probe):
    """C's statement that fires this probe."""
    args = ", ".join(f'USDT_ARG({"p->" + n if n not in BITS else "(int)p->" + n}, "{n}")' for n in NAMES[:10])
    return f"\tUSDT_PROBE(numbers, {probe}, p, q, {args});\n"


def program(statements, helpers="", types=tuple(TYPES)):
    """A program that does these @statements, with its values in p and q, and then fires its probe. @types: TYPES with other values."""
    return f"""{definitions(types)}{helpers}static void say(struct numbers *p, struct numbers *q)
{{
{statements}}}
int main(void)
{{
	struct numbers *p = &first, *q = &second;
	char c;
{filled(types)}	say(p, q);
	fflush(stdout);
	while (read(0, &c, 1) == 1 && c != 'x')
		;
{fired("all")}	return 0;
}}
"""
