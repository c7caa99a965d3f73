#!/usr/bin/env python3
"""Compares what two programs printed that traced the same events: bpftrace.sh's script, and bare bpftrace.

    equal.py [-t MAP]... [-m REGEX]... [-u] OURS BARE

Says how many lines are equal, or fails and shows the difference. Stamps and durations are not compared, as each program reads
the clock for itself; of a map whose name matches a regular expression MAP, values are not, and of its histograms only how many
values there are. What matches a REGEX of -m is X. A caller that only bpftrace.sh's stacks have, between a function's entry and its
caller's caller, is left away (stacks.t compares it with gdb's). The entries of a map come in any order, as bpftrace's own do; everything else in the order of the
events (-u: in any, for a target on several processors).
"""
import argparse
import difflib
import re
import sys

DURATION = [
    (re.compile(r"^\d+\.\d{6}: "), "T: "),
    (re.compile(r"\b\d+ us\b"), "N us"),
    (re.compile(r"\b\d+ of them to map\b"), "N of them to map"),
    (re.compile(r"\b\d+\.\d{3} ms\b"), "N ms"),
    (re.compile(r"\b\d+\.\d{6} s\b"), "N s"),
]
# Names of functions are more than bare bpftrace's: see btgen-template(5). Of a C library with debug information bpftrace takes
# the one for its own calls.
NAME = re.compile(r" \([^ ()]+\.\w+:\d+\)|@@?[A-Z]+_[0-9.]+|\b__GI_")
ROW = re.compile(r"^[\[(][^|]*[\])] +(\d+) +\|[@ ]*\|$")
NOISE = re.compile(r"^(Attaching \d+ probes?\.\.\.|)$")


def continues(entry, line):
    """Does @line belong to the entry of a map that these lines begin? A key that has a stack takes several lines."""
    if "[" in entry[0] and not any(re.search(r"\]:( |$)", e) for e in entry):
        return True
    return ROW.match(line) or line.startswith("    ")


def pieces(path):
    """What was printed, as (map or None, text): an entry of a map is one piece, with its histogram or its stack."""
    entry = []
    for line in [l.rstrip("\n") for l in open(path, encoding="utf-8", errors="backslashreplace")] + [None]:
        if entry and line is not None and continues(entry, line):
            entry.append(line)
            continue
        if entry:
            yield re.match(r"@\w*", entry[0])[0], "\n".join(entry)
            entry = []
        if line is None or NOISE.match(line):
            continue
        if re.match(r"@\w*(\[|:)", line):
            entry = [line]
        else:
            yield None, line


def masked(name, text, times):
    if name is None:
        for regex, to in DURATION:
            text = regex.sub(to, text)
        return text
    text = NAME.sub("", text)
    if not any(re.fullmatch(t, name[1:]) for t in times):
        return text
    rows = [ROW.match(line) for line in text.split("\n")]
    if any(rows):
        lines = text.split("\n")
        keep = [line for line, row in zip(lines, rows) if not row]
        return "\n".join(keep + [f"{sum(int(r[1]) for r in rows if r)} values"])
    return re.sub(r": -?\d+$", ": N", text)


def without_caller(text, keys):
    """An entry of bpftrace.sh's as bare bpftrace prints it, which has these @keys."""
    lines = text.split("\n")
    frames = [i for i, line in enumerate(lines) if line.startswith("    ")]
    if text.rpartition(": ")[0] not in keys and len(frames) > 1 and lines[frames[0]].endswith("+0"):
        del lines[frames[1]]
    return "\n".join(lines)


def summed(entries):
    """0.23 and 0.27 may have two entries for one function: keys that are printed alike are one."""
    sums = {}
    for text in entries:
        key, _, value = text.rpartition(": ")
        number = re.fullmatch(r"-?\d+", value) and "\n" not in value
        key = key if number else text
        sums[key] = sums.get(key, 0) + int(value) if number else None
    return sorted(k if v is None else f"{k}: {v}" for k, v in sums.items())


def canonical(path, times, unordered, keys=None):
    out, entries, last = [], [], None
    for name, text in pieces(path):
        if name != last or name is None:
            out += summed(entries)
            entries = []
        last = name
        text = masked(name, text, times)
        (entries if name else out).append(without_caller(text, keys) if name and keys else text)
    out += summed(entries)
    if unordered:
        out.sort()
    return "\n".join(out).split("\n") if out else []


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-t", "--time", action="append", default=[])
    parser.add_argument("-m", "--mask", action="append", default=[])
    parser.add_argument("-u", "--unordered", action="store_true")
    parser.add_argument("ours")
    parser.add_argument("bare")
    args = parser.parse_args()
    DURATION.extend((re.compile(m), "X") for m in args.mask)
    bare = canonical(args.bare, args.time, args.unordered)
    keys = {masked(name, text, args.time).rpartition(": ")[0] for name, text in pieces(args.bare) if name}
    ours = canonical(args.ours, args.time, args.unordered, keys)
    if ours == bare and ours:
        print(f"{len(ours)} lines are those of the expanded program under bare bpftrace")
        sys.exit(0)
    print(f"{len(ours)} lines, bare bpftrace has {len(bare)}")
    for i, line in enumerate(difflib.unified_diff(bare, ours, "bare", "bpftrace.sh", lineterm="", n=1)):
        if i == 40:
            break
        print(line)
    sys.exit(1)


main()
