#!/usr/bin/env python3
"""Prints bpf/spdk.bt, made of what `btgen skeleton` says about tests/targets/nvmf_tgt: tests/spdk-script.py >bpf/spdk.bt

The skeleton names arguments as our program declares them. A real SPDK declares nothing, so the script reads them by
their number and casts them to the types that the skeleton's comments tell.
"""
import os
import re
import subprocess

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HEADER = '''/*
 * spdk.bt - every event of SPDK's probes, with all arguments by name
 *
 * All events of SPDK in one format, for grep and awk, and to see which events occur; nvmf.bt has those of one part in
 * words. States and transports are enumerators, functions are names, strings are in quotes.
 *
 * TRACES
 *   SPDK: all its probes
 *
 * USAGE
 *   bpftrace.sh `pidof nvmf_tgt` spdk.bt
 *   bpftrace.sh -D MESSAGES=0 `pidof nvmf_tgt` spdk.bt      without messages, timers, events and interrupts
 *   bpftrace.sh -t 'spdk:*' `pidof nvmf_tgt`                the same without a script: of the probes that the program
 *                                                           has, be they new ones, with the types that it has
 *
 * SAMPLE OUTPUT (tests/targets/nvmf_tgt -m 0xC --interrupt-mode; some lines of many)
 *   5.938503: 28644 msg_exec fn=app_start arg=0x0
 *   5.938517: 28644 nvmf_tgt_state g_tgt_state=NVMF_TGT_INIT_NONE
 *   5.939327: 28644 nvmf_subsystem_create subnqn="nqn.2014-08.org.nvmexpress.discovery"
 *   5.940370: 28644 nvmf_subsystem_change_state subnqn="nqn.2014-08.org.nvmexpress.discovery" requested_state=SPDK_NVMF_SUBSYSTEM_ACTIVE state=SPDK_NVMF_SUBSYSTEM_INACTIVE
 *   5.940802: 28644 nvmf_pg_change_state subnqn="nqn.2014-08.org.nvmexpress.discovery" requested_state=SPDK_NVMF_SUBSYSTEM_ACTIVE thread_id=2
 *   5.941219: 28644 nvmf_pg_change_state_done subnqn="nqn.2014-08.org.nvmexpress.discovery" requested_state=SPDK_NVMF_SUBSYSTEM_ACTIVE thread_id=2
 *   5.942155: 28644 nvmf_subsystem_change_state_done subnqn="nqn.2014-08.org.nvmexpress.discovery" requested_state=SPDK_NVMF_SUBSYSTEM_ACTIVE original_state=SPDK_NVMF_SUBSYSTEM_INACTIVE status=0
 *   5.942588: 28644 interrupt_fd_process name="rpc" fd=0 fn=rpc_subsystem_poll arg=0x555a069c1480
 *   5.942612: 28644 nvmf_tgt_add_transport ticks=44142289334391 transport=0x555a069c5050 name="nvmf_tgt"
 *   5.946668: 28644 nvmf_subsystem_add_listener subnqn="nqn.2016-06.io.spdk:cnode1" trtype=SPDK_NVME_TRANSPORT_TCP traddr="127.0.0.1" trsvcid="4420"
 *   5.963070: 28644 spdk_nvmf_ns_add_host subnqn="nqn.2016-06.io.spdk:cnode1" nsid=1 hostnqn="nqn.2014-08.org.nvmexpress:uuid:6a3ba1d7-1d5f-4b5c-a7a3-29e6ab2f4be5" flags=0
 *   5.964830: 28644 nvmf_poll_group_add_qpair ticks=44142347015287 qpair=0x555a069c69f0 thread_id=2
 *   5.965373: 28644 bdev_nvme_create_qpair name="Nvme0" id=1 thread_id=1
 *
 * COLUMNS
 *   Seconds since the trace began; thread; probe; then its arguments. ticks is the time stamp counter; SPDK's first
 *   argument is omitted where it is the constant 0. 0x... are addresses.
 *
 * OVERHEAD
 *   About 18 us for each event (14 to 23): most wake bpftrace, to print their line. With messages, of which a busy target
 *   sends 100000 a second, that is much.
 *   Measured by BENCH=spdk make bench-scripts (bpftrace 0.17, a busy machine of two processors).
 *
 * CAVEATS
 *   Lines of different threads may come out of order by some milliseconds: sort -n puts them right.
 *   Before bpftrace 0.23 a string is cut at 100 characters (an NQN may have 223).
 *   A probe that the release lacks is skipped; a note reports this. -t also traces probes that are newer than this list.
 *   tests/spdk-script.py makes this file.
 */

#pragma option MESSAGES 1 "messages, timers, events and interrupts: many (0: none)"
#pragma optional

#define STAMP $us = elapsed / (uint64)1000
#define WHEN $us / (uint64)1000000, $us % (uint64)1000000, tid
'''
OFTEN = ("msg_exec", "timerfd_exec", "event_exec", "interrupt_fd_process")


def argument(declaration, number):
    """The format and the expression for one argument of a signature, or None for the constant one."""
    kind, name = re.match(r"(.*?[ *])(\w+)$", declaration).groups()
    kind, arg = kind.strip(), f"arg{number}"
    if number == 0 and name == "arg0":
        return None
    if kind in ("char *", "const char *"):
        return f'{name}=\\"%s\\"', f"str({arg})"
    if kind.startswith("enum "):
        return f"{name}=%s", f"enum_name({kind[5:]}, {arg})"
    if kind.endswith("_fn"):
        return f"{name}=%s", f"usym({arg})"
    if kind.endswith("*"):
        return f"{name}=0x%lx", arg
    if kind == "uint64_t":
        return f"{name}=%lu", arg
    if kind in ("uint16_t", "uint32_t"):
        return f"{name}=%lu", f"(uint64)({kind[:-2]}){arg}"
    if kind == "int":
        return f"{name}=%ld", f"(int64)(int32){arg}"
    raise SystemExit(f"spdk-script.py: what is '{declaration}'?")


def clause(name, signature):
    parts = [argument(d, i) for i, d in enumerate(signature.split(", "))]
    parts = [p for p in parts if p]
    text = " ".join([f'"%lu.%06lu: %lu {name}'] + [p[0] for p in parts]) + '\\n"'
    values = ", ".join(["WHEN"] + [p[1] for p in parts])
    return f"usdt:__EXE__:spdk:{name}\n{{\n\tSTAMP;\n\tprintf({text},\n\t       {values});\n}}\n"


def main():
    btgen = os.environ.get("BTGEN", TOP + "/build/btgen")
    skeleton = subprocess.run([btgen, "skeleton", "-x", TOP + "/tests/targets/nvmf_tgt", "spdk:*"],
                              check=True, stdout=subprocess.PIPE, text=True).stdout
    probes = sorted(re.findall(r"^// (\w+)\((.*)\)$", skeleton, re.M))
    print(HEADER)
    print("\n".join(clause(*p) for p in probes if p[0] not in OFTEN))
    print("#if MESSAGES")
    print("\n".join(clause(*p) for p in probes if p[0] in OFTEN), end="")
    print("#endif")


main()
