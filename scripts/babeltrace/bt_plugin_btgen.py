"""A source of babeltrace2: captures of bpftrace.sh -f json, a trace for each host (docs/fleet.md).

    babeltrace2 --plugin-path=FOLDER a.json b.json.gz

A file is read twice: first to find the captures in it, how far their records are out of order, and what cannot become an
event, which is reported before anything is printed; then for its events, which are never in memory all at once.

A class of events in CTF 1.8 has one type for each field, while a field of our records has the type of its value. So each
combination of types that comes becomes a class of its own, and they have one name, that of the probe.
"""
import datetime
import gzip
import heapq
import json
import os
import re
import resource
import sys
import zlib

import bt2

SECOND = 10**9
SCHEMA = 1  # the newest that is read, as in scripts/python/capture.py
PACKET = 4096  # events in each: readers of CTF seek by packets
MAX_CLASSES = 64  # of a probe; the fields of what comes then are one string
MAX_DEPTH = 16  # of structs and arrays; what is below is a string
TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.(\d{9})([+-]\d\d:\d\d)")
DIGITS = re.compile(r"-?[1-9][0-9]{15,19}")
INT64 = range(-(2**63), 2**63)
UINT64 = range(2**64)
WRONG = (LookupError, TypeError, ValueError, AttributeError, RecursionError)  # what a corrupt line may raise


def say(text):
    print("btgen: " + visible(text), file=sys.stderr)


def visible(text):
    """Names and messages are printed as they are; babeltrace2 escapes only the values of strings."""
    return re.sub(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]", lambda m: f"\\x{ord(m[0]):02x}", text)


def string(value):
    """A string, or the text of one that is not UTF-8, without what CTF cannot hold: NUL, half a surrogate pair."""
    value = value["text"] if isinstance(value, dict) else value
    return value.encode(errors="replace").decode().replace("\0", "\u2400")


def nanoseconds(time, seconds={}):
    """Since 1970. The last second is remembered: most times are of the same."""
    whole, fraction, zone = TIME.fullmatch(time).groups()
    if whole + zone not in seconds:
        seconds.clear()
        seconds[whole + zone] = int(datetime.datetime.fromisoformat(whole + zone).timestamp())
    return seconds[whole + zone] * SECOND + int(fraction)


def parse(text):
    """The kind of a line and its object; of an event (a record, a map with a time) its time, name, contexts and payload."""
    line = json.loads(text.decode())
    if not isinstance(line, dict):
        raise ValueError("no object")
    if "time" not in line:
        return next((k for k in ("capture", "cost", "lost", "program", "map", "text") if k in line), "unknown"), line
    common = {key: line[key] for key in ("cpu", "pid", "tid")}
    ns = nanoseconds(line["time"])
    if ns not in range(2**62) or not all(type(v) is int and v in INT64 for v in common.values()):
        raise ValueError("out of range")
    common["comm"] = string(line["comm"])
    if "map" in line:
        return "event", (ns, visible(string(line["map"])), common, {"probe": string(line["probe"])}, {"entries": line["entries"]})
    context = {"text": string(line["text"])}
    if "cut" in line:
        context["cut"] = ", ".join(line["cut"])  # babeltrace2 2.0 cannot read an array in this place
    return "event", (ns, visible(string(line["probe"])), common, context, dict(line.get("fields", {})))


def opened(path):
    path = path.encode()  # python in babeltrace2 may think that names of files are ASCII
    with open(path, "rb") as f:
        packed = f.read(2) == b"\x1f\x8b"
    return (gzip.open if packed else open)(path, "rb")


def read(path, start=0, end=None):
    """Where it ends, kind and what it says, of each line."""
    with opened(path) as f:
        f.seek(start)
        while end is None or start < end:
            text = b""
            try:
                text = f.readline()
                kind, value = parse(text) if text else (None, None)
            except (EOFError, gzip.BadGzipFile, zlib.error, *WRONG) as e:
                kind, value = "corrupt", e
            if kind != "corrupt" or text.endswith(b"\n"):  # else it may be written just now
                start += len(text)
            if kind:
                yield start, kind, value
            if not text:
                return


