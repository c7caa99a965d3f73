#!/usr/bin/python3
"""What a program's probes are, read without any code of ours: the notes from the ELF bytes, the types through pyelftools.

    probes.py [--no-types] FILE        one line a site, sorted:  provider:name(TYPE [EXPRESSION], ...) SEMA FILE:LINE
    probes.py [--no-types] FILE...     the same, into FILE.probes

With ONLY=PROVIDER in the environment, of this one. SEMA is `sema` when the note has a semaphore, else `-`. Notes: docs/usdt-notes.md and systemtap's <sys/sdt.h>.
"""
import os
import struct
import sys

from elftools.elf.elffile import ELFFile

class Types:
    """The type of argument K of site PC: the local variable __usdt_ID_K, found as docs/usdt-notes.md says."""

    def __init__(self, file):
        elf = ELFFile(file)
        self.dwarf = elf.get_dwarf_info() if elf.has_dwarf_info() else None
        self.lists = self.dwarf.range_lists() if self.dwarf else None
        self.ranges = {}

    def ref(self, die, attr):
        return die.get_DIE_from_attribute(attr) if attr in die.attributes else None

    def covers(self, die, pc):
        if (die.cu, die.offset) not in self.ranges:
            self.ranges[die.cu, die.offset] = self.find_ranges(die)
        return any(lo <= pc < hi for lo, hi in self.ranges[die.cu, die.offset])

    def find_ranges(self, die):
        attrs, top = die.attributes, die.cu.get_top_DIE()
        base = top.attributes['DW_AT_low_pc'].value if 'DW_AT_low_pc' in top.attributes else 0
        if 'DW_AT_high_pc' in attrs:
            low, high = attrs['DW_AT_low_pc'].value, attrs['DW_AT_high_pc']
            return [(low, high.value if high.form == 'DW_FORM_addr' else low + high.value)]
        if 'DW_AT_ranges' not in attrs:
            return []
        out = []
        offset = attrs['DW_AT_ranges'].value
        for entry in self.lists.get_range_list_at_offset(offset, die.cu):
            if hasattr(entry, 'base_address'):
                base = entry.base_address
            elif entry.is_absolute:
                out.append((entry.begin_offset, entry.end_offset))
            else:
                out.append((base + entry.begin_offset, base + entry.end_offset))
        return out

    def scopes(self, die, pc, path):
        """The functions around PC, inlined ones too, outermost first."""
        for child in die.iter_children():
            if child.tag in ('DW_TAG_subprogram', 'DW_TAG_inlined_subroutine') and self.covers(child, pc):
                path.append(child)
            if child.has_children:
                # A lambda's function is below a function that does not cover it.
                self.scopes(child, pc, path)
        return path

    def variable(self, die, name):
        for child in die.iter_children():
            if child.tag == 'DW_TAG_variable':
                got = child.attributes.get('DW_AT_name')
                if got and got.value.decode() == name:
                    return child
            elif child.tag == 'DW_TAG_lexical_block':
                found = self.variable(child, name)
                if found:
                    return found
        origin = self.ref(die, 'DW_AT_abstract_origin')
        return self.variable(origin, name) if origin else None

    def name(self, die):
        """The type as C declares it, without qualifiers of its own."""
        if die is None:
            return 'void'
        target = self.ref(die, 'DW_AT_type')
        if die.tag in ('DW_TAG_const_type', 'DW_TAG_volatile_type'):
            what = die.tag[7:-5]
            if target is not None and target.tag == 'DW_TAG_pointer_type':
                return '%s %s' % (self.name(target), what)
            return '%s %s' % (what, self.name(target))
        if die.tag == 'DW_TAG_pointer_type':
            if target is not None and target.tag == 'DW_TAG_subroutine_type':
                return self.name(target)
            return self.name(target) + ' *'
        if die.tag == 'DW_TAG_array_type':
            return self.name(target) + ' *'
        if die.tag == 'DW_TAG_subroutine_type':
            return 'function'
        prefix = {'DW_TAG_structure_type': 'struct ', 'DW_TAG_class_type': 'class ', 'DW_TAG_union_type': 'union ',
                  'DW_TAG_enumeration_type': 'enum '}.get(die.tag, '')
        if 'DW_AT_name' not in die.attributes:
            return prefix + '<anonymous>' if prefix else '?'
        name = die.attributes['DW_AT_name'].value.decode()
        return prefix + {'unsigned int': 'unsigned', 'long int': 'long', 'long unsigned int': 'unsigned long',
                         'short int': 'short', 'short unsigned int': 'unsigned short', 'bool': '_Bool',
                         'long long int': 'long long',
                         'long long unsigned int': 'unsigned long long'}.get(name, name)

    def of(self, pc, ident, n):
        for cu in self.dwarf.iter_CUs() if self.dwarf else []:
            for scope in reversed(self.scopes(cu.get_top_DIE(), pc, [])):
                found = [self.variable(scope, '__usdt_%d_%d' % (ident, k + 1)) for k in range(n)]
                if n and all(found):
                    return [self.name(self.bare(self.ref(self.pointer(v), 'DW_AT_type'))) for v in found]
        return ['?'] * n

    def pointer(self, variable):
        die = self.ref(variable, 'DW_AT_type')
        if die.tag == 'DW_TAG_typedef': # in C it has a name
            return self.ref(die, 'DW_AT_type')
        return die

    def bare(self, die):
        while die is not None and die.tag in ('DW_TAG_const_type', 'DW_TAG_volatile_type'):
            die = self.ref(die, 'DW_AT_type')
        return die


