"""Stacks, one a line with how often or how much, the outermost function first, as flame graphs are drawn from.

The format: FlameGraph's stackcollapse programs. They come from maps that have a stack in their keys, with the strings beside it in
front (`app;main;read`), from the records of -t --stack, each of which counts 1, and from those of --calls.
"""
import functools
import re

import capture
import diag

OFFSET = re.compile(r"(?<=.)\+[0-9]+\Z", re.S)  # read+35 is read
SEPARATORS = str.maketrans({";": ":", "\x7f": " ", **{chr(c): " " for c in range(32)}})
RECORDS = ""  # instead of a map
MOST = (1 << 63) - 1
KNOWN = 20000  # stacks whose lines are remembered


@functools.lru_cache(KNOWN)
def clean_frame(name):
    """Semicolons and control characters would be the format's."""
    return diag.printable(OFFSET.sub("", name).translate(SEPARATORS))


@functools.lru_cache(KNOWN)
def clean_stack(*frames):
    return ";".join(map(clean_frame, reversed(frames)))


def clean(stack):
    """@stack: an array, the innermost function first."""
    return clean_stack(*map(capture.words, stack)) if isinstance(stack, list) else ""


def read_key(key):
    """The line of a key that has a stack in it; else None."""
    if not isinstance(key, list):
        return None
    stacks = [part for part in key if isinstance(part, list)]
    if not stacks:
        return None
    parts = [clean_frame(capture.words(part)) for part in key if not isinstance(part, list)]
    return ";".join(parts + ([clean(stacks[-1])] if stacks[-1] else []))


class Folded:
    def __init__(self, wanted, write):
        self.wanted, self.write = wanted, write
        self.stacks = {}  # the sum of each
        self.maps = {}  # those that they are of, in order
        self.threads = {}  # of --calls: what each has open
        self.has_loss = self.has_calls = False

    def capture(self, first):
        self.has_calls = first.get("script") == "--calls"
        return True

    def count(self, line, name, n):
        self.stacks[line] = min(MOST, self.stacks.get(line, 0) + n)
        self.maps[name] = True

    def record(self, _ns, _cpu, _pid, tid, _comm, _probe, _text, _inside, fields):
        if self.wanted:
            return
        if self.has_calls and fields:
            self.take_call(tid, fields)
        if fields.get("ustack"):
            line = clean(fields["ustack"])
            if line:
                self.count(line, RECORDS, 1)

    def take_call(self, tid, fields):
        """An entry says how deep it is; a return also how long the function itself took."""
        calls = self.threads.setdefault(tid, [])
        depth, self_ns = capture.integer(fields.get("depth")), capture.integer(fields.get("self_ns"))
        if depth is None or not 0 <= depth <= len(calls):
            return
        name = fields.get("function")
        calls[depth:] = [clean_frame(name if isinstance(name, str) else "")]
        if self_ns is None or self_ns < 0:
            return
        self.count(";".join(calls), RECORDS, self_ns)
        calls.pop()

    def other(self, line):
        self.has_loss |= line.lost is not None
        if self.wanted and line.map != self.wanted:
            return
        if not line.map:
            if line.fields:
                self.record(None, line.cpu, line.pid, line.tid, line.comm, line.probe, "", "", line.fields)
            return
        for entry in line.entries:
            if isinstance(entry, dict):
                self.take_entry(line.map, entry)

    def take_entry(self, name, entry):
        stats = entry.get("stats")
        n = capture.integer(stats.get("total") if isinstance(stats, dict) else entry.get("value"))
        line = read_key(entry.get("key"))
        if line and n is not None and n > 0:
            self.count(line, name, n)

    def end(self):
        if len(self.maps) > 1:
            names = ", ".join(diag.printable(name or "the records of --stack") for name in self.maps)
            raise diag.error("more than one map has stacks (%s): choose one with --map" % names)
        if not self.maps and self.wanted:
            raise diag.error("%s has no stacks with counts in this capture" % self.wanted)
        if not self.maps:
            raise diag.error("no stacks with counts in the capture: key a map by ustack or kstack, or use -t --stack")
        if self.has_loss and RECORDS in self.maps:
            diag.warning("events of the capture were lost: their stacks are not counted")
        for line, n in self.stacks.items():
            self.write("%s %d\n" % (line, n))
