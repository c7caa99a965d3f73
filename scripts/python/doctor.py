"""btgen doctor: can this machine trace, can this process be traced, and what is wrong with this script; each with a remedy.

An error makes tracing impossible, a warning makes it worse than it could be. What nothing is known of is not mentioned.
What bpftrace is and may do is known to `btgen run --facts`; of the machine only /proc and /sys are read, below a directory that
the caller names, so that tests can bring their own. That bpftrace refuses, or does without, was measured with 0.17.0, 0.23.2
and 0.27.1.
"""
import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
import commandline
import diag

OK, WARNING, ERROR = "ok", "warning", "error"
OLDEST = (4, 9)  # kernel that bpftrace asks for
UPROBE_PMU = (4, 17)  # uprobes without tracefs
CGROUP_MEMORY = (5, 11)  # BPF memory is not locked memory any more
NUMBERS_TYPES = (5, 11)  # its BTF has a number, as that of modules
FIRST_PID_NAMESPACE = "pid:[4026531836]"  # PROC_PID_INIT_INO of include/linux/proc_ns.h
ALL_USERS = 0xffffffff
MOST_PROBES = 3  # that are reported one by one


def sentence(names):
    return ", ".join(names[:-1]) + (" and " if names[1:] else "") + "".join(names[-1:])


class Findings:
    def __init__(self):
        self.list, self.about = [], None

    def add(self, state, name, text, remedy=None, messages=None):
        """@name is the same in every release, for programs."""
        self.list.append({"about": self.about, "name": name, "state": state, "text": text, "remedy": remedy, "messages": messages or []})

    def has_errors(self):
        return any(f["state"] == ERROR for f in self.list)

    def as_text(self):
        about = None
        for f in self.list:
            if f["about"] != about:
                yield ("\n" if about else "") + f["about"]
            about = f["about"]
            yield "  %-7s  %s" % (f["state"], diag.printable(f["text"] + (": " + f["remedy"] if f["remedy"] else "")))
            yield from f["messages"]

    def as_json(self):
        plain = [{key: value.encode("utf-8", "surrogateescape").decode("utf-8", "replace") if isinstance(value, str) else value
                  for key, value in f.items()} for f in self.list]
        return ["[", ",\n".join(map(json.dumps, plain)), "]"]


