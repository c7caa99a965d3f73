#!/usr/bin/env bash
# Everything that can be wrong before anything is attached: one clear message, status 1 or 2, the output
# file untouched, no bpftrace started.
. "$(dirname "$0")/../lib.sh"

need_tracing # else bpftrace.sh says only that
sh=$top/scripts/bpftrace.sh
tgt=$targets/nvmf_tgt

# A bpftrace that must not be run for anything but its version.
cat >"$tmp/bpftrace" <<'E2'
#!/bin/sh
[ "$1" = --version ] && { echo "bpftrace v${FAKE_VERSION:-0.17.0}"; exit 0; }
touch "$FAKE_RAN"
echo "$@" >"$FAKE_RAN"
E2
chmod +x "$tmp/bpftrace"
export BTGEN_BPFTRACE=$tmp/bpftrace FAKE_RAN=$tmp/ran
echo precious >"$tmp/old"

mkfifo "$tmp/in"
"$tgt" --wait <"$tmp/in" >/dev/null 2>&1 &
pid=$!
own $pid
exec 8>"$tmp/in"

printf 'usdt:__EXE__:nvmf_tgt_state { printf("%%d\\n", arg1); }\n' >"$tmp/good.bt"

# bad STATUS REGEX CLAIM ARGS...: the command fails with that status and message, and does nothing else
bad() {
	local status=$1 regex=$2 claim=$3 out rc
	shift 3
	rm -f "$tmp/ran"
	out=$("$sh" "$@" 2>&1 </dev/null)
	rc=$?
	is "$rc" "$status" "$claim: exit status $status"
	like "$out" "$regex" "$claim: the message says so"
	is "$(printf '%s\n' "$out" | grep -c 'error:\|bpftrace.sh:\|btgen run:')" 1 "$claim: one error, not several"
	not_ok "$claim: bpftrace was not started" test -e "$tmp/ran"
}

free_pid=4194303
while [ -d /proc/$free_pid ]; do free_pid=$((free_pid - 1)); done

bad 1 "no process has PID $free_pid" "a PID that nobody has" $free_pid "$tmp/good.bt"
if [ "$(id -u)" = 0 ] && [ -r /proc/2/stat ] && [ ! -e /proc/2/exe ]; then
	bad 1 "kernel thread" "a kernel thread" 2 "$tmp/good.bt"
fi
sh -c 'exec sleep 1000' &
z=$!
own $z
# A zombie: a child whose parent (perl) does not wait for it.
perl -e '$| = 1; my $p = fork // die; exit 0 if !$p; print "$p\n"; sleep 1000' >"$tmp/zombie" &
own $!
wait_for test -s "$tmp/zombie"
zombie=$(cat "$tmp/zombie")
wait_for grep -q 'State:.*Z' "/proc/$zombie/status"
bad 1 "zombie" "a zombie" "$zombie" "$tmp/good.bt"
tid=$(find /proc/$pid/task -mindepth 1 -maxdepth 1 ! -name "$pid" -printf '%f\n' | head -n 1)
if [ -n "$tid" ]; then
	bad 1 "thread of process $pid" "a thread's id" "$tid" "$tmp/good.bt"
