#!/usr/bin/env python3
"""An initiator of SPDK that connects to a target and goes, again and again, at last without a goodbye: the queue pairs of nvmf.bt
and of qpair-lifetime are those that the target's RPCs list, and each of them ends.
"""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from spdk import TOP, Bed, free_port, wait_for

NQN = "nqn.2016-06.io.spdk:cnode1"
HOST = "nqn.2014-08.org.nvmexpress:host"
OWN = "nqn.2016-06.io.spdk:own"  # the initiator's subsystem, which uses the disk as long as that is there
ROUNDS = 4


class Pairs:
    """How many queue pairs the target has, and has had. Nothing is paused to count them: v24.01 does not always end a pause that
    meets a CONNECT."""

    def __init__(self, target):
        self.target = target

    def counts(self):
        """(admin, I/O) that are there, and those for I/O that have been."""
        groups = self.target.ask("nvmf_get_stats")["poll_groups"]
        return tuple(sum(group[kind] for group in groups) for kind in ("current_admin_qpairs", "current_io_qpairs", "io_qpairs"))

    def wait(self, admin, io, more_than=-1):
        """Until so many are there, and more than @more_than for I/O have been; how many those are."""
        def is_so():
            counts = self.counts()
            return counts[:2] == (admin, io) and counts[2] > more_than
        wait_for(is_so, f"{admin} and {io} queue pairs")
        return self.counts()[2]

    def listed(self):
        """(qid, host, thread) of those that are there; older releases do not say the thread."""
        hosts = {ctrlr["cntlid"]: ctrlr["hostnqn"] for ctrlr in self.target.ask("nvmf_subsystem_get_controllers", nqn=NQN)}
        threads = {thread["name"]: thread["id"] for thread in self.target.ask("thread_get_stats")["threads"]}
        return [(pair["qid"], hosts[pair["cntlid"]], threads.get(pair.get("thread")))
                for pair in self.target.ask("nvmf_subsystem_get_qpairs", nqn=NQN)]


def come_and_go(target, initiator, port):
    """Each round: the queue pairs that RPCs list, and how many for I/O have come and gone before, to read what is on the disk."""
    pairs = Pairs(target)
    for i in range(ROUNDS):
        before = pairs.counts()[2]
        initiator.ask("bdev_nvme_attach_controller", name=f"Nvme{i}", trtype="tcp", adrfam="ipv4", traddr="127.0.0.1", trsvcid=port,
                      subnqn=NQN, hostnqn=f"{HOST}{i}")
        initiator.ask("bdev_wait_for_examine")
        read = pairs.wait(admin=1, io=0)
        initiator.ask("nvmf_subsystem_add_ns", nqn=OWN, namespace={"bdev_name": f"Nvme{i}n1"})
        pairs.wait(admin=1, io=1, more_than=read)
        yield pairs.listed(), read - before
        if i < ROUNDS - 1:
            initiator.ask("bdev_nvme_detach_controller", name=f"Nvme{i}")
        else:
            initiator.process.kill()
        pairs.wait(admin=0, io=0)


def lives_of_lifetime(bed, trace):
    """(qid, host, thread) of each queue pair of qpair-lifetime, in order; those without an end."""
    text = subprocess.run([TOP / "scripts/qpair-lifetime", trace.out], capture_output=True, text=True, check=True).stdout
    lives = re.findall(r"qpair 0x\w+ qid (\d+) thread (\d+) subnqn (\S+) hostnqn (\S+)$", text, re.M)
    bed.equal([line for line in text.splitlines() if " to - " in line], [], "qpair-lifetime: none is left")
    bed.equal({nqn for _, _, nqn, _ in lives}, {NQN}, "qpair-lifetime: all are of the subsystem")
    return [(int(qid), host, int(thread)) for qid, thread, _, host in lives]


