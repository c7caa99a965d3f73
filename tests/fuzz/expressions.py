"""Random expressions of the parts of tests/live/numbermodel.py, each as a script's text and as C, and where such programs are traced.

For tests/fuzz/numbers.py and tests/fuzz/scripts.py.
"""
import os
import re
import subprocess
import sys
import time

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(TOP, "tests", "live"))
from numbermodel import BITS, CASTS, NAMES, TYPES, leaf  # noqa: E402

BPFTRACE = os.environ.get("BTGEN_BPFTRACE") or "bpftrace"
PATIENCE = 600  # seconds: a guard against what hangs, and never a claim
PRECEDENCE = [["*", "/", "%"], ["+", "-"], ["<<", ">>"], ["<", "<=", ">", ">="], ["==", "!="], ["&"], ["^"], ["|"], ["&&"], ["||"]]
LEVEL = {op: level for level, ops in enumerate(PRECEDENCE) for op in ops}
SUMS, DIVISIONS, TRUTHS = ["+", "-", "*", "&", "|", "^"], ["/", "%"], ["<", "<=", ">", ">=", "==", "!=", "&&", "||"]
REACHED = ["member", "member", "member", "element", "index", "pointee", "argument", "chosen", "loop"]
KEPT = ["variable", "variable", "map", "keyed", "pair"]
# The stack of a clause has no room for more.
COST_OF_ROW, COST_OF_CLAUSE = 24, 40
# How a row is printed: mostly as a number.
USES = ["number"] * 12 + ["if", "filter", "key", "sum"]

# C's operators where C leaves something open: such a row says so, and is not compared.
HELPERS = """static int is_open;
#define DIVIDE(a, b, op, by_minus) ({ __auto_type a_ = (a); __auto_type b_ = (b); typeof(a_ + b_) x_ = a_, y_ = b_; \\
	y_ == 0 ? (is_open = 1, x_) : (typeof(x_))-1 < 0 && y_ == (typeof(x_))-1 ? (by_minus) : x_ op y_; })
#define EXACT(a, b, op, name) ({ __auto_type a_ = (a); __auto_type b_ = (b); typeof(a_ + b_) x_ = a_, y_ = b_, z_; \\
	if (__builtin_##name##_overflow(x_, y_, &z_) && (typeof(x_))-1 < 0) is_open = 1; x_ op y_; })
#define SHIFTED(a, n) ({ __auto_type x_ = (a); if ((typeof(x_))-1 < 0 && (x_ << n) >> n != x_) is_open = 1; x_ << n; })
#define OVER(a, b) DIVIDE(a, b, /, -x_)
#define REST(a, b) DIVIDE(a, b, %, 0 * x_)
"""


class Node:
    """An expression: its kind, what the kind needs to know, and its operands."""

    def __init__(self, kind, what=None, *kids):
        self.kind, self.what, self.kids = kind, what, list(kids)
        self.size = (0 if kind == "number" else 2 if kind == "leaf" and what[0] != "member" else 1) + sum(k.size for k in kids)

    def is_unsigned(self):
        """Of 64 bits without a sign, in C."""
        if self.kind == "leaf":
            return self.what[1] == "u64"
        if self.kind == "state":
            return self.what[2]
        if self.kind == "cast":
            return self.what == "uint64"
        if self.kind == "binary" and self.what in TRUTHS or self.kind == "number" or self.kind == "unary" and self.what == "!":
            return False
        kids = self.kids[1:] if self.kind == "choice" else self.kids[:1] if self.kind == "step" or self.what in ("<<", ">>") else self.kids
        return any(k.is_unsigned() for k in kids)

    def cost(self):
        """Reads of memory, about, of the script that bpftrace gets: what is divided or shifted stands there three times."""
        costs = [k.cost() for k in self.kids]
        if self.what in ("/", "%", ">>") or self.kind == "step" and self.what[1] in DIVISIONS:
            return 3 * costs[0] + 2 * costs[1]
        return 1 if self.kind in ("leaf", "state") else 2 * costs[0] + costs[1] + costs[2] if self.kind == "choice" else sum(costs)

    def is_truth(self):
        if self.kind in ("keep", "choice"):
            return all(k.is_truth() for k in self.kids[-2:])
        return self.kind == "binary" and self.what in TRUTHS or self.kind == "unary" and self.what == "!"

    def is_constant(self):
        return self.kind == "number" or self.kind not in ("leaf", "state") and all(k.is_constant() for k in self.kids)

    def has_loop(self):
        return self.kind == "leaf" and self.what[0] == "loop" or any(k.has_loop() for k in self.kids)


