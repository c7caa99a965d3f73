"""A built SPDK under test: its programs, its RPCs, its log, and bpftrace.sh on them. Used by the tests in this folder.

    with Bed() as bed:
        target = bed.start("target", "-m", "0x3")
        trace = bed.begin(target.pid, "nvmf.bt")
        bed.ok(trace.wait_ready(), "it attaches", trace.messages)
        target.rpc("nvmf_create_transport", "-t", "tcp")
        bed.stop(trace)                           # ^C; then trace.lines(), trace.messages(), trace.status
        bed.equal(got, wanted, "claim")           # TAP
        bed.done()
"""
import difflib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

TOP = pathlib.Path(__file__).resolve().parents[2]
SPDK = pathlib.Path(os.environ.get("SPDK", "/nowhere"))
BUILD = pathlib.Path(os.environ.get("BTGEN_BUILD", TOP / "build"))
PATIENCE = 600  # seconds: a guard against what hangs, and never a claim


def free_port():
    """A TCP port of the loopback interface that nobody listens on."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return str(sock.getsockname()[1])


def wait_for(condition, what):
    """Polls until the condition holds."""
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            sys.exit(f"Bail out! {what}: not in {PATIENCE} s")
        time.sleep(0.02)


class App:
    """A running spdk_tgt."""

    def __init__(self, bed, name, options):
        self.socket = bed.tmp / f"{name}.sock"
        self.log_file = bed.tmp / f"{name}.log"
        self.env = bed.env
        with self.log_file.open("wb") as log:
            self.process = subprocess.Popen(
                [SPDK / "build/bin/spdk_tgt", "--no-huge", "--no-pci", "--disable-cpumask-locks",
                 "-r", self.socket, *options], stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=bed.env)
        self.pid = self.process.pid
        wait_for(lambda: self.process.poll() is not None or self.answers(), f"{name} answers RPCs")
        if self.process.poll() is not None:
            sys.exit(f"Bail out! spdk_tgt does not start:\n{self.log()}")

    def answers(self):
        return self.socket.exists() and self.call("spdk_get_version").returncode == 0

    def call(self, *rpc):
        return subprocess.run([SPDK / "scripts/rpc.py", "-s", self.socket, *rpc], env=self.env,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)

    def rpc(self, *rpc):
        """Sends an RPC; its answer, read as JSON if it is that."""
        done = self.call(*rpc)
        if done.returncode:
            sys.exit(f"Bail out! {' '.join(rpc)}: {done.stderr[:500]}")
        try:
            return json.loads(done.stdout)
        except ValueError:
            return done.stdout.strip()

    def at_once(self, *requests):
        """Sends (method, parameters)... on one connection, without a program for each; their answers."""
        with socket.socket(socket.AF_UNIX) as sock:
            sock.settimeout(PATIENCE)
            sock.connect(str(self.socket))
            sock.sendall("".join(json.dumps({"jsonrpc": "2.0", "id": i, "method": method, **({"params": params} if params else {})})
                                 for i, (method, params) in enumerate(requests)).encode())
            text, answers, decoder = "", [], json.JSONDecoder()
            while len(answers) < len(requests):
                text += sock.recv(65536).decode()
                while text.strip():
                    try:
                        answer, end = decoder.raw_decode(text.lstrip())
                    except ValueError:
                        break
                    answers.append(answer)
                    text = text.lstrip()[end:]
        return answers

    def ask(self, method, **params):
        """The result of one."""
        answer, = self.at_once((method, params))
        if "error" in answer:
            sys.exit(f"Bail out! {method}: {answer['error']}")
        return answer["result"]

    def log(self):
        return self.log_file.read_text(errors="replace")


class Trace:
    """bpftrace.sh at work."""

    def __init__(self, bed, arguments, env):
        n = len(list(bed.tmp.glob("out.*")))
        self.out = bed.tmp / f"out.{n}"
        self.err_file = bed.tmp / f"err.{n}"
        self.ready = bed.tmp / f"ready.{n}"
        self.out.touch()
        self.arguments = arguments
        self.status = None
        with self.err_file.open("wb") as err:
            self.process = subprocess.Popen(
                [TOP / "scripts/bpftrace.sh", "--ready-file", self.ready, *map(str, arguments)],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=err,
                env={"BPF_OUTFILE": str(self.out), **env})

    def wait_ready(self):
        """True when it has attached; false when it ended instead."""
        wait_for(lambda: self.process.poll() is not None or self.ready.exists(), "bpftrace.sh attaches")
        self.status = self.process.poll()
        return self.status is None

    def interrupt(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)

    def wait(self):
        try:
            self.status = self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            sys.exit(f"Bail out! bpftrace.sh does not end: {self.messages()}")

    def messages(self):
        return self.err_file.read_text(errors="replace")

    def lines(self):
        """What it printed, without empty lines; those with a stamp in the order of their stamps."""
        lines = [line for line in self.out.read_text(errors="replace").splitlines() if line]
        stamped = re.compile(r"(\d+)\.(\d{6}): ")
        found = [stamped.match(line) for line in lines]
        with_stamp = sorted((int(m[1]), int(m[2]), i) for i, m in enumerate(found) if m)
        order = iter(with_stamp)
        return [lines[next(order)[2]] if m else lines[i] for i, m in enumerate(found)]

    def events(self):
        """The lines without their stamps."""
        return [re.sub(r"^\d+\.\d{6}: ", "", line) for line in self.lines()]


class Bed:
    """The folder, the environment and the claims of a test."""

    def __init__(self):
        self.claims = self.failed = 0
        self.apps, self.traces, self.bares = [], [], []
        self.env = dict(os.environ)
        self.env.pop("BPF_OUTFILE", None)
        self.env["BTGEN"] = str(BUILD / "btgen")
        self.shared = os.access(SPDK / "build/lib/libspdk_nvmf.so", os.R_OK) and not self.is_static()
        if self.shared:
            self.env["LD_LIBRARY_PATH"] = ":".join(
                str(SPDK / folder) for folder in ("build/lib", "dpdk/build/lib", "isa-l/.libs"))
        self.bpftrace = os.environ.get("BTGEN_BPFTRACE") or shutil.which("bpftrace")
        text = subprocess.run([self.bpftrace, "--version"], capture_output=True, text=True, check=True).stdout
        self.version = int(re.search(r"v0\.(\d+)", text)[1])

    @staticmethod
    def is_static():
        needed = subprocess.run(["readelf", "-d", SPDK / "build/bin/spdk_tgt"], capture_output=True,
                                text=True, check=True).stdout
        return "libspdk" not in needed

    def probes(self):
        """Name -> file, of all probes of this SPDK, by readelf."""
        files = (SPDK / "build/lib").glob("libspdk_*.so") if self.shared else [SPDK / "build/bin/spdk_tgt"]
        return {name: file for file in files for name in re.findall(r"Provider: spdk\n +Name: (\w+)", subprocess.run(
            ["readelf", "-n", file], capture_output=True, text=True, check=True).stdout)}

    def bare(self, program):
        """bpftrace without btgen, attached."""
        out = self.tmp / f"bare.{len(self.bares)}"
        with out.open("wb") as both:
            process = subprocess.Popen([self.bpftrace, "-e", program], stdin=subprocess.DEVNULL, stdout=both, stderr=both,
                                       env={**self.env, "__BPFTRACE_NOTIFY_PROBES_ATTACHED": "1"})
        self.bares.append(process)
        wait_for(lambda: process.poll() is not None or re.search("NOTIFY_PROBES_ATTACHED|^Attached ", out.read_text(), re.M),
                 "bpftrace attaches")
        return process, out

    @staticmethod
    def end_bare(alone):
        """What it has printed."""
        process, out = alone
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE)
        return out.read_text().splitlines()

    def __enter__(self):
        self.tmp = pathlib.Path(tempfile.mkdtemp(prefix="btgen-spdk."))
        print(f"# {'shared' if self.shared else 'static'} build, bpftrace 0.{self.version}", flush=True)
        return self

    def __exit__(self, *ignored):
        for process in self.bares + [t.process for t in self.traces] + [a.process for a in self.apps]:
            if process.poll() is None:
                process.terminate()
                try:
                    process.wait(60)
                except subprocess.TimeoutExpired:
                    process.kill()
        shutil.rmtree(self.tmp, ignore_errors=True)

    def start(self, name, *options):
        app = App(self, name, options)
        self.apps.append(app)
        return app

    def begin(self, *arguments, env=None, only=None):
        """bpftrace.sh that may yet fail. @env is added to its environment, @only is all of it."""
        trace = Trace(self, arguments, {**self.env, **(env or {})} if only is None else only)
        self.traces.append(trace)
        return trace

    def stop(self, *traces):
        """^C for all of them at once: detaching takes its time."""
        for trace in traces:
            trace.interrupt()
        for trace in traces:
            trace.wait()
            for line in re.findall(".*events were lost.*", trace.messages()):
                print(f"# {str(trace.arguments[-1])[-60:]!r}: {line}")

    # Claims, as TAP.

    def ok(self, good, claim, why=None):
        self.claims += 1
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} {self.claims} - {claim}", flush=True)
        if not good and why:
            for line in str(why() if callable(why) else why).splitlines()[:20]:
                print(f"#   {line}")
        return good

    def skip(self, claim, why):
        """What this SPDK does not have."""
        self.claims += 1
        print(f"ok {self.claims} - {claim} # SKIP {why}", flush=True)

    def equal(self, got, wanted, claim):
        """Two lists of lines are equal; what differs is shown."""
        got, wanted = [str(x) for x in got], [str(x) for x in wanted]
        diff = difflib.unified_diff(wanted, got, "wanted", "printed", lineterm="", n=0)
        return self.ok(got == wanted, f"{claim} ({len(wanted)} lines)", lambda: "\n".join(diff))

    def done(self):
        print(f"1..{self.claims}", flush=True)
        return 1 if self.failed else 0
