# Run by gdb: for each name in the file NAMES, one line with the layout that gdb sees.
#   gdb -batch -ex 'python names, out = "...", "..."' -x gdb_layout.py PROGRAM
# Lines: NAME|SIZE|member:offset:bits,... with bits 0 for members that are no bitfields; or NAME|SIZE|enumerator:value,...
# Where source files define a C type differently, a tab and SIZE|... follow for each further definition.
import re
import gdb

def strip(t):
    return t.strip_typedefs().unqualified()

def layout(t):
    if t.code == gdb.TYPE_CODE_ENUM:
        # Python is given 64 bits with a sign, whatever the type.
        mask = -1 if t.is_signed else (1 << 8 * t.sizeof) - 1
        return "%d|%s" % (t.sizeof, ",".join(sorted("%s:%d" % (f.name.split("::")[-1], f.enumval & mask) for f in t.fields())))
    parts = []
    for f in t.fields():
        if getattr(f, "bitpos", None) is None:
            continue  # static, or a virtual base
        bits = f.bitsize
        off = f.bitpos if bits else f.bitpos // 8
        name = f.name or ""
        parts.append("%s:%d:%d" % ("" if f.is_base_class else name, off, bits))
    return "%d|%s" % (t.sizeof, ",".join(sorted(parts)))

def find(name):
    try:
        return gdb.lookup_type(name)
    except gdb.error:
        return gdb.lookup_type("(anonymous namespace)::" + name)

word = re.compile(r"^(struct|union|enum) ")
codes = {"struct ": gdb.TYPE_CODE_STRUCT, "union ": gdb.TYPE_CODE_UNION, "enum ": gdb.TYPE_CODE_ENUM}

def others(name, first):
    """Tags of C belong to their source files; those of C++ to all of them."""
    m = word.match(name)
    if not m:
        return
    for sym in gdb.lookup_static_symbols(name[m.end():], gdb.SYMBOL_STRUCT_DOMAIN):
        t = strip(sym.type)
        if t.code == codes[m.group(0)] and t.fields() and layout(t) != first:
            yield layout(t)

with open(names) as src, open(out, "w") as dst:
    for line in src:
        name = line.rstrip("\n")
        try:
            t = strip(find(name))
            t.fields()
        except Exception as e:
            dst.write("%s|refused|%s\n" % (name, str(e).split("\n")[0]))
            continue
        first = layout(t)
        dst.write("\t".join(["%s|%s" % (name, first)] + sorted(set(others(name, first)))) + "\n")
