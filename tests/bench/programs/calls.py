"""Does one kind of work N times for each line with an N that it reads, then says "done": calls.py KIND.

call: a function that does nothing; gc: a collection of the youngest objects, of which there are none.
"""
import gc
import sys


def nothing():
    pass


def call(n):
    for _ in range(n):
        nothing()


def collect(n):
    for _ in range(n):
        gc.collect(0)


gc.disable()
work = {"call": call, "gc": collect}[sys.argv[1]]
if work is call:
    sys.setprofile(slice) # 3.11 fires its function probes only then
for line in sys.stdin:
    work(int(line))
    print("done", flush=True)
