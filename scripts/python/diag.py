"""Messages for the user, in the form of gen/base/diag.h.

    raise diag.error("expected a line of -f json", path, line)    # PATH:LINE: error: ...
    diag.warning("events were lost")                            # btgen: warning: ...

main() turns what was raised into an exit status: an error has been reported where most is known.
"""
import os
import re
import signal
import sys
import time

CONTROL = "\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\U000e0000-\U000e007f\ud800-\udfff"
UNSAFE = re.compile("[%s]" % CONTROL)
COLOURS = {"note": "\033[1;36m", "warning": "\033[1;35m", "error": "\033[1;31m"}
PATIENCE, REFRESH = 1.0, 0.2  # seconds: before a line of progress is shown, and how often


class Failed(Exception):
    """An error that has been reported."""


class Progress:
    """A line on the terminal for what takes longer than a second; it goes when anything else is printed."""

    def __init__(self):
        self.since = self.shown = 0.0
        self.is_shown = False
        self.is_off = False

    def step(self, what, done, total):
        now = time.monotonic()
        if not self.since:
            self.since = now
            self.is_off = not os.isatty(2)
        if self.is_off or now < self.since + PATIENCE or now < self.shown + REFRESH:
            return
        how = "%d %%" % (100 * done // total) if total else "%d s" % (now - self.since)
        write_stderr("\r\033[Kbtgen: %s: %s" % (what, how))
        self.shown = now
        self.is_shown = True

    def clear(self):
        if self.is_shown:
            write_stderr("\r\033[K")
        self.is_shown = False


progress = Progress()


def write_stderr(text):
    """All of it at once: lines of several processes do not mix. A stderr that is closed takes nothing."""
    try:
        os.write(2, text.encode("utf-8", "surrogateescape"))
    except OSError:
        pass


def show_bytes(match):
    try:
        return "".join("\\x%02x" % byte for byte in match[0].encode("utf-8", "surrogateescape"))
    except UnicodeEncodeError:  # half of a pair, which only JSON can spell
        return "\ufffd"


def printable(text):
    """For a terminal: what would control it is shown as bytes."""
    return UNSAFE.sub(show_bytes, text)


def is_coloured():
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM", "dumb") != "dumb" and os.isatty(2)


def report(level, text, path=None, line=None):
    progress.clear()
    bold, colour, plain = ("\033[1m", COLOURS[level], "\033[0m") if is_coloured() else ("", "", "")
    place = "btgen" if path is None else printable(path) + (":%d" % line if line else "")
    write_stderr("%s%s: %s%s: %s%s\n" % (bold, place, colour, level, plain, printable(text)))


def error(text, path=None, line=None):
    """Reports it, and returns what is to be raised."""
    report("error", text, path, line)
    return Failed()


def warning(text, path=None, line=None):
    report("warning", text, path, line)


def note(text, path=None, line=None):
    report("note", text, path, line)


def main(run, argv):
    """Ends with the exit status that @run returns. A signal ends it as it ends any program."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        status = run(argv)
    except Failed:
        status = 1
    except RecursionError:
        report("error", "the input is nested too deeply")
        status = 1
    except MemoryError:
        report("error", "out of memory")
        status = 1
    sys.stdout.flush()
    os._exit(status)  # nothing to tidy: what is open has been written
