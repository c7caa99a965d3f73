#!/usr/bin/python3
"""The events of `bpftrace.sh -t '*'` and those of nvmf_tgt's --log, as equal lines: THREAD NAME VALUE...

    args.py log LOG [MAPS]         what the program passed; with a copy of /proc/PID/maps functions by name
    args.py json TRACE HEADER...   what the trace says, enumerators as their numbers in the C headers
    args.py text TRACE HEADER...   likewise, of the text form
"""
import json
import os
import re
import subprocess
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


FUNCTIONS = {'msg_exec': 1, 'timerfd_exec': 1, 'event_exec': 1, 'interrupt_fd_process': 3}  # which argument is one


def symbols(path):
    """Address -> name, of the functions of all files that are mapped, as nm has them."""
    names = {}
    with open(path) as f:
        starts = [m.groups() for m in re.finditer(r'^([0-9a-f]+)-\S+ \S+ 00000000 \S+ [1-9]\d* +(/.*)$', f.read(), re.M)]
    for start, file in starts:
        if not os.path.exists(file):
            continue
        for symbol in subprocess.run(['nm', file], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout.splitlines():
            m = re.match(r'([0-9a-f]+) [tT] (\w+)$', symbol)
            if m:
                names[hex(int(m[1], 16) + int(start, 16))] = m[2]
    return names


def from_log(path, maps=None):
    names = symbols(maps) if maps else {}
    with open(path) as f:
        for line in f:
            _, tid, name, *args = line.rstrip('\n').split('\t')
            if names and name in FUNCTIONS:
                args[FUNCTIONS[name]] = names[args[FUNCTIONS[name]]]
            if not name.endswith('()'):  # a function, for scripts with uprobes
                yield ' '.join([tid, name] + args)


def value(v, enums):
    if v is None:
        return '(null)'
    if isinstance(v, dict):
        assert enums.get(v['name'], v['value']) == v['value'], v
        return str(v['value'])
    return str(int(v) if isinstance(v, bool) else v)


def from_json(path, enums):
    with open(path) as f:
        assert 'capture' in json.loads(next(f))
        for line in f:
            e = json.loads(line)
            assert list(e) == ['time', 'cpu', 'pid', 'tid', 'comm', 'probe', 'text', 'fields'], e
            assert e['pid'] and e['comm'] and re.match(r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}[+-]\d\d:\d\d$', e['time']), e
            yield ' '.join([str(e['tid']), e['probe'].removeprefix('spdk:')] + [value(v, enums) for v in e['fields'].values()])


def from_text(path, enums):
    with open(path) as f:
        for line in filter(None, (raw.rstrip('\n') for raw in f)):
            m = re.match(r'\d\d:\d\d:\d\d\.\d{6} \S+\[(\d+)\] spdk:(\w+)((?: \w+=(?:"(?:[^"\\]|\\.)*"|\S+))*)$', line)
            assert m, line
            fields = re.findall(r' \w+=("(?:[^"\\]|\\.)*"|\S+)', m[3])
            values = [json.loads(v) if v[0] == '"' else {'true': '1', 'false': '0'}.get(v, v) for v in fields]
            yield ' '.join([m[1], m[2]] + [str(enums.get(v, v)) for v in values])


if __name__ == '__main__':
    kind, path, *headers = sys.argv[1:]
    lines = from_log(path, *headers) if kind == 'log' else {'json': from_json, 'text': from_text}[kind](path, enumerators(headers))
    for line in sorted(lines):
        print(line.replace(' (null)', ' 0x0'))  # in JSON both a string and an address that is 0 are null
