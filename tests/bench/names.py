#!/usr/bin/env python3
"""What names of enumerators cost before a trace has begun: from the start of bpftrace.sh until all is attached, for scripts that
print them, and for the same scripts that print numbers.

    names.py PID_OF_NVMF_TGT        BTGEN_BPFTRACE: which bpftrace; ROUNDS: how often each runs (9)

Elapsed time and that of the processor, of btgen and of bpftrace; the least of all rounds: what else the machine does can only add
to it. Probes are attached by the kernel, in more or less time for each; so what is judged is that of the processor. Status 1
when a script takes more than 10 % more of it with names than without.
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
MOST = 1.10
N = 500


def arguments(text):
    """The arguments of a call, of what stands between its parentheses."""
    found, depth, quoted, at = [], 0, False, 0
    for i, c in enumerate(text):
        quoted ^= c == '"' and text[i - 1] != "\\"
        if not quoted:
            depth += (c in "([") - (c in ")]")
        if c == "," and not depth and not quoted:
            found.append(text[at:i].strip())
            at = i + 1
    return found + [text[at:].strip()]


TABLE = r"@\w+\[(arg[\w.]+)\]"
VALUES = {"NQN": 3}  # how many a macro of nvmf.bt is


def without_names(script):
    """@table[x] in a printf() becomes x, and its %s %lu."""
    def call(m):
        form, *values = arguments(m[1])
        at = iter([part for v in values for part in [v] * VALUES.get(v, 1)])
        form = re.sub(r"%[-0-9.l]*[a-z]", lambda c: "%lu" if re.fullmatch(TABLE, next(at)) else c[0], form)
        return "printf(" + ", ".join([form] + [re.sub(TABLE, r"\1", v) for v in values]) + ");"
    return re.sub(r"printf\((.*?)\);", call, script, flags=re.S)


def start(pid, script, folder):
    """Seconds of the processor, and elapsed ones, until it is attached."""
    ready, write = os.pipe()
    command = [f"{TOP}/scripts/bpftrace.sh", "-q", "--ready-fd", str(write), "-o", f"{folder}/out", "-W", "no-enum", str(pid), script]
    begin = time.monotonic()
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, pass_fds=[write])
    os.close(write)
    is_ready = os.read(ready, 1)
    took = cpu(child.pid), time.monotonic() - begin
    os.close(ready)
    child.send_signal(signal.SIGINT)
    if child.wait() != 0 or not is_ready:
        sys.exit(f"names.py: {script} does not run")
    return took


def many(folder):
    """A program with an enum of N names, and the script that prints them."""
    names = ", ".join(f"NAME_NUMBER_{i}" for i in range(N))
    with open(f"{folder}/many.c", "w", encoding="utf-8") as f:
        f.write(f"#include <btgen/usdt.h>\n#include <unistd.h>\nenum many {{ {names} }};\nint main(void)\n{{\n\tchar c;\n"
                "\tenum many v = NAME_NUMBER_7;\n\twhile (read(0, &c, 1) == 1)\n\t\tUSDT_PROBE(app, many, v);\n}\n")
    subprocess.run([os.environ.get("CC", "gcc"), "-O1", "-g", f"-I{TOP}/include", "-o", f"{folder}/many", f"{folder}/many.c"],
                   check=True)
    with open(f"{folder}/many.bt", "w", encoding="utf-8") as f:
        f.write('#pragma enum many many\nusdt:__EXE__:app:many { printf("%s\\n", @many[arg0]); }\n')
    return subprocess.Popen([f"{folder}/many"], stdin=subprocess.PIPE)


def row(title, pid, script, folder, rounds):
    with open(script, encoding="utf-8") as f:
        text = without_names(f.read()).replace("#pragma enum many many\n", "")
    plain = f"{folder}/without-{os.path.basename(script)}"
    with open(plain, "w", encoding="utf-8") as f:
        f.write(text)
    took = {script: [], plain: []}
    for _ in range(rounds):
        for s in took:
            took[s].append(start(pid, s, folder))
    least = {s: [min(column) for column in zip(*took[s])] for s in took}
    ratio = least[script][0] / least[plain][0]
    for label, s in (title, script), ("the same, without names", plain):
        print(f"  {label:<44} {least[s][0] * 1000:9.1f} ms {least[s][1] * 1000:9.1f} ms" +
              (f" {'':>10} {ratio:7.2f} x" if s == script else ""))
    if ratio > MOST:
        print(f"  MISSED: at most {MOST:.2f} x")
    return ratio <= MOST


def main():
    rounds = int(os.environ.get("ROUNDS", "9"))
    with tempfile.TemporaryDirectory() as folder:
        good = row("nvmf.bt", int(sys.argv[1]), f"{TOP}/bpf/nvmf.bt", folder, rounds)
        app = many(folder)
        try:
            good &= row(f"a table of {N} names", app.pid, f"{folder}/many.bt", folder, rounds)
        finally:
            app.stdin.close()
            app.wait()
    sys.exit(not good)


main()
