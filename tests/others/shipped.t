#!/usr/bin/env python3
"""Scripts as other projects ship them, unchanged: what bpftrace alone prints of them, and what btgen prints, of the same events.

    shipped.t [-v] [--bpftrace PROGRAM] [FILE|FOLDER]...

Without a FILE it takes the folders of $OTHERS_DIR, one a word, else it looks where packages install scripts (/usr/sbin/*.bt,
/usr/share/*/*.bt and below). For each script both run at the same time, and only when both are attached the load begins. The load
follows from what the script attaches to:

  - a program that is installed: Python, PostgreSQL (a server of our own), bash
  - a program that is not: a stand-in with the same probes, made from the script's own attach points
  - the host: load.c

Each script is a line of TAP: what came of it, and how it was compared:

  same lines          each of the lines about the load is the same
  same counts         a map that is printed again and again: the sums are the same, or the last ones
  same but for times  the script prints times: numbers are left out, histograms have as many values
  same maps           nothing that is printed names the load: the same maps, or the same first lines
  both refuse         with bpftrace's message
"""
import argparse
import collections
import glob
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
BTGEN = os.path.join(os.environ.get("BTGEN_BUILD", os.path.join(TOP, "build")), "btgen")
PATIENCE = 600  # seconds: a guard against what hangs, and never a claim
PLACES = ["/usr/sbin/*.bt", "/usr/share/*/*.bt", "/usr/share/*/*/*.bt", "/usr/share/doc/*/examples/*.bt", "/usr/libexec/*/*.bt"]
# What bpftrace, and what btgen says beside the script's own output
NOISE = re.compile(r"^(Attaching \d+ probe|Attached \d+ probe|Lost \d+ events|WARNING:|Error while reading traceable)")


class Skip(Exception):
    pass


def wait_for(condition, seconds=PATIENCE):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


class Tracer:
    """One of the two: a process, its output, and whether its probes are attached."""

    def __init__(self, command, folder, name, ready, cwd, env):
        self.out = os.path.join(folder, name)
        self.ready = ready
        with open(self.out, "wb") as out, open(self.out + ".err", "wb") as err:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, cwd=cwd, env=env,
                                            start_new_session=True)

    def ended(self):
        return self.process.poll() is not None

    def attached(self):
        if self.ready:
            return os.path.exists(self.ready) and os.path.getsize(self.ready) > 0
        try:  # epoll_wait of x86-64 and epoll_pwait of both: it waits for events
            return open("/proc/%d/syscall" % self.process.pid).read().split()[0] in ("22", "232", "281")
        except OSError:
            return False

    def start(self):
        wait_for(lambda: self.attached() or self.ended())
        return not self.ended() or self.process.returncode == 0

    def size(self):
        return os.path.getsize(self.out)

    def stop(self):
        before = -1
        for _ in range(5):  # at ^C 0.17 drops what it has not read; what is about the whole host may never be still
            if before == self.size() or self.ended():
                break
            before = self.size()
            time.sleep(0.4)
        end = time.monotonic() + PATIENCE
        while not self.ended() and time.monotonic() < end:
            os.kill(self.process.pid, signal.SIGINT)
            wait_for(self.ended, PATIENCE if self.ready else 3)  # a second ^C ends btgen without maps; bpftrace alone misses one now and then
        if not self.ended():
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def text(self):
        lines, quoted = [], False
        with open(self.out, errors="replace") as f:
            for line in f:  # a warning of bpftrace at run time quotes the script, with a line of ~ below
                quoted = "WARNING:" in line or quoted and not re.fullmatch(r"\s*~+\s*", line) and not line.startswith("@")
                if line.strip() and not quoted and not NOISE.match(line) and not re.fullmatch(r"\s*~+\s*", line):
                    lines.append(line.rstrip())
        return lines

    def lost(self):
        with open(self.out, errors="replace") as f:
            return sum(int(n) for n in re.findall(r"^Lost (\d+) events", f.read(), re.M))

    def complaint(self):
        with open(self.out + ".err", errors="replace") as f:
            lines = [line.strip() for line in f]
        wrong = [line for line in lines if re.search(r"error|ERROR|terminate", line) and "RLIMIT" not in line]
        return re.sub(r"\S*/", "", (wrong or [line for line in lines if line] or ["no message"])[0])[:100]


