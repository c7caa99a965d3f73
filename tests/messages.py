#!/usr/bin/env python3
"""messages.py [--where]: what btgen and bpftrace.sh can say, one message a line, read from their sources.

A line is the kind of message and its format; behind bars are the words that the code may put into it:

    error    the macro "%s" takes %s%zu argument%s, not %zu | at least | s

The kind "text" is for what is printed in another way, and for sentences that other messages, listings or files quote.
The list names no file and no line, so moving code does not change it; --where puts them in front. tests/cli/messages.t
compares it with tests/cli/messages.txt.
"""

import ast
import glob
import re
import sys

KINDS = {"diag_finding": "finding", "check_report": "finding", "check_report_at": "finding",
         "diag_error": "error", "diag_warning": "warning", "diag_note": "note",
         "pp_error": "error", "pp_warning": "warning", "cmd_usage_error": "usage"}
# Literals that are compared with what somebody else wrote, and text of programs: not what we say.
NOT_OURS = re.compile(r"str_(eqz?|has_prefix|has_suffix|contains)|is_one_of|is_like|pp_c_line")
NOT_WORDS = re.compile(r"Usage:|\\nEXAMPLES|#pragma|.*nsecs|((un)?signed|long|short|int|char|double|const|_gap|\W|\d|%\S+)+$", re.S)
FORMATS = {"STR_FMT": "%s", "DIALECT_FMT": "%u.%u", "PRIu64": "u", "PRIx64": "x", "PRId64": "d"}
TOKEN = re.compile(r"""/\*.*?\*/ | //[^\n]* | ^[ \t]*\#(?:[^\n]*\\\n)*[^\n]* |
	"(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*' | \w+ | \s+ | .""", re.S | re.M | re.X)


def tokens(text):
    """(token, line) of C source, without blanks, comments and directives."""
    line = 1
    for match in TOKEN.finditer(text):
        token = match[0]
        if not token.isspace() and not re.match(r"/[*/]|\s*#", token):
            yield token, line
        line += token.count("\n")


def literals(text):
    """(calls around it from outside in, number of the outermost call, line, string) of each string literal."""
    found, calls, outermost = list(tokens(text)), [], 0
    at = 0
    while at < len(found):
        token, line = found[at]
        if token in "([{":
            before = found[at - 1][0] if at else ""
            is_call = token == "(" and re.match(r"\w", before) and before not in ("if", "while", "for", "return", "switch")
            calls.append(before if is_call else "")
            outermost += not any(calls[:-1])
        elif token in ")]}":
            calls.pop()
        elif token.startswith('"'):
            string = ""
            while found[at][0].startswith('"') or found[at][0].isupper() or found[at][0] in FORMATS:
                word = found[at][0]
                string += word[1:-1] if word[0] == '"' else FORMATS.get(word, "%s" % word)
                at += 1
            yield [call for call in calls if call], outermost, line, string.replace("%%s", "%s")
            continue
        at += 1


def of_c(path):
    """(kind, message, line) of each message of a C file."""
    with open(path) as file:
        text = file.read()
    last, message = None, None
    for calls, outermost, line, string in literals(text):
        kind = next((KINDS[call] for call in calls if call in KINDS), None)
        if any(NOT_OURS.match(call) for call in calls) or not re.search("[A-Za-z]", re.sub(r"%[a-z]+|\\.", "", string)):
            continue
        if kind and outermost == last:
            message[1] += " | " + string.strip()
            continue
        if message:
            yield message
        last, message = outermost, None
        if kind:
            message = [kind, string.strip(), line]
        elif re.search(r"[a-z]{2,},? [a-z']{2,}", string) and not NOT_WORDS.match(string):
            yield ["text", string.strip(), line]
    if message:
        yield message


def of_python(path):
    """The same of a program in Python: the first argument of what reports, whose values are put in by %."""
    kinds = {"error": "error", "warning": "warning", "note": "note", "usage_error": "usage", "fail": "usage", "Refused": "text"}
    with open(path) as file:
        tree = ast.parse(file.read())
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", None))
        for argument in node.args[name == "usage_error":][:1] if name in kinds else ():
            text = argument.left if isinstance(argument, ast.BinOp) else argument
            if isinstance(text, ast.Constant) and isinstance(text.value, str) and " " in text.value:
                yield kinds[name], text.value, node.lineno


def of_shell(path):
    """The same of the wrapper: what begins with its name."""
    with open(path) as file:
        for line, text in enumerate(file, 1):
            for string in re.findall(r"printf 'bpftrace.sh: (.*?)\\n' ", text):
                yield "error", string, line


def main():
    messages = []
    for path in sorted(glob.glob("gen/*/*.[ch]")) + sorted(glob.glob("scripts/python/*.py")) + ["scripts/bpftrace.sh"]:
        for kind, text, line in (of_c if path.endswith((".c", ".h")) else of_python if path.endswith(".py") else of_shell)(path):
            text = text.replace("\\n", " / ").replace('\\"', '"').strip(" /")
            messages.append((kind, text, "%s:%d" % (path, line)))
    if sys.argv[1:] == ["--where"]:
        for kind, text, where in messages:
            print("%-34s %-8s %s" % (where, kind, text))
        return
    for kind, text in sorted({message[:2] for message in messages}):
        print("%-8s %s" % (kind, text))


main()
