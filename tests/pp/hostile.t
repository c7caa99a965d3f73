#!/usr/bin/env bash
# Templates written to break the preprocessor end in an error, soon and without eating the machine.
. "$(dirname "$0")/../lib.sh"

# 2 GiB is far more than the limits allow
limit_memory 2097152

# gen PYTHON: writes the template $tmp/t that the expression gives
gen() { python3 -c "import sys; sys.stdout.write($1)" >"$tmp/t"; }

# refuses CLAIM REGEX: status 1, a message that matches and is not endless
refuses() {
	guard "$build/tests/ppcat" -I"$tmp" "$tmp/t" >"$tmp/out" 2>"$tmp/err"
	local status=$?
	[ $status = 1 ] && grep -qE -- "$2" "$tmp/err" && [ "$(wc -c <"$tmp/err")" -lt 20000 ]
	tap_result $? "$1" || { echo "#   status $status"; head -c 600 "$tmp/err" | sed 's/^/#   /'; }
}

# takes CLAIM LAST: status 0 and this last line
takes() {
	guard "$build/tests/ppcat" -w "$tmp/t" >"$tmp/out" 2>"$tmp/err"
	local status=$?
	[ $status = 0 ] && [ "$(grep . "$tmp/out" | tail -n 1)" = "$2" ]
	tap_result $? "$1" || { echo "#   status $status"; head -c 600 "$tmp/err" | sed 's/^/#   /'; }
}

gen '"".join("#define A%d A%d A%d\n" % (i, i+1, i+1) for i in range(64)) + "A0\n"'
refuses "a macro that doubles 64 times" 't:[0-9]+:[0-9]+: error: the program exceeds 2 million tokens'
gen '"#define F(x) x x\n" + "F("*60 + "a" + ")"*60 + "\n"'
refuses "an argument that doubles 60 times" 'error: the program exceeds 2 million tokens'
gen '"#define S(x) #x\n#define X(x) S(x)\n" + "X("*60 + "\"\\\\\"" + ")"*60 + "\n"'
refuses "a string whose escapes double" 'error: # and ## exceed 64 MiB of text'
gen '"#define P(x) Q(x, x)\n#define Q(a, b) a ## b\n" + "P("*60 + "abc" + ")"*60 + "\n"'
refuses "a name pasted to itself" 'error: # and ## exceed 64 MiB of text'
gen '"#define F(x) x\n" + "F("*1000 + ")"*1000 + "\n"'
refuses "calls nested 1000 deep" 'error: macro calls are nested more than 200 deep'
gen '"#define F(x) x\n" + "F("*300000'
refuses "calls without end" 'error: the arguments of macro "F" lack a closing \)'
gen '"".join("#define A%d A%d\n" % (i, i+1) for i in range(100000)) + "A0\n"'
takes "a chain of 100000 macros" A100000
gen '"#define F(" + ",".join("a%d" % i for i in range(5000)) + ") x\n"'
refuses "5000 parameters" 'error: more than 1024 parameters'
gen '"#if " + "("*100000 + "1\n#endif\n"'
refuses "an expression nested 100000 deep" 'error: the #if expression is nested too deeply'
gen '"#if " + "!"*100000 + "1\n#endif\n"'
refuses "100000 operators before a value" 'error: the #if expression is nested too deeply'
gen '"#if " + "1?"*100000 + "1\n#endif\n"'
refuses "100000 question marks" 'error: the #if expression is nested too deeply'
gen '"#if " + "1+"*100000 + "1\nyes\n#endif\n"'
takes "a sum of 100001 numbers" yes
gen '"#if 1\n" * 100000'
refuses "100000 conditionals in one another" 'error: conditionals are nested more than 1000 deep'
gen '"#if 0\n" + "#if 1\n" * 100000 + "#endif\n" * 100001 + "end\n"'
takes "the same where it is skipped" end
gen '"#if " + "9"*100000 + "\n#endif\n"'
refuses "a number of 100000 digits" 'error: this number is too large'
gen '"x"*100000 + "#\n" + "\\\n"*200000 + "a\n"'
takes "200000 line splices" a
gen '"/*" + "x"*2000000'
refuses "a comment of two megabytes without end" 't:1:1: error: unterminated comment'
gen '"\n"*4000000 + "a"'
takes "4 million empty lines" a
gen '"a " * 3000000'
refuses "3 million tokens" 'error: the program exceeds 2 million tokens'
gen '"a\0b"'
refuses "a NUL byte" 'a NUL byte at offset 1'
gen '"a" * (16 * 1024 * 1024 + 1)'
refuses "a file of more than 16 MiB" 'larger than 16 MiB'
gen '"".join(chr(i) for i in range(1, 128) if i not in (10, 34)) * 3'
"$build/tests/ppcat" "$tmp/t" >"$tmp/out" 2>&1
ok "control characters end in an ordinary status" test $? -le 1
unlike "$(tail -c +1 "$tmp/out" | grep -a error)" $'\e' "and in a message they are escaped"

# Files that include each other twice: 2^40 ways through them.
for i in {0..40}; do
	printf '#include <f%d>\n#include <f%d>\n' $((i + 1)) $((i + 1)) >"$tmp/f$i"
done
echo x >"$tmp/f41"
gen '"#include <f0>\n"'
refuses "files that multiply" 'error: more than 2000 files are included'
python3 -c 'print("/" * (15 << 20))' >"$tmp/big"
gen '"#include <big>\n" * 100'
refuses "a large file many times" 'error: # and ## exceed 64 MiB of text'
done_testing
