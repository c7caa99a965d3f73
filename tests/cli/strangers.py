#!/usr/bin/env python3
"""strangers.py BTGEN BPFTRACE TMP: names of a hostile program, at every position, through every command that writes.

The program is compiled with words as long as the payloads, which are then written over them in its string tables: what
compilers and headers would refuse. One file has all payloads, in sets of one name for each position. Prints TAP.
"""
import json, os, re, shutil, subprocess, sys

btgen, bpftrace, tmp = sys.argv[1:4]
top = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, top + "/tests")
from typenote import Note
number = failed = 0


def ok(good, claim, *why):
    global number, failed
    number += 1
    failed += not good
    print("%s %d - %s" % ("ok" if good else "not ok", number, claim))
    for line in why if not good else ():
        print("#   " + line[:300])


# PWN is in each that could become a word of a program, a command or markup.
PAYLOADS = [
    b'", comm); PWN("id"); printf("%s', b'"); system("PWN"); //', b"x\nBEGIN { PWN() }\n//", b'x\n#include "/PWN"\n', b"#define PWN",
    b"%sPWN%s%n%d", b"%n", b"100%", b"\x1b[31mPWN", b"\x1b]0;PWN\x07", b"\xc2\x9b31mPWN", b"\xe2\x80\xae PWN", b"\xe2\x81\xa6PWN",
    b"a\xe2\x80\xa8PWN", b"a\xe2\x80\xa9PWN", b"\xf3\xa0\x81\x81\xf3\xa0\x80\xa0PWN", b"\xff\xfePWN\x80", b"*/ PWN(); /*", b"// PWN",
    b"x } PWN { y", b"@PWN[1]", b"x:PWN", b"PWN\\", b"\\\nPWN()", b"$(PWN)", b"`PWN`", b"';PWN;'", b"PWN" + b"A" * 4093, b"operator new",
    b"operator\"\"_PWN", b"<script>PWN</script>", b"|[PWN](x)|", b"PWN\r\tPWN", b"\0",
]
assert len(PAYLOADS) == 34
POSITIONS = "PR PB EN EV ST ME UN UM TD FN PA LO AN AD DO".split()
words = {}  # the word in the source -> what is written over it


def word(i, position):
    """As long as the payload, and longer than 4 bytes, which are in string tables."""
    name = "Z%s%02d_" % (position, i)
    payload = PAYLOADS[i]
    name += "q" * (len(payload) - len(name))
    words[name.encode()] = (payload + b"q" * len(name))[: len(name)] if payload != b"\0" else payload
    return name


def source():
    out = ["#include <btgen/usdt.h>\n"]
    for i in range(len(PAYLOADS)):
        w = {p: word(i, p) for p in POSITIONS}
        out.append("""
enum %(EN)s { %(EV)s = 1, Plain%(i)d = 2 };
struct %(ST)s { struct %(ST)s *%(ME)s; enum %(EN)s mood; int k; };
union %(UN)s { int %(UM)s; long l; };
typedef struct { int k; } %(TD)s;
struct holder%(i)d { struct %(ST)s s; union %(UN)s u; %(TD)s t; enum %(EN)s e; } holder%(i)d;
USDT_DOC(honest, hit%(i)d, "%(DO)s");
__attribute__((noinline)) enum %(EN)s work%(i)d(int %(PA)s, struct %(ST)s *s, enum %(EN)s mood, const char *text)
{
	static union %(UN)s un, *u = &un;
	static %(TD)s td, *t = &td;
	int %(LO)s = %(PA)s + 1;
	USDT_PROBE(honest, hit%(i)d, s, u, t, mood, text, USDT_ARG(%(LO)s + 1, "%(AN)s", "%(AD)s"), %(LO)s);
	USDT_PROBE(%(PR)s, probe%(i)d, %(LO)s);
	USDT_PROBE(honest, %(PB)s, %(LO)s, s);
	return %(LO)s ? mood : 0;
}
__attribute__((noinline)) %(TD)s *%(FN)s(int b) { static %(TD)s t; t.k = b; return &t; }
""" % dict(w, i=i))
    out.append("int main(int argc, char **argv) { int n = 0;\n")
    for i in range(len(PAYLOADS)):
        fn = next(n for n in words if n.startswith(b"ZFN%02d_" % i)).decode()
        out.append("n += work%d(argc, 0, 1, argv[0]); n += %s(argc)->k;\n" % (i, fn))
    return "".join(out + ["return n; }\n"])


