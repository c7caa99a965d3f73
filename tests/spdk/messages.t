#!/usr/bin/env python3
"""A target of SPDK in interrupt mode: the messages that its threads send each other for an RPC, and what they wake up for,
against what the RPC asks for and the functions that SPDK has.
"""
import os
import re
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from spdk import SPDK, Bed, free_port

NQN = "nqn.2016-06.io.spdk:cnode1"
SCRIPTS = SPDK / "scripts/bpf"
SERVER = "rpc_subsystem_poll_servers"  # looks for RPCs, by a timer


def symbols(shared):
    """All functions of the program and its libraries."""
    files = [SPDK / "build/bin/spdk_tgt"]
    if shared:
        files += (SPDK / "build/lib").glob("libspdk_*.so")
    text = subprocess.run(["nm", *files], capture_output=True, text=True, check=False).stdout
    return set(re.findall(r" [Tt] (\w+)$", text, re.M))


def period(target):
    """How often that is, in seconds, as SPDK says; None: it has no such timer."""
    answer = target.rpc("thread_get_pollers")
    ticks = [poller["period_ticks"] for thread in answer["threads"] for poller in thread["timed_pollers"]
             if poller["name"] == SERVER]
    return ticks[0] / answer["tick_rate"] if ticks else None


def maps(trace):
    """Name -> key -> count, of what a script printed at its end."""
    found = re.findall(r"^@(\w+)\[(.*)\]: (\d+)$", "\n".join(trace.lines()), re.M)
    return {name: {key: int(count) for n, key, count in found if n == name} for name, _, _ in found}


def check_messages(bed, trace, name, channels, known):
    """A namespace was added and removed: each time, all poll groups are asked to pause, and to go on."""
    counts = maps(trace)
    sent, each = counts.get("send_msg", {}), counts.get("for_each_channel", {})
    bed.equal([each.get("subsystem_state_change_on_pg"), sent.get("_call_channel"), sent.get("_call_completion")],
              [4, 4 * channels, 4], f"{name}: what a pause and its end send, twice")
    bed.equal([key for key in [*sent, *each] if key not in known], [], f"{name}: all that is counted are functions of SPDK")


def main():
    with Bed() as bed:
        target = bed.start("target", "-m", "0x3", "-s", "1024", "--interrupt-mode")
        target.rpc("nvmf_create_transport", "-t", "tcp")
        target.rpc("nvmf_create_subsystem", NQN, "-a", "-s", "SPDK00000000000001", "-m", "10")
        target.rpc("nvmf_subsystem_add_listener", NQN, "-t", "tcp", "-a", "127.0.0.1", "-s", free_port())
        target.rpc("bdev_null_create", "null0", "1000", "512")
        channels = sum(thread["name"].startswith("nvmf_tgt_poll_group")
                       for thread in target.rpc("thread_get_stats")["threads"])
        known = symbols(bed.shared)

        seconds = period(target)
        if not seconds:
            bed.skip(f"how often {SERVER} runs", "this SPDK has no such timer")
        begin = time.monotonic()
        traces = {
            "send_msg.bt": bed.begin(target.pid, "send_msg.bt"),
            "SPDK's send_msg": bed.begin(target.pid, SCRIPTS / "send_msg.bt"),
            "intr-wakeups.bt": bed.begin(target.pid, "intr-wakeups.bt"),
            "SPDK's intr-wakeups": bed.begin("--max-cost", "none", target.pid, SCRIPTS / "intr-wakeups.bt"),
        }
        traces = {name: trace for name, trace in traces.items()
                  if bed.ok(trace.wait_ready(), f"{name}: it attaches", trace.messages)}
        target.rpc("nvmf_subsystem_add_ns", NQN, "null0")
        target.rpc("nvmf_subsystem_remove_ns", NQN, "1")
        for _ in range(5):  # SPDK's script has only what came first after a wake-up
            target.rpc("spdk_get_version")
        bed.stop(*traces.values())
        lasted = time.monotonic() - begin
        bed.ok(all(trace.status == 0 for trace in traces.values()), "^C is status 0 for all",
               "\n".join(f"{name}: {trace.status} {trace.messages()}" for name, trace in traces.items()))

        for name in ("send_msg.bt", "SPDK's send_msg"):
            if name in traces:
                check_messages(bed, traces[name], name, channels, known)
        if "intr-wakeups.bt" in traces:
            counts = maps(traces["intr-wakeups.bt"])
            n = counts.get("timers", {}).get(SERVER, 0)
            if seconds:
                bed.ok(2 <= n <= lasted / seconds + 1,
                       f"intr-wakeups.bt: {SERVER} ran for each RPC, and not more often than its timer", f"{n} {lasted} {seconds}")
            bed.equal([key for key in counts.get("timers", {}) if key not in known], [],
                      "intr-wakeups.bt: all timers are functions of SPDK")
        if "SPDK's intr-wakeups" in traces:
            lines = [line for line in traces["SPDK's intr-wakeups"].lines() if not line.startswith("@")]
            named = [re.search(r"spdk:(?:interrupt_fd_process|timerfd_exec|msg_exec|event_exec): (?:fd:\d+ )?(\w+)\(", line)
                     for line in lines]
            if seconds:
                bed.ok(any(m and m[1] == SERVER for m in named), f"SPDK's intr-wakeups: {SERVER} is what it wakes up for")
            bed.equal([line for line, m in zip(lines, named) if not m or m[1] not in known], [],
                      f"SPDK's intr-wakeups: each of its {len(lines)} lines names a function of SPDK")
        return bed.done()


sys.exit(main())
