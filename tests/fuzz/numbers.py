#!/usr/bin/env python3
"""Random expressions of narrow numbers against C: what tests/live/numbers.t does for a fixed list, for seconds, as root.

    tests/fuzz/numbers.py [--seed N] [--seconds N] [--rows N] FOLDER

Makes programs and scripts of random expressions, 2 to 5 operators deep, of the parts of tests/live/numbermodel.py: members, elements,
arguments, what was kept in variables, maps and tuples, casts, conditions, choices. A wrong value is made as short as it can be while it
stays wrong, and printed with the script's line; so is a script that bpftrace refuses. $BTGEN_BPFTRACE is the bpftrace, else the system's.
Each round is made from a seed of its own: --seed with the number that was printed does it again. FOLDER keeps the last round's files.
"""
import argparse
import os
import random
import re
import sys
import time

from expressions import COST_OF_CLAUSE, DIVISIONS, HELPERS, TRUTHS, Bench, Maker, Node, Refused, Row, random_types, version_of_bpftrace
from numbermodel import program

ROUNDS_TO_SHORTEN, REFUSALS_TO_SHORTEN = 30, 40
COST_THAT_MAY_BE_REFUSED = 12


def script_of(rows):
    out, cost = [], COST_OF_CLAUSE
    for r in (r for r in rows if r.use != "filter"):
        cost += r.node.cost() + 2
        if cost > COST_OF_CLAUSE:
            out += ["}"] * bool(out) + ["usdt:__EXE__:numbers:all {", "\t$p = args.p; $q = args.q;"]
            cost = r.node.cost() + 2
        out += ["\t" + line for line in r.lines]
    return "\n".join(out + ["}"] * bool(out) + [line for r in rows if r.use == "filter" for line in r.lines]) + "\n"


def values_of(text):
    """What a trace printed: {row: value}."""
    found = dict(re.findall(r"^(\d+) (-?\d+)$", text, re.M))
    found.update(re.findall(r"^@key_(\d+)\[(-?\d+)\]: 1$", text, re.M))
    found.update(re.findall(r"^@sum_(\d+): (-?\d+)$", text, re.M))
    return found


class Rows(Bench):
    """Programs of rows."""

    def __init__(self, folder, types):
        super().__init__(folder)
        self.types = types

    def wrong(self, rows):
        """Rows whose value is not C's: [(row, want, got)], those that are refused: [(row, why)], and how many were compared.

        What C leaves open, as a division by a constant 0, a compiler may refuse, or end the clause with it: then the others are
        run again without it.
        """
        self.build(program("".join(r.c for r in rows), HELPERS, self.types))
        try:
            want, got = map(values_of, self.trace(script_of(rows)))
        except Refused as why:
            if len(rows) == 1:
                return [], [(rows[0], str(why))] * bool(values_of(self.answers())), 0
            halves = [self.wrong(half) for half in (rows[:len(rows) // 2], rows[len(rows) // 2:])]
            return tuple(x + y for x, y in zip(*halves))
        bad = []
        for r in rows:
            w, g = want.get(str(r.ident)), got.get(str(r.ident), "0" if r.use == "filter" else None)
            if w is not None and w != g:
                bad.append((r, w, g))
        closed = [r for r in rows if str(r.ident) in want]
        return self.wrong(closed) if bad and len(closed) < len(rows) else (bad, [], len(want))


def shorter(n):
    """Expressions that have one thing less than @n."""
    for k in n.kids:
        yield k
    if n.kind == "leaf" and n.what[0] != "member":
        yield Node("leaf", ("member",) + n.what[1:])
    if n.kind in ("leaf", "number") and (n.kind == "leaf" or n.what != 1):
        yield Node("number", 1)
    for i, k in enumerate(n.kids):
        for s in shorter(k):
            made = Node(n.kind, n.what, *(n.kids[:i] + [s] + n.kids[i + 1:]))
            op = made.what[1] if made.kind == "step" else made.what
            if op in DIVISIONS and made.kids[1].is_constant() and made.kids[1].what in (0, "!", *TRUTHS):
                continue
            if made.kind == "step" and (made.kids[0].is_truth() or made.kids[0].is_constant()):
                continue
            if made.kind not in ("choice", "step") or made.kids[-1].is_unsigned() == made.kids[-2].is_unsigned():
                yield made


def shorten_wrong(bench, found):
    """The row in its shortest form that is wrong still: all that are one step shorter are tried at once."""
    for _ in range(ROUNDS_TO_SHORTEN):
        row = found[0]
        uses = ["number"] if row.use == "number" else ["number", row.use]
        made = [(n, use) for use in uses for n in ([row.node] if use != row.use else []) + list(shorter(row.node))]
        bad, _refused, _n = bench.wrong([Row(i, *m) for i, m in enumerate(made[:300])])
        if not bad:
            break
        found = min(bad, key=lambda b: b[0].node.size)
    return found


def shorten_refused(bench, row, why):
    """The row in a shorter form that is refused still."""
    candidates = list(shorter(row.node))
    for _ in range(REFUSALS_TO_SHORTEN):
        if not candidates:
            break
        _bad, refused, _n = bench.wrong([Row(0, candidates.pop(0), row.use)])
        if refused:
            row, why = refused[0]
            candidates = list(shorter(row.node))
    return row, why


def round_of(seed, n_rows, folder, version):
    """One program and its script. How many rows were compared, how many refused, and a report for each that is wrong."""
    rng = random.Random(seed)
    bench = Rows(folder, random_types(rng))
    maker = Maker(rng, version)
    rows = [Row(i, *maker.row()) for i in range(n_rows)]
    bad, refused, n = bench.wrong(rows)
    reports = []
    for found in sorted(bad, key=lambda b: b[0].node.size)[:3]:
        row, want, got = shorten_wrong(bench, found)
        values = ", ".join(f"{w}->{t} = {v}" for t, _d, p, q in bench.types for w, v in (("p", p), ("q", q)) if f"{w}->{t})" in row.c)
        reports.append(f"wrong: {got}, not {want}: {' '.join(row.lines)}\n\t{values}\n\tC: {row.c.strip()}")
    for row, why in [r for r in refused if r[0].node.cost() <= COST_THAT_MAY_BE_REFUSED][:2]:
        row, why = shorten_refused(bench, row, why)
        reports.append(f"refused: {' | '.join(why.splitlines()[:4])}\n\t{' '.join(row.lines)}")
    return n, len(refused), reports + ([f"... and {len(bad) - 3} more"] if len(bad) > 3 else [])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--seed", type=int, help="of one round, as printed; else rounds with others")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--rows", type=int, default=160, help="of a round")
    a = parser.parse_args()
    os.makedirs(a.folder, exist_ok=True)
    name, version = version_of_bpftrace()
    end, n, refused, rounds, failed = time.time() + a.seconds, 0, 0, 0, 0
    while not rounds or (a.seed is None and time.time() < end):
        seed = a.seed if a.seed is not None else random.SystemRandom().randrange(2 ** 32)
        compared, too_long, reports = round_of(seed, a.rows, a.folder, version)
        n, refused, rounds, failed = n + compared, refused + too_long, rounds + 1, failed + len(reports)
        for report in reports:
            print(f"{name}, seed {seed}: {report}", flush=True)
    print(f"{name}: {n} values of {rounds} programs compared, {refused} refused, {failed} reports", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
