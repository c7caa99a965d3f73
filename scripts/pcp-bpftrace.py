#!/usr/bin/python3 -IB
"""Runs bpftrace for the bpftrace agent of Performance Co-Pilot, with scripts of `btgen bundle --pcp`.

    bpftrace_path = /usr/share/btgen/pcp-bpftrace.py        in the agent's bpftrace.conf

Such a script says for which build of which program it is, in a comment: with another one, or another
bpftrace, it is not run, and the metric bpftrace.scripts.NAME.error says why. What the agent cannot take is
put in a form that it can: hist() with a key becomes a map NAME_histogram with instances `KEY,MIN-MAX`,
lhist() a map NAME_linear, stats() one with `KEY,count`, `KEY,average`, `KEY,total`; blanks and control characters in a
key become `_`, for the name of an instance ends at a blank. Values below 0 are left out, which the agent
would show as huge ones, and so is what printf() prints, of which it would keep all.

    pcp-bpftrace.py --check FILE        says whether it would be run, and why not

Any other script goes to bpftrace as it is. Needs nothing but Python and bpftrace: $BPFTRACE, else that in PATH.
"""
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys

SPLIT = re.compile(r"^// (@\w+_(?:histogram|linear))\[", re.MULTILINE)
CONDITIONS = re.compile(r"^// btgen (\{.*\})$", re.MULTILINE)
BTF = "/sys/kernel/btf/vmlinux"


def refuse(text):
    print("error: " + text, file=sys.stderr)
    sys.exit(1)


def build_id(path, offset, size):
    try:
        with open(path, "rb") as file:
            file.seek(offset)
            return file.read(size).hex()
    except OSError:
        refuse("there is no %s here" % path)


def check(bpftrace, wanted):
    """Exits with a message where the script is for another program or another bpftrace."""
    if wanted.get("schema", 1) != 1:
        refuse("this script is of a newer btgen: install its pcp-bpftrace.py")
    path, expected = wanted.get("file"), wanted.get("build_id", "")
    if path and build_id(path, wanted["offset"], len(expected) // 2) != expected:
        refuse("%s is not the build that this script is for (build ID %s)" % (path, expected))
    found = subprocess.run([bpftrace, "--version"], stdout=subprocess.PIPE, check=False, text=True).stdout.strip()
    if not re.search(r"v%s([.-]|$)" % re.escape(wanted["version"]), found):
        refuse("%s: this is for bpftrace %s" % (found, wanted["version"]))


def environment(wanted):
    """What a bundled shell script would set."""
    env = dict(os.environ)
    for name in ("BPFTRACE_STRLEN", "BPFTRACE_MAX_STRLEN"):
        if name in wanted:
            env.setdefault(name, str(int(wanted[name])))
    kernel = tuple(map(int, re.findall(r"\d+", platform.release())[:2]))
    if wanted["by_number"] and kernel < (5, 11) and os.access(BTF, os.R_OK):
        env.setdefault("BPFTRACE_BTF", BTF)
    return env


def instances(keys, value):
    """(name, number) of each number of a map of bpftrace's, however deep it is."""
    if isinstance(value, dict):
        for key, below in value.items():
            yield from instances(keys + [re.sub(r"[\s\x00-\x1f\x7f-\x9f]", "_", key)], below)
    elif isinstance(value, list):  # a histogram
        for bucket in value:
            yield from instances(keys + ["%s-%s" % (bucket.get("min", "-inf"), bucket.get("max", "inf"))],
                                 bucket["count"])
    elif isinstance(value, int) and value >= 0:
        yield ",".join(keys), value


def adapt(line, split):
    """What the agent is given for a line of bpftrace's, or None; `split` are names of histograms as maps."""
    said = json.loads(line, strict=False)
    if said["type"] not in ("map", "hist", "stats"):
        return said if said["type"] == "attached_probes" else None
    (name, value), = said["data"].items()
    if said["type"] == "hist":
        names = [name + end for end in ("_histogram", "_linear") if name + end in split]
        if not names:
            return said  # the agent's own
        name = names[0]
    found = {}
    for key, number in instances([], value):  # two keys may look alike by now
        found[key] = found.get(key, 0) + number
    if isinstance(value, (dict, list)):
        return {"type": "map", "data": {name: found}}
    return {"type": "map", "data": {name: found[""]}} if found else None


def run(bpftrace, program, wanted):
    check(bpftrace, wanted)
    child = subprocess.Popen([bpftrace, "-f", "json", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             env=environment(wanted))
    for sig in (signal.SIGINT, signal.SIGTERM):  # the agent ends a script so
        signal.signal(sig, lambda number, frame: child.send_signal(number))
    split = SPLIT.findall(program.decode("utf-8", "replace"))
    try:
        child.stdin.write(program)
        child.stdin.close()
    except BrokenPipeError:  # it has ended, and has said why
        pass
    for line in child.stdout:
        try:
            said = adapt(line.decode("utf-8", "replace"), split) if line.strip() else None
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            continue  # cut short, or not what it is in any bpftrace that there is
        if said:
            print(json.dumps(said), flush=True)
    sys.exit(child.wait())


def main():
    # Empty and relative entries of PATH mean the current directory: not as root.
    path = os.pathsep.join(directory for directory in os.environ.get("PATH", os.defpath).split(os.pathsep) if directory.startswith("/"))
    bpftrace = shutil.which(os.environ.get("BPFTRACE", "bpftrace"), path=path) or refuse("there is no bpftrace here")
    if sys.argv[1:2] == ["--check"] and len(sys.argv) == 3:
        with open(sys.argv[2], encoding="utf-8", errors="replace") as file:
            for wanted in CONDITIONS.findall(file.read())[-1:]:
                check(bpftrace, json.loads(wanted))
        return
    if sys.argv[1:] != ["-f", "json", "-"]:
        os.execv(bpftrace, [bpftrace] + sys.argv[1:])
    program = sys.stdin.buffer.read()
    found = CONDITIONS.findall(program.decode("utf-8", "replace"))
    if found:
        run(bpftrace, program, json.loads(found[-1]))
    sys.exit(subprocess.run([bpftrace, "-f", "json", "-"], input=program, check=False).returncode)


try:
    main()
except KeyboardInterrupt:
    refuse("interrupted")
except MemoryError:
    refuse("out of memory")
except BrokenPipeError:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # for what is still in the buffer
    refuse("the reader of the output has exited")
except OSError as wrong:
    refuse(str(wrong))
except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as wrong:
    refuse("the line // btgen of the script is wrong: %s: write it again with btgen bundle --pcp" % wrong)
