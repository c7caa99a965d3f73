#!/usr/bin/env python3
"""Compares vars.NAME with gdb: the same variables at the same instructions of the same run.

	tests/gdb/variables.py [--btgen B] [--file ELF] [--match REGEX] [--places N] [--seed N] [--show] -- PROGRAM [ARG...]

Picks instructions of functions with debug information at random, stops there with gdb, and asks it for the
parameters and locals around and some globals of the unit. Then btgen traces the same run: each place is a
clause that prints what it can read. A variable that btgen refuses is counted with the reason, one that
gdb shows and btgen reads otherwise is wrong. Needs root, gdb, objdump, setarch, and a program that does
the same in each run. Exit status 1: something was wrong.
"""
import argparse
import bisect
import collections
import json
import os
import random
import re
import resource
import subprocess
import sys
import tempfile

GDB = r"""
import gdb, json, random, re
plan = json.load(open(PLAN))
rnd = random.Random(plan["seed"])
gdb.execute("set pagination off"); gdb.execute("set confirm off"); gdb.execute("set startup-with-shell off")
gdb.execute("set width 0"); gdb.execute("set debuginfod enabled off", to_string=True)
gdb.execute("unset environment LINES"); gdb.execute("unset environment COLUMNS")
gdb.execute("set breakpoint pending on"); gdb.execute("handle all nostop noprint pass", to_string=True)
gdb.execute("handle SIGTRAP stop", to_string=True)
out = open(plan["out"], "w")

def base():
    for line in gdb.execute("info proc mappings", to_string=True).splitlines():
        part = line.split()
        if len(part) >= 5 and part[-1] == plan["file"] and int(part[3], 16) == 0:
            return int(part[0], 16)
    return None

def scalar(v):
    t = v.type.strip_typedefs()
    if t.code == gdb.TYPE_CODE_REF:
        at = v.referenced_value().address
        return None if at is None else int(at) & (1 << 64) - 1 # what it refers to has no address
    if t.code not in (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_CHAR, gdb.TYPE_CODE_BOOL, gdb.TYPE_CODE_ENUM, gdb.TYPE_CODE_PTR):
        return None
    if t.sizeof > 8:
        return None
    return int(v) & (1 << 64) - 1

def leaves(v, path, depth):
    t = v.type.strip_typedefs()
    if t.code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
        fields = [f for f in t.fields() if f.name and not f.is_base_class and hasattr(f, "bitpos") and not f.bitsize
                  and "." not in f.name and "<" not in f.name]
        rnd.shuffle(fields)
        for f in fields[:2]:
            if depth < 4:
                yield from leaves(v[f], path + "." + f.name, depth + 1)
        return
    if t.code == gdb.TYPE_CODE_ARRAY:
        low, high = t.range()
        if high >= low and high - low < 4096 and depth < 4:
            i = rnd.randint(low, high)
            yield from leaves(v[i], "%s[%d]" % (path, i), depth + 1)
        return
    yield path, v

def look(name, get, ret, about):
    try:
        for path, leaf in leaves(get(), name, 0):
            try:
                if leaf.is_optimized_out:
                    ret.append(dict(about, path=path, kind="out")); continue
                n = scalar(leaf)
                ret.append(dict(about, path=path, kind="other" if n is None else "value", value=n))
            except gdb.error as e:
                ret.append(dict(about, path=path, kind="out" if "optimized out" in str(e) else "error"))
    except (gdb.error, RuntimeError, OverflowError) as e:
        ret.append(dict(about, path=name, kind="out" if "optimized out" in str(e) else "error"))

def base_name(symtab):
    return symtab.filename.rsplit("/", 1)[-1] if symtab else ""

# The functions around, inlined ones too, innermost first: each with its blocks.
def functions_at(pc):
    ret, blocks, block = [], [], gdb.block_for_pc(pc)
    while block and block.start <= pc < block.end and not block.is_global and not block.is_static: # lambdas are below functions that do not run
        blocks.append(block)
        if block.function is not None:
            ret.append((block.function, blocks))
            blocks = []
        block = block.superblock
    return ret

# File and line where each function is declared, innermost first. Of inlined code gdb has those of the call, and with -flto other files:
# what the sources have counts, for lambdas the first line of what is in them, the last of their text and the file of what is around.
def declarations(around):
    ret = []
    for function, blocks in reversed(around):
        own = [(base_name(s.symtab), s.line) for block in blocks for s in block if s.line and s.type.code != gdb.TYPE_CODE_FUNC]
        file, line = min(own, key=lambda one: one[1], default=(base_name(function.symtab), function.line))
        known = plan["declared"].get(re.sub(r"[(<].*", "", function.name))
        if "operator()" in function.name and plan["declared"] and ret:
            file = ret[-1][0]
        elif known:
            file, line = known
        ret.append((file, line, plan["lambdas"].get("%s:%d" % (file, line), 1 << 30)))
    return ret[::-1]

# The one whose text the line is: declared in its file, not after it, the last of those; the innermost where there is none.
def written_function(declared, wanted, line):
    best, last = 0, 0
    for i, (file, at, end) in enumerate(declared):
        if wanted and file == wanted and last < at <= line <= end:
            best, last = i, at
    return best

# Symbols are objects that are made anew each time.
def is_same(a, b):
    return a is not None and (a.name, a.line) == (b.name, b.line)

# A compiler can describe values wrongly: what it says of a place that holds for all of a function is no description.
def is_listed(function, name):
    frame = gdb.newest_frame()
    while frame and not is_same(frame.function(), function):
        frame = frame.older()
    if not frame:
        return False
    frame.select()
    try:
        said = gdb.execute("info address " + name, to_string=True)
    except gdb.error: # it reads what it cannot describe
        said = ""
    gdb.newest_frame().select()
    return "multi-location" in said or "optimized out" in said # in parts, or there alone

def variables(pc, file, line):
    ret, seen = [], set()
    frame = gdb.newest_frame()
    try:
        around = functions_at(pc)
    except RuntimeError:
        return ret
    declared = declarations(around)
    start = written_function(declared, file, line)
    for i, (function, blocks) in enumerate(around):
        if i < start:
            continue
        now = line if i == start else around[i - 1][0].line # of inlined code the line of the call
        later = set() # what the line comes before is not in scope there, and hides what is further out all the same
        for s in (s for block in blocks for s in block):
            if not (s.is_variable or s.is_argument or s.is_constant) or s.name in seen or not s.name.replace("_", "a").isalnum():
                continue
            if file and (s.is_variable or s.is_constant) and s.line > now and s.line - declared[i][1] < 4096:
                later.add(s.name)
                continue
            seen.add(s.name)
            look(s.name, lambda: s.value(frame) if s.needs_frame else s.value(), ret,
                 {"is_param": s.is_argument, "function": function.name, "is_listed": is_listed(function, s.name)})
        seen |= later
    static = gdb.block_for_pc(pc).static_block
    unit = [s.name for b in (static, static.superblock) for s in b
            if s.is_variable and s.name.replace("_", "a").isalnum() and s.name not in seen]
    for name in sorted(rnd.sample(unit, min(2, len(unit)))):
        look(name, lambda: gdb.parse_and_eval("'%s'" % name), ret, {"is_param": False, "function": "", "is_listed": False})
    return ret

gdb.execute("starti", to_string=True)
if base() is None:
    gdb.execute("tbreak main", to_string=True)
    gdb.execute("continue", to_string=True)
start = base() if plan["moves"] else 0
where = {}
for i, place in enumerate(plan["places"]):
    if start + place["address"] not in where:
        gdb.Breakpoint("*%#x" % (start + place["address"]), temporary=True)
    where.setdefault(start + place["address"], []).append(i)
todo = set(where)

# At an entry: parameters where the prologue has put them.
def passed(pc, symbol, found):
    try:
        found = [v for v in found if v["is_param"] or not v["function"]] # of locals gdb shows what is before its first line
        after = gdb.execute("tbreak %s" % symbol, to_string=True)
        to = int(re.search(r" at (0x[0-9a-f]+)", after).group(1), 16)
        if to == pc: # optimized code has it in registers
            gdb.execute("delete $bpnum")
            return found
        gdb.execute("continue", to_string=True)
        now = gdb.newest_frame().pc()
        todo.discard(now) # its first time has gone by
        stored = {(v["path"], v["function"]): v for v in variables(now, "", 0)} if now == to else {} # not those of inlined code
        return [stored.get((v["path"], v["function"]), dict(v, kind="error")) if v["is_param"] else v for v in found]
    except (gdb.error, AttributeError):
        return []

while todo:
    try:
        gdb.execute("continue", to_string=True)
        pc = gdb.newest_frame().pc()
    except gdb.error:
        break
    if pc not in todo:
        continue
    todo.discard(pc)
    found = {}
    for i in where[pc]:
        place = plan["places"][i]
        found[i] = variables(pc, place["file"], place["line"])
    for i in where[pc]:
        place = plan["places"][i]
        if place["entry"]:
            found[i] = passed(pc, place["entry"], found[i]) if i == where[pc][0] else []
        out.write(json.dumps({"place": i, "vars": found[i]}) + "\n")
        out.flush()
out.close()
if gdb.selected_inferior().pid:
    gdb.execute("kill", to_string=True)
gdb.execute("quit")
"""


