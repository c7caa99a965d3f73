#!/usr/bin/env python3
"""Finding one type by name in debug information: btgen next to what else can do it. One table.

btgen prints the definition with all it embeds, as gdb (ptype) and pahole print it; a plain libdw walk of the DIEs at the
top of each unit, drgn and llvm-dwarfdump find it; readelf prints all there is. A cell is CPU time (user + system, of the whole
process), how many times btgen's that is, and peak memory. The commands of a row run in turn; medians. One that takes
longer than a second runs once, and not at all in rows of which there are similar ones; - is also for one that failed. The
last column is what the project promises, in times of a tool of the same row and in memory, and whether this run keeps it.

  BENCH_RUNS=7            rounds
  BENCH_VMLINUX=FILE      a kernel image with debug information (linux-image-*-dbg), as one more input

What is built for it stays in build/bench.
"""
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
build = os.path.abspath(os.environ.get("BTGEN_BUILD", os.path.join(here, "..", "..", "build")))
btgen = os.path.join(build, "btgen")
folder = os.path.join(build, "bench")
walker = os.path.join(folder, "dwwalk")
cost = os.path.join(folder, "cost")
drgn_script = os.path.join(folder, "type.py")
runs = int(os.environ.get("BENCH_RUNS", "7"))
LIMIT = 600  # seconds: one run of anything that takes longer hangs
TOOLS = ["libdw walk", "readelf", "gdb ptype", "pahole -C", "llvm-dwarfdump", "drgn"]
DRGN = """import sys
try:
    import drgn
except ImportError:
    sys.exit(2)
program = drgn.Program()
program.load_debug_info([sys.argv[1]])
try:
    program.type(sys.argv[2])
except LookupError:
    sys.exit(1)
except SyntaxError:
    sys.exit(2)
"""
missed = 0


def run(argv):
    """One run as (CPU ms, elapsed ms, peak MB), or None when it took longer than LIMIT or failed to find anything out."""
    text = subprocess.run([cost, str(LIMIT)] + argv, capture_output=True, text=True).stdout
    cpu, elapsed, memory, status = [int(word) for word in text.split()]
    # 1: not found, which is an answer; anything else is a usage error or a crash.
    return (cpu / 1000, elapsed / 1000, memory / 1024) if status in (0, 1) else None


def measure(commands):
    """The medians of each command, None for one that is not here or took too long; run in turn."""
    samples = [[] for _ in commands]
    alive = [c is not None and shutil.which(c[0]) is not None for c in commands]
    for turn in range(runs + 1):
        for i, argv in enumerate(commands):
            if not alive[i]:
                continue
            sample = run(argv)
            if sample is None or sample[0] > 1000:
                alive[i] = False  # once is enough
            if sample and (turn or not alive[i]):
                samples[i].append(sample)
    return [tuple(statistics.median(column) for column in zip(*s)) if s else None for s in samples]


def verdict(good, text):
    global missed
    missed += not good
    return "%s: %s" % (text, "kept" if good else "MISSED")


def print_row(label, cells, goal=""):
    print("%-30s %22s %s  %s" % (label, cells[0], " ".join("%22s" % c for c in cells[1:]), goal), flush=True)


def cell(got, base):
    return "-" if not got else "%.0f (%.1f) %.0f MB" % (got[0], got[0] / base, got[2])


