#!/usr/bin/env python3
"""docs/checks.md has each finding that btgen knows, with an example and what is said about it.

The page is made here: of `btgen check -W help`, and for each name the first case of tests/check/*.cases of which the first
message has that name. CHECKS_UPDATE=1 writes it.
"""

import glob
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import cases

HERE = os.path.join(cases.TOP, "tests/check")
PAGE = os.path.join(cases.TOP, "docs/checks.md")
HEAD = """# What is checked before anything is attached

`bpftrace.sh` checks a script against the process before it attaches a probe. [`btgen check`](man/btgen.1) runs only these checks,
without root and without bpftrace. An error stops the run: a name of the program does not exist, the script would print a wrong value,
or this bpftrace would refuse it in words that do not help. A warning does not: the code may be meant, or its types are only inferred.
`-W no-NAME` disables findings, `-W NAME` enables them again, `-W error` makes warnings errors, and `--force` runs despite errors.

The examples are of the programs in `tests/`; `tests/check/page.t` makes this page and checks it.
"""


def said(script, target, version, options):
    """What btgen check says about it, as on a terminal."""
    with tempfile.TemporaryDirectory(prefix="btgen-test.") as folder:
        with open(os.path.join(folder, "my.bt"), "w") as file:
            file.write(script + "\n")
        words = [cases.BTGEN, "check", *options, "--for", version, *(["-x", target] if target else []), "my.bt"]
        text = subprocess.run(words, capture_output=True, text=True, cwd=folder).stderr
    text = text.replace(cases.TOP + "/", "")
    return text.replace(target, os.path.basename(target)) if target else text


def examples(folder):
    """name -> (script, target, version, options) of the first case about it."""
    found, targets = {}, {None: None}
    for path in sorted(glob.glob(os.path.join(HERE, "*.cases"))):
        for settings, case in cases.read_cases(path):
            name = re.search(r"\[([a-z-]+)\]$", (case["said"] or [""])[0])
            if not name or name[1] in found:
                continue
            if cases.lacks(case):
                print("1..0 # SKIP an example needs %s" % cases.lacks(case))
                sys.exit(0)
            target = settings["TARGET"]
            if target not in targets:
                targets[target] = cases.target_file(target, HERE, folder)
            found[name[1]] = ("\n".join(case["PROG"]), targets[target], settings["FOR"].split()[0],
                              settings["WITH"].split())
    return found


def indented(text):
    return "".join("    %s\n" % line if line else "\n" for line in text.rstrip("\n").split("\n"))


def page():
    text = HEAD
    names = subprocess.run([cases.BTGEN, "check", "-W", "help"], capture_output=True, text=True, check=True).stdout
    with tempfile.TemporaryDirectory(prefix="btgen-test.") as folder:
        shown = examples(folder)
        for line in names.splitlines():
            name, summary = line.split(None, 1)
            text += "\n## %s\n\n%s.\n" % (name, summary[0].upper() + summary[1:])
            if name in shown:
                script = shown[name][0]
                text += "\n" + indented(script) + "\n" + indented(said(*shown[name]))
            else:
                text += "\nNo example: this needs a process, [a lock](lock.md) or many probes.\n"
    return text


now = page()
if os.environ.get("CHECKS_UPDATE"):
    with open(PAGE, "w") as file:
        file.write(now)
try:
    before = open(PAGE).read()
except FileNotFoundError:
    before = ""
remarks = [] if now == before else ["it would be:"] + now.splitlines()
cases.claim(now == before, "docs/checks.md is what the checks say (read it, then CHECKS_UPDATE=1 tests/check/page.t)", remarks)
print("1..1")
sys.exit(now != before)
