#!/usr/bin/env python3
"""A row of overhead.sh: overhead.py EVENT N WARM PER FILE.

FILE has a line for each round: nanoseconds of the work without the script and with it, events in the script's output,
nanoseconds of the tracer, and, if it has one, of the trace by its own account. The work, which is done N times, has N times PER events; PER 0: as many as the output has; -1: N,
and none in the output. The output also has those of WARM times the work, which was not measured.
"""
import statistics
import sys

event, (n, warm, per), path = sys.argv[1], map(int, sys.argv[2:5]), sys.argv[5]
part = n / (n + warm)
itself, added, share, tracer, account = [], [], [], [], []
with open(path, encoding="ascii") as rounds:
    for line in rounds:
        off, on, seen, traced, *accounted = map(int, line.split())
        events = n * abs(per) if per else seen * part
        if events == 0:
            sys.exit(f"overhead.py: {event}: nothing was traced")
        itself.append(off / events / 1000)
        added.append((on - off) / events / 1000)
        share.append(seen * part / events)
        tracer.append(traced / events / 1000)
        account += [ns * part / events / 1000 for ns in accounted]
seen = statistics.median(share)
print(f"{'':18} {event:40} {format(statistics.median(itself), '8.2f') if any(itself) else '':8} {statistics.median(added):8.2f} {min(added):8.2f} {max(added):8.2f} "
      f"{'' if per <= 0 else format(seen, '6.0%'):>6} {statistics.median(tracer):8.2f}"
      + (f" {statistics.median(account):8.2f}" if account else "")
      + (" some were lost" if per > 0 and seen < 0.99 else ""))
