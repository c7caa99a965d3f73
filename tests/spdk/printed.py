"""What a script prints for an event of model.py, and what it did print, made comparable: addresses get names in the order in
which they come, and lose them when what they belong to is gone.

For the scripts of ours, tests/live/nvmf_lines.py has the words; those of SPDK's own are read from the script itself.
"""
import pathlib
import re
import sys

from model import Ptr, Thread

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "live"))
import nvmf_lines

ENDS = ("nvmf_transport_qpair_fini", "nvmf_ctrlr_destruct")  # with these, a name may go to another address
TARGET = nvmf_lines.TARGET
SUBSYSTEM = nvmf_lines.SUBSYSTEM
TRTYPE = "SPDK_NVME_TRANSPORT_TCP"


class Printed:
    """Lines of one script. @probes: the events that it shows; @say(probe, arguments): their line; @last: those in which an
    address is for the last time."""

    def __init__(self, probes, say, last=ENDS):
        self.probes, self.say, self.last, self.examples = set(probes), say, last, {}

    def wanted(self, events):
        """The lines for these events, with their keys."""
        return [(key, self.say(probe, args)) for key, probe, args in events if probe in self.probes]

    def ends(self):
        """Regular expressions of the lines with which an address goes out of use."""
        def say(probe, args):
            return self.say(probe, [Ptr("@") if isinstance(a, Ptr) else Thread(7) if isinstance(a, Thread) else a for a in args])
        lines = [say(probe, args) for probe, args in self.examples.items() if probe in self.probes]
        return [re.escape(line).replace("@", "(0x[0-9a-f]+)", 1).replace("7", r"\d+") for line in lines]

    def normalized(self, lines, pattern=r"0x[0-9a-f]{6,16}\b"):
        """@lines with names for addresses: those of model.py count objects, these are counted as they come."""
        names, count, result = {}, 0, []
        lines = [re.sub(r"(?<![\w.:-])-?\d{6,}\b", "NUMBER", line) for line in lines]
        ends = [re.compile(end) for end in self.ends()]
        for line in lines:
            for address in re.findall(pattern, line):
                if address not in names:
                    count += 1
                    names[address] = f"ptr{count}"
            result.append(re.sub(pattern, lambda m: names[m[0]], line))
            for end in ends:
                found = end.fullmatch(line)
                if found:
                    names.pop(found[1], None)
        return result

    def compare(self, lines, events):
        """(printed, wanted), equal if each event is there once, and those of a key in their order."""
        wanted = self.wanted(events)
        self.examples = {probe: args for _, probe, args in events if probe in self.last}
        texts = self.normalized([line for _, line in wanted], pattern=r"(?:transport|qpair|ctrlr|group)\d+\b")
        keys = [key for key, _ in wanted]
        of = {}
        for key, text in zip(keys, texts):
            of.setdefault(text, key)
        order = list(dict.fromkeys(keys))
        printed = self.normalized(lines)

        def rank(text):
            return order.index(of[text]) if text in of else len(order)
        return sorted(printed, key=rank), sorted(texts, key=rank)


class OursNvmf(Printed):
    """Functions have their arguments from the first one on. What follows a pause is SPDK's own name for it."""

    def __init__(self):
        table = nvmf_lines.NVMF
        super().__init__(table, lambda probe, args: table[probe]([*[""][:not probe.endswith("()")], *map(str, args)]))

    def normalized(self, lines, **how):
        return super().normalized([re.sub(r", then \w+$", ", then paused", line) for line in lines], **how)


def ours_nvmf():
    return OursNvmf()


QPAIR = {
    "nvmf_poll_group_add_qpair": "add qpair={} thread={}",
    "nvmf_ctrlr_add_qpair": "connect qpair={} qid={} subnqn={} hostnqn={}",
    "nvmf_poll_group_drain_qpair": "drain qpair={} thread={}",
    "nvmf_qpair_disconnect": "disconnect qpair={} thread={}",
    "nvmf_poll_group_remove_qpair": "remove qpair={} thread={}",
}