class Machine:
    def __init__(self, found, facts, root):
        self.found, self.facts, self.root = found, facts, root
        self.rights, self.limits = facts["rights"], facts["limits"]
        self.version = facts["bpftrace"]["version"]  # None: none that runs
        self.user = -1 if self.rights["user"] is None else self.rights["user"]
        self.kernel = (0, 0)

    def add(self, *finding):
        self.found.add(*finding)

    def read(self, path):
        """The text of such a regular file, trimmed; None: it cannot be read."""
        path = self.root + path
        try:
            with open(path, errors="surrogateescape") if os.path.isfile(path) else open(os.devnull) as file:
                return file.read().strip() if os.path.isfile(path) else None
        except OSError:
            return None

    def is_mounted(self, kind, directory):
        """Lines of mounts are "device directory type options 0 0"."""
        return " %s %s " % (directory, kind) in (self.read("/proc/self/mounts") or "")

    def has(self, capability):
        return capability in self.rights["has"]

    def is_allowed(self):
        return not self.rights["missing"] and (self.user == 0 or self.rights["needed"])

    # --- the kernel

    def examine_kernel(self):
        release = self.read("/proc/sys/kernel/osrelease") or ""
        numbers = re.match(r"(\d{1,4})\.(\d{1,4})", release)
        if not numbers:
            self.add(WARNING, "kernel", "the version of the kernel cannot be read")
            return
        self.kernel = int(numbers[1]), int(numbers[2])
        if self.kernel < OLDEST:
            self.add(ERROR, "kernel", "Linux %s is older than 4.9, the oldest that bpftrace runs on" % release, "update it")
        else:
            self.add(OK, "kernel", "Linux " + release)
        if not self.read("/proc/sys/kernel/unprivileged_bpf_disabled"):
            self.add(ERROR, "bpf", "this kernel has no BPF", "boot a kernel with CONFIG_BPF_SYSCALL")

    def examine_jit(self):
        on = self.read("/proc/sys/net/core/bpf_jit_enable")  # by root only, and in the first network namespace
        if on == "0":
            self.add(WARNING, "jit", "BPF programs are interpreted, not compiled (JIT): each event costs the traced program more",
                     "sysctl net.core.bpf_jit_enable=1")
        elif on:
            self.add(OK, "jit", "the kernel compiles BPF programs (JIT)")

    def examine_uprobes(self):
        devices = "/sys/bus/event_source/devices/uprobe/"
        if self.kernel < UPROBE_PMU:
            return
        if self.read(devices + "type") is None:
            self.add(ERROR, "uprobes", "no uprobes: programs cannot be traced", "boot a kernel with CONFIG_UPROBE_EVENTS")
        elif self.read(devices + "format/ref_ctr_offset") is None:
            self.add(WARNING, "uprobes", "this kernel does not raise the semaphores of probes: some probes may not fire",
                     "update it to Linux 4.20 or newer")
        else:
            self.add(OK, "uprobes", "the kernel has uprobes, with semaphores")

    def examine_btf(self):
        remedy = "boot a kernel with CONFIG_DEBUG_INFO_BTF"
        missing = "/sys/kernel/btf/vmlinux does not exist: "
        if os.access(self.root + "/sys/kernel/btf/vmlinux", os.R_OK):
            is_hidden = self.version and self.kernel < NUMBERS_TYPES and self.limits["finds_types_by_number"]
            self.add(OK, "btf", "the kernel has the types of its structs (BTF)" +
                     (", which bpftrace 0.17 finds before Linux 5.11 by BPFTRACE_BTF=/sys/kernel/btf/vmlinux only: bpftrace.sh sets it"
                      if is_hidden else ""))
        elif self.limits["has_libbpf_usdt"]:
            self.add(ERROR, "btf", missing + "bpftrace %s cannot read arguments of USDT probes" % self.version, remedy)
        else:
            self.add(WARNING, "btf", missing + "scripts cannot read kernel structs, and bpftrace 0.24 and newer cannot read arguments of "
                     "USDT probes", remedy)

    def examine_tracefs(self):
        remedy = "mount -t tracefs tracefs /sys/kernel/tracing"
        # debugfs mounts it below itself when it is looked for, unless the kernel has given that up.
        if self.is_mounted("tracefs", "/sys/kernel/tracing") or self.is_mounted("tracefs", "/sys/kernel/debug/tracing") or \
                self.read("/sys/kernel/debug/tracing/available_events") is not None:
            self.add(OK, "tracefs", "tracefs is mounted")
        elif self.limits["has_libbpf_usdt"]:
            self.add(ERROR, "tracefs", "tracefs is not mounted: bpftrace %s cannot run a script" % self.version, remedy)
        else:
            self.add(WARNING, "tracefs", "tracefs is not mounted: there are no tracepoints, and bpftrace 0.24 and newer cannot run a script",
                     remedy)

    def examine_lockdown(self):
        modes = self.read("/sys/kernel/security/lockdown")
        if modes is None:
            return  # securityfs is not mounted, or the kernel cannot be locked down
        if "[confidentiality]" in modes:
            self.add(ERROR, "lockdown", "kernel lockdown is in confidentiality mode, in which bpftrace refuses to run",
                     "boot with lockdown=integrity")
        else:
            self.add(OK, "lockdown", "kernel lockdown is %s, which does not limit tracing" %
                     ("in integrity mode" if "[integrity]" in modes else "off"))

    # --- what this user may do

    def examine_user(self):
        """One that is not root."""
        needed, missing = self.rights["needed"], self.rights["missing"]
        if not needed:
            self.add(ERROR, "root", "bpftrace up to 0.24 traces as root only: user %d cannot inspect processes of other users, or whether the "
                     "kernel compiles BPF programs" % self.user, "use sudo")
        elif missing:
            self.add(ERROR, "root", "user %d lacks %s of %s, which bpftrace %s needs when it is not root" %
                     (self.user, sentence(missing), sentence(needed), self.version), "use sudo")
        else:
            self.add(OK, "root", "user %d has the capabilities that bpftrace %s needs" % (self.user, self.version))

    def examine_privileges(self):
        users = re.match(r"\s*\d+\s+\d+\s+(\d+)", self.read("/proc/self/uid_map") or "")
        if self.user == 0 and users and int(users[1]) < ALL_USERS:
            self.add(ERROR, "root", "this is root of a user namespace (a rootless container), which the kernel does not let load BPF programs",
                     "run it as root of the host")
            return
        if self.user != 0:
            self.examine_user()
        elif self.rights["missing"]:
            self.add(ERROR, "root", "root lacks %s or CAP_SYS_ADMIN: bpftrace cannot attach to anything" % sentence(self.rights["missing"]),
                     "docker run --privileged, or --cap-add SYS_ADMIN --cap-add SYS_PTRACE")
        if not self.is_allowed():
            return
        # What is still possible without it depends on the kernel and on bpftrace.
        if not self.has("CAP_SYS_ADMIN"):
            self.add(WARNING, "admin", "CAP_SYS_ADMIN is missing: bpftrace %s needs it to trace %s on newer kernels" %
                     (self.version, "functions of programs" if self.limits["has_libbpf_usdt"] else "probes with semaphores"),
                     "docker run --cap-add SYS_ADMIN" if self.user == 0 else None)
        if not self.has("CAP_SYS_PTRACE"):
            self.add(WARNING, "root", "CAP_SYS_PTRACE is missing: most processes of other users cannot be inspected",
                     "docker run --cap-add SYS_PTRACE")
        elif self.user == 0 and self.has("CAP_SYS_ADMIN"):
            self.add(OK, "root", "this is root, with the capabilities that tracing needs")

    def examine_settings(self):
        """Two settings that are often taken for the reason why tracing fails."""
        paranoid = self.read("/proc/sys/kernel/perf_event_paranoid")
        disabled = self.read("/proc/sys/kernel/unprivileged_bpf_disabled")
        if paranoid and disabled and self.is_allowed():
            self.add(OK, "sysctl", "kernel.perf_event_paranoid=%s and kernel.unprivileged_bpf_disabled=%s limit other users only" %
                     (paranoid, disabled))

    def examine_memory(self):
        """The line of the limit is "Max locked memory  SOFT  HARD  bytes"."""
        limit = re.search(r"^Max locked memory\s+(\d+)", self.read("/proc/self/limits") or "", re.MULTILINE)
        if limit and int(limit[1]) and self.kernel < CGROUP_MEMORY and not self.has("CAP_SYS_RESOURCE"):
            self.add(WARNING, "memlock", "before Linux 5.11, BPF maps and buffers are locked memory, which is limited to %d KiB here, and "
                     "bpftrace may not raise that" % (int(limit[1]) // 1024), "ulimit -l unlimited")

    def examine_pid_namespace(self):
        """Measured: 0.23 and 0.27 give a script the PIDs of the namespace that the process is in."""
        try:
            namespace = os.readlink(self.root + "/proc/self/ns/pid")
        except OSError:
            return
        if namespace != FIRST_PID_NAMESPACE and self.version and self.limits["has_host_pids"]:
            self.add(WARNING, "container", "this container has its own PIDs, but pid and tid of bpftrace %s are those of the host" % self.version,
                     "trace from the host, or docker run --pid=host")

    # --- bpftrace

    def examine_version(self, path):
        limits, v = self.limits, self.version
        if self.facts["bpftrace"]["is_too_old"]:
            oldest = self.facts["bpftrace"]["oldest"]
            self.add(ERROR, "bpftrace", "%s is version %s, which is too old" % (path, v), "install %s or newer" % oldest)
            return
        self.add(OK, "bpftrace", "bpftrace %s at %s%s" %
                 (v, path, ", newer than those that btgen was tested with" if self.facts["bpftrace"]["is_newer"] else ""))
        self.add(OK, "limits", "limits of bpftrace %s are strings of %d bytes%s; enums of more than %d names delay the start" %
                 (v, limits["string"], " and %d USDT probes at once" % limits["probes_at_once"] if limits["probes_at_once"] else "", limits["enum"]))
        if OLDEST <= self.kernel < tuple(map(int, limits["kernel"].split("."))):
            self.add(WARNING, "kernel", "bpftrace %s is built for Linux %s and newer, and warns about it in each trace" % (v, limits["kernel"]),
                     "use 0.23 on this kernel")
        for defect in self.facts["defects"]:
            self.add(WARNING, "defect", "bpftrace %s %s" % (v, defect["text"]), defect["remedy"])

    def examine_bpftrace(self):
        status, path = self.facts["bpftrace"]["status"], commandline.text(self.facts["bpftrace"]["path"])
        if status == 127:
            self.add(ERROR, "bpftrace", "bpftrace not found" + (" at " + path if path else ""),
                     "install it with your package manager, or give its path with --bpftrace")
        elif status:
            self.add(ERROR, "bpftrace", "%s cannot be run, or reports no bpftrace version" % path, "install it again")
        else:
            self.examine_version(path)

    def examine(self):
        if not self.read("/proc/self/status"):
            proc = self.root + "/proc"
            self.add(ERROR, "proc", "%s is not mounted" % proc, "mount -t proc proc %s" % proc)
            return
        self.examine_kernel()
        self.examine_jit()
        if self.is_mounted("sysfs", "/sys"):
            self.examine_uprobes()
            self.examine_btf()
            self.examine_tracefs()
            self.examine_lockdown()
        else:
            self.add(ERROR, "sys", "/sys is not mounted", "mount -t sysfs sysfs /sys")
        self.examine_privileges()
        self.examine_settings()
        self.examine_memory()
        self.examine_pid_namespace()
        self.examine_bpftrace()


# --- a process


def examine_probes(found, file, machine):
    v, most = machine.version, machine.limits["probes_at_once"]
    shown, bad = commandline.text(file["shown"]), file["unattachable"]
    n_good = file["probes"] - len(bad)
    for probe in bad[:1] if len(bad) > MOST_PROBES else bad:
        others = "%d USDT probes of %s, such as " % (len(bad), shown) if len(bad) > MOST_PROBES else ""
        found.add(WARNING, "probe", "bpftrace %s cannot attach to %s%s, because %s" %
                  (v, others, commandline.text(probe["name"]), commandline.text(probe["why"])),
                  "use bpftrace 0.23" if probe["is_for_older"] else None)
    if v:
        found.add(OK, "probes", "bpftrace %s can attach to %d of %d USDT probes of %s%s" %
                  (v, n_good, file["probes"], shown, ", %d at once" % most if most and n_good > most else ""))
    else:
        found.add(OK, "probes", "%s has %d USDT probes" % (shown, file["probes"]))
    if file["moved"]:
        found.add(WARNING, "moved", "%d USDT probes of %s have sites that cannot fire, because the process has moved their code out of the file" %
                  (file["moved"], shown), "look for a program option that keeps its code off large pages")


def examine_debuginfo(found, file):
    shown, info = commandline.text(file["shown"]), file["debuginfo"]
    path = commandline.text(info["path"])
    if not path and info["has_btf"]:
        found.add(OK, "debuginfo", "%s has its types in .BTF" % shown)
    elif not path:
        found.add(WARNING, "debuginfo", "%s has no debug information: names of enums and layouts of structs are unknown" % shown,
                  "build it with -g, or install its debug package")
    elif info["is_own"]:
        found.add(OK, "debuginfo", "%s has debug information" % shown)
    else:
        found.add(OK, "debuginfo", "%s has its debug information in %s" % (shown, path))


def examine_file(found, file, machine):
    path = commandline.text(file["path"])
    if not file["is_open"]:
        found.add(WARNING, "file", "%s of the process cannot be opened" % path)
    if "is_32bit" in file:
        found.add(ERROR, "class", "%s is a 32-bit program, which is not supported: %s" % (path, file["is_32bit"]), "build it for 64 bits")
    if file.get("is_replaced"):
        found.add(WARNING, "replaced", "%s was replaced after the process had started" % path, "restart the process to trace the new one")
    if file.get("probes"):
        examine_probes(found, file, machine)
    if "debuginfo" in file:
        examine_debuginfo(found, file)


def examine_process(found, process, n, machine):
    found.about = "process"
    if n > 1:
        found.add(OK, "processes", "the first of %d is examined" % n)
    if "path" in process:
        found.add(OK, "process", "process %d runs %s" % (process["pid"], commandline.text(process["path"])))
        if process["own_pid"] != process["pid"]:
            found.add(OK, "container", "it is process %d of a container, and process %d to bpftrace.sh" % (process["own_pid"], process["pid"]))
        elif process["has_own_mounts"]:
            found.add(OK, "container", "it has its own mount namespace; its files are read there")
        for file in process["files"]:
            examine_file(found, file, machine)
        if not any(file.get("probes") for file in process["files"]):
            found.add(WARNING, "probes", "no file of the process has USDT probes", "trace its functions, as in uprobe:__EXE__:main")
    for message in process["messages"]:
        file = commandline.text(message["file"])
        found.add(ERROR if message["is_error"] else WARNING, "file", (file + ": " if file else "") + commandline.text(message["text"]))


# --- a script


def examine_script(found, words, pids, script, machine):
    """What `btgen check` reports."""
    found.about = "script"
    version = ["--for", machine.version] if machine.version else []
    status, printed, said = words.ask("check", *words.these("json", "define", "include"), *version, *(["-p", pids] if pids else []),
                                      "./" + script if script.startswith("-") else script)
    if words.has("json"):
        messages = json.loads(printed.decode())
        has_warnings = any(m["severity"] == "warning" for m in messages)
    else:
        messages = said.decode("utf-8", "surrogateescape").splitlines()
        has_warnings = any(": warning: " in m for m in messages)
    if status:
        found.add(ERROR, "script", "%s has errors" % script, None, messages)
        return
    found.add(WARNING if has_warnings else OK, "script",
              "%s has %s for bpftrace %s" % (script, "warnings" if has_warnings else "no errors", machine.version or "0.17"), None, messages)


def run(argv):
    words = commandline.Words(argv)
    pids, script = words.operands  # "" for none
    root = words.value("root") or ""
    facts = words.facts("--facts=" + root, *words.these("bpftrace"), *pids.split()[:1])
    found = Findings()
    found.about = "machine"
    machine = Machine(found, facts, root)
    machine.examine()
    n_errors = sum(f["state"] == ERROR for f in found.list)
    if pids:
        examine_process(found, facts["process"], len(pids.split()), machine)
    if script and n_errors == sum(f["state"] == ERROR for f in found.list):
        examine_script(found, words, pids, script, machine)
    lines = found.as_json() if words.has("json") else found.as_text()
    try:
        with os.fdopen(os.dup(1), "wb") as out:
            out.write("".join(line + "\n" for line in lines).encode("utf-8", "surrogateescape"))
    except OSError:
        return 1
    return 1 if found.has_errors() else 0


diag.main(run, sys.argv)