def run(args, **kw):
    return subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
                          errors="replace", check=False, **kw)


def symbols(elf):
    """Sorted addresses and names of functions, those of the debug file where the file is stripped."""
    text = run(["nm", elf]).stdout
    build_id = re.search(r"Build ID: ([0-9a-f]+)", run(["readelf", "-n", elf]).stdout)
    if not text and build_id:
        text = run(["nm", "/usr/lib/debug/.build-id/%s/%s.debug" % (build_id[1][:2], build_id[1][2:])]).stdout
    return sorted({int(m[1], 16): m[2] for m in re.finditer(r"^([0-9a-f]+) [tTwW] (\S+)$", text, re.M)}.items())


def instructions(elf, match):
    """Function -> addresses of its instructions."""
    ret, known = {}, symbols(elf)
    starts = [a for a, _ in known]
    for m in re.finditer(r"^ +([0-9a-f]+):\s+(\S+)", run(["objdump", "-d", "--no-show-raw-insn", elf]).stdout, re.M):
        address = int(m[1], 16)
        i = bisect.bisect_right(starts, address) - 1
        # A breakpoint on what traps itself is another thing.
        if i >= 0 and re.search(match, known[i][1]) and m[2] not in ("int3", "ud2", "hlt", "(bad)"):
            ret.setdefault(known[i][1], []).append(address)
    return ret


