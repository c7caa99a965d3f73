"""What a trace and all that it has started hold, ten times a second: watch.py PID FOLDER SAMPLES; and whether that stays: watch.py SAMPLES.

A line for each time: KiB of anonymous memory and descriptors of btgen's processes, processes of any name, files in FOLDER. The first
quarter is a warm-up. The lower quartile of the last one, what is held while nothing is being read, must not be above that of the second."""
import os
import sys
import time

SLACK = {"KiB": 1024, "descriptors": 1, "processes": 1, "files": 0}
LEAST = 300  # half a minute of them: a shorter run is only a trial of the test


def read(path):
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def family(pid):
    yield pid
    for child in read("/proc/%s/task/%s/children" % (pid, pid)).split():
        yield from family(child)


def sample(top, folder):
    memory = descriptors = 0
    found = list(family(top))
    for pid in found:
        if read("/proc/%s/comm" % pid).strip() == "btgen":
            memory += sum(int(line.split()[1]) for line in read("/proc/%s/status" % pid).splitlines() if line.startswith("RssAnon"))
            try:
                descriptors += len(os.listdir("/proc/%s/fd" % pid))
            except OSError:
                pass
    return memory, descriptors, len(found), sum(len(files) for _, _, files in os.walk(folder))


def watch(top, folder, path):
    with open(path, "w", buffering=1, encoding="ascii") as file:
        while os.path.exists("/proc/" + top):
            print(*sample(top, folder), file=file)
            time.sleep(0.1)


def judge(path):
    with open(path, encoding="ascii") as file:
        samples = [list(map(int, line.split())) for line in file]
    quarter = len(samples) // 4
    if quarter < 2:
        return
    for name, values in zip(SLACK, zip(*samples)):
        before, after = (sorted(part)[quarter // 4] for part in (values[quarter:2 * quarter], values[-quarter:]))
        print("# %s: %d, then %d" % (name, before, after), file=sys.stderr)
        if len(samples) >= LEAST and after > before + SLACK[name]:
            print("%s: %d in the second quarter, %d in the last" % (name, before, after))


if len(sys.argv) == 2:
    judge(sys.argv[1])
else:
    watch(*sys.argv[1:])
