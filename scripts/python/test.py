"""btgen test: runs programs, traces them, and compares what is printed with what files of cases expect.

A line of a file is a word and what it takes, up to its end; NAME begins a case. Empty lines and lines that begin with # are
comments. The words are those of bpftrace's own tests where these have one: btgen(1) lists them.
"""
import ctypes
import difflib
import json
import os
import re
import select
import signal
import stat
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
import commandline
import diag
import outfile

MAX_LIST = 1 << 20  # bytes of a file of cases
TIMEOUT = 30  # s
LOOK = 0.01  # s
ENDING = 20  # s from SIGINT on: bpftrace detaches 0.1 s for each probe
AFTER = 2  # s from SIGTERM on, which AFTER may ignore
SHOWN = 20  # lines of what was printed, and of messages
PR_SET_PDEATHSIG = 1
ONCE = {"REQUIRES": "requires", "RUN": "run", "PROCESS": "process", "SCRIPT": "script", "PROG": "prog", "AFTER": "after"}
EXPECTS = ("EXPECT", "EXPECT_NONE", "EXPECT_REGEX", "EXPECT_LEAST", "EXPECT_FILE")
WORDS = ("NAME", *ONCE, "TRACE", "TIMEOUT", *EXPECTS)
libc = ctypes.CDLL(None)


class Regex:
    """An extended regular expression of POSIX, as grep -E has them; Python's are others."""
    EXTENDED, NOSUB = 1, 8

    def __init__(self, pattern):
        self.buffer = ctypes.create_string_buffer(1024)  # a regex_t has 64 bytes
        error = libc.regcomp(self.buffer, os.fsencode(pattern), self.EXTENDED | self.NOSUB)
        if error:
            why = ctypes.create_string_buffer(128)
            libc.regerror(error, self.buffer, why, ctypes.c_size_t(len(why)))
            raise ValueError("EXPECT_REGEX: %s" % why.value.decode())

    def matches(self, line):
        return libc.regexec(self.buffer, os.fsencode(line), ctypes.c_size_t(0), None, 0) == 0


class Expect:
    def __init__(self, word, value, n, line):
        self.word, self.value, self.n, self.line = word, value, n, line
        self.regex = Regex(value) if word == "EXPECT_REGEX" else None

    def fits(self, line):
        return self.regex.matches(line) if self.regex else self.value in line

    def __str__(self):
        return "%s %s%s" % (self.word, "%d " % self.n if self.word == "EXPECT_LEAST" else "", self.value)


class Case:
    def __init__(self, name, line):
        self.name, self.line, self.timeout = name, line, TIMEOUT
        self.requires = self.run = self.process = self.script = self.prog = self.after = None
        self.patterns, self.expects = [], []

    def what_is_missing(self):
        if bool(self.run) == bool(self.process):
            return "give a program: RUN COMMAND, or PROCESS PID or name"
        if bool(self.patterns) + bool(self.script) + bool(self.prog) != 1:
            return "give what to trace: TRACE, SCRIPT or PROG"
        if self.process and not self.after:
            return "PROCESS needs AFTER: the trace ends when that command exits"
        return None if self.expects else "no EXPECT line"


# --- files of cases


