#!/usr/bin/env python3
"""Types lines into an interactive shell in a pseudo-terminal and prints what has become of each.

    tests/complete.py bash COMPLETION.bash <lines
    tests/complete.py zsh FOLDER <lines         the folder has the function

In a line <TAB> is that key, in bash <ALL> the one that inserts all completions, and <LIST> the one that lists them: then what the
terminal gets is printed, with \\xNN. The line is not run. The shell starts in the current folder.
"""
import os
import pty
import re
import select
import sys
import time

BASH = """PS1= PS2=
bind 'set enable-bracketed-paste off' 2>/dev/null
bind 'set bell-style none'
bind 'set completion-query-items 0'
bind 'set page-completions off'
bind '"\\C-xa": insert-completions'
bind '"\\C-xl": possible-completions'
show() { printf '\\n\\001%s\\002' "$READLINE_LINE"; READLINE_LINE= READLINE_POINT=0; }
bind -x '"\\C-xs": show'
. SOURCE
"""
ZSH = """PS1= PS2= RPS1=
unsetopt prompt_sp prompt_cr list_beep auto_menu auto_list
fpath=(SOURCE $fpath)
autoload -U compinit && compinit -u -D
show() { print -rn -- $'\\n\\001'"$BUFFER"$'\\002'; BUFFER=; }
zle -N show
bindkey '^Xs' show
bindkey '^Xl' list-choices
"""
PATIENCE = 600  # seconds: a guard against what hangs
SHELLS = {"bash": (["bash", "--norc", "--noprofile", "-i"], BASH), "zsh": (["zsh", "-f", "-i"], ZSH)}


def read_until(fd, pattern):
    """What comes from the terminal until the pattern is there."""
    got, end = b"", time.monotonic() + PATIENCE
    while not re.search(pattern, got, re.S):
        if time.monotonic() > end or not select.select([fd], [], [], PATIENCE)[0]:
            sys.exit(f"complete.py: no {pattern!r} in {got[-2000:]!r}")
        got += os.read(fd, 65536)
    return got


def main():
    command, setup = SHELLS[sys.argv[1]]
    pid, fd = pty.fork()
    if pid == 0:
        os.environ.update(TERM="dumb", COLUMNS="2000", LC_ALL="C.UTF-8")
        os.execvp(command[0], command)
    source = "'" + sys.argv[2].replace("'", "'\\''") + "'"
    os.write(fd, (setup.replace("SOURCE", source) + "stty cols 2000; printf '%s' re''ady\n").encode())
    read_until(fd, b"ready")
    for line in sys.stdin:
        keys = line.rstrip("\n").replace("<TAB>", "\t").replace("<ALL>", "\x18a").replace("<LIST>", "\x18l")
        os.write(fd, keys.encode() + b"\x18s")
        got = read_until(fd, b"\x01.*\x02")
        if "<LIST>" in line:
            print("".join(chr(c) if 31 < c < 127 else f"\\x{c:02x}" for c in got), flush=True)
        else:
            print(re.search(b"\x01(.*)\x02", got, re.S)[1].decode().rstrip("\r\n") + "|", flush=True)
    os.write(fd, b"\x04")
    os.close(fd)
    os.waitpid(pid, 0)


main()
