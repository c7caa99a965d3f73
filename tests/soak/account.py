"""How many lines of standard input are events of soak.c, and how many are wrong: cut, of another state, twice or, with an argument, not in
order: that is what -s promises. Without it a program that moves to another processor may be a few lines behind itself."""
import re
import sys

LINE = re.compile(r'(?:\{"time": "[^"]*", .*"text": ")?hit (\d+) (\w+)(?:", "fields": \{.*\}\})?\n')
lines = last = wrong = 0
seen = bytearray()
for line in sys.stdin:
    match = LINE.fullmatch(line)
    if match:
        lines += 1
        number = int(match[1])
        seen.extend(bytes(max(0, number + 65536 - len(seen))) if number >= len(seen) else b"")
        wrong += seen[number] or match[2] != "RUNNING" or (len(sys.argv) > 1 and number <= last)
        seen[number] = 1
        last = number
    elif not line.startswith(('{"capture"', '{"lost"', '{"cost"')) and line != "\n":
        wrong += 1
print(lines, wrong)
