#!/usr/bin/env python3
"""links.py FILE...: the relative links of Markdown pages that lead nowhere, a line each: `FILE:LINE: LINK`.

A link may name a file or folder, and a heading of a page, as GitHub names it. tests/cli/documents.t runs it.
"""

import os
import re
import sys


def anchors(path):
    """The names of a page's headings."""
    found = {}
    with open(path) as file:
        for line in re.sub(r"^```.*?^```", "", file.read(), flags=re.S | re.M).splitlines():
            heading = re.match(r"#+ (.*)", line)
            if heading:
                plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1])
                name = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
                found[name] = found.get(name, -1) + 1
    return {"%s-%d" % (name, n) if n else name for name, last in found.items() for n in range(last + 1)}


def main():
    for path in sys.argv[1:]:
        with open(path) as file:
            for n, line in enumerate(file, 1):
                for link in re.findall(r"\]\(([^)\s]+)\)", "" if line.startswith("    ") else re.sub(r"`[^`]*`", "", line)):
                    if re.match(r"[a-z]+:", link):
                        continue
                    name, _, anchor = link.partition("#")
                    target = os.path.join(os.path.dirname(path), name) if name else path
                    if not os.path.exists(target) or (anchor and anchor not in anchors(target)):
                        print("%s:%d: %s" % (path, n, link))


main()
