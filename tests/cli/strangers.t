#!/usr/bin/env bash
# Names of a hostile program, at every position, through every command that writes; and whether a writer can forget gen/code.
. "$(dirname "$0")/../lib.sh"
command -v python3 >/dev/null || skip_all "python3 is missing"

python3 "$top/tests/cli/strangers.py" "$btgen" "$bpftrace" "$tmp" >"$tmp/tap"
sed '/^1\.\./d' "$tmp/tap"
# shellcheck disable=SC2034 # of lib.sh
tap_n=$(grep -cE '^(not )?ok ' "$tmp/tap")
# shellcheck disable=SC2034 # of lib.sh
tap_failed=$(grep -c '^not ok ' "$tmp/tap")
ok "all of it ran" grep -q "^1\.\." "$tmp/tap"

# planted CLAIM FILE OLD NEW: a writer that forgets gen/code is found by the compiler or by make lint
planted() {
	rm -rf "$tmp/gen" && cp -r "$top/gen" "$tmp/gen"
	python3 - "$tmp/gen/$2" "$3" "$4" <<'E3' || { tap_result 1 "$1: the place is there"; return; }
import sys
path, old, new = sys.argv[1:]
text = open(path).read()
if old not in text:
    sys.exit(1)
open(path, "w").write(text.replace(old, new, 1))
E3
	if python3 "$top/tests/names.py" "$tmp/gen" >"$tmp/said" &&
		"${CC:-gcc}" -std=gnu11 -D_GNU_SOURCE -I"$tmp/gen" -fsyntax-only "$tmp/gen/$2" 2>>"$tmp/said"; then
		tap_result 1 "$1"
	else
		tap_result 0 "$1"
	fi
}
if python3 "$top/tests/names.py" "$top/gen"; then tap_result 0 "no writer goes past gen/code"; else tap_result 1 "no writer goes past gen/code"; fi
skeleton=template/skeleton.c
planted "a name as a word: the compiler" $skeleton 'code_word(out, f->name);' 'code_word(out, f->shape.name);'
planted "a name as code" $skeleton 'code_word(out, f->name);' 'strbuf_adds(out, f->shape.name);'
planted "... past the struct" $skeleton 'code_word(out, f->name);' 'strbuf_adds(&out->checked, f->shape.name);'
planted "a word made by hand" $skeleton 'code_word(out, f->name);' 'code_word(out, (struct safe_word){f->shape.name});'
planted "a name as text" $skeleton 'code_word(out, f->name);' 'code_text(out, f->shape.name);'
planted "a name in a format" $skeleton 'code_word(out, f->name);' 'code_f(out, STR_FMT, STR_ARG(f->shape.name));'
planted "a name as a string of btgen's" $skeleton 'code_word(out, f->name);' 'code_z(out, str_dup(sk->arena, f->shape.name));'
planted "a name that calls itself btgen's" template/skeleton_functions.c 'word_own("retval")' 'word_own(str_dup(sk->arena, arg.name))'
planted "a member in a definition" ctype/cprint.c 'code_ident(p->b, f->name);' 'code_f(p->b, STR_FMT, STR_ARG(f->name));'
planted "a tag in a cast" emit/types.c 'STR_ARG(word_spell(e->arena, tag).s)' 'STR_ARG(tag)'
planted "a type's name in a script's tree" emit/arg.c 'text_format(e, n, "(int64)%t", word)' 'text_format(e, n, "(%t)%t", t->name, word)'
done_testing
