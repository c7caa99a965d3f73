"""Slices, marks and counters on lines of threads and objects (docs/pictures.md), out of the events of a capture.

What is kept is what is open, calls and states that have not ended, and the names of lines. What is drawn goes to a drawing, an
object with these methods, of which a Slice is what most of them take:

    args(text_json, inside_json, fields)    what it keeps of an event
    begin(what, outer)                      it has begun, inside of the call `outer`, or None
    process(place, name), thread(place, name), object(place, name, values)
    slice(what, end), overlap(what, end)    lies within others of its line, or apart; need not
    unfinished(what), mark(what)            has no end; has no duration
    trigger(place, name, ns), loss(place, name, ns, lost)
    counter(place, name, ns, members)       numbers by name, JSON
    capture(first), time(ns, pid, comm) or None, end()
"""
import re

import capture
import diag

OBJECTS = 5000000  # above all PIDs (PID_MAX_LIMIT is 4194304): the process whose threads are the lines of objects
MAX_CALLS = 1000  # of a thread: what is open beyond that was begun by probes that have no end
MAX_ENDED = 16  # of a line: slices that have ended whose places are known
MAX_DURATION = 10**18  # ns
START, END = 1, 2
VERBS = {**dict.fromkeys(("start", "begin", "entry", "enter"), START), **dict.fromkeys(("done", "end", "return", "exit", "stop"), END)}
# gen/lang/vocabulary.c
PROVIDERS = {**dict.fromkeys(("uprobe", "u", "kprobe", "k", "fentry", "f", "kfunc"), START),
             **dict.fromkeys(("uretprobe", "ur", "kretprobe", "kr", "fexit", "fr", "kretfunc"), END)}
UNITS = {"ns": 1, "us": 1000, "ms": 1000000}
KINDS = ("state", "begin", "end", "gone", "slice", "call")
ANY = "*"  # in braces: any value, of tracks that are gone
BLANKS = " \t\n\r\v\f"
OWN = ("text", "comm", "probe", "pid", "tid", "cpu")  # what each record has
COMM = OWN.index("comm")
DIGITS = re.compile("-?[1-9][0-9]{0,19}")


class Place:
    """A line of the drawing: a thread, or the place of an object among those."""

    __slots__ = ("pid", "tid", "json")

    def __init__(self, pid, tid):
        self.pid, self.tid = pid, tid
        self.json = '"pid":%s,"tid":%s,"ts":' % (pid, tid)


class Slice:
    """What has begun."""

    __slots__ = ("place", "name", "category", "ns", "args", "by", "call", "is_again", "ids")

    def __init__(self, place, name, category, ns, args, by, call=None):
        self.place, self.name, self.category, self.ns, self.args, self.by, self.call = place, name, category, ns, args, by, call
        self.is_again = False  # another call of that kind is open on the thread, or was


class Call:
    """What a pair of probes stands for."""

    def __init__(self, name):
        self.name = name
        self.has_ended = False  # once at least: the other probe is traced, too


class Probe:
    def __init__(self, short, verb, call, rules):
        self.short, self.verb, self.call, self.rules = short, verb, call, rules
        self.name = call.name if call else short


class Track:
    """A thread's line, or that of an object."""

    def __init__(self, place, parts=()):
        self.place = place
        self.parts = parts  # of an object's name: literals, and the values between them
        self.is_named = False  # something is drawn on it
        self.open = None
        self.ended = []  # (from, to) of its outermost slices, which lie apart, the last one last
        self.forgotten = 0  # others have ended up to here
        self.calls = []  # a thread's, the innermost last


class Rule:
    """A `#pragma track` of the script."""

    def __init__(self, track):
        if not isinstance(track, dict) or track.get("kind") not in KINDS:
            raise ValueError
        self.kind = track["kind"]
        self.probe, self.by, self.name, self.lasting = (text if isinstance(text, str) else "" for text in map(track.get, ("probe", "by", "name", "lasting")))
        self.unit = UNITS.get(track.get("unit", "ns"), 1000000000)
        self.by_parts, self.name_parts = split_fields(self.by), split_fields(self.name)
        self.is_missed = self.is_used = False
        # Of tracks that are gone: of how many parts, and which of them an object must have
        parts = self.by_parts if self.kind == "gone" and ANY in self.by_parts[1::2] else []
        self.same = parts and (len(parts), tuple(i for i, part in enumerate(parts) if i % 2 == 0 or part != ANY))

    def matches(self, name):
        pattern = re.escape(self.probe).replace(r"\*", ".*").replace(r"\?", ".")
        return re.fullmatch(pattern, name, re.S) is not None

    def duration(self, fields):
        lasted = capture.integer(fields.get(self.lasting))
        return None if lasted is None or not 0 <= lasted <= MAX_DURATION // self.unit else lasted * self.unit