def lives_of_nvmf(bed, trace):
    """The same of nvmf.bt. An address may be used again when its queue pair is gone."""
    lives, open_, wrong = [], {}, []
    for line in trace.events():
        added = re.match(r"poll group on thread (\d+) add queue pair (0x\w+)$", line)
        named = re.match(rf"{re.escape(NQN)} queue pair (0x\w+) has qid (\d+) for host (\S+)$", line)
        removed = re.match(r"poll group on thread (\d+) remove queue pair (0x\w+)$", line)
        gone = re.match(r"queue pair (0x\w+) is gone$", line)
        if added:
            if added[2] in open_:
                wrong.append(line)
            open_[added[2]] = {"thread": int(added[1])}
        elif named and named[1] in open_:
            open_[named[1]].update(qid=int(named[2]), host=named[3])
        elif removed and open_.get(removed[2], {}).get("thread") == int(removed[1]):
            open_[removed[2]]["removed"] = True
        elif gone and open_.get(gone[1], {}).get("removed"):
            life = open_.pop(gone[1])
            lives.append((life.get("qid"), life.get("host"), life["thread"]))
        elif named or removed or gone:
            wrong.append(line)
    bed.equal(wrong, [], "nvmf.bt: a queue pair is added, gets its number, is removed from its thread, is gone")
    bed.equal(open_, {}, "nvmf.bt: none is left")
    return lives


def check(bed, name, lives, rounds):
    """@lives against what RPCs have listed."""
    for i, (listed, n_read) in enumerate(rounds):
        mine, missing = [life for life in lives if life[1] == f"{HOST}{i}"], []
        for pair in listed:
            found = [life for life in mine if life[:2] == pair[:2] and pair[2] in (None, life[2])]
            if found:
                mine.remove(found[0])
            else:
                missing.append(pair)
        bed.equal([*missing, *(qid for qid, _, _ in mine)], [1] * n_read,
                  f"{name}: round {i} has the queue pairs that RPCs list, and those that only read what is on the disk")
    bed.equal(sorted({life[1] for life in lives}), [f"{HOST}{i}" for i in range(ROUNDS)], f"{name}: no other hosts")


def main():
    with Bed() as bed:
        target = bed.start("target", "-m", "0x3", "-s", "1024")
        initiator = bed.start("initiator", "-m", "0x1", "-s", "1024")
        port = free_port()
        for app, nqn in ((target, NQN), (initiator, OWN)):
            app.ask("nvmf_create_transport", trtype="tcp")
            app.ask("nvmf_create_subsystem", nqn=nqn, allow_any_host=True)
        target.ask("nvmf_subsystem_add_listener", nqn=NQN,
                   listen_address={"trtype": "tcp", "adrfam": "ipv4", "traddr": "127.0.0.1", "trsvcid": port})
        target.ask("bdev_null_create", name="null0", num_blocks=204800, block_size=512)
        target.ask("nvmf_subsystem_add_ns", nqn=NQN, namespace={"bdev_name": "null0"})
        traces = [bed.begin(target.pid, script) for script in ("nvmf.bt", "qpair.bt")]
        if all([bed.ok(trace.wait_ready(), "it attaches", trace.messages) for trace in traces]):
            rounds = list(come_and_go(target, initiator, port))
            bed.stop(*traces)
            bed.ok(all(trace.status == 0 for trace in traces), "^C is status 0")
            bed.equal([sorted(qid for qid, _, _ in listed) for listed, _ in rounds], [[0, 1]] * ROUNDS,
                      "each time RPCs list an admin queue pair and one for I/O")
            of_nvmf, of_lifetime = lives_of_nvmf(bed, traces[0]), lives_of_lifetime(bed, traces[1])
            check(bed, "nvmf.bt", of_nvmf, rounds)
            check(bed, "qpair-lifetime", of_lifetime, rounds)
            bed.equal(sorted(of_nvmf), sorted(of_lifetime), "both have the same queue pairs")
        return bed.done()


sys.exit(main())
