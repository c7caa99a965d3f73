#!/usr/bin/env bash
# What printf() of a script prints is what C's prints of the same values: the program that is traced prints both.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"

# Of each kind of argument: conversions, and values that go through all of them.
cat >"$tmp/make.py" <<'END'
import re
import sys

NUMBER = """%d %i %5d %-5d %05d %+d %.3d %8.3d %-8.3d %+6d %-+6d %u %10u %x %X %o %#x %#X %#o %08x %#010x %-8x
 %ld %lld %li %lu %llu %lx %lX %lo %#lx %12ld %-12ld %012ld %+ld %.9ld %hd %hu %hx %hhd %hhu %hhx %c""".split() + ["% d", "% ld"]
NARROW = "%d %u %x %ld %lu %lx %hd %hhd %hhu %5d %-5d %05d %+d".split()
KINDS = {
    "int": ("int", NUMBER, ["0", "1", "-1", "65", "-12345", "2147483647", "-2147483647 - 1"]),
    "uint": ("unsigned", NUMBER, ["0", "65", "4294967295u", "2147483648u"]),
    "long": ("long", NUMBER, ["65", "-5000000000", "0x7fffffffffffffff", "-0x7fffffffffffffff - 1"]),
    "ulong": ("unsigned long", NUMBER, ["65", "0xffffffffffffffffu", "0x8000000000000000u"]),
    "schar": ("signed char", NARROW, ["-128", "127", "-1"]),
    "uchar": ("unsigned char", NARROW, ["200", "0"]),
    "short": ("short", NARROW, ["-32768", "32767"]),
    "ushort": ("unsigned short", NARROW, ["65535"]),
    "character": ("char", ["%c", "%5c|", "%-5c|"], ["'A'", "'%'", "' '"]),
    "text": ("const char *", "%s %10s %-10s| %.3s %10.3s %-10.3s| %.0s| %1s %.60s %50s %-50s|".split(),
             ['""', '"a"', '"hello"', '"100%s and %d"', '"a tab\\t, a quote \\", a backslash \\\\"', '"gr\\303\\274n"',
              '"forty bytes of text, that is almost all"']),
    "pointer": ("void *", ["%p", "%20p|", "%-20p|"], ["NULL", "(void *)0x1234", "(void *)0x7fffffffe123"]),
}
# What is not C's: names of enumerators, and a number for what has no name.
COLOR = ["%s", "%-20s|", "%20s|", "%.3s", "%10.3s|", "%d", "%5d", "%-5d|", "%x"]
MORE = [
    ("%s=%d (%5.2x) %%%%\\n".replace("%%%%", "%%"), "text number number", "%s=%d (%5.2x) %%\\n"),
    ("%-10s|%10s|%c%c%c %lld%%", "text text number number number number", None),
    ("a format of more than sixty-four bytes, which is what bpftrace 0.11 could hold: %d and %s", "number text", None),
    ("%d %d %d %d %d %d", "number number number number number number", None),
    ("%s %s %s %s %s %s %s", " ".join(["text"] * 7), None) if sys.argv[3] != "0.21" else ("%s %s", "text text", None),  # cut to 31
    ("no conversion at all, 100%%", "", None),
    ("%%d %%s %%%%%d%%", "number", None),
]


def quoted(text):
    return '"' + text + '\\n"'


c, script, n = [], [], 0
c.append("#include <btgen/usdt.h>\n#include <stdio.h>\n#include <string.h>\n#include <unistd.h>\n"
         "enum color { RED, GREEN = 5, BLUE = -2, A_LONG_NAME_OF_A_COLOR = 70000 };\n"
         "static const char *color(int v) { static char s[20]; sprintf(s, \"%d\", v); return v == 0 ? \"RED\" : v == 5 ? \"GREEN\" :"
         " v == -2 ? \"BLUE\" : v == 70000 ? \"A_LONG_NAME_OF_A_COLOR\" : s; }\n"
         "int main(void)\n{\n\tchar go;\n\tif (read(0, &go, 1) != 1)\n\t\treturn 1;\n")


def clause(probe, lines):
    for i in range(0, len(lines), 15):
        script.append("usdt:__EXE__:fmt:%s\n{\n\t%s\n}" % (probe, "\n\t".join(lines[i:i + 15])))


for kind, (ctype, formats, values) in KINDS.items():
    c.append(f"\tstatic {ctype} volatile {kind}_values[] = {{{', '.join(values)}}};\n"
             f"\tfor (int i = 0; i < {len(values)}; i++) {{\n\t\t{ctype} v = {kind}_values[i];\n\t\tUSDT_PROBE(fmt, {kind}, v);")
    for i, f in enumerate(formats):
        # A number that has 64 bits is shown whole, see btgen-template(5).
        cf = re.sub(r"(%[-+ #0.\d]*)([diuxXo])", r"\1l\2", f) if kind.endswith("long") else f
        cast = "v"
        if kind not in ("text", "pointer"):
            cast = "(long long)v" if "l" in cf else "(int)v"
        c.append(f"\t\tprintf({quoted(kind + '.' + str(i) + '|' + cf)}, {cast});")
    c.append("\t}")
    arg = "str(args.v)" if kind == "text" else "args.v"
    lines = []
    for i, f in enumerate(formats):
        lines.append(f"printf({quoted(kind + '.' + str(i) + '|' + f)}, {arg});")
        n += 1
    clause(kind, lines)

