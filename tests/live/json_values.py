"""Compares a trace of tests/live/json.t with the log of its program: what differs, or nothing."""
import collections, json, sys

MODES, BITS = {0: "OFF", 3: "ON", -1: "BAD"}, {1: "READ", 2: "WRITE", 8: "SYNC"}


def raw(s):
    return bytes.fromhex(s["hex"]) if isinstance(s, dict) else s.encode("utf-8")


def whole(v):
    return int(v) if isinstance(v, str) else v


def half(total, n):
    """Integer division, as C has it."""
    return abs(total) // n * (-1 if total < 0 else 1)


def bits(v):
    names = [name for bit, name in BITS.items() if v & bit]
    return "|".join(names + ([hex(v & 4)] if v & 4 else [])) if names else None


def read_log(path):
    """Events, each a dictionary of what the program passed, and its line."""
    events = collections.defaultdict(list)
    with open(path) as log:
        for line in log:
            key, n, *values = line.split()
            values = list(map(int, values))
            extra = bytes.fromhex(next(log).rstrip("\n").split(" ")[1])
            events[key].append((int(n), values, extra))
    return events


def expected_records(events):
    for n, (i8, i16, i32, i64), line in events["signed"]:
        yield "values:signed", line, {"n": n, "i8": i8, "i16": i16, "i32": i32, "i64": i64}
    for n, (u8, u16, u32, u64), line in events["unsigned"]:
        yield "values:unsigned", line, {"n": n, "u8": u8, "u16": u16, "u32": u32, "u64": u64}
    for n, (mode, flags, flag, address), s in events["text"]:
        char = 65 + n % 26
        line = b"%d %s %s %04x %d %s %c" % (n, s, (MODES.get(mode) or str(mode)).encode(), flags, flag,
                                            hex(address).encode() if address else b"(nil)", char)
        yield "values:text", line, {"n": n, "s": s, "mode": (MODES.get(mode), mode), "bits": (bits(flags), flags), "flag": bool(flag),
                                    "p": hex(address) if address else None, "65 + args.n % 26": chr(char)}


def value(v):
    if isinstance(v, dict) and "hex" not in v:
        return v["name"], whole(v["value"])
    if isinstance(v, dict):
        return raw(v)
    return v


def same(name, got, want):
    if isinstance(want, bytes):
        return raw(got) == want
    if isinstance(want, bool):
        return got is want
    return (whole(got) if isinstance(want, int) else value(got)) == want


def check_records(records, events):
    want = list(expected_records(events))
    got = sorted((r for r in records if r["probe"].startswith("values:")),
                 key=lambda r: ([e[0] for e in want].index(r["probe"]), r["fields"]["n"]))
    if len(got) != len(want):
        yield f"{len(got)} records, not {len(want)}"
    for r, (probe, line, fields) in zip(got, want):
        if r["probe"] != probe or raw(r["text"]) != line:
            yield f"{r['probe']} {raw(r['text'])!r}, not {probe} {line!r}"
        if list(r["fields"]) != list(fields):
            yield f"fields {list(r['fields'])}, not {list(fields)}"
        for name, v in fields.items():
            if name in r["fields"] and not same(name, r["fields"][name], v):
                yield f"{name} is {r['fields'][name]!r}, not {v!r}"


def bucket(v):
    """What hist() counts @v as."""
    return (v, v) if v < 2 else (1 << v.bit_length() - 1, (1 << v.bit_length()) - 1)


