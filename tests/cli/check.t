#!/usr/bin/env bash
# btgen check: findings with their names, and what a user can do about them. What is found is tested in tests/check.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

cd "$tmp" || exit
cp "$targets/nvmf_tgt" .
cat >my.bt <<'END'
#define SHOW(x) printf("%d\n", x)
usdt:__EXE__:nvmf_subsystem_add_listener { SHOW(arg1); }
usdt:__EXE__:nvmf_subsystem_add_listener { printf("%f\n", 1); }
END
check() { "$btgen" check --for 0.17 -x nvmf_tgt "$@" my.bt 2>&1; }
# Only what begins a message, without its text
short() { sed -En 's/^([^ ]*): (error|warning|note): .*([^ ]|  \[(.*)\])$/\2 \1 \4/p' | sed 's/ $//'; }

is "$(check)" "$(cat <<'END'
my.bt:2:49: warning: %d prints the address of a string: use %s with str(arg1)  [string-address]
    usdt:__EXE__:nvmf_subsystem_add_listener { SHOW(arg1); }
                                                    ^~~~
tests/targets/subsystem_ops.c:190: note: arg1 of spdk:nvmf_subsystem_add_listener is char *subnqn (declared)
my.bt:3:52: error: "%f" is unknown to bpftrace: it prints no floating-point numbers  [format]
    usdt:__EXE__:nvmf_subsystem_add_listener { printf("%f\n", 1); }
                                                       ^~
END
)" "each finding has its place, its name, and where the argument's type is from"
check >/dev/null
is $? 1 "an error is the exit status"
check -W no-format >/dev/null
is $? 0 "a warning is none"
is "$(check -W no-format -W no-string-address)" "" "-W no-NAME says nothing about it"
is "$(check -W no-format -W format | short)" "$(check | short)" "the last -W about a name counts"
check -W no-format -W error >/dev/null
is $? 1 "-W error: a warning is an error"
is "$(check -W error | short | sort -u)" "error my.bt:2:49
error my.bt:3:52
note tests/targets/subsystem_ops.c:190" "and called so"
out=$(check --force)
is "$? $(short <<<"$out" | grep -c ^warning)" "0 2" "--force: findings are warnings"
is "$("$btgen" expand --for 0.17 --force -x nvmf_tgt my.bt 2>"$tmp/err" | tail -n 1)" \
	"if (1) { printf(\"%f\\n\", 1); } }" "and the program is written"
like "$(check -W fromat)" "^btgen check: -W: no finding is called 'fromat', did you mean 'format'\?$" "a name that is none"
is "$("$btgen" check -W help | grep -c '^[a-z-]* *[a-z]')" "$("$btgen" check -W help | wc -l)" "-W help lists the names"
is "$(echo 'BEGIN { printf("%d %f\n", 1, 2); }' | "$btgen" check /dev/stdin 2>&1 | short | wc -l)" 1 "a script without a target is checked as well"
flags='BEGIN { printf("%s %+i\n", pid, 3); }'
is "$("$btgen" check --for 0.17,0.23 -e "$flags" 2>&1) $?" " 0" "what bpftrace.sh prints itself is right on every version"
like "$("$btgen" expand --for 0.17 -e "$flags" 2>&1)" ":1:20: error: .*came with 0.24" "a program that is printed needs a bpftrace that can"
is "$(printf '#define F printf("%%f", 1)\nBEGIN { F; }\n' | "$btgen" check --for 0.17 /dev/stdin 2>&1 | short)" \
	"error /dev/stdin:1:19
note /dev/stdin:2:9" "a mistake in a macro has the place where it is called, too"
like "$("$btgen" check --for 0.17 -e 'BEGIN { system("echo %+d %s", 3, 4); }' 2>&1)" ":1:22: error: .* the flag" \
	"and so does a command"

is "$(check --json 2>"$tmp/err" | python3 -c '
import json, sys
for f in json.load(sys.stdin):
    print(list(f), [f[k] for k in ("file", "line", "col", "end", "severity", "name")], [(n["file"], n["line"]) for n in f["notes"]])
