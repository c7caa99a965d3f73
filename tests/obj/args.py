#!/usr/bin/python3
"""Compares the arguments that `btgen probes --json` infers with those that a program declares, or with a table.

    args.py DECLARED.json INFERRED.json     every type and name shown in the second is that of the first
    args.py TABLE.txt INFERRED.json         lines "provider:name TYPE NAME, TYPE NAME, ..." of documented signatures

With --all first, what is listed counts, too, and every type has to be known; functions have no type of their own there, a
const does not matter, and names are not compared: a list has those of another program.

Prints one line for each argument that is wrong, and last "TYPES types and NAMES names of ALL arguments".
"""
import json
import sys


def known(arg, i):
    """What is listed is from a manual, too: it would be compared with itself."""
    if ALL:
        kind = (arg['type'] or 'unknown').replace('const ', '')
        return FUNCTIONS.get(kind, kind), 'arg%d' % i
    return (None, 'arg%d' % i) if arg['from'] == 'listed' else (arg['type'], arg['name'])


def load(path):
    if path.endswith('.json'):
        with open(path) as f:
            return {p['provider'] + ':' + p['name']: [known(a, i) for i, a in enumerate(p['args'])] for p in json.load(f)}
    table = {}
    with open(path) as f:
        for line in f:
            probe, _, args = line.strip().partition(' ')
            table[probe] = [tuple(a.strip().rsplit('|', 1)) for a in args.split(',')] if args else []
    return table


def one_of(got, want):
    """A table has a / between what is equally right."""
    return got == want or got in (want or '').split('/')


ALL = sys.argv[1] == '--all' and bool(sys.argv.pop(1))
FUNCTIONS = {'spdk_msg_fn': 'void (*)()', 'spdk_event_fn': 'void (*)()', 'spdk_poller_fn': 'int (*)()', 'spdk_interrupt_fn': 'int (*)()'}
want, got = load(sys.argv[1]), load(sys.argv[2])
types = names = total = 0
for probe in sorted(got):
    if probe not in want:
        print('%s: not in the table' % probe)
        continue
    if len(want[probe]) != len(got[probe]):
        print('%s: %d arguments, not %d' % (probe, len(got[probe]), len(want[probe])))
    for i, ((kind, name), (kind2, name2)) in enumerate(zip(got[probe], want[probe])):
        total += 1
        types += kind not in (None, 'unknown')
        if kind is not None and not one_of(kind, kind2) and (not ALL or kind2 != 'unknown'):
            print('%s: arg%d is %s, not %s' % (probe, i, kind, kind2))
        is_number = name == 'arg%d' % i
        names += not is_number
        if not is_number and not one_of(name, name2):
            print('%s: arg%d is called %s, not %s' % (probe, i, name, name2))
print('%d types and %d names of %d arguments' % (types, names, total))