class Maker:
    """Random expressions."""

    def __init__(self, rng, version):
        self.rng, self.version = rng, version

    def leaf(self):
        if self.rng.random() < 0.15:
            return Node("number", self.rng.choice([0, 1, 2, 3, 7, 8, 63, 64, 127, 128, 255, 256, 1000, 65535, 65536, 2147483647, 2147483648, 4294967295, 4294967296, 5000000000]))
        access = self.rng.choice(REACHED)
        if access == "loop" and self.version < 23:
            access = "element"
        names = NAMES[:10] if access == "argument" else [n for n in NAMES if n not in BITS] if access in ("element", "index", "pointee") else NAMES
        return Node("leaf", (access, self.rng.choice(names), "p" if access == "argument" else self.rng.choice("pq")))

    def divisor(self, depth):
        """Seldom 0, and no constant that is, nor a comparison that is never true: bpftrace refuses 1 / 0."""
        n = self.node(depth)
        is_certain = n.is_truth() and any(k.is_constant() for k in n.kids)
        return Node("number", self.rng.choice([1, 2, 3, 7, 100])) if n.is_constant() or is_certain else n

    def node(self, depth):
        r = self.rng
        if depth <= 0:
            return self.leaf()
        how = r.choices(["sum", "division", "shift", "truth", "unary", "cast", "choice", "keep", "step", "leaf"], [28, 16, 6, 12, 10, 12, 8, 10, 5, 4])[0]
        if how == "sum":
            return Node("binary", r.choice(SUMS), self.node(depth - 1), self.node(depth - 1))
        if how == "division":
            return Node("binary", r.choice(DIVISIONS), self.node(depth - 1), self.divisor(depth - 1))
        if how == "shift":
            return Node("binary", r.choice(["<<", ">>", ">>"]), self.node(depth - 1), Node("number", r.choice([0, 1, 2, 7, 8, 31, 32, 63])))
        if how == "truth":
            return Node("binary", r.choice(TRUTHS), self.node(depth - 1), self.node(depth - 1))
        if how == "unary":
            return Node("unary", r.choice("-~!"), self.node(depth - 1))
        if how == "cast":
            return Node("cast", r.choice(CASTS), self.node(depth - 1))
        if how == "choice":
            yes, no = self.node(depth - 1), self.node(depth - 1)
            if yes.is_unsigned() != no.is_unsigned():  # a name or a choice of both has no sign that the manual names
                yes, no = [Node("cast", "uint64", k) if not k.is_unsigned() else k for k in (yes, no)]
            return Node("choice", None, self.node(depth - 1), yes, no)
        if how == "keep":
            return Node("keep", r.choice(KEPT), self.node(depth - 1))
        if how == "step":
            first, second = self.node(depth - 1), self.divisor(depth - 1)
            op = r.choice(SUMS + DIVISIONS)
            # bpftrace 0.27 refuses a map of true and false that becomes one of numbers, 0.23 a variable that begins as 1 and gets an uint64.
            if first.is_truth() or first.is_constant():
                first = Node("leaf", ("member", "i32", "p"))
            if first.is_unsigned() != second.is_unsigned():
                first, second = [Node("cast", "uint64", k) if not k.is_unsigned() else k for k in (first, second)]
            return Node("step", (r.choice(["variable", "map"]), op), first, second)
        return self.leaf()

    def row(self):
        n = self.node(self.rng.randint(2, 5))
        while n.cost() > COST_OF_ROW or not n.kids:
            n = self.node(self.rng.randint(2, 5))
        use = self.rng.choice(USES)
        # bpftrace 0.17 and 0.23 print each key as a signed number, newer ones what a variable got from u64 & i32.
        is_signed_key = n.is_unsigned() and (use == "key" and self.version < 24 or
                                             use in ("key", "sum") and self.version >= 24 and n.kind in ("keep", "step", "choice"))
        if n.has_loop() and use in ("filter", "key", "sum") or is_signed_key:
            use = "number"
        return n, use


