"""Reads what `fieldjson.t random SEED N` prints: records as JSON, each behind what it was made of. All values must be equal
and all records hold the schema. Prints how many records there were."""
import datetime, os, re, struct, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import schema

NUMBER, CHAR, BOOL, ADDRESS, ENUM, FLOAT, DOUBLE, TEXT, STRING, HIDDEN, CHOICE = range(11)
STATES = {0: "OFF", 1: "ON", -1: "BAD", -2**31: "ns::LOW"}
FLAGS = {1: "A", 2: "B", 1 << 63: "TOP"}
LONGEST = 60


def narrow(v, bits, is_signed):
    v &= (1 << bits) - 1
    return v - (1 << bits) if is_signed and v >> (bits - 1) else v


def integer(got):
    """A number is exact in a double, a string is not."""
    assert type(got) is (int if abs(int(got)) < 2**53 else str), got
    return int(got)


def text(got):
    """The bytes of a string."""
    if type(got) is str:
        return got.encode("utf-8")
    raw = bytes.fromhex(got["hex"])
    try:
        raw.decode("utf-8")
        assert False, "it is UTF-8"
    except UnicodeDecodeError:
        pass
    # Each byte that is none of UTF-8 is a character: both texts have what is UTF-8 in common.
    seen = re.sub("\ufffd+", "\ufffd", got["text"])
    want = re.sub("\ufffd+", "\ufffd", raw.decode("utf-8", errors="replace"))
    assert seen == want, (seen, want)
    return raw


def flags(v):
    names = [name for bit, name in FLAGS.items() if v & bit]
    rest = v & ~sum(FLAGS)
    return "|".join(names + ([hex(rest)] if rest else [])) if names else None


def check_value(got, kind, bits, is_signed, is_flags, v, raw):
    if kind == NUMBER:
        assert integer(got) == narrow(v, bits, is_signed)
    elif kind == CHAR:
        assert text(got) == bytes([v & 0xff])
    elif kind == BOOL:
        assert got is (narrow(v, bits, False) != 0)
    elif kind == ADDRESS:
        v = narrow(v, bits, False)
        assert got == (hex(v) if v else None)
    elif kind == ENUM:
        v = narrow(v, bits, not is_flags)
        assert integer(got["value"]) == v
        assert got["name"] == (flags(v) if is_flags else STATES.get(v))
    elif kind in (FLOAT, DOUBLE):
        want = struct.unpack("<f" if kind == FLOAT else "<d", struct.pack("<Q", v & (1 << 64) - 1)[:4 if kind == FLOAT else 8])[0]
        if want != want:
            assert got in ("nan", "-nan")
        elif kind == FLOAT and type(got) is not str:
            assert struct.pack("<f", got) == struct.pack("<f", want)
        else:
            assert struct.pack("<d", float(got)) == struct.pack("<d", want)
    elif kind == STRING and not v:
        assert got is None
    else:
        assert text(got) == raw


def unique(names):
    """Of equal ones the later get numbers that nobody has."""
    used = []
    for name in names:
        n, new = 2, name
        while new in used or (new != name and new in names):
            new, n = f"{name}_{n}", n + 1
        used.append(new)
    return used


def is_known(kind, value, string):
    """Nobody has a string in the first page: it could not be read."""
    return kind != HIDDEN and (kind != STRING or string or not 0 < value % 2**64 < 4096)


def check_record(record, ns, comm, fields):
    offset = record["time"][29:]
    seconds = datetime.datetime.fromisoformat(record["time"][:19] + offset).timestamp()
    assert int(seconds) * 10**9 + int(record["time"][20:29]) == ns, "time"
    assert [record[k] for k in ("cpu", "pid", "tid", "probe")] == [3, 7, 8, "a:b"]
    assert text(record["comm"]) == comm
    names = unique([name for name, _ in fields])
    seen = {name: f for name, (_, f) in zip(names, fields) if is_known(f[0], f[4], f[5])}
    assert set(record["fields"]) == set(seen), "names"
    for name, f in seen.items():
        check_value(record["fields"][name], *f)
    assert record.get("cut", []) == [name for name, f in seen.items() if f[0] in (TEXT, STRING) and len(f[5]) >= LONGEST]


def main():
    check, lines, n = schema.validator(), iter(sys.stdin.buffer), 0
    for line in lines:
        _, ns, n_fields = line.split()
        fields = []
        for _ in range(int(n_fields)):
            name, *values = next(lines).rstrip(b"\n").split(b" ")
            raw = bytes.fromhex(values.pop().decode())
            fields.append((bytes.fromhex(name.decode()).decode("utf-8"), [*map(int, values), raw]))
        comm = bytes.fromhex(next(lines).decode())
        line = next(lines)
        try:
            record = schema.read(line)
            check.validate(record)
            check_record(record, int(ns), comm, fields)
        except Exception as e:
            print(f"{type(e).__name__} {e}: {line!r} of {fields}")
            raise
        n += 1
    print(n)


main()
