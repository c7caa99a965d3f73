#!/usr/bin/env python3
"""prose.py FILE...: sentences of Markdown pages and manual pages that read as translated, one a line.

A line is `FILE:LINE: WHY: the sentence`. WHY is "N words" for a sentence of more than MOST words, or the habit that HABITS
names. Code, tables of figures, headings and output of commands are not read. tests/cli/documents.t runs it.
"""

import re
import sys

MOST = 40

HABITS = {
    "behind, for after": r"\bbehind (?:it|that|this|the (?:text|last|arguments?|script|build|sentence|colon)|a (?:string|colon|number))\b"
                         r"|\b(?:comes?|stands?|written|put|printed) behind\b",
    "says/tells, for reports": r"\b(?:says|tells|told|is said|are said)\b",
    "stands, for is": r"\bstands?\b(?! (?:for|in)\b)|\bstood\b",
    "that of, for a noun": r"\b(?:than|and|or|but|not) that of (?:a|the) ",
    "no + noun, for not a": r"(?<!there )\b(?:is|are|was|were) no (?!(?:longer|more|less|other|such|different|fewer|events?|errors?|room|\w+ing)\b)[a-z]+",
    "what, as the subject": r"^(?:And |But |Or )?What (?!follows)[a-z_`]+ [^?]*[^?]$",
    "what ... is": r", what (?:is|are|was|were) ",
    "goes on": r"\b(?:goes|go|went) on\b",
    "is left": r"\b(?:is|are) left (?:to|out|over)\b",
    "to be + participle": r"\b(?:is|are) to be [a-z]+ed\b",
    "anyhow, anew": r"\b(?:anyhow|anew)\b",
    "of ... bits/version": r"\bof (?:32|64) bits?\b",
    "without which": r", (?:without|of|by|from) which\b",
    "as ... has it": r"\bas [^,.;]{1,40} has (?:it|them)\b",
    "other ... than": r"\b(?:another|other|otherwise)(?: \w+){0,2} than (?:that|it|they)\b",
}
PATTERNS = {why: re.compile(pattern, re.I) for why, pattern in HABITS.items()}


def of_markdown(text):
    """(line, paragraph) of each paragraph, item or row of words."""
    start, words, fenced = 0, [], False
    for n, line in enumerate(text.splitlines() + [""], 1):
        fenced ^= line.startswith("```")
        is_code = fenced or line.startswith(("    ", "```")) and not (words and words[0].startswith("- "))
        begins = not line.strip() or is_code or re.match(r"#|\s*[-*] |\s*\d+\. |\|", line)
        if begins and words:
            yield start, " ".join(words)
            words = []
        if line.strip() and not is_code and not re.match(r"[#|]", line):
            start = start if words else n
            words.append(line.strip())
        for cell in line.split("|")[1:-1] if line.startswith("|") else []:
            yield n, "| " + cell.strip()


def of_mdoc(text):
    """The same of a manual page: macros become the words that they print."""
    start, words, is_literal = 0, [], False
    text = re.sub(r"(?<=\n)\.Sh SYNOPSIS.*?(?=\n\.Sh )", lambda m: "\n" * m[0].count("\n"), text, flags=re.S)
    for n, line in enumerate(text.splitlines() + [".Pp"], 1):
        macro = re.match(r"\.([A-Z][a-z0-9]*)\b ?(.*)", line)
        if macro and macro[1] in ("Bd", "Ed"):
            is_literal = macro[1] == "Bd"
        if macro and macro[1] in ("Pp", "It", "Sh", "Ss", "Bl", "El", "Bd", "Ed", "Dl", "Dd", "Dt", "Os", "Nd"):
            if words:
                yield start, " ".join(words)
            words = []
        elif not is_literal and not line.startswith('.\\"'):
            start = start if words else n
            word = re.sub(r"\b(?:Ar|Fl|Ns|Op|Cm|No|Pa|Ev|Ql|Li|Va|Vt|Dv|Ic|Xr|Qq|Qo|Qc|Pq|Pf|Ap)\b ?", "", macro[2]) if macro else line
            if macro and re.search(r" [.,;:)]+$", word):
                word = re.sub(r" ([.,;:)]+)$", r"\1", word)
            words.append("`%s`" % word.strip() if macro and macro[1] in ("Ql", "Pa", "Li") else word)
            if re.search(r"[A-Za-z0-9)\]\"] ?[.!?:]$", line):  # a line ends where a sentence does
                yield start, " ".join(words)
                words = []


def sentences(paragraph):
    paragraph = re.sub(r"^(?:[-*]|\d+\.) ", "", paragraph)
    paragraph = re.sub(r"\]\([^)]*\)", "]", paragraph)
    paragraph = re.sub(r"`[^`]*`", lambda m: "`%s`" % re.sub(r"[.:!? ]", "_", m[0].strip("`")), paragraph)
    return re.split(r"(?<=[A-Za-z0-9`)\]\"*][.!?:]) +(?=[A-Z`\[\"*(]|[a-z_]+[.(]|btgen|bpftrace)", paragraph)


def main():
    for path in sys.argv[1:]:
        with open(path) as file:
            text = file.read()
        of = of_markdown if path.endswith(".md") else of_mdoc
        for line, paragraph in of(text):
            for sentence in sentences(paragraph):
                n = len(re.findall(r"[\w`][^\s]*", sentence))
                if n > MOST:
                    print("%s:%d: %d words: %s" % (path, line, n, sentence))
                plain = re.sub(r"`[^`]*`|\"[^\"]*\"", "X", sentence)
                for why, pattern in PATTERNS.items():
                    if pattern.search(plain):
                        print("%s:%d: %s: %s" % (path, line, why, sentence))


main()
