# Compares what gdb sees with what btgen says, and writes C that asserts of btgen's definitions what gdb sees.
#   gdb_verdict.py KINDS WANT GOT MESSAGES HEADER ASSERTS
# KINDS: the names with their keywords; WANT: gdb_layout.py; GOT: btgen_layout.py; MESSAGES: what btgen types said;
# HEADER: what it printed; ASSERTS: the file to write, which includes HEADER.
# Prints lines with #, the last one "# N structs, N enums, N unions compared, N refused: REASON N, ..."; status 1 for a difference.
import collections, re, sys

kinds, want, got, said, header = ([l.rstrip("\n") for l in open(p, errors="replace")] for p in sys.argv[1:6])
word = re.compile(r"^(struct|union|enum|class) ")
differ = set(re.findall(r'"([^"]+)" is defined differently', "\n".join(said)))
bare = lambda text: word.sub("", text)

# Names of definitions that C cannot spell stand in a comment before them, among remarks.
letters = lambda text: re.sub(r"[\W_]", "", text)
tags, body, comments, inside = {}, {}, [], None
for line in header:
    m = re.match(r"(struct|union|enum) (\w+) \{$", line)
    if m:
        names = [c for c in comments if letters(c) and letters(m.group(2)).startswith(letters(c))]
        inside = tags[names[0] if names else m.group(2)] = "%s %s" % m.groups()
        body[inside] = []
    elif line == "};":
        inside, comments = None, []
    elif inside:
        body[inside].append(line)
    elif line.startswith("// "):
        comments.append(line[3:])

count, refused, bad, asserts = collections.Counter(), collections.Counter(), [], []
plain = re.compile(r"^[A-Za-z_]\w*$")

def write_asserts(tag, layout):
    size, parts = layout.split("|", 1)
    text = "\n".join(body[tag])
    keyword, name = tag.split(" ")
    if keyword != "enum":
        asserts.append("_Static_assert(sizeof(%s) == %s, \"\");" % (tag, size))
    for part in filter(None, parts.split(",")):
        if keyword == "enum":
            what, value = part.rsplit(":", 1)
            spelled = [n for n in (name + "__" + what, what) if re.search(r"\b%s = " % re.escape(n), text)]
            number = value + "U" if int(value) > 0x7fffffff else value.replace("-9223372036854775808", "-9223372036854775807 - 1")
            asserts.append("_Static_assert(%s == %s, \"\");" % (spelled[0] if spelled else what, number))
            continue
        what, off, bits = part.rsplit(":", 2)
        # Left out: bitfields, which have no offset in C; names that C cannot take, or that are those of padding; empty
        # members that share their place.
        if bits == "0" and plain.match(what) and not what.startswith("_gap") and re.search(r"\b%s\b" % what, text):
            asserts.append("_Static_assert(__builtin_offsetof(%s, %s) == %s, \"\");" % (tag, what, off))
        elif bits == "0" and plain.match(what):
            count["members only in gdb"] += 1

if len(want) != len(got):
    bad.append("# lines: gdb %d, btgen %d" % (len(want), len(got)))
for kind, w, g in zip(kinds, want, got):
    name = bare(kind)
    choices = [bare(c) for c in w.split("\t")]
    choices = choices[:1] + [choices[0].split("|")[0] + "|" + c for c in choices[1:]]
    if "|refused|" in w:
        refused["gdb: " + re.sub(r" named .*|\".*", "", w.split("|", 2)[2])] += 1
    elif bare(g) not in choices:
        bad.append("# gdb   %s\n# btgen %s" % (w, g))
    elif len(choices) > 1 and name not in differ:
        bad.append("# %s: several definitions, and not a word: %s" % (kind, w))
    elif name not in tags:
        refused["btgen: " + next((re.sub(r".*cannot be written in C: ", "", s) for s in said if '"%s"' % name in s), "not printed")] += 1
    else:
        count[word.match(kind).group(1)] += 1
        count["several"] += len(choices) > 1
        write_asserts(tags[name], bare(g).split("|", 1)[1])
with open(sys.argv[6], "w") as out:
    print('#include "%s"' % sys.argv[5], *asserts, sep="\n", file=out)
print(*bad[:5], sep="\n")
print("# of these %d have several definitions; %d members are left out of the C" % (count["several"], count["members only in gdb"]))
print("# %d structs, %d enums, %d unions compared, %d refused%s" % (
    count["struct"], count["enum"], count["union"], sum(refused.values()),
    ": " + ", ".join("%s %d" % r for r in refused.items()) if refused else ""))
sys.exit(1 if bad else 0)
