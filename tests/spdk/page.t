#!/usr/bin/env python3
"""docs/spdk.md from top to bottom: each command as it stands, in its order, and what it prints beside the page's own lines."""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from spdk import BUILD, PATIENCE, SPDK, TOP, Bed, wait_for

PAGE = (TOP / "docs/spdk.md").read_text()
SHOWN = "26.09"  # the release whose output the page has
NQN = "nqn.2016-06.io.spdk:cnode1"
ADD, REMOVE = f"nvmf_subsystem_add_ns {NQN}", f"nvmf_subsystem_remove_ns {NQN}"


def commands():
    """All commands of the page -> the lines that it shows below."""
    found, command = {}, None
    lines = iter(PAGE.splitlines())
    for line in lines:
        start = re.match(r"    (?:[#$] (?!btgen\(1\))|(?=bpftrace\.sh ))(.*)", line)
        if start:
            command = start[1]
            while command.endswith("\\") or ("<<E" in command and not command.endswith("\nE")):
                command += "\n" + next(lines)[4:]
            command = re.sub(r"  +# .*", "", command)
            found[command] = []
        elif not line.startswith("    "):
            command = None
        elif command:
            found[command].append(line[4:])
    return found


def block(start):
    """The indented lines from that one on."""
    found = re.search(rf"(?m)^    {re.escape(start)}.*\n(?:(?:    .*)?\n)*", PAGE)
    return re.sub("(?m)^    ", "", found[0]).rstrip() + "\n"


def matches(lines, page):
    """Are they the page's lines? Numbers may be others, a line of ... is any lines."""
    if not page:
        return True
    if page[0].strip() == "...":
        return any(matches(lines[i:], page[1:]) for i in range(len(lines) + 1))
    pattern = re.sub(r"\d[\dabcdef.:x]*", "@", re.escape(page[0]).replace(r"\.", ".").replace(r"\-", "-")).replace("@", r"\d[\dabcdef.:x]*")
    return bool(lines) and bool(re.fullmatch(pattern, lines[0])) and matches(lines[1:], page[1:])


