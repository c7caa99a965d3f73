"""Looks at what guest.sh traced: results.py CHECKOUT FOLDER prints TAP.

The oracles: the parameters of the commands in guest.sh; the statuses that the kernel gave nvmecmd; the
kernel's own enumerations, in its BTF; and the two scripts, which watched the same commands.
"""
import collections
import os
import re
import struct
import subprocess
import sys

top, folder = sys.argv[1:]
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(top, "tests"))
import sample # pylint: disable=wrong-import-position
number = failed = 0


def ok(good, claim, *why):
    global number, failed
    number += 1
    print("ok" if good else "not ok", number, "-", claim)
    if not good:
        failed += 1
        for line in why:
            print("#  ", line)


def same(got, want, claim):
    ok(got == want, claim, f"got  {got}", f"want {want}")


def read(name):
    with open(os.path.join(folder, name), errors="surrogateescape") as f:
        return f.read()


def is_sample(script, printed):
    problems = list(sample.complaints(os.path.join(top, "bpf", script), printed.splitlines()))
    ok(not problems, f"{script}: the sample in its header looks like what it printed", *problems)


# --- the trace's lines

LINE = re.compile(r"(\d+)\.(\d{9}): (submit|complete) nvme(\d+) q(\d+) cid=(0x[0-9a-f]{4}) nsid=(-?\d+) disk=(\S*) "
                  r"0x([0-9a-f]{2}) (\S+) (.*)$")


class Event:
    def __init__(self, line):
        m = LINE.match(line)
        if not m:
            raise ValueError(line)
        self.ns = int(m[1]) * 10**9 + int(m[2])
        self.kind, self.ctrl, self.queue, self.cid = m[3], int(m[4]), int(m[5]), m[6]
        self.nsid, self.disk, self.opcode, self.name, self.rest = int(m[7]), m[8], int(m[9], 16), m[10], m[11]
        self.value = dict(re.findall(r"(\w+)=(\S+)", self.rest))
        self.status = re.sub(r".*status=0x... ?", "", self.rest) if self.kind == "complete" else None

    def key(self):
        return self.ctrl, self.queue, self.cid

    def timeless(self):
        return self.kind, self.key(), self.nsid, self.disk, self.name, re.sub(r"us=\d+ ", "", self.rest)

    def decoded(self):
        """A submission without what all have."""
        return (self.name + " " + re.sub(r"flags=.*", "", self.rest)).strip()


def events(name):
    lines = read(name).splitlines()
    found = [Event(line) for line in lines if re.match(r"\d", line)]
    other = [line for line in lines if line and not re.match(r"\d", line)]
    return found, other


def maps(text):
    """{map: {(key, ...): value}} of all lines that are an entry; histograms are left out."""
    found = collections.defaultdict(dict)
    for m in re.finditer(r"^@(\w+)\[(.*)\]: (?:count |\{ \.count = )?(-?\d+).*$", text, re.M):
        found[m[1]][tuple(m[2].split(", "))] = int(m[3])
    return found


ctrl = {k: int(v) for k, v in re.findall(r"(\w+)=(\d+)", read("controllers"))}
DATA, TWENTY, SLOW, FAULTY, FABRIC = (ctrl[k] for k in ("data", "twenty", "slow", "faulty", "fabric"))
tracers = "all ns2 errors fine twenty reads".split()

same(read("status").split("\n")[:-1], [f"{t} 0" for t in tracers], "every trace was ready, ended by ^C and left with status 0")
# 0.24 and newer warn about each delete() whose value is not used.
# How long attaching and detaching take is the machine's affair, and is only said where it is long.
said = [line for t in tracers for line in read(t + ".err").splitlines()
        if not re.match(r".*Return value discarded|    |btgen: detaching \d+ probes$"
                        r"|btgen: bpftrace \(PID \d+\) has not attached yet$", line)]
same(said, ["btgen: attached"] * len(tracers), "nothing was complained about")

# --- nvme-trace.bt, all of it

