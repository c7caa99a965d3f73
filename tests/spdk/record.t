#!/usr/bin/env python3
"""A target and an initiator of SPDK are sent RPCs, from the first transport to the end of the last controller, while all
scripts for them run: each line that a script prints is one that the RPCs and SPDK's own answers ask for, and no other.
What the initiator fires is told by bpftrace alone, too.
"""
import collections
import itertools
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import model
import printed
from spdk import SPDK, Bed, free_port, wait_for

NQN = "nqn.2016-06.io.spdk:cnode1"
HOST = "nqn.2014-08.org.nvmexpress:uuid:6a3ba1d7-1d5f-4b5c-a7a3-29e6ab2f4be5"
SCRIPTS = SPDK / "scripts/bpf"


def thread_ids(app):
    return {thread["name"]: thread["id"] for thread in app.rpc("thread_get_stats")["threads"]}


def places(app):
    """Thread -> core, as SPDK says."""
    return {thread["id"]: reactor["lcore"] for reactor in app.rpc("framework_get_reactors")["reactors"]
            for thread in reactor["lw_threads"]}


def finished_program(bed, target):
    """What SPDK's own wrapper hands to bpftrace, made by SPDK; None: a release without that."""
    if not (SCRIPTS / "gen_program.sh").exists():
        bed.skip("SPDK's gen_program.sh makes a program", "this SPDK has none")
        return None
    folder = bed.tmp / "bin"
    folder.mkdir()
    (folder / "bpftrace").symlink_to(os.environ.get("BTGEN_BPFTRACE") or
                                     subprocess.getoutput("command -v bpftrace"))
    env = {**bed.env, "PATH": f"{folder}:{bed.env['PATH']}", "GIT_CONFIG_COUNT": "1",
           "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
    program = subprocess.run([SCRIPTS / "gen_program.sh", str(target.pid), SCRIPTS / "nvmf.bt"], cwd=SPDK,
                             env=env, capture_output=True, text=True, check=False)
    bed.ok(program.returncode == 0, "SPDK's gen_program.sh makes a program", program.stderr)
    return program.stdout


def times(log, text):
    """When the log says @text, in seconds of the day."""
    found = re.findall(r"^\[\S+ (\d+):(\d+):([\d.]+)\].*" + re.escape(text), log, re.M)
    return [int(hours) * 3600 + int(minutes) * 60 + float(seconds) for hours, minutes, seconds in found]


class Run:
    """The RPCs, one after the other; what they mean is in the models."""

    def __init__(self, target, initiator):
        self.target, self.initiator = target, initiator
        self.port = free_port()
        self.model = model.Target("nvmf_tgt", sorted(number for name, number in thread_ids(target).items()
                                                     if name.startswith("nvmf_tgt_poll_group")),
                                  "PROBE3_TICKS(nvmf_ctrlr_destruct" in (SPDK / "lib/nvmf/ctrlr.c").read_text())
        self.nvme = model.Initiator(thread_ids(initiator)["app_thread"])
        self.places = []
        self.asked = 0

    def ask(self, what):
        """The target pauses a subsystem to look at its controllers and queue pairs, too."""
        self.model.paused(NQN)
        return self.target.rpc(f"nvmf_subsystem_get_{what}", NQN)

    def connected(self):
        """The thread of the queue pair that is left, the admin one. Older releases do not say."""
        pairs = []

        def is_alone():
            pairs[:] = self.ask("qpairs")
            return [pair["qid"] for pair in pairs] == [0]
        wait_for(is_alone, "one queue pair is left")
        if "thread" not in pairs[0]:
            self.asked += 1
            return model.OneOf(f"admin{self.asked}")
        return model.Thread(thread_ids(self.target)[pairs[0]["thread"]])

    def listener(self, what):
        self.target.rpc(f"nvmf_subsystem_{what}_listener", NQN, "-t", "tcp", "-a", "127.0.0.1", "-s", self.port)
        self.model.change_listener(what, NQN, "127.0.0.1", self.port)

    def attach(self, name, *options):
        self.initiator.rpc("bdev_nvme_attach_controller", "-b", name, "-t", "tcp", "-f", "ipv4", "-a", "127.0.0.1",
                           "-s", self.port, "-n", NQN, "-q", HOST, *options)
        thread = self.connected()
        made = self.model.connect(NQN, HOST, thread)
        self.model.io_qpair(made[1], NQN, HOST, model.OneOf(name), thread)
        self.nvme.attach(name)
        return made

    def connect_and_reset(self):
        self.target.rpc("nvmf_create_transport", "-t", "tcp")
        self.model.create_transport()
        self.target.rpc("nvmf_create_subsystem", NQN, "-a", "-s", "SPDK00000000000001", "-m", "10")
        self.model.create_subsystem(NQN)
        self.listener("add")
        self.target.rpc("bdev_null_create", "null0", "1000", "512")
        self.target.rpc("nvmf_subsystem_add_ns", NQN, "null0")
        self.model.paused(NQN, "nvmf_subsystem_add_ns", 1)
        self.target.rpc("nvmf_subsystem_add_host", NQN, HOST)
        self.model.fire("tgt", "nvmf_subsystem_add_host", NQN, HOST)
        first = self.attach("Nvme0", "-l", "5", "-o", "2")
        self.initiator.rpc("bdev_nvme_reset_controller", "Nvme0")
        self.model.disconnect(first, NQN, HOST)
        self.nvme.reset("Nvme0")
        return self.model.connect(NQN, HOST, self.connected())

    def schedule(self):
        self.places.append(places(self.target))
        self.target.rpc("framework_set_scheduler", "dynamic")

    def lose(self, connection):
        self.listener("remove")
        self.model.disconnect(connection, NQN, HOST)
        wait_for(lambda: not self.initiator.rpc("bdev_nvme_get_controllers"), "the initiator gives up")
        self.nvme.lose("Nvme0", len(times(self.initiator.log(), "Resetting controller failed")))

    def end(self):
        self.listener("add")
        connection = self.attach("Nvme1")
        self.initiator.rpc("bdev_nvme_detach_controller", "Nvme1")
        self.model.disconnect(connection, NQN, HOST)
        self.nvme.detach("Nvme1")
        wait_for(lambda: not self.ask("controllers"), "the controller is gone")
        self.target.rpc("nvmf_subsystem_remove_host", NQN, HOST)
        self.model.fire("tgt", "nvmf_subsystem_remove_host", NQN, HOST)
        self.target.rpc("nvmf_subsystem_remove_ns", NQN, "1")
        self.model.paused(NQN, "subsystem_remove_ns()", 1, nsid=1)
        self.target.rpc("nvmf_delete_subsystem", NQN)
        self.model.delete_subsystem(NQN)
        self.target.rpc("bdev_null_delete", "null0")
        self.places.append(places(self.target))

    def events(self, say, lines):
        """The target's events. Where SPDK chooses a thread that nobody can ask for, the one that @lines show: it has to
        be the same for all scripts."""
        names = sorted({arg for _, _, args in self.model.events for arg in args if isinstance(arg, model.OneOf)})
        choices = [dict(zip(names, threads)) for threads in itertools.product(self.model.threads, repeat=len(names))]
        possible = [model.settle(self.model.events, choice) for choice in choices]

        def differences(events):
            printed_, wanted = map(collections.Counter, say.compare(lines, events))
            return sum((printed_ - wanted).values())
        return min(possible, key=differences)


NVME = {"bdev_nvme_create_qpair": (str, int, model.Thread), "bdev_nvme_destruct": (str, int), "bdev_nvme_ctrlr_release": (str, int)}


def bare(bed, pid):
    """bpftrace without btgen on all probes bdev_nvme_* of a process: their caller's arguments, which NVME has if there are more than a name."""
    text = ""
    for probe, file in bed.probes().items():
        if probe.startswith("bdev_nvme_"):
            types = NVME.get(probe, (str,))
            values = "".join(f", str(arg{i})" if t is str else f", arg{i}" for i, t in enumerate(types, 1))
            form = "".join(" %s" if t is str else " %ld" for t in types)
            text += f'usdt:{file}:spdk:{probe} /pid == {pid}/ {{ printf("{probe}{form}\\n"{values}); }}\n'
    return bed.bare(text)


def nvme_events(lines):
    """Its lines as events of the model."""
    for probe, *values in filter(None, map(str.split, lines)):
        if probe.startswith("bdev_nvme_"):
            yield "nvme", probe, tuple(t(value) for t, value in zip(NVME.get(probe, (str,)), values))


def resets(log, who):
    """What the initiator's log tells of resets of Nvme0, in the words of nvmf_timeout.bt."""
    attempt, pending = 0, False
    for event in re.findall(r"resetting controller$|Resetting controller (?:successful|failed)", log, re.M):
        if event == "resetting controller":
            yield f"{who} has waited after attempt {attempt}" if pending else f"{who} reset"
            attempt = attempt + 1 if pending else 1
            yield f"{who} connects, attempt {attempt}"
        else:
            pending = event.endswith("failed")
            yield f"{who} {'failed' if pending else 'connected'}, attempt {attempt}"


def check_timeout(bed, trace, log, port):
    """nvmf_timeout.bt against the initiator's log: what, how often, and when. The log does not tell of deletions, the RPCs do."""
    failed = times(log, "Resetting controller failed")
    attempts = times(log, "resetting controller")
    lines = trace.lines()
    bed.equal([re.sub(r", [\d.]+ s after the reset$", "", line) for line in trace.events() if not line.startswith("@")],
              [*resets(log, f"Nvme0 127.0.0.1:{port}"), *(f"Nvme{i} 127.0.0.1:{port} deleted" for i in (0, 1))],
              "nvmf_timeout.bt")
    bed.equal(sorted(line for line in lines if line.startswith("@")),
              [f"@{name}[Nvme0, 127.0.0.1, {port}]: {n}"
               for name, n in (("attempts", len(attempts)), ("failures", len(failed)), ("resets", 2))],
              "nvmf_timeout.bt: the sums are those of the initiator's log")
    stamps = [float(line.split(":")[0]) for line in lines if f" Nvme0 127.0.0.1:{port} failed, attempt " in line]
    late = [(stamp - stamps[0]) - (at - failed[0]) % 86400 for stamp, at in zip(stamps, failed)]
    bed.ok(len(stamps) == len(failed) and all(abs(seconds) < 1 for seconds in late),
           "nvmf_timeout.bt: attempts fail when the log says so, not a wait of 2 s later", (stamps, failed))


def check_sched(bed, trace, before, after):
    """sched.bt against the places of threads that SPDK gives."""
    where, wrong, rounds, moves = dict(before), [], [], collections.Counter()
    too_busy, core_busy, threads_busy = [], 0, 0
    for line in trace.events():
        if line.startswith("round "):
            rounds.append({})
        core = re.match(r"core (\d+) busy (\d+)%, (?:polls|sleeps), threads: (\d+)$", line)
        thread = re.match(r"core (\d+) busy (\d+)% with thread (\d+)$", line)
        move = re.match(r"thread (\d+) moves from core (\d+) to core (\d+)$", line)
        if core:
            rounds[-1][int(core[1])] = []
            core_busy, threads_busy = int(core[2]), 0
        elif thread:
            rounds[-1][int(thread[1])].append(int(thread[3]))
            threads_busy += int(thread[2])
            if threads_busy > core_busy:
                too_busy.append(f"{line}, with a core that is busy {core_busy}%")
        elif move:
            number, old, new = map(int, move.groups())
            if old == new or where[number] != old:
                wrong.append(f"{line}, where it was on {where[number]}")
            where[number] = new
            moves[f"@moves[{number}, {new}]"] += 1

    def by_core(places_):
        return {core: sorted(t for t, at in places_.items() if at == core) for core in (0, 1)}
    bed.ok(len(rounds) > 5, f"sched.bt: the scheduler makes rounds ({len(trace.events())} lines)", trace.events)
    bed.equal([{core: sorted(threads) for core, threads in (rounds or [{}])[0].items()}], [by_core(before)],
              "sched.bt: in the first round the threads are where SPDK says that they are")
    bed.equal(sorted(line for line in trace.events() if line.startswith("@")), sorted(f"{k}: {n}" for k, n in moves.items()),
              "sched.bt: the sums are those of the lines")
    bed.equal(wrong, [], "sched.bt: a move leads from where a thread is to another core")
    bed.equal([by_core(where)], [by_core(after)], "sched.bt: all moves together lead to where SPDK says that the threads are")
    bed.equal(too_busy, [], "sched.bt: the shares of a core's threads are no more than the core's")


def check_refused(bed, target):
    """SPDK's sched script: what it is refused for is told once for each, at its place in the script."""
    text = (SCRIPTS / "sched.bt").read_text().splitlines()
    trace = bed.begin(target.pid, SCRIPTS / "sched.bt")
    bed.ok(not trace.wait_ready(), "SPDK's sched: refused", trace.messages)
    bed.stop(trace)
    errors = re.findall(r"sched\.bt:(\d+):(\d+): error: (.*)", trace.messages())
    signs = [(line, column) for line, column, error in errors if error.endswith("[format]")]
    bed.equal(signs, [(str(i + 1), str(m.start() + 1)) for i, line in enumerate(text) for m in re.finditer("% [a-z]", line)],
              "SPDK's sched: errors at the % that take a value which nobody gave")


def main():
    with Bed() as bed:
        target = bed.start("target", "-m", "0x3", "-s", "1024")
        initiator = bed.start("initiator", "-m", "0x1", "-s", "1024")
        check_refused(bed, target)
        started = {
            "nvmf.bt": bed.begin(target.pid, "nvmf.bt"),
            "qpair.bt": bed.begin(target.pid, "qpair.bt"),
            "sched.bt": bed.begin(target.pid, "sched.bt"),
            "spdk.bt": bed.begin("-D", "MESSAGES=0", target.pid, "spdk.bt"),
            "-t 'spdk:*'": bed.begin("-f", "json", "-t", "spdk:*", target.pid),
            "SPDK's nvmf": bed.begin(target.pid, SCRIPTS / "nvmf.bt"),
            "nvme.bt": bed.begin(initiator.pid, "nvme.bt"),
            "nvme.bt, with only BPF_OUTFILE in the environment": bed.begin(initiator.pid, "nvme.bt", only={}),
            "nvmf_timeout.bt": bed.begin(initiator.pid, "nvmf_timeout.bt"),
            "SPDK's nvme": bed.begin(initiator.pid, SCRIPTS / "nvme.bt"),
            "SPDK's nvmf_timeout": bed.begin(initiator.pid, SCRIPTS / "nvmf_timeout.bt"),
        }
        program = finished_program(bed, target)
        if program:
            started["SPDK's nvmf as a finished program"] = bed.begin(
                target.pid, program, env={"USE_CMDLINE_BPF_PROGRAM": "yes"})
        traces = {name: trace for name, trace in started.items()
                  if bed.ok(trace.wait_ready(), f"{name}: it attaches", trace.messages)}

        alone = bare(bed, initiator.pid)
        run = Run(target, initiator)
        connection = run.connect_and_reset()
        run.schedule()
        run.lose(connection)
        run.end()
        bed.stop(*traces.values())
        bed.ok(all(trace.status == 0 for trace in traces.values()), "^C is status 0 for all")
        nvme = list(nvme_events(bed.end_bare(alone)))
        bed.equal([e for e in nvme if e[1] != "bdev_nvme_ctrlr_release"], run.nvme.events, "bpftrace alone: what the RPCs ask of the initiator")

        nvmf = printed.ours_nvmf()
        events = run.events(nvmf, traces["nvmf.bt"].events() if "nvmf.bt" in traces else [])
        counts = {probe: len(args) for _, probe, args in events if not probe.endswith("()")}  # not the functions
        cut = 63 if bed.version < 22 else None  # what bpftrace leaves of a string

        def check(name, say, of, lines=None):
            if name in traces:
                bed.equal(*say.compare(traces[name].events() if lines is None else lines, of), name)
        check("nvmf.bt", nvmf, events)
        check("SPDK's nvmf", printed.theirs(SCRIPTS / "nvmf.bt"), events)
        check("SPDK's nvmf as a finished program", printed.theirs(SCRIPTS / "nvmf.bt", cut), events)
        check("nvme.bt", printed.ours_nvme(), nvme)
        check("nvme.bt, with only BPF_OUTFILE in the environment", printed.ours_nvme(), nvme)
        check("SPDK's nvme", printed.theirs(SCRIPTS / "nvme.bt"), nvme)
        check("SPDK's nvmf_timeout", printed.theirs(SCRIPTS / "nvmf_timeout.bt"), nvme)
        if "qpair.bt" in traces:
            lines = sorted(traces["qpair.bt"].lines(), key=lambda line: int(line.split()[0]))
            check("qpair.bt", printed.ours_qpair(), events, [line.split(" ", 1)[1] for line in lines])
        if "-t 'spdk:*'" in traces:
            # Beside records a capture has lines of the run itself.
            records = [o for o in map(json.loads, traces["-t 'spdk:*'"].lines()) if "fields" in o]
            objects = sorted(records, key=lambda o: o["time"])
            check("-t 'spdk:*'", printed.values_of(counts), events, list(printed.json_values(objects, counts)))
        if "spdk.bt" in traces:
            lines = list(printed.text_values(traces["spdk.bt"].events(), {**counts, "nvmf_ctrlr_destruct": 2}))
            # It has the arguments that all releases have.
            check("spdk.bt", printed.values_of(counts),
                  [(key, probe, (args[0], args[-1]) if probe == "nvmf_ctrlr_destruct" else args) for key, probe, args in events], lines)
        if "nvmf_timeout.bt" in traces:
            check_timeout(bed, traces["nvmf_timeout.bt"], initiator.log(), run.port)
        if "sched.bt" in traces:
            check_sched(bed, traces["sched.bt"], *run.places)
        return bed.done()


sys.exit(main())
