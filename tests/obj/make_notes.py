#!/usr/bin/env python3
"""Writes a file with many probes, as nobody builds it: make_notes.py OUT KIND N.

names, others    N probes of different names
one              N sites of one probe
place            N probes at one address, with what btgen/usdt.h says about each
differ           N sites of one probe, each with another name for its argument
text             N sites that share one text, which is long
expressions      N sites, the text of each with deep parentheses
docs             N probes with a sentence each

The file is ELF64 with .text (nops), .stapsdt.base, .note.stapsdt and .note.btgen (docs/usdt-notes.md).
"""
import struct
import sys

out, kind, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
text_addr, base_addr = 0x401000, 0x400000
sdt, ours = [], []
ours_size = 0


def padded(b):
    return b + bytes(-len(b) % 4)


def note(owner, number, desc):
    return struct.pack("<III", len(owner) + 1, len(desc), number) + padded(owner + b"\0") + padded(desc)


def probe(i, name, args=b"-4@%eax 8@%rdi"):
    sdt.append(note(b"stapsdt", 3, struct.pack("<QQQ", text_addr + i, base_addr, 0) + b"p\0" + name + b"\0" + args + b"\0"))


def say(number, desc):
    """Adds a note of ours; returns where its description starts."""
    global ours_size
    ours.append(note(b"btgen", number, desc))
    start = ours_size + 20
    ours_size += len(ours[-1])
    return start


def text(i, name, args):
    return say(2, struct.pack("<II", i, 1) + b"p\0" + name + b"\0f.c\0" + name + b", " + args + b"\0")


def site(i, at, text_id):
    say(1, struct.pack("<QiI", text_addr + i, at - (ours_size + 20), text_id))


for i in range(count):
    if kind == "names" or kind == "others":
        probe(i, b"%s%d" % (b"n" if kind == "names" else b"m", i))
    elif kind == "one":
        probe(i, b"n")
    elif kind == "place":
        probe(0, b"n%d" % i, b"-4@%eax")
        site(0, text(i, b"n%d" % i, b"state"), i)
    elif kind == "differ":
        probe(i, b"n", b"-4@%eax")
        site(i, text(i, b"n", b"state%d" % i), i)
    elif kind == "text":
        if i == 0:
            shared = text(1, b"n", b"(" * 5000 + b"x" + b")" * 5000)
            ignored = text(2, b"n", b"*" * 1000000)
        probe(i, b"n", b"-4@%eax")
        site(i, ignored if i % 2 else shared, i % 2 + 1)
    elif kind == "expressions":
        probe(i, b"n", b"-4@%eax")
        site(i, text(i, b"n", b"(" * 7000 + b"x" + b")" * 7000), i)
    elif kind == "docs":
        probe(i, b"n%d" % i)
        say(3, b'p\0n%d\0"' % i + rb"\n" * 100 + b'"\0')

SHF_ALLOC, SHF_EXECINSTR, SHT_PROGBITS, SHT_NOTE, SHT_STRTAB = 2, 4, 1, 7, 3
sections = [
    (b"", 0, 0, 0, b""),
    (b".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, text_addr, b"\x90" * (count + 16)),
    (b".stapsdt.base", SHT_PROGBITS, SHF_ALLOC, base_addr, b"\0"),
    (b".note.stapsdt", SHT_NOTE, 0, 0, b"".join(sdt)),
    (b".note.btgen", SHT_NOTE, 0, 0, b"".join(ours)),
    (b".shstrtab", SHT_STRTAB, 0, 0, None),
]
names = b"".join(s[0] + b"\0" for s in sections)
body, headers = bytearray(0x1000), []
for name, type_, flags, addr, data in sections:
    data = names if data is None else data
    headers.append(struct.pack("<IIQQQQIIQQ", names.index(name + b"\0") if name else 0, type_, flags, addr, len(body), len(data), 0, 0, 4, 0)
                   if type_ else bytes(64))
    body += padded(data)
size = count + 16
elf = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, text_addr, 64, len(body), 0, 64, 56, 1, 64, len(sections), 5)
load = struct.pack("<IIQQQQQQ", 1, 5, 0x1000, text_addr, text_addr, size, size, 0x1000)
body[: len(elf + load)] = elf + load
with open(out, "wb") as f:
    f.write(bytes(body) + b"".join(headers))