fi
bad 1 "process $z does not run the same program as process $pid" "two PIDs" $pid $z "$tmp/good.bt"
bad 1 "process $z does not run the same program as process $pid" "two PIDs in one word, as from \"\`pidof\`\"" "$pid $z" "$tmp/good.bt"
bad 1 "no process has PID 99999999" "a PID beyond all" 99999999 "$tmp/good.bt"
bad 2 "'0' is neither a PID" "0 as a PID" 0 "$tmp/good.bt"
bad 2 "empty argument in place of a PID" "an empty PID" "" "$tmp/good.bt"
bad 2 "empty argument in place of a PID or a script" "an empty script name" $pid ""
bad 2 "'x y' is neither a PID nor the name of a running program" "-p of neither" -p 'x y' "$tmp/good.bt"
bad 2 "the PID goes before the script: bpftrace.sh $pid" "a PID behind the script" "$tmp/good.bt" $pid
bad 1 "/proc/self/mem: error: cannot be read: Input/output error" "a list that cannot be read" --conf /proc/self/mem $pid "$tmp/good.bt"
bad 2 "unknown option '--durration', did you mean '--duration'\?" "a misspelt option" --durration 5 $pid "$tmp/good.bt"
bad 2 "option '--sort' takes no value" "a value that is none" --sort=yes $pid "$tmp/good.bt"
bad 1 "no script 'nvfm.bt' here, nor in .*, did you mean 'nvmf.bt'\?" "a misspelt script" $pid nvfm.bt
bad 2 "did you mean 'postgresql-waits.bt'\?" "a misspelt script and no process" posgresql-waits nvmf.bt
bad 1 "did you mean 'malloc.bt'\?" "a misspelt script's page" -h maloc
bad 2 "give a script to run on the command" "-c without a script" -c 'sleep 1'
bad 2 "give a script to run on $tgt" "-x without a script" -x "$tgt"
bad 2 "give -p or -x, not both" "-x and a PID" -x "$tgt" $pid "$tmp/good.bt"
for script in nvmf.bt files.bt '-e BEGIN { printf("%d %s __EXE__", __PID__, __COMM__); }' "-t*"; do
	bad 1 "needs a process: give its PID or name, or -x FILE" \
		"a PID that is missing, as from an empty \`pidof\`, with $script" "$script"
done
is "$("$sh" nvmf.bt 2>&1 | wc -l)" 1 "a PID that is missing: one line"
is "$("$sh" postgresql.bt 2>&1 | wc -l)" 1 "and one with a script that asks for __PID__, too"
bad 2 "'no_such_program' is neither a running program nor a script here or in" "a name that nothing has" no_such_program nvmf.bt
bad 2 "'no_such_program' is neither" "a name that nothing has, with -t" -t '*' no_such_program
bad 1 "no process runs a program named 'no_such_program'" "a name that nothing has, with -l" -l no_such_program
is "$("$sh" -l no_such_program 'nvmf_*' 2>&1)" "btgen: error: no process runs a program named 'no_such_program': start it, or give the path of a file" \
	"... which names no pattern beside: nothing was searched"
bad 1 ":1:30: error: with -x this would fire for every process on the machine" "-x and an event of the kernel" \
	-x "$tgt" -e 'usdt:__EXE__:nvmf_tgt_state, kprobe:vfs_read { }'
bad 1 "__PID__ needs a process: give a PID instead of a file" "-x and __PID__" -x "$tgt" \
	-e 'usdt:__EXE__:nvmf_tgt_state /pid == __PID__/ { }'
