#!/usr/bin/env python3
"""Compares the sample output in a script's header with what the script printed in a run.

    sample.py [-x REGEX]... SCRIPT.bt TRACE...     complains about lines of the sample that the run did not print

Two lines have the same shape when they differ in numbers only: stamps, PIDs, addresses, counts. Words must be the same,
so a sample is taken from a run of the script's test, and a printf that changes makes its sample wrong. Beyond that
  - rows of a histogram have one shape: a map of the sample that has some must have some in the run;
  - frames of a stack have one shape: the functions of the C library are not the same everywhere;
  - private folders of tests are /tmp.
"..." stands for what was left out. Lines that match an -x REGEX may be missing, because that run cannot print them; an -x
that no line of the sample matches is complained about.
"""
import re
import sys

ROW = re.compile(r"[\[(][^|]*[\])] +\d+ +\|[@ ]*\|$")
FRAME = re.compile(r"\S.*\+\d+$|0(x[0-9a-f]+)?$")


def shapes(lines):
    """The (line, shape) of each line; what continues an entry of a map has the entry's name in its shape."""
    head = in_key = None
    for line in lines:
        line = line.strip()
        if in_key and line.startswith("]:"):
            in_key = False
            shape = f"{head} ... {line}"
        elif in_key and FRAME.match(line):
            shape = f"{head} a frame"
        elif head and ROW.match(line):
            shape = f"{head} a row"
        else:
            shape = line
            head = line if line.startswith("@") else None
            in_key = head is not None and "]:" not in line and re.match(r"@\w+\[", line)
        shape = re.sub(r"/[^ ,()\]]*btgen-test\.\w+", "/tmp", shape)
        shape = re.sub(r"0x[0-9a-f]+", "X", shape)
        shape = re.sub(r"-?\d+(\.\d+)?", "N", shape)
        if line:
            yield line, re.sub(r"\s+", " ", shape)


def sample_of(script):
    """The lines of the sample in a script's header."""
    inside = False
    with open(script, encoding="utf-8") as f:
        for line in f:
            if line.startswith(" */"):
                break
            line = re.sub(r"^ \* ?", "", line.rstrip("\n"))
            if re.match(r"[A-Z]", line):
                inside = line.startswith("SAMPLE OUTPUT")
            elif inside and line.strip() != "...":
                yield line


def complaints(script, printed, may_miss=()):
    """What is wrong with the sample of a script, given the lines that it printed."""
    have = {shape for _, shape in shapes(printed)}
    found = 0
    said = set()
    used = set()
    for line, shape in shapes(sample_of(script)):
        excuses = [regex for regex in may_miss if re.search(regex, line)]
        used.update(excuses)
        if shape in have:
            found += 1
        elif not excuses and shape not in said:
            said.add(shape)
            yield f"the run printed nothing like: {line}"
    for regex in may_miss:
        if regex not in used:
            yield f"no line of the sample matches {regex}"
    if not found and not said:
        yield "the run printed no line of the sample"


def main():
    may_miss = []
    words = sys.argv[1:]
    while words[:1] == ["-x"]:
        may_miss.append(words[1])
        words = words[2:]
    if len(words) < 2:
        sys.exit(__doc__)
    printed = []
    for name in words[1:]:
        with open(name, encoding="utf-8", errors="replace") as f:
            printed += f.read().splitlines()
    for line in complaints(words[0], printed, may_miss):
        print(line)


if __name__ == "__main__":
    main()