def add_note(path):
    """What `btgen embed` of 0.1 has written into such a program, with the words that become payloads."""
    all_words = [{p: word(i, p) for p in POSITIONS} for i in range(len(PAYLOADS))]
    note = Note({"enum " + w["EN"]: ("unsigned int", {w["EV"]: 1, "Plain%d" % i: 2}) for i, w in enumerate(all_words)})
    for i, w in enumerate(all_words):
        struct = "struct %s *" % w["ST"]
        note.probe("honest:hit%d" % i, s=struct, u="union %s *" % w["UN"], t="typedef %s = struct (unnamed) *" % w["TD"],
                   mood="enum " + w["EN"], text="char const *", **{w["AN"]: "int", w["LO"]: "int"})
        note.probe("%s:probe%d" % (w["PR"], i), **{w["LO"]: "int"})
        note.probe("honest:" + w["PB"], **{w["LO"]: "int", "s": struct})
    note.add_to(btgen, path)


def build():
    names, plain = tmp + "/names", tmp + "/plain"
    with open(names + ".c", "w") as f:
        f.write(source())
    subprocess.check_call(["gcc", "-O0", "-g", "-Wl,--build-id", "-I" + top + "/include", "-o", plain, names + ".c"])
    add_note(plain)
    data = open(plain, "rb").read()
    # A note's fields are read one behind the other: an empty name would be another note.
    at = re.compile(rb"Z[A-Z]{2}\d\d_q*")
    found = set()
    notes = section(plain, ".note.stapsdt")

    def payload(m):
        w = m.group()
        found.add(w)
        p = words.get(w)
        if p == b"\0":
            return w if notes[0] <= m.start() < notes[1] else p + w[1:]
        return p if p else w

    data = at.sub(payload, data)
    with open(tmp + "/evil", "wb") as f:
        f.write(data)
    os.chmod(tmp + "/evil", 0o755)
    lost = [w.decode() for w in words if w not in found]
    ok(not lost, "each of %d names is in the program" % len(words), *lost)


def section(path, name):
    for line in subprocess.check_output(["readelf", "-SW", path], text=True).splitlines():
        m = re.match(r"\s*\[ *\d+\] (\S+) +\S+ +\S+ (\S+) (\S+)", line)
        if m and m.group(1) == name:
            return int(m.group(2), 16), int(m.group(2), 16) + int(m.group(3), 16)
    sys.exit("no section " + name)


# --- what an output may have ---


def raw_bytes(out):
    """Bytes that act on a terminal, or that nobody sees."""
    try:
        text = out.decode()
    except UnicodeDecodeError as e:
        return ["not UTF-8: %r" % out[max(0, e.start - 40) : e.start + 40]]
    bad = re.search("[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\U000e0000-\U000e007f]", text)
    return ["control characters: %r" % text[max(0, bad.start() - 40) : bad.start() + 40]] if bad else []


TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.S)