')" "$(cat <<'END'
['file', 'line', 'col', 'end', 'severity', 'name', 'text', 'notes'] ['my.bt', 2, 49, 53, 'warning', 'string-address'] [('tests/targets/subsystem_ops.c', 190)]
['file', 'line', 'col', 'end', 'severity', 'name', 'text', 'notes'] ['my.bt', 3, 52, 54, 'error', 'format'] []
END
)" "--json: one array of findings"
is "$(cat "$tmp/err")" "" "and nothing beside it"
echo 'BEGIN { exit(); }' >right.bt
is "$("$btgen" check --json right.bt | tr -d '\n')" "[]" "empty when there are none"
is "$("$btgen" check --json nosuch.bt | python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["severity"])')" error \
	"what is no finding but an error is in there, too"

printf '#define SHOW(x) printf("%%f %%d\\n", 1, x)\nusdt:__EXE__:nvmf_tgt_state { SHOW(arg0); }\n' >my.bt
is "$(check | sed -n 's/: \(error\|note\): .*//p')" "my.bt:1:25
my.bt:2:31" "what is wrong in a macro is shown there, and where it is called"

# Several versions at once
cat >several.bt <<'END'
k:vfs_read, k:vfs_read { let $x = 1; printf("%f\n", $x); @m[1] = $x; for ($kv : @m) { } }
END
is "$("$btgen" check --for 0.17,0.23,0.27 several.bt 2>&1 | grep -v '^    ')" "$(cat <<'END'
several.bt:1:26: error: bpftrace 0.17 has no let: it was added in 0.22 (0.17)  [version]
btgen: note: an assignment declares a variable, too
several.bt:1:70: error: bpftrace 0.17 has no for loop: it was added in 0.21 (0.17)  [version]
several.bt:1:46: error: "%f" is unknown to bpftrace: it prints no floating-point numbers  [format]
several.bt:1:13: warning: duplicate probe in the list: the clause would run twice (0.17, 0.27)  [duplicate]
several.bt:1:13: error: duplicate probe in the list: bpftrace 0.23 cannot load that (0.23)  [duplicate]
END
)" "--for of several versions says once what is the same for them, and else for which it is"
is "$("$btgen" check --json --for 0.17,0.23,0.27 several.bt | python3 -c '
import json, sys
for f in json.load(sys.stdin):
    print(f["col"], *f["versions"])
')" "26 0.17
70 0.17
46 0.17 0.23 0.27
13 0.17 0.27
13 0.23" "--json has a list of them"
"$btgen" check --for 0.24,0.27 -W no-format several.bt
is $? 0 "the status is that of all of them"
like "$("$btgen" check --for 0.17,x several.bt 2>&1)" "^btgen check: --for: 'x' is not a version of bpftrace$" "one that is none"
like "$("$btgen" check --for 0.17,0.23 --lock lock several.bt 2>&1)" '--lock and --against need one version' "a lock is of one"

# Debug information in a file of its own, of which only this would be read
gcc -g -O1 -I"$top/include" -o plain "$top/tests/check/plain.c"
objcopy --only-keep-debug plain plain.debug
strip plain
objcopy --add-gnu-debuglink=plain.debug plain
text='usdt:__EXE__:plain:run { printf("%d\n", arg0); }'
like "$("$btgen" check --for 0.17 -x plain -e "$text" 2>&1)" 'warning: .*\[format\]' "btgen check reads a debug file for types"
is "$("$btgen" run -n -x plain -e "$text" 2>&1 >/dev/null)" "" "a run, which would start later for that, does not"
like "$("$btgen" check --for 0.17,0.27 -x plain -e "$text" 2>&1)" '^[^ ]*plain\.c:12: note: arg0 of ' \
	"with several versions, too, the note has the name of the source file"

# A terminal
coloured() { script -qec "$* '$btgen' check --for 0.17 -x nvmf_tgt my.bt" /dev/null </dev/null | tr -d '\r'; }
if command -v script >/dev/null; then
	like "$(coloured TERM=xterm env -u NO_COLOR)" $'\033\[1;31merror: ' "a terminal gets colours"
	not_ok "not with NO_COLOR" grep -q $'\033' <<<"$(coloured TERM=xterm NO_COLOR=1)"
	not_ok "nor one that cannot show them" grep -q $'\033' <<<"$(coloured TERM=dumb env -u NO_COLOR)"
else
	skip "colours" "no script(1)"
fi
done_testing