class Row:
    """A row as text: its script and its C."""

    def __init__(self, ident, node, use):
        self.ident, self.node, self.use = ident, node, use
        self.n, self.before, self.c_before, self.loop = 0, [], [], None
        self.base = "args.%s" if use == "filter" else "$%s"
        text, c = self.both(node)
        self.lines, self.c = self.used(text), self.c_used(c)

    def name(self):
        self.n += 1
        return f"{self.ident}_{self.n}"

    def reached(self, access, t, where):
        p = self.base % where
        if access == "argument" and self.node.has_loop():  # of which a loop's block has none
            access = "member"
        if access == "index" and self.use != "filter":
            i = self.name()
            self.before.append(f"$i{i} = 1;")
            return f"{p}->a_{t}[$i{i}]"
        if access == "loop":
            self.loop = self.loop or (t, where)
            if self.loop == (t, where):
                return "$kv.1"
        return {"element": f"{p}->a_{t}[1]", "index": f"{p}->a_{t}[1]", "pointee": f"*{p}->p_{t}", "argument": f"args.{t}",
                "chosen": f"({self.base % 'p'}->u8 < 0 ? {self.base % 'p'} : {self.base % where})->{t}" if where == "q" else f"{p}->{t}"}.get(access, f"{p}->{t}")

    def in_brackets(self, n, level, text):
        """@text of @n as an operand of an operator of that @level; -1: of a unary one."""
        if n.kind == "choice" or (n.kind == "binary" and (LEVEL[n.what] >= level or n.size % 2)) or (level == -1 and n.kind == "unary") or text.startswith("*") and level == -1:
            return f"({text})"
        return text

    def keep(self, how, value):
        name = self.name()
        first, text = {"variable": (f"$v{name} = {value};", f"$v{name}"), "map": (f"@m{name} = {value};", f"@m{name}"),
                       "keyed": (f"@k{name}[1] = {value};", f"@k{name}[1]"), "pair": (f"$t{name} = ({value}, 1);", f"$t{name}.0")}[how]
        self.before.append(first)
        return name, text

    def both(self, n):
        """The script's text and C's. What stands in statements before goes to self.before and self.c_before."""
        kind, what = n.kind, n.what
        if kind == "number":
            return str(what), f"{what}L"
        if kind == "leaf":
            return self.reached(*what), leaf(what[1], what[2])
        if kind == "state":  # what a script keeps: its text, C's, and whether it is unsigned
            return what[:2]
        if kind == "macro":  # its name, and its arguments; the operand is what it stands for
            given = [self.both(k)[0] for k in what[1]]
            return f"{what[0]}({', '.join(f'({t})' if ',' in t else t for t in given)})", self.both(n.kids[0])[1]
        texts, cs = zip(*(self.both(k) for k in n.kids))
        if kind == "binary":
            level = LEVEL[what]
            text = f"{self.in_brackets(n.kids[0], level, texts[0])} {what} {self.in_brackets(n.kids[1], level, texts[1])}"
            return text, self.c_binary(what, *cs)
        if kind == "unary":
            return what + self.in_brackets(n.kids[0], -1, texts[0]), f"((long)!{cs[0]})" if what == "!" else f"({what}{cs[0]})"
        if kind == "cast":
            c = f"((unsigned long){cs[0]})" if what == "uint64" else f"((long)({what}_t){cs[0]})"
            return f"({what}){self.in_brackets(n.kids[0], -1, texts[0])}", c
        if kind == "choice":
            return " ".join(f"{mark} {self.in_brackets(k, 0, t)}".strip() for mark, k, t in zip(["", "?", ":"], n.kids, texts)), f"({cs[0]} ? {cs[1]} : {cs[2]})"
        if self.use == "filter":  # which has no statements before it
            return (f"({texts[0]})", cs[0]) if kind == "keep" else (f"(({texts[0]}) {what[1]} ({texts[1]}))", self.c_binary(what[1], *cs))
        name, text = self.keep(what if kind == "keep" else what[0], texts[0])
        self.c_before.append(f"__auto_type v{name} = {cs[0]};")
        if kind == "step":
            self.before.append(f"{text} {what[1]}= {texts[1]};")
            self.c_before.append(f"v{name} = {self.c_binary(what[1], f'v{name}', cs[1])};")
        return text, f"v{name}"

    @staticmethod
    def c_binary(op, a, b):
        if op in DIVISIONS:
            return f"{'OVER' if op == '/' else 'REST'}({a}, {b})"
        if op in ("+", "-", "*"):
            return f"EXACT({a}, {b}, {op}, {dict(zip('+-*', ('add', 'sub', 'mul')))[op]})"
        if op == "<<":
            return f"SHIFTED({a}, {b})"
        return f"((long)({a} {op} {b}))" if op in TRUTHS else f"({a} {op} {b})"

    def used(self, text):
        i = self.ident
        if self.use == "filter":
            text = " " + text if text.startswith("*") else text  # "/*" begins a comment
            return [f"usdt:__EXE__:numbers:all /{text}/ {{ printf(\"{i} 1\\n\"); }}"]
        last = {"number": f'printf("{i} %ld\\n", {text});', "if": f'if ({text}) {{ printf("{i} 1\\n"); }} else {{ printf("{i} 0\\n"); }}',
                "key": f"@key_{i}[{text}] = 1;", "sum": f"@sum_{i} = sum({text});"}[self.use]
        line = " ".join(self.before + [last])
        if self.loop:
            t, where = self.loop
            line = f"@l{i}[1] = ${where}->{t}; for ($kv : @l{i}) {{ {line} }}"
        return [line]

    def c_used(self, c):
        value = f"__auto_type v = {c};"
        say = f'printf("{self.ident} %ld\\n", v)'
        if self.use in ("key", "sum"):  # shown with the sign of their type
            say = f'printf(FORMAT(v), "{self.ident}", v)'
        elif self.use in ("if", "filter"):
            say = f'printf("{self.ident} %d\\n", v != 0)'
        return f"\t{{ is_open = 0; {' '.join(self.c_before)} {value} if (!is_open) {say}; }}\n"


