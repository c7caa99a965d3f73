# Compares two `btgen types --json` outputs: of a program, and of the C that was printed from it, compiled.
#   same_layout.py ORIGINAL COPY
# An array without a length comes back as [0]. Names, places and sizes of members must be equal; gaps and members without a name in C (unnamed bitfields) aside.
import json, sys

def layout(t):
    return (t.get("size"), sorted((m["name"], m.get("bit_offset", m["offset"] * 8), m.get("bit_size", 0), m.get("size") or 0)
                                  for m in t.get("members", []) if not m["name"].startswith("_gap")))

def by_name(path):
    return {t["name"]: layout(t) for t in json.load(open(path)) if "members" in t}

want, got = by_name(sys.argv[1]), by_name(sys.argv[2])
bad = [n for n in want if n in got and want[n] != got[n]]
bits = sum(1 for n in want if n in got for m in want[n][1] if m[2])
for n in bad[:5]:
    print("# %s\n#   program %s\n#   copy    %s" % (n, want[n], got[n]))
print("# %d structs and unions equal, %d bitfields among their members" % (len(set(want) & set(got)) - len(bad), bits))
sys.exit(1 if bad or not set(want) & set(got) else 0)
