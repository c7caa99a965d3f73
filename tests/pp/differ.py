#!/usr/bin/env python3
"""differ.py PPCAT FOLDER COUNT SEED: random macro programs through gcc -E -P and through btgen's preprocessor.

Both must refuse a program, or both take it and give the same tokens. Blanks inside strings made by # do not
count here (tests/pp/cases has those): after a macro that expands to nothing gcc's own rule has corners.
Programs that differ stay in FOLDER. Prints how many were taken, refused and different; status 1 for any of those.
"""
import os
import random
import re
import subprocess
import sys

from tokens import tokens

NAMES = list("ABCDfghkvw")
WORDS = ["+", "-", "1", "x", "y", '"s"', "'c'", ".", "<", ">", "=", "&", "|", "/", "*", "[", "]", "%", ":", "?"]
ODDS = ["x", "1", '"q\\n"', "+", "-", "(a,b)", ".", "@"]
GAPS = ["", " ", " ", " ", "\n", "/*c*/"]


class Program:
    def __init__(self, rng):
        self.rng = rng
        self.arity = {}  # of function-like macros: parameters, and whether the last one is variable

    def call(self, depth=0):
        rng = self.rng
        name = rng.choice(NAMES)
        if rng.random() < 0.2:
            return name
        count, variable = self.arity.get(name, (0, False))
        if variable:
            count += rng.choice([-1, 0, 0, 1, 2])
        if rng.random() < 0.02:
            count += 1
        args = []
        for _ in range(max(count, 0)):
            arg = ""
            for _ in range(rng.randint(0, 3)):
                dice = rng.random()
                if dice < 0.35 and depth < 3:
                    arg += self.call(depth + 1)
                else:
                    arg += rng.choice(NAMES if dice < 0.7 else ODDS)
                arg += rng.choice(GAPS)
            args.append(arg)
        return name + rng.choice(["", "", " "]) + "(" + ",".join(args) + ")"

    def body(self, params, function, variable):
        rng = self.rng
        out = []
        length = rng.randint(0, 6)
        for i in range(length):
            dice = rng.random()
            if dice < 0.3 and params:
                word = rng.choice(params)
            elif dice < 0.55:
                word = rng.choice(NAMES)
            elif dice < 0.62 and function and params:
                word = "#" + rng.choice(["", " "]) + rng.choice(params)
            elif dice < 0.75 and out and i < length - 1 and re.match(r"^[A-Za-z_]\w*$", out[-2]):
                out += ["## ", ""]
                word = rng.choice(NAMES + params + ["1", "x"])
            elif dice < 0.80:
                word = self.call(2).replace("\n", " ")
            elif dice < 0.86 and variable:
                word = ", ##" + params[-1]
            elif dice < 0.88:
                word = "__COUNTER__"
            else:
                word = rng.choice(WORDS)
            out += [word, rng.choice(["", " ", " "])]
        return "".join(out).strip()

    def text(self):
        rng = self.rng
        lines = []
        for name in NAMES:
            if rng.random() < 0.15:
                continue
            if rng.random() < 0.4:
                lines.append("#define %s %s" % (name, self.body([], False, False)))
                continue
            shown = rng.sample(["a", "b", "c", "x"], rng.randint(0, 2))
            params = list(shown)
            variable = rng.random() < 0.3
            if variable and rng.random() < 0.3:
                shown.append("r...")
                params.append("r")
            elif variable:
                shown.append("...")
                params.append("__VA_ARGS__")
            self.arity[name] = (len(params), variable)
            lines.append("#define %s(%s) %s" % (name, ",".join(shown), self.body(params, True, variable)))
        lines.append("#define STR(...) STR1(__VA_ARGS__)\n#define STR1(...) #__VA_ARGS__")
        for _ in range(4):
            before = rng.choice(["", "-", "STR(", "STR( -"])
            after = rng.choice(["", "(1)", "(2)(3)", ")", rng.choice(NAMES)])
            lines.append(before + self.call() + rng.choice(["", " "]) + after + (")" if before[:1] == "S" else ""))
            if rng.random() < 0.2:
                lines.append("#undef " + rng.choice(NAMES))
        return "\n".join(lines) + "\n"


def squeezed(text):
    return [re.sub(r"\s+", "", t) if t[0] == '"' else t for t in tokens(text)]


def run(command):
    return subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)


def main():
    ppcat, folder, count, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    taken = refused = different = 0
    for i in range(count):
        path = os.path.join(folder, "%d-%d.c" % (seed, i))
        with open(path, "w", encoding="ascii") as f:
            f.write(Program(random.Random(seed * 1000003 + i)).text())
        want = run(["gcc", "-E", "-P", "-undef", "-x", "c", path])
        got = run([ppcat, "-w", path])
        if got.returncode not in (0, 1) or (got.returncode == 0) != (want.returncode == 0):
            print("# %s: gcc's status is %d, ours %d" % (path, want.returncode, got.returncode))
            print("# " + (want.stderr + got.stderr)[:400].replace("\n", "\n# "))
            different += 1
            continue
        if got.returncode == 0 and squeezed(got.stdout) != squeezed(want.stdout):
            print("# %s:\n#   got  %s\n#   want %s" % (path, " ".join(tokens(got.stdout)), " ".join(tokens(want.stdout))))
            different += 1
            continue
        taken += got.returncode == 0
        refused += got.returncode != 0
        os.unlink(path)
    print("%d taken, %d refused, %d different" % (taken, refused, different))
    return 1 if different or not taken else 0


if __name__ == "__main__":
    sys.exit(main())