trace, other = events("all.out")
same(other, ["tracing NVMe commands, ^C ends"], "every line of the trace has the columns that the page explains")
trace.sort(key=lambda e: e.ns)
ours = [e for e in trace if e.ctrl in (DATA, TWENTY, FAULTY, FABRIC)]
under_way, problems = {}, []
pairs = []
for e in ours:
    if e.kind == "submit":
        if e.key() in under_way:
            problems.append(f"submitted twice: {e.key()} {e.name}")
        under_way[e.key()] = e
    else:
        start = under_way.pop(e.key(), None)
        if not start:
            problems.append(f"completed, not submitted: {e.key()} {e.rest}")
            continue
        pairs.append((start, e))
        if (start.name, start.nsid, start.opcode) != (e.name, e.nsid, e.opcode):
            problems.append(f"{start.name} completed as {e.name}")
        if abs(int(e.value["us"]) * 1000 - (e.ns - start.ns)) > 20_000_000:
            problems.append(f"us={e.value['us']} of {start.ns} to {e.ns}")
ok(not problems and not under_way, "sorted by time, each submission is followed by one completion of the same command",
   *problems, *under_way)


def submitted(c, nsid=None, admin=False, names=None):
    return [e.decoded() for e in trace if e.kind == "submit" and e.ctrl == c and (nsid is None or e.nsid == nsid) and
            (e.queue == 0) == admin and (names is None or e.name in names)]


same(submitted(DATA, 1), [f"read slba={8 * i} blocks=8 fua=0" for i in range(8)] +
     [f"write slba={128 + 8 * i} blocks=8 fua=0" for i in range(4)] +
     ["flush", "dsm ranges=1 dealloc=1", "write slba=85 blocks=8 fua=1", "compare slba=85 blocks=8 fua=0",
      "compare slba=2048 blocks=8 fua=0", "verify slba=256 blocks=16 fua=0", "write-zeroes slba=256 blocks=32 fua=0",
      "read slba=6442450943 blocks=1 fua=0", "resv-register cdw10=0x0 cdw11=0x0 cdw12=0x0",
      "vendor-specific cdw10=0xabc cdw11=0xdef cdw12=0x123"],
     "I/O commands: each opcode by name, first block, length and the rest as they were asked for")
same(submitted(DATA, 2), [f"read slba={n * i} blocks={n} fua=0" for n, count in ((1, 3), (4, 2), (16, 3), (32, 4))
                          for i in range(count)], "of the other namespace too, in its own blocks")
admin = submitted(DATA, admin=True)
wanted = ["get-log lid=0x02 bytes=512", "get-log lid=0xfe bytes=512", "get-features fid=0x07 value=0x0",
          "set-features fid=0x0b value=0x1", "identify cns=0xee cntid=0", "abort of_qid=1 of_cid=0x1234",
          "vendor-specific cdw10=0x1 cdw11=0x2 cdw12=0x3"]
same([a for a in admin if a in wanted], wanted, "admin commands: by name, with the field that matters")
ok("identify cns=0x02 cntid=0" in admin, "a rescan identifies: the list of namespaces among others", *admin)
reset = submitted(FAULTY, admin=True)
for name in ("delete-sq qid=1", "delete-cq qid=1", "create-cq qid=1", "create-sq qid=1", "identify cns=0x01"):
    ok(any(a.startswith(name) for a in reset), f"a reset of a controller has {name}", *reset)
same(submitted(TWENTY), [f"read slba={8 * i} blocks=8 fua=0" for i in range(50)], "a sequence of reads is in order")

# What the kernel told the programs.
told = [int(s) for s in re.findall(r"^(?:io|admin) .*: status (\d+)$", read("traffic"), re.M)]
seen = [(int(e.value["status"], 16), int(e.value["dnr"])) for s, e in pairs if e.value["flags"] == "0x02" and s.ctrl == DATA]
same(seen, [(s & 0x7ff, s >> 14 & 1) for s in told], "commands of programs: status and 'do not retry' as the kernel told them")
names = {(s.name, e.status) for s, e in pairs if e.value["flags"] == "0x02"}
for name, status in (("read", "LBA Out of Range"), ("resv-register", "Invalid Command Opcode"), ("compare", "Success"),
                     ("identify", "Invalid Field in Command"), ("vendor-specific", "Invalid Command Opcode")):
    ok((name, status) in names, f"{name}: {status}, by name", *sorted(names))

tries = [e for s, e in pairs if s.ctrl == FAULTY and s.queue and s.value["slba"] == "2048"]
same([(e.value["retries"], e.value["status"], e.status) for e in tries],
     [(str(i), "0x281", "Unrecovered Read Error") for i in range(6)], "an injected error: its name, tried again five times")
same(len({e.cid for e in tries}), 6, "each try has an identifier of its own")

# --- over fabrics

