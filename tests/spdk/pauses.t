#!/usr/bin/env python3
"""Why an SPDK target pauses a subsystem, and how long: nvmf.bt against RPCs that are sent one by one, many at once, and while
a host does I/O. On a timeline no change of state is left open. The template of docs/spdk.md names the thread that waits.
"""
import json
import os
import re
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from spdk import SPDK, TOP, Bed, free_port, wait_for

NQN = "nqn.2016-06.io.spdk:cnode1"
SLOW_US = 2000000  # of each read of the slow disk; the pause begins in the first half of it
DEPTH = 4


def listener(port):
    return {"trtype": "TCP", "adrfam": "IPv4", "traddr": "127.0.0.1", "trsvcid": port}


def one_by_one(target, port):
    """Each pauses the subsystem, but for that of all hosts; what nvmf.bt says of it, in order, with the words of SPDK's name
    for what is done then."""
    at = ["-t", "tcp", "-a", "127.0.0.1", "-s", port]
    target.rpc("nvmf_subsystem_add_listener", NQN, *at)
    yield "add_listener|listen_paused", "", f"add listener TCP 127.0.0.1:{port}"
    target.rpc("nvmf_subsystem_listener_set_ana_state", NQN, *at, "-n", "inaccessible")
    yield "set_ana_state|listen_paused", "", f"ANA group 0 at 127.0.0.1:{port} is INACCESSIBLE_STATE"
    target.rpc("nvmf_subsystem_listener_set_ana_state", NQN, *at, "-n", "optimized")
    yield "set_ana_state|listen_paused", "", f"ANA group 0 at 127.0.0.1:{port} is OPTIMIZED_STATE"
    target.rpc("nvmf_subsystem_add_ns", NQN, "null0")
    yield "ns", "", "add namespace 1"
    target.rpc("nvmf_subsystem_add_ns", NQN, "null1")
    yield "ns", "", "add namespace 2"
    target.rpc("bdev_null_resize", "null0", "200")
    yield "_nvmf_ns_resize", "namespace 1: RESIZE of null0", ""
    target.rpc("bdev_null_delete", "null1")
    yield "_nvmf_ns_hot_remove 2", "namespace 2: REMOVE of null1", "remove namespace 2"
    target.rpc("nvmf_subsystem_remove_ns", NQN, "1")
    yield "ns 1", "", "remove namespace 1"
    target.at_once(("nvmf_subsystem_allow_any_host", {"nqn": NQN, "allow_any_host": False}))
    yield "", "", "allow only its hosts"
    target.at_once(("nvmf_subsystem_allow_any_host", {"nqn": NQN, "allow_any_host": True}))
    yield "", "", "allow any host"
    target.rpc("nvmf_subsystem_get_controllers", NQN)
    yield "controllers", "", ""


def check_causes(bed, lines, wanted):
    """Before a pause its cause, if it has one of its own; the pause; in it the change."""
    mine = [line[len(NQN) + 1:] for line in lines if line.startswith(NQN + " ")]
    said, pauses = [], []
    for line in mine:
        pause = re.match(r"pause for namespace (\d+), then (\w+)$", line)
        if pause:
            pauses.append(pause)
            said.append("pause")
        elif "state" not in line:
            said.append(line)
    asked = [(then.partition(" ")[0], then.partition(" ")[2] or "0") for then, _, _ in wanted if then]
    bed.equal(said, [line for then, before, inside in wanted for line in (before, "pause" if then else "", inside) if line],
              "nvmf.bt: why each pause")
    bed.equal([m[1] for m in pauses], [nsid for _, nsid in asked], "... and which namespace it waits for")
    bed.equal([m[2] for m, (then, _) in zip(pauses, asked) if not re.search(then, m[2])], [], "... and what SPDK does then")


def check_at_once(bed, lines, answers):
    """RPCs sent at once: each change that begins has its end, the others say that there is nothing to change."""
    if "subsystem busy" in str(answers):
        bed.skip("RPCs sent at once", "this SPDK refuses them while a pause is under way")
        return
    bed.equal([a for a in answers if "error" in a], [], "RPCs sent at once are done")
    began = [line for line in lines if re.search("change state from .* start$", line)]
    ended = [line for line in lines if re.search("change state from .* done$", line)]
    bed.equal([line[:-5] for line in began], [line[:-4] for line in ended], "nvmf.bt: each change that begins has its end")
    already = [line for line in lines if re.search(" is already (PAUSED|ACTIVE)$", line)]
    bed.ok(already, f"nvmf.bt: {len(already)} that are none", lambda: "\n".join(lines))
    bed.equal([line for line in began if re.search(r"from (\w+) to \1 ", line)], [], "nvmf.bt: no change from a state to itself")


def check_timeline(bed, trace):
    events = json.loads(trace.out.read_text())
    events = events["traceEvents"] if isinstance(events, dict) else events
    bed.ok(any(e.get("cat") == "change" for e in events), "the timeline has changes of state")
    bed.equal([e["name"] for e in events if e["ph"] == "B" and e.get("cat") == "change"], [], "none of them is open at its end")


def waiting(target):
    """How many reads of the slow disk are under way. Nothing is paused to know it, as nvmf_subsystem_get_qpairs does: v24.01 does
    not always end a pause that meets a CONNECT."""
    return [bdev["queue_depth"] for bdev in target.ask("bdev_get_iostat")["bdevs"] if bdev["name"] == "slow0"][0]


