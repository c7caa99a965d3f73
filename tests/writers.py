#!/usr/bin/env python3
"""Each command that writes a file, onto each kind of file that can have its name; prints TAP.

    writers.py FOLDER files|live [WORD]

FOLDER has the program app, and is root's. For `files` each writer's result in a new file is what it must write anywhere; for
`live` a trace of PID $APP_PID. Refused means: status 1, a message that names option and path, and the folder and the
victim are, to a byte, a mode and an owner, what they were. With WORD only rows whose names contain it are run.
"""
import os
import shutil
import socket
import stat
import subprocess
import sys
import threading

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BTGEN = os.environ.get("BTGEN") or TOP + "/build/btgen"
FOLDER, WHICH = sys.argv[1:3]
WORD = sys.argv[3] if len(sys.argv) > 3 else ""
PATIENCE = 600
STRANGER = 65534
IS_ROOT = os.geteuid() == 0
APP, CAPTURE = FOLDER + "/app", FOLDER + "/capture.json"
SCRIPT = "usdt:__EXE__:app:push { printf(\"%d\\n\", arg0); }"
LOCK = b"btgen-lock 1\n"  # has no facts

# name: (option that the message names, command up to the file, what is in a file of its own kind, is it a script)
FILES = {
    "convert": ("-o", [BTGEN, "convert", "-f", "perfetto", CAPTURE, "-o"]),
    "types": ("-o", [BTGEN, "types", "-x", APP, "job", "-o"]),
    "enums": ("-o", [BTGEN, "enums", "-x", APP, "color:c", "-o"]),
    "expand": ("-o", [BTGEN, "expand", "-x", APP, "-e", SCRIPT, "-o"]),
    "bundle": ("-o", [BTGEN, "bundle", "-x", APP, "-e", SCRIPT, "-o"]),
    "check": ("--lock", [BTGEN, "check", "-x", APP, "-e", SCRIPT, "--update", "--lock"]),
    "test": ("--junit", [BTGEN, "test", FOLDER + "/app.cases", "--junit"]),
    "report": ("-o", ["/usr/bin/python3", TOP + "/scripts/btgen-report", CAPTURE, "-o"]),
    "report by itself": ("", ["/usr/bin/python3", TOP + "/scripts/btgen-report"]),
}
RUN = [TOP + "/scripts/bpftrace.sh", "-T", "1", os.environ.get("APP_PID", "1"), "-e"]
SEEN = "usdt:__EXE__:app:push /arg0 == 42/ { printf(\"%d\\n\", arg0); }"
LIVE = {
    "-o": ("-o", [*RUN, SEEN, "-o"]),
    "perfetto": ("-o", [*RUN, SEEN, "-f", "perfetto", "-o"]),
    "--ready-file": ("--ready-file", [*RUN, SEEN, "--ready-file"]),
}
WRITERS = FILES if WHICH == "files" else LIVE
if not IS_ROOT:
    WRITERS.pop("test", 0)  # it traces
n_claims = n_failed = 0


def ok(good, claim, *seen):
    global n_claims, n_failed
    n_claims += 1
    n_failed += not good
    print(f"{'' if good else 'not '}ok {n_claims} - {claim}", flush=True)
    for text in seen if not good else ():
        print("#   " + str(text).replace("\n", "\n#   "), flush=True)


def skip(claim, why):
    global n_claims
    n_claims += 1
    print(f"ok {n_claims} - {claim} # SKIP {why}", flush=True)


def put(path, data, owner=0, mode=0o644):
    with open(path, "wb") as file:
        file.write(data)
    if IS_ROOT:
        os.chown(path, owner, owner)
    os.chmod(path, mode)


def link(target, path, owner=0):
    os.symlink(target, path)
    if IS_ROOT:
        os.lchown(path, owner, owner)


