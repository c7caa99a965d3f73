#!/usr/bin/env bash
# btgen probes: what it prints, what it refuses, in a user's words.
#
# The programs are written in assembler below, so that every byte of a note is ours: names with quotes and control
# characters, a note cut short, constants as arguments. Sites are real nops, so the programs also run.
. "$(dirname "$0")/../lib.sh"

[ "$(uname -m)" = x86_64 ] || skip_all "the programs here are x86-64 assembler"

# note LABEL PROVIDER NAME ARGS [SEMAPHORE]: one well-formed note of the nop at LABEL
note() {
	cat <<END
	.pushsection .note.stapsdt,"","note"
	.balign 4
	.4byte 8, 9f-8f, 3
	.asciz "stapsdt"
8:	.8byte $1, _.stapsdt.base, ${5:-0}
	.asciz "$2"
	.asciz "$3"
	.asciz "$4"
9:	.balign 4
	.popsection
END
}

# program NAME: main() has the nops first to fifth; notes come from stdin
program() {
	{
		cat <<'END'
	.text
	.globl main
	.type main, @function
main:
first:	nop
second:	nop
third:	nop
fourth:	nop
fifth:	nop
	test %rdi, %rdi
	js main
	sub $8, %rsp
	call pause@PLT
	add $8, %rsp
	xor %eax, %eax
	ret
	.size main, . - main
	.section .stapsdt.base,"aG","progbits",.stapsdt.base,comdat
	.weak _.stapsdt.base
	.hidden _.stapsdt.base
_.stapsdt.base:	.space 1
	.section .probes,"aw","progbits"
sema:	.2byte 0
	.section .note.GNU-stack,"","progbits"
END
		cat
	} >"$tmp/$1.s"
	"${CC:-gcc}" -no-pie -o "$tmp/$1" "$tmp/$1.s"
}

# run ARGS...: btgen probes; leaves $out, $err, $status
run() {
	"$btgen" probes "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
	status=$?
	out=$(cat "$tmp/out") err=$(cat "$tmp/err")
}

# placeless TEXT: addresses, which depend on the linker, as ADDR
placeless() { sed -E 's/0x[0-9a-f]{5,}/ADDR/g' <<<"$1"; }

# has_lines WANT TEXT: as many lines as said
has_lines() { [ "$(printf '%s' "$2" | grep -c '')" = "$1" ]; }

# shellcheck disable=SC2016 # the $ are the assembler's
program plain < <(
	note first spdk start '-4@$1 8@$0x1000'
	note second spdk state_changed '-4@%edi 8@16(%rsp,%rax,4)' sema
	note third spdk state_changed '-4@$7 8@%rbx' sema
	note fourth libfoo start ''
) || skip_all "cannot assemble a program here"

run --for 0.17 -x "$tmp/plain"
is "$status $out" "0 spdk:start(int32_t arg0, uint64_t arg1)
spdk:state_changed(int32_t arg0, uint64_t arg1)  2 sites
libfoo:start()" "a line for each probe: its declaration, and its sites if there are several"
is "$err" "" "and nothing is complained about"

run -v --for 0.17 -x "$tmp/plain" start
is "$status $(placeless "$out" | sed 's/0x[0-9a-f]*$/OFF/')" "0 $tmp/plain: 2 probes
spdk:start(int32_t arg0, uint64_t arg1)
    arg0   int32_t arg0   size only
    arg1   uint64_t arg1  size only
  1 site:
    ADDR  file offset OFF
        arg0   -4@\$1               signed, 4 bytes, constant 1
        arg1   8@\$0x1000           unsigned, 8 bytes, constant 4096
libfoo:start()
  1 site:
    ADDR  file offset OFF" "-v says where it is in the file, and in words what the arguments are"