def attach_point(o, place):
    elf = o.file if o.file != o.program[0] else "__EXE__"
    return "uprobe:%s@%s:%d" % (elf, place["file"], place["line"]) if place["file"] else "uprobe:%s:%#x" % (elf, place["address"])


def label(point):
    return re.split("[@:]", point, maxsplit=2)[2]


def clauses_of(o, asked):
    """One for each attach point; the text, and of each of its lines which variable it prints."""
    text, about = [], []
    for number, (point, names) in enumerate(sorted(asked.items())):
        head = [point, "{", '\t$ip = reg("ip");', "\tif (@seen[%d, $ip] == 0) {" % number]
        body = ['\t\tprintf("V %s %%lx %s %%lx\\n", $ip, (uint64)vars.%s);' % (label(point), n, n) for n in names]
        text += head + body + ["\t}", "\t@seen[%d, $ip] = 1;" % number, "}"]
        about += [None] * len(head) + [(point, n) for n in names] + [None] * 3
    return text, about


def write(o, text):
    path = os.path.join(o.dir, "all.bt")
    with open(path, "w") as f:
        f.write("\n".join(text) + "\n")
    return path


def prune(o, asked):
    """Asks btgen until it has nothing against any of them; returns the reasons for those that it refuses."""
    refused = {}
    while any(asked.values()):
        asked = {point: names for point, names in asked.items() if names}
        text, about = clauses_of(o, asked)
        done = run([o.btgen, "check", "--json", "-x", o.file, write(o, text)])
        bad = {}
        for m in json.loads(done.stdout or "[]"):
            if m["severity"] == "error":
                bad.setdefault(m["line"] - 1, m["text"])
        if not bad:
            return asked, refused
        for at, why in bad.items():
            if about[at] is None:
                point = text[at]
                print("not about a variable: %s: %s" % (point, why), file=sys.stderr)
                asked.pop(point, None)
            elif about[at][0] in asked:
                refused[about[at]] = why
                asked[about[at][0]].remove(about[at][1])
    return {}, refused


