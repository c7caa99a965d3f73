#!/usr/bin/env python3
"""What a hit of a probe costs, by kind of site: nobody tracing, and with a bpftrace that counts it.

All kinds are in one program and are hit in turns in one run, some while bpftrace is attached to all of them; a median of
some rounds each. Ratios are to the site of <sys/sdt.h>. What the kernel put in the place of a site (a trap, or a call:
"optimised uprobes") is read from the program's own code.

  BENCH_HITS=20000 BENCH_RUNS=9   hits in a round, and rounds
"""
import os
import re
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
include = os.path.join(here, "..", "..", "include")
bpftrace = os.environ.get("BTGEN_BPFTRACE", "bpftrace")
cc = os.environ.get("CC", "gcc")
hits = os.environ.get("BENCH_HITS", "20000")
rounds = os.environ.get("BENCH_RUNS", "9")

KINDS = {
    "none": ("no probe", ["-DNONE"]),
    "original": ("<sys/sdt.h> STAP_PROBE2", ["-DORIGINAL"]),
    "one": ("USDT_PROBE", []),
    "lazy": ("USDT_PROBE_LAZY", ["-DLAZY"]),
    "fast": ("USDT_PROBE with -DUSDT_FAST=5", ["-DUSDT_FAST=5"]),
}


def build(tmp):
    """The program, and which kinds it has; the original's site needs the original's header."""
    source = os.path.join(here, "hits.c")
    flags = [cc, "-O2", "-g", "-w", "-I" + include]
    macros = subprocess.run(flags + ["-E", "-dM", "-"], input="#include <sys/sdt.h>\n", text=True, capture_output=True)
    if "STAP_PROBE2" not in macros.stdout:
        return None
    objects = []
    for kind, (_, more) in KINDS.items():
        if kind == "fast" and os.uname().machine != "x86_64":
            continue
        objects.append(os.path.join(tmp, kind + ".o"))
        subprocess.run(flags + more + ["-DKIND=" + kind, "-c", "-o", objects[-1], source], check=True)
    exe = os.path.join(tmp, "hits")
    subprocess.run(flags + ["-DMAIN", "-o", exe, source] + objects, check=True)
    return exe


def results(program):
    """{kind: (what is in the site's place, nanoseconds)}"""
    got = {}
    for line in program.stdout:
        if line == "done\n":
            return got
        kind, state, ns = line.split()
        got[kind] = (state, float(ns))
    sys.exit("  hits ended early")


def wait_for(stream, text, said):
    for line in stream:
        said.append(line)
        if text in line:
            return
    sys.exit("  bpftrace: " + "".join(said))


def main():
    if os.geteuid() != 0:
        print("  skipped: tracing needs root")
        return
    with tempfile.TemporaryDirectory() as tmp:
        exe = build(tmp)
        if not exe:
            print("  skipped: no <sys/sdt.h> to compare with (systemtap-sdt-dev)")
            return
        program = subprocess.Popen([exe, hits, rounds], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        off = results(program)
        script = "".join("usdt:/proc/%d/exe:hits:%s { @%s = count(); } " % (program.pid, kind, kind) for kind in off if kind != "none")
        # BEGIN would run before the probes are attached; an interval is attached after them.
        try:
            tracer = subprocess.Popen([bpftrace, "-p", str(program.pid), "-e", script + "interval:s:1 { printf(\"up\\n\"); }"],
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        except OSError as e:
            program.kill()
            print("  skipped: %s" % e)
            return
        said = []
        wait_for(tracer.stdout, "up", said)
        program.stdin.write("\n")
        program.stdin.flush()
        on = results(program)
        tracer.send_signal(2)
        counted = dict(re.findall(r"^@(\w+): (\d+)", tracer.communicate()[0], re.M))
        program.stdin.close()
        program.wait()
    want = str(int(hits) * (int(rounds) + 1))
    wrong = [kind for kind in off if kind != "none" and counted.get(kind) != want]
    if wrong:
        sys.exit("  bpftrace counted %s hits of %s, not %s: not comparable" % (counted.get(wrong[0]), wrong[0], want))
    print("  %-44s %12s %12s %10s %9s" % ("(medians of %s rounds)" % rounds, "untraced", "traced", "site", "ratio"))
    for kind in off:
        ns = on[kind][1]
        ratio = "-" if kind == "none" else "%.2f x" % (ns / on["original"][1])
        print("  %-44s %9.2f ns %9.1f ns %10s %9s" % (KINDS[kind][0], off[kind][1], ns, on[kind][0], ratio))
    if "fast" in on and on["fast"][0] != "call":
        print("  This kernel (%s) has no optimised uprobes: the fast site is a trap here, and can be single-stepped." % os.uname().release)


main()
