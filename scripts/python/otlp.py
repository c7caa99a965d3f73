"""Spans in OpenTelemetry's OTLP JSON, a whole request on each line, as the collector's otlpjsonfile receiver reads them.

What the keys mean: opentelemetry-proto's trace.proto; of JSON, that ids are in hexadecimal digits and integers of 64 bits in strings.
"""
import functools
import hashlib
import math
import re

import capture
import diag

MAX_DEPTH = 8  # of structs and arrays in each other: what is deeper is text
# W3C's Trace Context: 00-<trace>-<span>-<flags>, in small letters, and no id all 0
TRACEPARENT = re.compile("00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}")

quote = functools.lru_cache(4096)(capture.quote)


def is_word(value):
    """An enumerator, {"name": ..., "value": ...}, or a string that is not UTF-8, {"text": ..., "hex": ...}."""
    return len(value) == 2 and tuple(value) in (("name", "value"), ("text", "hex"))


def put_number(value):
    if value.__class__ is int and capture.integer(value) is not None:
        return '"intValue": "%d"' % value
    if value.__class__ is capture.Number and len(value) < 64 and math.isfinite(float(value)):
        return '"doubleValue": %s' % value
    return '"stringValue": "%s"' % value  # beyond what those hold


def put_value(value, depth):
    """The member of an AnyValue that holds it."""
    kind = value.__class__
    if kind is str:
        return '"stringValue": ' + quote(value)
    if kind is bool:
        return '"boolValue": ' + ("true" if value else "false")
    if kind is int or kind is capture.Number:
        return put_number(value)
    if value is None:
        return ""
    if kind is dict and is_word(value):
        return '"stringValue": ' + quote(capture.words(value))
    if depth >= MAX_DEPTH:
        return '"stringValue": ' + quote(capture.to_json(value))
    if kind is list:
        return '"arrayValue": {"values": [%s]}' % ", ".join("{%s}" % put_value(element, depth + 1) for element in value)
    return '"kvlistValue": {"values": [%s]}' % ", ".join(put_members(value, depth + 1))


def put_members(members, depth):
    """What is null has no value."""
    return ['{"key": %s, "value": {%s}}' % (quote(name), put_value(value, depth)) for name, value in members.items() if value is not None]


class Otlp:
    def __init__(self, write):
        self.write = write
        self.has_start = False  # the capture has when it was made, and where
        self.host = self.program = ""
        self.origin = ""  # what tells this capture from others
        self.processes = {}  # by PID: the request up to the span
        self.n_spans = self.n_open = self.n_marks = 0
        self.has_loss = self.lacks_start = False

    def capture(self, first):
        self.host, self.program = (text if isinstance(text, str) else "" for text in map(first.get, ("host", "program")))
        self.origin = "\0".join(str(first.get(name)) for name in ("host", "boot_id", "wall"))
        self.processes = {}
        self.has_start = capture.read_start(first) is not None

    def time(self, _ns, pid, comm):
        if pid in self.processes:
            return
        self.lacks_start |= not self.has_start
        self.processes[pid] = (
            '{"resourceSpans": [{"resource": {"attributes": [{"key": "service.name", "value": {"stringValue": %s}}, '
            '{"key": "host.name", "value": {"stringValue": %s}}, {"key": "process.pid", "value": {"intValue": "%s"}}]}, '
            '"scopeSpans": [{"scope": {"name": "btgen"}, "spans": [{"traceId": "' % (quote(self.program or comm), quote(self.host), pid))

    def args(self, text, _inside, fields):
        return text, fields, None

    def with_end(self, args, _inside, fields):
        return args[0], args[1], fields

    def begin(self, what, outer):
        by, fields = what.by, what.args[1]
        key = "\0".join((self.origin, by.pid, by.tid, str(what.place.tid), what.category, what.name, str(what.ns)))
        digest = hashlib.blake2b(key.encode("utf-8", "halves"), digest_size=24).hexdigest()
        trace, parent = (outer.ids[0], outer.ids[1]) if outer else (digest[16:], "")
        given = fields.get("traceparent")
        given = given.__class__ is str and TRACEPARENT.fullmatch(given)
        if given:
            trace, parent = given.groups()
        what.ids = trace, digest[:16], parent

    def slice(self, what, end):
        if not self.has_start:
            return
        self.n_spans += 1
        text, fields, at_end = what.args
        trace, span, parent = what.ids
        start = max(what.ns, 0)
        members = put_members(fields, 0)
        if text and "text" not in fields:
            members.insert(0, '{"key": "text", "value": {"stringValue": %s}}' % text)
        if at_end:
            members.append('{"key": "end", "value": {%s}}' % put_value(at_end, 0))
        self.write('%s%s", "spanId": "%s"%s, "name": %s, "kind": 1, "startTimeUnixNano": "%d", "endTimeUnixNano": "%d", '
                   '"attributes": [{"key": "thread.id", "value": {"intValue": "%s"}}%s]}]}]}]}\n'
                   % (self.processes[what.by.pid], trace, span, ', "parentSpanId": "%s"' % parent if parent else "", quote(what.name), start,
                      max(end, start), what.by.tid, "".join([", " + member for member in members])))

    overlap = slice

    def unfinished(self, _what):
        self.n_open += 1

    def mark(self, what):
        if what.category:
            self.n_open += 1
        else:
            self.n_marks += 1

    def loss(self, *_):
        self.has_loss = True

    def ignore(self, *_):
        """Not of spans."""

    process = thread = object = trigger = counter = ignore

    def end(self):
        if self.lacks_start:
            raise diag.error("the capture's first line, with its time and host, is missing: record with bpftrace.sh -o FILE.json, and keep that line")
        if self.n_open or self.n_marks or not self.n_spans:
            diag.note("%d span%s; omitted: %d without an end, %d records that neither begin nor end one"
                      % (self.n_spans, "" if self.n_spans == 1 else "s", self.n_open, self.n_marks))
        if self.has_loss:
            diag.warning("events of the capture were lost: spans are missing, or end too late")