def reason(text):
    return re.sub(r"line \d+", "a later line", re.sub(r"^cannot read variable .*?: (?=[a-z])", "", text)) \
        if text.startswith("cannot read") else re.sub(r"variable \S+ at .*", "variable", text)


def environment(o):
    """The same for both runs: what is on the stack, and with it all addresses, depends on it."""
    env = {k: v for k, v in os.environ.items() if k.startswith("BTGEN_") or k == "HOME"}
    return dict(env, PATH=os.environ["PATH"], LD_PRELOAD=os.path.join(o.dir, "lock.so"),
                PYTHONHASHSEED="0")


LOCK = r"""
#include <stdio.h>
#include <sys/mman.h>
__attribute__((constructor)) static void prepare(void)
{
	char line[512];
	int is_traced = 0;
	FILE *f = fopen("/proc/self/status", "r");
	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "TracerPid: %d", &is_traced);
	if (f)
		fclose(f);
	void *hole = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!is_traced)
		munmap(hole, 4096);
	mlockall(MCL_CURRENT | MCL_FUTURE);
}
"""


def build_lock(o):
    """A library that makes the two runs alike.

    All pages are in memory: a probe reads 0 where the program has not touched a page yet, gdb does not. The
    kernel maps a page for uprobes at the first that needs it: there is a hole for it, which gdb's run fills.
    """
    with open(os.path.join(o.dir, "lock.c"), "w") as f:
        f.write(LOCK)
    run(["cc", "-shared", "-fPIC", "-o", o.dir + "/lock.so", o.dir + "/lock.c"])


def trace(o, asked, refused):
    """Runs it. The kernel cannot put a breakpoint on every instruction: those clauses are left out. (address, variable) -> value"""
    while asked:
        text, about = clauses_of(o, asked)
        done = subprocess.run(["setarch", "-R", o.btgen, "run", "--force", "-c", " ".join(o.program), write(o, text)],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              errors="replace", env=environment(o), check=False)
        got = {}
        for m in re.finditer(r"^V (\S+) ([0-9a-f]+) (\S+) ([0-9a-f]+)$", done.stdout, re.M):
            got.setdefault((m[1], int(m[2], 16) - o.start, m[3]), int(m[4], 16))
        if got:
            return got
        bad = [about[int(n) - 1] for n in re.findall(r"all\.bt:(\d+):\d+: error: bpftrace: Cannot cast", done.stderr)]
        if any(bad):
            refused.update({one: "it is another variable, a struct" for one in bad})
            asked = {point: [n for n in names if (point, n) not in bad] for point, names in asked.items()}
            continue
        m = re.search(r"Unable to attach probe: uprobe:[^\n]*:(?:0x([0-9a-f]+)|(\d+))", done.stderr)
        address = m and (m[1] or "%x" % int(m[2]))
        left = {point: names for point, names in asked.items() if not address or not point.endswith(":0x" + address)}
        if len(left) == len(asked):
            print(done.stderr[-3000:], file=sys.stderr)
            return {}
        asked = left
    return {}


def declared_in(folder):
    """Of the sources in @folder that generate.py has written: function -> file and line, and "file:line" of a lambda -> its last line."""
    ret, lambdas = {}, {}
    for name in os.listdir(folder) if folder else []:
        begun = {}  # by indentation
        with open(os.path.join(folder, name), errors="replace") as f:
            for i, line in enumerate(f if re.search(r"\.(c|cpp|h)$", name) else []):
                m = re.match(r"[a-z].*\b(\w+)\([^;]*\)$", line)
                indented = re.match(r"\t*", line)[0]
                if m:
                    ret[m[1]] = (name, i + 1)
                elif re.search(r"\[&\]\(.*\{$", line):
                    begun[indented] = i + 1
                elif line.startswith(indented + "};") and indented in begun:
                    lambdas[f"{name}:{begun.pop(indented)}"] = i + 1
    return ret, lambdas


def is_moved(a, b):
    """A pointer into what the kernel has mapped, or the program has allocated there, some pages elsewhere."""
    mapped = 0x7f0000000000 < min(a, b) and max(a, b) < 0x7ffff8000000
    return mapped and ((a - b) % 4096 == 0 or abs(a - b) < 1 << 16)


