#!/usr/bin/env python3
"""The lines of docs/spdk.md for SPDK's own scripts/bpftrace.sh: with them SPDK's command traces with btgen, where that is
installed and not refused.
"""
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from spdk import BUILD, SPDK, TOP, Bed, wait_for

NQN = "nqn.2016-06.io.spdk:cnode1"


def patch(script):
    """The page's lines, where it wants them."""
    block, = re.findall(r"((?:    .*\n)*    .*exec btgen run.*\n(?:    .*\n)*)", (TOP / "docs/spdk.md").read_text())
    text = script.read_text()
    if text.count("\nset -e\n") != 1:
        sys.exit("Bail out! SPDK's bpftrace.sh is another")
    script.write_text(text.replace("\nset -e\n", "\nset -e\n\n" + re.sub(r"(?m)^    ", "", block), 1))


def trace(bed, target):
    """A subsystem comes and goes: what SPDK's command prints, its messages and its status."""
    out, err = bed.tmp / "out", bed.tmp / "err"
    with err.open("wb") as messages:
        process = subprocess.Popen([bed.tmp / "scripts/bpftrace.sh", str(target.pid), bed.tmp / "scripts/bpf/nvmf.bt"],
                                   stdin=subprocess.DEVNULL, stdout=messages, stderr=messages,
                                   env={**bed.env, "PATH": f"{bed.tmp}/bin:{os.environ['PATH']}", "BPF_OUTFILE": str(out)})
    wait_for(lambda: process.poll() is not None or "attached to" in err.read_text(errors="replace"), "it attaches")
    target.rpc("nvmf_create_subsystem", NQN, "-a")
    target.rpc("nvmf_delete_subsystem", NQN)
    wait_for(lambda: process.poll() is not None or NQN in out.read_text(errors="replace"), "its events are printed")
    process.terminate()
    return out.read_text(errors="replace"), err.read_text(errors="replace"), process.wait(120)


def main():
    with Bed() as bed:
        shutil.copytree(SPDK / "scripts/bpf", bed.tmp / "scripts/bpf")
        shutil.copy(SPDK / "scripts/bpftrace.sh", bed.tmp / "scripts")
        patch(bed.tmp / "scripts/bpftrace.sh")
        (bed.tmp / "bin").mkdir()
        (bed.tmp / "bin/btgen").symlink_to(BUILD / "btgen")
        out, messages, status = trace(bed, bed.start("target", "-m", "0x1", "-s", "1024"))
        bed.ok("btgen: attached to" in messages, "SPDK's command hands over to btgen", messages)
        bed.ok(re.search(NQN + " .*[A-Z]{6}", out), "... and prints SPDK's lines, with names of states", out)
        bed.equal([status], [0], "... and ends with 0")
        refused = subprocess.run([bed.tmp / "scripts/bpftrace.sh"], capture_output=True, text=True, check=False,
                                 env={**bed.env, "PATH": f"{bed.tmp}/bin:{os.environ['PATH']}", "NO_BTGEN": "1"})
        bed.ok(refused.stdout.startswith("usage:"), "NO_BTGEN=1: it does not", refused.stdout + refused.stderr)
        return bed.done()


sys.exit(main())
