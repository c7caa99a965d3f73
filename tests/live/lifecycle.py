#!/usr/bin/env python3
"""Ends traces in every way that there is, and looks at what is left of them; prints TAP.

    lifecycle.py BPFTRACE.SH PROGRAM FOLDER ends|targets|captures [NAME]...

PROGRAM fires five probes with semaphores over and over; each case has a copy of it. A case is a name and steps: see
ENDS, TARGETS and CAPTURES. After each of them no process of the trace may be left and no file in its folder; the program, if
it still runs, and its children must not be stopped and must have their own bytes at each probe and their semaphores as before
(read in their memory). What was printed must be whole lines. With NAMEs only the cases whose names contain one of them are run; else,
with THIRD=0, 1 or 2 in the environment, a third of them.
"""
import concurrent.futures
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

signal.signal(signal.SIGINT, signal.default_int_handler)  # what is started in the background ignores ^C, and so would ours
SH, PROGRAM, FOLDER, TABLE = sys.argv[1:5]
PATIENCE = 600  # seconds: a guard against what hangs, and never a claim
SCRIPT = 'usdt:__EXE__:life:* { printf("%d five words and %d\\n", arg0, arg0); @n[probe] = count(); }'
# All that may be printed; and a line with the number that the program gave it
LINE = re.compile(r"(?P<n>\d+) five words and (?P=n)|@n\[usdt:.*:life:\w+\]: \d+|==> [\w ]+ <==|")

