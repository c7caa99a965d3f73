#!/usr/bin/python3 -IB
"""Draws histograms with percentiles out of the buckets that a bpftrace script counts.

    bpftrace.sh -D PERCENTILES=1 nvme-latency.bt | percentiles.py

bpftrace has no percentiles, and before 0.21 no loop over a map to work them out. A script can count in
narrow buckets instead, in a map whose name ends in _buckets and whose last two keys are a bucket's bounds:

    @us_buckets[1, read, 20480, 21504]: 37          37 values from 20480 up to, but not including, 21504

This program replaces each printed map of that kind by a histogram for each of the other keys, and passes
on all other lines as they are, each report as soon as it ends. With a map @us_stats or @us_max of the same
keys (stats() and max()), it says when values are missing because the map of buckets was full, and cuts
the last bucket at the maximum. A percentile is given as the bounds of the bucket it falls into.

    -w N          characters for the longest bar [40]
    -n            no histograms, only the lines with percentiles
    -h, --help    this text
"""
import re
import signal
import sys

# Numbers of 64 bits. A bucket without a value is none.
BUCKET = re.compile(r"^@(\w+)_buckets\[(.*), (-?\d{1,20}), (-?\d{1,20})\]: (0*[1-9]\d{0,19})$")
# `count 5, average 4, total 20`, and from 0.24 or so `{ .count = 5, .average = 4, .total = 20 }`
COUNT = re.compile(r"^@(\w+)_stats\[(.*)\]: (?:\{ \.count = |count )(\d{1,20}), \.?average")
MOST = re.compile(r"^@(\w+)_max\[(.*)\]: (-?\d{1,20})$")
POINTS = ((50, "p50"), (99, "p99"), (99.9, "p99.9"))
# What drives a terminal or cannot be seen there, and bytes that are not UTF-8
HIDDEN = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\U000e0000-\U000e007f\udc80-\udcff]")
# How compressed files begin, and what unpacks them
PACKED = ((b"\x1f\x8b", "gzip", "zcat"), (b"\x28\xb5\x2f\xfd", "zstd", "zstdcat"), (b"\xfd7zXZ", "xz", "xzcat"), (b"BZh", "bzip2", "bzcat"),
          (b"\x04\x22\x4d\x18", "lz4", "lz4cat"))
# Lines held back at most while a report is read: its end is another report's beginning, or the end of input.
MAX_HELD = 100000


def percentile(buckets, total, point):
    """Bounds of the bucket with the smallest value that at least `point` percent do not exceed."""
    # In thousandths, so that no rounding moves a rank: the 999th of 1000 is p99.9.
    rank = max(1, -(-total * round(point * 10) // 1000))
    seen = 0
    for low, high, count in buckets:
        seen += count
        if seen >= rank:
            return low, high
    return buckets[-1][:2]


def bounds(low, high):
    return str(low) if high - low <= 1 else f"{low}-{high - 1}"


class Report:
    """What was printed at one time: maps of buckets, and what else helps to read them."""

    def __init__(self):
        self.maps = {}  # (name, key) -> [(low, high, count)]
        self.counts = {}
        self.most = {}

    def take(self, line):
        """True when the line is a bucket, which is not shown as it is."""
        m = BUCKET.match(line)
        if m:
            name, key, low, high, count = m.groups()
            self.maps.setdefault((name, key), []).append((int(low), int(high), int(count)))
            return True
        m = COUNT.match(line)
        if m:
            self.counts[m[1], m[2]] = int(m[3])
        m = MOST.match(line)
        if m:
            self.most[m[1], m[2]] = int(m[3])
        return False

    def lines(self, width, bars):
        order = sorted(self.maps, key=lambda k: [(0, int(p), "") if p.isdigit() else (1, 0, p)
                                                 for p in (k[0] + ", " + k[1]).split(", ")])
        for name, key in order:
            buckets = sorted(self.maps[name, key])
            most = self.most.get((name, key))
            if most is not None and buckets[-1][0] <= most < buckets[-1][1]:
                buckets[-1] = (buckets[-1][0], most + 1, buckets[-1][2])
            total = sum(b[2] for b in buckets)
            points = ", ".join(f"{label} {bounds(*percentile(buckets, total, p))}" for p, label in POINTS)
            if most is not None:
                points += f", max {most}"
            yield f"@{name}[{key}]: count {total}, {points}"
            missing = self.counts.get((name, key), total) - total
            if missing > 0:
                yield f"warning: {missing} values are in no bucket: the map was full, and the percentiles are wrong"
            if bars:
                top = max(b[2] for b in buckets)
                spans = [f"[{low}, {high})" for low, high, _ in buckets]
                for span, (_, _, count) in zip(spans, buckets):
                    bar = "@" * max(1, count * width // top)
                    yield f"{span:<22}{count:>9} |{bar:<{width}}|"
                yield ""


def visible(text):
    return HIDDEN.sub(lambda m: "".join(f"\\x{byte:02x}" for byte in m[0].encode(errors="surrogateescape")), text)


def show(line):
    """Prints it; on a terminal with \\xNN for what would drive that, as bpftrace.sh does."""
    print(visible(line) if sys.stdout.isatty() else line)


def main(argv):
    width, bars = 40, True
    args = argv[1:]
    while args:
        arg = args.pop(0)
        if arg in ("-h", "--help"):
            print(__doc__, end="")
            return 0
        if arg == "-n":
            bars = False
        elif arg == "-w" and args and args[0].isdigit() and 0 < int(args[0]) <= 1000:
            width = int(args.pop(0))
        else:
            print(f"percentiles.py: error: '{visible(arg)}' is not understood\nTry 'percentiles.py --help'.", file=sys.stderr)
            return 2

    # ^C is for bpftrace: what it prints then is what matters.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.stdin.reconfigure(errors="surrogateescape")
    sys.stdout.reconfigure(errors="surrogateescape")
    report, held = Report(), []

    def flush():
        nonlocal report, held
        for line in report.lines(width, bars):
            show(line)
        for line in held:
            show(line)
        sys.stdout.flush()
        report, held = Report(), []

    start = sys.stdin.buffer.peek(6)
    for magic, packer, unpacker in PACKED:
        if start.startswith(magic):
            raise ValueError(f"standard input is compressed with {packer}: use {unpacker} FILE | percentiles.py")
    for line in sys.stdin:
        line = line.rstrip("\n")
        # A line that is of no map begins something new: the time of a report, a message.
        if line and not line.startswith(("@", "[")) and (report.maps or held):
            flush()
        if not report.take(line):
            if report.maps or line.startswith("@"):
                held.append(line)
            elif line or held:
                show(line)
                sys.stdout.flush()
        if len(held) > MAX_HELD:
            flush()
    flush()
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv))
    except MemoryError:
        sys.exit("percentiles.py: error: out of memory")
    except (OSError, ValueError) as error:
        sys.exit(f"percentiles.py: error: {error}")
