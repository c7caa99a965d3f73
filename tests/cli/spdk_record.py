"""What a real SPDK fired for the commands in tests/targets/spdk-events.txt, and what nvmf_tgt fired for the same ones.

    spdk_record.py commands RECORD         the commands, as nvmf_tgt takes them
    spdk_record.py record RECORD SRC...    the record as chains of events
    spdk_record.py log LOG SRC...          nvmf_tgt's --log likewise; SRC are its C files, for its enumerators

Threads run side by side, so that the order of some events is nobody's promise. What is one is a chain: the events that
name one queue pair, one controller or one transport; those of a subsystem; those of a subsystem on one thread; those of
an initiator's controller; those of the scheduler, of whose rounds the record has three. A line is a chain's name, the
command that came before, the event and its arguments. Of objects, which an address is of until it is freed, the n-th of
its kind is called n. The two programs have not as many threads: of the moves of a round, one stands for all.
"""
import collections
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../live"))
import args as live_args  # tests/live/args.py

LEFT_OUT = {"msg_exec", "timerfd_exec", "event_exec", "interrupt_fd_process"}
MADE = {"nvmf_transport_poll_group_add": "queue pair", "nvmf_ctrlr_create": "controller", "nvmf_tgt_add_transport": "transport",
        "nvmf_poll_group_remove_subsystem": "group"}
FREED = {"nvmf_transport_qpair_fini", "nvmf_ctrlr_destruct", "nvmf_poll_group_remove_subsystem"}
# Fires behind the callback that lets the command end: the next one may have come by then.
AFTER_ANSWER = {"nvmf_poll_group_add_subsystem"}
ROUNDS = 3


def from_record(path, enums):
    """(command, event, values) of each line; an event is None where a command is sent."""
    with open(path, encoding="utf-8") as f:
        for line in f:
            if m := re.match(r"# +[0-9.]+ rpc to the (?:target|initiator): (.*)", line):
                yield None, m[1].split()[0], []
            elif not line.startswith("#"):
                _, _, event, *values = line.split()
                values = [v.split("=", 1)[1] for v in values if not v.startswith("arg0=")]
                if event == "nvmf_poll_group_add_subsystem":  # recorded without its types: a thread and an NQN
                    values = [str(int(values[0], 0)), "nqn.2016-06.io.spdk:cnode1"]
                yield event, None, [str(enums.get(v, v)) for v in values]


def from_log(path):
    with open(path, encoding="utf-8") as f:
        for line in f:
            _, _, event, *values = line.rstrip("\n").split("\t")
            if event == "command()":
                if values[0] == "quit":
                    return
                if values[0] != "wait_deleted":
                    yield None, values[0], []
            elif not event.endswith("()") and event not in LEFT_OUT:
                yield event, None, values[1:]


def chains(events):
    result = collections.defaultdict(list)
    made, objects = collections.Counter(), {}
    command, n_commands, rounds = None, 0, 0
    told = {}  # a chain: the command before its last event
    for event, sent, values in events:
        if event is None:
            n_commands += 1
            command = f"{n_commands} {sent}"
            continue
        if event.startswith("dynsched_"):
            rounds += bool(command) and event == "dynsched_balance"
            values = values if event == "dynsched_balance" else [v for v in values if not re.match("ptr|0x", v)]
            line = " ".join([event] + values)
            if command and rounds <= ROUNDS and line not in result["scheduler"][-1:]:
                result["scheduler"].append(line)
            continue
        addresses = [v for v in values if re.match(r"ptr\d+$|0x", v)]
        if event in MADE:
            made[MADE[event]] += 1
            objects[addresses[0]] = f"{MADE[event]} {made[MADE[event]]}"
        named = [objects[a] for a in addresses]
        values = [objects.get(v, v) for v in values]
        if named and "group" not in named[0]:
            keys = named
        elif event.startswith(("nvmf_pg_", "nvmf_poll_group_")):
            nqn, thread = [next(v for v in values if test(v)) for test in (lambda v: v.startswith("nqn."), str.isdigit)]
            keys = [f"{nqn} on thread {values[-1] if event.startswith('nvmf_pg_') else thread}"]
            keys += [nqn] if event.startswith("nvmf_pg_") else []
        else:
            keys = [values[0]]
        for key in keys:
            if event not in AFTER_ANSWER:
                told[key] = command
            if told.get(key):  # not the start
                result[key].append(f"{told[key]}: {' '.join([event] + values)}")
        if event in FREED:
            del objects[addresses[0]]
    return result


def main():
    what, path, *sources = sys.argv[1:]
    if what == "commands":
        with open(path, encoding="utf-8") as f:
            for line in f:
                if m := re.match(r"# +[0-9.]+ rpc to the (?:target|initiator): (.*)", line):
                    print(m[1])
        return
    enums = live_args.enumerators(sources)
    for chain, lines in sorted(chains(from_record(path, enums) if what == "record" else from_log(path)).items()):
        for line in lines:
            print(f"{chain} | {line}")


main()
