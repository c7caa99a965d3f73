#!/usr/bin/python3
"""The events of `bpftrace.sh -t '*'` and those of nvmf_tgt's --log, as equal lines: THREAD NAME VALUE...

    args.py log LOG                what the program passed
    args.py json TRACE HEADER...   what the trace says, enumerators as their numbers in the C headers
    args.py text TRACE HEADER...   likewise, of the text form
"""
import json
import re
import sys


def enumerators(paths):
    values = {}
    for path in paths:
        with open(path) as f:
            text = re.sub(r'/\*.*?\*/|//[^\n]*', '', f.read(), flags=re.S)
        for body in re.findall(r'\benum\s*\w*\s*\{([^}]*)\}', text):
            n = 0
            for item in filter(None, (i.strip() for i in body.split(','))):
                name, _, value = item.partition('=')
                n = int(value, 0) if value else n
                values[name.strip()] = n
                n += 1
    return values


def from_log(path):
    with open(path) as f:
        for line in f:
            _, tid, name, *args = line.rstrip('\n').split('\t')
            if not name.endswith('()'):  # a function, for scripts with uprobes
                yield ' '.join([tid, name] + args)


def value(v, enums):
    if v is None:
        return '(null)'
    if isinstance(v, bool):
        return str(int(v))
    return str(enums.get(v, v))


def from_json(path, enums):
    with open(path) as f:
        for line in f:
            e = json.loads(line)
            assert list(e) == ['time', 'ns', 'pid', 'tid', 'comm', 'probe', 'args'], e
            assert e['ns'] > 0 and e['pid'] and e['comm'] and re.match(r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}[+-]\d\d:\d\d$', e['time']), e
            yield ' '.join([str(e['tid']), e['probe'].removeprefix('spdk:')] + [value(v, enums) for v in e['args'].values()])


def from_text(path, enums):
    with open(path) as f:
        for line in filter(None, (raw.rstrip('\n') for raw in f)):
            m = re.match(r'\d\d:\d\d:\d\d\.\d{6} \S+\[(\d+)\] spdk:(\w+)((?: \w+=(?:"(?:[^"\\]|\\.)*"|\S+))*)$', line)
            assert m, line
            fields = re.findall(r' \w+=("(?:[^"\\]|\\.)*"|\S+)', m[3])
            values = [json.loads(v) if v[0] == '"' else {'true': '1', 'false': '0'}.get(v, v) for v in fields]
            yield ' '.join([m[1], m[2]] + [str(enums.get(v, v)) for v in values])


kind, path, *headers = sys.argv[1:]
lines = from_log(path) if kind == 'log' else {'json': from_json, 'text': from_text}[kind](path, enumerators(headers))
for line in sorted(lines):
    print(line.replace(' (null)', ' 0x0'))  # in JSON both a string and an address that is 0 are null
