#!/usr/bin/env python3
"""What systemd does with a unit, as far as its command is concerned.

    service.py command UNIT NAME        the words of ExecStart, NUL behind each
    service.py value UNIT DIRECTIVE     its value
    service.py listen SOCKET FILE       each message that comes through NOTIFY_SOCKET, a line in FILE
"""
import re
import shlex
import socket
import sys


def value(unit, name):
    with open(unit, encoding="utf-8") as f:
        text = f.read().replace("\\\n", "")
    found = re.findall(rf"^{name}=(.*)$", text, re.M)
    return found[0] if len(found) == 1 else ""


def command(unit, instance):
    """Quotes and %i are resolved, then $$, systemd.service(5); this line has nothing else."""
    words = shlex.split(value(unit, "ExecStart"))
    return [w.replace("%i", instance).replace("$$", "$") for w in words]


def listen(path, out):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    s.bind(path)
    with open(out, "w", encoding="utf-8") as f:
        while True:
            # Descriptors that come along, as the barrier's, are closed by not being asked for.
            f.write(s.recv(4096).decode().replace("\n", " ") + "\n")
            f.flush()


if __name__ == "__main__":
    if sys.argv[1] == "command":
        print("".join(w + "\0" for w in command(*sys.argv[2:])), end="")
    elif sys.argv[1] == "value":
        print(value(*sys.argv[2:]))
    else:
        listen(*sys.argv[2:])
