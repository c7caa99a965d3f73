#!/usr/bin/env python3
"""What make check-spdk believes of SPDK fits the record of a real run (tests/targets/spdk-events.txt): each probe that its
model fires is in the record, with as many arguments, and each has a line in the words of nvmf.bt or nvme.bt. Needs no SPDK.
"""
import os
import pathlib
import re
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests/spdk"))
sys.dont_write_bytecode = True
os.environ.setdefault("SPDK", "/nowhere")
import model
import printed

NQN, HOST = "nqn.2016-06.io.spdk:cnode1", "nqn.2014-08.org.nvmexpress:uuid:0"
claims = []


def ok(good, claim, why=""):
    claims.append(good)
    print(f"{'ok' if good else 'not ok'} {len(claims)} - {claim}")
    for line in str(why).splitlines() if not good else []:
        print(f"#   {line}")


def recorded():
    """Probe -> how many arguments of its own it has in the record."""
    found = {}
    for line in (TOP / "tests/targets/spdk-events.txt").read_text().splitlines():
        event = re.match(r" +[\d.]+ (?:target|initiator) (\w+)(.*)", line)
        if event:
            found.setdefault(event[1], set()).add(len(re.findall(r" (?!arg0=)\w+=", event[2])))
    return found


def modelled():
    """All that the model fires."""
    target, initiator = model.Target("nvmf_tgt", [2, 3]), model.Initiator(1)
    target.create_transport()
    target.create_subsystem(NQN)
    target.change_listener("add", NQN, "127.0.0.1", "4420")
    target.paused(NQN, "nvmf_subsystem_add_ns", 1)
    target.fire("tgt", "nvmf_subsystem_add_host", NQN, HOST)
    connection = target.connect(NQN, HOST, model.Thread(2))
    target.io_qpair(connection[1], NQN, HOST, model.Thread(3), model.Thread(2))
    target.disconnect(connection, NQN, HOST)
    target.change_listener("remove", NQN, "127.0.0.1", "4420")
    target.paused(NQN, "subsystem_remove_ns()", 1, nsid=1)
    target.delete_subsystem(NQN)
    initiator.attach("Nvme0")
    initiator.reset("Nvme0")
    initiator.lose("Nvme0", 2)
    return target.events, initiator.events


def main():
    known = recorded()
    target, initiator = modelled()
    events = target + initiator
    probes = {probe for _, probe, _ in events if not probe.endswith("()")}
    ok(len(probes) > 30, f"the model fires {len(probes)} probes")
    wrong = [f"{probe} with {len(args)}, in the record {known.get(probe)}" for _, probe, args in events
             if not probe.endswith("()") and known.get(probe) != {len(args)}]
    ok(not wrong, "each is in the record, with as many arguments", "\n".join(wrong))
    for name, say, of in (("nvmf.bt", printed.ours_nvmf(), target), ("nvme.bt", printed.ours_nvme(), initiator)):
        missing = sorted({probe for _, probe, _ in of} - say.probes)
        ok(not missing, f"{name} has a line for each", missing)
        lines = [re.sub(r"(?:transport|qpair|ctrlr|group)(\d+)\b", lambda m: f"0x7f{int(m[1]):010x}", line)
                 for _, line in say.wanted(of)]
        got, wanted = say.compare(lines, of)
        ok(got == wanted, f"... and its lines are those of the model, with names for addresses ({len(lines)})", set(got) ^ set(wanted))
    counts = {probe: len(args) for _, probe, args in events if not probe.endswith("()")}
    objects = [{"probe": f"spdk:{probe}", "fields": {f"arg{i}": arg for i, arg in enumerate(printed.enumerators(probe, args))}}
               for _, probe, args in events if probe in counts]
    ok(list(printed.json_values(objects, counts)) == [line for _, line in printed.values_of(counts).wanted(events)],
       "records of -f json are read")
    enumerator = {"probe": "spdk:x", "fields": {"a": {"name": "TCP", "value": 3}, "b": 7}}
    ok(list(printed.json_values([enumerator], {"x": 2})) == ["x TCP 7"], "... with the names of enumerators")
    print(f"1..{len(claims)}")
    return 0 if all(claims) else 1


sys.exit(main())
