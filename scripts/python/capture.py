"""Captures of `bpftrace.sh -f json` (docs/records.md), read line by line in bounded memory.

    reader = Reader(target, name)
    while data: reader.take(data)
    reader.end()

The target is an object with these methods; what they are given is plain text unless `json` names it:

    record(ns, cpu, pid, tid, comm, probe, text_json, inside_json, fields)  an event; `inside` is that of its fields' braces
    other(line)         any other line: see Line
    capture(first)      the first line of a capture, an object; False: it is no such line

Nearly all lines are events as btgen writes them. One regular expression takes those apart; every other line is read as any JSON.
"""
import codecs
import datetime
import json
import re

import diag

STRING = r'"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*"'
EVENT = re.compile(r'\{"time": "([-0-9T:]{19})\.([0-9]{9})([-+][0-9:]{5})", "cpu": (0|[1-9][0-9]{0,9}), "pid": (0|[1-9][0-9]{0,9}), '
                   r'"tid": (0|[1-9][0-9]{0,9}), "comm": "([^"\\\x00-\x1f]*)", "probe": "([^"\\\x00-\x1f]*)", "text": (%s), "fields": ' % STRING)
DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})")
ZONE = re.compile(r"([-+])([0-9]{2}):([0-9]{2})")
DIGITS = re.compile(r"-?[0-9]{1,20}")
INT64 = 1 << 63
YEARS = range(1970, 2201)  # ns since 1970 have 63 bits
EPOCH = datetime.datetime(1970, 1, 1)
SECOND = 1000000000
SCHEMA = 1  # the newest that is read: CAPTURE_SCHEMA of gen/convert/convert.h; captures of btgen 0.1 have no number

# Halves of surrogate pairs, which JSON can spell and UTF-8 cannot.
codecs.register_error("halves", lambda error: (b"\xef\xbf\xbd" * (error.end - error.start), error.end))


class Number(str):
    """One that is no integer, as it is spelled."""


def refuse(name):
    raise ValueError(name)  # NaN, Infinity


decode = json.JSONDecoder(parse_float=Number, parse_constant=refuse)
# Python refuses an int of more than 4300 digits. To ask for each number takes longer.
decode_long = json.JSONDecoder(parse_float=Number, parse_int=lambda text: int(text) if len(text) <= 20 else Number(text), parse_constant=refuse)


def read_object(text):
    try:
        return decode.decode(text)
    except ValueError:
        return decode_long.decode(text)


quote_ascii = json.encoder.encode_basestring


def quote(text):
    """As JSON, what would control a terminal escaped."""
    quoted = quote_ascii(text)
    if not diag.UNSAFE.search(quoted):
        return quoted
    return diag.UNSAFE.sub(lambda match: json.dumps(match[0].encode("utf-8", "halves").decode("utf-8"))[1:-1], quoted)


def to_json(value):
    """Back to JSON, numbers as they were."""
    if isinstance(value, dict):
        return "{%s}" % ", ".join("%s: %s" % (quote(name), to_json(member)) for name, member in value.items())
    if isinstance(value, list):
        return "[%s]" % ", ".join(map(to_json, value))
    if value.__class__ is str:
        return quote(value)
    return value if value.__class__ is Number else json.dumps(value)


def integer(value):
    """Of 64 bits, or a string with the digits of one; else None."""
    if value.__class__ is str and DIGITS.fullmatch(value):
        value = int(value)
    return value if value.__class__ is int and -INT64 <= value < INT64 else None


def words(value):
    """A value as people read it: a string, an enumerator's name, a number. Empty for what is more than one thing."""
    if value.__class__ is str:
        return value
    if isinstance(value, dict):  # {"name": "RUNNING", "value": 4}, {"text": "a", "hex": "61"}
        for name, member in value.items():
            if name in ("name", "text") and member.__class__ is str:
                return member
            if name == "value":
                return words(member)
        return ""
    return "" if isinstance(value, list) else to_json(value)


def read_second(date, zone):
    """Since 1970, UTC; ValueError if there is no such time."""
    day, away = DATE.fullmatch(date), ZONE.fullmatch(zone)
    if not day or not away:
        raise ValueError(date)
    year, month, day, hour, minute, second = map(int, day.groups())
    if year not in YEARS or second > 60 or int(away[3]) > 59:
        raise ValueError(date)
    since = datetime.datetime(year, month, day, hour, minute) - EPOCH
    east = (int(away[2]) * 60 + int(away[3])) * (60 if away[1] == "+" else -60)
    return since.days * 86400 + since.seconds + second - east


def read_time(text):
    """RFC 3339 with nine digits after the point, in ns since 1970."""
    if text.__class__ is not str or len(text) != 35 or text[19] != "." or not re.fullmatch("[0-9]{9}", text[20:29]):
        raise ValueError(text)
    return read_second(text[:19], text[29:]) * SECOND + int(text[20:29])


def read_start(first):
    """The `wall` of a capture's first line, or None."""
    try:
        return read_time(first.get("wall"))
    except ValueError:
        return None