# Steps, in order:
#   when       opening (a FIFO), starting, attaching, tracing, detaching (^C was given): goes on at that moment
#   SIGNAL:WHO to btgen, its group (of processes), bpftrace, the target or the helper that detaches
#   N          waits N seconds
#   taken      waits until btgen has taken its signal: the next one would be one with it
#   exit       the target ends by itself
#   exec       it becomes its program anew; exec-other: another program
#   fork       it has a child that goes on as it does
#   rename     it calls itself otherwise
#   gdb        a debugger is attached to it, which stops it; gdb-goes: lets it go on; gdb-ends: is detached
#   strace     its system calls are traced; strace-ends
#   over       waits for the end of the trace
#   late       once bpftrace has ended: SIGINT to btgen, over and over, to its end
#   unread     nobody reads the trace any more
#   again      waits for the end and traces once more, up to ^C
# Options: flood (events without a pause), beside (another trace of these probes, from before it to after it), say=REGEX (in the
#   messages), rc=N, json (-f json; as perfetto and otlp), keep (--keep 60s), costly (--max-rate 1: it is stopped), least=N (lines of events);
#   to=, where the trace goes: a file that is stdout, or as in place() below
ENDS = """
INT to btgen                             | tracing INT:btgen rc=0
TERM to btgen                            | tracing TERM:btgen rc=0
HUP to btgen                             | tracing HUP:btgen rc=0
QUIT to btgen                            | tracing QUIT:btgen rc=0
KILL to btgen                            | tracing KILL:btgen
ALRM to btgen                            | tracing ALRM:btgen rc=0
ABRT to btgen                            | tracing ABRT:btgen
PIPE to btgen, INT                       | tracing PIPE:btgen 0.1 INT:btgen rc=0
TSTP to btgen without a terminal, INT    | tracing TSTP:btgen 0.1 INT:btgen rc=0
STOP to btgen, CONT, INT                 | tracing STOP:btgen 0.3 CONT:btgen INT:btgen rc=0
STOP to btgen, INT, CONT                 | tracing STOP:btgen INT:btgen 0.3 CONT:btgen rc=0
STOP to btgen, KILL                      | tracing STOP:btgen 0.1 KILL:btgen
STOP to btgen, bpftrace is killed, CONT  | tracing STOP:btgen KILL:bpftrace 0.1 CONT:btgen rc=137
STOP to btgen, the target exits, CONT    | tracing STOP:btgen exit 0.3 CONT:btgen rc=0 say=has.exited
STOP to btgen as it attaches, CONT       | attaching STOP:btgen 0.3 CONT:btgen tracing INT:btgen rc=0
STOP to btgen as it detaches, CONT       | tracing detaching STOP:btgen 0.3 CONT:btgen rc=0
INT to the group                         | tracing INT:group rc=0
TERM to the group                        | tracing TERM:group rc=0
HUP to the group                         | tracing HUP:group rc=0
QUIT to the group                        | tracing QUIT:group rc=0
PIPE to the group, INT                   | tracing PIPE:group 0.1 INT:btgen rc=0
KILL to the group                        | tracing KILL:group
INT to bpftrace                          | tracing INT:bpftrace rc=0
TERM to bpftrace                         | tracing TERM:bpftrace rc=0
HUP to bpftrace                          | tracing HUP:bpftrace rc=129
QUIT to bpftrace                         | tracing QUIT:bpftrace rc=131
PIPE to bpftrace                         | tracing PIPE:bpftrace rc=141
SEGV to bpftrace                         | tracing SEGV:bpftrace rc=139
KILL to bpftrace                         | tracing KILL:bpftrace rc=137
INT twice at once                        | tracing INT:btgen INT:btgen
INT twice, 10 ms apart                   | tracing INT:btgen 0.01 INT:btgen
INT twice, while it detaches             | tracing detaching INT:btgen
INT twice, 500 ms apart                  | tracing INT:btgen 0.5 INT:btgen
INT, and more as bpftrace ends           | tracing INT:btgen late rc=0
TERM, and more as bpftrace ends          | tracing TERM:btgen late rc=0
the target exits, INTs as bpftrace ends  | tracing exit late rc=0
USR1 to btgen, INT                       | tracing USR1:btgen 0.1 INT:btgen rc=0 say=SIGUSR1.ignored.*--keep
USR1 at the start, INT                   | starting USR1:btgen tracing INT:btgen rc=0 say=SIGUSR1.ignored.*--keep
USR2 to btgen                            | tracing USR2:btgen rc=0
INT three times at once                  | tracing INT:btgen INT:btgen INT:btgen
INT three times, 10 ms apart             | tracing INT:btgen 0.01 INT:btgen 0.01 INT:btgen
INT three times, 30 ms apart             | tracing INT:btgen 0.03 INT:btgen 0.03 INT:btgen
INT three times, 100 ms apart            | tracing INT:btgen 0.1 INT:btgen 0.1 INT:btgen
INT three times, while it detaches       | tracing detaching INT:btgen 0.02 INT:btgen
INT five times, 20 ms apart              | tracing INT:btgen 0.02 INT:btgen 0.02 INT:btgen 0.02 INT:btgen 0.02 INT:btgen
TERM three times, 20 ms apart            | tracing TERM:btgen 0.02 TERM:btgen 0.02 TERM:btgen
INT to the group three times             | tracing INT:group 0.02 INT:group 0.02 INT:group
KILL to btgen as it detaches             | tracing detaching KILL:btgen
KILL to btgen 20 ms after INT            | tracing INT:btgen 0.02 KILL:btgen
KILL to btgen 100 ms after INT           | tracing INT:btgen 0.1 KILL:btgen
KILL to the group as it detaches         | tracing detaching KILL:group
INT twice, then KILL to btgen            | tracing detaching INT:btgen 0.01 KILL:btgen
INT to bpftrace twice                    | tracing INT:bpftrace 0.02 INT:bpftrace
KILL to bpftrace as it detaches, again   | tracing detaching KILL:bpftrace again
KILL to the helper as it detaches        | tracing detaching KILL:helper rc=0
KILL to the helper, then to bpftrace     | tracing detaching KILL:helper KILL:bpftrace again
TERM to the helper, INT twice            | tracing detaching TERM:helper INT:btgen INT:btgen
INT, and KILL to the helper at its end   | tracing detaching over KILL:helper rc=0
KILL to bpftrace 30 ms after INT, again  | tracing INT:btgen 0.03 KILL:bpftrace again
INT at the start                         | starting INT:btgen rc=130 say=interrupted.before
TERM at the start                        | starting TERM:btgen rc=143 say=interrupted.before
HUP at the start                         | starting HUP:btgen rc=129 say=interrupted.before
QUIT at the start                        | starting QUIT:btgen rc=131 say=interrupted.before
PIPE at the start, INT                   | starting PIPE:btgen tracing INT:btgen rc=0
KILL to btgen at the start               | starting KILL:btgen
KILL to bpftrace at the start            | starting KILL:bpftrace rc=137
KILL to the group at the start           | starting KILL:group
INT while it attaches                    | attaching INT:btgen
INT three times while it attaches        | attaching INT:btgen 0.01 INT:btgen 0.01 INT:btgen
KILL to btgen while it attaches          | attaching KILL:btgen
KILL to the group while it attaches      | attaching KILL:group
KILL to bpftrace while it attaches       | attaching KILL:bpftrace
SEGV to bpftrace while it attaches       | attaching SEGV:bpftrace rc=139
the target exits                         | tracing exit rc=0 say=has.exited
the target is killed                     | tracing KILL:target rc=0 say=has.exited
the target exits at the start            | starting exit rc=1 say=has.exited.before.it.could.be.traced
the target is killed at the start        | starting KILL:target rc=1 say=has.exited.before.it.could.be.traced
the target is killed while it attaches   | attaching KILL:target
the target exits as it detaches          | tracing detaching exit
the target is killed as it detaches      | tracing detaching KILL:target
the target is stopped, INT               | tracing STOP:target INT:btgen 0.3 CONT:target rc=0
the target is stopped, INT three times   | tracing STOP:target INT:btgen 0.02 INT:btgen 0.02 INT:btgen 0.3 CONT:target
the target is stopped, KILL to btgen     | tracing STOP:target KILL:btgen 0.3 CONT:target
the target is stopped as it attaches     | starting STOP:target tracing INT:btgen 0.3 CONT:target rc=0
the target is stopped, and is killed     | tracing STOP:target KILL:target rc=0 say=has.exited
bpftrace is stopped, INT, goes on        | tracing STOP:bpftrace INT:btgen 0.1 CONT:bpftrace rc=0
bpftrace hangs, INT three times          | tracing STOP:bpftrace INT:btgen taken INT:btgen taken INT:btgen rc=137
bpftrace hangs as it detaches            | tracing detaching STOP:bpftrace INT:btgen taken INT:btgen
bpftrace hangs, KILL to btgen            | tracing STOP:bpftrace KILL:btgen
nobody reads                             | tracing unread
nobody reads, INT three times            | tracing unread INT:btgen 0.02 INT:btgen 0.02 INT:btgen
a flood, INT                             | flood tracing INT:btgen rc=0
a flood, INT three times                 | flood tracing INT:btgen 0.02 INT:btgen 0.02 INT:btgen
a flood, KILL to btgen                   | flood tracing KILL:btgen
a flood, KILL to btgen as it detaches    | flood tracing detaching KILL:btgen
a flood that costs too much              | flood costly tracing rc=4 say=was.stopped
a flood that costs too much, KILL        | flood costly tracing detaching KILL:btgen
"""
TARGETS = r"""
the target forks, INT                    | tracing fork INT:btgen rc=0
the target forks, KILL to btgen          | tracing fork KILL:btgen
the target forks, and is killed          | tracing fork KILL:target rc=0 say=has.exited
the target forks while it attaches       | attaching fork tracing INT:btgen rc=0
the target forks as it detaches          | tracing detaching fork
the target execs its program, INT        | tracing exec INT:btgen rc=0
the target execs its program, KILL       | tracing exec KILL:btgen
the target execs its program, exits      | tracing exec exit rc=0 say=has.exited
the target execs while it attaches       | attaching exec tracing INT:btgen rc=0
the target execs as it detaches          | tracing detaching exec rc=0
the target execs, KILL to the helper     | tracing detaching exec KILL:helper rc=0
the target execs another program, INT    | tracing exec-other INT:btgen rc=0
the target execs another, KILL to btgen  | tracing exec-other KILL:btgen
the target execs another at the start    | starting exec-other rc=1 say=called.exec
the target changes its name, INT         | tracing rename 0.1 INT:btgen rc=0
the target changes its name, exits       | tracing rename exit rc=0 say=\(life\).has.exited
the target changes its name at the start | starting rename tracing INT:btgen rc=0
another trace, INT                       | beside tracing INT:btgen rc=0
another trace, KILL to btgen             | beside tracing KILL:btgen
another trace, KILL to the group         | beside tracing KILL:group
another trace, bpftrace is killed        | beside tracing KILL:bpftrace rc=137
another trace, KILL as it detaches       | beside tracing detaching KILL:btgen
another trace, KILL to the helper        | beside tracing detaching KILL:helper rc=0
another trace, the target is killed      | beside tracing KILL:target rc=0 say=has.exited
gdb comes and goes, INT                  | tracing gdb gdb-goes gdb-ends INT:btgen rc=0
gdb beside it, INT                       | tracing gdb gdb-goes INT:btgen over gdb-ends rc=0
gdb holds the target, INT                | tracing gdb INT:btgen over gdb-ends rc=0
gdb holds the target, KILL to btgen      | tracing gdb KILL:btgen over gdb-ends
gdb holds the target as it attaches      | gdb tracing gdb-ends 0.1 INT:btgen rc=0
strace comes and goes, INT               | tracing strace strace-ends INT:btgen rc=0
strace beside it, INT                    | tracing strace INT:btgen over strace-ends rc=0
strace beside it, KILL to btgen          | tracing strace KILL:btgen over strace-ends
strace beside it, the target is killed   | tracing strace KILL:target rc=0 say=has.exited
strace before it, INT                    | strace tracing 0.1 INT:btgen rc=0 over strace-ends
"""
CAPTURES = """
^C                                       | to=file flood tracing 0.3 INT:btgen rc=0 least=100
^C, JSON                                 | to=file flood json tracing 0.3 INT:btgen rc=0 least=100
^C, and more as bpftrace ends            | to=file flood tracing 0.3 INT:btgen late rc=0 least=100
^C, and more as bpftrace ends, a pipe    | to=pipe flood tracing 0.3 INT:btgen late rc=0 least=100
^C, and more as bpftrace ends, JSON      | to=file flood json tracing 0.3 INT:btgen late rc=0 least=100
^C, and more as bpftrace ends, perfetto  | to=file flood perfetto tracing 0.3 INT:btgen late rc=0
^C, and another at once, perfetto         | to=file flood perfetto tracing 0.3 INT:btgen 0.02 INT:btgen INT:btgen rc=0
^C, and more as bpftrace ends, otlp      | to=pipe flood otlp tracing 0.3 INT:btgen late rc=0
^C, and more as bpftrace ends, kept      | to=file flood keep tracing 0.3 INT:btgen late rc=0 least=100
TERM                                     | to=file flood tracing 0.3 TERM:btgen rc=0 least=100
TERM, at once                            | to=file flood tracing TERM:btgen rc=0
the target exits                         | to=file tracing 0.3 exit rc=0 least=10
the target is killed                     | to=file flood tracing 0.3 KILL:target rc=0 least=100
the target is killed, JSON               | to=file flood json tracing 0.3 KILL:target rc=0 least=100
bpftrace is killed                       | to=file flood tracing 0.3 KILL:bpftrace rc=137 least=100 say=killed.by.signal.9
bpftrace is killed, JSON                 | to=file flood json tracing 0.3 KILL:bpftrace rc=137 least=100
bpftrace is killed, a pipe reads         | to=pipe flood tracing 0.3 KILL:bpftrace rc=137 least=100
bpftrace crashes                         | to=file flood tracing 0.3 SEGV:bpftrace rc=139 least=100
btgen is killed                          | to=file flood tracing 0.3 KILL:btgen least=100
what is kept, ^C                         | to=file flood keep tracing 0.3 INT:btgen rc=0 least=100
what is kept, the target is killed       | to=file flood keep tracing 0.3 KILL:target rc=0 least=100
what is kept, bpftrace is killed         | to=file flood keep tracing 0.3 KILL:bpftrace rc=137 least=100
what is kept, btgen is killed            | to=file flood keep tracing 0.3 KILL:btgen
what is kept, SIGUSR1, btgen is killed   | to=file flood keep tracing 0.3 USR1:btgen 2 KILL:btgen least=100
what is kept, the disk is full           | to=small flood keep tracing rc=1 say=cannot.write.*No.space.left
the disk is full                         | to=small flood rc=1 least=1000 say=cannot.write.*No.space.left
the disk is full, JSON                   | to=small flood json rc=1 least=100 say=cannot.write.*No.space.left
ulimit -f                                | to=limit flood tracing rc=1 least=1000 say=cannot.write.the.output:.File.too.large
/dev/full                                | to=full tracing rc=1 say=cannot.write./dev/full:.No.space.left
stdout is closed                         | to=closed tracing rc=1 say=cannot.write.the.output
the reader goes: head -n 1               | to=head flood tracing rc=0 least=1
the reader of a FIFO goes                | to=fifo-head flood tracing rc=0 least=1
a FIFO, ^C                               | to=fifo tracing 0.3 INT:btgen rc=0 least=10
a FIFO that nobody opens, ^C             | to=unopened opening INT:btgen
"""
CASES = {"ends": ENDS, "targets": TARGETS, "captures": CAPTURES}[TABLE]