fabrics = [(s, e) for s, e in pairs if s.ctrl == FABRIC and s.opcode == 0x7f]
same([(s.decoded(), e.status, e.value["dnr"]) for s, e in fabrics if s.name == "connect"],
     [("connect qid=0 size=32", "Connect Invalid Parameters", "1"), ("connect qid=0 size=32", "Success", "0"),
      ("connect qid=1 size=64", "Success", "0")], "fabrics: connects to nothing, and with two queues, statuses of their own")
decoded = [s.decoded() for s, _ in fabrics]
for want in ("property-get offset=0x0 value=0x0", "property-set offset=0x14 value=0x460061", "property-get offset=0x1c value=0x0"):
    ok(want in decoded, f"fabrics: {want.split()[0]} of the register at {want.split()[1][7:]}", *decoded)
same({s.nsid for s, _ in fabrics}, {0}, "fabrics: commands have no namespace")
same([(s.decoded(), s.disk) for s, e in pairs if s.ctrl == FABRIC and s.queue == 1 and s.value["blocks"] == "2"][-3:],
     [(f"read slba={2 * i} blocks=2 fua=0", f"nvme{FABRIC}c{FABRIC}n1") for i in range(3)], "fabrics: reads on a path's disk")

# --- filters

begin = min(e.ns for e in ours)
same([e.timeless() for e in sorted(events("ns2.out")[0], key=lambda e: e.ns)],
     [e.timeless() for e in ours if e.ctrl == DATA and e.nsid == 2],
     "CTRL_ID and NSID: the same lines as in the whole trace, no others")
same([e.timeless() for e in sorted(events("errors.out")[0], key=lambda e: e.ns)],
     [e.timeless() for e in trace if e.kind == "complete" and e.queue and e.value["status"] != "0x000"],
     "ERRORS and ADMIN=0: completions of I/O commands that failed, no others")

# --- nvme-latency.bt, fine buckets, all controllers

fine = maps(read("fine.out"))
count = collections.Counter((e.kind, e.ctrl) for e in trace)
for c in (DATA, TWENTY, FAULTY, FABRIC):
    key = (str(c),)
    same((fine["submitted"].get(key), fine["completed"].get(key), fine["in_flight"].get(key)),
         (count["submit", c], count["complete", c], 0), f"nvme{c}: as many commands as in the trace, none in flight")
lost = collections.Counter()
for (c, _), n in fine["lost_starts"].items():
    lost[c,] += n
same({c: fine["completed"].get(c, 0) + fine["in_flight"].get(c, 0) + lost[c] for c in fine["submitted"]},
     fine["submitted"], "submissions = completions + in flight + lost, for every controller")
same(fine["in_flight"].get((str(SLOW),)), 1, "a write that had not ended was in flight")
ok(fine["unmatched"].get((str(SLOW),), 0) >= 1, "one that had begun before is unmatched", fine["unmatched"])
same({k[2]: n for k, n in fine["us_stats"].items() if k[:2] == (str(DATA), "read")}, {"<=16K": 6, "<=64K": 11, ">64K": 4},
     "SPLIT_SIZE: reads by size")
same({k[1:]: n for k, n in fine["errors"].items() if k[0] == str(FAULTY)}, {("read", "641", "Unrecovered Read Error"): 6},
     "errors are counted by opcode and status, by name")
per_key = collections.Counter()
for k, n in fine["us_buckets"].items():
    per_key[k[:3]] += n
same(dict(per_key), fine["us_stats"], "every latency is in one bucket")
wide = [k for k in fine["us_buckets"] if int(k[4]) - int(k[3]) > max(1, int(k[3]) / 16)]
same(wide, [], "no bucket is wider than 1/16 of its lower bound")

shown = subprocess.run([top + "/scripts/percentiles.py", "-n"], input=read("fine.out"), capture_output=True, text=True,
                       check=True).stdout
m = re.search(rf"^@us\[{TWENTY}, read, <=64K\]: count 50, p50 (\d+)-(\d+), p99 (\d+)-\d+, p99.9 \d+-\d+, max \d+$", shown, re.M)
ok(m and 19000 < int(m[1]) and int(m[2]) < 30000 and int(m[3]) >= int(m[1]),
   "percentiles.py: half of the reads of 20 ms took 20 ms", *shown.splitlines()[:20])

# --- at intervals, by bpftrace's own histograms

twenty = read("twenty.out")
times = re.findall(r"^\d\d:\d\d:\d\d$", twenty, re.M)
ok(len(times) >= 8, "INTERVAL=1: a report every second", len(times))
hist = collections.Counter()
for low, n in re.findall(r"^\[(\w+), \w+\) +(\d+) \|", twenty, re.M):
    hist[low] += int(n)