c.append("\tstatic int volatile colors[] = {RED, GREEN, BLUE, A_LONG_NAME_OF_A_COLOR, 77};\n"
         "\tfor (int i = 0; i < 5; i++) {\n\t\tenum color v = colors[i];\n\t\tUSDT_PROBE(fmt, color, v);")
for i, f in enumerate(COLOR):
    c.append(f"\t\tprintf({quoted('color.' + str(i) + '|' + f)}, {'color(v)' if 's' in f else 'v'});")
c.append("\t}")
clause("color", [f"printf({quoted('color.' + str(i) + '|' + f)}, {'enum_name(color, args.v)' if 's' in f and i % 2 else 'args.v'});"
                 for i, f in enumerate(COLOR)])
n += len(COLOR)

c.append("\t{\n\t\tconst char *text = \"text\";\n\t\tint volatile n0 = 70;\n\t\tint number = n0;\n\t\tUSDT_PROBE(fmt, more, text, number);")
lines = []
for i, (f, args, other) in enumerate(MORE):
    f = f.removesuffix("\\n")
    cargs = "".join(", " + ("text" if a == "text" else "(long long)number") for a in args.split())
    bargs = "".join(", " + ("str(args.text)" if a == "text" else "args.number") for a in args.split())
    c.append(f"\t\tprintf({quoted('more.' + str(i) + '|' + f)}{cargs});")
    lines.append(f"printf({quoted('more.' + str(i) + '|' + f)}{bargs});")
    n += 1
for i, (what, expected) in enumerate([("args.number", '"%d\\n", number'), ("str(args.text)", '"%s\\n", text'), ('"literal"', '"literal\\n"')]):
    c.append(f"\t\tprintf(\"print.{i}|\"), printf({expected});")
    lines.append(f"printf(\"print.{i}|\"); print({what});")
    n += 1
c.append("\t}")
clause("more", lines)

c.append("\tfor (int i = 0; i < 256; i += 8) {\n\t\tunsigned char bytes[8], *b = bytes;\n\t\tfor (int j = 0; j < 8; j++)\n"
         "\t\t\tb[j] = i + j;\n\t\tUSDT_PROBE(fmt, bytes, b);\n\t\tprintf(\"buf.0|\");\n\t\tfor (int j = 0; j < 8; j++)\n"
         "\t\t\tprintf(b[j] >= 32 && b[j] < 127 ? \"%c\" : \"\\\\x%02x\", b[j]);\n\t\tprintf(\"\\n\");\n\t}\n")
clause("bytes", ['printf("buf.0|%r\\n", buf(args.b, 8));'])
n += 1
c.append("\tUSDT_PROBE(fmt, end, 0);\n\tfflush(stdout);\n\tread(0, &go, 1);\n\treturn 0;\n}")
script.append('usdt:__EXE__:fmt:end\n{\n\tprintf("end|\\n");\n}')
open(sys.argv[1], "w").write("\n".join(c))
open(sys.argv[2], "w").write("\n".join(script) + "\n")
print(n)
END
version=$("$bpftrace" --version | sed 's/.*v\(0\.[0-9]*\).*/\1/')
conversions=$(python3 "$tmp/make.py" "$tmp/app.c" "$tmp/app.bt" "$version") || exit 1
gcc -O1 -g -w -I"$top/include" -o "$tmp/app" "$tmp/app.c" || exit 1
live_start "$tmp/app"
ok "it attaches" live_trace -q $live_pid "$tmp/app.bt"
printf x >&8
wait_for grep -q '^end' "$tmp/trace"
live_wait INT
exec 8>&-
wait_end "$live_pid"
is $live_rc 0 "^C is status 0"
is "$(sed 's/^# *//' "$tmp/messages")" "" "nothing is said"
# The clauses of one probe come in any order: lines in that of their statements.
in_order() { LC_ALL=C sort -s -t '|' -k 1,1 "$1" | grep -av '^end|' >"$1.sorted"; }
in_order "$tmp/trace"
in_order "$tmp/answers"
ok "$conversions conversions print what C's printf() prints ($(wc -l <"$tmp/answers.sorted") lines)" cmp "$tmp/answers.sorted" "$tmp/trace.sorted"
diff -a "$tmp/answers.sorted" "$tmp/trace.sorted" | head -n 60 | sed 's/^/#   /'
done_testing
