#!/usr/bin/env python3
"""Measures commands next to each other: CPU of the whole process tree, elapsed time, peak memory.

    timeit.py [-n ROUNDS] LABEL COMMAND ARG... [--- LABEL COMMAND ARG...]...

Each command runs once to warm the caches, then in turns with the others, ROUNDS times; the medians are
printed, and how much more CPU each took than the first. CPU is user and system time of the command and of
all children it waited for (getrusage); memory below that of this script (some 10 MB) is not seen. Output of the
commands is thrown away; one that fails is named with its last line and ends with status 1.
"""
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time


def run(argv):
    """One run: (CPU seconds, elapsed seconds, peak MB), or an exit with the command's message."""
    with tempfile.TemporaryFile() as err:
        begin = time.monotonic()
        child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=err)
        _, status, usage = os.wait4(child.pid, 0)
        elapsed = time.monotonic() - begin
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            err.seek(0)
            lines = err.read().decode(errors="replace").strip().splitlines() or ["no message"]
            sys.exit(f"{argv[0]}: status {child.returncode}: {lines[-1]}")
    return usage.ru_utime + usage.ru_stime, elapsed, usage.ru_maxrss / 1024


def main():
    words = sys.argv[1:]
    rounds = 7
    if words[:1] == ["-n"]:
        rounds = int(words[1])
        words = words[2:]
    commands = [[]]
    for word in words:
        if word == "---":
            commands.append([])
        else:
            commands[-1].append(word)
    if any(len(c) < 2 for c in commands):
        sys.exit(__doc__)

    samples = [[] for _ in commands]
    for turn in range(rounds + 1):
        # In another order each time: who comes behind a large program finds the caches cold.
        for i in random.sample(range(len(commands)), len(commands)):
            sample = run(commands[i][1:])
            if turn:
                samples[i].append(sample)
    first = None
    for command, taken in zip(commands, samples):
        cpu, elapsed, memory = (statistics.median(column) for column in zip(*taken))
        first = cpu if first is None else first
        ratio = f"{cpu / first:7.2f} x" if first > 0 else "        -"
        print(f"  {command[0]:<44} {cpu * 1000:9.1f} ms {elapsed * 1000:9.1f} ms {memory:7.0f} MB {ratio}")


main()