def wait_until(what):
    end = time.monotonic() + PATIENCE
    while True:
        got = what()
        if got or time.monotonic() > end:
            return got
        time.sleep(0.003)


def read(path, mode="r"):
    try:
        with open(path, mode) as f:
            return f.read()
    except OSError:
        return "" if mode == "r" else b""


def state_of(pid):
    return read(f"/proc/{pid}/stat").rpartition(") ")[2][:1]


def catches_int(pid):
    m = re.search(r"^SigCgt:\s*(\w+)", read(f"/proc/{pid}/status"), re.M)
    return bool(m and int(m.group(1), 16) & 1 << (signal.SIGINT - 1))


class Target:
    """The program under test: its probes, as readelf sees them, in its memory."""

    def __init__(self, folder, flood):
        self.path = folder + "/" + os.path.basename(PROGRAM)
        self.process = subprocess.Popen([self.path] + (["flood"] if flood else []), stdin=subprocess.PIPE,
                                        stdout=subprocess.DEVNULL, start_new_session=True)
        self.pid = self.process.pid
        notes = subprocess.run(["readelf", "-n", self.path], capture_output=True, text=True, check=True).stdout
        places = re.findall(r"Location: (\w+), Base: \w+, Semaphore: (\w+)", notes)
        assert len(places) >= 5, notes
        wait_until(lambda: self.path in read(f"/proc/{self.pid}/maps") and state_of(self.pid) in "SR")
        self.places = [(int(site, 16), int(sema, 16)) for site, sema in places]
        assert all(sema for _, sema in self.places)
        self.before = self.memory(self.pid)

    def start(self, pid):
        """Where its program begins in process PID; None when that runs another."""
        m = re.search(rf"^(\w+)-\w+ \S+ 0+ .*{re.escape(self.path)}$", read(f"/proc/{pid}/maps"), re.M)
        return m and int(m.group(1), 16)

    def memory(self, pid):
        """What process PID has at the probes, and in the semaphores; None when it does not run the program (any more)."""
        base = self.start(pid)
        if base is None:
            return None
        with open(f"/proc/{pid}/mem", "rb") as mem:
            def at(address):
                mem.seek(base + address)
                return mem.read(2)
            return [at(site) for site, _ in self.places], [at(sema) for sema in sorted({s for _, s in self.places})]

    def children(self):
        return [int(pid) for pid in read(f"/proc/{self.pid}/task/{self.pid}/children").split()]

    def memories(self):
        """Of it and of its children."""
        return [m for m in map(self.memory, [self.pid, *self.children()]) if m]

    def tell(self, command, done):
        self.process.stdin.write(command)
        self.process.stdin.flush()
        wait_until(done)

    def exec(self):
        old = self.start(self.pid)
        self.tell(b"x", lambda: self.start(self.pid) not in (None, old))

    def is_traced(self):
        return not re.search(r"^TracerPid:\s*0$", read(f"/proc/{self.pid}/status"), re.M)

    def lives(self):
        return self.process.poll() is None

    def end(self):
        """With its children: one that goes on would hold the output of the test open."""
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait(PATIENCE)