def row(label, path, name, slow=True, ratios=None, memory=None, btf=False):
    """One line of the table. ratios: tool -> how many times ours its CPU must be; memory: MB."""
    if not path:
        print("%-30s not here" % label)
        return
    bare = name.split(" ")[-1]
    last = bare.split("::")[-1]
    ours = [btgen, "types", "--btf" if btf else "-x", path, name]
    if btf:
        tools = [None, None, None, ["pahole", "-C", bare, "/sys/kernel/btf/" + path], None, None]
    else:
        tools = [[walker, path, last],
                 ["readelf", "--debug-dump=info", path],
                 ["gdb", "-nx", "-batch", "-ex", "ptype " + name, path],
                 ["pahole", "-F", "dwarf", "-C", bare, path],
                 ["llvm-dwarfdump", "--name=" + last, path],
                 ["/usr/bin/python3", drgn_script, path, name.replace("bench", "struct bench")]]
        if not slow:
            tools[1:5] = [None] * 4
    got = measure([ours] + tools)
    own = got[0]
    goals = []
    for tool, least in (ratios or {}).items():
        other = got[1 + TOOLS.index(tool)]
        if other:
            goals.append(verdict(other[0] / own[0] >= least, "1/%g of %s" % (least, tool)))
    if memory:
        goals.append(verdict(own[2] <= memory, "%g MB" % memory))
    print_row(label, ["%.1f (%.1f) %.0f MB" % own] + [cell(g, own[0]) for g in got[1:]], ", ".join(goals))


def compare(label, ours, ours_label, other, other_label, goal):
    """Two commands: goal(ours, other) gives the verdict."""
    got = measure([ours, other])
    if not got[0] or not got[1]:
        print("%-30s not here" % label)
        return
    print("%-30s %s: %.1f ms CPU, %.1f elapsed, %.0f MB; %s: %.1f ms CPU, %.1f elapsed, %.0f MB  %s" %
          ((label, ours_label) + got[0] + (other_label,) + got[1] + (goal(*got),)), flush=True)


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


def compile_all(compiler, flags, sources, output, copies=1):
    """Sources (name -> text) into a program, two compilers at a time, each unit so often; None when that fails."""
    if os.path.exists(output):
        return output
    with tempfile.TemporaryDirectory(dir=folder) as work:
        for name, text in sources.items():
            with open(os.path.join(work, name), "w") as f:
                f.write(text)
        units = [n for n in sources if not n.endswith(".h")]
        done = subprocess.run(["xargs", "-P2", "-n8", compiler, "-g", "-c"] + flags, cwd=work, text=True,
                              input="\n".join(units), stderr=subprocess.DEVNULL)
        objects = [n.rsplit(".", 1)[0] + ".o" for n in units]
        link = [compiler, "-o", output, "-pthread", "-Wl,-z,muldefs"] + objects * copies
        if done.returncode == 0 and subprocess.run(link, cwd=work, stderr=subprocess.DEVNULL).returncode == 0:
            return output
    return None


def make_large():
    """120 MB of .debug_info: an optimized unit of C++ a hundred times, as if it were a hundred."""
    text = """#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <regex>
#include <sstream>
#include <string>
#include <thread>
#include <unordered_map>
int main() { std::regex r("a+"); std::thread t([] {}); t.join(); std::unordered_map<int, std::string> u{{1, "a"}};
std::ostringstream o; o << u.size() << std::filesystem::current_path() << std::regex_match("aa", r); return (int)o.str().size() * 0; }
"""
    return compile_all("g++", ["-std=c++17", "-O2"], {"large.cc": text}, os.path.join(folder, "large"), 110)


def make_cxx():
    """A C++ program of some size: containers, streams and regular expressions of the standard library in six units."""
    headers = ("algorithm deque filesystem fstream functional future iostream list map memory regex set sstream string "
               "thread unordered_map variant vector")
    includes = "".join("#include <%s>\n" % h for h in headers.split())
    body = """
namespace bench%d { struct Late { std::map<std::string, std::vector<int>> m; std::deque<std::shared_ptr<int>> d; std::variant<int, double> v; }; }
int run%d() { bench%d::Late l; std::regex r("a+"); std::thread t([] {}); t.join(); std::unordered_map<int, std::string> u{{1, "a"}};
std::set<std::string> s{"x"}; std::ostringstream o; o << u.size() << s.size() << std::filesystem::current_path() << std::regex_match("aa", r) << l.m.size();
return (int)o.str().size() * 0; }
"""
    sources = {"u%d.cc" % i: includes + body % (i, i, i) for i in range(6)}
    sources["main.cc"] = "".join("int run%d();\n" % i for i in range(6)) + "int main() { return %s; }\n" % \
        " + ".join("run%d()" % i for i in range(6))
    return compile_all("g++", ["-std=c++17"], sources, os.path.join(folder, "cxx"))