def look(path):
    """All that a writer could change: of a folder, of everything in it."""
    st = os.lstat(path)
    what = (oct(st.st_mode), st.st_uid, st.st_gid)
    if stat.S_ISDIR(st.st_mode):
        return what, {name: look(os.path.join(path, name)) for name in sorted(os.listdir(path))}
    if stat.S_ISREG(st.st_mode):
        with open(path, "rb") as file:
            return *what, st.st_ino, st.st_mtime_ns, file.read()
    return *what, os.readlink(path) if stat.S_ISLNK(st.st_mode) else ""


def can_run_as(user):
    """A checkout may be in a directory that only its owner enters."""
    try:
        return subprocess.run([BTGEN, "--version"], user=user, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False, cwd="/").returncode == 0
    except PermissionError:
        return False


def run(writer, path, user=None, stdout=subprocess.PIPE):
    command = WRITERS[writer][1]
    if writer == "report by itself":  # x.json becomes x.html
        capture = path.removesuffix(".html") + ".json"
        os.path.lexists(capture) or shutil.copy(CAPTURE, capture)
        path = capture
    env = {**os.environ, "BTGEN": BTGEN}
    env.pop("SUDO_UID", None)
    more = {"user": user, "group": user, "extra_groups": []} if user else {}
    done = subprocess.run([*command, path], stdout=stdout, stderr=subprocess.PIPE, timeout=PATIENCE, env=env, check=False, cwd="/", **more)
    return done.returncode, done.stderr.decode(errors="replace"), (done.stdout or b"")


class Row:
    """A folder of its own, the file that is written, a victim in root's folder beside it."""

    def __init__(self, writer, owner=0, mode=0o755):
        self.writer = writer
        self.base = os.path.join(FOLDER, "row")
        shutil.rmtree(self.base, ignore_errors=True)
        self.dir, self.safe = self.base + "/d", self.base + "/safe"
        os.makedirs(self.dir)
        os.mkdir(self.safe)
        self.path = self.dir + "/out.html"
        self.victim = self.safe + "/victim"
        put(self.victim, self.old)
        if writer == "report by itself":
            put(self.dir + "/out.json", open(CAPTURE, "rb").read())
        os.chmod(self.dir, mode)
        if IS_ROOT:
            os.chown(self.dir, owner, owner)

    @property
    def old(self):
        return LOCK if self.writer == "check" else b"old\n"

    def is_result(self, data):
        if WHICH == "live":
            return (b"ready\n" if self.writer == "--ready-file" else b"42\n" if self.writer == "-o" else b"\"42\"")[:2] in data and data[:3] != b"old"
        # Traced cases last a different time each.
        return data == NEW[self.writer] or self.writer == "test" and data.startswith(b"<?xml") and data.endswith(b">\n")

    def written(self, kind, where=None, **more):
        status, said, _ = run(self.writer, self.path, **more)
        where = where or self.path
        data = open(where, "rb").read() if os.path.isfile(where) else b""
        ok(status == self.good_status() and self.is_result(data) and not self.is_littered(), f"{self.writer}: {kind}: written", status, said, data[:200])

    def refused(self, kind, why, **more):
        before = look(self.base)
        status, said, _ = run(self.writer, self.path, **more)
        option = WRITERS[self.writer][0]
        is_said = f"{option}: " in said and self.path in said and why in said or self.writer == "check" and "not a lock" in said
        ok(status == 1 and is_said and look(self.base) == before, f"{self.writer}: {kind}: refused, and all is as it was", status, said,
           [] if look(self.base) == before else look(self.base))

    def good_status(self):
        return 1 if self.writer == "test" and not os.environ.get("BTGEN_CANNOT_TRACE") else 0  # its case fails, or is skipped

    def is_littered(self):
        return any(name.startswith("out.html.") for name in os.listdir(self.dir))


