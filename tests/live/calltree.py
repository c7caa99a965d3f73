#!/usr/bin/env python3
"""calltree.py text|json|perfetto|folded LOG OUTPUT: is what --calls printed the tree that the program itself has logged (calltree.c)?
Prints what is different, and nothing when it is right."""
import collections
import json
import re
import sys

LINE = re.compile(r"(?P<took> {10}| *[0-9.]+ (?:us|ms|s ))  (?P<thread>\S+\[(?P<tid>\d+)\]) +(?P<call>\S.*)")
ENDS = {
    None: "L",
    "left by longjmp": "J",
    "return not traced: too deep": "D",
    "no return seen": "U",
    "entry not seen": "O",
    "open at the end": "N",
}
UNITS = {"us": 1000, "ms": 1000000, "s": 1000000000}
errors = []


def wrong(text):
    if len(errors) < 20:
        errors.append(text)


def read_log(path):
    """The events of each thread: what, function, ns."""
    threads = collections.defaultdict(list)
    for line in open(path):
        words = line.split()
        if len(words) == 4:
            threads[int(words[1])].append((words[0], words[2], int(words[3])))
    return threads


def read_text(path):
    """The same out of the tree, without times, and how long what is seen to end took."""
    threads, lasted, depth = collections.defaultdict(list), collections.defaultdict(list), collections.Counter()
    for line in open(path):
        if line.startswith("#"):
            continue
        m = LINE.fullmatch(line.rstrip("\n"))
        if not m:
            wrong(f"no line of the tree: {line}")
            continue
        tid, call = int(m["tid"]), m["call"]
        column = m.start("call") - len("  1.234 us  ") - 16 - 2
        marks = re.findall(r"/\* (.*?) \*/", call)
        if call.startswith("}"):
            name, _, end = marks[0].partition(": ")
            if end != "entry not seen":
                depth[tid] -= 1
            events = [(ENDS[end or None], name)]
        else:
            name = call.partition("(")[0]
            is_tail = "tail call" in marks
            events = [("T" if is_tail else "E", name)]
            if f"{name}();" in call:
                events.append((ENDS[(marks[is_tail:] or [None])[0]], name))
        if column != 2 * min(depth[tid], 64):
            wrong(f"it is {depth[tid]} deep, and indented by {column}: {line}")
        if call.rstrip().endswith("{") or " { /*" in call:
            depth[tid] += 1
        took = m["took"].split()
        if events[-1][0] in "LJ":
            lasted[tid].append(float(took[0]) * UNITS[took[1]] if took else None)
        elif took:
            wrong(f"a time of what was not seen to end: {line}")
        threads[tid] += events
    return threads, lasted


def read_json(path):
    threads, lasted, depth = collections.defaultdict(list), collections.defaultdict(list), collections.Counter()
    for line in open(path):
        r = json.loads(line)
        if "fields" not in r:
            continue
        f, tid = r["fields"], r["tid"]
        if r["probe"] == "uprobe:" + f["function"]:
            what = "T" if f.get("tail_call") else "E"
        else:
            what = ENDS[f.get("end")]
            depth[tid] -= 1
        if f["depth"] != depth[tid]:
            wrong(f"it is {depth[tid]} deep: {line}")
        depth[tid] += what in "ET"
        threads[tid].append((what, f["function"]))
        if what in "LJ":
            lasted[tid].append(f["duration_ns"])
    return threads, lasted


def compare(log, got, lasted, without=""):
    for tid in sorted(set(log) | set(got)):
        want = [e[:2] for e in log[tid] if e[0] not in without]
        if want != got[tid]:
            n = next((i for i, (a, b) in enumerate(zip(want, got[tid])) if a != b), min(len(want), len(got[tid])))
            wrong(f"thread {tid}, event {n} of {len(want)}: {want[n:n + 3]} is {got[tid][n:n + 3]}, behind {want[max(0, n - 3):n]}")
    # What the program measured is within what the probes did, which is not much longer.
    more = []
    for tid in log:
        times, opened = iter(lasted[tid]), []
        for what, _, ns in log[tid]:
            if what in "ET":
                opened.append(ns)
            elif what in "LJ" and opened:
                took = next(times, None)
                if took is None or took < ns - opened[-1] - 1500:
                    wrong(f"thread {tid}: {took} ns is less than {ns - opened[-1]}")
                else:
                    more.append(took - (ns - opened[-1]))
            if what in "LJDU":
                opened.pop()
    if more and sorted(more)[len(more) // 2] > 1000000:
        wrong(f"calls take {sorted(more)[len(more) // 2]} ns longer than the program says")


def walk(log):
    """What the program says of each call: the functions that it is in, and itself."""
    for tid, events in log.items():
        opened = []
        for what, name, _ in events:
            if what in "ET":
                opened.append(name)
                yield tid, tuple(opened)
            elif what in "LJDUN":
                opened.pop()


def check_perfetto(log, path):
    slices = collections.defaultdict(list)
    for e in json.load(open(path))["traceEvents"]:
        if e["ph"] == "X":
            slices[e["tid"]].append((round(e["ts"] * 1000), -round((e["ts"] + e["dur"]) * 1000), e["args"]["depth"], e["name"]))
        elif e["ph"] in "bBi":
            wrong(f"not a slice within others: {e}")
    got = collections.Counter()
    for tid, those in slices.items():
        opened = []
        for begin, end, deep, name in sorted(those):
            while opened and -opened[-1][0] <= begin and len(opened) > deep:
                opened.pop()
            if len(opened) != deep or (opened and opened[-1][0] > end):
                wrong(f"thread {tid}: {name} at {begin} is not within {opened}")
            opened.append((end, name))
            got[tid, tuple(o[1] for o in opened)] += 1
    if got != collections.Counter(walk(log)):
        wrong(f"slices: {list((collections.Counter(walk(log)) - got).items())[:5]} are missing")


def check_folded(log, path):
    got = {}
    for line in open(path):
        stack, _, n = line.rpartition(" ")
        got[tuple(stack.split(";"))] = int(n)
    want = {stack for _, stack in walk(log)}
    if set(got) != want:
        wrong(f"stacks: {list(want - set(got))[:3]} are missing, {list(set(got) - want)[:3]} too many")


def main():
    form, log, output = sys.argv[1:]
    log = read_log(log)
    if form == "text":
        compare(log, *read_text(output))
    elif form == "json":
        compare(log, *read_json(output), without="O")
    elif form == "perfetto":
        check_perfetto(log, output)
    else:
        check_folded(log, output)
    print("\n".join(errors), end="\n" if errors else "")


main()
