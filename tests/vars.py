#!/usr/bin/env python3
"""Compares vars.NAME with gdb: the same variables at the same instructions of the same run.

	tests/vars.py [--btgen B] [--file ELF] [--match REGEX] [--places N] [--seed N] [--show] -- PROGRAM [ARG...]

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
import subprocess
import sys
import tempfile

GDB = r"""
import gdb, json, random
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
        return int(v.referenced_value().address) & (1 << 64) - 1
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

def look(name, ret, is_param):
    try:
        v = gdb.parse_and_eval(name)
        for path, leaf in leaves(v, name, 0):
            try:
                if leaf.is_optimized_out:
                    ret.append([path, "out", None, is_param]); continue
                n = scalar(leaf)
                ret.append([path, "other" if n is None else "value", n, is_param])
            except gdb.error as e:
                ret.append([path, "out" if "optimized out" in str(e) else "error", str(e), is_param])
    except (gdb.error, RuntimeError, OverflowError) as e:
        ret.append([name, "out" if "optimized out" in str(e) else "error", str(e), is_param])

def variables():
    ret, seen = [], set()
    frame = gdb.selected_frame()
    try:
        block = frame.block()
        inner = gdb.block_for_pc(frame.pc())
    except RuntimeError:
        return ret
    while inner and inner.function is None:
        inner = inner.superblock
    if inner is None or frame.function() is None or inner.function.name != frame.function().name:
        return ret # at the first instruction of inlined code gdb shows the caller
    while block and not block.is_global and not block.is_static:
        for s in block:
            if (s.is_variable or s.is_argument) and s.name not in seen and s.name.replace("_", "a").isalnum():
                seen.add(s.name)
                look(s.name, ret, s.is_argument)
        if block.function is not None:
            break
        block = block.superblock
    unit = [s.name for b in (frame.block().static_block, frame.block().global_block) for s in b
            if s.is_variable and s.name.replace("_", "a").isalnum() and s.name not in seen]
    for name in sorted(rnd.sample(unit, min(2, len(unit)))):
        look(name, ret, False)
    return ret

gdb.execute("starti", to_string=True)
if base() is None:
    gdb.execute("tbreak main", to_string=True)
    gdb.execute("continue", to_string=True)
start = base() if plan["moves"] else 0
where = {}
for i, (addr, function) in enumerate(plan["places"]):
    gdb.Breakpoint("*%#x" % (start + addr), temporary=True)
    where[start + addr] = i
todo = set(where)
while todo:
    try:
        gdb.execute("continue", to_string=True)
        pc = gdb.selected_frame().pc()
    except gdb.error:
        break
    if pc not in todo:
        continue
    todo.discard(pc)
    i = where[pc]
    found = variables()
    line = gdb.selected_frame().find_sal().line
    if plan["places"][i][1]: # an entry: parameters where the prologue has put them
        try:
            after = gdb.execute("tbreak %s" % plan["places"][i][1], to_string=True)
            import re
            to = int(re.search(r" at (0x[0-9a-f]+)", after).group(1), 16)
            if to == pc: # optimized code has it in registers
                raise EOFError
            gdb.execute("continue", to_string=True)
            now = gdb.selected_frame().pc()
            stored = {v[0]: v for v in variables()} if now == to else {}
            if gdb.block_for_pc(pc).function and gdb.block_for_pc(pc).function.print_name != plan["places"][i][1]:
                stored = {} # inlined code begins there
            found = [stored.get(v[0], [v[0], "error", "", v[3]]) if v[3] else v for v in found]
            todo.discard(now) # its first time has gone by
        except EOFError:
            gdb.execute("delete $bpnum")
        except (gdb.error, AttributeError):
            found = []
    out.write(json.dumps({"place": i, "line": line, "vars": found}) + "\n")
    out.flush()
out.close()
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


def clause(elf, place, number, names):
    body = "".join('\tprintf("V %d %d %%lx\\n", (uint64)vars.%s);\n' % (number, i, n) for i, n in names)
    return "uprobe:%s:%#x\n{\n\tif (@seen[%d] == 0) {\n%s\t}\n\t@seen[%d] = 1;\n}\n" % (elf, place, number, body, number)


def prune(o, target, number, names, refused):
    """Asks btgen about one clause until it has nothing against it; the reasons go to @refused."""
    while names:
        text = clause(o.file if o.file != o.program[0] else "__EXE__", target, number, names)
        path = os.path.join(o.dir, "one.bt")
        with open(path, "w") as f:
            f.write(text)
        done = run([o.btgen, "check", "-x", o.file, path])
        bad = {}
        for m in re.finditer(r"one\.bt:(\d+):\d+: error: (.*)", done.stderr):
            bad.setdefault(int(m.group(1)), m.group(2))
        if not bad:
            if done.returncode not in (0,) and "error:" in done.stderr:
                print(done.stderr, file=sys.stderr)
                return []
            return names
        keep = []
        for k, (i, n) in enumerate(names):
            if 4 + k in bad:
                refused[i] = bad[4 + k]
            else:
                keep.append((i, n))
        if len(keep) == len(names):
            if "several functions" not in done.stderr:
                print("not about a variable:", done.stderr, file=sys.stderr)
            return []
        names = keep
    return names


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


def trace(o, clauses):
    """The kernel cannot put a breakpoint on every instruction: those clauses are left out."""
    while clauses:
        got, err = trace_all(o, clauses)
        m = re.search(r"Unable to attach probe: uprobe:[^\n]*:(?:0x([0-9a-f]+)|(\d+))", err)
        address = m and (int(m.group(1), 16) if m.group(1) else int(m.group(2)))
        left = [c for c in clauses if address is None or not re.match(r"uprobe:.*:%#x\n" % address, c)]
        if got or len(left) == len(clauses):
            if not got:
                print(err[-3000:], file=sys.stderr)
            return got
        clauses = left
    return {}