def random_types(rng):
    """TYPES with other values: often those at the ends of what the type can hold."""
    bits = {"u8": 8, "i8": -8, "u16": 16, "i16": -16, "u32": 32, "i32": -32, "u64": 64, "i64": -64, "b": 1, "e": -32, "ue": 32, "sb": -7, "ub": 6}

    def value(n):
        size = abs(bits[n])
        low, high = (0, 2 ** size - 1) if bits[n] > 0 else (-2 ** (size - 1), 2 ** (size - 1) - 1)
        v = rng.choice([low, high, low + 1, high - 1, high // 2, high // 2 + 1, 1, rng.randint(low, high), rng.randint(low, high), rng.randint(max(low, -200), min(high, 200))])
        return f"{v}ul" if bits[n] > 0 else f"{v + 1}l - 1"
    return [(n, d, value(n), value(n)) for n, d, _p, _q in TYPES]


class Refused(Exception):
    """bpftrace, or btgen, does not run it."""


class Bench:
    """Where programs are built and traced."""

    def __init__(self, folder):
        self.folder = folder

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as f:
            f.write(text)

    def build(self, text):
        """The program whose C this is."""
        self.write("numbers.c", text)
        subprocess.run(["gcc", "-O0", "-g", "-fwrapv", "-w", f"-I{TOP}/include", "-o", self.path("numbers"), self.path("numbers.c")], check=True)

    def answers(self):
        """What the program prints, which fires its probes for nobody."""
        return subprocess.run([self.path("numbers")], input=b"x", stdout=subprocess.PIPE, check=True).stdout.decode()

    def trace(self, script, *options):
        """What the program prints, and what this script prints of it, or Refused."""
        self.write("numbers.bt", script)
        for name in ("ready", "trace"):
            if os.path.exists(self.path(name)):
                os.remove(self.path(name))
        with open(self.path("answers"), "w", encoding="ascii") as answers, open(self.path("messages"), "w", encoding="utf-8") as messages:
            app = subprocess.Popen([self.path("numbers")], stdin=subprocess.PIPE, stdout=answers)
            tracer = subprocess.Popen([f"{TOP}/scripts/bpftrace.sh", "--bpftrace", BPFTRACE, "-q", "--ready-file", self.path("ready"), "-o", self.path("trace"),
                                       *options, str(app.pid), self.path("numbers.bt")], stderr=messages)
        try:
            self.wait_ready(tracer)
            app.communicate(b"x", timeout=PATIENCE)
            tracer.wait(PATIENCE)
        except (Refused, subprocess.TimeoutExpired):
            tracer.terminate()
            tracer.wait()
            raise Refused(self.read("messages").strip() or "it takes too long") from None
        finally:
            app.kill()
            app.wait()
        return self.read("answers"), self.read("trace")

    def read(self, name):
        with open(self.path(name), encoding="utf-8", errors="replace") as f:
            return f.read()

    def wait_ready(self, tracer):
        end = time.time() + PATIENCE
        while not os.path.exists(self.path("ready")) or not os.path.getsize(self.path("ready")):
            if tracer.poll() is not None or time.time() > end:
                raise Refused
            time.sleep(0.02)

def version_of_bpftrace():
    said = subprocess.run([BPFTRACE, "--version"], stdout=subprocess.PIPE, check=True).stdout.decode()
    return said.strip(), int(re.search(r"v0\.(\d+)", said).group(1))
