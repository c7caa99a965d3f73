#!/usr/bin/env python3
"""Looking up one type by name: CPU (user + system) and peak memory of a whole process, median of some runs.

btgen prints the definition with all it embeds; a plain libdw walk only finds the name; gdb prints it (ptype), pahole
prints it, llvm-dwarfdump finds it. Each row ends in ratios: how many times btgen's CPU. One table.

  BENCH_RUNS=5            runs of each (slow tools: 1)
  BENCH_VMLINUX=FILE      a kernel image with debug information, as one more input
"""
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
build = os.environ.get("BTGEN_BUILD", os.path.join(here, "..", "..", "build"))
btgen = os.path.join(build, "btgen")
runs = int(os.environ.get("BENCH_RUNS", "5"))
null = open(os.devnull, "r+b")


def measure(argv):
    """(CPU ms, wall ms, peak MB), or None when the program is not here or fails in a way that has no meaning."""
    if not shutil.which(argv[0]):
        return None
    samples = []
    for i in range(runs):
        before = os.times()
        start = before.elapsed
        pid = os.posix_spawn(shutil.which(argv[0]), argv, os.environ,
                             file_actions=[(os.POSIX_SPAWN_DUP2, null.fileno(), f) for f in (0, 1, 2)])
        _, _, usage = os.wait4(pid, 0)
        cpu = (usage.ru_utime + usage.ru_stime) * 1000
        samples.append((cpu, (os.times().elapsed - start) * 1000, usage.ru_maxrss / 1024))
        if cpu > 2000:
            break
    return tuple(statistics.median(column) for column in zip(*samples))


def debug_file(path):
    """The separate debug file of PATH by its build-id, or PATH itself when it has .debug_info."""
    try:
        notes = subprocess.run(["readelf", "-nSW", path], capture_output=True, text=True).stdout
    except OSError:
        return None
    if ".debug_info" in notes:
        return path
    for line in notes.splitlines():
        if "Build ID:" in line:
            ident = line.split()[-1]
            found = "/usr/lib/debug/.build-id/%s/%s.debug" % (ident[:2], ident[2:])
            return found if os.path.exists(found) else None
    return None


def make_cxx(folder):
    """A C++ program of some size: the standard library's containers, streams and regular expressions."""
    headers = "algorithm deque filesystem fstream functional future iostream list map memory regex set sstream string thread unordered_map variant vector"
    source = "".join("#include <%s>\n" % h for h in headers.split())
    source += """namespace bench { struct Late { std::map<std::string, std::vector<int>> m; std::deque<std::shared_ptr<int>> d; std::variant<int, double> v; }; }
int main() { bench::Late l; std::regex r("a+"); std::thread t([] {}); t.join(); std::unordered_map<int, std::string> u{{1, "a"}}; std::set<std::string> s{"x"};
std::ostringstream o; o << u.size() << s.size() << std::filesystem::current_path() << std::regex_match("aa", r) << l.m.size(); return (int)o.str().size() * 0; }
"""
    path = os.path.join(folder, "cxx")
    with open(path + ".cc", "w") as f:
        f.write(source)
    done = subprocess.run(["g++", "-g", "-std=c++17", "-o", path, path + ".cc", "-pthread"], stderr=subprocess.DEVNULL)
    return path if done.returncode == 0 else None


def rows(folder):
    target = os.path.join(here, "..", "targets", "nvmf_tgt")
    yield "demo target", target if os.path.exists(target) else None, "enum nvmf_tgt_state"
    libc = next((p for p in ("/lib/x86_64-linux-gnu/libc.so.6", "/lib/aarch64-linux-gnu/libc.so.6", "/lib64/libc.so.6") if os.path.exists(p)), None)
    libc = libc and debug_file(libc)
    yield "libc6-dbg (compressed)", libc, "struct malloc_state"
    python = debug_file("/usr/bin/python3.11") if os.path.exists("/usr/bin/python3.11") else None
    yield "python3.11-dbg (compressed)", python, "struct _typeobject"
    raw = os.path.join(folder, "python.raw")
    if python and subprocess.run(["objcopy", "--decompress-debug-sections", python, raw]).returncode == 0:
        yield "the same, not compressed", raw, "struct _typeobject"
        yield "  a name of one unit", raw, "struct _Py_AuditHookEntry"
        yield "  a name that is not there", raw, "struct no_such_name"
    cxx = make_cxx(folder)
    yield "C++ program", cxx, "bench::Late"
    vmlinux = os.environ.get("BENCH_VMLINUX")
    if vmlinux:
        yield "vmlinux: common", vmlinux, "struct list_head"
        yield "vmlinux: task_struct", vmlinux, "struct task_struct"
        yield "vmlinux: not there", vmlinux, "struct no_such_name"


def main():
    if not os.path.exists(btgen):
        sys.exit("types.py: build btgen first")
    with tempfile.TemporaryDirectory(prefix="btgen-bench.") as folder:
        walker = os.path.join(folder, "dwwalk")
        if subprocess.run(["gcc", "-O2", "-o", walker, os.path.join(here, "dwwalk.c"), "-ldw", "-lelf"]).returncode:
            sys.exit("types.py: dwwalk.c does not build")
        print("One type by name: CPU ms (x btgen's), peak MB")
        print("%-28s %14s %18s %18s %18s %18s %18s" % ("", "btgen", "libdw walk", "gdb ptype", "pahole -C", "llvm-dwarfdump", "drgn"))
        for label, path, name in rows(folder):
            if not path:
                print("%-28s not here" % label)
                continue
            bare = name.split(" ")[-1]
            ours = measure([btgen, "types", "-x", path, name])
            cells = ["%6.1f %5.0f MB" % (ours[0], ours[2])]
            for argv in ([walker, path, bare.split("::")[-1]],
                         ["gdb", "-nx", "-batch", "-ex", "ptype " + name, path],
                         ["pahole", "-F", "dwarf", "-C", bare, path],
                         ["llvm-dwarfdump", "--name=" + bare.split("::")[-1], path],
                         ["drgn", "--no-default-symbols", "-s", path, "-e", "prog.type('%s')" % name]):
                got = measure(argv)
                cells.append("-" if not got else "%6.0f (%.1f) %3.0f MB" % (got[0], got[0] / ours[0], got[2]))
            print("%-28s %14s %18s %18s %18s %18s %18s" % tuple([label] + cells), flush=True)
        if os.path.exists("/sys/kernel/btf/vmlinux"):
            ours = measure([btgen, "types", "--btf", "vmlinux", "task_struct"])
            tool = measure(["bpftool", "btf", "dump", "file", "/sys/kernel/btf/vmlinux", "format", "c"])
            print("%-28s %14s %18s" % ("kernel BTF: task_struct", "%6.1f %5.0f MB" % (ours[0], ours[2]),
                                       "bpftool -" if not tool else "bpftool %.0f (%.1f)" % (tool[0], tool[0] / ours[0])))


main()
