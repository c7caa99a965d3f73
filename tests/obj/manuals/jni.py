#!/usr/bin/python3
"""The arguments of libjvm's JNI probes, as args.py's table, out of <jni.h>.

    jni.py /usr/lib/jvm/.../include/jni.h

"DTrace Probes in HotSpot VM", section "Using the hotspot_jni provider": for each function there is a probe NAME__entry with
the function's arguments, and NAME__return with what it returns. <jni.h> has their types and names. Not among a probe's
arguments are floating-point numbers, which probes cannot carry, and what follows the method's identifier in a call.
"""
import re
import sys

# Parameters that HotSpot's own definitions call otherwise than the header does.
OTHER_NAMES = {
    'arg': '_args', 'args': '_args/args_', 'clazz': 'cls/elementClass', 'cstring': 'chars', 'elems': 'buf', 'gref': 'ref',
    'init': 'initialElement', 'l': 'len', 'len': 'length/bufLen', 'lobj': 'ref', 'loader': 'loaderRef', 'methodID': 'method_id',
    'msg': 'message', 'obj': 'jobj/ref', 'obj1': 'r1', 'obj2': 'r2', 'pvm': 'vm', 'str': 'string', 'string': 'str', 'sup': 'super',
    'unicode': 'unicodeChars', 'utf': 'bytes', 'val': 'value', 'vmBuf': 'vm_buf', 'nVMs': 'numVMs',
}
# Functions return a variable of theirs; a pointer to const is one to what they have allocated themselves.
RETURNED = 'ret/result/buf'


def parameter(text):
    """'const jchar* chars' as ('const jchar *', 'chars'); None for what is no argument of the probe"""
    text = ' '.join(text.split())
    m = re.fullmatch(r'(.*?)(\w+)', text)
    if not m or not m[1]:
        return None
    kind = re.sub(r'\s*\*', ' *', m[1]).replace('* *', '**').strip()
    if kind in ('jfloat', 'jdouble', 'va_list') or kind.startswith('const jvalue'):
        return None
    return kind, m[2]


def functions(text):
    text = re.sub(r'/\*.*?\*/', '', text, flags=re.S)
    tables = text[text.index('struct JNINativeInterface_ {'):text.index('struct JNIEnv_ {')]
    tables += text[text.index('struct JNIInvokeInterface_ {'):text.index('struct JavaVM_ {')]
    for m in re.finditer(r'(\w[\w ]*?\s?\*?)\s*\(JNICALL\s*\*\s*(\w+)\)\s*\(([^)]*)\)', tables):
        yield m[1], m[2], m[3]
    for m in re.finditer(r'^_JNI_IMPORT_OR_EXPORT_ (\w+) JNICALL\s+JNI_(\w+)\(([^)]*)\)', text, re.M):
        yield m[1], m[2], m[3]


with open(sys.argv[1]) as f:
    header = f.read()
for kind, name, params in functions(header):
    if name == 'GetCreatedJavaVMs':  # its parameters have no names there
        params = 'JavaVM **vmBuf, jsize len, jsize *nVMs'
    args = [p for p in map(parameter, params.split(',')) if p]
    print('hotspot_jni:%s__entry %s' % (name, ', '.join('%s|%s/%s' % (k, n, OTHER_NAMES.get(n, n)) for k, n in args)))
    kind = re.sub(r'\s*\*', ' *', kind.strip())
    if kind in ('void', 'jfloat', 'jdouble'):
        print('hotspot_jni:%s__return' % name)
    else:
        print('hotspot_jni:%s__return %s/%s|%s' % (name, kind, kind.removeprefix('const '), RETURNED))
