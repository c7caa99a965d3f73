"""How many lines of standard input are events of soak.c, and how many are wrong: cut, of another state, twice or not in order."""
import re
import sys

LINE = re.compile(r'(?:\{"time": "[^"]*", .*"text": ")?hit (\d+) (\w+)(?:", "fields": \{.*\}\})?\n')
lines = last = wrong = 0
for line in sys.stdin:
    match = LINE.fullmatch(line)
    if match:
        lines += 1
        wrong += int(match[1]) <= last or match[2] != "RUNNING"
        last = int(match[1])
    elif not line.startswith(('{"capture"', '{"lost"', '{"cost"')) and line != "\n":
        wrong += 1
print(lines, wrong)