bad 2 "^bpftrace.sh: -f: unknown format 'xml'" "an option that btgen reads" -f xml -t '*' $pid
bad 2 "^bpftrace.sh: --deep: 'x' is not a number from 0 to 9" "--deep of no number" --deep x -t '*' $pid
bad 2 "--deep needs -t: in a script, use print" "--deep with a script" --deep 1 $pid "$tmp/good.bt"
bad 2 "--stack needs -t: in a script, print ustack" "--stack with a script" --stack $pid "$tmp/good.bt"
bad 2 "--deep and --stack exclude --count" "--stack with --count" --stack --count -t '*' $pid
bad 2 "--filter needs -t, --latency or --calls: in a script, write /CONDITION/" "--filter with a script" --filter 1 $pid "$tmp/good.bt"
bad 2 "--filter: the condition is empty" "--filter of nothing" --filter ' ' -t '*' $pid
bad 2 "--count needs -t: in a script, use count()" "--count with a script" --count $pid "$tmp/good.bt"
bad 2 "--latency cannot be combined with -t or --count" "--latency with -t" --latency a b -t '*' $pid
bad 2 "^bpftrace.sh: --latency needs two probes: START DONE" "--latency with one" $pid --latency a
bad 2 "-N counts lines, and --count and --latency print none: use -T" "-N with --count" -N 5 --count -t '*' $pid
bad 2 "-f perfetto and -f otlp need events: --count and --latency only count them" "-f perfetto with --count" -f perfetto --count -t '*' $pid
bad 2 "--count=: give a KEY, or drop the =" "--count of nothing" --count= -t '*' $pid
bad 1 "^btgen: error: spdk:nvmf_tgt_state has no argument 'x'" "--count of no argument" --count=x -t nvmf_tgt_state $pid
bad 1 "^--filter:1:6: error: probe spdk:nvmf_tgt_state has no argument x" "--filter of no argument" --filter 'args.x > 1' -t nvmf_tgt_state $pid
bad 1 "^--filter:1:14: error: = assigns: write == to compare" "--filter with =" --filter 'arg0 && arg1 = 1' -t nvmf_tgt_state $pid
bad 1 "^--filter:1:9: error: this string is not terminated" "--filter with half a string" --filter 'arg0 == "x' -t nvmf_tgt_state $pid
bad 1 "^btgen: error: spdk:nvmf_tgt_state is both the start and the end" "--latency from a probe to itself" --latency nvmf_tgt_state 'nvmf_tgt_s*' $pid
bad 1 "^btgen: error: no probe matches 'no_such'" "--latency to no probe" --latency nvmf_tgt_state no_such $pid
bad 2 "--key needs --latency" "--key with -t" --key x -t '*' $pid
bad 2 "-t replaces the script" "--latency with a script" --latency a b $pid "$tmp/good.bt"

bad 1 "'nvmf_tgt' is a running program, not a script; put it before the script" "a name behind the script" \
	"$tmp/good.bt" nvmf_tgt
bad 1 "no script 'nosuch'" "a script that is not there" $pid nosuch
bad 1 "'BEGIN { exit\(\); }' is script text, not a file: put -e before it" "a text without -e" $pid 'BEGIN { exit(); }'
bad 1 "Is a directory" "a folder as a script" $pid "$tmp"
: >"$tmp/empty.bt"
bad 1 "the script is empty" "an empty script" $pid "$tmp/empty.bt"
printf '// only a comment' >"$tmp/comment.bt"
bad 1 "the script is empty" "a script that is a comment without end of line" $pid "$tmp/comment.bt"
printf 'struct x { int a; };\n' >"$tmp/noprobe.bt"
bad 1 "the script has no probes" "a script without a probe" $pid "$tmp/noprobe.bt"
printf 'BEGIN { /* no end' >"$tmp/open.bt"
bad 1 "open.bt:1:9: error: .*comment" "a comment without end" $pid "$tmp/open.bt"
printf 'BEGIN { printf("x) }\n' >"$tmp/open.bt"
bad 1 "open.bt:1:16: error:" "a string without end" $pid "$tmp/open.bt"
printf 'a\0b' >"$tmp/nul.bt"
bad 1 "NUL" "a script with a NUL byte" $pid "$tmp/nul.bt"

