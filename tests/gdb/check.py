#!/usr/bin/env python3
"""The judge of variables at lines: what btgen reads is what gdb shows and what the program itself has logged, or is refused.

	tests/gdb/check.py [--seed N] [--places N] [--only WORD] [--show]

Writes programs by seed (generate.py) and compares some lines of each build with gdb (variables.py). Prints what differs, why variables
are refused, and a table (several: refused at a line of several places, where one of them does not have it): exit status 1 if any
value was wrong. Needs root, gdb, gcc and clang. The system's bpftrace, or that of trixie where it cannot attach inside of functions.
"""
import argparse
import collections
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

import generate
import variables

LEVELS = [["-O0"], ["-Os"], ["-O2"], ["-O2", "-flto"]]
COMPILERS = {"c": ["gcc", "clang"], "cpp": ["g++", "clang++"]}


def builds():
    n = 0
    for language, compilers in COMPILERS.items():
        for compiler in compilers:
            for level in LEVELS:
                if shutil.which(compiler) and not (compiler.startswith("clang") and "-flto" in level and not shutil.which("ld.lld")):
                    yield language, compiler, level + ["-gdwarf-%d" % (4 if n % 3 == 2 else 5)]
                    n += 1


def build(folder, language, compiler, flags):
    linker = ["-fuse-ld=lld"] if compiler.startswith("clang") and "-flto" in flags else []
    source, program, log = (os.path.join(folder, name) for name in ("main." + language, "prog", "log"))
    subprocess.run([compiler, "-w", "-g", *flags, *linker, "-o", program, source], check=True)
    subprocess.run([compiler, "-w", "-DLOG", "-o", program + ".log", source], check=True)
    with open(log, "w") as f:
        subprocess.run([program + ".log"], stdout=f, check=True)
    return program, log


def find_bpftrace():
    """The folder of one that attaches to lines, which 0.17 does not; None: there is none, and why is printed."""
    path = shutil.which("bpftrace")
    version = re.search(r"v0\.(\d+)", subprocess.run([path, "--version"], capture_output=True, text=True).stdout) if path else None
    if not version or int(version[1]) < 20:
        install = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../matrix/install.sh")
        done = subprocess.run([install, "trixie"], stdout=subprocess.PIPE, text=True)
        path = done.stdout.split("\n")[0] if done.returncode == 0 else None
    if not path:
        print("# SKIP check-gdb: the system's bpftrace attaches to no lines, and a newer one cannot be had here (see above)")
    return path and os.path.dirname(path)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--btgen", default=os.path.join(os.environ.get("BTGEN_BUILD", "build"), "btgen"))
    p.add_argument("--seed", type=int, help="else one that is printed")
    p.add_argument("--places", type=int, default=30)
    p.add_argument("--only", default="", help="builds with this in their name")
    p.add_argument("--show", action="store_true", help="name what is refused")
    o = p.parse_args()
    folder = find_bpftrace()
    if not folder:
        return 0
    os.environ["PATH"] = folder + ":" + os.environ["PATH"]
    o.seed = random.randrange(1, 1 << 20) if o.seed is None else o.seed
    print(f"--seed {o.seed}")
    rows, reasons = [], collections.Counter()
    for i, (language, compiler, flags) in enumerate(builds()):
        name = " ".join([compiler] + flags)
        if o.only not in name:
            continue
        print(name, flush=True)
        with tempfile.TemporaryDirectory() as folder:
            generate.Writer(language, o.seed + i).write(folder)
            program, log = build(folder, language, compiler, flags)
            args = ["--btgen", o.btgen, "--lines", r"^(main\.|one\.h|two\.h)", "--log", log, "--sources", folder, "--places", str(o.places), "--seed", str(o.seed)]
            judge = variables.judge(variables.options().parse_args(args + (["--show"] if o.show else []) + [program]))
        rows.append((name, judge.count))
        reasons.update(judge.reasons)
    rows.append(("all", sum((c for _, c in rows), collections.Counter())))
    print("\n%-28s %6s %8s %8s %6s %5s" % ("build", "same", "refused", "several", "wrong", "read"))
    for name, c in rows:
        same, asked = c["compared"] - c["wrong"], max(c["compared"] + c["refused"], 1)
        print("%-28s %6d %8d %8d %6d %4d%%" % (name, same, c["refused"], c["refused at several"], c["wrong"], 100 * same // asked))
    for why, n in reasons.most_common():
        print("refused %5d: %s" % (n, why))
    empty = [name for name, c in rows if not c["compared"]]
    if empty:
        print("nothing was compared: " + ", ".join(empty))
    return bool(empty) or rows[-1][1]["wrong"] > 0


if __name__ == "__main__":
    sys.exit(main())
