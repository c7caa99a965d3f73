"""Runs the ```console blocks of a page, from the top, in one shell, and compares what comes out with the page.

lab.py PAGE...            in the current folder: one TAP line a page
lab.py --update PAGE...   writes what came out into the page instead, where it shows the whole output

A command follows "$ " (and goes on after a backslash or in an open quote), its output follows until the next one; a line "..." stands for any lines. What differs from run
to run and from machine to machine counts by its shape only: addresses, places of arguments, times, numbers of
processes, counts in maps. Blank lines and blanks in a row do not count.
"""
import os
import re
import signal
import subprocess
import sys
import tempfile

PATIENCE = 600  # seconds for a page, which hangs when it takes more
MARK = "\x01%d\x01"


def is_open(text):
    """Does this command go on in the next line?"""
    return text.endswith("\\") or text.count("'") % 2 == 1


def read_page(path):
    """The page's lines, and its commands: [text, first line of output, line after the output]."""
    lines = open(path).read().split("\n")
    commands, inside = [], False
    for i, line in enumerate(lines):
        if line.startswith("```"):
            inside = line == "```console"
        elif inside and commands and is_open(commands[-1][0]):
            commands[-1] = [commands[-1][0] + "\n" + line, i + 1, i + 1]
        elif inside and line.startswith("$ "):
            commands.append([line[2:], i + 1, i + 1])
        elif inside and commands:
            commands[-1][2] = i + 1
    return lines, commands


def run(commands):
    """What each command printed on both of its outputs, in order; None: not reached."""
    with tempfile.TemporaryFile("w+", errors="replace") as out, tempfile.NamedTemporaryFile("w") as script:
        script.write("exec </dev/null\n")
        for i, (text, _, _) in enumerate(commands):
            script.write("%s\nprintf '%s\\n'\n" % (text, MARK.replace("\x01", "\\001") % i))
        script.flush()
        shell = subprocess.Popen(["bash", script.name], stdout=out, stderr=out, start_new_session=True)
        try:
            shell.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            pass
        finally:
            try:
                os.killpg(shell.pid, signal.SIGKILL)  # and what the page left running
            except ProcessLookupError:
                pass
            shell.wait()
        out.seek(0)
        text, got = out.read(), []
    for i in range(len(commands)):
        here, mark, text_after = text.partition(MARK % i + "\n")
        got.append([s.rstrip() for s in here.split("\n") if s.strip()] if mark else None)
        text = text_after if mark else text
    return got


def shape(line):
    """The line without what may differ."""
    line = line.replace(os.getcwd(), "/root/btgen")
    for pattern, name in ((r"(signed|float), (\d+) bytes, .*", r"\1, \2 bytes, PLACE"),
                          (r"(?<!\S)-?\d+f?@\S+", "OPERAND"),
                          (r"0x[0-9a-f]+", "0xN"),
                          (r"\+\d+>", "+N>"),
                          (r"\b[0-9a-f]{8,}\b", "N"),
                          (r"\d+\.\d+", "N.N"),
                          (r"(PID|process) \d+", r"\1 N"),
                          (r"/proc/\d+", "/proc/N"),
                          (r"\]: \d+$", "]: N"),
                          (r"\b\d{5,}\b", "N"),
                          (r"\s+", " ")):
        line = re.sub(pattern, name, line)
    return line.strip()


def fits(want, got):
    """Is @got what a page shows, "..." being any lines?"""
    if not want:
        return not got
    if want[0] == "...":
        return any(fits(want[1:], got[k:]) for k in range(len(got) + 1))
    return bool(got) and want[0] == got[0] and fits(want[1:], got[1:])


def main(args):
    update = args[:1] == ["--update"]
    failed = False
    for path in args[update:]:
        lines, commands = read_page(path)
        got = run(commands)
        bad = []
        for (text, start, end), out in reversed(list(zip(commands, got))):
            want = [s for s in lines[start:end] if s.strip()]
            if out is None:
                bad.append((text, want, ["(the shell did not get beyond this within %d s)" % PATIENCE]))
            elif update and "..." not in want and not fits([shape(s) for s in want], [shape(s) for s in out]):
                lines[start:end] = [s.replace(os.getcwd(), "/root/btgen") for s in out]
            elif not fits([shape(s) for s in want], [shape(s) for s in out]):
                bad.append((text, want, out))
        if update:
            open(path, "w").write("\n".join(lines))
        good = bool(commands) and not bad
        failed |= not good
        print("%s - %s: its %d commands do what the page shows" %
              ("ok" if good else "not ok", os.path.basename(path), len(commands)))
        for text, want, out in reversed(bad):
            print("\n".join("#   " + s for s in ["$ " + text] + ["page: " + s for s in want] + ["here: " + s for s in out]))
        sys.stdout.flush()
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
