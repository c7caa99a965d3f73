#!/usr/bin/env python3
"""Every word of gen/lang/vocabulary.c has its row in tests/words.txt, and the test that the row names has the word.

    python3 tests/words.py          lists what is missing; part of make lint

A row is `WORD TEST`: the test, below tests/, that compares what the word gives with another oracle than btgen; `-` where there is
none, which the manual has to list. A new word needs a test.
"""
import os
import re
import sys

TESTS = os.path.dirname(os.path.abspath(__file__))
MANUAL = ("..", "docs", "man", "btgen-template.5")  # lists the rows with `-`, between these two lines
BEGIN, END = ".\\\" words that are passed through", ".\\\" end"


def read(*path):
    with open(os.path.join(TESTS, *path), encoding="utf-8") as f:
        return f.read()


def vocabulary():
    text = read("..", "gen", "lang", "vocabulary.c")
    tables = re.findall(r"(?:providers|words)\[\] = \{\n(.*?)\n\};", text, re.S)
    return {word for table in tables for word in re.findall(r'^\t\{"(\w+)"', table, re.M)}


def problems():
    rows = [line.split() for line in read("words.txt").splitlines() if line and line[0] != "#"]
    known, claimed = vocabulary(), {row[0] for row in rows}
    for word in sorted(known - claimed):
        yield f"tests/words.txt: {word} has no row: name the test that compares what it gives"
    for word in sorted(claimed - known):
        yield f"tests/words.txt: {word} is no word of gen/lang/vocabulary.c"
    for word, test in rows:
        if test != "-" and not os.path.exists(os.path.join(TESTS, test)):
            yield f"tests/words.txt: {word}: there is no tests/{test}"
        elif test != "-" and not re.search(rf"\b{word}\b", read(test)):
            yield f"tests/words.txt: {word} is not in tests/{test}"
    without = {word for word, test in rows if test == "-"}
    listed = set(re.findall(r"\w+", read(*MANUAL).partition(BEGIN)[2].partition(END)[0].replace(".Ql", "")))
    for word in sorted(without ^ listed):
        yield f"docs/man/btgen-template.5: {word} has " + ("no test: list it" if word in without else "a test: do not list it")


if __name__ == "__main__":
    found = list(problems())
    print("\n".join(found), end="\n" * bool(found))
    sys.exit(bool(found))
