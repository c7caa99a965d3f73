"""A .note.btgen.types, as `btgen embed` of 0.1 wrote it; format: docs/dev/old-notes.md.

    note = Note({"class shop::state": ("signed char", {"open": -1, "closed": 3})})
    note.probe("shop:sold", id="int", item="char const *", st="class shop::state", label="char[12]")
    note.add_to(btgen, path)

Types are written from left to right. add_to() finds the addresses: the first probe() of a name is for its first site, the
last one for all that follow.
"""
import json
import struct
import subprocess
import tempfile

INTS = {"char": (1, 1), "signed char": (1, 1), "unsigned char": (1, 0), "bool": (1, 4), "short": (2, 1), "int": (4, 1),
        "wchar_t": (4, 1), "unsigned int": (4, 0), "long unsigned int": (8, 0), "long long int": (8, 1)}  # size, 1: signed, 4: bool


def add_section(path, desc):
    with tempfile.NamedTemporaryFile() as f:
        f.write(struct.pack("<III8s", 6, len(desc), 4, b"btgen") + desc + bytes(-len(desc) % 4))
        f.flush()
        subprocess.check_call(["objcopy", "--add-section", ".note.btgen.types=" + f.name, path])


def btf(types, strings):
    return struct.pack("<HBBIIIII", 0xeb9f, 1, 0, 24, 0, len(types), len(types), len(strings)) + types + strings


class Note:
    def __init__(self, enums):
        self.enums, self.known, self.functions = enums, {"void": 0}, {}
        self.strings, self.types, self.n = b"\0", b"", 0

    def string(self, text):
        self.strings += text.encode() + b"\0"
        return len(self.strings) - len(text.encode()) - 1

    def add(self, kind, name, size, data=b"", n=0, flag=0):
        self.types += struct.pack("<III", self.string(name), flag << 31 | kind << 24 | n, size) + data
        self.n += 1
        return self.n

    def type(self, text):
        if text not in self.known:
            self.known[text] = self.add_type(text)
        return self.known[text]

    def add_type(self, text):
        word, _, name = text.partition(" ")
        if text in INTS:
            return self.add(1, text, INTS[text][0], struct.pack("<I", INTS[text][1] << 24 | INTS[text][0] * 8))
        if text in self.enums:
            of, values = self.enums[text]
            data = b"".join(struct.pack("<IQ", self.string(v), values[v] % (1 << 64)) for v in values)
            return self.add(19, text.removeprefix("enum "), INTS[of][0], data, len(values), INTS[of][1] & 1)
        for end, kind in ("*", 2), ("const", 10), ("()", 13):
            if text.endswith(" " + end):
                return self.add(kind, "", self.type(text[:-len(end) - 1]))
        if text.endswith("]"):
            of, count = text[:-1].split("[")
            return self.add(3, "", 0, struct.pack("<III", self.type(of), self.type("int"), int(count)))
        if word == "typedef":
            name, _, of = name.partition(" = ")
            return self.add(8, name, self.type(of))
        return self.add(7, text if word == "class" else name, 0, flag=word == "union")

    def probe(self, probe, **args):
        params = b"".join(struct.pack("<II", self.string(name), self.type(of)) for name, of in args.items())
        self.functions.setdefault(probe, []).append(self.add(12, probe, self.add(13, "", 0, params, len(args))))

    def add_to(self, btgen, path):
        sites = []
        for probe in json.loads(subprocess.check_output([btgen, "probes", "--json", "-x", path])):
            functions = self.functions["%s:%s" % (probe["provider"], probe["name"])]
            for i, site in enumerate(probe["sites"]):
                sites.append((int(site["address"], 16), functions[min(i, len(functions) - 1)]))
        desc = struct.pack("<I", len(sites)) + b"".join(struct.pack("<QI", *s) for s in sorted(sites))
        add_section(path, desc + btf(self.types, self.strings))