printf 'BEGIN { }\n\nusdt:__EXE__:nvmf_tgt_stat { }\n' >"$tmp/unknown.bt"
bad 1 "unknown.bt:3:1: error: .*no probe nvmf_tgt_stat" "an unknown probe" $pid "$tmp/unknown.bt"
like "$("$sh" $pid "$tmp/unknown.bt" 2>&1)" "did you mean spdk:nvmf_tgt_state\?" "and the nearest name is offered"
printf 'usdt:__EXE__:spdk:nvmf_tgt_state { printf("%%d", arg7); }\n' >"$tmp/arg.bt"
bad 1 "arg.bt:1:49: error: there is no arg7: .*has 2 arguments" "an argument that is not there" $pid "$tmp/arg.bt"
printf 'uprobe:__EXE__:spdk_no_such_* { }\n' >"$tmp/fn.bt"
bad 1 "fn.bt:1:1: error: no function matches spdk_no_such_\*" "a pattern that no function fits" $pid "$tmp/fn.bt"
printf 'uprobe:__EXE__:spdk_thread_send_msgs { }\n' >"$tmp/fn.bt"
bad 1 "no function spdk_thread_send_msgs" "an unknown function" $pid "$tmp/fn.bt"
like "$("$sh" $pid "$tmp/fn.bt" 2>&1)" "did you mean spdk_thread_send_msg\?" "and the nearest function is offered"
bad 1 ":1:1: error: no function nosuch in $tgt" "a function that a file which is named does not have" -e "uprobe:$tgt:nosuch { }"
bad 1 ":1:1: error: no USDT probe nosuch in $tgt" "a probe that it does not have" -e "usdt:$tgt:spdk:nosuch { }"
elsewhere="uprobe:$tgt:main, uretprobe:$tgt:main, uprobe:$tgt:main+4, uprobe:$tgt:0x1234, uprobe:$tgt:nosuch*, \
usdt:$tgt:spdk:nvmf_tgt_state, usdt:$tgt:nvmf_tgt_state, usdt:$tgt:*:nosuch { }"
is "$("$btgen" expand -e "$elsewhere" 2>&1)" "$elsewhere" "what it has, and what only bpftrace knows, stays"
printf '#pragma enum t nvmf_tgt_stat\nusdt:__EXE__:nvmf_tgt_state { printf("%%s", @t[arg1]); }\n' >"$tmp/enum.bt"
bad 1 "enum.bt:1:16: error: .*nvmf_tgt_stat" "an enum that is not in the debug information" $pid "$tmp/enum.bt"

strip -o "$tmp/stripped" "$tgt"
"$tmp/stripped" --wait <"$tmp/in" >/dev/null 2>&1 &
stripped=$!
own $stripped
wait_for test -e /proc/$stripped/exe
bad 1 "no debug information" "no DWARF at all" $stripped -e 'usdt:__EXE__:nvmf_tgt_state { printf("%s", @target[arg1]); }'

bad 1 "no such directory: $tmp/nowhere" "-o into a folder that is not there" -o "$tmp/nowhere/out" $pid "$tmp/good.bt"
bad 1 "cannot write $tmp" "-o onto a folder" -o "$tmp" $pid "$tmp/good.bt"
bad 1 "no process has PID" "-o with a wrong PID" -o "$tmp/old" $free_pid "$tmp/good.bt"
is "$(cat "$tmp/old")" precious "and the old output file is as it was"
bad 1 "no process has PID" "a new output file with a wrong PID" -o "$tmp/new" $free_pid "$tmp/good.bt"
not_ok "and no new output file is made" test -e "$tmp/new"