def own_rows(writer):
    row = Row(writer)
    row.written("a new file")
    put(row.path, row.old)
    row.written("a regular file")
    ok(stat.S_IMODE(os.stat(row.path).st_mode) == 0o644, f"{writer}: its mode stays")
    put(row.path, b"")
    row.written("an empty file")
    if writer != "check":
        put(row.path, row.old, mode=0o6755)
        row.written("an old setuid file")
        ok(stat.S_IMODE(os.stat(row.path).st_mode) == 0o755, f"{writer}: ... which is none any more", oct(os.stat(row.path).st_mode))

    row = Row(writer)
    os.mkfifo(row.path)
    got = []
    reader = threading.Thread(target=lambda: got.append(open(row.path, "rb").read()))
    reader.start()
    status, said, _ = run(writer, row.path)
    if not got and reader.is_alive():  # nothing was opened: let it go
        reader.join(5)
        if reader.is_alive():
            os.close(os.open(row.path, os.O_WRONLY))
        reader.join()
    ok(status == row.good_status() and row.is_result(got[0]) and stat.S_ISFIFO(os.lstat(row.path).st_mode), f"{writer}: a FIFO with a reader gets it, and stays",
       status, said, got[0][:200])

    row = Row(writer)
    with socket.socket(socket.AF_UNIX) as s:
        os.chdir(row.dir)
        s.bind("out.html")
        os.chdir("/")
        row.refused("a socket", "is a socket" if "report" not in writer else "No such device")
    for kind, name, device, why in (("a character device", "null", (1, 3), ""), ("a full device", "full", (1, 7), "No space left"), ("a block device", "block", (7, 250), "is a block device")):
        row = Row(writer)
        try:
            os.mknod(row.path, 0o666 | (stat.S_IFBLK if name == "block" else stat.S_IFCHR), os.makedev(*device))
        except OSError as error:
            skip(f"{writer}: {kind}", f"mknod: {error.strerror}")
            continue
        before = look(row.base)
        status, said, _ = run(writer, row.path)
        good = status == (row.good_status() if name == "null" else 1) and why in said and look(row.base) == before
        good |= name == "full" and writer == "--ready-file" and status == 0 and why in said  # a warning: the trace goes on
        good |= name == "null" and writer == "report by itself" and status == 0
        ok(good, f"{writer}: {kind}: {'written to' if name == 'null' else 'an error'}, and it stays", status, said)
    for kind, data, why in (("a script", b"#!/usr/bin/env bpftrace\nBEGIN { }\n", "script"), ("a shell script", b"#!/bin/sh\nexit\n", "script"),
                            ("an ELF file", b"\177ELF\2\1\1" + bytes(60), "program")):
        row = Row(writer)
        put(row.path, data, mode=0o755)
        row.refused(kind, why)
    row = Row(writer)
    os.mkdir(row.path)
    row.refused("a directory", "Is a directory")
    row = Row(writer)
    link(row.victim, row.path)
    row.written("an own symbolic link", where=row.victim)
    ok(os.path.islink(row.path), f"{writer}: ... which stays")
    row = Row(writer)
    link("../safe/new", row.path)
    row.written("an own link to a new file", where=row.safe + "/new")
    if WHICH == "files" and writer != "report by itself":
        row = Row(writer)
        row.path = "/dev/stdout"
        status, _, data = run(writer, row.path)
        ok(status == row.good_status() and data.endswith(NEW[writer]) or writer == "test", f"{writer}: /dev/stdout, a pipe", status, data[:200])
        with open(row.victim, "ab") as file:
            status, said, _ = run(writer, row.path, stdout=file)
        data = open(row.victim, "rb").read()
        # A lock is not added to what is no lock.
        ok(data == row.old + NEW[writer] if writer not in ("test", "check") else data.startswith(b"old") or writer == "check",
           f"{writer}: /dev/stdout, a file that is appended to", status, said, data[:300])