def as_program(out):
    """Without its comments and strings the text of a program, or of definitions in C, has nothing of a payload."""
    text = out.decode(errors="replace")
    bad = raw_bytes(out)
    for m in TOKEN.finditer(text):
        if m.group().startswith("//") and m.group().endswith("\\"):
            bad.append("the next line is a comment: " + m.group())
    for m in re.finditer(r'printf\("((?:\\.|[^"\\])*)"', text):
        if re.search(r"%", re.sub(r"%%|%(?:s|d|c|ld|lu|lx)", "", m.group(1))) or "PWN%" in m.group(1):
            bad.append("format: " + m.group())
    bare = TOKEN.sub(lambda m: '""' if m.group()[0] == '"' else "", text)
    for line in bare.splitlines():
        # What C cannot spell is respelled: PWN may be a piece of a word, as system___PWN.
        if re.search(r"\bPWN *[()]|[@$`]\(?PWN[\[)`]|\bsystem\b|\boperator\b|<script|[^\x00-\x7f]", line):
            bad.append("program text: " + line)
        if re.match(r"\s*#", line) and not re.match(r"#(pragma pack\((push,1|pop)\)|pragma gate|include <buckets.bt>)$", line):
            bad.append("directive: " + line)
        if re.match(r"\s*(BEGIN|END)\b(?!$|-)", line) and not re.match(r"(BEGIN|END) \{ (@enum_|clear\(@enum_)", line):
            bad.append("clause: " + line)
    return bad


def as_json(out):
    bad = raw_bytes(out)
    try:
        json.loads(out.decode())
    except ValueError as e:
        bad.append("JSON: %s" % e)
    return bad


def as_text(out):
    return raw_bytes(out)


