#!/usr/bin/python3
"""What `btgen probes --json` says about a program's sites, as probes.py prints it.

    sites.py BTGEN FILE      one line a site, sorted:  provider:name(TYPE [EXPRESSION], ...) SEMA FILE:LINE
    sites.py BTGEN FILE...   the same, into FILE.sites
    ONLY=PROVIDER in the environment: of this one
    sites.py --kinds         such lines from stdin, with what is left of each type when there is no debug information
"""
import json
import os
import re
import subprocess
import sys

PLAIN = {'unsigned int': 'unsigned', 'long int': 'long', 'long unsigned int': 'unsigned long', 'short int': 'short',
         'short unsigned int': 'unsigned short', 'bool': '_Bool', 'long long int': 'long long',
         'long long unsigned int': 'unsigned long long'}


def plain(kind):
    """The type as probes.py spells it: short names of integers, a star behind a blank each, functions as such, no scopes."""
    if kind is None:
        return '?'
    if '(' in kind:
        return 'function'
    stars = len(kind) - len(kind.rstrip('*'))
    base = kind.rstrip('*').strip()
    words = base.split(' ')
    quals = []
    while words[0] in ('const', 'volatile'):
        quals.append(words.pop(0))
    words[-1] = words[-1].split('::')[-1]
    base = PLAIN.get(' '.join(words), ' '.join(words))
    return ' '.join(quals + [base] + ['*'] * stars)


def lines(btgen, path):
    out = subprocess.run([btgen, 'probes', '--json', '-x', path], stdout=subprocess.PIPE, check=True).stdout
    for probe in json.loads(out):
        if probe['provider'] != os.environ.get('ONLY', probe['provider']):
            continue
        for s in probe['sites']:
            args = ['%s [%s]' % (plain(a['type']), a['expression'] or '?') for a in s['args']]
            assert all(a['from'] == 'declared' for a in s['args']), (path, probe['name'], s)
            yield '%s:%s(%s) %s %s:%s' % (probe['provider'], probe['name'], ', '.join(args),
                                         'sema' if s['semaphore'] else '-', s['file'], s['line'])


def left(argument):
    """Which integer it is, and what a pointer leads to but to text, is not known without debug information."""
    kind, expression = argument.groups()
    if kind not in ('char', '_Bool', 'char *', 'const char *', 'usdt_float_bits', 'usdt_double_bits'):
        kind = '?'
    return f'{kind} [{expression}]'


btgen, *files = sys.argv[1:]
if btgen == '--kinds':
    lines_left = (re.sub(r'([\w* ]+?) \[((?:[^][]|\[[^]]*\])*)\]', left, line.replace(', ', ',')).replace(',', ', ') for line in sys.stdin)
    print(''.join(sorted(lines_left)), end='')

for path in files:
    out = open(path + '.sites', 'w') if len(files) > 1 else sys.stdout
    for line in sorted(lines(btgen, path)):
        print(line, file=out)
