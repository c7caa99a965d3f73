"""linear.py BTGEN PROGRAM FOLDER KIND...: does the time that a template takes grow with its length?

Writes templates of N and 4N parts into FOLDER and has `btgen check` read both for PROGRAM, which has the
probe t:p (tests/growth.py). The longer one takes no more memory than FOR_EACH_BYTE has, be it
expanded or checked. Prints a line for each kind: its name, then what is wrong, if anything. Without arguments it lists the kinds.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from growth import cost, growth  # noqa: E402

N = 5000
PROBE = "usdt:__EXE__:p "


def body(part, join="\n", probe=PROBE):
    return lambda n: probe + "{ " + join.join(part(i) for i in range(n)) + " }\n"


def lines(part, end=""):
    return lambda n: "".join(part(i) + "\n" for i in range(n)) + end


KINDS = {
    "maps": body(lambda i: f"@m{i} = 1; print(@m{i});", " "),
    "maps that nobody sets": body(lambda i: f"@a{i} = 1; print(@b{i});"),
    "maps that are cleared": lambda n: body(lambda i: f"@m{i} = 1;")(n) + body(lambda i: f"clear(@m{i});", probe="END ")(n),
    "variables": body(lambda i: f"$v{i} = 1; print($v{i});", " "),
    "variables that nobody sets": body(lambda i: f"$a{i} = 1; print($b{i});"),
    "variables that nobody reads": lines(lambda i: f"{PROBE}{{ $x{i} = args.e; }}"),
    "variables of another clause": lines(lambda i: f"{PROBE}{{ print($x{i}); }}"),
    "one printf()": lambda n: PROBE + '{ printf("' + "%d" * n + '"' + ", 1" * n + "); }\n",
    "printf()s": body(lambda i: 'printf("%d %s %s\\n", args.e, str(args.x->name), args.x->st);'),
    "names of an enum": body(lambda i: 'printf("%s\\n", enum_name(enum st, args.x->st));'),
    "conditions on strings": body(lambda i: f'if (str(args.x->name) == "{i}") {{ printf("x"); }}'),
    "quotes of a string without an end": lambda n: 'BEGIN { printf("' + '\\"' * 100 * n + "\n",
    "apostrophes without an end": lambda n: "BEGIN { '" + "\\'" * 20 * n + "\n",
    "clauses": lines(lambda i: f'{PROBE}/args.e == {i}/ {{ printf("%d\\n", args.e); }}'),
    "clauses with maps of their own": lines(lambda i: f"interval:s:{i + 1} {{ @m{i} = count(); }}"),
    "patterns": lines(lambda i: f"uprobe:/none:f{i}* {{ @ = count(); }}\nuprobe:/none:g{i} {{ @ = count(); }}"),
    "probes of one clause": lambda n: lines(lambda i: f"kprobe:a_function_with_quite_a_long_name_{i},")(n) + "kprobe:last { @ = count(); }\n",
    "statements on a line": body(lambda i: "@ = 1;", " "),
    "branches": lambda n: PROBE + "{ " + "if (pid) { @ = 1; } else " * n + "{ } }\n",
    "#defines": lambda n: lines(lambda i: f"#define D{i} {i}")(n) + body(lambda i: f"print(D{i});", " ")(n),
    "macros": lambda n: lines(lambda i: f"macro f{i}($a) {{ $a }}")(n) + lines(lambda i: f"{PROBE}{{ $x = 1; print(f{i}($x)); }}")(n),
    "conditions joined by &&": lambda n: PROBE + "{ if (pid" + "".join(f" && pid != {i}" for i in range(n)) + ") { exit(); } }\n",
    "times of one map": lambda n: body(lambda i: "@t[tid] = nsecs;")(n)
        + body(lambda i: "@l = nsecs - @t[tid];", probe="uprobe:__EXE__:main ")(n),
    "maps of times": lambda n: body(lambda i: f"@t{i}[tid] = nsecs;")(n)
        + body(lambda i: f"@l = nsecs - @t{i}[tid]; delete(@t{i}[tid]);", probe="uprobe:__EXE__:main ")(n),
    "structs": lambda n: lines(lambda i: f"struct q{i} {{ int a; }};")(n)
        + body(lambda i: f"print(((struct q{i} *)arg0)->a);", " ")(min(n, 10000)),
}

# Bytes of memory for each byte of a template, and those of the program itself.
FOR_EACH_BYTE, FOR_ITSELF = 175, 12 << 20


def judge(btgen, program, folder, kind):
    paths = []
    for n in (N, 4 * N):
        paths.append(os.path.join(folder, f"t{n}.bt"))
        with open(paths[-1], "w") as f:
            f.write(KINDS[kind](n))
    took, good = growth([[btgen, "check", "--for", "0.17,0.27", "-x", program, path] for path in paths], (0, 1))
    most = (FOR_EACH_BYTE * os.path.getsize(paths[1]) + FOR_ITSELF) >> 20
    if good and b"__asan_init" not in open(btgen, "rb").read():  # sanitizers take memory of their own
        for command in (["expand", "--for", "0.17"], ["expand", "--for", "0.27"], ["check", "--for", "0.17"]):
            _, size, _ = cost([btgen, *command, "-x", program, paths[1]])
            if size > most:
                return f"{size} MB to {' '.join(command)} {4 * N}, not {most}"
    return "" if good else took


def main():
    if len(sys.argv) == 1:
        print("\n".join(KINDS))
        return
    btgen, program, folder = sys.argv[1:4]
    for kind in sys.argv[4:]:
        print(f"{kind}\t{judge(btgen, program, folder, kind)}", flush=True)


main()
