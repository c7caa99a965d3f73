# Reads `btgen types --json` on stdin and prints the same lines as gdb_layout.py.
import json, sys

for t in json.load(sys.stdin):
    if "values" in t:
        body = ",".join(sorted("%s:%d" % (v["name"], v["value"]) for v in t["values"]))
    else:
        body = ",".join(sorted("%s:%d:%d" % ("" if m.get("base") else m["name"], m.get("bit_offset", m["offset"]),
                                             m.get("bit_size", 0)) for m in t.get("members", [])))
    print("%s|%d|%s" % (t["type"], t.get("size", -1), body))
