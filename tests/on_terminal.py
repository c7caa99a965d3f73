#!/usr/bin/env python3
"""Runs a command whose standard output is a pseudo-terminal, and passes on the bytes that the terminal gets.

    tests/on_terminal.py COMMAND [ARG]...

The terminal changes nothing of them. The status is that of the command.
"""
import os
import pty
import subprocess
import sys
import termios

master, terminal = pty.openpty()
modes = termios.tcgetattr(terminal)
modes[1] &= ~termios.OPOST
termios.tcsetattr(terminal, termios.TCSANOW, modes)
with subprocess.Popen(sys.argv[1:], stdout=terminal) as command:
    os.close(terminal)
    try:
        while data := os.read(master, 65536):
            sys.stdout.buffer.write(data)
    except OSError:  # nobody has it open any more
        pass
sys.exit(command.returncode)
