"""Writes the scripts of docs/lab, and what they trace: FOLDER/NN.bt and, in FOLDER/list, a line `PAGE TARGET FILE`.

lab_scripts.py FOLDER PAGE...    A command that the page shows to fail is wrong on purpose, and not written.
Standard output: the commands that make the pages' own programs (sed, gcc, strip), for a shell.
"""
import os
import re
import shlex
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../live"))
import lab  # noqa: E402

folder, scripts = sys.argv[1], []
for page in sys.argv[2:]:
    lines, commands = lab.read_page(page)
    for text, start, end in commands:
        if re.match(r"(sed|gcc|strip) ", text) and "-o" in text + "-o" * (">" in text):
            print(text)
        if "bpftrace.sh" not in text or any("error: " in line for line in lines[start:end]):
            continue
        words = shlex.split(text.replace("\\\n", " "))
        if "-e" not in words:  # --calls, -t
            continue
        script = words[words.index("-e") + 1]
        if "-c" in words:
            target = words[words.index("-c") + 1].split()[0]
        else:  # a process: the variable has its program's name
            target = "build/lab/" + next(w for w in words if w.startswith("$"))[1:]
        name = os.path.join(folder, "%02d.bt" % len(scripts))
        open(name, "w").write(script + "\n")
        scripts.append("%s %s %s\n" % (os.path.basename(page), target, name))
open(os.path.join(folder, "list"), "w").writelines(scripts)
