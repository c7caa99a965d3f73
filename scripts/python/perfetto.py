"""The trace event format, in JSON, which Perfetto and Chrome show.

Its description: "Trace Event Format", the document that Perfetto's page on JSON traces points to.
"""
import functools
import time

import capture

quote = functools.lru_cache(4096)(capture.quote)


class Perfetto:
    def __init__(self, write):
        self.write = write
        self.start = None  # ns since 1970: times are counted from here
        self.lead = '{"traceEvents":[\n'  # then a comma: after each line the array may end
        self.n_pairs = 0

    def capture(self, first):
        if self.start is None:
            self.start = capture.read_start(first)
        if self.start is not None:
            self.time = None

    def time(self, ns, _pid, _comm):
        self.start = ns
        self.time = None  # once is enough

    def args(self, text, inside, fields):
        if not text or "text" in fields:
            return inside
        return '"text":' + text + "," + inside if inside else '"text":' + text

    def with_end(self, args, inside, _fields):
        return '%s"end":{%s}' % (args + "," if args else "", inside)

    def micro(self, ns):
        return "%s%d.%03d" % ("-" if ns < 0 else "", abs(ns) // 1000, abs(ns) % 1000)

    def put(self, phase, place, name, ns, rest):
        self.write('%s{"ph":"%s","name":%s,%s%s%s}\n' % (self.lead, phase, quote(name), place.json, self.micro(ns - (self.start or 0)), rest))
        self.lead = ","

    def process(self, place, name):
        self.put("M", place, "process_name", self.start or 0, ',"args":{"name":%s}' % quote(name))

    def thread(self, place, name):
        self.put("M", place, "thread_name", self.start or 0, ',"args":{"name":%s}' % quote(name))

    def object(self, place, name, values):
        rest = ',"args":{"name":%s,"values":%s}' % (quote(name), capture.to_json(values))
        self.put("M", place, "thread_name", self.start or 0, rest)

    def slice(self, what, end):
        ns = what.ns
        at, lasted = ns - self.start, end - ns
        if at < 0 or lasted < 0:
            rest = ',"dur":%s,"cat":"%s","args":{%s}' % (self.micro(max(lasted, 0)), what.category, what.args)
            self.put("X", what.place, what.name, ns, rest)
            return
        self.write('%s{"ph":"X","name":%s,%s%d.%03d,"dur":%d.%03d,"cat":"%s","args":{%s}}\n'
                   % (self.lead, quote(what.name), what.place.json, at // 1000, at % 1000, lasted // 1000, lasted % 1000, what.category, what.args))
        self.lead = ","

    def overlap(self, what, end):
        self.n_pairs += 1
        rest = ',"cat":"%s","id":%d,"args":{%s}'
        self.put("b", what.place, what.name, what.ns, rest % (what.category, self.n_pairs, what.args))
        self.put("e", what.place, what.name, end, rest % (what.category, self.n_pairs, ""))

    def unfinished(self, what):
        self.put("B", what.place, what.name, what.ns, ',"cat":"%s","args":{%s}' % (what.category, what.args))

    def mark(self, what):
        self.put("i", what.place, what.name, what.ns, ',"s":"t","args":{%s}' % what.args)

    def trigger(self, place, name, ns):
        self.put("i", place, name, ns, ',"s":"p","args":{}')

    def loss(self, place, name, ns, lost):
        self.put("i", place, name, ns, ',"s":"g","args":%s' % capture.to_json(lost))

    def counter(self, place, name, ns, members):
        self.put("C", place, name, ns, ',"args":{%s}' % members)

    def end(self):
        start = self.start or 0
        date = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(start // 1000000000))
        self.write('%s,"otherData":{"start":"%s.%09dZ"}}\n' % ("]" if self.lead == "," else '{"traceEvents":[]', date, start % 1000000000))