def as_shell(out):
    """sh reads it, and all that it has of a payload is the file's name, in quotes; the program is a here-document."""
    bad = [] if subprocess.run(["sh", "-n"], input=out, stderr=subprocess.DEVNULL).returncode == 0 else ["no shell script"]
    head, _, rest = out.partition(b"3<<'END-")
    m = re.match(rb"#!/bin/sh\n# Made by btgen bundle.\nfile=('.*?)\nshown=('.*?)\nversion=[0-9.]*\n(.*)", head, re.S)
    if not m or b"PWN" in m.group(3).replace(m.group(2), b"", 1):  # --builds shows it, too
        return bad + ["shell text: %r" % head]
    for word in m.group(1, 2):
        p = subprocess.run(["sh", "-c", b"printf %s " + word], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if not p.stdout.startswith(tmp.encode()) or not p.stdout.endswith((b"/evil", b"/stripped")):
            bad.append("the file is %r" % p.stdout)
    return bad + as_program(rest.split(b"\n", 1)[1])


def run(claim, look, *args):
    p = subprocess.run([btgen, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=dict(os.environ, BTGEN_CALLED_AS=""))
    bad = look(p.stdout) if p.stdout else []
    bad += ["stderr: " + b for b in raw_bytes(p.stderr)]
    if p.returncode < 0 or p.returncode > 2:
        bad.append("status %d" % p.returncode)
    if not p.stdout and not p.stderr and args[0] != "check":
        bad.append("nothing was said")
    ok(not bad, claim, *bad[:6])
    return p


build()


def all_commands(exe, what):
    x = ["-x", exe]
    one = "usdt:__EXE__:honest:hit%d"
    n = range(len(PAYLOADS))
    for text, look, *args in [
        ("probes", as_text, "probes"), ("probes -v", as_text, "probes", "-v"), ("probes --json", as_json, "probes", "--json"),
        ("doctor", as_text, "doctor"), ("doctor --json", as_json, "doctor", "--json"),
        ("run -n -t of all probes", as_program, "run", "-n", "-t", "*"),
        ("run -n -t --deep of all probes", as_program, "run", "-n", "-t", "*", "--deep", "3"),
        ("run -n -t of functions", as_program, "run", "-n", "-t", "uprobe:*work*"),
        ("run -n -t of all functions", as_program, "run", "-n", "-t", "uprobe:*"),
        ("run -n -t --deep of functions", as_program, "run", "-n", "-t", "uprobe:work*", "--deep", "3"),
        ("run -n -t of results", as_program, "run", "-n", "-t", "uretprobe:*"),
        ("run -n -t --count", as_program, "run", "-n", "-t", "honest:hit*", "--count=probe,args.mood"),
        ("run -n -t --count of each", as_program, "run", "-n", "-t", "*", "--count"),
        ("run -n --latency", as_program, "run", "-n", "--latency", "honest:hit*", "*:probe*"),
        ("doctor of the probes", as_text, "doctor", "*:*"),
    ]:
        run("%s: %s" % (what, text), look, args[0], *x, *args[1:])
    names = "".join(one % i + ' { printf("%s %d\\n", enum_name(arg3), arg3); @[enum_name(arg3)] = count(); }\n' for i in n)
    structs = "".join(one % i + " { $s = args.s; print(*args.s); @a = args.u->l; @b = args.t->k; @c = args.s->mood; }\n" for i in n)
    for i, (name, text) in enumerate((("names", names), ("structs", structs), ("any", "usdt:__EXE__:*:* { @[probe] = count(); }"),
                                      ("functions", "uprobe:__EXE__:work* { @[func] = count(); print(args.mood); }"))):
        path = "%s/s%d.bt" % (tmp, i)
        with open(path, "w") as f:
            f.write(text)
        run("%s: expand, %s" % (what, name), as_program, "expand", *x, "--force", path)
        run("%s: expand -v for 0.27, %s" % (what, name), as_program, "expand", "-v", "--for", "0.27", *x, "--force", path)
        run("%s: bundle, %s" % (what, name), as_shell, "bundle", *x, "--force", path)
        run("%s: bundle --pcp, %s" % (what, name), as_program, "bundle", "--pcp", *x, "--force", path)
        run("%s: check, %s" % (what, name), as_text, "check", *x, path)
        run("%s: check --json, %s" % (what, name), as_json, "check", "--json", *x, path)
        run("%s: check --lock, %s" % (what, name), as_text, "check", "--lock", "%s/lock" % tmp, "--update", *x, path)
        if os.path.exists(tmp + "/lock"):
            ok(not raw_bytes(open(tmp + "/lock", "rb").read()), "%s: the lock itself, %s" % (what, name))
            run("%s: check --against, %s" % (what, name), as_text, "check", "--against", "%s/lock" % tmp, "-x", tmp + "/plain", path)


def clauses(path, exe):
    """Of the program that template @path is: its attach points, as btgen wrote them and as bpftrace reads them, and calls."""
    program = path + ".program"
    with open(program, "wb") as f:
        subprocess.run([btgen, "expand", "-x", exe, path], stdout=f, stderr=subprocess.DEVNULL)
    with open(program) as f:
        written = re.findall(r"^(?:usdt|uprobe|uretprobe):.*?:(\w+)(?= |$)", f.read(), re.M)
    version = shutil.which(bpftrace) and subprocess.run([bpftrace, "--version"], stdout=subprocess.PIPE, text=True).stdout
    if not version or "v0.17." not in version:
        return written, [], set()  # later ones attach, too
    out = subprocess.run([bpftrace, "-d", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    out = out.split("AST after", 2)[1] if out.count("AST after") > 1 else out
    read = re.findall(r"^ *(?:usdt|uprobe|uretprobe):.*?:(\w+)$", out, re.M)
    return written, read, set(re.findall(r"call: (\w+)", out))


def same_clauses(patterns):
    """Written for the hostile program, and for the same with plain names."""
    found = []
    for exe in (tmp + "/plain", tmp + "/evil"):
        path = exe + ".bt"
        with open(path, "wb") as f:
            f.write(subprocess.run([btgen, "run", "-n", "-x", exe, *["-t" + p for p in patterns]], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout)
        found.append(clauses(path, exe))
    (plain, _, calls), (evil, read, evil_calls) = found
    ok(plain == evil and len(evil) >= len(PAYLOADS), "run -n -t %s: the clauses are those of the program with plain names" % patterns,
       "%s and %s" % (plain, evil))
    if os.geteuid() != 0 or not calls:
        ok(True, "run -n -t %s: bpftrace reads the same # skip only 0.17 prints its tree and stops" % patterns)
        return
    ok(set(read) == set(evil) and evil_calls <= calls, "run -n -t %s: bpftrace reads the same, and no other call" % patterns,
       "%s, %s and %s" % (read, calls, evil_calls))


def definitions(exe):
    """C that gcc reads, with the sizes and offsets of the program."""
    names = ["struct holder%d" % i for i in range(len(PAYLOADS))]
    for option in ("--assert", "--bpftrace", "--json"):
        run("types " + option, as_json if option == "--json" else as_program, "types", option, "--follow", "2", "-x", exe, *names)
    text = subprocess.run([btgen, "types", "--assert", "-x", exe, *names], stdout=subprocess.PIPE).stdout
    p = subprocess.run(["gcc", "-xc", "-fsyntax-only", "-w", "-"], input=text, stderr=subprocess.PIPE, text=False)
    ok(p.returncode == 0 and b"holder0" in text, "gcc reads the definitions, and what they assert holds", p.stderr.decode(errors="replace"))
    run("types -l", as_text, "types", "-l", "-x", exe)


def of_payload():
    """Asked for by their names, of a file in a folder that has one, too."""
    for i, payload in enumerate(PAYLOADS):
        if b"\0" in payload or len(payload) > 200:
            continue
        bad = []
        folder = os.path.join(tmp.encode(), b"d", payload.replace(b"/", b"|"))
        os.makedirs(folder)
        exe = os.path.join(folder, b"evil")
        os.link(tmp + "/evil", exe)
        for look, *args in [(as_program, b"types", b"-x", exe, payload), (as_program, b"enums", b"-x", exe, payload),
                            (as_program, b"run", b"-n", b"-x", exe, b"-t", b"uprobe:work%d" % i), (as_program, b"run", b"-n", b"-x", exe, b"-t", payload),
                            (as_text, b"probes", b"-x", exe, payload), (as_json, b"probes", b"--json", b"-x", exe, payload),
                            (as_text, b"check", b"-x", exe, b"-e", b"usdt:__EXE__:honest:hit%d { print(args.nothing) }" % i),
                            (as_text, b"doctor", b"-x", exe), *[
                                (look, command, b"-x", exe, b"-e", b"usdt:__EXE__:honest:hit%d { %s }" % (i, body))
                                for look, command in ((as_shell, b"bundle"), (as_program, b"expand"), (as_text, b"check"))
                                for body in (b"print(*args.s); print(__EXE__);", b'printf("%s %s", __EXE__, enum_name(arg3));',
                                             b"@[enum_name(arg3)] = count(); @a = args.u->l; @b = args.t->k; @c = args.s->mood;")]]:
            p = subprocess.run([btgen.encode(), *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            what = look(p.stdout) if p.stdout else []
            bad += ["%r: %s" % (args[:1] + args[-1:], w) for w in what + ["stderr: " + r for r in raw_bytes(p.stderr)]]
            if p.returncode < 0 or p.returncode > 2:
                bad.append("%r: status %d" % (args, p.returncode))
        ok(not bad, "asked for by name, in such a folder: %r" % payload[:30], *bad[:6])


all_commands(tmp + "/evil", "with DWARF")
same_clauses(["honest:hit*", "uprobe:work*"])
same_clauses(["uretprobe:work*"])
definitions(tmp + "/evil")
of_payload()
run("diff", as_text, "diff", tmp + "/plain", tmp + "/evil")
run("diff --json", as_json, "diff", "--json", tmp + "/plain", tmp + "/evil")
subprocess.check_call(["cp", tmp + "/evil", tmp + "/stripped"])
subprocess.check_call(["strip", tmp + "/stripped"])
all_commands(tmp + "/stripped", "stripped, with a note of types")
print("1..%d" % number)
sys.exit(failed > 0)
