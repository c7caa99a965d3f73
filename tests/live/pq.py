"""What psql does not send: messages of PostgreSQL's extended protocol, one session of them.

    pq.py SOCKET USER DATABASE

Messages are those of the manual, section "Message Formats". What the server answers to each line is compared with
what it must be, so that the count of statements that the test expects is of what really went that way.
"""
import socket
import struct
import sys


class Session:
    def __init__(self, path, user, database):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        body = struct.pack("!I", 3 << 16)
        body += b"".join(word.encode() + b"\0" for word in ("user", user, "database", database, ""))
        self.socket.sendall(struct.pack("!I", len(body) + 4) + body)
        self.answers = self.socket.makefile("rb")
        self.read()

    def read(self):
        """The types of the server's messages up to ReadyForQuery."""
        types = ""
        while not types.endswith("Z"):
            kind, size = struct.unpack("!cI", self.answers.read(5))
            self.answers.read(size - 4)
            types += kind.decode()
        return types

    def send(self, want, *messages):
        self.socket.sendall(b"".join(kind + struct.pack("!I", len(body) + 4) + body for kind, body in messages))
        types = self.read()
        if types != want:
            sys.exit(f"pq.py: {messages}: {types} instead of {want}")


def text(string):
    return string.encode() + b"\0"


def parse(query, name=""):
    return b"P", text(name) + text(query) + struct.pack("!H", 0)


def bind(*values, name=""):
    body = text("") + text(name) + struct.pack("!HH", 0, len(values))
    return b"B", body + b"".join(struct.pack("!I", len(v)) + v.encode() for v in values) + struct.pack("!H", 0)


def execute(rows=0):
    return b"E", text("") + struct.pack("!I", rows)


def whole(query, *values):
    return parse(query), bind(*values), execute()


SYNC = b"S", b""
s = Session(*sys.argv[1:])
s.send("12DCZ", *whole("SELECT $1::int", "3"), SYNC)
s.send("EZ", *whole("SELEC 1"), SYNC)  # fails in parsing
s.send("EZ", *whole("SELECT nix"), SYNC)  # in analysis
s.send("1EZ", *whole("SELECT $1::int", "x"), SYNC)  # in binding
s.send("1EZ", *whole("SELECT 1/$1::int", "0"), SYNC)  # in planning
s.send("12EZ", *whole("SELECT 1/n FROM generate_series(0, 1) n"), SYNC)  # in execution
s.send("1Z", parse("SELECT 77", "kept"), SYNC)  # prepared, but not run: no statement
s.send("2DC2DCZ", bind(name="kept"), execute(), bind(name="kept"), execute(), SYNC)
s.send("12DDDDsDDDDsDDCZ", *whole("SELECT generate_series(1, 10)")[:2], *[execute(4)] * 3, SYNC)
s.send("12IZ", *whole(""), SYNC)  # empty: nothing is run
# A pipeline: what comes behind an error is skipped up to SYNC.
s.send("12DC12DC1EZ", *whole("SELECT 1"), *whole("SELECT 2"), *whole("SELECT 3/0"), *whole("SELECT 4"), SYNC)
s.send("12CZ", *whole("BEGIN"), SYNC)
s.send("EZ", *whole("SELEC"), SYNC)
s.send("EZ", *whole("SELECT 1"), SYNC)  # the transaction is aborted
s.send("EZ", bind(name="kept"), execute(), SYNC)
s.send("12CZ", *whole("ROLLBACK"), SYNC)
s.send("CZ", (b"Q", text("PREPARE inner_one AS SELECT 5")))
s.send("12DCZ", *whole("EXECUTE inner_one"), SYNC)
s.send("VZ", (b"F", struct.pack("!IHHH", 1598, 0, 0, 0)))  # a function call (random): no statement