def read_list(path):
    """The text of a regular file; to open a device can have an effect of its own."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise diag.error("is not a regular file", path)
        with open(path, "rb") as file:
            data = file.read(MAX_LIST + 1)
    except FileNotFoundError:
        raise diag.error("no such file", path)
    except OSError as error:
        raise diag.error("cannot be read: %s" % error.strerror, path)
    if len(data) > MAX_LIST:
        raise diag.error("larger than 1 MiB: not a list of cases", path)
    if b"\0" in data:
        raise diag.error("has a NUL byte: not a list of cases", path)
    return data.decode("utf-8", "surrogateescape")


def find_beside(path, name):
    """@name as the file at @path means it: beside that, if there is such a file."""
    beside = os.path.join(os.path.dirname(path), name)
    return beside if os.path.lexists(beside) else name


def take_expect(path, case, word, value, line):
    n = 0
    if word == "EXPECT_LEAST":
        number, _, value = value.partition(" ")
        value = value.strip()
        if not re.match("[1-9][0-9]{0,17}$", number) or not value:
            raise ValueError("EXPECT_LEAST takes a number and a text")
        n = int(number)
    if word == "EXPECT_FILE":
        value = find_beside(path, value)
    case.expects.append(Expect(word, value, n, line))


def take_line(path, cases, text, line):
    word = re.match("[A-Z_]*", text)[0]
    value = text[len(word):].strip()
    if word not in WORDS:
        near = difflib.get_close_matches(word, WORDS, 1)
        raise ValueError("unknown word '%s'%s" % (text.split(" ")[0], ", did you mean '%s'?" % near[0] if near else ""))
    if not cases and word != "NAME":
        raise ValueError("a case begins with NAME")
    if not value:
        raise ValueError("%s needs a value" % word)
    case = cases[-1] if cases else None
    if word == "NAME":
        cases.append(Case(value, line))
    elif word == "TRACE":
        case.patterns += value.split()
    elif word == "TIMEOUT":
        found = re.fullmatch("([1-9][0-9]{0,4})([smh]?)", value)
        if not found:
            raise ValueError("TIMEOUT: '%s' is not a time, such as 10 or 2m" % value)
        case.timeout = int(found[1]) * {"m": 60, "h": 3600}.get(found[2], 1)
    elif word in EXPECTS:
        take_expect(path, case, word, value, line)
    elif getattr(case, ONCE[word]):
        raise ValueError("given twice in one case")
    else:
        setattr(case, ONCE[word], find_beside(path, value) if word == "SCRIPT" else value)


def read_cases(path):
    cases, failed = [], None
    for line, text in enumerate(read_list(path).split("\n"), 1):
        text = text.strip()
        try:
            if text and not text.startswith("#"):
                take_line(path, cases, text, line)
        except ValueError as why:
            failed = diag.error(str(why), path, line)
    for case in cases if not failed else ():
        why = case.what_is_missing()
        if why:
            failed = diag.error(why, path, case.line)
    if not failed and not cases:
        failed = diag.error("no cases: a case begins with NAME", path)
    if failed:
        raise failed
    return cases


# --- a case while it runs

group = 0  # of a child that signals of the terminal do not reach


def pass_on(number, _frame):
    if group:
        os.killpg(group, number)
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def start(argv, log, keep=(), has_own_group=False):
    """A child that ends with us, and writes to @log."""
    parent = os.getpid()

    def prepare():
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGINT)
        if os.getppid() != parent:
            os._exit(127)
        if has_own_group:
            os.setpgid(0, 0)

    if has_own_group:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, pass_on)
    return subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, pass_fds=keep, preexec_fn=prepare)


def kill_group(number):
    try:
        os.killpg(group, number)
    except OSError:
        pass  # it is gone, or of another user, as of sudo


def start_shell(command, log):
    global group
    child = start(["/bin/sh", "-c", command], log, has_own_group=True)
    group = child.pid
    return child


def end_shell(child, until):
    """Waits for @child up to @until. What it has left in the background ends with it, as long as nobody else can have its number."""
    global group
    while child.returncode is None:
        if os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            kill_group(signal.SIGKILL)
            child.wait()
        elif time.monotonic() >= until:
            return False
        else:
            time.sleep(LOOK)
    group = 0
    return True


def is_possible(case):
    """Does REQUIRES succeed?"""
    if not case.requires:
        return True
    child = start_shell(case.requires, subprocess.DEVNULL)
    if not end_shell(child, time.monotonic() + case.timeout):
        kill_group(signal.SIGKILL)
        end_shell(child, float("inf"))
    return child.returncode == 0


class Trace:
    """One case, traced by btgen itself: its program, what is run besides, the time that it may take."""

    def __init__(self, words, case):
        self.case = case
        self.output, self.log = tempfile.TemporaryFile(), tempfile.TemporaryFile()
        self.ready, ready = os.pipe()
        what = ["-e", case.prog] if case.prog else [case.script] if case.script else []
        self.after = None
        self.begun = time.monotonic()
        self.deadline = self.begun + case.timeout
        self.is_stopping = self.is_over = False
        self.btgen = start([words.btgen, "run", "-q", "--strict", "--max-cost", "none", "-o", "/dev/fd/%d" % self.output.fileno(),
                            "--ready-fd", str(ready), *words.these("define", "include"),
                            *(("-c", case.run) if case.run else ("-p", case.process)),
                            *[word for pattern in case.patterns for word in ("-t", pattern)], *what],
                           self.log, (self.output.fileno(), ready))
        os.close(ready)

    def stop(self):
        if self.is_stopping or self.btgen.returncode is not None:
            return
        self.btgen.send_signal(signal.SIGINT)
        self.is_stopping = True
        self.deadline = time.monotonic() + ENDING

    def take_ready(self):
        """The probes are attached, or never will be."""
        is_ready = os.read(self.ready, 16)
        os.close(self.ready)
        self.ready = None
        if is_ready and self.case.after:
            self.after = start_shell(self.case.after, self.log)

    def wait(self):
        while self.btgen.poll() is None:
            if select.select([self.ready] if self.ready is not None else [], [], [], LOOK)[0]:
                self.take_ready()
            if self.after and self.after.returncode is None and end_shell(self.after, 0):
                self.stop()
            if time.monotonic() < self.deadline:
                continue
            if self.is_stopping:
                self.btgen.kill()
            self.is_over |= not self.is_stopping
            self.stop()

    def end_after(self):
        if not self.after or self.after.returncode is not None:
            return
        kill_group(signal.SIGTERM)
        if not end_shell(self.after, time.monotonic() + AFTER):
            kill_group(signal.SIGKILL)
            end_shell(self.after, float("inf"))
        self.after = None  # its status is ours

    def why_not(self):
        status = self.btgen.returncode
        if self.is_over:
            return "%s did not end within %d s" % ("AFTER" if self.case.after else "RUN" if self.case.run else "PROCESS", self.case.timeout)
        if self.after and self.after.returncode > 0:
            return "the exit status of AFTER is %d" % self.after.returncode
        if status < 0:
            return "btgen was killed by signal %d" % -status
        return "btgen's exit status is %d" % status if status else None

    def run(self):
        self.wait()
        self.end_after()
        self.seconds = time.monotonic() - self.begun
        for file in (self.output, self.log):
            file.seek(0)
        self.printed, self.messages = self.output.read(), self.log.read()
        return self.why_not()


# --- what is compared, and reported


def lines_of(data):
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    return lines if lines[-1] else lines[:-1]


def has_failed(expect, printed, lines, rest):
    """Why @expect is not met, or None; what it finds in order is taken from @rest."""
    found = [i for i, line in enumerate(lines) if expect.word != "EXPECT_FILE" and expect.fits(line)]
    if expect.word == "EXPECT_FILE":
        try:
            with open(expect.value, "rb") as file:
                return None if file.read() == printed else "the output differs"
        except OSError as error:
            return error.strerror
    if expect.word == "EXPECT_NONE":
        return "found" if found else None
    if expect.word == "EXPECT_LEAST":
        return None if len(found) >= expect.n else "found in %d line%s" % (len(found), "" if len(found) == 1 else "s")
    later = [i for i in found if i >= rest[0]]
    if later:
        rest[0] = later[0] + 1
        return None
    return "not found after the line of the previous EXPECT" if found else "not found"


def judge(path, case, printed):
    """What of @printed is not as expected, or None."""
    lines, rest = lines_of(printed), [0]
    for expect in case.expects:
        why = has_failed(expect, printed, lines, rest)
        if why:
            return "%s:%d: %s: %s" % (path, expect.line, expect, why)
    return None


def show(trace):
    """What was printed, and the messages; not all of much."""
    printed, messages = lines_of(trace.printed), lines_of(trace.messages)
    return (["printed:"] + ["  " + line for line in printed[:SHOWN]] if printed else ["nothing was printed"]) + \
        ["  ..."] * (len(printed) > SHOWN) + messages[:SHOWN] + ["..."] * (len(messages) > SHOWN)


class Result:
    def __init__(self, name, file, why=None, more=(), skipped=None, seconds=0):
        self.name, self.file, self.why, self.more, self.skipped, self.seconds = name, file, why, more, skipped, seconds


def escape(text):
    """Between tags or in an attribute. What XML 1.0 cannot have is a question mark."""
    text = re.sub("[\0-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]", "?", diag.printable(text))
    return re.sub('[&<>"]', lambda c: "&#%d;" % ord(c[0]), text)


def junit(results):
    count = [sum(bool(getattr(r, what)) for r in results) for what in ("why", "skipped")]
    out = ['<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n<testsuite name="btgen test" tests="%d" failures="%d" skipped="%d">\n' %
           (len(results), *count)]
    for r in results:
        what = ""
        if r.skipped:
            what = '<skipped message="%s"/>' % escape(r.skipped)
        elif r.why:
            what = '<failure message="%s">%s</failure>' % (escape(r.why), "".join(escape(line) + "\n" for line in r.more))
        out.append('<testcase classname="%s" name="%s" time="%.3f">%s</testcase>\n' % (escape(r.file), escape(r.name), r.seconds, what))
    return "".join(out + ["</testsuite>\n</testsuites>\n"]).encode()


def put(text):
    os.write(1, (text + "\n").encode("utf-8", "surrogateescape"))


class Session:
    """All files, while their cases run."""

    def __init__(self, words):
        self.words, self.exe = words, words.value("exe")
        self.unable = words.facts("--facts")["obstacle"]
        self.traced, self.results = set(), []

    def add(self, result):
        """As TAP, as it comes. A # in a description begins a directive."""
        self.results.append(result)
        name = diag.printable(re.sub(r"([#\\])", r"\\\1", result.name))
        put("%sok %d - %s%s" % ("not " if result.why else "", len(self.results), name,
                               " # SKIP " + diag.printable(result.skipped) if result.skipped else ""))
        for line in ([result.why] + ["  " + line for line in result.more] if result.why else ()):
            put("# " + diag.printable(line))

    def check(self, case):
        """What is wrong with @case for the file of -x, in lines; None: nothing."""
        common = ["-x", self.exe, *self.words.these("define", "include")]
        what = ["-e", case.prog] if case.prog else ["--", case.script]
        if case.patterns:
            status, made, said = self.words.ask("run", "-n", *common, *[word for p in case.patterns for word in ("-t", p)])
            if status:
                return lines_of(said)
            what = ["-e", os.fsdecode(made)]
        status, made, said = self.words.ask("expand", "--json", *common, *what)
        if status:
            return lines_of(said)
        self.traced.update(map(commandline.text, json.loads(made.decode())["probes"]))
        return None

    def result_of(self, path, case):
        unable = self.unable if is_possible(case) else "REQUIRES " + case.requires
        if unable == self.unable and self.exe:
            wrong = self.check(case)
            if wrong is not None:
                return Result(case.name, path, "%s:%d: does not match %s" % (path, case.line, self.exe), wrong)
        if unable:
            return Result(case.name, path, unable) if self.words.has("no-skip") else Result(case.name, path, skipped=unable)
        trace = Trace(self.words, case)
        why = trace.run() or judge(path, case, trace.printed)
        return Result(case.name, path, why, show(trace), seconds=trace.seconds)

    def report_untested(self):
        """Names the probes of -x that no case traces; with --all that is one more result."""
        status, made, said = self.words.ask("probes", "--json", "-x", self.exe)
        if status:
            os.write(2, said)
            return
        found = [p["provider"] + ":" + p["name"] for p in json.loads(made.decode())]
        untested = [name for name in dict.fromkeys(found) if name not in self.traced]
        if self.words.has("all"):
            self.add(Result("each probe is traced by a case", self.exe, "these are not:" if untested else None, untested))
            return
        for name in untested:
            put("# no case traces " + diag.printable(name))


def run(argv):
    words = commandline.Words(argv)
    xml = words.value("junit")
    suites, failed = [], None
    for path in words.operands:
        if xml and outfile.is_same(xml, path):
            failed = diag.error("--junit: %s is a file of cases" % path)
        try:
            suites.append((path, read_cases(path)))
        except diag.Failed as error:
            failed = error
    if failed:
        raise failed
    put("1..%d" % (sum(len(cases) for _, cases in suites) + words.has("all")))
    session = Session(words)
    for path, cases in suites:
        for case in cases:
            session.add(session.result_of(path, case))
    if session.exe:
        session.report_untested()
    if xml:
        outfile.write("--junit", xml, junit(session.results))
    return 1 if any(r.why for r in session.results) else 0


diag.main(run, sys.argv)