class Capture:
    """What one run of bpftrace.sh wrote: a file, or a part of it."""

    def __init__(self, path, start, about):
        self.path, self.start, self.end = path, start, start
        self.n = self.lost = self.disorder = self.shift = self.last = 0
        self.first, self.boot = 2**62, None
        self.host = re.sub(r"(\.json)?(\.gz)?$", "", os.path.basename(path))
        self.synchronized = about.get("synchronized", True) is True
        if about:
            self.host, monotonic = string(about["host"]), int(about["monotonic"])
            # When the machine was started, by the wall clock of this capture; of several captures, which of them is believed
            self.base, self.boot = nanoseconds(about["wall"]) - monotonic, str(about["boot_id"])
            self.rank = self.synchronized, monotonic

    def add(self, ns):
        self.n += 1
        self.first, self.last = min(self.first, ns), max(self.last, ns)
        self.disorder = max(self.disorder, self.last - ns)

    def events(self):
        """In order: an event is held until none can come that is earlier."""
        held, newest = [], 0
        for place, kind, event in read(self.path, self.start, self.end):
            if kind == "event":
                newest = max(newest, event[0])
                heapq.heappush(held, (event[0], place, event))
                while held and held[0][0] <= newest - self.disorder:
                    yield heapq.heappop(held)[2]
        while held:
            yield heapq.heappop(held)[2]


def check_schema(path, about):
    schema = about.get("schema", 1) if isinstance(about, dict) else 1
    if type(schema) is not int or not 1 <= schema <= SCHEMA:
        refuse(f"{path}: the capture has schema {json.dumps(schema)}, and this plugin reads up to {SCHEMA}: use that of "
               f"btgen {about.get('version', '')} or newer")


def captures_of(path):
    """Those with events; says what else is in the file."""
    if not os.path.isfile(path.encode()):
        refuse(f"{path}: is no file, and has to be read twice")
    found, corrupt, skipped = [Capture(path, 0, {})], [], {}
    for number, (place, kind, value) in enumerate(read(path), 1):
        found[-1].end = place
        if kind == "capture":
            check_schema(path, value["capture"])
        try:
            if kind == "capture":
                found.append(Capture(path, place, value["capture"]))
            elif kind == "event":
                found[-1].add(value[0])
            elif kind == "lost":
                found[-1].lost += int(value["lost"]["total"])
                say(f"{path}: records were lost: {json.dumps(value['lost'])}")
            elif kind == "corrupt":
                corrupt.append(number)
            elif kind not in ("program", "cost"):
                skipped[kind] = skipped.get(kind, 0) + 1
        except WRONG:
            corrupt.append(number)
    for kind, count in skipped.items():
        say(f"{path}: no events, as they have no time: {count} lines of kind '{kind}'")
    if corrupt:
        say(f"{path}: skipped as corrupt: {len(corrupt)} lines, the first is line {corrupt[0]}")
    return [c for c in found if c.n]


def set_clocks(captures, offsets):
    """Captures of one boot are as far apart as the monotonic clock says; then the clocks of hosts are put right."""
    best, hosts = {}, {c.host: c for c in captures}
    for c in captures:
        if c.boot and c.rank >= best.get(c.boot, c).rank:
            best[c.boot] = c
    for c in captures:
        c.shift = best[c.boot].base - c.base if c.boot else 0
        if abs(c.shift) > SECOND // 1000:
            say(f"{c.path}: the clock of {c.host} was set between captures: times are moved by {c.shift / SECOND:+.3f} s")
        c.shift += round(offsets.get(c.host, 0) * SECOND)
    for host, c in hosts.items():
        if len(hosts) > 1 and not c.synchronized and host not in offsets:
            say(f"{c.path}: the clock of {host} was not synchronized: if it is off, say --params='offsets=[\"{host}=SECONDS\"]'")
    for host in offsets.keys() - hosts.keys():
        refuse(f"offsets: no capture is of host {host}, but of {', '.join(sorted(hosts))}")


def refuse(text):
    say("error: " + text)  # babeltrace2 prints the exception, too, in the middle of much else
    raise ValueError(text)