class Points:
    """A script's attach points in user space, by its text: no more of the language than that."""

    def __init__(self, text):
        text = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)
        self.usdt = re.findall(r"\busdt:([^:\s,{]+):([\w.+-]+):([\w.+-]+)", text)
        self.usdt += [(path, None, name) for path, name in re.findall(r"\busdt:([^:\s,{]+):([\w.+-]+)\s*[,/{]", text)]
        self.functions = re.findall(r"\bu(?:ret)?probe:([^:\s,{]+):(\w+)", text)
        self.files = {point[0] for point in self.usdt + self.functions}
        self.is_text = bool(re.search(r"\bstr\((args->|args\.)?arg\d", text) or re.search(r"\*\s*\(\w+\s*\*\)", text))
        self.n_args = max([int(n) for n in re.findall(r"\$(\d)\b", text)] or [0])
        self.has_times = bool(re.search(r"\bnsecs\b|\belapsed\b|\btime\(|\bstrftime\b|\brand\b|\bprofile:", text))
        self.text = text


class Load:
    """What happens, once both are attached, and what names it in the output."""

    def __init__(self, name, run, stop=lambda: None):
        self.name, self.run, self.stop = name, run, stop


def load_name(serial):
    return "o%dn%d" % (os.getpid() % 100000, serial)  # a comm, of 15 characters at most


def compile_c(source, program, *flags):
    made = subprocess.run(["cc", "-g", "-O0", "-w", *flags, "-o", program, source, "-lpthread"], stderr=subprocess.PIPE)
    if made.returncode:
        raise Skip("the stand-in does not compile: " + made.stderr.decode(errors="replace").splitlines()[0])


def waiting(command, cwd, **more):
    """A program that waits for a line on its standard input; returns what sends the line and waits for the end."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, cwd=cwd, **more)

    def run():
        process.communicate(b"go\n", timeout=PATIENCE)

    def stop():
        if process.poll() is None:
            process.kill()
        process.wait()
    return run, stop


def stand_in(points, folder, path):
    """A program with the probes and functions that the script has for PATH, each reached three times."""
    source = os.path.join(folder, "standin.c")
    calls, functions = [], []
    names = dict.fromkeys((provider or "standin", name) for file, provider, name in points.usdt if file == path)  # in the script's order
    for n, (provider, name) in enumerate(names):
        args = ", ".join("texts[i]" if points.is_text else "%dL + i" % (100 * n + 10 * arg) for arg in range(6))
        calls.append("\t\tDTRACE_PROBE6(%s, %s, %s);" % (provider, name, args))
    for name in dict.fromkeys(name for file, name in points.functions if file == path and name != "main"):
        functions.append("__attribute__((noinline)) long %s(long a, long b, long c) { __asm__ volatile(\"\" ::: \"memory\"); return a + b + c; }" % name)
        calls.append("\t\t%s(i, i + 1, i + 2);" % name)
    with open(source, "w") as f:
        f.write("#include <stdio.h>\n#include <unistd.h>\n#include <sys/sdt.h>\n%s\n" % "\n".join(functions))
        f.write("static char texts[3][128] = {\"first text of the load\", \"second text\", \"start\"};\n")
        f.write("int main(void)\n{\n\tchar line[8];\n\tif (!fgets(line, sizeof(line), stdin))\n\t\treturn 1;\n")
        f.write("\tfor (int i = 0; i < 3; i++) {\n%s\n\t\tusleep(20000);\n\t}\n\treturn 0;\n}\n" % "\n".join(calls))
    program = os.path.join(folder, os.path.basename(path))
    if path.startswith("$"):
        program = os.path.join(folder, "standin" + path[1:])
    elif not path.startswith("/"):
        program = os.path.join(folder, path)
    os.makedirs(os.path.dirname(program), exist_ok=True)
    compile_c(source, program, "-I" + os.path.join(TOP, "include/btgen/compat"))
    return program


def host_load(folder, serial):
    program = os.path.join(folder, load_name(serial))
    shutil.copy(os.path.join(folder, "..", "load"), program)
    run, stop = waiting([program], folder)
    return Load(os.path.basename(program), run, stop)


def bash_load(folder, serial):
    """An interactive bash, on a terminal of its own"""
    def run():
        pid, fd = pty.fork()
        if pid == 0:
            os.execv("/bin/bash", ["bash", "--norc", "-i"])
        for line in ("true " + load_name(serial), "true again " + load_name(serial), "exit"):
            time.sleep(0.3)
            os.write(fd, line.encode() + b"\n")
        try:
            while os.read(fd, 4096):
                pass
        except OSError:
            pass
        os.waitpid(pid, 0)
        os.close(fd)
    return Load(load_name(serial), run)


PYTHON = """
import gc, sys
sys.stdin.readline()
def test_line():
    a = 1
    b = 2
    return a + b