def ask_gdb(o, places, moves, seed):
    plan = os.path.join(o.dir, "plan.json")
    out = os.path.join(o.dir, "gdb.out")
    declared, lambdas = declared_in(o.sources)
    with open(plan, "w") as f:
        json.dump({"declared": declared, "lambdas": lambdas, "places": places, "file": os.path.realpath(o.file), "out": out, "seed": seed, "moves": moves}, f)
    script = os.path.join(o.dir, "ask.py")
    with open(script, "w") as f:
        f.write("PLAN = %r\n%s" % (plan, GDB))
    env = environment(o)
    done = subprocess.run(["gdb", "-nx", "-batch", "-x", script, "--args"] + o.program, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", env=env,
                          cwd=o.dir, check=False, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)))
    if done.returncode < 0:  # what it has answered until then is not all
        sys.exit("gdb was ended by signal %d:\n%s" % (-done.returncode, done.stdout[-2000:]))
    if "Traceback" in done.stdout or not os.path.exists(out) or os.path.getsize(out) == 0:
        print(done.stdout[-2000:], file=sys.stderr)
        return []
    with open(out) as f:
        return [json.loads(line) for line in f]


def by_instruction(o, rnd):
    """Most of a program's code is not reached: gdb sorts that out."""
    functions, ret = instructions(o.file, o.match), {}
    names = sorted(functions)
    for _ in range(o.places * 4):
        name = rnd.choice(names)
        address = rnd.choice(functions[name]) if rnd.random() < 0.9 else functions[name][0]
        ret[address] = {"address": address, "file": "", "line": 0, "entry": name if address == functions[name][0] else ""}
    return [ret[a] for a in sorted(ret)]


def by_line(o, rnd):
    """Random lines of the files that match, and the addresses that btgen has for them."""
    rows = run(["objdump", "-W", "--dwarf=decodedline", o.file]).stdout
    known = sorted({(os.path.basename(m[1]), int(m[2])) for m in re.finditer(r"^(\S+) +(\d+) +0x[0-9a-f]+", rows, re.M) if re.search(o.lines, os.path.basename(m[1]))})
    entries = {a: name for a, name in symbols(o.file)}
    chosen = sorted(rnd.sample(known, min(len(known), o.places * 2)))
    while chosen:
        text = ['uprobe:__EXE__@%s:%d { printf("P%d") }' % (*line, i) for i, line in enumerate(chosen)]
        path = write(o, text)
        bad = {m["line"] - 1 for m in json.loads(run([o.btgen, "check", "--json", "-x", o.file, path]).stdout or "[]")
               if m["severity"] == "error"}
        if not bad:
            break
        chosen = [line for i, line in enumerate(chosen) if i not in bad]
    ret, at = [], {name: a for a, name in entries.items()}
    points = []
    for m in re.finditer(r'^(uprobe:.*?) ?\{|"P(\d+)"', run([o.btgen, "expand", "-x", o.file, path]).stdout, re.M):
        points = m[1] and re.findall(r'uprobe:[^\s:]*:"?([^\s,":]+)', m[1]) or points # clauses of the same points are one
        file, line = chosen[int(m[2] or 0)]
        for where in points if m[2] else []:
            address = int(where, 16) if where.startswith("0x") else at.get(where)
            if address is not None:
                ret.append({"address": address, "file": file, "line": line, "entry": entries.get(address, ""), "others": len(points) - 1})
    return ret


def read_log(path):
    """What each function was called with, as the program itself has written it: (function, parameter) -> values."""
    ret = {}
    for line in open(path) if path else []:
        part = line.split()
        if len(part) == 3:
            ret.setdefault((part[0], part[1]), set()).add(int(part[2]) & (1 << 64) - 1)
    return ret