class Walk:
    """A reader of the page, in a folder that has SPDK's build and scripts."""

    def __init__(self, bed):
        self.bed, self.commands, self.left = bed, commands(), list(commands())
        self.target = self.reader = self.reads = None
        for name in ("build", "scripts"):
            (bed.tmp / name).symlink_to(SPDK / name)
        (bed.tmp / "bin").mkdir()
        for name in ("bpftrace.sh", "btgen-report", "qpair-lifetime"):
            (bed.tmp / "bin" / name).symlink_to(TOP / "scripts" / name)
        (bed.tmp / "bin/bpftrace").symlink_to(bed.bpftrace)
        self.env = {**bed.env, "PATH": f"{bed.tmp}/bin:{os.environ['PATH']}", "BTGEN": str(BUILD / "btgen")}
        version = SPDK / "VERSION"
        self.is_shown = version.exists() and version.read_text().startswith(SHOWN)

    def start(self, command, **streams):
        """In a shell. The PID takes the place of the target's name where another process has that, too."""
        if self.target and subprocess.getoutput("pidof nvmf_tgt").split() != [str(self.target.pid)]:
            command = re.sub(r"`pidof nvmf_tgt`|(?<= )nvmf_tgt(?= |$)", str(self.target.pid), command)
        process = subprocess.Popen(["bash", "-c", command], cwd=self.bed.tmp, env=self.env, stdin=subprocess.DEVNULL, **streams)
        self.bed.bares.append(process)
        return process

    def take(self, start):
        """The first command of those left that begins so."""
        command = next(c for c in self.left if c.startswith(start))
        self.left.remove(command)
        return command

    def run(self, start):
        """A command of the page, to its end: its output, and the lines of the page."""
        command = self.take(start)
        process = self.start(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        text = process.communicate(timeout=PATIENCE)[0].decode(errors="replace")
        self.bed.ok(process.returncode == 0, command.replace("\n", " "), text)
        return text.splitlines(), self.commands[command]

    def rpc(self, *lines):
        done = self.command("scripts/rpc.py", input="\n".join(lines) + "\n")
        if done.returncode:
            sys.exit(f"Bail out! {lines}: {done.stderr[:500]}")

    def trace(self, start, do, until="", wish=signal.SIGINT):
        """A trace of the page: once it is attached, @do; ^C, when @until is in its output. Its lines, and those of the page."""
        command, out, err = self.take(start), self.bed.tmp / "page.out", self.bed.tmp / "page.err"
        option = re.search(r"-o (\S+)", command)
        file = self.bed.tmp / option[1] if option else out
        with out.open("wb") as stdout, err.open("wb") as stderr:
            process = self.start(command, stdout=stdout, stderr=stderr)
        wait_for(lambda: process.poll() is not None or b"attached to " in err.read_bytes(), f"{command}: it attaches")
        attached = process.poll() is None
        if attached:
            do()
            wait_for(lambda: process.poll() is not None or not until or until in file.read_text(errors="replace"), f"{command}: prints it")
            time.sleep(0.5)
            # The shell is btgen itself, but for a pipe.
            pid = next(int(p) for p in [process.pid, *subprocess.getoutput(f"pgrep -P {process.pid}").split()]
                       if process.poll() is not None or pathlib.Path(f"/proc/{p}/comm").read_text() == "btgen\n")
            for wanted in dict.fromkeys((wish, signal.SIGINT)):
                if process.poll() is None:
                    os.kill(pid, wanted)
                time.sleep(0.5)
        process.wait(PATIENCE)
        self.bed.ok(attached and process.returncode == 0, command.replace("\n", " "), err.read_text(errors="replace"))
        return file.read_text(errors="replace").splitlines(), self.commands[command]

    def host(self):
        """The page's host begins to read, another one than before."""
        self.reads = self.reads or "exec " + self.take("build/bin/spdk_nvme_perf").removesuffix(" &")
        self.end_host()
        self.reader = self.start(self.reads, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for(self.has_host, "the host connects")
        time.sleep(2)

    def end_host(self):
        if self.reader:
            self.reader.kill()
            wait_for(lambda: not self.has_host(), "the host is gone")

    def has_host(self):
        """Nothing is paused to know it."""
        return any(group["current_io_qpairs"] for group in json.loads(self.command("scripts/rpc.py", "nvmf_get_stats").stdout)["poll_groups"])

    def answers(self):
        wait_for(lambda: self.command("scripts/rpc.py", "spdk_get_version").returncode == 0, "the target answers RPCs")

    def command(self, *words, **how):
        """One that the page has within a sentence."""
        return subprocess.run(words, cwd=self.bed.tmp, env=self.env, capture_output=True, text=True, check=False, **how)

    def shows(self, claim, lines, page):
        """What the page has is what it is."""
        page = [line for line in page if not re.match(r"btgen: attached|\^C", line)]
        if self.is_shown:
            self.bed.ok(matches(lines, page), f"{claim}: prints what the page shows", "\n".join(lines))
        else:
            self.bed.skip(f"{claim}: prints what the page shows", f"which is of {SHOWN}")


def by_time(lines):
    return sorted(lines, key=lambda line: float(line.partition(":")[0]))


def watch_it_start(walk):
    if not walk.bed.shared:
        walk.shows("-l", *walk.run("bpftrace.sh -l"))
    walk.trace("bpftrace.sh -o start.txt -c", lambda: None, "state RUNNING")
    walk.shows("-c", *walk.run("sort -n start.txt"))
    if walk.bed.shared:
        walk.bed.skip(f"{walk.take('bpftrace.sh -l')} and {walk.take('bpftrace.sh -x')}", "the page's word for static builds")
    else:
        walk.trace("bpftrace.sh -x", lambda: None)


def follow(walk):
    walk.target = walk.start("exec " + walk.take("build/bin/nvmf_tgt").removesuffix(" &"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    walk.answers()
    walk.run("scripts/rpc.py <<E\nnvmf_create_transport")
    lines, page = walk.trace("bpftrace.sh nvmf_tgt nvmf.bt", lambda: walk.rpc(f"{ADD} slow"), "PAUSED to ACTIVE done")
    walk.shows("nvmf.bt", by_time(lines), page)


def which_is_long(walk):
    three = []

    def remove():
        if not three:
            walk.run("scripts/rpc.py bdev_null_create")
            three.append(next(c for c in walk.left if c.startswith("scripts/rpc.py <<E")))
            walk.run("scripts/rpc.py <<E")
        else:
            walk.rpc(*three[0].splitlines()[1:-1])
    walk.host()
    lines, _ = walk.trace("bpftrace.sh --latency", remove)
    text = "\n".join(lines)
    walk.bed.ok("@us: count 6," in text and int(re.search(r"@us_max: (\d+)", text)[1]) > 200000, "--latency: one change of six is long", text)
    walk.rpc(f"{ADD} slow -n 1")
    walk.host()
    walk.trace("bpftrace.sh -s -o target.json", remove)
    walk.run("btgen-report target.json")
    page = (walk.bed.tmp / "target.html").read_text()
    rows = re.findall(r"<tr.*?</tr>", page, re.S)
    longest = next((row for row in rows if NQN in row), "")
    walk.bed.ok("ACTIVE to PAUSED" in longest or "to PAUSED" in longest, "btgen-report: the longest change is a pause", "\n".join(rows)[:3000])


def why(walk):
    (walk.bed.tmp / "why.bt").write_text(block("uprobe:__EXE__:nvmf_poll_group_pause_subsystem"))
    walk.rpc(f"{ADD} slow -n 1")
    walk.host()
    walk.trace("bpftrace.sh -o trace.txt", lambda: walk.rpc(f"{REMOVE} 1"), "PAUSED to ACTIVE done")
    lines, page = walk.run("sort -n trace.txt")
    walk.shows("why.bt", sorted(lines[:2]) + lines[2:], page)
    program = walk.command("bpftrace.sh", "-n", str(walk.target.pid), "why.bt")
    walk.bed.ok(program.returncode == 0 and "nvmf_poll_group_pause_subsystem" in program.stdout, "-n prints the program", program.stderr)
    mistake = block("my.bt:1:79:").splitlines()
    (walk.bed.tmp / "my.bt").write_text(mistake[1].strip() + "\n")
    found = walk.command("bpftrace.sh", str(walk.target.pid), "my.bt")
    walk.bed.equal(found.stderr.splitlines(), mistake, "a mistake")


def stacks(walk):
    lines, page = walk.trace("bpftrace.sh -N 1 --stack", lambda: walk.rpc(f"{ADD} slow -n 1"), "nvmf_subsystem_do_state_change")
    walk.shows("--stack", lines, page[:2])  # without frame pointers, only the first is right


def spdk_trace(walk):
    walk.run("scripts/rpc.py trace_enable")
    walk.host()
    time.sleep(7)
    lines, page = walk.run("build/bin/spdk_trace")
    walk.bed.ok(re.search(r"TCP_REQ_EXECUTED +id: +\S+ +time: +[23]\d{6}\.", "\n".join(lines)), "spdk_trace shows I/O of 3 s", "\n".join(lines))


def more(walk):
    add, remove = (lambda: walk.rpc(f"{ADD} null0 -n 2")), (lambda: walk.rpc(f"{REMOVE} 2"))
    for start, do, wanted in (
            ("bpftrace.sh `pidof nvmf_tgt` nvme.bt nvmf.bt", add, r"\d\.\d{6}: \S+ add namespace 2"),
            ("bpftrace.sh -t 'nvmf_*'", remove, r"reactor_\d\[\d+\] spdk:nvmf_subsystem_change_state_done .*status=0"),
            ("bpftrace.sh -t 'uretprobe:nvmf_subsystem_*'", add, r"uretprobe:nvmf_subsystem_state_change retval=0"),
            ("bpftrace.sh --calls", remove, r"nvmf_subsystem_state_change\(\)"),
            ("bpftrace.sh -s", add, r"\d\d:\d\d:\d\d\.\d{9} \[\d{3}\] \d+ \d+ \S+: \S+ add namespace 2"),
            ("bpftrace.sh -f json", remove, r"\d{4}-\d\d-\d\dT\S+\treactor_\d\t\S+ remove namespace 2"),
            ("bpftrace.sh -f perfetto", add, f'"name": *"{re.escape(NQN)}'),
            ("bpftrace.sh --keep", remove, r"==> SIGUSR1 <==(?s:.*)remove namespace 2"),
            ("bpftrace.sh nvmf_tgt send_msg.bt", add, r"@for_each_channel\[subsystem_state_change_on_pg\]: 2"),
            ("bpftrace.sh -o queues.txt", walk.host, rf"add qpair=0x\w+ thread=\d")):
        lines, _ = walk.trace(start, do, wish=signal.SIGUSR1 if "--keep" in start else signal.SIGINT)
        walk.bed.ok(re.search(wanted, "\n".join(lines)), f"... prints {wanted}", "\n".join(lines))
    lives = walk.command("qpair-lifetime", "queues.txt")
    walk.bed.ok(re.search(rf"qid 1 thread \d+ subnqn {re.escape(NQN)}", lives.stdout), "qpair-lifetime queues.txt", lives.stdout + lives.stderr)
    help_ = walk.command("bpftrace.sh", "-h", "nvmf.bt")
    walk.bed.ok(help_.stdout.startswith("nvmf.bt - "), "-h SCRIPT", help_.stdout)


def own_probe(walk):
    """Both probes of the page, in the target that is built with them over the tree that was given."""
    place = "sgroup->state = SPDK_NVMF_SUBSYSTEM_PAUSING;"
    source = (SPDK / "lib/nvmf/nvmf.c").read_text().split(place)
    command = walk.take("bpftrace.sh -t nvmf_pg_pause")
    if len(source) != 3:
        walk.bed.skip("the page's own probe", "this SPDK has not the page's place for it")
        return
    tree = pathlib.Path("/mnt")
    layers = walk.bed.tmp / "layers"
    layers.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "none", layers], check=True)
    for name in ("upper", "work"):
        (layers / name).mkdir()
    options = f"lowerdir={SPDK},upperdir={layers}/upper,workdir={layers}/work"
    subprocess.run(["mount", "-t", "overlay", "-o", options, "none", tree], check=True)
    first, header, second = block("SPDK_DTRACE_PROBE3(nvmf_pg_pause").strip(), *block("#include <btgen/usdt.h>").strip().splitlines()
    (tree / "lib/nvmf/nvmf.c").write_text(header + "\n" + source[0] + place + source[1] + place + first + second + source[2])
    for folder in ("lib/nvmf", "app/nvmf_tgt"):
        made = subprocess.run(["make", "-C", tree / folder], capture_output=True, text=True, check=False,
                              env={**walk.env, "C_INCLUDE_PATH": str(TOP / "include"), "MAKEFLAGS": "", "MAKELEVEL": ""})
        walk.bed.ok(made.returncode == 0, f"make in {folder}, with the page's probes", (made.stdout + made.stderr)[-2000:])
    walk.end_host()
    walk.target.terminate()
    walk.target.wait(PATIENCE)
    walk.env["LD_LIBRARY_PATH"] = walk.bed.env.get("LD_LIBRARY_PATH", "").replace(str(SPDK), str(tree))
    walk.target = walk.start(f"exec {tree}/build/bin/nvmf_tgt -m 0x3 --no-huge -s 1024 --no-pci", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    walk.answers()
    walk.rpc("nvmf_create_transport -t tcp", f"nvmf_create_subsystem {NQN} -a", "bdev_null_create null0 100 512", f"{ADD} null0 -n 1")
    walk.left.append(command)
    lines, page = walk.trace(command, lambda: walk.rpc(f"{REMOVE} 1"), "nvmf:pause")
    walk.shows("its own probes", lines, page)


def main():
    # The page's target is where SPDK's RPCs look for one by themselves, at a port of its own.
    if "OWN_PLACES" not in os.environ:
        os.execvpe("unshare", ["unshare", "--mount", "--net", sys.executable, "-u", __file__], {**os.environ, "OWN_PLACES": "1"})
    subprocess.run(["mount", "-t", "tmpfs", "none", "/var/tmp"], check=True)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    with Bed() as bed:
        walk = Walk(bed)
        for step in (watch_it_start, follow, which_is_long, why, stacks, spdk_trace, more, own_probe):
            step(walk)
        bed.equal(walk.left, [], "no command of the page is left out")
        return bed.done()


sys.exit(main())
