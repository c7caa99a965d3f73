"""btgen convert: a capture of bpftrace.sh -f json in the format of another tool."""
import gc
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

import capture  # noqa: E402
import commandline  # noqa: E402
import diag  # noqa: E402
import outfile  # noqa: E402

SKIPPED = 3  # written, but without lines that are no records; as bpftrace.sh --strict has it
CHUNK = 1 << 16  # what is larger costs a mapping each time
# How compressed files begin, and what unpacks them
PACKED = ((b"\x1f\x8b", "gzip", "zcat"), (b"\x28\xb5\x2f\xfd", "zstd", "zstdcat"), (b"\xfd7zXZ", "xz", "xzcat"), (b"BZh", "bzip2", "bzcat"),
          (b"\x04\x22\x4d\x18", "lz4", "lz4cat"))


def make_target(form, wanted, write):
    """What takes the lines of the capture, see capture.py. Only what is used is loaded."""
    if form == "folded":
        import folded
        return folded.Folded(wanted, write)
    import timeline
    if form == "otlp":
        import otlp
        return timeline.Timeline(otlp.Otlp(write))
    import perfetto
    return timeline.Timeline(perfetto.Perfetto(write))


def check_packed(start, name):
    for magic, packer, unpacker in PACKED:
        if start.startswith(magic):
            raise diag.error("is compressed with %s: unpack it first, or use %s FILE | btgen convert -f FORMAT -" % (packer, unpacker), name)


def read_chunk(fd, name):
    try:
        return os.read(fd, CHUNK)
    except OSError as error:
        raise diag.error("cannot be read: %s" % error.strerror, name)


def convert(form, wanted, fd, name, out):
    """Returns how many lines were skipped."""
    gc.disable()  # what is read makes no cycles, and looking for them costs a fifth
    ready = []
    target = make_target(form, wanted, ready.append)
    reader = capture.Reader(target, name)
    size, done = os.fstat(fd).st_size, 0
    while True:
        data = read_chunk(fd, name)
        if not data:
            break
        if not done:
            check_packed(data, name)
        reader.take(data)
        out.add("".join(ready).encode("utf-8", "halves"))
        del ready[:]
        done += len(data)
        diag.progress.step("converting", done, size)
    diag.progress.clear()
    reader.end()
    target.end()
    out.add("".join(ready).encode("utf-8", "halves"))
    return reader.n_skipped


def main(argv):
    words = commandline.Words(argv)
    output, path = words.value("output"), (words.operands or ["-"])[0]
    name = "standard input" if path == "-" else path
    try:
        fd = 0 if path == "-" else os.open(path, os.O_RDONLY)
    except OSError as error:
        raise diag.error("cannot be read: %s" % error.strerror, name)
    if output and outfile.is_same("/dev/stdin" if path == "-" else path, output):
        raise diag.error("is the capture itself: not overwritten", name)
    with outfile.begin("-o", output) as out:
        n_skipped = convert(words.value("format"), words.value("map"), fd, name, out)
    return SKIPPED if n_skipped else 0


diag.main(main, sys.argv)
