#!/usr/bin/env python3
"""Do the tests test? Changes single lines of gen/FOLDER at random, and runs the folder's tests against each change.

    tests/mutate.py [-n N] [-s SEED] [-j JOBS] FOLDER...

Works in a clone below $TMPDIR, which is removed: this tree is not touched. Prints a line a mutant, and at the end those that no test has killed:
from each a test or a deletion. A mutant that does not compile is replaced by another. LIVE='tests/live/x.t ...' adds tests to each folder's.
"""
import argparse
import glob
import os
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile

# Each: what it replaces, and what with.
CHANGES = [(r" == ", " != "), (r" != ", " == "), (r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "), (r" >= ", " > "), (r" && ", " || "),
           (r" \|\| ", " && "), (r"\btrue\b", "false"), (r"\bfalse\b", "true"), (r"\bif \(", "if (!"), (r" \+ 1\b", ""), (r" - 1\b", ""),
           (r"\+\+", "--"), (r" \? ", " && 0 ? "), (r" \|= ", " &= "), (r"^(\t+)(?!return|break|continue|goto)[a-z][\w.>\[\]-]*( = |\().*;$", r"\1;")]
# The tests of a folder; those of tests/cli and tests/obj that have the file's name come first.
TESTS = {
    "base": "unit/str unit/outfile cli/misuse cli/writers cli/check", "btf": "obj/btf obj/typenote obj/several", "check": "check/wrong check/right check/scope",
    "cmd": "cli/misuse cli/options cli/expand cli/bad_input cli/probes_page cli/scripts cli/check", "conf": "obj/enums cli/providers cli/gen_enums cli/bad_input cli/probes_page cli/python",
    "convert": "cli/convert", "ctype": "unit/types obj/types obj/layouts", "doctor": "cli/doctor cli/facts live/caps",
    "elf": "unit/img obj/debugfile obj/probes obj/stripped obj/limits", "lang": "unit/lang unit/script lang/lang check/wrong pp/hostile",
    "listing": "obj/probes obj/args cli/probes_page cli/vars", "lock": "cli/lock obj/diff", "process": "unit/proc", "record": "unit/decode unit/writer unit/calltree "
    "unit/mapline unit/order unit/percentile unit/aggregate unit/fieldjson unit/render cli/records", "run": "unit/relay cli/captures live/run live/lengths",
    "sema": "lang/lang check/wrong cli/templates", "source": "obj/infer obj/provider", "template": "cli/trace cli/templates cli/functions cli/optional",
    "text": "unit/lex unit/pp pp/oracle pp/errors pp/includes pp/hostile cli/expand cli/check", "usdt": "unit/sdt unit/sdtarg unit/argname obj/probes obj/args cli/large",
    "value": "unit/render unit/writer unit/fieldjson unit/aggregate live/json"}


def limit():
    # A change may make an endless loop of anything.
    resource.setrlimit(resource.RLIMIT_DATA, (1 << 30, 1 << 30))
    resource.setrlimit(resource.RLIMIT_CPU, (120, 120))


def run(command, tree):
    p = subprocess.Popen(command, cwd=tree, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True, preexec_fn=limit)
    try:
        return p.wait(300)
    except subprocess.TimeoutExpired:
        return -1
    finally: # jobs of shells have groups of their own
        for pid in [int(name) for name in os.listdir("/proc") if name.isdigit()]:
            try:
                if os.getsid(pid) == p.pid:
                    os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        p.wait()


def mutate(rng, path):
    """A changed text of the file and the change in words; None: there is nothing to change in the line chosen."""
    lines = open(path).read().split("\n")
    i = rng.randrange(len(lines))
    text = re.sub(r'"(\\.|[^"\\])*"|//.*|/\*.*', lambda m: "\1" * len(m.group()), lines[i])
    if not text.startswith("\t") or text.strip().startswith(("*", "\1", "case", "default")):
        return None
    found = [(m, to) for what, to in CHANGES for m in re.finditer(what, text)]
    if not found:
        return None
    m, to = rng.choice(found)
    new = lines[i][:m.start()] + m.expand(to) + (")" if to == "if (!" else "") + lines[i][m.end():]
    if to == "if (!": # around all of the condition
        end, depth = m.end(), 1
        while end < len(text) and depth:
            depth += (text[end] == "(") - (text[end] == ")")
            end += 1
        if depth:
            return None
        new = lines[i][:m.start()] + "if (!(" + lines[i][m.end():end - 1] + "))" + lines[i][end:]
    was, lines[i] = lines[i].strip(), new
    return "\n".join(lines), f"{i + 1}: {was}  ->  {new.strip()}"


def main():
    args = argparse.ArgumentParser()
    args.add_argument("-n", type=int, default=20)
    args.add_argument("-s", type=int, default=random.randrange(1 << 30))
    args.add_argument("-j", default="2")
    args.add_argument("folders", nargs="+", choices=sorted(TESTS))
    o = args.parse_args()
    rng, top, survivors, killed = random.Random(o.s), os.path.dirname(os.path.dirname(os.path.realpath(__file__))), [], 0
    print(f"seed {o.s}", flush=True)
    with tempfile.TemporaryDirectory() as tmp:
        tree = tmp + "/tree"
        subprocess.run(["git", "clone", "-q", top, tree], check=True)
        names = {f: TESTS[f].split() for f in o.folders}
        built = sorted({f"build/tests/{t}.t" for f in o.folders for t in names[f] if t.startswith("unit/")})
        make = ["make", "-s", f"-j{o.j}", "all", "build/tests/ppcat", *built]
        if run(make, tree) != 0:
            sys.exit("the tree does not build")
        while killed + len(survivors) < o.n:
            folder = rng.choice(o.folders)
            path = rng.choice(sorted(glob.glob(f"{tree}/gen/{folder}/*.c")))
            change = mutate(rng, path)
            if not change:
                continue
            old = open(path).read()
            open(path, "w").write(change[0])
            own = re.sub("cmd_|pp_", "", os.path.basename(path)[:-2])
            tests = [f"tests/{kind}/{own}.t" for kind in ("cli", "obj") if os.path.exists(f"{tree}/tests/{kind}/{own}.t")]
            tests += [f"build/tests/{t}.t" if t.startswith("unit/") else f"tests/{t}.t" for t in names[folder]] + os.environ.get("LIVE", "").split()
            needed = make[:4] + [t for t in tests if t.startswith("build/")]
            what = os.path.relpath(path, tree) + ":" + change[1]
            if run(needed + ["build/tests/ppcat"], tree) == 0:
                good = all(run(["tests/prove.sh", f"-j{o.j}", t], tree) == 0 for t in tests)
                killed += not good
                survivors += [what] if good else []
                print(("survives " if good else "killed   ") + what, flush=True)
            open(path, "w").write(old)
    print(f"\n{killed} of {o.n} killed; survivors:", *survivors, sep="\n")


main()
