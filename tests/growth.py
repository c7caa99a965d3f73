"""growth.py N STATUS OUT ERR COMMAND...: does what COMMAND takes grow with the size of what it reads, and not with the square?

{} in COMMAND is N, then 4N: a file of that size, say. Prints what both took of the processor, or what is wrong; OUT and ERR
get what the second one writes. The two must end with STATUS.

Four times as much takes four times as long, and sixteen times where each part is compared with all others: MOST times is too
much. Both are measured in one run, so it is the same on a slow machine; what else the machine does can make one of the two
slower, so they are measured once more then, and the smaller ratio counts. N must be so large that it takes well over the
start of the program.
"""
import os
import resource
import subprocess
import sys

MOST = 6
PATIENCE = 600  # seconds of the processor: what takes more hangs


def cost(command, out=os.devnull, err=os.devnull):
    """Seconds of the processor and MB that it takes, and its status; -1 when it has crashed or hangs"""
    with open(out, "wb") as o, open(err, "wb") as e:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=o, stderr=e, preexec_fn=lambda: (
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0)), resource.setrlimit(resource.RLIMIT_CPU, (PATIENCE, PATIENCE))))
        _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_utime + used.ru_stime, used.ru_maxrss >> 10, max(child.returncode, -1)


def growth(commands, want, **streams):
    """What two commands take, the second of which has four times as much to do, in words; and whether that is in proportion"""
    best = None
    for _ in range(2):
        took = []
        for command in commands:
            time, _, status = cost(command, **streams)
            if status not in want:
                return f"ended with status {status} after {time:.2f} s", False
            took.append(time)
        best = min(best or took, took, key=lambda t: t[1] / t[0])
        if best[1] <= MOST * best[0]:
            break
    return f"{best[0]:.3f} s, and {best[1]:.3f} s for four times as much", best[1] <= MOST * best[0]


def main():
    n, status, out, err = int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:5]
    said, good = growth([[word.replace("{}", str(k)) for word in sys.argv[5:]] for k in (n, 4 * n)], [status], out=out, err=err)
    print(said)
    sys.exit(not good)


if __name__ == "__main__":
    main()
