"""Random structs with known bytes for aggregate.t, and the comparison of what we show with what gdb prints.

    aggregate.py make N SEED FOLDER     structs.c; gdb.txt, the commands for gdb; asked.txt, the lines for our program
    aggregate.py compare FOLDER FILE    gdb.out against FILE, what our program has said: a line of text, one of JSON a struct

A member's kind is the beginning of its name: the values of a float are compared as floats.
"""
import json, random, re, struct, sys

ENUMS = {
    "mood": {"MOOD_BAD": -1, "MOOD_FINE": 0, "MOOD_GOOD": 1, "MOOD_BEST": 90},
    "access": {"READ": 1, "WRITE": 2, "RUN": 4, "OWN": 0x40},
    "wide": {"NARROW": 0, "WIDE": 0xffffffffffff},
}
INTEGERS = ["signed char", "unsigned char", "short", "unsigned short", "int", "unsigned", "long", "unsigned long",
            "__int128", "unsigned __int128"]
ROOM = 4096  # bytes that each struct is given


class Maker:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.n = 0

    def name(self, kind):
        self.n += 1
        return f"{kind}{self.n}"

    def member(self, depth, tag):
        r = self.r
        kind = r.choice("int int int bits bits flt dbl ldb boo chr str str raw ptr ptr fun enm enm list list2 "
                        "text2 struct structs union anonymous".split())
        name = self.name({"bits": "int", "struct": "sub", "structs": "sub", "union": "sub", "list": "int", "list2": "int",
                          "text2": "str"}.get(kind, kind))
        if kind == "int":
            return f"{r.choice(INTEGERS)} {name};"
        if kind == "bits":
            return self.bits()
        if kind in ("flt", "dbl", "ldb"):
            return f"{dict(flt='float', dbl='double', ldb='long double')[kind]} {name};"
        if kind in ("boo", "chr"):
            return f"{dict(boo='_Bool', chr='char')[kind]} {name};"
        if kind in ("str", "raw"):
            return f"{dict(str='char', raw='unsigned char')[kind]} {name}[{r.randint(1, 24)}];"
        if kind == "ptr":
            return f"{r.choice(['void', 'int', 'char', 'struct ' + tag])} *{name};"
        if kind == "fun":
            return f"void (*{self.name('ptr')})(int);"
        if kind == "enm":
            return f"enum {r.choice(list(ENUMS))} {name};"
        if kind in ("list", "list2"):
            of = r.choice(["short", "int", "unsigned long", "enum mood"])
            sizes = "".join(f"[{r.randint(1, 5)}]" for _ in range(1 if kind == "list" else 2))
            return f"{of} {name if of != 'enum mood' else self.name('enm')}{sizes};"
        if kind == "text2":
            return f"char {name}[{r.randint(1, 3)}][{r.randint(1, 9)}];"
        if depth >= 3:
            return f"int {self.name('int')};"
        body = " ".join(self.member(depth + 1, tag) for _ in range(r.randint(1, 5)))
        if kind == "anonymous":
            return f"{r.choice(['struct', 'union'])} {{ {body} }};"
        times = f"[{r.randint(1, 3)}]" if kind == "structs" else ""
        return f"{'union' if kind == 'union' else 'struct'} {{ {body} }} {name}{times};"

    def bits(self):
        r, out = self.r, []
        for _ in range(r.randint(1, 6)):
            what, most = r.choice([("int", 32), ("unsigned", 32), ("long", 64), ("unsigned short", 16), ("signed char", 8),
                                   ("_Bool", 1), ("enum mood", 32), ("enum access", 32)])
            kind = {"_Bool": "boo", "enum mood": "enm", "enum access": "enm"}.get(what, "int")
            out.append(f"{what} {self.name(kind)} : {r.randint(1, most)};")
        return " ".join(out)

    def piece(self):
        r = self.r
        return r.choice([
            lambda: bytes(8),
            lambda: r.randbytes(8),
            lambda: bytes(r.choice([0, 0, 0, 1, 2, 4, 90]) for _ in range(8)),
            lambda: bytes(r.choice(b"abcXYZ 019\"'\\,{}\n\t=") for _ in range(8)),
            lambda: struct.pack("<d", r.choice([1.5, 9.99, -1e300, float("inf"), r.random()])),
            lambda: struct.pack("<ff", r.random(), 1e-40),
            lambda: struct.pack("<ii", r.choice([-1, 0, 1, 3, 90]), r.choice([1, 3, 7, 0x47, 8])),
        ])()

    def struct(self, i):
        body = "\n\t".join(self.member(0, f"s{i}") for _ in range(self.r.randint(1, 10)))
        packed = " __attribute__((packed))" if self.r.random() < 0.15 else ""
        return f"struct s{i} {{\n\t{body}\n}}{packed};\n"


