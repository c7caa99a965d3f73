#!/usr/bin/env python3
"""An initiator has two paths to one target, loses both, gets them back, and lets go of one after the other: nvmf_timeout.bt
counts the attempts of each path, in the order that SPDK makes them, and its sums are those of the initiator's log.
"""
import os
import re
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from spdk import Bed, free_port, wait_for

NQN = "nqn.2016-06.io.spdk:cnode1"
HOST = "nqn.2014-08.org.nvmexpress:uuid:6a3ba1d7-1d5f-4b5c-a7a3-29e6ab2f4be5"


def offer(target, ports):
    """The subsystem with a disk, at all ports."""
    target.rpc("nvmf_create_subsystem", NQN, "-a", "-s", "SPDK00000000000001", "-m", "10")
    target.rpc("nvmf_subsystem_add_ns", NQN, "null0")
    for port in ports:
        target.rpc("nvmf_subsystem_add_listener", NQN, "-t", "tcp", "-a", "127.0.0.1", "-s", port)


def path(port):
    return ["-t", "tcp", "-f", "ipv4", "-a", "127.0.0.1", "-s", port, "-n", NQN]


def states(initiator):
    """Port -> what SPDK says of the path."""
    return {c["trid"]["trsvcid"]: c["state"] for controller in initiator.rpc("bdev_nvme_get_controllers")
            for c in controller["ctrlrs"]}


def failures(initiator):
    return initiator.log().count("Resetting controller failed")


def run(target, initiator, ports):
    """Both paths fail several times, and connect; one is disabled and comes back; both are detached."""
    for port in ports:
        initiator.rpc("bdev_nvme_attach_controller", "-b", "NvA", *path(port), "-q", HOST, "-l", "-1", "-o", "1", "-x", "multipath")
    target.rpc("nvmf_delete_subsystem", NQN)
    wait_for(lambda: failures(initiator) >= 6, "both paths fail")
    offer(target, ports)
    wait_for(lambda: set(states(initiator).values()) == {"enabled"}, "both paths are back")
    initiator.rpc("bdev_nvme_detach_controller", "NvA", *path(ports[0]))
    wait_for(lambda: list(states(initiator)) == [ports[1]], "one path is left")
    initiator.rpc("bdev_nvme_disable_controller", "NvA")
    initiator.rpc("bdev_nvme_enable_controller", "NvA")
    initiator.rpc("bdev_nvme_reset_controller", "NvA")
    initiator.rpc("bdev_nvme_detach_controller", "NvA")
    wait_for(lambda: not states(initiator), "no path is left")


def attempts(n):
    """The lines of a path that is reset, and connects with attempt @n."""
    yield "reset"
    for attempt in range(1, n):
        yield from (f"connects, attempt {attempt}", f"failed, attempt {attempt}", f"has waited after attempt {attempt}")
    yield from (f"connects, attempt {n}", f"connected, attempt {n}")


def check(bed, trace, ports, failed):
    lines = trace.events()
    sums, total = [], 0
    for port in ports:
        who = f"NvA 127.0.0.1:{port}"
        said = [line[len(who) + 1:] for line in lines if line.startswith(who)]
        n = sum(line.startswith("failed") for line in said)
        wanted = list(attempts(n + 1))
        if port == ports[1]:
            wanted += ["connects, attempt 1", "connected, attempt 1", *attempts(1)]
        wanted += ["deleted, other paths are left" if port == ports[0] else "deleted"]
        ago = r", \d+\.\d{6} s after the reset$"
        bed.equal([re.sub(ago, "", line) for line in said], wanted, f"nvmf_timeout.bt: path {ports.index(port)}, {n} failures")
        enabled = said[3 * n + 3:3 * n + 5] if port == ports[1] else []
        bed.equal([line for line in said if bool(re.search(ago, line)) == (line in enabled) and "attempt" in line], [],
                  "... each attempt with its time since the reset, where there was one")
        total += n
        sums += [f"@attempts[NvA, 127.0.0.1, {port}]: {sum('connects' in line for line in said)}",
                 f"@failures[NvA, 127.0.0.1, {port}]: {n}", f"@resets[NvA, 127.0.0.1, {port}]: {said.count('reset')}"]
    bed.equal(sorted(line for line in lines if line.startswith("@")), sorted(sums), "nvmf_timeout.bt: the sums are those of the lines")
    bed.equal([total], [failed], "... and those of the initiator's log")
    bed.equal([line for line in lines if not line.startswith(("@", "NvA 127.0.0.1:"))], [], "nvmf_timeout.bt: no other line")


def main():
    with Bed() as bed:
        target = bed.start("target", "-m", "0x3", "-s", "1024")
        initiator = bed.start("initiator", "-m", "0x1", "-s", "1024")
        ports = sorted({free_port(), free_port()})
        target.rpc("nvmf_create_transport", "-t", "tcp")
        target.rpc("bdev_null_create", "null0", "1000", "512")
        offer(target, ports)
        trace = bed.begin(initiator.pid, "nvmf_timeout.bt")
        if bed.ok(trace.wait_ready(), "nvmf_timeout.bt: it attaches", trace.messages):
            run(target, initiator, ports)
            time.sleep(0.2)
            bed.stop(trace)
            bed.ok(trace.status == 0, "^C is status 0")
            bed.equal(re.findall("warning.*", trace.messages()), [], "nothing is warned of")
            check(bed, trace, ports, failures(initiator))
        return bed.done()


sys.exit(main())