def trace_all(o, clauses):
    path = os.path.join(o.dir, "all.bt")
    with open(path, "w") as f:
        f.write("\n".join(clauses))
    env = environment(o)
    done = subprocess.run(["setarch", "-R", o.btgen, "run", "--force", "-c", " ".join(o.program), path],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          errors="replace", env=env, check=False)
    got = {}
    for m in re.finditer(r"^V (\d+) (\d+) ([0-9a-f]+)$", done.stdout, re.M):
        got.setdefault((int(m.group(1)), int(m.group(2))), int(m.group(3), 16))
    return got, done.stderr


def is_moved(a, b):
    """A pointer into what the kernel has mapped, or the program has allocated there, some pages elsewhere."""
    mapped = 0x7f0000000000 < min(a, b) and max(a, b) < 0x7ffff8000000
    return mapped and ((a - b) % 4096 == 0 or abs(a - b) < 1 << 16)


def ask_gdb(o, places, moves, seed):
    plan = os.path.join(o.dir, "plan.json")
    out = os.path.join(o.dir, "gdb.out")
    with open(plan, "w") as f:
        json.dump({"places": places, "file": os.path.realpath(o.file), "out": out, "seed": seed, "moves": moves}, f)
    script = os.path.join(o.dir, "ask.py")
    with open(script, "w") as f:
        f.write("PLAN = %r\n%s" % (plan, GDB))
    env = environment(o)
    done = subprocess.run(["gdb", "-nx", "-batch", "-x", script, "--args"] + o.program, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", env=env,
                          check=False)
    if not os.path.exists(out) or os.path.getsize(out) == 0:
        print(done.stdout[-2000:], file=sys.stderr)
        return []
    with open(out) as f:
        return [json.loads(line) for line in f]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--btgen", default="build/btgen")
    p.add_argument("--file")
    p.add_argument("--match", default=".")
    p.add_argument("--places", type=int, default=60)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--show", action="store_true", help="name what is refused")
    p.add_argument("program", nargs="+")
    o = p.parse_args()
    o.btgen = os.path.abspath(o.btgen)
    o.program[0] = os.path.realpath(o.program[0])
    o.file = os.path.realpath(o.file or o.program[0])
    rnd = random.Random(o.seed)
    moves = "DYN" in run(["readelf", "-h", o.file]).stdout
    functions = instructions(o.file, o.match)
    with tempfile.TemporaryDirectory() as o.dir:
        build_lock(o)
        # Most of a program's code is not reached: gdb sorts that out.
        names = sorted(functions)
        places = {}
        for _ in range(o.places * 4):
            name = rnd.choice(names)
            addr = rnd.choice(functions[name]) if rnd.random() < 0.9 else functions[name][0]
            places[addr] = name if addr == functions[name][0] else ""
        places = sorted(places.items())
        seen = ask_gdb(o, places, moves, o.seed)
        seen = rnd.sample(seen, min(len(seen), o.places))
        count, reasons, clauses, expected = collections.Counter(), collections.Counter(), [], {}
        for s in seen:
            wanted = [(i, v[0]) for i, v in enumerate(s["vars"]) if v[1] in ("value", "out")]
            refused = {}
            left = prune(o, places[s["place"]][0], s["place"], wanted, refused)
            for i, n in wanted:
                v = s["vars"][i]
                if i in refused and v[1] == "out":
                    count["optimized out"] += 1
                elif i in refused:
                    count["refused"] += 1
                    reasons[reason(refused[i])] += 1
                    if o.show:
                        print("refused %#x line %d %s: %s" % (places[s["place"]][0], s["line"], n, refused[i]))
            if left:
                clauses.append(clause(o.file if o.file != o.program[0] else "__EXE__", places[s["place"]][0], s["place"], left))
                for i, n in left:
                    expected[s["place"], i] = (n, s)
        got = trace(o, clauses) if clauses else {}
        again = {}
        for key, (n, s) in expected.items():
            v = s["vars"][key[1]]
            addr = places[key[0]][0]
            if key not in got:
                count["not traced"] += 1
            elif v[1] == "out":
                count["gdb has none"] += 1
                print("only btgen: %#x line %d %s = %#x" % (addr, s["line"], n, got[key]))
            elif got[key] == v[2] or is_moved(got[key], v[2]):
                count["compared"] += 1
            else:
                # What differs between two runs of gdb, too, is nobody's: time, random numbers, what was never set.
                again = again or {a["place"]: {x[0]: x[2] for x in a["vars"]} for a in ask_gdb(o, places, moves, o.seed)}
                if again.get(key[0], {}).get(n) != v[2]:
                    count["changes"] += 1
                    continue
                count["compared"] += 1
                count["wrong"] += 1
                print("wrong: %#x line %d %s: gdb %#x, btgen %#x" % (addr, s["line"], n, v[2], got[key]))
    readable = count["compared"] + count["refused"]
    print("%s: %d places, compared %d, wrong %d, refused %d, optimized out %d, not traced %d, changing %d, only btgen %d; readable %d%%" % (
        os.path.basename(o.file), len(seen), count["compared"], count["wrong"], count["refused"], count["optimized out"],
        count["not traced"], count["changes"], count["gdb has none"], 100 * count["compared"] // max(readable, 1)))
    for why, n in reasons.most_common(12):
        print("  refused %d: %s" % (n, why))
    return count["wrong"] > 0


if __name__ == "__main__":
    sys.exit(main())