def sections(data):
    assert data[:6] == b'\x7fELF\x02\x01', 'not a little-endian ELF64 file'
    shoff, = struct.unpack_from('<Q', data, 40)
    num, strndx = struct.unpack_from('<HH', data, 60)
    heads = [struct.unpack_from('<IIQQQQ', data, shoff + 64 * i) for i in range(num)]
    names = heads[strndx]
    for name, kind, flags, addr, off, size in heads:
        start = names[4] + name
        yield data[start:data.index(b'\0', start)].decode(), kind, flags, addr, data[off:off + size]


def notes(body):
    at = 0
    while at < len(body):
        namesz, descsz, kind = struct.unpack_from('<III', body, at)
        start = at + 12 + (namesz + 3) // 4 * 4
        yield body[at + 12:at + 12 + namesz].rstrip(b'\0').decode(), kind, start, body[start:start + descsz]
        at = start + (descsz + 3) // 4 * 4


def strings(raw, count):
    parts = raw.split(b'\0')
    assert len(parts) == count + 1 and parts[-1] == b'', raw
    return [p.decode() for p in parts[:-1]]


def split(text):
    """The arguments of a macro call, as the preprocessor splits them."""
    parts, depth, quote, i, cur = [], 0, '', 0, ''
    while i < len(text):
        c = text[i]
        cur += c
        if quote:
            if c == '\\':
                i += 1
                cur += text[i]
            elif c == quote:
                quote = ''
        elif c in '"\'':
            quote = c
        elif c == '(':
            depth += 1
        elif c == ')':
            depth -= 1
        elif c == ',' and depth == 0:
            parts.append(cur[:-1].strip())
            cur = ''
        i += 1
    return parts + [cur.strip()]


def read(path, with_types=True):
    data = open(path, 'rb').read()
    sdt, ours = [], b''
    for name, kind, flags, _, body in sections(data):
        if name == '.note.stapsdt':
            assert kind == 7
            for owner, typ, _, desc in notes(body):
                assert (owner, typ) == ('stapsdt', 3)
                pc, base, sema = struct.unpack_from('<QQQ', desc)
                assert base, 'no .stapsdt.base'
                sdt.append([pc, sema] + strings(desc[24:], 3))
        elif name == '.note.btgen':
            assert kind == 7 and not flags & 2, 'loaded, or no note'
            ours = body
    texts, docs = {}, {}
    for owner, typ, at, desc in notes(ours):
        assert owner == 'btgen'
        if typ == 1:
            pc, off, ident = struct.unpack_from('<QiI', desc)
            start = at + off
            assert struct.unpack_from('<I', ours, start)[0] == ident, 'the text is another site\'s'
            size, = struct.unpack_from('<I', ours, start - 20 + 4)
            line, = struct.unpack_from('<I', ours, start + 4)
            texts[pc] = [ident, line] + strings(ours[start + 8:start + size], 4)
        elif typ == 3:
            provider, name, doc = strings(desc, 3)
            docs[provider, name] = doc
    sites = []
    for pc, sema, provider, name, args in sdt:
        if provider != os.environ.get('ONLY', provider):
            continue
        site = {'pc': pc, 'sema': sema, 'provider': provider, 'name': name, 'args': args.split(),
                'doc': docs.get((provider, name))}
        if pc in texts:
            ident, line, prov2, name2, file, text = texts[pc]
            assert (prov2, name2) == (provider, name), (prov2, name2, provider, name)
            site.update(id=ident, line=line, file=file, exprs=split(text)[1:])
        sites.append(site)
    if with_types:
        with open(path, 'rb') as file:
            types = Types(file)
            for s in sites:
                s['types'] = types.of(s['pc'], s.get('id', -1), len(s['args']))
    return sites


def show(s):
    types = s.get('types') or [''] * len(s['args'])
    exprs = s.get('exprs') or ['?'] * len(s['args'])
    assert len(types) == len(exprs) == len(s['args']), s
    return '%s:%s(%s) %s %s:%s' % (s['provider'], s['name'],
                                  ', '.join(('%s [%s]' % te).lstrip() for te in zip(types, exprs)),
                                  'sema' if s['sema'] else '-', s.get('file', '?'), s.get('line', 0))


def main(args):
    types_too = '--no-types' not in args
    files = [a for a in args if a != '--no-types']
    for path in files:
        out = open(path + '.probes', 'w') if len(files) > 1 else sys.stdout
        for line in sorted(map(show, read(path, types_too))):
            print(line, file=out)


main(sys.argv[1:])