def ours_qpair():
    return Printed(QPAIR, lambda probe, args: QPAIR[probe].format(*args), ["nvmf_poll_group_remove_qpair"])


def enumerators(probe, args):
    """The arguments, with the names of SPDK's enums in the place of numbers."""
    args = list(args)
    if "change_state" in probe:
        for i in (1, 2) if probe.startswith("nvmf_subsystem") else (1,):
            args[i] = f"SPDK_NVMF_SUBSYSTEM_{SUBSYSTEM[args[i]]}"
    elif probe.endswith("_listener"):
        args[1] = TRTYPE
    return args


def values_of(probes):
    """What -t and spdk.bt show of @probes: only the values; their names are a matter of the program's source."""
    return Printed(probes, lambda probe, args: " ".join([probe, *map(str, enumerators(probe, args))]))


def json_text(value):
    """An enumerator is its name; a number without one is there as it is."""
    return str(value["name"]) if isinstance(value, dict) and value.get("name") else str(value)


def json_values(objects, probes):
    """Lines for values_of() from what -t -f json printed; @probes: how many arguments each has."""
    for o in objects:
        name = o["probe"].partition(":")[2]
        if name in probes:
            values = list(o["fields"].values())
            yield " ".join([name, *map(json_text, values[len(values) - probes[name]:])])


def text_values(lines, probes):
    """The same from spdk.bt: THREAD PROBE NAME=VALUE..."""
    for line in lines:
        _, name, *rest = line.split(" ", 2)
        if name in probes:
            values = [q or v for q, v in re.findall(r'\w+=(?:"([^"]*)"|(\S+))', rest[0] if rest else "")]
            yield " ".join([name, *values[len(values) - probes[name]:]])


def ours_nvme():
    table = nvmf_lines.NVME
    return Printed(table, lambda probe, args: table[probe](["", *map(str, args)]))


def split_arguments(text):
    """a, f(b, c) -> its parts"""
    parts, depth, part = [], 0, ""
    for c in text:
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            parts.append(part.strip())
            part = ""
        else:
            part += c
    return [*parts, part.strip()]


def value(expression, args):
    """What an argument of printf() is, for a probe with these arguments."""
    number = re.search(r"arg(\d)", expression)
    if expression.startswith("elapsed") or not number:
        return None
    arg = args[int(number[1]) - 1]
    if expression.startswith("@target["):
        return TARGET[arg]
    if expression.startswith("@subsystem["):
        return SUBSYSTEM[arg]
    choice = re.fullmatch(r'arg\d \? "(\w+)" : "(\w+)"', expression)
    if choice:
        return choice[1] if arg else choice[2]
    return arg


def read_script(path):
    """The clauses of a script in which each prints one line: probe -> (format, arguments), without the stamp."""
    text = path.read_text()
    clause = re.compile(r"usdt:__EXE__:(?:spdk:)?(\w+)\s*\{\s*printf\(\"([^\"]*)\"\s*,(.*?)\);\s*\}", re.S)
    return {m[1]: (m[2], split_arguments(re.sub(r"\s+", " ", m[3]))) for m in clause.finditer(text)}


def theirs(path, longest=None):
    """SPDK's script at @path: its own words, with the values of the event; strings are cut at @longest."""
    clauses = read_script(path)

    def say(probe, args):
        form, expressions = clauses[probe]
        values = [value(e, args) for e in expressions]

        def convert(found):
            got = values.pop(0)
            if got is None:
                return "0"
            if found[0] == "%d" and isinstance(got, str) and not isinstance(got, Ptr):
                return "NUMBER"  # a string's address, cut to 32 bits
            if found[0] == "%p" and isinstance(got, Thread):
                return f"{got:#x}"
            return str(got)[:longest] if isinstance(got, str) else str(got)
        line = re.sub(r"%0?\d*l*[dups]", convert, form).replace(r"\n", "")
        return re.sub(r"^0\.0: ", "", line)
    return Printed(clauses, say)