run --json --for 0.17 -x "$tmp/plain" spdk:start
is "$(placeless "$out" | sed -E 's/"offset": "0x[0-9a-f]+"/"offset": "OFF"/')" "[
{\"file\": \"$tmp/plain\", \"provider\": \"spdk\", \"name\": \"start\", \"semaphore\": null, \"counter\": null, \"doc\": null, \"attachable\": true, \"why_not\": null, \"args\": [{\"name\": \"arg0\", \"type\": null, \"from\": \"size only\", \"size\": 4, \"signed\": true, \"float\": false, \"unit\": null, \"doc\": null, \"string_max\": null, \"other_names\": [], \"differs\": null}, {\"name\": \"arg1\", \"type\": null, \"from\": \"size only\", \"size\": 8, \"signed\": false, \"float\": false, \"unit\": null, \"doc\": null, \"string_max\": null, \"other_names\": [], \"differs\": null}], \"sites\": [{\"address\": \"ADDR\", \"offset\": \"OFF\", \"semaphore\": null, \"doubt\": null, \"function\": null, \"inlined_into\": null, \"file\": null, \"line\": null, \"args\": [{\"name\": \"arg0\", \"type\": null, \"from\": \"size only\", \"size\": 4, \"signed\": true, \"float\": false, \"place\": \"\$1\", \"expression\": null}, {\"name\": \"arg1\", \"type\": null, \"from\": \"size only\", \"size\": 8, \"signed\": false, \"float\": false, \"place\": \"\$0x1000\", \"expression\": null}]}]}
]" "--json has the same"
# Programs rely on the keys: one may be added here, and none taken away or renamed.
probe_keys='file provider name semaphore counter doc attachable why_not args sites'
arg_keys='name type from size signed float unit doc string_max other_names differs'
site_keys='address offset semaphore doubt function inlined_into file line args'
operand_keys='name type from size signed float place expression'
is "$(python3 -c '
import json, sys
p, = json.load(open(sys.argv[1]))
for thing in p, p["args"][0], p["sites"][0], p["sites"][0]["args"][0]:
    print(*thing)' "$tmp/out")" "$probe_keys
$arg_keys
$site_keys
$operand_keys" "its keys are these"
page=$(sed -n '/^\.Ss btgen probes/,/^\.Ss btgen diff/s/^\.Cm //p' "$top/docs/man/btgen.1" | tr -s ' ,' '\n')
for key in $probe_keys $arg_keys $site_keys $operand_keys; do
	grep -qx "$key" <<<"$page" || printf '%s\n' "$key"
done >"$tmp/unknown"
is "$(cat "$tmp/unknown")" "" "and the manual page has each of them"
nm "$tmp/plain" >"$tmp/nm"
address() { sed -nE "s/^0*([0-9a-f]+) . $1\$/0x\1/p" "$tmp/nm"; }
run --json -x "$tmp/plain" state_changed
is "$(python3 -c '
import json, sys
p, = json.load(open(sys.argv[1]))
print([s["address"] for s in p["sites"]], p["semaphore"])' "$tmp/out")" \
	"['$(address second)', '$(address third)'] $(address sema)" "addresses and semaphore are what nm says"

# patterns
run -x "$tmp/plain" 'spdk:*'
is "$status $(grep -c '^spdk:' <<<"$out") $(grep -c '^libfoo:' <<<"$out")" "0 2 0" "a pattern with a provider"
run -x "$tmp/plain" 'st?rt'
is "$status $(grep -c ':start(' <<<"$out")" "0 2" "a pattern for the name matches under every provider"
run -x "$tmp/plain" 'start' 'state*'
is "$status $(grep -c '^[a-z]*:' <<<"$out")" "0 3" "several patterns add up"
run -x "$tmp/plain" stat_changed 'libfoo:*'
is "$status $err" "1 btgen: error: no probe matches 'stat_changed', did you mean 'spdk:state_changed'?" \
	"a pattern without a match is an error that offers the nearest name"
like "$out" '^libfoo:start' "what other patterns match is still listed"
run -x "$tmp/plain" spkd:start
is "$status $err" "1 btgen: error: no probe matches 'spkd:start', did you mean 'spdk:start'?" "a mistyped provider"
run -x "$tmp/plain" zzzzzzzz
is "$status $out$err" "1 btgen: error: no probe matches 'zzzzzzzz'" "nothing is offered when nothing is near"
run --json -x "$tmp/plain" zzzzzzzz
is "$status $out" "1 []" "an empty list is an empty array"

# several files
run -x "$tmp/plain" -x /no/such -x "$tmp/plain"
is "$status $err" "1 /no/such: error: cannot open it: no such file" "of several files the others are listed"
is "$(grep -c '/plain: 3 probes$' <<<"$out")" 2 "each file has a line with its path"

