#!/usr/bin/env python3
"""tokens.py GOT WANT: do two texts hold the same C tokens? Blanks and comments do not count.

Written apart from btgen's own lexer, so that a mistake there does not hide itself.
"""
import re
import sys

TOKEN = re.compile(
    r"""(?P<comment>/\*.*?\*/|//[^\n]*)
      | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*'
      | [A-Za-z_$][\w$]*
      | \.?\d(?:[eEpP][+-]|[\w.$])*
      | \.\.\.|<<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[*/%+&^|-]=|\#\#
      | [^\s]""",
    re.S | re.X,
)


def tokens(text):
    return [m.group(0) for m in TOKEN.finditer(text) if not m.group("comment")]


def main():
    got, want = (tokens(open(name, encoding="latin-1").read()) for name in sys.argv[1:3])
    for i in range(max(len(got), len(want))):
        if got[i : i + 1] != want[i : i + 1]:
            print("#   token %d differs" % (i + 1))
            print("#   got  ... " + " ".join(got[max(i - 5, 0) : i + 6]))
            print("#   want ... " + " ".join(want[max(i - 5, 0) : i + 6]))
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