def linear(v):
    """lhist(v, 0, 200, 50)"""
    return (200, None) if v >= 200 else (v // 50 * 50, v // 50 * 50 + 49)


def expected_maps(events):
    signed, unsigned, text = events["signed"], events["unsigned"], events["text"]
    count = collections.Counter
    i8 = [(n, v[0]) for n, v, _ in signed]
    yield "@sum", {(): sum(v[2] for _, v, _ in signed)}
    yield "@min", {(): min(v[1] for _, v, _ in signed)}
    yield "@max", {(): max(v[3] for _, v, _ in signed)}
    yield "@avg", {(): half(sum(v for _, v in i8), len(i8))}
    yield "@last", {(): signed[-1][1][3]}
    stats = {}
    for k in (0, 1):
        of = [v for n, v in i8 if n % 2 == k]
        stats[k,] = {"count": len(of), "average": half(sum(of), len(of)), "total": sum(of)}
    yield "@stats", stats
    yield "@by", count((v, n % 3) for n, v in i8)
    yield "@hist", {(k,): count(bucket(v[1]) for n, v, _ in unsigned if n % 2 == k) for k in (0, 1)}
    yield "@lhist", {(): count(linear(v[0]) for _, v, _ in unsigned)}
    yield "@wide", {(n % 5,): v[3] for n, v, _ in unsigned}
    yield "@from", {(v[3],): n for n, v, _ in unsigned}
    yield "@text", count((s,) for _, _, s in text)
    yield "@both", {(s, n): n for n, _, s in text}
    yield "@said", {(): text[-1][2]}
    yield "@pair", {(n % 7,): [n, ["a, b", n % 3]] for n, _, _ in text}
    yield "@at", {(hex(v[3]).encode() if v[3] else None,): (MODES.get(v[0]), v[0]) for _, v, _ in text}
    yield "@named", count((MODES.get(v[0], v[0]),) for _, v, _ in text)


def part(k):
    if isinstance(k, int) or k is None or k in MODES.values():
        return k
    return int(k) if isinstance(k, str) and k.isdigit() and len(k) > 15 else raw(k)


def entry(e, want):
    """A key and a value in the form of expected_maps()."""
    key = tuple(part(k) for k in e.get("key", []))
    if "histogram" in e:
        return key, {(b["min"], b["max"]): b["count"] for b in e["histogram"] if b["count"]}
    if "stats" in e:
        return key, e["stats"]
    if e["value"] == f">= {2**62 - 1}" and want[key] >= 2**62 - 1:  # of max(): samples.t
        return key, want[key]
    return key, raw(e["value"]) if isinstance(want.get(key), bytes) else value(whole(e["value"]))


def check_maps(objects, events):
    last = {o["map"]: o for o in objects if "map" in o and "time" not in o}
    for name, want in expected_maps(events):
        if name not in last:
            yield f"no {name}"
            continue
        entries = last[name]["entries"]
        got = dict(entry(e, want) for e in entries)
        if len(got) < len(entries) or any("unsplit" in e for e in entries):
            yield f"{name}: keys that are not told apart"
        for key in got.keys() | want.keys():
            if got.get(key) != want.get(key):
                yield f"{name}{list(key)}: {got.get(key)!r}, not {want.get(key)!r}"


def check_prints(objects):
    """What an interval prints: a number, a map, a line, over and over."""
    ticks = [o for o in objects if o.get("probe") == "interval:ms:200"]
    kinds = [o.get("map", "text") for o in ticks]
    by = [o for o in ticks if o.get("map") == "@by"]
    lines = [o["fields"]["ticks"] for o in ticks if "text" in o and o["text"].startswith("tick ")]
    if not by or lines != list(range(1, len(lines) + 1)):
        yield f"{len(by)} maps and the ticks {lines}"
    sums = [sum(e["value"] for e in o["entries"]) for o in by]
    if sums != sorted(sums):
        yield f"@by shrinks: {sums}"


def main():
    with open(sys.argv[1], "rb") as f:
        objects = [json.loads(line) for line in f]
    events = read_log(sys.argv[2])
    records = [o for o in objects if "fields" in o]
    if sys.argv[3] == "records":
        wrong = list(check_records(records, events))
    elif sys.argv[3] == "maps":
        wrong = list(check_maps(objects, events))
    else:
        wrong = list(check_prints(objects))
    print("\n".join(wrong[:20]))


main()