# files without probes, and files that are none
"${CC:-gcc}" -x c -o "$tmp/none" - <<<'int main(void) { return 0; }'
run -x "$tmp/none"
is "$status $out$err" "0 btgen: $tmp/none has no USDT probes" "a file without probes is not an error, and that is said"
run --json -x "$tmp/none"
is "$status $out" "0 []" "and is an empty array"
run -x "$tmp/none" start
is "$status $err" "1 btgen: error: no probe matches 'start'" "but no match for a pattern is one"
refuses() { # CLAIM MESSAGE FILE
	run -x "$3"
	is "$status $out$err" "1 $3: error: $2" "$1"
}
mkfifo "$tmp/fifo"
: >"$tmp/empty"
refuses "a directory" "cannot open it: is a directory" "$tmp"
refuses "a FIFO is not waited for" "cannot open it: is not a regular file" "$tmp/fifo"
refuses "an empty file" "the file is empty" "$tmp/empty"
refuses "a script" "a script, not an ELF file: give the program that runs it" "$0"
refuses "a text" "not an ELF file" "$tmp/plain.s"
refuses "a path with control characters is shown escaped" "cannot open it: no such file" '/no/such\x0a'
run -x $'/no/such\n'
is "$err" '/no/such\x0a: error: cannot open it: no such file' "... as the raw name is"
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	cp "$tmp/plain" "$tmp/secret"
	chmod 700 "$tmp/secret"
	chmod 711 "$tmp"
	is "$(setpriv --reuid 65534 --clear-groups "$btgen" probes -x "$tmp/secret" 2>&1)" \
		"$tmp/secret: error: cannot open it: Permission denied" "a file that may not be read"
else
	skip "a file that may not be read" "needs root and setpriv"
fi
size=$(stat -c %s "$tmp/plain")
bad=
for cut in 1 3 4 15 16 40 63 64 65 $((size / 4)) $((size / 2)) $((size - 64)) $((size - 1)); do
	head -c "$cut" "$tmp/plain" >"$tmp/cut"
	run -x "$tmp/cut"
	[ "$status" = 1 ] && has_lines 1 "$err" && [ -z "$out" ] || bad+=" $cut:$status:$err"
done
is "$bad" "" "a file cut anywhere is one error"

# strangers' names and broken notes
# shellcheck disable=SC2028 # escapes are for the assembler
program odd < <(
	note first 'pro\"v\\\001' 'na\nme\377' '8@%rax'
	note second 'caf\303\251' "it's" '8@\033[31m'
)
program float < <(note first app ratio '8f@%xmm0')
run -x "$tmp/odd" --for 0.17
is "${out//  not attachable by bpftrace 0.17:/  NOT:}" \
	'pro"v\\x01:na\x0ame\xff(uint64_t arg0)  NOT: its name has characters that an attach point cannot have
café:it'\''s(uint64_t arg0)' \
	"control characters and broken UTF-8 in names are shown escaped; what cannot be attached to is called so"
run --for 0.27 -x "$tmp/float"
is "$out" "app:ratio(double arg0)" "an operand that this version of bpftrace cannot read is none of it: it attaches by address"
run --for 0.17 -x "$tmp/float"
is "$out" "app:ratio(double arg0)" "and an older one passes over"
run --json -x "$tmp/odd"
is "$(python3 -c '
import json, sys
print(ascii([(p["provider"], p["name"], p["sites"][0]["args"][0]["place"]) for p in json.load(open(sys.argv[1]))]))' "$tmp/out")" \
	"[('pro\"v\\\\\\x01', 'na\\nme\\ufffd', '%rax'), ('caf\xe9', \"it's\", '\\x1b[31m')]" "and are right in the JSON"

program broken < <(
	note first p good ''
	echo '	.pushsection .note.stapsdt,"","note"; .4byte 8, 20, 3; .asciz "stapsdt"; .space 20; .popsection'
	note second p also_good ''
)
run -x "$tmp/broken"
is "$status $err" "1 $tmp/broken:.note.stapsdt+0x34: error: the note is too short for its three addresses" \
	"a broken note is said with its place"
