#!/usr/bin/env python3
"""Ends traces in every way that there is, and looks at what is left of them; prints TAP.

    lifecycle.py BPFTRACE.SH PROGRAM FOLDER [NAME]...

PROGRAM fires five probes with semaphores over and over; each case has a copy of it. A case is a name and steps: see
CASES. After each of them no process of the trace may be left and no file in its folder; the program, if it still runs, must
not be stopped and must have its own bytes at each probe and nothing in its semaphores (read in its memory). With NAMEs only
the cases whose names contain one of them are run.
"""
import concurrent.futures
import os
import re
import shutil
import signal
import subprocess
import sys
import time

SH, PROGRAM, FOLDER = sys.argv[1:4]
PATIENCE = 60  # seconds, for what has to happen: the machine may be busy
SCRIPT = 'usdt:__EXE__:life:* { printf("%d\\n", arg0); @n[probe] = count(); }'

# Steps, in order:
#   when       starting, attaching, tracing, detaching (^C was given): goes on at that moment
#   SIGNAL:WHO to btgen, its group (of processes), bpftrace or the target
#   N          waits N seconds
#   taken      waits until btgen has taken its signal: the next one would be one with it
#   exit       the target ends by itself
#   unread     nobody reads the trace any more
#   again      waits for the end and traces once more, up to ^C
# Options: out=FILE, flood (events without a pause), say=REGEX (in the messages), rc=N
CASES = """
INT to btgen                             | tracing INT:btgen rc=0
TERM to btgen                            | tracing TERM:btgen rc=0
HUP to btgen                             | tracing HUP:btgen rc=0
QUIT to btgen                            | tracing QUIT:btgen rc=0
KILL to btgen                            | tracing KILL:btgen
INT to the group                         | tracing INT:group rc=0
TERM to the group                        | tracing TERM:group rc=0
HUP to the group                         | tracing HUP:group rc=0
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
KILL to bpftrace as it detaches, again   | tracing detaching KILL:bpftrace again say=breakpoints.may.be.left
KILL to bpftrace 30 ms after INT, again  | tracing INT:btgen 0.03 KILL:bpftrace again
INT at the start                         | starting INT:btgen rc=130 say=interrupted.before
TERM at the start                        | starting TERM:btgen rc=143 say=interrupted.before
KILL to btgen at the start               | starting KILL:btgen
KILL to bpftrace at the start            | starting KILL:bpftrace rc=137
INT while it attaches                    | attaching INT:btgen
INT three times while it attaches        | attaching INT:btgen 0.01 INT:btgen 0.01 INT:btgen
KILL to btgen while it attaches          | attaching KILL:btgen
KILL to bpftrace while it attaches       | attaching KILL:bpftrace
the target exits                         | tracing exit rc=0 say=has.exited
the target is killed                     | tracing KILL:target rc=0 say=has.exited
the target exits at the start            | starting exit rc=1 say=has.exited.before.it.could.be.traced
the target is killed while it attaches   | attaching KILL:target
the target exits as it detaches          | tracing detaching exit
the target is killed as it detaches      | tracing detaching KILL:target
the target is stopped, INT               | tracing STOP:target INT:btgen 0.3 CONT:target rc=0
the target is stopped, INT three times   | tracing STOP:target INT:btgen 0.02 INT:btgen 0.02 INT:btgen 0.3 CONT:target
the target is stopped, KILL to btgen     | tracing STOP:target KILL:btgen 0.3 CONT:target
bpftrace is stopped, INT, goes on        | tracing STOP:bpftrace INT:btgen 0.1 CONT:bpftrace rc=0
bpftrace hangs, INT three times          | tracing STOP:bpftrace INT:btgen taken INT:btgen taken INT:btgen rc=137
bpftrace hangs, KILL to btgen            | tracing STOP:bpftrace KILL:btgen
the output is full                       | out=/dev/full tracing rc=1 say=No.space.left
nobody reads                             | tracing unread
nobody reads, INT three times            | tracing unread INT:btgen 0.02 INT:btgen 0.02 INT:btgen
a flood, INT                             | flood tracing INT:btgen rc=0
a flood, INT three times                 | flood tracing INT:btgen 0.02 INT:btgen 0.02 INT:btgen
a flood, KILL to btgen                   | flood tracing KILL:btgen
a flood, KILL to btgen as it detaches    | flood tracing detaching KILL:btgen
"""