def slow_removal(bed, target, port):
    """A namespace is removed right after a host began to wait for its disk: how long the RPC took."""
    target.rpc("bdev_null_create", "base", "100", "512")
    target.rpc("bdev_delay_create", "-b", "base", "-d", "slow0", *[x for o in "rtwn" for x in (f"-{o}", str(SLOW_US))])
    target.rpc("bdev_wait_for_examine")  # which reads, too
    target.rpc("bdev_set_qd_sampling_period", "slow0", "1000")
    target.rpc("nvmf_subsystem_add_ns", NQN, "slow0", "-n", "7")
    trid = f"trtype:TCP adrfam:IPv4 traddr:127.0.0.1 trsvcid:{port} subnqn:{NQN}"
    with subprocess.Popen([SPDK / "build/bin/spdk_nvme_perf", "-q", str(DEPTH), "-o", "4096", "-w", "randread", "-t", "8", "-c", "0x1", "-s", "256",
                           "--no-huge", "-r", trid], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=bed.env) as perf:
        wait_for(lambda: waiting(target), "the host reads")
        begin = time.monotonic()
        answers = target.at_once(("nvmf_subsystem_remove_ns", {"nqn": NQN, "nsid": 7}))
        took = time.monotonic() - begin
        bed.equal([a for a in answers if "error" in a], [], "the namespace is removed")
        perf.terminate()
        perf.communicate(timeout=600)
    return took


def check_slow(bed, lines, took):
    """The lines with their stamps, the last pause for namespace 7."""
    at = max(i for i, line in enumerate(lines) if f"{NQN} pause for namespace 7, " in line)
    stamps = [float(line.partition(":")[0]) for line in lines[at:] if "ACTIVE to PAUSED" in line][:2]
    paused = stamps[1] - stamps[0]
    bed.ok(SLOW_US / 2e6 < paused <= took, "nvmf.bt: the pause waits for the reads of namespace 7, within what the RPC took",
           f"{paused} {took}")


def why(bed):
    """The template of docs/spdk.md that shows what a pause waits for."""
    page = (TOP / "docs/spdk.md").read_text()
    text = re.search(r"^    uprobe:__EXE__:nvmf_poll_group_pause_subsystem$.*?^    }$", page, re.M | re.S)[0]
    file = bed.tmp / "why.bt"
    file.write_text(text)
    return file


def check_why(bed, said, lines):
    """One poll group waits for the I/O of the host, and that is the one whose change is long."""
    last = [re.match(r"thread (\d+) waits for (\d+) I/O of namespace (\d+)$", line) for line in said][-2:]
    bed.equal([m[3] for m in last], ["7", "7"], "docs/spdk.md: each poll group is asked to pause namespace 7")
    waiting = {m[1]: int(m[2]) for m in last if m[2] != "0"}
    bed.ok([0 < n <= DEPTH for n in waiting.values()] == [True], "... one of them waits for the host's I/O", str(waiting))
    at = max(i for i, line in enumerate(lines) if f"{NQN} pause for namespace 7, " in line)
    stamp = {}
    for line in lines[at:]:
        m = re.match(r"([\d.]+): \S+ on thread (\d+) state to PAUSED (start|done)", line)
        if m:
            stamp[m[2], m[3]] = float(m[1])
    slow = [thread for thread, what in stamp if what == "done" and stamp[thread, "done"] - stamp[thread, "start"] > 0.05]
    bed.equal(list(waiting), slow, "... which is the one that takes long by nvmf.bt")


def main():
    with Bed() as bed:
        target = bed.start("target", "-m", "0x3", "-s", "1024")
        port, other = sorted({free_port(), free_port()})
        target.rpc("nvmf_create_transport", "-t", "tcp")
        target.rpc("nvmf_create_subsystem", NQN, "-a", "-s", "SPDK00000000000001", "-m", "10", "-r")
        for name in ("null0", "null1", "null2"):
            target.rpc("bdev_null_create", name, "100", "512")
        traces = [bed.begin(target.pid, "nvmf.bt"), bed.begin("-f", "perfetto", target.pid, "nvmf.bt")]
        if all([bed.ok(trace.wait_ready(), "nvmf.bt: it attaches", trace.messages) for trace in traces]):
            wanted = list(one_by_one(target, port))
            mark = "nqn.2016-06.io.spdk:mark"
            target.rpc("nvmf_create_subsystem", mark)
            answers = target.at_once(("nvmf_subsystem_add_ns", {"nqn": NQN, "namespace": {"bdev_name": "null0"}}),
                           ("nvmf_subsystem_add_ns", {"nqn": NQN, "namespace": {"bdev_name": "null2"}}),
                           ("nvmf_subsystem_remove_ns", {"nqn": NQN, "nsid": 1}),
                           ("nvmf_subsystem_add_listener", {"nqn": NQN, "listen_address": listener(other)}))
            time.sleep(0.5)
            reason = bed.begin(target.pid, why(bed))
            bed.ok(reason.wait_ready(), "docs/spdk.md: its template attaches", reason.messages)
            took = slow_removal(bed, target, port)
            time.sleep(0.5)
            bed.stop(*traces, reason)
            bed.ok(all(trace.status == 0 for trace in traces), "^C is status 0")
            bed.equal(re.findall("warning.*", traces[0].messages()), [], "nothing is warned of")
            events = traces[0].events()
            marked = events.index(f"{mark} created")
            check_causes(bed, events[:marked], wanted)
            check_at_once(bed, [line for line in events[marked:] if NQN in line], answers)
            check_slow(bed, traces[0].lines(), took)
            check_why(bed, reason.lines(), traces[0].lines())
            check_timeline(bed, traces[1])
        return bed.done()


sys.exit(main())