def shape(value, depth=0):
    """The type that a value has in CTF: a word, or a tuple with the types of its parts."""
    if isinstance(value, str) and DIGITS.fullmatch(value) and abs(int(value)) >= 2**53:
        value = int(value)  # in JSON a string of its digits
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "int" if value in INT64 else "uint" if value in UINT64 else "str"
    if value is None or isinstance(value, (str, float)):
        return "null" if value is None else "str" if isinstance(value, str) else "real"
    if depth < MAX_DEPTH and isinstance(value, dict):
        return ("struct", *((key, shape(v, depth + 1)) for key, v in value.items()))
    kinds = {shape(v, depth + 1) for v in value} or {"str"} if depth < MAX_DEPTH else ()
    # babeltrace2 puts the length of an array into the struct around it: there is none around an array's element
    if len(kinds) == 1 and next(iter(kinds)) != "null" and next(iter(kinds))[0] != "array":
        return ("array", *kinds)
    return "json"


def identifiers(names):
    """Names as CTF can have them: expressions lose their operators; what then is there twice gets a number."""
    taken = {}
    for name in names:
        word = "incomplete" if name == "..." else re.sub(r"[^A-Za-z0-9_]+", "_", name).strip("_") or "field"
        base = word = "n" + word if word[0].isdigit() else word
        n = 1
        while word in taken.values():
            n += 1
            word = f"{base}_{n}"
        taken[name] = word
    return taken


def field_class(new, kind):
    """A class of fields, made by the class of traces new, and what makes a value of such a type one for them."""
    if kind == "null":
        null = new.create_unsigned_enumeration_field_class(8)
        null.add_mapping("null", bt2.UnsignedIntegerRangeSet([(0, 0)]))
        return null, lambda v: 0
    if isinstance(kind, str):
        make, convert = {
            "bool": (new.create_bool_field_class, bool),
            "int": (lambda: new.create_signed_integer_field_class(64), int),
            "uint": (lambda: new.create_unsigned_integer_field_class(64), int),
            "real": (new.create_double_precision_real_field_class, float),
            "str": (new.create_string_field_class, lambda v: string(str(v))),
            "json": (new.create_string_field_class, lambda v: string(json.dumps(v, ensure_ascii=False))),
        }[kind]
        return make(), convert
    if kind[0] == "array":
        element, convert = field_class(new, kind[1])
        return new.create_dynamic_array_field_class(element), lambda v: [convert(e) for e in v]
    struct, members, names = new.create_structure_field_class(), [], identifiers(key for key, _ in kind[1:])
    for key, member_kind in kind[1:]:
        member, convert = field_class(new, member_kind)
        struct.append_member(names[key], member)
        members.append((key, names[key], convert))
    return struct, lambda v: {name: convert(v[key]) for key, name, convert in members}


class Classes:
    """Classes of events, each made when its first event comes."""

    def __init__(self, component):
        self.traces, self.classes, self.counts = component._create_trace_class(), {}, {}
        context, _ = field_class(self.traces, (
            "struct", ("host", "str"), ("cpu", "int"), ("pid", "int"), ("tid", "int"), ("comm", "str")))
        self.streams = self.traces.create_stream_class(
            event_common_context_field_class=context,
            default_clock_class=component._create_clock_class(name="time", frequency=SECOND, origin_is_unix_epoch=True),
            supports_packets=True, packets_have_beginning_default_clock_snapshot=True,
            packets_have_end_default_clock_snapshot=True,
            supports_discarded_events=True, discarded_events_have_default_clock_snapshots=True)

    def of(self, name, context, payload):
        """The class, the context and the payload of an event."""
        key = name, shape(context), shape(payload)
        if key not in self.classes and self.counts.get(name, 0) >= MAX_CLASSES:
            payload = {"fields": json.dumps(payload, ensure_ascii=False)}
            key = name, shape(context), shape(payload)
        if key not in self.classes:
            self.counts[name] = self.counts.get(name, 0) + 1
            (context_class, convert_context), (payload_class, convert) = (field_class(self.traces, k) for k in key[1:])
            event_class = self.streams.create_event_class(
                name=name, specific_context_field_class=context_class, payload_field_class=payload_class)
            self.classes[key] = event_class, convert_context, convert
        event_class, convert_context, convert = self.classes[key]
        return event_class, convert_context(context), convert(payload)


