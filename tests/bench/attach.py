#!/usr/bin/env python3
"""From the command until all is attached, and from ^C to the prompt: bpftrace.sh, and bpftrace alone.

    attach.py PID_OF_NVMF_TGT        BTGEN_BPFTRACE: which bpftrace; ROUNDS: how often each runs (5)

Alone, it runs a clause with printf("x") at each place where btgen's program is attached, and of --count and --calls one for each
function. The target fires nothing meanwhile. Least CPU and elapsed time of all rounds; the ratios are btgen's by bpftrace's.
"""
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

from cputime import cpu

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BPFTRACE = os.environ.get("BTGEN_BPFTRACE", "bpftrace")
EPOLL = ("22 ", "232 ", "281 ")  # epoll_pwait, epoll_wait
MANY = 40


def ends(child, begin, what):
    """CPU and elapsed time until now, and elapsed time from ^C to the end."""
    took = cpu(child.pid), time.monotonic() - begin
    interrupted = time.monotonic()
    child.send_signal(signal.SIGINT)
    if child.wait() != 0:
        sys.exit(f"attach.py: {what} ends with status {child.returncode}")
    return *took, time.monotonic() - interrupted


def ours(pid, words, folder):
    """bpftrace.sh; its helper that detaches has ended before the next one starts."""
    ready, write = os.pipe()
    command = [f"{TOP}/scripts/bpftrace.sh", "-q", "--ready-fd", str(write), "-o", f"{folder}/out", "-p", str(pid), *words]
    begin = time.monotonic()
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, pass_fds=[write])
    os.close(write)
    is_ready = os.read(ready, 1)
    os.close(ready)
    if not is_ready:
        sys.exit(f"attach.py: {words} is not attached")
    took = ends(child, begin, words)
    while any(name_of(p) == "btgen-detach" for p in filter(str.isdigit, os.listdir("/proc"))):
        time.sleep(0.1)
    return took


def name_of(pid):
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as f:
            return f.read().strip()
    except OSError:
        return ""


def alone(pid, program, folder):
    """bpftrace: attached when it waits for events."""
    with open(f"{folder}/alone.bt", "w", encoding="utf-8") as f:
        f.write(program)
    many = dict.fromkeys(("BPFTRACE_MAX_PROBES", "BPFTRACE_MAX_BPF_PROGS"), "4096")
    begin = time.monotonic()
    with open(f"{folder}/alone.out", "w", encoding="utf-8") as out:
        child = subprocess.Popen([BPFTRACE, "-p", str(pid), f"{folder}/alone.bt"], stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                 env=os.environ | many)
    while child.poll() is None:
        with open(f"/proc/{child.pid}/syscall", encoding="ascii") as f:
            if f.read().startswith(EPOLL):
                break
        time.sleep(0.001)
    return ends(child, begin, "bpftrace alone")


def printed(points):
    return "\n".join(f'{point} {{ printf("x"); }}' for point in points)


def points_of(words, pid):
    """Where the program of these is attached."""
    text = subprocess.run([os.environ["BTGEN"], "expand", "-p", str(pid), *words], check=True, stdout=subprocess.PIPE, text=True).stdout
    return re.findall(r"\b(?:usdt|u(?:ret)?probe):/[^\s,{]+", text)


def functions(folder):
    """A program with MANY functions, and their names."""
    names = [f"app_{i}" for i in range(MANY)]
    with open(f"{folder}/app.c", "w", encoding="utf-8") as f:
        f.write("#include <unistd.h>\nvolatile int sink;\n")
        f.writelines(f"__attribute__((noinline)) void {name}(void) {{ sink += {i}; }}\n" for i, name in enumerate(names))
        f.write("int main(void)\n{\n\tchar c;\n\twhile (read(0, &c, 1) == 1) {" + "".join(f" {name}();" for name in names) + " }\n}\n")
    subprocess.run([os.environ.get("CC", "gcc"), "-O1", "-w", "-g", "-o", f"{folder}/app", f"{folder}/app.c"], check=True)
    return subprocess.Popen([f"{folder}/app"], stdin=subprocess.PIPE), names


def row(title, pid, words, points, folder, rounds):
    mine, others = [], []
    for _ in range(rounds):
        mine.append(ours(pid, words, folder))
        others.append(alone(pid, printed(points), folder))
    mine, others = ([min(column) for column in zip(*took)] for took in (mine, others))
    for label, took in (title, mine), (f'bpftrace alone, {len(points)} x printf("x")', others):
        print(f"  {label:<44} {took[0] * 1000:9.1f} ms {took[1] * 1000:9.1f} ms   ^C {took[2] * 1000:8.1f} ms", end="")
        print("".join(f" {a / b:5.2f}" for a, b in zip(mine, others)) + " x" if took is mine else "")


def main():
    rounds = int(os.environ.get("ROUNDS", "5"))
    with tempfile.TemporaryDirectory() as folder:
        pid = int(sys.argv[1])
        for script in "nvmf.bt", "spdk.bt":
            row(script, pid, [f"{TOP}/bpf/{script}"], points_of([script], pid), folder, rounds)
        app, names = functions(folder)
        path = f"{folder}/app"
        try:
            row(f"--count of {MANY} functions", app.pid, ["-t", "uprobe:app_*", "--count"],
                [f"uprobe:{path}:{name}" for name in names], folder, rounds)
            row(f"--calls of {MANY} functions", app.pid, ["--calls", "app_*"],
                [f"{kind}:{path}:{name}" for name in names for kind in ("uprobe", "uretprobe")], folder, rounds)
        finally:
            app.stdin.close()
            app.wait()


main()