def function_2():
    return test_line()
def start():
    gc.collect(0); gc.collect(1); gc.collect(2)
    for i in range(3): function_2()
start()
"""


def python_load(path, folder):
    if not os.path.exists(path):
        raise Skip(path + " is not installed")
    program = os.path.join(folder, "load.py")
    with open(program, "w") as f:
        f.write(PYTHON)
    run, stop = waiting([path, "-S", program], folder)
    return Load(None, run, stop)


class Postgres:
    """A server of our own, with sockets in a folder: started once, for all scripts that need one."""
    found = None

    def __init__(self, folder):
        self.bin = next((p for p in sorted(glob.glob("/usr/lib/postgresql/*/bin")) if os.path.exists(p + "/initdb")), None)
        if not self.bin:
            raise Skip("needs a PostgreSQL server")
        self.path, self.folder = self.bin + "/postgres", folder
        user = "postgres" if subprocess.run(["id", "postgres"], capture_output=True).returncode == 0 else "nobody"
        os.makedirs(folder)
        shutil.chown(folder, user)
        as_user = ["setpriv", "--reuid=" + user, "--regid=" + user, "--clear-groups"]
        made = subprocess.run(as_user + [self.bin + "/initdb", "-D", folder + "/data", "-U", "tester", "-A", "trust", "-N"], cwd=folder,
                              capture_output=True)
        if made.returncode:
            raise Skip("initdb failed")
        self.server = subprocess.Popen(as_user + [self.path, "-D", folder + "/data", "-c", "listen_addresses=", "-c", "fsync=off", "-c",
                                       "autovacuum=off", "-c", "shared_buffers=256kB", "-c", "unix_socket_directories=" + folder], cwd=folder,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if not wait_for(lambda: self.sql("SELECT 1").returncode == 0):
            raise Skip("the PostgreSQL server does not start")

    def sql(self, *statements):
        command = [self.bin + "/psql", "-X", "-q", "-h", self.folder, "-U", "tester", "-d", "postgres"]
        for statement in statements:
            command += ["-c", statement]
        return subprocess.run(command, capture_output=True)

    def run(self):
        self.sql("CREATE TABLE t AS SELECT g AS a FROM generate_series(1, 1000) g", "SELECT count(*) FROM t", "SELECT 1 AS others",
                 "DROP TABLE t", "CHECKPOINT")
        bench = [self.bin + "/pgbench", "-h", self.folder, "-U", "tester", "postgres"]
        if os.path.exists(bench[0]):  # locks are waited for, and files read
            subprocess.run(bench + ["-i", "-q"], capture_output=True)
            subprocess.run(bench + ["-n", "-c", "8", "-t", "50"], capture_output=True)

    def stop(self):
        self.server.send_signal(signal.SIGINT)
        self.server.wait()


class Run:
    """One script: its load, its arguments, and the two."""

    def __init__(self, script, folder, serial, options):
        self.script, self.folder, self.serial, self.options = script, folder, serial, options
        with open(script, errors="replace") as f:
            self.points = Points(f.read())
        self.args, self.load = [], None

    def file_load(self, path):
        """The load for what is attached to PATH; it is in self.load, and the path that is to be used comes back"""
        providers = {provider for file, provider, _ in self.points.usdt if file == path}
        if path.startswith("$") and "postgresql" in providers or path.endswith("/bin/postgres") and os.path.exists(path):
            Postgres.found = Postgres.found or Postgres(os.path.join(self.folder, "..", "postgres"))
            if path.startswith("/") and path != Postgres.found.path:
                raise Skip("needs " + path)
            self.load = Load(None, Postgres.found.run)
            return Postgres.found.path
        if "python" in providers:
            self.load = python_load(path, self.folder)
            return path
        if path in ("/bin/bash", "/usr/bin/bash"):
            self.load = bash_load(self.folder, self.serial)
            return path
        if path.startswith("/") and os.path.exists(path) or "/" not in path and not path.startswith("$"):
            return path  # a library that the host's load uses, perhaps
        if path.startswith("/"):
            raise Skip("needs " + path)
        program = stand_in(self.points, self.folder, path)
        run, stop = waiting([program], self.folder)
        others, self.load = self.load, Load(None, run, stop)
        if others:  # a script about two files
            mine = self.load
            self.load = Load(None, lambda: (others.run(), mine.run()), lambda: (others.stop(), mine.stop()))
        return program

    def prepare(self):
        args = {}
        for path in sorted(self.points.files):
            used = self.file_load(path)
            if path.startswith("$"):
                args[int(path[1:])] = used
        if not self.load:
            self.load = host_load(self.folder, self.serial)
        for n in range(1, self.points.n_args + 1):
            self.args.append(args.get(n, load_name(self.serial) if "str($%d" % n in self.points.text else "1"))

    def compare(self):
        bpftrace = self.options.bpftrace
        env = dict(os.environ, BTGEN_BPFTRACE=bpftrace)
        ready = os.path.join(self.folder, "ready")
        more = ["--", *self.args] if self.args else []
        bare = Tracer([bpftrace, self.script, *self.args], self.folder, "bare", None, self.folder, env)
        ours = Tracer([BTGEN, "run", "-q", "--ready-file", ready, self.script, *more], self.folder, "ours",
                      ready, self.folder, env)
        both = [bare, ours]
        try:
            is_up = [tracer.start() for tracer in both]
            if all(is_up):
                time.sleep(0.2)
                self.load.run()
        finally:
            for tracer in both:
                tracer.stop()
        if is_up == [False, False]:
            return True, "both refuse: " + bare.complaint()
        if not is_up[1]:
            return False, "only btgen refuses: " + ours.complaint()
        if not is_up[0]:
            return True, "bpftrace alone refuses, btgen runs it: " + bare.complaint()
        is_ok, said = self.judge(bare.text(), ours.text())
        missing = collections.Counter(line[:60] for line in shape(bare.text())) - collections.Counter(line[:60] for line in shape(ours.text()))
        if not is_ok and bare.lost() and not missing:
            return True, "btgen has all %d lines, bpftrace alone lost %d events" % (len(ours.text()), bare.lost())
        return is_ok, said

    def judge(self, bare, ours):
        if sorted(bare) == sorted(ours) and bare:
            return True, "same lines (%d)" % len(bare)
        if self.load.name:  # the host's other events, and those of the tracers themselves, are not the same
            mine = [[line for line in lines if self.load.name in line] for lines in (bare, ours)]
            if any(mine) and not (re.search(r"\bprint\(@\w*, *\d", self.points.text) and not all(mine)):  # it prints the first few only
                bare, ours = mine
                if sorted(bare) == sorted(ours):
                    return True, "same lines (%d of the load)" % len(bare)
            else:
                n_heads = 1 if re.search(r"\bBEGIN\b", self.points.text, re.I) and "interval:" not in self.points.text else 0  # a title
                heads = [sorted({re.match(r"@\w*", line).group(0) for line in lines if line.startswith("@")}) or list(shape(first))
                         for lines, first in ((bare, bare[:n_heads]), (ours, ours[:n_heads]))]
                if not any(heads):
                    return True, "neither prints anything of the load, nor maps"
                return heads[0] == heads[1], "same maps (%s)" % " ".join(heads[0])[:60]
        if "interval:" in self.points.text:  # each has its own clock
            same = same_maps(*map(counts, (bare, ours)), self.points.has_times)
            if same:
                return True, "same counts (%s)" % " ".join(same)[:60]
        shapes = [shape(lines) for lines in (bare, ours)]
        if "interval:" in self.points.text:
            shapes = [collections.Counter({line: 1 for line in lines}) for lines in shapes]
        if not any(bare + ours):
            return True, "neither prints anything"
        if self.points.has_times and shapes[0] == shapes[1]:
            return True, "same but for times (%d lines)" % len(bare)
        if "interval:" in self.points.text and shapes[0] == shapes[1] and not sum(counts(bare)[0].values()):
            return True, "same maps, all empty"
        if shapes[0] == shapes[1] and len(bare) == len(ours) and all(map(cut, bare, ours)):
            return True, "same lines (%d), but bpftrace alone cuts numbers to 32 bits" % len(bare)
        starts = [collections.Counter(line[:60] for line in shape.elements()) for shape in shapes]
        if self.points.has_times and starts[0] == starts[1]:
            return True, "same but for times (%d lines), and bpftrace alone cuts strings to 64 bytes" % len(bare)
        first = [" ".join(sorted((a - b).elements())[:2]) for a, b in ((shapes[0], shapes[1]), (shapes[1], shapes[0]))]
        return False, "bpftrace alone has '%s', btgen has '%s'" % tuple(first)


def cut(bare, ours):
    """Whether the numbers of BARE are those of OURS, in 32 bits"""
    numbers = [[int(n) for n in re.findall(r"-?\d+", line)] for line in (bare, ours)]
    return len(numbers[0]) == len(numbers[1]) and all((a - b) % 2**32 == 0 for a, b in zip(*numbers))


def counts(lines):
    """Of each place of a map that is printed again and again: the sum of what was printed, and the last"""
    found, last = collections.Counter(), {}
    for line in lines:
        entry = re.fullmatch(r"(@\w*(?:\[.*\])?): (\d+)", line)
        if entry and int(entry.group(2)):
            found[entry.group(1)] += int(entry.group(2))
            last[entry.group(1)] = entry.group(2)
    return found, last


def same_maps(bare, ours, has_times):
    """The maps whose values are the same in both; none of them, if others are not, and cannot be times"""
    maps = [{place.split("[")[0] for place in found[0]} for found in (bare, ours)]
    of = [[[{k: v for k, v in values.items() if k.split("[")[0] == name} for values in found] for found in (bare, ours)]
          for name in sorted(maps[0] | maps[1])]
    same = [name for name, (b, o) in zip(sorted(maps[0] | maps[1]), of) if b[0] == o[0] or b[1] == o[1]]
    return same if has_times or len(same) == len(of) else []


def shape(lines):
    """Lines without their numbers; of a histogram, its name and how many values it has"""
    found, name = collections.Counter(), None
    for line in lines:
        bucket = re.match(r"[\[(][^|]*?\)?\]?\s+(\d+) \|", line)
        if bucket and name:
            found[name + " " + "values"] += int(bucket.group(1))
        else:
            name = re.sub(r"-?\d+(\.\d+)?", "#", re.sub(r"\s+", " ", line))
            found[name] += 1
    return found


def find(places):
    files = []
    for place in places:
        if os.path.isdir(place):
            files += sorted(glob.glob(os.path.join(place, "**/*.bt"), recursive=True))
        else:
            files += sorted(glob.glob(place))
    return list(dict.fromkeys(files))


def try_one(script, folder, n, options):
    os.mkdir(folder)
    run = Run(script, folder, n, options)
    try:
        run.prepare()
        is_ok, said = run.compare()
    finally:
        if run.load:
            run.load.stop()
    for name in ("bare", "bare.err", "ours", "ours.err") if options.v and not is_ok else ():
        with open(os.path.join(folder, name), errors="replace") as f:
            print("".join("# %s: %s" % (name, line) for line in f.readlines()[:40]), flush=True)
    return is_ok, said


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-v", action="store_true", help="what the two printed, where it differs")
    parser.add_argument("--bpftrace", default=os.environ.get("BTGEN_BPFTRACE") or shutil.which("bpftrace"))
    parser.add_argument("places", nargs="*")
    options = parser.parse_args()
    places = options.places or os.environ.get("OTHERS_DIR", "").split()
    scripts = find([os.path.abspath(place) for place in places] or PLACES)
    if places and not scripts:
        sys.exit("Bail out! there is no *.bt in " + " ".join(places))
    if not scripts or os.geteuid() != 0 or not options.bpftrace:
        print("1..0 # SKIP " + ("needs root and a bpftrace" if scripts else "no scripts of others here: OTHERS_DIR=FOLDER names some"))
        return 0
    n_failed = 0
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o711)
        compile_c(os.path.join(HERE, "load.c"), os.path.join(folder, "load"))
        for n, script in enumerate(scripts, 1):
            where = "%d - %s" % (n, "/".join(script.split("/")[-2:]))
            try:
                is_ok, said = try_one(script, os.path.join(folder, "%d" % n), n, options)
                if not is_ok:  # what else the host does may reach one of the two alone
                    is_ok, said = try_one(script, os.path.join(folder, "%d-again" % n), n, options)
                print("%s %s: %s" % ("ok" if is_ok else "not ok", where, said), flush=True)
                n_failed += not is_ok
            except Skip as why:
                print("ok %s # SKIP %s" % (where, why), flush=True)
        if Postgres.found:
            Postgres.found.stop()
    print("1..%d" % len(scripts))
    return 1 if n_failed else 0


if __name__ == "__main__":
    sys.exit(main())