def why_not_read(first):
    """Why a capture with this first line is refused, or None."""
    schema = first.get("schema", 1)
    if schema.__class__ is int and 1 <= schema <= SCHEMA:
        return None
    return "the capture has schema %s, and this btgen reads up to %d: use btgen %s or newer" % (
        to_json(schema), SCHEMA, words(first.get("version", "")))


class Line:
    """One that is no event as btgen writes them; what it does not have is None. ValueError: it is no line of a capture."""

    def __init__(self, text):
        self.all = every = read_object(text)
        if not isinstance(every, dict):
            raise ValueError(text)
        self.ns = read_time(every["time"]) if "time" in every else None
        self.pid = "0" if every.get("pid", 0) is None else self.number("pid")
        self.tid, self.cpu = self.number("tid"), self.number("cpu")
        self.comm, self.probe = words(every.get("comm", "")), words(every.get("probe", ""))
        self.map, self.entries = every.get("map"), every.get("entries")
        if self.map is not None and self.map.__class__ is not str:
            self.map = None
        if not isinstance(self.entries, list):
            self.entries = []
        self.fields, self.lost = every.get("fields"), every.get("lost")
        for name in ("fields", "lost"):
            if name in every and not isinstance(every[name], dict):
                raise ValueError(text)

    def number(self, name):
        value = integer(self.all.get(name, 0))
        if value is None:
            raise ValueError(name)
        return str(value)

    def is_event(self):
        return self.ns is not None and not self.map and self.lost is None


class Reader:
    def __init__(self, target, name):
        self.target, self.name = target, name
        self.part = []  # of a line whose end has not come
        self.n_lines = self.n_skipped = self.first_skipped = 0
        self.has_records = False

    def take(self, data):
        end = data.rfind(b"\n") + 1
        if not end:
            self.part.append(data)
            return
        block = b"".join(self.part) + data[:end]
        self.part = [data[end:]] if end < len(data) else []
        try:
            text = block.decode("utf-8")
        except UnicodeDecodeError:
            for line in block[:-1].split(b"\n"):
                self.take_bytes(line)
            return
        self.take_lines(text)
        self.n_lines += text.count("\n")

    def take_lines(self, text):
        match, scan, record = EVENT.match, decode.scan_once, self.target.record
        at, end, known, base = 0, len(text), None, 0
        while at < end:
            stop = text.find("\n", at)
            event = match(text, at)
            fields = None
            if event:
                start = event.end()
                date, fraction, zone, cpu, pid, tid, comm, probe, said = event.groups()
                try:
                    fields, after = scan(text, start)
                    if (date, zone) != known:
                        base, known = read_second(date, zone) * SECOND, (date, zone)
                except (StopIteration, ValueError, RecursionError):
                    fields = None
            if fields.__class__ is dict and after + 1 == stop and text[after] == "}":
                self.has_records = True
                record(base + int(fraction), cpu, pid, tid, comm, probe, said, text[start + 1:after - 1].strip(), fields)
            else:
                self.take_line(text[at:stop], self.n_lines + text.count("\n", 0, at) + 1)
            at = stop + 1

    def take_bytes(self, line):
        """A line of a block that is not all UTF-8."""
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError:
            self.skip(self.n_lines + 1)
        else:
            self.take_lines(text + "\n")
        self.n_lines += 1

    def skip(self, number):
        self.n_skipped += 1
        self.first_skipped = self.first_skipped or number

    def take_line(self, text, number):
        if not text.strip(" \t\r\v\f"):
            return
        try:
            line = Line(text)
        except (ValueError, RecursionError):
            self.skip(number)
            return
        self.give(line, number)

    def give(self, line, number):
        target = self.target
        if "capture" in line.all:
            first = line.all["capture"]
            why = isinstance(first, dict) and why_not_read(first)
            if why:
                raise diag.error(why, self.name, number)
            if not isinstance(first, dict) or not target.capture(first):
                self.skip(number)
                return
        elif line.is_event():
            fields = line.fields or {}
            text = to_json(line.all["text"]) if "text" in line.all else ""
            target.record(line.ns, line.cpu, line.pid, line.tid, line.comm, line.probe, text, to_json(fields)[1:-1].strip(), fields)
        else:
            target.other(line)
        self.has_records = True

    def end(self):
        """Takes a last line without its end, if that is whole; reports what was skipped."""
        rest = b"".join(self.part)
        is_whole = True
        try:
            line = Line(rest.decode("utf-8"))
        except (ValueError, RecursionError):  # of which UnicodeDecodeError is one
            is_whole = False
        if is_whole:
            self.give(line, self.n_lines + 1)
        elif rest.strip() and self.n_lines == 0:
            self.skip(1)
        elif rest.strip():
            diag.warning("the last line is truncated and was skipped", self.name, self.n_lines + 1)
        if self.n_skipped and not self.has_records:
            raise diag.error("expected a line of -f json", self.name, self.first_skipped)
        if self.n_skipped:
            diag.warning("is not a line of -f json: skipped, %d such line%s in all" % (self.n_skipped, "" if self.n_skipped == 1 else "s"),
                         self.name, self.first_skipped)