def wait_until(what, patience=PATIENCE):
    end = time.monotonic() + patience
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
                                        stdout=subprocess.DEVNULL)
        self.pid = self.process.pid
        notes = subprocess.run(["readelf", "-n", self.path], capture_output=True, text=True, check=True).stdout
        places = re.findall(r"Location: (\w+), Base: \w+, Semaphore: (\w+)", notes)
        assert len(places) >= 5, notes
        wait_until(lambda: self.path in read(f"/proc/{self.pid}/maps") and state_of(self.pid) in "SR")
        base = int(re.search(rf"^(\w+)-\w+ \S+ 0+ .*{re.escape(self.path)}$",
                             read(f"/proc/{self.pid}/maps"), re.M).group(1), 16)
        self.sites = [base + int(site, 16) for site, _ in places]
        self.semaphores = sorted({base + int(sema, 16) for _, sema in places})
        assert all(int(sema, 16) for _, sema in places)
        self.before = self.memory()

    def memory(self):
        with open(f"/proc/{self.pid}/mem", "rb") as mem:
            def at(address):
                mem.seek(address)
                return mem.read(2)
            return [at(a) for a in self.sites], [at(a) for a in self.semaphores]

    def lives(self):
        return self.process.poll() is None

    def end(self):
        if self.lives():
            self.process.kill()
        self.process.wait()


class Case:
    def __init__(self, number, name, steps):
        self.name, self.steps, self.wants = name, [], {}
        self.folder = f"{FOLDER}/case{number}"
        os.makedirs(self.folder + "/work")
        shutil.copy(PROGRAM, self.folder)
        self.options = {"flood": False, "out": None}
        for word in steps.split():
            key, _, value = word.partition("=")
            if key in ("rc", "say"):
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

    def reach(self, moment):
        def over():
            return self.btgen.poll() is not None
        if moment == "starting":
            self.tracer = wait_until(lambda: self.bpftrace() or over())
        elif moment == "attaching":
            self.reach("starting")
            wait_until(lambda: catches_int(self.tracer) or over())
        elif moment == "tracing":
            self.reach("starting")
            wait_until(lambda: os.path.exists(self.ready) or over())
        elif moment == "detaching":
            attached = self.target.memory()
            self.btgen.send_signal(signal.SIGINT)
            wait_until(lambda: self.target.memory() != attached or over())

    def send(self, name, who):
        sig = getattr(signal, "SIG" + name)
        try:
            if who == "group":
                os.killpg(self.btgen.pid, sig)
            else:
                os.kill({"btgen": self.btgen.pid, "bpftrace": self.tracer, "target": self.target.pid}[who], sig)
        except ProcessLookupError:
            pass  # it has ended already

    def start(self, messages, data):
        env = dict(os.environ, LIFECYCLE_CASE=self.folder, TMPDIR=self.folder + "/work")
        out = ["-o", self.options["out"]] if self.options["out"] else []
        if os.path.exists(self.ready):
            os.unlink(self.ready)
        self.btgen = subprocess.Popen(
            [SH, "--ready-file", self.ready, *out, str(self.target.pid), "-e", SCRIPT], env=env,
            cwd=self.folder + "/work", stderr=messages, start_new_session=True, stdout=data)

    def end(self):
        try:
            return self.btgen.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            return None

    def step(self, step, messages, data):
        if step == "exit":
            self.target.process.stdin.close()
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

    def run(self):
        self.target = Target(self.folder, self.options["flood"])
        self.ready = self.folder + "/ready"
        with open(self.folder + "/messages", "w+") as messages, open(self.folder + "/out", "w") as data:
            self.start(messages, subprocess.PIPE if "unread" in self.steps else data)
            for step in self.steps:
                self.step(step, messages, data)
            self.faults = list(self.look(self.end(), messages))
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
                # A process that is ending detaches when it can no longer be found by its environment.
                wait_until(lambda: self.target.memory() == self.target.before, 10)
                sites, semaphores = self.target.memory()
                if sites != self.target.before[0]:
                    yield f"breakpoints left: {[s.hex() for s in sites]}"
                if semaphores != self.target.before[1]:
                    yield f"semaphores left: {[s.hex() for s in semaphores]}"
        elif not re.search(r"exit|:target", " ".join(self.steps)):
            yield "the target is gone"
        messages.seek(0)
        said = messages.read()
        if "rc" in self.wants and rc != int(self.wants["rc"]):
            yield f"status {rc}, not {self.wants['rc']}; messages: {said}"
        if "say" in self.wants and not re.search(self.wants["say"], said):
            yield f"no message like {self.wants['say']} in: {said}"


def main():
    cases = [line.split("|") for line in CASES.strip().split("\n")]
    cases = [Case(i, name.strip(), steps) for i, (name, steps) in enumerate(cases)
             if len(sys.argv) == 4 or any(n in name for n in sys.argv[4:])]
    failed = 0
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup make check: what ignores it from the start goes on
    print(f"1..{len(cases)}")
    # Most of the time is the kernel's, which detaches one probe after another.
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for i, case in enumerate(pool.map(Case.run, cases), 1):
            failed += bool(case.faults)
            print(f"{'not ' if case.faults else ''}ok {i} - {case.name}: nothing is left")
            for fault in case.faults:
                print("\n".join("#   " + line for line in fault.split("\n")))
            sys.stdout.flush()
    return 1 if failed else 0


sys.exit(main())
