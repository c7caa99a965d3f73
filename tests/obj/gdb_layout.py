# Run by gdb: for each name in the file NAMES, one line with the layout that gdb sees.
#   gdb -batch -ex 'python names, out = "...", "..."' -x gdb_layout.py PROGRAM
# Lines: NAME|SIZE|member:offset:bits,... with bits 0 for members that are no bitfields.
import gdb

def strip(t):
    return t.strip_typedefs().unqualified()

def layout(t):
    parts = []
    for f in t.fields():
        if getattr(f, "bitpos", None) is None:
            continue  # static, or a virtual base
        bits = f.bitsize
        off = f.bitpos if bits else f.bitpos // 8
        name = f.name or ""
        parts.append("%s:%d:%d" % ("" if f.is_base_class else name, off, bits))
    return ",".join(sorted(parts))

with open(names) as src, open(out, "w") as dst:
    for line in src:
        name = line.rstrip("\n")
        try:
            t = strip(gdb.lookup_type(name))
            t.fields()
        except Exception as e:
            dst.write("%s|refused|%s\n" % (name, str(e).split("\n")[0]))
            continue
        if t.code == gdb.TYPE_CODE_ENUM:
            body = ",".join(sorted("%s:%d" % (f.name.split("::")[-1], f.enumval) for f in t.fields()))
        else:
            body = layout(t)
        dst.write("%s|%d|%s\n" % (name, t.sizeof, body))
