# Writes a C++ program with some hundred types of every kind, the same for the same SEED, each used so that compilers describe it.
#   cxx_types.py SEED >types.cc
import random, sys

rnd = random.Random(int(sys.argv[1]))
pick = rnd.choice
spaces = ["app", "app::net", "app::net::detail", "store", "store::v1", "math"]
scalars = ["char", "signed char", "unsigned char", "short", "unsigned short", "int", "unsigned", "long", "unsigned long",
           "long long", "float", "double", "long double", "bool", "__int128", "wchar_t", "char16_t", "void *", "const char *"]
integers = ["signed char", "unsigned char", "short", "unsigned short", "int", "unsigned", "long long", "unsigned long long"]
bits = {"signed char": 8, "unsigned char": 8, "short": 16, "unsigned short": 16, "int": 32, "unsigned": 32, "long long": 64, "unsigned long long": 64}
enums, structs, plain, uses = [], [], [], []
out = []

def enum_body(base, tag):
    lo, hi = (0, 2 ** bits[base] - 1) if base.startswith("unsigned") else (-2 ** (bits[base] - 1), 2 ** (bits[base] - 1) - 1)
    values = [rnd.randint(lo, hi) for _ in range(rnd.randint(1, 6))] + rnd.sample([lo, hi, 0], rnd.randint(0, 2))
    spell = lambda v: "(-9223372036854775807LL - 1)" if v == -2 ** 63 else "%dULL" % v if v > 2 ** 63 - 1 else "%dLL" % v
    return ", ".join("%s_%d = %s" % (tag, i, spell(v)) for i, v in enumerate(values))

def enum(scope, indent="\t"):
    name = "E%d" % len(enums)
    base = pick(integers)
    how = rnd.random()
    if how < 0.5:
        text = "enum class %s : %s { %s };" % (name, base, enum_body(base, name))
    elif how < 0.8:
        text = "enum %s : %s { %s };" % (name, base, enum_body(base, name))
    else:
        text = "enum %s { %s_A, %s_B = %d, %s_C };" % (name, name, name, rnd.randint(-500, 100000), name)
    enums.append(scope + "::" + name)
    uses.append(("%s e%d;" % (enums[-1], len(enums))))
    return indent + text

def member(i):
    name = "m%d" % i
    how = rnd.random()
    if how < 0.35:
        return "%s %s;" % (pick(scalars), name)
    if how < 0.5:
        t = pick(integers)
        return "%s %s : %d;" % (t, name, rnd.randint(1, bits[t]))
    if how < 0.58:
        return "%s %s%s;" % (pick(scalars), name, "".join("[%d]" % rnd.randint(1, 5) for _ in range(rnd.randint(1, 3))))
    if how < 0.68 and enums:
        return "%s %s;" % (pick(enums), name)
    if how < 0.82 and plain:
        return "%s %s%s;" % (pick(plain), name, pick(["", "[2]"]))
    if how < 0.87 and structs:
        return "%s *%s;" % (pick(structs), name)
    if how < 0.91:
        return "union { int %s_i; double %s_d; char %s_c[%d]; };" % (name, name, name, rnd.randint(1, 20))
    if how < 0.94:
        return "struct { short %s_s; %s %s_x; } %s;" % (name, pick(scalars), name, name)
    if how < 0.96:
        return "static int s%d;" % i
    if how < 0.98:
        return "int (*%s)(int, char);" % name
    return "alignas(%d) %s %s;" % (pick([16, 32, 64]), pick(["char", "int", "long"]), name)

def struct(scope):
    name = "S%d" % len(structs)
    full = scope + "::" + name
    how = rnd.random()
    heads, template, keyword = "", "", pick(["struct", "struct", "class"])
    is_union = how < 0.06
    if is_union:
        keyword = "union"
    elif how < 0.3 and structs:
        candidates = [s for s in structs if "union" not in kinds[s]]
        bases = rnd.sample(candidates, min(len(candidates), rnd.randint(1, 2)))
        chosen = []
        for b in bases:  # not a class twice, directly or through another
            if not any(b in ancestors[c] | {c} or c in ancestors[b] or ancestors[b] & ancestors[c] for c in chosen):
                chosen.append(b)
        heads = " : " + ", ".join("public " + ("virtual " if rnd.random() < 0.15 else "") + b for b in chosen)
        ancestors[full] = set(chosen).union(*(ancestors[b] for b in chosen))
    elif how < 0.45:
        template = "template <typename T, int N> "
    ancestors.setdefault(full, set())
    lines = ["public:"] if keyword == "class" else []
    if not is_union and rnd.random() < 0.15:
        lines.append("virtual ~%s() {}" % name)
    if not is_union and not template and rnd.random() < 0.2:
        lines.append(enum(full, ""))
    if not is_union and rnd.random() < 0.1:
        lines.append("struct Inner { %s %s } inner;" % (member(90), member(91)))
    lines += [member(i) for i in range(rnd.randint(0, 9))]
    if is_union:
        lines = ["int i;"] + ["%s u%d;" % (pick(scalars), i) for i in range(3)]
    if template:
        lines += ["T items[N];", "struct Node { T value; Node *next; enum class Kind { One = N, Two }; Kind kind; } node;"]
    if rnd.random() < 0.1:
        lines.append("int %s::*to_member;" % name if not template else "int tail;")
    packed = "__attribute__((packed)) " if rnd.random() < 0.06 and not heads else ""
    out.append("namespace %s {\n\t%s%s %s%s%s {\n%s\t};\n}" % (scope, template, keyword, packed, name, heads, "".join("\t\t%s\n" % l for l in lines)))
    if template:
        full = "%s<%s, %d>" % (full, pick(["int", "char", "app::Tiny", "app::Mode"]), rnd.randint(1, 4))
        ancestors[full] = set()
    structs.append(full)
    kinds[full] = keyword
    if not heads and "virtual" not in " ".join(lines):
        plain.append(full)
    uses.append("%s s%d;" % (full, len(structs)))

ancestors, kinds = {}, {}
out.append("#include <map>\n#include <memory>\n#include <string>\n#include <vector>\n")
out.append("namespace app { struct Tiny { char c; }; enum class Mode : short { Off = -1, On = 1 }; }")
for i in range(240):
    scope = pick(spaces)
    if i < 230:
        out.append("namespace %s {\n%s\n}" % (scope, enum(scope)))
    struct(pick(spaces))
out.append("namespace { struct Hidden { int h; app::Mode mode; } hidden; }")
uses.append("std::map<std::string, std::vector<app::Mode>> map_; std::unique_ptr<app::Tiny> unique; std::shared_ptr<int> shared;")
out += uses
out.append("int main() { return hidden.h; }")
print("\n".join(out))
