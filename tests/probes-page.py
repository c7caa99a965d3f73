#!/usr/bin/env python3
"""probes-page.py FILE: a reference of its probes in Markdown, of what `btgen probes --json` says: when each fires, its
arguments, where it is, which scripts of bpf/ attach to it. It has neither addresses nor lines, which change with each build.

    tests/probes-page.py tests/targets/nvmf_tgt >docs/probes-nvmf_tgt.md
"""

import glob
import json
import os
import re
import subprocess
import sys

BTGEN = os.environ.get("BTGEN", "build/btgen")


def remarks(arg):
    yield from filter(None, [arg["doc"]])
    if arg["unit"]:
        yield "in " + arg["unit"]
    if arg["string_max"]:
        yield "a string of at most %d bytes" % arg["string_max"]


def scripts_of(probe):
    for path in sorted(glob.glob("bpf/*.bt")):
        with open(path) as script:
            if re.search(r"^usdt:.*:%s\b" % probe, script.read(), re.M):
                yield "`%s`" % os.path.basename(path)


print("# Probes of " + sys.argv[1])
for p in json.loads(subprocess.check_output([BTGEN, "probes", "--json", "-x", sys.argv[1]])):
    print("\n## `%s:%s`\n" % (p["provider"], p["name"]))
    if p["doc"]:
        print("Fires when: %s\n" % p["doc"])
    print("| | type | name | |\n|---|---|---|---|" if p["args"] else "No arguments.")
    for n, arg in enumerate(p["args"]):
        name = "" if arg["name"] == "arg%d" % n else "`%s`" % arg["name"]
        print("| arg%d | `%s` | %s | %s |" % (n, arg["type"], name, "; ".join(remarks(arg))))
    places = dict.fromkeys("`%s()` of %s" % (s["function"], s["file"]) for s in p["sites"])
    print("\n- in: " + ", ".join(places))
    scripts = list(scripts_of(p["name"]))
    if scripts:
        print("- used by: " + ", ".join(scripts))
    if p["semaphore"]:
        print("- has a semaphore: the program knows when it is traced")