ok(hist["16K"] >= 40 and hist["16K"] + hist["32K"] + hist["64K"] == sum(hist.values()),
   "reads of 20 ms are in the bucket from 16384 us on, none below", hist)


def total(name):
    return sum(int(n) for n in re.findall(rf"^@{name}\[{TWENTY}\]: (-?\d+)$", twenty, re.M))


# Between printing and clearing a map one may be lost, as the page says.
ok(48 <= total("submitted") <= 50 and 48 <= total("completed") <= 50, "all reports together have all commands",
   total("submitted"), total("completed"))
same(set(re.findall(r"^@submitted\[(\d+)\]", twenty, re.M)), {str(TWENTY)}, "CTRL_ID: of that controller only")

# --- the samples in the headers

is_sample("nvme-trace.bt", read("all.out"))
drawn = subprocess.run([top + "/scripts/percentiles.py"], input=read("fine.out"), capture_output=True, text=True, check=True)
is_sample("nvme-latency.bt", twenty + drawn.stdout)

# --- LAT_MIN_US, LAT_SHIFT, LBS512, OPCODE

reads = maps(read("reads.out"))
bounds = {(0, 100), (100, 108)} | {(100 + (8 << i), 100 + (16 << i)) for i in range(40)}
same({k[:3]: n for k, n in reads["us_stats"].items()}, {(str(DATA), "read", "<=16K"): 9},
     "OPCODE, NSID and LBS512: reads of one namespace, of 4 KiB")
ok(reads["us_buckets"] and all((int(k[3]), int(k[4])) in bounds for k in reads["us_buckets"]) and
   sum(reads["us_buckets"].values()) == 9, "LAT_MIN_US=100 LAT_SHIFT=3: buckets from 0, 100, 108, 116, 132, ...",
   *reads["us_buckets"])

# --- the kernel's names for numbers


def enumerators(path):
    """{name: value} of all BTF_KIND_ENUM of a kernel (Documentation/bpf/btf.rst)."""
    with open(path, "rb") as f:
        data = f.read()
    header, = struct.unpack_from("<I", data, 4)
    types, types_len, strings, _ = struct.unpack_from("<IIII", data, 8)
    pos, end, strings = header + types, header + types + types_len, header + strings
    size = {1: 4, 3: 12, 14: 4, 17: 4}
    each = {4: 12, 5: 12, 6: 8, 13: 8, 15: 12, 19: 12}
    found = {}
    while pos < end:
        info, = struct.unpack_from("<I", data, pos + 4)
        kind, n = info >> 24 & 31, info & 0xffff
        pos += 12
        if kind == 6:
            for i in range(n):
                name, value = struct.unpack_from("<Ii", data, pos + 8 * i)
                found[data[strings + name:data.index(b"\0", strings + name)].decode()] = value
        pos += size.get(kind, 0) + each.get(kind, 0) * n
    return found


kernel = enumerators(os.path.join(folder, "vmlinux.btf"))
with open(top + "/bpf/nvme-status.bt") as f:
    statuses = {int(n, 16) & 0x7ff for n in re.findall(r"@nvme_status\[(0x\w+)\] = ", f.read())}
with open(top + "/bpf/nvme-names.bt") as f:
    opcodes = {int(n, 16) for n in re.findall(r'X\((0x\w+), "', f.read())} | {0x02}
# Reserved by the specification, or the kernel's own.
reserved = {"NVME_SC_RESERVED", "NVME_SC_ABORT_MISSING", "NVME_SC_INVALID_IO_CMD_SET"}
codes = {k: v for k, v in kernel.items() if k.startswith("NVME_SC_") and v < 0x800 and k not in reserved}
ok(len(codes) > 80 and set(codes.values()) <= statuses, "every status of the kernel has a name",
   *[k for k, v in codes.items() if v not in statuses])
codes = {k: v for k, v in kernel.items() if k.startswith("nvme_cmd_")}
codes.update({k: v + 0x100 for k, v in kernel.items() if k.startswith("nvme_admin_") and k != "nvme_admin_vendor_start"})
codes.update({k: v + 0x200 for k, v in kernel.items() if k.startswith("nvme_fabrics_type_")})
ok(len(codes) > 40 and set(codes.values()) <= opcodes, "every opcode of the kernel has a name",
   *[k for k, v in codes.items() if v not in opcodes])

print(f"1..{number}")
sys.exit(1 if failed else 0)