def split_fields(text):
    """Literals, and the names in braces after each: ["a ", "b", ""] of "a {b}"."""
    parts, rest = [], text
    while True:
        literal, brace, rest = rest.partition("{")
        name, closing, rest = rest.partition("}")
        parts.append(literal)
        if not brace or not closing:
            return parts
        parts.append(name)


def fill(parts, fields, own):
    """The parts of a text with the value of each {FIELD}; None when one of them is missing."""
    if len(parts) == 1:
        return parts
    found = list(parts)
    for i in range(1, len(parts), 2):
        name = parts[i]
        if name in fields:
            value = fields[name]
        elif name == "text":
            value = capture.decode.decode(own[0]) if own[0] else ""
        elif name in OWN:
            value = own[OWN.index(name)]
        elif name == ANY:
            continue
        else:
            return None
        found[i] = value if value.__class__ is str else capture.words(value)
    return found


def is_calling(track, start):
    """A call on the track, which goes on, began after @start."""
    return bool(track.calls) and track.calls[-1].ns > start


def read_number(value):
    """As JSON: a number, beyond 2^53 a string of its digits; empty: it is none."""
    if value.__class__ is capture.Number or value.__class__ is int:
        return str(value)
    is_digits = value.__class__ is str and DIGITS.fullmatch(value) and -2**63 <= int(value) < 2**64
    return value if is_digits else ""


def short_name(probe):
    """Without its provider: ns::f of uprobe:ns::f, query of app:query, conn.c:120 of uprobe:conn.c:120."""
    for i in range(len(probe), 1, -1):
        if probe[i - 1] == ":" and probe[i - 2] != ":" and probe[i:i + 1] != ":" and not probe[i:].isdigit():
            return probe[i:]
    return probe


def find_verb(name):
    """sys_enter_read and sys_exit_read, gc__start and gc__done: what remains is sys_read, gc."""
    at = 0
    for word in name.split("_"):
        if word in VERBS:
            before, after = name[:at].rstrip("_"), name[at + len(word):]
            return VERBS[word], before + (after if before else after.lstrip("_"))
        at += len(word) + 1
    return None, name