is "$(grep -c good <<<"$out")" 2 "the notes around it are listed"
program notnop < <(note main+6 p misplaced '')
run -x "$tmp/notnop"
like "$err" "/notnop:\.note\.stapsdt\+0x0: warning: the site at 0x[0-9a-f]+ is not a nop: tracing it can crash the program$" \
	"a site that is no nop is warned about"
like "$out" '\(the instruction there is not a nop\)$' "and marked in the list"

# what is in a separate debug file
printf '#include <btgen/usdt.h>\nint main(int argc, char **argv) { USDT_PROBE(app, run, argc, argv[0]); return 0; }\n' |
	"${CC:-gcc}" -g -O1 -Wl,--build-id -I"$top/include" -o "$tmp/split" -x c -
run -x "$tmp/split"
is "$out$err" "app:run(int argc, char *argv)" "types that are in the file itself are shown"
objcopy --only-keep-debug "$tmp/split" "$tmp/split.debug"
strip "$tmp/split"
run -x "$tmp/split"
is "$out$err" "app:run(int32_t argc, char *argv)" "without debug information types are sizes, or what the note tells"
objcopy --add-gnu-debuglink="$tmp/split.debug" "$tmp/split"
run -x "$tmp/split"
is "$out$err" "app:run(int32_t argc, char *argv)btgen: note: -v also reads debug files, such as $tmp/split.debug" \
	"a short list reads no debug file and says so when there is one"
run -v -x "$tmp/split"
like "$out" '^app:run\(int argc, char \*argv\)$' "-v does"
is "$("$top/scripts/bpftrace.sh" -l "$tmp/split" 2>/dev/null)" "usdt:app:run(int32_t argc, char *argv)" "bpftrace.sh -l is the short list, with the kind of each probe"
is "$("$top/scripts/bpftrace.sh" -lv "$tmp/split" run)" "$("$btgen" probes -v -x "$tmp/split")" "with -v the long one"
is "$("$top/scripts/bpftrace.sh" -l --json "$tmp/split")" "$("$btgen" probes --json -x "$tmp/split")" "with --json that for programs"
is "$("$top/scripts/bpftrace.sh" --json "$tmp/split" 2>&1 | head -n 1)" "bpftrace.sh: --json needs -l: for a trace as JSON use -f json" \
	"which a trace does not have"

# a process
"$tmp/plain" &
pid=$!
own $pid
wait_for test "/proc/$pid/exe" -ef "$tmp/plain"
run -p $pid
like "$out" "^$tmp/plain: 3 probes$" "-p lists the executable of a process"
is "$status $(grep -c "^spdk:start" <<<"$out")" "0 1" "with its probes"
run -p $pid 'libfoo:*'
is "$status $(grep -c :start <<<"$out")" "0 1" "a pattern chooses there too"
mv "$tmp/plain" "$tmp/moved"
run -p $pid
like "$out" "^$tmp/moved: 3 probes$" "a file that was renamed is shown under its new name"
rm "$tmp/moved"
run -p $pid
like "$out" 'plain.*\(deleted\): 3 probes$|moved.*\(deleted\): 3 probes$' "a deleted file is read and shown as deleted"
"$tmp/none" && run -p 4194304
is "$status $out" "1 " "a process that does not exist"
ok "is one error" has_lines 1 "$err"

# the command line
run --help
like "$status $out" '^0 Usage: btgen probes ' "--help goes to stdout"
is "$err" "" "and to nowhere else"
run -h
like "$status $out" '^0 Usage: btgen probes ' "-h is the same"
usage_error() { # CLAIM MESSAGE ARGS...
	local claim=$1 message=$2
	shift 2
	run "$@"
	is "$status $out$err" "2 btgen probes: $message
Try 'btgen probes --help'." "$claim"
}
usage_error "neither file nor process" "give a file (-x FILE) or a process (-p PID)"
usage_error "an unknown option" "unknown option '-z'" -z
usage_error "an unknown long option" "unknown option '--nope'" --nope
usage_error "an option without its value" "option '-x' needs a value" -x
usage_error "a PID that is none" "-p: '12x' is not a process ID" -p 12x
"$btgen" probes -x "$tmp/odd" >/dev/full 2>"$tmp/err"
is "$? $(cat "$tmp/err")" "1 btgen: error: cannot write the list" "a full disk is an error"
done_testing