bad 2 "unknown option '--nosuch'" "an unknown option" --nosuch $pid "$tmp/good.bt"
bad 2 "needs a value" "an option without its value" -o
bad 2 "give a script to run" "no script" $pid
bad 2 "give a process and a script" "nothing at all"
bad 127 "bpftrace not found" "a bpftrace that is not there" --bpftrace "$tmp/nosuch" $pid "$tmp/good.bt"
bad 126 "not an executable file" "a bpftrace that is no program" --bpftrace "$tmp/good.bt" $pid "$tmp/good.bt"
export FAKE_VERSION=0.11.3
bad 1 "0.11: 0.17 or newer is needed" "a bpftrace that is too old" $pid "$tmp/good.bt"
unset FAKE_VERSION
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	chmod 755 "$tmp"
	cp "$sh" "$btgen" "$tgt" "$tmp" # the checkout may be in a folder that is closed to others
	# No script, which might start bpftrace with other rights.
	printf '#include <stdio.h>\nint main(void) { return puts("bpftrace v0.17.0") < 0; }\n' | gcc -x c -o "$tmp/fake" -
	out=$(BTGEN=$tmp/btgen setpriv --reuid 65534 --regid 65534 --clear-groups "$tmp/bpftrace.sh" --bpftrace "$tmp/fake" $pid "$tmp/good.bt" 2>&1)
	is $? 1 "without root: exit status 1"
	like "$out" "tracing needs root with bpftrace 0.17: use sudo" "without root: the message says so"
	out=$(setpriv --reuid 65534 --regid 65534 --clear-groups "$tmp/btgen" expand -p $pid "$tmp/good.bt" 2>&1)
	is $? 1 "another user's process: exit status 1"
	like "$out" "no permission to inspect process $pid" "another user's process: the message says so"
	setpriv --reuid 65534 --regid 65534 --clear-groups sleep 1000 &
	own $!
	wait_for grep -q sleep "/proc/$!/comm"
	out=$(setpriv --bounding-set -sys_ptrace --inh-caps -sys_ptrace "$tmp/btgen" expand -p $! "$tmp/good.bt" 2>&1)
	like "$out" "no permission to inspect process $! \(sleep\): even root needs CAP_SYS_PTRACE" \
		"root that may not look: it is not told to be root"
	cp /bin/sleep "$tmp/sleeper"
	for _ in 1 2 3; do
		"$tmp/sleeper" 1000 &
		own $!
	done
	wait_for grep -q sleeper "/proc/$!/comm"
	out=$(BTGEN=$tmp/btgen setpriv --reuid 65534 --regid 65534 --clear-groups "$tmp/bpftrace.sh" -l sleeper 2>&1)
	is "$(grep -c 'no permission to inspect' <<<"$out")" 1 "another user's processes: one error for all of them"
	chmod 000 "$tmp/good.bt"
	out=$(setpriv --reuid 65534 --regid 65534 --clear-groups "$tmp/btgen" expand -x "$tmp/nvmf_tgt" "$tmp/good.bt" 2>&1)
	is $? 1 "an unreadable script: exit status 1"
	like "$out" "good.bt.*Permission denied" "an unreadable script: the message says so"
	chmod 644 "$tmp/good.bt"
fi

# A file that is no ELF file, and one that is cut off.
bad_exe() {
	local out rc
	out=$("$btgen" expand -x "$1" "$tmp/good.bt" 2>&1)
	rc=$?
	is "$rc" 1 "$3: exit status 1"
	like "$out" "$2" "$3: the message says so"
}
head -c 100 "$tgt" >"$tmp/cut"
bad_exe "$tmp/cut" "cut: error|cut.*error" "an ELF file of 100 bytes"
bad_exe "$tmp/good.bt" "good.bt.*not an ELF file" "a text file as the target"
bad_exe "$tmp/nosuch" "nosuch.*no such file" "a target that is not there"

# bpftrace expands a star in a path even between quotes, and would trace other files, too.
mkdir "$tmp/st*r" "$tmp/a b"
cp "$tgt" "$tmp/st*r/t"
bad_exe "$tmp/st*r/t" "bpftrace does not accept paths with.*use a hard link" "a star in the path"
ln "$tmp/st*r/t" "$tmp/plain"
like "$("$btgen" expand -x "$tmp/plain" "$tmp/good.bt" 2>&1)" "^usdt:$tmp/plain:" "and the hard link does it"
cp "$tgt" "$tmp/a b/t"
out=$("$btgen" expand -x "$tmp/a b/t" "$tmp/good.bt" 2>&1)
like "$out" "^usdt:\"$tmp/a b/t\":" "a blank in the path is quoted"

# What a template includes and nobody writes to is not waited for.
mkfifo "$tmp/fifo" "$tmp/fifo.h"
for name in fifo fifo.h; do
	echo "#include \"$name\"" >"$tmp/includes.bt"
	out=$(guard "$btgen" check "$tmp/includes.bt" 2>&1)
	is "$? $(grep -o "$name\": is not a regular file" <<<"$out")" "1 $name\": is not a regular file" "a FIFO that is included as $name is an error"
done

# What is not wrong.
printf 'usdt:__EXE__:nvmf_tgt_state { printf("%%d\\n", arg1); }\r\n// end' >"$tmp/crlf.bt"
out=$("$btgen" expand -x "$tgt" "$tmp/crlf.bt" 2>&1)
is $? 0 "CR LF line ends, and a comment at the end without one, are fine"
like "$out" "^usdt:$tgt:spdk:nvmf_tgt_state \{ printf" "and the probe is bound"
done_testing