# What the target is told to do, and when it has done that
TARGET_STEPS = {
    "exec": Target.exec,
    "exec-other": lambda t: t.tell(b"o", lambda: read(f"/proc/{t.pid}/cmdline").startswith("sleep\0")),
    "fork": lambda t: t.tell(b"f", t.children),
    "rename": lambda t: t.tell(b"n", lambda: read(f"/proc/{t.pid}/comm") == "another name\n"),
}


class Case:
    def __init__(self, number, name, steps):
        self.name, self.steps, self.wants = name, [], {}
        self.folder = f"{FOLDER}/case{number}"
        os.makedirs(self.folder + "/work")
        shutil.copy(PROGRAM, self.folder)
        self.options = {"flood": False, "json": False, "perfetto": False, "otlp": False, "keep": False, "costly": False, "beside": False, "to": "stdout"}
        self.reader = self.tracer = self.debugger = None
        self.out = self.folder + "/out"
        for word in steps.split():
            key, _, value = word.partition("=")
            if key in ("rc", "say", "least"):
                self.wants[key] = value
            elif key in self.options:
                self.options[key] = value or True
            else:
                self.steps.append(word)

    def processes(self):
        """All that the trace has started, found by what stands in their environment; not those that have ended."""
        mark, found = f"LIFECYCLE_CASE={self.folder}\0".encode(), []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            if mark in read(f"/proc/{pid}/environ", "rb"):
                found.append(int(pid))
        return found

    def bpftrace(self):
        """Its PID, once it is bpftrace and no longer a copy of btgen."""
        for pid in read(f"/proc/{self.btgen.pid}/task/{self.btgen.pid}/children").split():
            if read(f"/proc/{pid}/cmdline").find("/proc/self/fd/") >= 0:
                return int(pid)
        return None

    def helper(self):
        """The process that detaches the probes after bpftrace's end."""
        return next((pid for pid in self.processes() if read(f"/proc/{pid}/comm") == "btgen-detach\n"), None)

    def is_btgen_in(self, call):
        numbers = {"openat": {"x86_64": "257", "aarch64": "56"}[os.uname().machine]}
        return (read(f"/proc/{self.btgen.pid}/comm").strip() == "btgen" and
                read(f"/proc/{self.btgen.pid}/syscall").split(" ")[0] == numbers[call])

    def reach(self, moment):
        def over():
            return self.btgen.poll() is not None
        if moment == "opening":  # bpftrace.sh is btgen by then: a shell may lose the signal
            wait_until(lambda: self.is_btgen_in("openat") or over())
        elif moment == "starting":
            self.tracer = wait_until(lambda: self.bpftrace() or over())
        elif moment == "attaching":
            self.reach("starting")
            wait_until(lambda: catches_int(self.tracer) or over())
        elif moment == "tracing":
            self.reach("starting")
            wait_until(lambda: os.path.exists(self.ready) or over())
        elif moment == "detaching":
            attached = self.target.memories()
            self.btgen.send_signal(signal.SIGINT)
            wait_until(lambda: self.helper() or self.target.memories() != attached or over())

    def send(self, name, who):
        sig = getattr(signal, "SIG" + name)
        try:
            if who == "group":
                os.killpg(self.btgen.pid, sig)
            else:
                pid = {"btgen": self.btgen.pid, "bpftrace": self.tracer, "target": self.target.pid}.get(who) or self.helper()
                if pid:
                    os.kill(pid, sig)
        except ProcessLookupError:
            pass  # it has ended already

    def place(self, data):
        """Where the trace goes: what stands before its command, its options, its stdout. In the end it is in self.out."""
        to = self.options["to"]
        fifo = self.folder + "/fifo"
        if to in ("fifo", "fifo-head", "unopened"):
            os.mkfifo(fifo)
            reads = {"fifo": 'cat <"$0"', "fifo-head": 'head -n 1 <"$0"', "unopened": "true"}[to]
            self.reader = subprocess.Popen(["sh", "-c", reads, fifo], stdout=data)
            return [], ["-o", fifo], subprocess.DEVNULL
        if to in ("pipe", "head"):
            self.reader = subprocess.Popen(["cat"] if to == "pipe" else ["head", "-n", "1"],
                                           stdin=subprocess.PIPE, stdout=data)
            return [], [], self.reader.stdin
        if to == "small":
            os.mkdir(self.folder + "/small")
            return (["unshare", "-m", "sh", "-c", 'mount -t tmpfs -o size=64k none "$0/small" && "$@"; '
                     'status=$?; cp "$0/small/out" "$0/out"; exit $status', self.folder],
                    ["-o", self.folder + "/small/out"], subprocess.DEVNULL)
        return {"stdout": ([], [], data),
                "file": ([], ["-o", self.out], subprocess.DEVNULL),
                "full": ([], ["-o", "/dev/full"], subprocess.DEVNULL),
                "limit": (["sh", "-c", 'ulimit -f 200; exec "$0" "$@"'], [], data),
                "closed": (["sh", "-c", 'exec "$0" "$@" >&-'], [], subprocess.DEVNULL)}[to]

    def start(self, messages, data):
        env = dict(os.environ, LIFECYCLE_CASE=self.folder, TMPDIR=self.folder + "/work")
        before, options, out = self.place(data)
        for form in ("json", "perfetto", "otlp"):
            if self.options[form]:
                options += ["-f", form]
        if self.options["keep"]:
            options += ["--keep", "60s"]
        if self.options["keep"] and self.options["to"] == "small":
            options += ["-T", "2"]  # a shell would get the signal
        options += ["--max-rate", "1"] if self.options["costly"] else ["--max-cost", "none"]  # on a full machine, too
        if os.path.exists(self.ready):
            os.unlink(self.ready)
        self.btgen = subprocess.Popen(
            [*before, SH, "--ready-file", self.ready, *options, str(self.target.pid), "-e", SCRIPT], env=env,
            cwd=self.folder + "/work", stderr=messages, start_new_session=True,
            stdout=subprocess.PIPE if "unread" in self.steps else out)
        if self.reader and self.reader.stdin:
            self.reader.stdin.close()

    def end(self):
        try:
            return self.btgen.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            return None

    def step(self, step, messages, data):
        if step == "exit":
            self.target.process.stdin.close()
        elif step in TARGET_STEPS:
            TARGET_STEPS[step](self.target)
        elif step in ("gdb", "strace"):
            attached = self.folder + "/attached"
            command = {"gdb": ["gdb", "-nx", "-q", "-p", str(self.target.pid), "-ex", f"shell touch {attached}"],
                       "strace": ["strace", "-f", "-p", str(self.target.pid)]}[step]
            self.debugger = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            # gdb stops the target long before it is done with it, and would leave it stopped if it were ended then.
            wait_until(lambda: self.target.is_traced() and (step == "strace" or os.path.exists(attached)))
        elif step == "gdb-goes":
            self.debugger.stdin.write(b"continue\n")
            self.debugger.stdin.flush()
            wait_until(lambda: state_of(self.target.pid) in "SR")
        elif step in ("gdb-ends", "strace-ends"):
            self.debugger.terminate()
            try:
                self.debugger.communicate(timeout=PATIENCE)
            except subprocess.TimeoutExpired:
                self.faults.append("the debugger does not end")
                self.debugger.kill()
                self.debugger.communicate()
        elif step == "late":
            wait_until(lambda: state_of(self.tracer) in ("", "Z") or self.btgen.poll() is not None)
            end = time.monotonic() + PATIENCE
            while self.btgen.poll() is None and time.monotonic() < end:
                self.send("INT", "btgen")
                time.sleep(0.0002)
        elif step == "over":
            self.end()
        elif step == "unread":
            self.btgen.stdout.close()
        elif step == "taken":
            wait_until(lambda: not re.search(r"^(SigPnd|ShdPnd):.*[1-9a-f]", read(f"/proc/{self.btgen.pid}/status"), re.M))
        elif step == "again":
            self.end()
            self.start(messages, data)
            self.reach("tracing")
            self.send("INT", "btgen")
        elif ":" in step:
            self.send(*step.split(":"))
        elif step[0].isdigit():
            time.sleep(float(step))
        else:
            self.reach(step)

    def trace_beside(self):
        """Another trace of the same probes; its count is in the semaphores from then on."""
        ready = self.folder + "/ready-beside"
        other = subprocess.Popen([SH, "--max-cost", "none", "--ready-file", ready, str(self.target.pid), "-e", SCRIPT], stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(lambda: os.path.exists(ready))
        self.target.before = self.target.memory(self.target.pid)
        return other

    def end_beside(self, other, original):
        if self.target.before == original:
            yield "the other trace had raised no semaphore"
        if other.poll() is not None and self.target.lives():
            yield "the other trace has ended"
        other.send_signal(signal.SIGINT)
        other.wait(PATIENCE)
        self.target.before = original
        for fault in self.look_at_memory():
            yield "without the other trace: " + fault

    def run(self):
        self.missing = [tool for tool in ("gdb", "strace") if tool in self.steps and not shutil.which(tool)]
        self.faults = []
        if self.missing:
            return self
        self.target = Target(self.folder, self.options["flood"])
        self.ready = self.folder + "/ready"
        original = self.target.before
        other = self.trace_beside() if self.options["beside"] else None
        with open(self.folder + "/messages", "w+") as messages, open(self.out, "w") as data:
            self.start(messages, data)
            for step in self.steps:
                self.step(step, messages, data)
            self.faults += [*self.look(self.end(), messages), *self.look_at_output()]
        if other:
            self.faults += self.end_beside(other, original)
        self.target.end()
        for pid in self.processes():
            os.kill(pid, signal.SIGKILL)
        return self

    def look(self, rc, messages):
        """What is not as it should be."""
        if rc is None:
            yield "btgen does not end"
        elif rc < 0 and not re.search(signal.Signals(-rc).name[3:] + ":(btgen|group)", " ".join(self.steps)):
            yield f"btgen was ended by signal {-rc}"
        if not wait_until(lambda: not self.processes()):
            yield "still there: " + ", ".join(read(f"/proc/{p}/cmdline").replace("\0", " ") for p in self.processes())
        if os.listdir(self.folder + "/work"):
            yield f"files left: {os.listdir(self.folder + '/work')}"
        if self.target.lives() and state_of(self.target.pid) != "Z":
            if state_of(self.target.pid) in "Tt":
                yield "the target is stopped"
            else:
                yield from self.look_at_memory()
        elif not re.search(r"exit|:target", " ".join(self.steps)):
            yield "the target is gone"
        messages.seek(0)
        said = messages.read()
        if "rc" in self.wants and rc != int(self.wants["rc"]):
            yield f"status {rc}, not {self.wants['rc']}; messages: {said}"
        if "say" in self.wants and not re.search(self.wants["say"], said):
            yield f"no message like {self.wants['say']} in: {said}"


    def look_at_memory(self):
        # A process that is ending detaches when it can no longer be found by its environment.
        wait_until(lambda: all(m == self.target.before for m in self.target.memories()))
        for sites, semaphores in self.target.memories():
            if sites != self.target.before[0]:
                yield f"breakpoints left: {[s.hex() for s in sites]}"
            if semaphores != self.target.before[1]:
                yield f"semaphores left: {[s.hex() for s in semaphores]}"

    def look_at_output(self):
        """A line that is not whole; too few of them."""
        if self.reader:
            self.reader.wait(PATIENCE)
        if self.options["perfetto"] or self.options["otlp"]:
            text = read(self.out)
            if not text and self.options["perfetto"]:  # the second ^C came before the conversion: the capture stays, and a line says how to convert it
                command = re.search(r"to convert it, run btgen (convert -f perfetto .*)", read(self.folder + "/messages"))
                if not command:
                    yield "no timeline, and no capture"
                    return
                subprocess.run([os.environ["BTGEN"], *command[1].split()], check=True)
                text = read(self.out)
            for line in [text] if self.options["perfetto"] else text.splitlines():
                json.loads(line)
            return
        *lines, rest = read(self.out).split("\n")
        # KILL can be the end of a write() at the end of a page.
        if rest and not re.search("KILL:(btgen|group)", " ".join(self.steps)):
            yield f"it does not end with a line, but: {rest}"
        texts = [json.loads(line).get("text", "") for line in lines] if self.options["json"] else lines
        for text in texts:
            if not LINE.fullmatch(text):
                yield f"no whole line: {text}"
        n = sum(" words " in text for text in texts)
        if n < int(self.wants.get("least", 0)):
            yield f"{n} lines, not {self.wants['least']}"


def main():
    cases = list(enumerate(line.split("|") for line in CASES.strip().split("\n")))
    wanted, third = sys.argv[5:], os.environ.get("THIRD", "all")
    if wanted:
        cases = [(i, (name, steps)) for i, (name, steps) in cases if any(n in name for n in wanted)]
    elif third != "all":
        cases = [(i, line) for i, line in cases if i % 3 == int(third)]
    cases = [Case(i, name.strip(), steps) for i, (name, steps) in cases]
    failed = 0
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup make check: what ignores it from the start goes on
    print(f"1..{len(cases)}")
    # Most of the time is the kernel's, which detaches one probe after another.
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for i, case in enumerate(pool.map(Case.run, cases), 1):
            failed += bool(case.faults)
            print(f"{'not ' if case.faults else ''}ok {i} - {case.name}: lines are whole, and nothing is left" +
                  "".join(f" # SKIP no {tool}" for tool in case.missing))
            for fault in case.faults:
                print("\n".join("#   " + line for line in fault.split("\n")))
            sys.stdout.flush()
    return 1 if failed else 0


sys.exit(main())