class Judge:
    def __init__(self, o, places):
        self.o, self.places = o, places
        self.count, self.reasons = collections.Counter(), collections.Counter()
        self.log = read_log(o.log)
        self.again = None

    def ask(self):
        return ask_gdb(self.o, self.places, self.o.moves, self.o.seed)

    def show(self, what, place, v, more):
        print("%s: %#x %s:%d %s: %s" % (what, place["address"], place["file"], place["line"], v["path"], more))

    def has_changed(self, s, v):
        """What differs between two runs of gdb, too, is nobody's: time, random numbers, what was never set."""
        if self.again is None:
            self.again = {(a["place"], x["path"]): x.get("value") for a in self.ask() for x in a["vars"]}
        return self.again.get((s["place"], v["path"])) != v["value"]

    def refuse(self, place, v, why):
        if v["kind"] == "out":
            self.count["optimized out"] += 1
            return
        # What one of a line's places does not have is refused at all of them.
        self.count["refused at several" if place.get("others") else "refused"] += 1
        if place.get("others"):
            return
        self.reasons[reason(why)] += 1
        if self.o.show:
            self.show("refused", place, v, why)

    def compare(self, s, place, v, value):
        passed = self.log.get((re.sub(r"\([^:]*$", "", v["function"]), v["path"])) if v["is_param"] else None
        if passed and value not in passed and v["is_listed"] and value == v.get("value"):
            self.count["the compiler is wrong"] += 1
        elif passed and value not in passed:
            self.count["compared"] += 1
            self.count["wrong"] += 1
            self.show("wrong", place, v, "btgen %#x was never passed%s" % (value, ", gdb the same" if value == v.get("value") else ""))
        elif v["kind"] == "out":
            self.count["gdb has none"] += 1
            self.show("only btgen", place, v, "%#x" % value)
        elif value == v["value"] or is_moved(value, v["value"]) or passed:
            self.count["compared"] += 1
        elif self.has_changed(s, v):
            self.count["changes"] += 1
        else:
            self.count["compared"] += 1
            self.count["wrong"] += 1
            self.show("wrong", place, v, "gdb %#x, btgen %#x" % (v["value"], value))

    def judge(self, seen):
        asked, expected = {}, []
        for s in seen:
            place = self.places[s["place"]]
            for v in s["vars"]:
                if v["kind"] in ("value", "out") and not (place["file"] and not v["function"]):
                    point = attach_point(self.o, place)
                    names = asked.setdefault(point, [])
                    names += [v["path"]] if v["path"] not in names else []
                    expected.append((point, s, v))
        asked, refused = prune(self.o, asked)
        got = trace(self.o, asked, refused)
        for point, s, v in expected:
            place = self.places[s["place"]]
            key = (label(point), place["address"], v["path"])
            if (point, v["path"]) in refused:
                self.refuse(place, v, refused[point, v["path"]])
            elif key not in got:
                self.count["not traced"] += 1
            else:
                self.compare(s, place, v, got[key])

    def report(self, n_places):
        c = self.count
        readable = c["compared"] + c["refused"]
        print("%s: %d places, compared %d, wrong %d, refused %d, optimized out %d, not traced %d, changing %d, only btgen %d; readable %d%%" % (
            os.path.basename(self.o.file), n_places, c["compared"], c["wrong"], c["refused"], c["optimized out"],
            c["not traced"], c["changes"], c["gdb has none"], 100 * c["compared"] // max(readable, 1)))
        for why, n in self.reasons.most_common(12):
            print("  refused %d: %s" % (n, why))


def judge(o):
    rnd = random.Random(o.seed)
    o.btgen = os.path.abspath(o.btgen)
    o.program[0] = os.path.realpath(o.program[0])
    o.file = os.path.realpath(o.file or o.program[0])
    o.moves = "DYN" in run(["readelf", "-h", o.file]).stdout
    o.start = 0x555555554000 if o.moves else 0
    with tempfile.TemporaryDirectory() as o.dir:
        build_lock(o)
        ret = Judge(o, by_line(o, rnd) if o.lines else by_instruction(o, rnd))
        seen = ret.ask()
        seen = rnd.sample(seen, min(len(seen), o.places))
        ret.judge(seen)
        ret.report(len(seen))
    return ret


def options():
    p = argparse.ArgumentParser()
    p.add_argument("--btgen", default="build/btgen")
    p.add_argument("--file")
    p.add_argument("--match", default=".")
    p.add_argument("--lines", help="lines of the files that match this instead of instructions")
    p.add_argument("--log", help="what the program itself has logged of its parameters")
    p.add_argument("--sources", help="folder of generate.py's sources")
    p.add_argument("--places", type=int, default=60)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--show", action="store_true", help="name what is refused")
    p.add_argument("program", nargs="+")
    return p


if __name__ == "__main__":
    sys.exit(judge(options().parse_args()).count["wrong"] > 0)
