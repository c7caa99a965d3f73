#!/usr/bin/env bash
# What takes longer than a second says so on a terminal, in one line that is gone at the end; elsewhere nothing is said.
. "$(dirname "$0")/../lib.sh"
cat >"$tmp/slow.py" <<'END'
"""Runs btgen convert with a capture that comes slowly: its stderr is a terminal, or with `file` none. Prints what it said."""
import os, pty, select, subprocess, sys, time
master, slave = pty.openpty() if sys.argv[2] == "terminal" else os.pipe()
line = b'{"time": "2026-01-31T12:00:00.000000000+00:00", "cpu": 0, "pid": 1, "tid": 1, "comm": "x", "probe": "a:b", "text": ""}\n'
p = subprocess.Popen([sys.argv[1], "convert", "-f", "perfetto", *sys.argv[3:]], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=slave)
os.close(slave)
end = time.monotonic() + 1.5
while time.monotonic() < end or sys.argv[2] == "terminal" and not select.select([master], [], [], 0)[0]:
    p.stdin.write(line)
    p.stdin.flush()
    time.sleep(0.1)
p.stdin.close()
p.wait()
said = b""
try:
    while piece := os.read(master, 65536):
        said += piece
except OSError:
    pass
print(ascii(said.decode()))
END
like "$(python3 "$tmp/slow.py" "$btgen" terminal)" "^'(\\\\r\\\\x1b\\[Kbtgen: converting: [0-9]+ s)+\\\\r\\\\x1b\\[K'\$" "on a terminal a line, from the first second on, gone at the end"
is "$(python3 "$tmp/slow.py" "$btgen" file)" "''" "elsewhere none"

is "$(python3 -c 'import os, pty, sys
master, slave = pty.openpty()
pid = os.fork()
if pid == 0:
    os.dup2(slave, 2)
    os.execv(sys.argv[1], [sys.argv[1], "convert", "-f", "perfetto", "/dev/null", "-o", "/dev/null"])
os.waitpid(pid, 0)
os.set_blocking(master, False)
try:
    print(os.read(master, 100))
except BlockingIOError:
    print("nothing")' "$btgen")" nothing "what is quick says nothing there"
done_testing