def make_daemon():
    """A C daemon as large as a storage target: 20 MB, 6 MB of .debug_info in 295 units that share a header."""
    kinds = ["int %s;", "unsigned long %s;", "char %s[64];", "struct s%d *%%s;", "enum e%d %%s;", "void (*%s)(void *, int);"]
    header = ""
    for i in range(60):
        values = ", ".join("E%d_VALUE_%d" % (i, k) for k in range(6))
        header += "enum e%d { %s };\n" % (i, values)
    for i in range(160):
        members = ""
        for k in range(7):
            kind = kinds[(i + k) % len(kinds)]
            kind = kind % (i * 7 % 160 if "struct" in kind else i % 60) if "%d" in kind else kind
            members += kind % ("member_%d_%d" % (k, i % 30)) + " "
        header += "struct s%d { %s};\n" % (i, members)
    header += "struct all { %s };\n" % " ".join("struct s%d m%d;" % (i, i) for i in range(160))
    sources = {"daemon.h": header}
    for i in range(295):
        sources["u%d.c" % i] = ('#include "daemon.h"\nstruct own%d { struct all *a; int i; };\nenum kind%d { KIND%d_A, KIND%d_B };\n'
                                'int work%d(struct own%d *o, enum kind%d k) { return o->i + o->a->m1.member_0_1 + k; }\n'
                                '__asm__(".section .rodata\\n.skip 45000\\n.text");\n' % ((i,) * 7))
    sources["main.c"] = "int main(void) { return 0; }\n"
    return compile_all("gcc", ["-O1"], sources, os.path.join(folder, "daemon20"))


def make_raw(path):
    """@path with its debug sections as they are without compression."""
    raw = os.path.join(folder, "python.raw")
    argv = ["objcopy", "--decompress-debug-sections", path, raw]
    return raw if subprocess.run(argv).returncode == 0 else None