def make(n, seed, folder):
    m, out = Maker(seed), []
    for name, values in ENUMS.items():
        out.append(f"enum {name} {{ {', '.join(f'{k} = {v}' for k, v in values.items())} }};\n")
    with open(f"{folder}/asked.txt", "w") as asked, open(f"{folder}/gdb.txt", "w") as gdb:
        for i in range(n):
            data = b"".join(m.piece() for _ in range(ROOM // 8))
            out.append(m.struct(i))
            out.append(f"_Static_assert(sizeof(struct s{i}) <= {ROOM}, \"\");\n"
                       f"unsigned char raw{i}[] __attribute__((aligned(16))) = {{{','.join(map(str, data))}}};\n"
                       f"struct s{i} *p{i} = (struct s{i} *)raw{i};\n")
            asked.write(f"struct s{i} 0x10000 {data.hex()}\n")
            gdb.write(f"print *p{i}\n")
    out.append("int main(void) { return 0; }\n")
    with open(f"{folder}/structs.c", "w") as f:
        f.write("".join(out))


# --- what is said, as values

ESCAPES = dict(a=7, b=8, t=9, n=10, v=11, f=12, r=13, e=27)
CHARACTER = r"\\(?:[0-7]{3}|x[0-9a-f]{2}|.)|[^\\]"
SCALAR = re.compile(r"(\((?:[^()]*)\)|-?nan\([^)]*\)|<invalid float value>|[-\w.+|]+)"
                    r"( '(?:" + CHARACTER + r")')?( <[^>]*>)?")
NAME = re.compile(r"([A-Za-z_]\w*) = ")


def unquote(s):
    out = bytearray()
    for c in re.findall(CHARACTER, s, re.S):
        if c[0] != "\\":
            out += c.encode("latin-1")
        elif c[1] == "x":
            out.append(int(c[2:], 16))
        elif len(c) == 4:
            out.append(int(c[1:], 8))
        else:
            out.append(ESCAPES.get(c[1], ord(c[1])))
    return bytes(out)


class Parser:
    """{a = 1, {b = 2}, c = {1, 2}} as [("a", "1"), (None, [("b", "2")]), ("c", [(None, "1"), (None, "2")])]"""

    def __init__(self, text):
        self.text, self.at = text, 0

    def take(self, literal):
        if not self.text.startswith(literal, self.at):
            return False
        self.at += len(literal)
        return True

    def value(self):
        if self.take("{"):
            out = []
            while not self.take("}"):
                self.take(", ")
                name = NAME.match(self.text, self.at)
                self.at = name.end() if name else self.at
                out.append((name and name.group(1), self.value()))
            return out
        if self.take('"'):
            end = re.compile(r'(?:\\.|[^"\\])*', re.S).match(self.text, self.at).end()
            s = unquote(self.text[self.at:end])
            self.at = end + 1
            return s
        m = SCALAR.match(self.text, self.at)
        assert m, f"not understood: {self.text[self.at:self.at + 60]!r}"
        self.at = m.end()
        if m.group(2):
            assert unquote(m.group(2)[2:-1])[0] == int(m.group(1)) & 255, m.group(0)
        return m.group(1)


def parse(text):
    p = Parser(text)
    v = p.value()
    assert p.at == len(text), f"left: {text[p.at:]!r}"
    return v


def enum_value(s):
    """The number of a name, A|B, (A | unknown: 0x8) or a number."""
    all_names = {k: v for e in ENUMS.values() for k, v in e.items()}
    parts = [p.strip().replace("unknown: ", "") for p in s.strip("()").split("|")]
    return sum(all_names[p] if p in all_names else int(p, 0) for p in parts)


def is_name(s):
    return bool(re.fullmatch(r"[A-Z_]+", s))


def same_float(kind, ours, theirs):
    if theirs == "<invalid float value>":
        return ours == [(None, "...")] or ours == "..."
    a, b = (float(re.sub(r"nan\(.*\)", "nan", x)) for x in (ours, theirs))
    if a != a or b != b:
        return a != a and b != b and ours.startswith("-") == theirs.startswith("-")
    if kind == "flt":
        try:
            return struct.pack("<f", a) == struct.pack("<f", b)
        except OverflowError:
            return False
    return repr(a) == repr(b)


def same_scalar(kind, ours, theirs):
    if kind in ("flt", "dbl", "ldb"):
        return same_float(kind, ours, theirs)
    if kind == "enm":
        return (enum_value(ours) - enum_value(theirs)) % 2**64 == 0 and is_name(ours) >= is_name(theirs)
    if kind == "str":
        return ours == theirs.split(b"\0")[0]
    if kind == "raw":
        return ours == theirs.rstrip(b"\0")
    return ours == theirs


def compare_text(kind, ours, theirs, path):
    if isinstance(theirs, list) and kind not in ("flt", "dbl", "ldb"):
        assert isinstance(ours, list) and len(ours) == len(theirs), f"{path}: {ours} is not {theirs}"
        for (name, a), (other, b) in zip(ours, theirs):
            assert name == other, f"{path}: member {name} is {other}"
            compare_text(name[:3] if name else kind, a, b, f"{path}.{name}")
        return
    assert same_scalar(kind, ours, theirs), f"{path}: {ours!r} is not {theirs!r}"


def flat(members):
    """Members of nameless structs are those of the struct around them."""
    for name, value in members:
        if name is None:
            yield from flat(value)
        else:
            yield name, value


def json_scalar(kind, v):
    """As our text has it."""
    if kind in ("str", "raw", "chr"):
        data = bytes.fromhex(v["hex"]) if isinstance(v, dict) else v.encode()
        return str(struct.unpack("<b", data)[0]) if kind == "chr" else data
    if kind == "enm":
        assert v["name"] is None or enum_value(v["name"]) == int(v["value"]), v
        return v["name"] or str(v["value"])
    if v == {"...": True}:
        return "..."
    if kind == "ptr":
        return v or "0x0"
    if isinstance(v, bool):
        return str(v).lower()
    return v if isinstance(v, str) else repr(v)


def compare_json(kind, ours, theirs, path):
    if isinstance(ours, list):
        assert len(ours) == len(theirs), f"{path}: {ours} is not {theirs}"
        for i, a in enumerate(ours):
            compare_json(kind, a, theirs[i][1], f"{path}[{i}]")
    elif isinstance(theirs, list):
        want = list(flat(theirs))
        assert list(ours) == [name for name, _ in want], f"{path}: {list(ours)}"
        for name, b in want:
            compare_json(name[:3], ours[name], b, f"{path}.{name}")
    else:
        a = json_scalar(kind, ours)
        if kind == "chr" and int(a) < 0 <= int(theirs):  # char has no sign here: JSON has the byte as text
            a = str(int(a) + 256)
        assert same_scalar(kind, a, theirs), f"{path}: {a!r} is not {theirs!r} (JSON)"


def compare(folder, file):
    with open(f"{folder}/gdb.out", encoding="latin-1") as f:
        theirs = [line.split(" = ", 1)[1].rstrip("\n") for line in f if line.startswith("$")]
    with open(file, encoding="latin-1") as f:
        ours = f.read().split("\n")[:-1]
    assert len(ours) == 2 * len(theirs), f"{len(ours)} lines for {len(theirs)} structs"
    wrong = 0
    for i, want in enumerate(theirs):
        try:
            compare_text("", parse(ours[2 * i]), parse(want), f"s{i}")
            compare_json("", json.loads(ours[2 * i + 1].encode("latin-1")), parse(want), f"s{i}")
        except (AssertionError, ValueError, TypeError, AttributeError) as e:
            wrong += 1
            print(f"# {e!r}\n#   ours {ours[2 * i][:300]}\n#   gdb  {want[:300]}")
    print(f"{len(theirs) - wrong} of {len(theirs)}")


if sys.argv[1] == "make":
    make(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
else:
    compare(sys.argv[2], sys.argv[3])
