#!/usr/bin/env python3
"""circles.py: which modules of gen/ include each other in a circle; says nothing, with status 0, when none do.

A module is a header and the .c files that define what it declares; x_priv.h makes one module of all files that include it,
as what it declares is nobody else's. A module needs those whose headers one of its files includes.
"""

import glob
import re
import sys


def read(path):
    with open("gen/" + path) as file:
        return re.sub(r"/\*.*?\*/|//[^\n]*", "", file.read(), flags=re.S)


def modules(texts, includes):
    """path -> name of its module: that of a header, or of a .c file that has none"""
    headers = [path for path in texts if path.endswith(".h")]
    names = {path: path for path in headers}
    for path in texts:
        if path in headers:
            continue
        defined = re.findall(r"^(?!static)[a-z][^;{}()=]*?\b(\w+)\([^;{}]*\)\n{", texts[path], re.M)
        owners = [header for header in includes[path] if header in headers
                  and any(re.search(r"\b%s\(" % name, texts[header]) for name in defined)]
        own = path[:-1] + "h"
        names[path] = own if own in headers else owners[0] if owners else path
    for private in (header for header in headers if header.endswith("_priv.h")):
        joined = {names[path] for path in texts if path == private or private in includes[path]}
        for path in texts:
            if names[path] in joined:
                names[path] = private
    return names


def circles(needs):
    """The strongly connected parts of more than one module (Tarjan)."""
    index, low, stack, found = {}, {}, [], []

    def visit(name):
        index[name] = low[name] = len(index)
        stack.append(name)
        for other in sorted(needs[name]):
            if other not in index:
                visit(other)
            if other in stack:
                low[name] = min(low[name], low[other])
        if low[name] == index[name]:
            circle = stack[stack.index(name):]
            del stack[stack.index(name):]
            if len(circle) > 1:
                found.append(sorted(circle))

    for name in sorted(needs):
        if name not in index:
            visit(name)
    return found


def main():
    texts = {path[len("gen/"):]: read(path[len("gen/"):]) for path in sorted(glob.glob("gen/*/*.[ch]"))}
    includes = {path: set(re.findall(r'^#include "(.*)"', text, re.M)) for path, text in texts.items()}
    names = modules(texts, includes)
    needs = {name: set() for name in names.values()}
    for path in texts:
        needs[names[path]] |= {names[other] for other in includes[path] if other in names} - {names[path]}
    if sys.argv[1:] == ["-v"]:
        for module in sorted(needs):
            files = [path for path in texts if names[path] == module]
            if len(files) > 2:
                print("%s: %s" % (module, " ".join(files)))
    found = circles(needs)
    for circle in found:
        print("files that include each other in a circle: " + " ".join(circle))
    sys.exit(bool(found))


main()