class Messages(bt2._UserMessageIterator):
    """The messages of one capture."""

    def __init__(self, config, port):
        config.can_seek_forward = True  # --begin
        self.capture, self.classes = port.user_data
        self._user_seek_beginning()

    def _user_seek_beginning(self):
        self.messages = self.all()

    def __next__(self):
        return next(self.messages)

    def all(self):
        c = self.capture
        first, last = c.first + c.shift, c.last + c.shift
        yield self._create_stream_beginning_message(c.stream)
        if c.lost:
            # At some time from the first event to the last: in CTF, from the end of an empty packet to that of the next
            empty, loss = c.loss.create_packet(), c.loss.create_packet()
            yield self._create_stream_beginning_message(c.loss)
            yield self._create_packet_beginning_message(empty, first)
            yield self._create_packet_end_message(empty, first)
            yield self._create_discarded_events_message(c.loss, c.lost, first, last)
            yield self._create_packet_beginning_message(loss, first)
        for n, (ns, *event) in enumerate(c.events()):
            if n and n % PACKET == 0:
                yield self._create_packet_end_message(packet, now)
            now = ns + c.shift
            if n % PACKET == 0:
                packet = c.stream.create_packet()
                yield self._create_packet_beginning_message(packet, now)
            yield self.event(packet, now, *event)
        yield self._create_packet_end_message(packet, now)
        if c.lost:
            yield self._create_packet_end_message(loss, last)
            yield self._create_stream_end_message(c.loss)
        yield self._create_stream_end_message(c.stream)

    def event(self, packet, now, name, common, context, payload):
        event_class, context, payload = self.classes.of(name, context, payload)
        message = self._create_event_message(event_class, packet, now)
        message.event.common_context_field.value = {"host": self.capture.host, **common}
        message.event.specific_context_field.value = context
        message.event.payload_field.value = payload
        return message


@bt2.plugin_component_class
class Json(bt2._UserSourceComponent, message_iterator_class=Messages, name="json"):
    """Captures of bpftrace.sh -f json

    inputs=[FILE, ...]; offsets=["HOST=SECONDS", ...], added to its times; window=SECONDS, how far records may be out of order"""

    def __init__(self, config, params, obj):
        # Each capture is an open file, and each of its streams one that is written
        resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
        captures = [c for path in params["inputs"] for c in captures_of(str(path))]
        set_clocks(captures, {host: float(s) for host, _, s in (
            str(o).rpartition("=") for o in (params["offsets"] if "offsets" in params else ()))})
        window = float(params["window"]) if "window" in params else 10
        classes, traces = Classes(self), {}
        for number, c in enumerate(captures):
            if c.disorder > window * SECOND:
                refuse(f"{c.path}: a record is {c.disorder / SECOND:.3f} s earlier than one before it: capture with -s, or, as "
                       f"that much has to be held in memory to sort it, say --params=window={c.disorder // SECOND + 1}")
            if c.host not in traces:
                traces[c.host] = classes.traces(
                    name=re.sub(r"[^A-Za-z0-9._-]|^\.+$", "_", c.host),
                    environment={"hostname": visible(c.host), "tracer_name": "btgen"})
            name = f"{number}-" + re.sub("[^A-Za-z0-9._-]", "_", os.path.basename(c.path))
            c.stream = traces[c.host].create_stream(classes.streams, name=name)
            c.loss = traces[c.host].create_stream(classes.streams, name=name + "-lost") if c.lost else None
            self._add_output_port(name, (c, classes))

    @staticmethod
    def _user_query(executor, name, params, method_obj):
        """babeltrace2 asks whose each file on its command line is."""
        if name != "babeltrace.support-info":
            raise bt2.UnknownObject
        if params["type"] == "file":
            try:
                with opened(str(params["input"])) as f:
                    if parse(f.readline(2**26))[0] != "unknown":
                        return {"weight": 0.75, "group": "btgen"}
            except (OSError, EOFError, zlib.error, *WRONG):
                pass
        return 0.0


bt2.register_plugin(__name__, "btgen", description="Captures of bpftrace.sh -f json")