class Timeline:
    def __init__(self, drawing):
        self.to = drawing
        self.rules = []
        self.probes = {}  # forgotten with each capture line
        self.calls = {}
        self.processes = set()  # those that have a name
        self.threads, self.objects = {}, {}
        self.lasting = {}  # by Rule.same, then by those parts: tracks of objects that have a state or an operation
        self.last = self.n_late = 0
        self.trigger = ""  # of --keep: why the capture ends where it does
        self.objects_place = Place(OBJECTS, OBJECTS)
        self.has_ids = hasattr(drawing, "begin")

    # --- probes

    def make_probe(self, name):
        short = short_name(name)
        of, called = "", short  # one function is not two providers'
        verb = PROVIDERS.get(name.partition(":")[0])
        if verb is None:
            of = name[:len(name) - len(short)]
            verb, called = find_verb(short)
        call = None
        if verb:
            call = self.calls.setdefault((of, called), None) or Call(called)
            self.calls[of, called] = call
        rules = [rule for rule in self.rules if rule.matches(short) or rule.matches(name)]
        probe = self.probes[name] = Probe(short, verb, call, rules)
        return probe

    # --- lines

    def put_unfinished(self, track):
        for call in track.calls:  # a mark, of a probe that is traced alone
            if call.call.has_ended:
                self.to.unfinished(call)
            else:
                self.to.mark(call)
        track.calls = []
        if track.open:
            self.to.unfinished(track.open)
        track.open = None

    def thread_of(self, pid, tid):
        thread = self.threads.get(tid)
        if thread is None:
            thread = self.threads[tid] = Track(Place(pid, tid))
        elif thread.place.pid != pid:  # another process, which had that TID before
            self.put_unfinished(thread)
            thread.is_named = False
            thread.place = Place(pid, tid)
        return thread

    def name_thread(self, thread, comm):
        """Something is to be drawn there."""
        thread.is_named = True
        pid = thread.place.pid
        if pid not in self.processes:
            self.processes.add(pid)
            self.to.process(Place(pid, pid), comm)
        self.to.thread(thread.place, comm)

    def track_of(self, rule, parts):
        name = "".join(parts).strip(BLANKS)  # "{name} {more}" of a record whose `more` is empty
        track = self.objects.get(name)
        if track is None:
            if not self.objects:
                self.to.process(self.objects_place, "objects")
            track = Track(Place(OBJECTS, OBJECTS + len(self.objects) + 1), parts)
            self.objects[name] = track
            self.to.object(track.place, name, dict(zip(rule.by_parts[1::2], parts[1::2])))
        return track

    def give_ids(self, track, n, what):
        """It begins: @n calls of the track have begun before, if it is drawn among them."""
        calls = track.calls
        # One that begins again and again, and never ends, is a probe that is traced alone
        while n and calls[n - 1].is_again and not calls[n - 1].call.has_ended:
            n -= 1
        self.to.begin(what, calls[n - 1] if n else None)

    def put_ended(self, track, what, end, overlaps):
        """What ends: around what ended before it, after that, or, where they overlap, beside it."""
        ended, ns = track.ended, what.ns
        n = len(ended)
        if ns < track.forgotten or (n and ended[-1][1] > end):
            overlaps = True
        while n and ended[n - 1][0] >= ns:
            n -= 1
        if overlaps or (n and ended[n - 1][1] > ns):
            self.to.overlap(what, end)
            return
        self.to.slice(what, end)
        del ended[n:]
        if n == MAX_ENDED:
            track.forgotten = ended.pop(0)[1]
        ended.append((ns, end))

    # --- what the script has of its records

    def those_like(self, track):
        """Of each {*}: the tracks that last and differ from this one there only."""
        for (n, same), tracks in self.lasting.items():
            if n == len(track.parts):
                yield tracks.setdefault(tuple(track.parts[i] for i in same), {})

    def close_track(self, track, ns, is_end):
        """What was open on the track gives way to something else."""
        what, track.open = track.open, None
        if what is None:
            return
        for those in self.those_like(track):
            those.pop(track, None)
        if what.category == "change" and not is_end:  # its end was not seen: nobody knows how long it took
            self.to.mark(what)
        else:
            self.put_ended(track, what, ns, is_calling(track, what.ns))

    def follow(self, rule, ns, thread, fields, own, args):
        """The name that the rule gives, or None: the record has not all that the rule names."""
        by, name = fill(rule.by_parts, fields, own), fill(rule.name_parts, fields, own)
        lasted = rule.duration(fields) if rule.kind == "slice" else 0
        if by is None or name is None or lasted is None:
            return None
        name = "".join(name)
        if rule.kind == "call":
            return name
        if rule.kind == "gone":
            self.end_tracks(rule, by if rule.by else None, ns, thread)
            return name
        track = thread
        if rule.by:
            track = self.track_of(rule, by)
        elif not thread.is_named:
            self.name_thread(thread, own[COMM])
        if rule.kind == "slice":
            self.put_slice(track, Slice(track.place, name, "slice", ns - lasted, args, thread.place), ns)
            return name
        self.close_track(track, ns, rule.kind == "end")
        if rule.kind != "end":
            track.open = Slice(track.place, name, "state" if rule.kind == "state" else "change", ns, args, thread.place)
            if rule.by:
                for those in self.those_like(track):
                    those[track] = True
            if self.has_ids:
                self.give_ids(track, 0, track.open)
        return name

    def end_tracks(self, rule, parts, ns, thread):
        """Objects of that name, or of all that differ from it in {*}, have ended; or the thread has."""
        if parts is None:
            those = [thread]
        elif not rule.same:
            those = filter(None, [self.objects.get("".join(parts).strip(BLANKS))])
        else:
            those = list(self.lasting[rule.same].get(tuple(parts[i] for i in rule.same[1]), ()))
        for track in those:
            self.close_track(track, ns, False)

    def put_slice(self, track, what, ns):
        if self.has_ids:
            n = len(track.calls)
            while n and track.calls[n - 1].ns > what.ns:
                n -= 1
            self.give_ids(track, n, what)
        self.put_ended(track, what, ns, is_calling(track, what.ns))

    def follow_all(self, probe, ns, thread, fields, own, args):
        """Is it on a track, and what its call is named."""
        is_shown, name = False, probe.name
        for rule in probe.rules:
            found = self.follow(rule, ns, thread, fields, own, args)
            rule.is_used |= found is not None
            rule.is_missed |= found is None
            if found is not None and rule.kind == "call":
                name = found
            elif found is not None and rule.kind != "gone":  # which is a mark, too: the last that is seen of it
                is_shown = True
        return is_shown, name

    # --- pairs of probes

    def start_call(self, thread, call, name, ns, args):
        calls = thread.calls
        if len(calls) == MAX_CALLS:  # the oldest one is taken for a mark
            self.to.mark(calls.pop(0))
        place = thread.place
        what = Slice(place, name, "call", ns, args, place, call)
        if self.has_ids:
            self.give_ids(thread, len(calls), what)
        if calls and not call.has_ended:
            for other in reversed(calls):
                if other.call is call:
                    what.is_again = other.is_again = True
                    break
        calls.append(what)

    def end_call(self, thread, call, ns, inside, fields, is_shown):
        """False: its start was not seen. @is_shown: it is on a track already, and so its start was one."""
        call.has_ended = True
        calls = thread.calls
        i = len(calls) - 1
        while i >= 0 and calls[i].call is not call:
            i -= 1
        if i < 0:
            return False
        what = calls.pop(i)
        if fields.get("end").__class__ is str:  # of --calls: it is not known
            what.args = self.to.with_end(what.args, inside, fields)
        if not is_shown:
            self.put_ended(thread, what, ns, i != len(calls))
        return True

    # --- lines of a capture

    def record(self, ns, cpu, pid, tid, comm, probe_name, text, inside, fields):
        if ns < self.last:
            self.n_late += 1
        self.last = ns
        to = self.to
        if to.time:
            to.time(ns, pid, comm)
        probe = self.probes.get(probe_name) or self.make_probe(probe_name)
        thread = self.threads.get(tid)
        if thread is None or thread.place.pid != pid:
            thread = self.thread_of(pid, tid)
        verb, is_shown, name = probe.verb, False, probe.name
        if probe.rules:
            own = (text, comm, probe_name, pid, tid, cpu)
            is_shown, name = self.follow_all(probe, ns, thread, fields, own, to.args(text, inside, fields))
        if verb == END and self.end_call(thread, probe.call, ns, inside, fields, is_shown) or is_shown:
            return
        if not thread.is_named:
            self.name_thread(thread, comm)
        args = to.args(text, inside, fields)
        if verb == START:
            self.start_call(thread, probe.call, name, ns, args)
        else:
            to.mark(Slice(thread.place, probe.short, "", ns, args, thread.place))

    def take_map(self, line):
        """A map that was printed on the way, where it is of numbers."""
        members = []
        for entry in line.entries:
            number = read_number(entry.get("value")) if isinstance(entry, dict) else ""
            if number:
                key = entry.get("key")
                name = ", ".join(map(capture.words, key)) if isinstance(key, list) else ""
                members.append("%s:%s" % (capture.quote(name or line.map), number))
        if members:
            self.to.counter(Place(line.pid, line.tid), line.map, line.ns, ",".join(members))

    def other(self, line):
        if line.ns is not None:
            if self.to.time:
                self.to.time(line.ns, line.pid, line.comm)
            self.n_late += line.ns < self.last
            self.last = line.ns
        if line.lost is not None:  # at the end, as nobody knows when
            self.to.loss(self.objects_place, "lost: " + capture.words(line.lost.get("total", "")), self.last, line.lost)
        elif line.map and line.ns is not None:
            self.take_map(line)

    def capture(self, first):
        """Another capture follows, maybe of another host: nothing lasts from the one into the other."""
        self.put_trigger()
        for track in self.tracks():
            for call in track.calls:
                self.to.mark(call)
            track.calls = []
            self.close_track(track, self.last, False)
        self.last = 0
        self.trigger = "trigger: " + capture.words(first["trigger"]) if "trigger" in first else ""
        self.probes = {}
        self.to.capture(first)
        self.rules = []
        try:
            self.rules = [Rule(track) for track in first.get("tracks", [])]
            self.lasting = {rule.same: {} for rule in self.rules if rule.same}
        except (ValueError, TypeError):
            return False
        return True

    def tracks(self):
        return list(self.threads.values()) + list(self.objects.values())

    def put_trigger(self):
        """What was kept was wanted when its last record came."""
        if self.trigger and self.last:
            self.to.trigger(self.objects_place, self.trigger, self.last)
        self.trigger = ""

    def end(self):
        """What is still open. Reports tracks that no record was right for, and records out of order."""
        self.put_trigger()
        for track in self.tracks():
            self.put_unfinished(track)
        for rule in self.rules:
            if rule.is_missed and not rule.is_used:
                lasting = ", lasting " + rule.lasting if rule.lasting else ""
                diag.note('no record of %s has the fields of its track: "%s", "%s"%s' % (rule.probe, rule.by, rule.name, lasting))
        if self.n_late:
            diag.warning("%d records are out of order, and durations between records may be wrong: capture with -s" % self.n_late)
        self.to.end()