def stranger_rows(writer):
    if not IS_ROOT:
        skip(f"{writer}: what another user has prepared", "needs root")
        return
    row = Row(writer, owner=STRANGER)
    row.written("a new file in another user's folder")
    row.written("root's own file there")
    ok(os.stat(row.path).st_uid == 0, f"{writer}: ... and is root's")
    for kind, mode in (("another user's folder", 0o755), ("a folder that all can write to", 0o777), ("a sticky folder", 0o1777)):
        owner = STRANGER if mode == 0o755 else 0
        row = Row(writer, owner, mode)
        link(row.victim, row.path, STRANGER)
        row.refused(f"another user's link in {kind}", "not followed as root: uid 65534 owns it")
        row = Row(writer, owner, mode)
        link(row.safe + "/new", row.path, STRANGER)
        row.refused(f"another user's dangling link in {kind}", "not followed as root: uid 65534 owns it")
        row = Row(writer, owner, mode)
        link(row.victim, row.path)
        row.refused(f"root's link in {kind}", "its directory")
        row = Row(writer, owner, mode)
        os.link(row.victim, row.path)
        row.refused(f"another name of root's file in {kind}", "2 hard links")
        row = Row(writer, owner, mode)
        put(row.path, row.old, STRANGER)
        row.refused(f"another user's file in {kind}", "a file of uid 65534")
        row = Row(writer, owner, mode)
        os.mkfifo(row.path)
        os.chown(row.path, STRANGER, STRANGER)
        row.refused(f"another user's FIFO in {kind}", "a file of uid 65534")
    row = Row(writer, owner=STRANGER)
    link(row.safe, row.dir + "/way", STRANGER)
    row.path = row.dir + "/way/out.html"
    if writer == "report by itself":
        put(row.safe + "/out.json", open(CAPTURE, "rb").read())
    row.refused("below another user's link", "symbolic link way")
    row = Row(writer)
    put(row.path, row.old, STRANGER)
    row.written("another user's file in root's folder")
    row = Row(writer)
    link(row.victim, row.path, STRANGER)
    row.refused("another user's link in root's folder", "uid 65534 owns it")
    if WHICH == "live" or writer == "test":
        return
    if not can_run_as(STRANGER):
        skip(f"{writer}: as another user than root", "that user cannot run btgen")
        return
    row = Row(writer, owner=STRANGER)
    row.written("a new file, as its owner", user=STRANGER)
    row = Row(writer, owner=STRANGER)
    put(row.dir + "/mine", row.old, STRANGER)
    link(row.dir + "/mine", row.path)
    row.written("root's link, as another user", where=row.dir + "/mine", user=STRANGER)


def make_inputs():
    put(CAPTURE, b'{"time": "2026-01-31T12:00:00.000000001+01:00", "cpu": 0, "pid": 1, "tid": 1, "comm": "a", "probe": "app:push", "text": "1", "fields": {"n": 1}}\n')
    put(FOLDER + "/app.cases", b"NAME wrong\nRUN /none/at/all\nPROG usdt:__EXE__:app:push { }\nEXPECT 1\n")


sys.dont_write_bytecode = True
os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
os.umask(0o022)
make_inputs()
NEW = {}
for name in list(WRITERS) if WHICH == "files" else ():
    path = FOLDER + "/out.html"
    shutil.rmtree(FOLDER + "/row", ignore_errors=True)
    if name == "report by itself":
        shutil.copy(CAPTURE, FOLDER + "/out.json")
        NEW[name] = b""
    status, said, _ = run(name, path)
    NEW[name] = open(path, "rb").read() if os.path.exists(path) else b""
    ok(NEW[name] and status in (0, 1), f"{name}: writes a file", status, said)
    os.path.exists(path) and os.unlink(path)
for name in WRITERS:
    if WORD in name:
        own_rows(name)
        stranger_rows(name)
shutil.rmtree(FOLDER + "/row", ignore_errors=True)
print(f"1..{n_claims}")
sys.exit(n_failed > 0)
