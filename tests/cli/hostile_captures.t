#!/usr/bin/env python3
"""Captures that are cut and damaged, into each format: an error is one line of diag.py, never a traceback; what is written is
whole; and it is the same whether the capture comes in one piece or in several."""
import json
import os
import random
import re
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.dont_write_bytecode = True
sys.path.insert(0, TOP + "/scripts/python")
import diag

diag.main = lambda run, argv: None
import capture
import convert

said = []
diag.write_stderr = said.append
SEEDS = [line.strip() for line in open(TOP + "/docs/records.md") if line.startswith('    {"')] + open(TOP + "/tests/cli/hostile.json").read().splitlines()
WORDS = [b"{", b"}", b"[", b"]", b'"', b",", b":", b"\\", b"null", b"-1", b"1e999", b"9" * 30, b'"\\ud800"', b"\xff", b"\0", b"\n", b'"key": [["f", 1]]', b'"traceparent"', b'"end": "x"']


def run(form, wanted, data, piece):
    """(was it converted, the result)"""
    del said[:]
    out = []
    target = convert.make_target(form, wanted, out.append)
    reader = capture.Reader(target, "x")
    try:
        for at in range(0, len(data), piece):
            reader.take(data[at:at + piece])
        reader.end()
        target.end()
        good = True
    except diag.Failed:
        good = False
    return good, "".join(out).encode("utf-8", "halves").decode("utf-8")


def is_right(form, text):
    if form == "folded":
        return all(re.search(r"[^ ]* [0-9]+$", line) for line in text.split("\n")[:-1])
    for document in [text] if form == "perfetto" else text.split("\n")[:-1]:
        json.loads(document, parse_constant=int)  # NaN is none of JSON
    return True


def try_one(data):
    for form, wanted in (("perfetto", None), ("otlp", None), ("folded", None), ("folded", "@s")):
        good, text = run(form, wanted, data, len(data) or 1)
        if good and not is_right(form, text):
            raise ValueError("wrong: %s" % text[:300])
        if not good and sum(": error: " in line for line in said) != 1:
            raise ValueError("errors: %s" % said)
        if any(line.count("\n") != 1 or re.search("[\0-\x09\x0b-\x1f\x7f]", line) for line in said):
            raise ValueError("messages: %s" % said)
        if (good, text) != run(form, wanted, data, 1 + random.randrange(100)):
            raise ValueError("other in pieces")


def damaged():
    """Bytes, again and again others."""
    whole = "\n".join(SEEDS).encode() + b"\n"
    for n in range(16):
        yield whole[:len(whole) * (n + 1) // 16]
    for i in range(0, len(SEEDS), 2):
        yield "\n".join(SEEDS[i:i + 2]).encode()
    while True:
        data = "\n".join(random.sample(SEEDS, random.randrange(1, 8))).encode() + b"\n"
        for _ in range(random.randrange(1, 6)):
            i = random.randrange(len(data))
            data = data[:i] + random.choice(WORDS + [b"", data[i:i + 50]]) + data[i + random.randrange(8):]
        yield data


random.seed(int(os.environ.get("SEED", 1)))
n_failed = 0
for n, data in zip(range(int(os.environ.get("TRIES", 1500))), damaged()):
    try:
        try_one(data)
    except Exception as error:  # whatever it is, it is a bug
        n_failed += 1
        print("# %r: %s\n#   %r" % (type(error), str(error)[:300], data[:1500]))
print("%sok 1 - hostile captures: each is converted or refused by one error" % ("not " if n_failed else ""))
print("1..1")
sys.exit(n_failed > 0)
