"""Cases for templates: what a template becomes, or what is said about it. tests/cli/templates/README.md has their form.

TEMPLATES_UPDATE=1 writes what is said now into the files; git diff is the review. TEMPLATES=REGEX runs the cases whose
name it matches. Without it each case is made for one of the versions that it is for, each day for the next one, as THIRD of lib.sh
says (0 to 2); THIRD=all makes it for all.
"""

import glob
import os
import re
import subprocess
import sys
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BTGEN = os.path.join(os.environ.get("BTGEN_BUILD", os.path.join(TOP, "build")), "btgen")
SAID = {"ERROR": "error", "WARNING": "warning", "NOTE": "note"}
THIRD = os.environ.get("THIRD") or ("all" if os.environ.get("TEMPLATES") else str(time.localtime().tm_yday % 3))
n_tests = n_failed = 0


def claim(good, name, remarks=()):
    """One line of TAP, with remarks below a failure."""
    global n_tests, n_failed
    n_tests += 1
    n_failed += not good
    print("%sok %d - %s" % ("" if good else "not ", n_tests, name))
    for remark in [] if good else remarks:
        print("#   " + remark)
    return good


def target_file(name, cases, folder):
    """The program that TARGET names: of tests/targets, or built of a source beside the cases. `strip NAME` is stripped."""
    if name.startswith("strip "):
        stripped = os.path.join(folder, "stripped-" + os.path.basename(name[6:]))
        subprocess.run(["strip", "-o", stripped, target_file(name[6:], cases, folder)], check=True)
        return stripped
    source = os.path.join(cases, name)
    if not os.path.exists(source):
        return os.path.join(TOP, "tests/targets", name)
    program = os.path.join(folder, name.rsplit(".", 1)[0])
    # C17: in C23, gcc 15's own, _Bool is another type, bool
    compiler = os.environ.get("CXX", "g++") if name.endswith(".cc") else os.environ.get("CC", "gcc") + " -std=gnu17"
    subprocess.run([*compiler.split(), "-O1", "-g", "-I", os.path.join(TOP, "include"), "-o", program, source],
                   check=True, cwd=folder)  # where it is built is in its debug information
    return program


def as_written(line, target, cases):
    """A line of standard error in the words of a case; None for the template's line and its caret."""
    if line.startswith("    "):
        return None
    if target:
        line = line.replace(target, "__EXE__").replace(cases + "/", "")
    found = re.match(r"(?:btgen: |<command line>:(\d+:\d+): )(error|warning|note): (.*)", line)
    if not found:
        return "SAYS " + line
    return " ".join(filter(None, [found[2].upper(), found[1], found[3]]))


def expand(command, cases, prog, version, settings, target):
    """Status, lines of the program, and what is said."""
    words = [BTGEN, command, *settings["WITH"].split(), "--for", version, *(["-x", target] if target else []), "-e", prog]
    result = subprocess.run(words, capture_output=True, text=True)
    program = result.stdout.replace(target, "__EXE__") if target else result.stdout
    said = [as_written(line, target, cases) for line in result.stderr.splitlines()]
    return result.returncode, program.splitlines(), [line for line in said if line]


def differs(command, cases, case, version, settings, target):
    """What is not as the case has it, a list of remarks."""
    status, program, said = expand(command, cases, "\n".join(case["PROG"]), version, settings, target)
    remarks = []
    if said != case["said"]:
        remarks += ["said for %s:" % version, *said]
    if status != any(line.startswith("ERROR") for line in case["said"]):
        remarks.append("status %d for %s" % (status, version))
    at = 0
    whole = " ".join(" ".join(case["BECOMES"]).split())
    if whole and " ".join(" ".join(program).split()) != whole:
        remarks += ["for %s it becomes" % version, *program]
    for line in case["LINE"]:
        if line not in program[at:]:
            remarks += ["for %s there is no line %s, but" % (version, line), *program]
            break
        at = program.index(line, at) + 1
    return remarks


