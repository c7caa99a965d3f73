#!/usr/bin/env python3
"""names.py [FOLDER]: where FOLDER (gen) writes names of a target past gen/code/code.h; a part of make lint.

The compiler refuses a struct str where a struct code or a struct safe_word is wanted. What it cannot see is here: words
and code that are made elsewhere, text that is written past them, and names that become a piece of a script's tree.
"""
import glob, os, re, sys

gen = sys.argv[1] if len(sys.argv) > 1 else "gen"
# Who writes programs, scripts and pages: with struct code alone. (What tally collects is for a message.)
WRITERS = ["template/skeleton.c", "template/skeleton_functions.c", "template/skeleton_lines.c", "template/skeleton_find.c",
           "template/skeleton_condition.c", "template/follow.c", "template/tally.c", "ctype/cprint.c", "ctype/enumtab.c", "emit/tables.c", "cmd/cmd_expand.c", "cmd/trace.c"]
# Text that is no name: the user's, and what other steps made. Each is looked at once, here.
TEXT = {("template/skeleton.c", "strbuf_str(&text)"), ("template/skeleton.c", "strbuf_str(&format)"), ("template/tally.c", "word"),
        ("template/skeleton_condition.c", "text"), ("template/skeleton_condition.c", "t[i].before")}
OWN = {'"?"', '"retval"', '""', "p.kind"}
# Who writes parts of programs: what a target is asked for has these names.
STEPS = ["bind", "sema", "emit", "template"]
NAME = re.compile(r"(?:provider|probe->name|(?:\bt|\bto|\bm|\barg|\btype|\bbare|\bin|\bsym|\bitem|\bown|type|member|members\.v\[i\])(?:->|\.)name|own_name|"
                  r"->doc|->unit|->function|\btag)\b(?!\.s\b)(?!->text)")
# What stays: records (of which a skeleton's label is one: it is written as a word or quoted), messages, the tree's own words,
# and what a literal has in it (by_address's, lex_quote()).
KNOWN = {("bind/by_address.c", "at->provider->name"), ("bind/by_address.c", "p->provider"), ("bind/by_address.c", "p->name"), ("template/skeleton.c", "p->provider"), ("template/skeleton.c", "p->name"), ("sema/targettype.c", "*tag"),
         ("emit/record.c", "c->probes.v[0].probe->provider"), ("emit/record.c", "c->probes.v[0].probe->name")}


def call_args(text, start):
    depth, args, last = 0, [], start + 1
    for i in range(start, len(text)):
        c = text[i]
        depth += c in "([{"
        depth -= c in ")]}"
        if (c == "," and depth == 1) or depth == 0:
            args.append(" ".join(text[last:i].split()))
            last = i + 1
        if depth == 0:
            return args
    return args


def calls(text, names):
    for m in re.finditer(r"\b(%s)\(" % names, text):
        yield m.group(1), text.count("\n", 0, m.start()) + 1, call_args(text, m.end() - 1)


found = []
for path in sorted(glob.glob(gen + "/*/*.[ch]")):
    name = os.path.relpath(path, gen)
    with open(path) as f:
        text = re.sub(r"/\*.*?\*/|//[^\n]*", lambda m: "\n" * m.group().count("\n"), f.read(), flags=re.S)

    def say(line, what):
        found.append("%s:%d: %s" % (path, line, what))

    if not name.startswith("code/code."):
        for m in re.finditer(r"\(struct safe_word\)|struct safe_word \w+ = \{|(?:\.|->)checked\b|struct code \w+ = \{(?!0\})", text):
            say(text.count("\n", 0, m.start()) + 1, "'%s': only code/code.c makes words and code" % m.group())
    for _, line, args in calls(text, "code_text"):
        if not name.startswith("code/code.") and (name, args[1]) not in TEXT:
            say(line, "code_text() of '%s', which tests/names.py does not know: is it a name of the target's?" % args[1])
    for _, line, args in calls(text, "word_own"):
        if not name.startswith("code/code.") and args[0] not in OWN:
            say(line, "word_own() of '%s', which is not btgen's own" % args[0])
    for fn, line, args in calls(text, "code_z|code_f|word_join|word_ident"):
        for arg in args[1:]:
            if re.search(r"STR_ARG|str_dup|arena_printf|arena_strdup|str_printf|\.p$", arg) and "str_hex(" not in arg:
                if not name.startswith("code/code."):
                    say(line, "%s() of '%s': a struct str is written as it is" % (fn, arg))
    if name in WRITERS:
        for fn, line, args in calls(text, "strbuf_add[a-z_]*"):
            is_text = fn in ("strbuf_addz", "strbuf_addc") or args[1:] == ["t->text"] or (fn == "strbuf_addf" and "STR_ARG" not in str(args))
            if not is_text and not (name == "template/tally.c" and args[0] == "&names"):
                say(line, "%s(): programs and pages are written into a struct code" % fn)
        # A type's words as C text: made of words.
        for fn, line, args in calls(text, "arena_printf") if name == "ctype/cprint.c" else []:
            for arg in args:
                if "STR_ARG" in arg and not arg.endswith(".s)"):
                    say(line, "%s() of '%s', which is no word of code/code.h" % (fn, arg))
    if name.split("/")[0] in STEPS:
        for fn, line, args in calls(text, "change|change_leaf|text_format|text_make|text_add_words|str_printf|strbuf_adds|strbuf_addf"):
            for arg in args[1:]:
                inner = re.sub(r"^STR_ARG\((.*)\)$", r"\1", arg)
                whole = NAME.search(inner)
                if whole and not inner.endswith(".s") and not inner.startswith('"') and not re.search(r"->(name|first|last)->text|print_text", inner):
                    if (name, inner) not in KNOWN:
                        say(line, "%s() of '%s': a target's name is no word of code/code.h" % (fn, inner))

print("\n".join(found), end="\n" if found else "")
sys.exit(bool(found))