def late_names(path):
    """Of the names of enums and of structs that a file has, in the order in which they are first met: one after 95 of 100, and the last."""
    text = subprocess.run([walker, path, "--names"], capture_output=True, text=True).stdout
    first = dict.fromkeys(text.splitlines())
    ret = []
    for kind in ("enum ", "struct "):
        names = [n for n in first if n.startswith(kind)]
        ret += [names[len(names) * 95 // 100], names[-1]]
    return ret


def kernel_rows(path):
    enum95, enum, struct95, struct = late_names(path)
    ratios = {"libdw walk": 4, "drgn": 10, "gdb ptype": 50, "pahole -C": 200}
    row("kernel: the last enum", path, enum, ratios=ratios, memory=40)
    row("kernel: a late enum", path, enum95, False, ratios, memory=40)
    row("kernel: the last struct", path, struct, False, ratios, memory=40)
    row("kernel: a late struct", path, struct95, False, ratios, memory=40)
    row("kernel: not there", path, "struct no_such_name", False, ratios, memory=40)
    row("kernel: common", path, "struct list_head", False, memory=40)
    row("kernel: task_struct", path, "struct task_struct", False, memory=40)
    own = [btgen, "types", "-x", path]
    compare("kernel: with its closure", own + ["struct task_struct"], "printed", own + ["--json", "struct task_struct"],
            "without what it embeds", lambda a, b: verdict(a[0] <= 1.5 * b[0], "half as much again"))
    compare("kernel: all types", own + ["-l"], "btgen", [walker, path, "--all"], "libdw, the same",
            lambda a, b: "(%.1f) " % (b[0] / a[0]) + verdict(b[0] / a[0] >= 2, "1/2 of libdw"))


def main():
    if not os.path.exists(btgen):
        sys.exit("typetable.py: build btgen first")
    os.makedirs(folder, exist_ok=True)
    for program in (walker, cost):
        source = os.path.join(here, os.path.basename(program) + ".c")
        if subprocess.run(["gcc", "-O2", "-o", program, source, "-ldw", "-lelf"]).returncode:
            sys.exit("typetable.py: %s does not build" % source)
    with open(drgn_script, "w") as f:
        f.write(DRGN)
    print("One type by name: CPU ms (btgen: elapsed ms; others: times btgen's CPU), peak MB; medians of %d" % runs)
    print_row("", ["btgen"] + TOOLS, "promised")
    target = os.path.join(here, "..", "targets", "nvmf_tgt")
    row("demo target", target if os.path.exists(target) else None, "enum nvmf_tgt_state")
    places = ("/lib/x86_64-linux-gnu/libc.so.6", "/lib/aarch64-linux-gnu/libc.so.6", "/lib64/libc.so.6")
    libc = next((p for p in places if os.path.exists(p)), None)
    libc = libc and debug_file(libc)
    row("libc6-dbg (compressed)", libc, "struct malloc_state", ratios={"libdw walk": 0.7})
    row("  a name that is not there", libc, "struct no_such_name", False, {"libdw walk": 0.7})
    python = debug_file("/usr/bin/python3.11") if os.path.exists("/usr/bin/python3.11") else None
    row("python3.11-dbg (compressed)", python, "struct _typeobject", ratios={"libdw walk": 0.7})
    row("  a name that is not there", python, "struct no_such_name", False, {"libdw walk": 0.7})
    raw = python and make_raw(python)
    row("the same, not compressed", raw, "struct _typeobject", False, {"libdw walk": 0.7})
    row("  a name of one unit", raw, "struct _Py_AuditHookEntry", False, {"libdw walk": 0.7})
    row("  a name that is not there", raw, "struct no_such_name", False, {"libdw walk": 0.7})
    cxx = make_cxx()
    row("C++ program", cxx, "bench5::Late")
    row("  a name that is not there", cxx, "bench::no_such_name", False)
    daemon = make_daemon()
    row("daemon of 20 MB: common", daemon, "struct s100")
    row("  with all it embeds", daemon, "struct all", False)
    row("  in the last unit", daemon, "enum kind294", False)
    row("  a name that is not there", daemon, "struct no_such_name", False)
    clause = "uprobe:__EXE__:work5 { print(%s); }"
    compare("daemon: a clause's type", [btgen, "expand", "-x", daemon, "-e", clause % "((struct s100 *)arg0)->member_0_10"], "btgen expand",
            [btgen, "expand", "-x", daemon, "-e", clause % "arg0"], "without the type", lambda a, b: "")
    large = make_large()
    if large:
        for name in "no_such_name", "nosuch::name":
            compare("120 MB: no function " + name, [btgen, "expand", "-x", large, "-e", 'uprobe:__EXE__:"%s" { @ = count(); }' % name], "btgen",
                    ["gdb", "-nx", "-batch", "-ex", "break " + name, large], "gdb",
                    lambda a, b: verdict(a[0] <= b[0] / 3, "1/3 of gdb's CPU"))
    vmlinux = os.environ.get("BENCH_VMLINUX")
    if vmlinux:
        kernel_rows(vmlinux)
    else:
        print("%-30s BENCH_VMLINUX names none" % "kernel image")
    if os.path.exists("/sys/kernel/btf/vmlinux"):
        row("kernel BTF: common", "vmlinux", "struct list_head", btf=True)
        row("kernel BTF: task_struct", "vmlinux", "struct task_struct", btf=True)
        row("kernel BTF: not there", "vmlinux", "struct no_such_name", btf=True)
    if missed:
        print("%d promises missed in this run" % missed)


main()