def new_case(name, prog, number):
    return {"NAME": name, "PROG": prog, "LINE": [], "BECOMES": [], "NEEDS": [], "said": [], "line": number}


def read_cases(path):
    """(settings, case) for each case of a file; a case is a dict with the lines of each keyword."""
    settings, cases = {"TARGET": None, "FOR": "0.17 0.23 0.27", "WITH": ""}, []
    in_case = False
    for number, line in enumerate(open(path), 1):
        keyword, _, rest = line.rstrip("\n").partition(" ")
        in_case = in_case and bool(keyword)
        if keyword in settings:
            settings = {**settings, keyword: rest}
        elif keyword == "NAME":
            cases.append((settings, new_case(rest, [], number)))
        elif keyword == "PROG" and (not cases or not in_case):
            cases.append((settings, new_case(rest, [rest], number)))
        elif keyword in ("PROG", "LINE", "BECOMES", "NEEDS"):
            cases[-1][1][keyword].append(rest)
        elif keyword in SAID or keyword == "SAYS":
            cases[-1][1]["said"].append(line.rstrip("\n"))
        elif line.strip() and not line.startswith("#"):
            sys.exit("%s:%d: %s is no keyword: see README.md" % (path, number, keyword))
        in_case = in_case or keyword in ("NAME", "PROG")
    return cases


def lacks(case):
    """The file that the case needs and this machine does not have."""
    return next((path for path in case["NEEDS"] if not os.access(path, os.R_OK)), None)


def update(command, path, cases, target_of):
    """Writes what is said now, for the first version of each case, behind its PROG."""
    lines = open(path).read().split("\n")
    for settings, case in reversed(cases):
        at = case["line"]
        end = at
        while end < len(lines) and lines[end]:
            end += 1
        _, _, said = expand(command, os.path.dirname(path), "\n".join(case["PROG"]), settings["FOR"].split()[0],
                            settings, target_of[settings["TARGET"]])
        kept = [line for line in lines[at:end] if line.partition(" ")[0] not in (*SAID, "SAYS")]
        lines[at:end] = kept + said
    with open(path, "w") as file:
        file.write("\n".join(lines))


def run(folder, command):
    """Runs all cases of tests/FOLDER through `btgen COMMAND`; the exit status."""
    cases_in = os.path.join(TOP, "tests", folder)
    if THIRD != "all":
        print("# each case for one of its versions: THIRD=%s; for all: THIRD=all" % THIRD)
    with tempfile.TemporaryDirectory(prefix="btgen-test.") as private:
        target_of = {None: None}
        for path in sorted(glob.glob(os.path.join(cases_in, "*.cases"))):
            cases = read_cases(path)
            for name in {settings["TARGET"] for settings, _ in cases} - set(target_of):
                target_of[name] = target_file(name, cases_in, private)
            if os.environ.get("TEMPLATES_UPDATE"):
                update(command, path, cases, target_of)
                cases = read_cases(path)
            for settings, case in cases:
                if not re.search(os.environ.get("TEMPLATES", ""), case["NAME"]):
                    continue
                target = target_of[settings["TARGET"]]
                if target and target.startswith(TOP) and b"stapsdt" not in open(target, "rb").read():
                    claim(True, case["NAME"] + " # SKIP built with --without-usdt")
                    continue
                if lacks(case):
                    claim(True, "%s # SKIP no %s here" % (case["NAME"], lacks(case)))
                    continue
                remarks, versions = [], settings["FOR"].split()
                if THIRD != "all":
                    versions = [versions[(n_tests + int(THIRD)) % len(versions)]]
                for version in versions:
                    remarks = remarks or differs(command, cases_in, case, version, settings, target)
                where = "%s:%d" % (os.path.relpath(path, TOP), case["line"])
                claim(not remarks, case["NAME"], [where, *case["PROG"], *remarks])
    print("1..%d" % n_tests)
    return n_failed > 0
