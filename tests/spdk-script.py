#!/usr/bin/env python3
"""Prints bpf/spdk.bt, made of what bpf/probes.conf lists of SPDK: tests/spdk-script.py >bpf/spdk.bt

A probe that has several forms is printed with the arguments that all of them have.
"""
import os
import re

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HEADER = '''/*
 * spdk.bt - every event of SPDK's probes, with all arguments by name
 *
 * All events of SPDK in one format, for grep and awk, and to see which events occur; nvmf.bt describes those of the
 * nvmf target in words. States and transports are enumerators, functions are names, strings are in quotes.
 *
 * TRACES
 *   SPDK: all its probes
 *
 * USAGE
 *   bpftrace.sh `pidof nvmf_tgt` spdk.bt
 *   bpftrace.sh -D MESSAGES=0 `pidof nvmf_tgt` spdk.bt      without messages, timers, events, interrupts and I/O
 *   bpftrace.sh -t 'spdk:*' `pidof nvmf_tgt`                the same without a script, for all probes of the program,
 *                                                           including new ones
 *
 * SAMPLE OUTPUT (tests/targets/nvmf_tgt -m 0xC --interrupt-mode; some lines of many)
 *   5.938503: 28644 msg_exec fn=app_start arg=0x0
 *   5.938517: 28644 nvmf_tgt_state g_tgt_state=NVMF_TGT_INIT_NONE
 *   5.939327: 28644 nvmf_subsystem_create subnqn="nqn.2014-08.org.nvmexpress.discovery"
 *   5.940370: 28644 nvmf_subsystem_change_state subnqn="nqn.2014-08.org.nvmexpress.discovery" requested_state=SPDK_NVMF_SUBSYSTEM_ACTIVE state=SPDK_NVMF_SUBSYSTEM_INACTIVE
 *   5.940802: 28644 nvmf_pg_change_state subnqn="nqn.2014-08.org.nvmexpress.discovery" requested_state=SPDK_NVMF_SUBSYSTEM_ACTIVE thread_id=2
 *   5.941219: 28644 nvmf_pg_change_state_done subnqn="nqn.2014-08.org.nvmexpress.discovery" requested_state=SPDK_NVMF_SUBSYSTEM_ACTIVE thread_id=2
 *   5.942155: 28644 nvmf_subsystem_change_state_done subnqn="nqn.2014-08.org.nvmexpress.discovery" requested_state=SPDK_NVMF_SUBSYSTEM_ACTIVE original_state=SPDK_NVMF_SUBSYSTEM_INACTIVE status=0
 *   5.942588: 28644 interrupt_fd_process name="rpc" efd=0 fn=rpc_subsystem_poll arg=0x555a069c1480
 *   5.942612: 28644 nvmf_tgt_add_transport ticks=44142289334391 transport=0x555a069c5050 name="nvmf_tgt"
 *   5.946668: 28644 nvmf_subsystem_add_listener subnqn="nqn.2016-06.io.spdk:cnode1" trtype=SPDK_NVME_TRANSPORT_TCP traddr="127.0.0.1" trsvcid="4420"
 *   5.963070: 28644 spdk_nvmf_ns_add_host subnqn="nqn.2016-06.io.spdk:cnode1" nsid=1 hostnqn="nqn.2014-08.org.nvmexpress:uuid:6a3ba1d7-1d5f-4b5c-a7a3-29e6ab2f4be5" flags=0
 *   5.964830: 28644 nvmf_poll_group_add_qpair ticks=44142347015287 qpair=0x555a069c69f0 thread_id=2
 *   5.965373: 28644 bdev_nvme_create_qpair name="Nvme0" qid=1 thread_id=1
 *
 * COLUMNS
 *   Seconds since the trace began; thread; probe; then its arguments. ticks is the time stamp counter. Arguments that
 *   not all releases of SPDK have are omitted. 0x... are addresses.
 *
 * OVERHEAD
 *   About 18 us for each event (14 to 23): most wake bpftrace, to print their line. A busy target sends 100000 messages
 *   a second: use MESSAGES=0.
 *   Measured by BENCH=spdk make bench-scripts (bpftrace 0.17, a busy machine of two processors).
 *
 * CAVEATS
 *   Lines of different threads may be out of order by some milliseconds: sort -n sorts them.
 *   Before bpftrace 0.23 a string is truncated at 100 characters (an NQN may have 223); "..." follows it.
 *   The thread_id of bdev_nvme_create_qpair is the thread that creates the queue pair from SPDK 26.01 on, and the
 *   controller's thread before.
 *   For the releases of SPDK from 22.01 on. A probe that the release lacks is skipped; a note reports this. -t also
 *   traces probes that are newer than this list, and shows the arguments that are omitted here.
 *   tests/spdk-script.py makes this file.
 */

#pragma gate
#pragma time since
#pragma option MESSAGES 1 "messages, timers, events, interrupts and I/O: many (0: none)"
#pragma optional
#pragma optional -q bdev_nvme_destroy_qpair nvmf_ns_change nvmf_request_io_exec_path
'''
OFTEN = ("msg_exec", "timerfd_exec", "event_exec", "interrupt_fd_process", "nvmf_request_io_exec_path")


def argument(declaration):
    """The format and the expression for one argument of a signature: its name, which the constant one has not."""
    if declaration.endswith(")()"):
        name = re.search(r"\(\*(\w+)\)", declaration)[1]
        return name, f"{name}=%s", f"usym(args.{name})"
    kind, name = re.match(r"(.*?[ *])(\w+)$", declaration).groups()
    kind = kind.strip()
    if kind in ("char *", "const char *"):
        return name, f'{name}=\\"%s\\"', f"str(args.{name})"
    if kind.startswith("enum "):
        return name, f"{name}=%s", f"args.{name}"
    if kind.endswith("*"):
        return name, f"{name}=0x%lx", f"args.{name}"
    return name, f"{name}=%ld" if kind == "int" else f"{name}=%lu", f"args.{name}"


def clause(name, forms):
    parts = [[argument(d) for d in form.split(", ") if d != "0"] for form in forms]
    parts = [p for p in parts[0] if all(p in form for form in parts)]
    text = " ".join([f'"%lu {name}'] + [p[1] for p in parts]) + '\\n"'
    values = ", ".join(["tid"] + [p[2] for p in parts])
    call = f"\tprintf({text}, {values});"
    if len(call.expandtabs(8)) > 120:
        call = f"\tprintf({text},\n\t       {values});"
    return f"usdt:__EXE__:spdk:{name}\n{{\n{call}\n}}\n"


def main():
    probes = {}
    with open(TOP + "/bpf/probes.conf", encoding="utf-8") as conf:
        for name, form in re.findall(r"^spdk:(\w+)\((.*)\)", conf.read(), re.M):
            probes.setdefault(name, []).append(form)
    print(HEADER)
    print("\n".join(clause(*p) for p in sorted(probes.items()) if p[0] not in OFTEN))
    print("#if MESSAGES")
    print("\n".join(clause(*p) for p in sorted(probes.items()) if p[0] in OFTEN), end="")
    print("#endif")


main()
