#!/usr/bin/env bash
# btgen run beside a bpftrace, a reader or a parent that misbehaves: it ends, says why, and leaves nothing behind.
. "$(dirname "$0")/../lib.sh"
need_tracing # else btgen run says only that

# A bpftrace that attaches at once and then does what $FAKE says.
cat >"$tmp/bpftrace" <<'E2'
#!/bin/bash
[ "$1" = --version ] && { echo "bpftrace v0.24.0"; exit 0; }
echo $$ >"$FAKE_PID"
echo "Attached 1 probe" >&2
eval "$FAKE"
E2
chmod +x "$tmp/bpftrace"
export BTGEN_BPFTRACE=$tmp/bpftrace FAKE_PID=$tmp/pid FAKE

# What a fake bpftrace does while it waits: nothing that has a child, for bash may miss a signal that comes as one ends.
mkfifo "$tmp/silence"
export SILENCE=$tmp/silence
pause() { read -rt 0.05 <>"$SILENCE"; }
export -f pause

# signal NAME: sends it to btgen run, and returns when it has taken it: two at once would be one
signal() {
	kill -"$1" "$run"
	wait_for taken
}
taken() { ! grep -qsE '^(SigPnd|ShdPnd):.*[1-9a-f]' "/proc/$run/status"; }

run() { guard "$btgen" run "$@" -e 'BEGIN { }'; }
# start: btgen run in the background; returns when bpftrace runs; its PID is in $run, bpftrace's in $bt
start() {
	rm -f "$tmp/pid" "$tmp/ready"
	"$btgen" run --ready-file "$tmp/ready" -e 'BEGIN { }' 2>"$tmp/err" &
	run=$!
	own $run
	wait_for test -s "$tmp/ready"
	bt=$(cat "$tmp/pid")
}

FAKE='exit 3' run 2>/dev/null
is $? 3 "bpftrace's exit status is ours"
FAKE='exit 3' perl -e '$SIG{CHLD} = "IGNORE"; exec @ARGV' "$btgen" run -e 'BEGIN { }' 2>/dev/null
is $? 3 "also when our parent ignores SIGCHLD"
out=$(FAKE='kill -SEGV $$' run 2>&1)
is $? 139 "a bpftrace that dies by a signal: 128 and its number"
like "$out" "killed by signal 11" "and the message says so"

# Killed within a line, and within a record: what is in the program between @ and < begins one.
export FAKE_HALF='echo whole; start=$(grep -ao "@[0-9a-f]*<" "$1" | head -n 1); printf "%s0;7>\n%s1,42;7>\n%s" "$start" "$start" "$rest"; kill -KILL $$'
half() { FAKE="rest=\"$1\"; $FAKE_HALF" guard "$btgen" run "${@:2}" -e 'interval:s:60 { printf("%d apples\n", pid); }' 2>/dev/null; }
for rest in 'half a li' '${start}1,4' '${start}1' '@'; do
	is "$(half "$rest"; echo "status $?")" "whole
42 apples
status 137" "bpftrace is killed within \"$rest\": only whole lines are printed"
	half "$rest" -o "$tmp/half"
	is "$(cat "$tmp/half")" "whole
42 apples" "so to a file"
done
half 'half a li' -f json -o "$tmp/half"
is "$(grep -c '^{.*}$' "$tmp/half") $(wc -l <"$tmp/half")" "3 3" "and JSON"

FAKE='sleep 1000 & echo $! >"$FAKE_PID"; echo data; exit 0' run >"$tmp/out" 2>/dev/null
is "$? $(cat "$tmp/out")" "0 data" "bpftrace has ended, something it started holds its output open: its data and status"
ok "and nobody waits for that" kill "$(cat "$tmp/pid")"

inherited=$(find /proc/self/fd -lname /dev/null ! -name '[0-2]' | wc -l)
FAKE='find /proc/$$/fd -printf "%l\n"' run >"$tmp/out" 2>/dev/null
is "$(($(grep -c '/dev/null' "$tmp/out") - inherited)) $(grep -c memfd "$tmp/out") $(grep -c anon_inode "$tmp/out")" "1 1 0" \
	"bpftrace is given its stdin, the program and none of our own descriptors"

(
	ulimit -n 4096
	exec 2000>/dev/null
	FAKE='trap "exit 0" INT; while :; do pause; done' start >/dev/null
	read -r _ guard _ <"/proc/$run/task/$run/children"
	has_two() { [ "$(find "/proc/$guard/fd" -type l | wc -l)" = 2 ]; }
	wait_for has_two
	find "/proc/$guard/fd" -type l -printf '%l\n' | sed 's/[0-9]//g' | sort >"$tmp/guard"
	kill -INT $run
	wait $run
)
is "$(cat "$tmp/guard")" "anon_inode:[pidfd]
pipe:[]" "the process that outlives a killed btgen has nothing open but what it waits for"

exec 7> >(cat >"$tmp/readyfd"; echo end >>"$tmp/readyfd")
FAKE='exec 7>&-; exec sleep 1000' "$btgen" run --ready-fd 7 -e 'BEGIN { }' 2>/dev/null &
run=$!
own $run
exec 7>&-
ok "--ready-fd ends once the line is written" wait_for grep -qs end "$tmp/readyfd"
is "$(head -n 1 "$tmp/readyfd")" ready "and the line was written"
kill $run
wait $run 2>/dev/null
run --ready-fd 77 2>/dev/null
is $? 2 "--ready-fd with a descriptor that is not open is wrong usage"

# Output that cannot be written.
out=$(FAKE='trap "exit 0" INT; echo data; while :; do pause; done' run -o /dev/full 2>&1)
is $? 1 "-o /dev/full: status 1"
like "$out" "cannot write /dev/full: No space left" "and the message says so"
out=$(FAKE='trap "exit 0" INT; echo data; while :; do pause; done' run 2>&1 >/dev/full)
is $? 1 "stdout is full: status 1"
out=$(FAKE='trap "exit 0" INT; echo data; while :; do pause; done' run 2>&1 >&-)
is $? 1 "stdout is closed: status 1"
out=$(FAKE='echo data; exec sleep 1000' run -o /dev/full 2>&1)
is "$? $(grep -c error <<<"$out")" "1 1" "the output is full, and SIGINT kills bpftrace: status 1 and one message"
if unshare -m true 2>/dev/null; then
	mkdir "$tmp/small"
	out=$(FAKE='trap "exit 0" INT; while echo "a line of five words"; do :; done' unshare -m bash -c '
		mount -t tmpfs -o size=16k none "$1/small" && "$2" run -o "$1/small/out" -e "BEGIN { }"
		echo "status $?"; sort -u "$1/small/out"; tail -c 1 "$1/small/out" | od -An -c' - "$tmp" "$btgen" 2>&1)
	is "$(tail -n 3 <<<"$out")" "status 1
a line of five words
  \\n" "a disk that is full: status 1, and the file ends with a line"
	like "$out" "cannot write .*out: No space left" "and the message says so"
else
	skip "a full disk" "no mount namespace"
fi
out=$(run -n 2>&1 >/dev/full)
is $? 1 "a program that cannot be printed: status 1"
FAKE='trap "exit 0" INT; while echo data; do pause; done' run 2>/dev/null | head -n 1 >/dev/null
is "${PIPESTATUS[0]}" 0 "a reader that has read enough: status 0"

# A reader that does not read.
mkfifo "$tmp/fifo"
exec 9<>"$tmp/fifo"
FAKE='while :; do printf "%01000d\n" 1; done' start >&9
writes() { grep -qE '^(1|64) ' "/proc/$1/syscall"; } # x86-64, aarch64
ok "a reader that does not read: bpftrace can write no more" wait_for writes "$bt"
signal INT
signal INT
ok "a reader that does not read: the second signal ends it" wait_for gone $run
ok "and bpftrace" wait_for gone "$bt"
exec 9>&-

FAKE='trap "" INT TERM; while :; do pause; done' start >/dev/null
for _ in 1 2 3; do signal INT; done
ok "a bpftrace that ignores signals: the third one ends it" wait_for gone $run
ok "and bpftrace" wait_for gone "$bt"
FAKE='exec >&- 2>&-; trap "" INT TERM; while :; do pause; done' start >/dev/null
for _ in 1 2 3; do signal INT; done
ok "one that has closed its streams, too" wait_for gone $run
FAKE='while :; do pause; done' start >/dev/null
kill -KILL $run
wait $run 2>/dev/null
ok "btgen is killed: so is bpftrace" wait_for gone "$bt"
(trap '' HUP; exec 2>/dev/null; FAKE='trap "exit 0" INT; while :; do pause; done' start >/dev/null; echo $run >"$tmp/run"; wait $run) &
wait_for test -s "$tmp/run"
run=$(cat "$tmp/run")
signal HUP
ignores_hup() { [ $((0x$(sed -n 's/^SigIgn:[^0-9a-f]*//p' "/proc/$1/status") & 1)) = 1 ]; }
ok "nohup: SIGHUP is ignored" ignores_hup "$run"
not_ok "... and it goes on" gone "$run"
kill -INT "$run"
ok "and ends with SIGINT, which a background process ignores" wait_for gone "$run"

# A PID that is another process's when bpftrace attaches: in a PID namespace, where the next PID can be chosen.
cat >"$tmp/late" <<'E2'
#!/bin/bash
[ "$1" = --version ] && { echo "bpftrace v0.24.0"; exit 0; }
kill -KILL "$OLD"
while kill -0 "$OLD" 2>/dev/null; do :; done
until [ "${new-}" = "$OLD" ]; do # somebody else may fork in between
	[ -z "${new-}" ] || kill "$new"
	echo $((OLD - 1)) >/proc/sys/kernel/ns_last_pid
	sleep 1000 &
	new=$!
done
echo "the new one is $new" >&2
trap 'kill $new; exit 0' INT
echo "Attached 1 probe" >&2
while :; do echo "an event of another process"; pause; done
E2
chmod +x "$tmp/late"
if unshare -pf --mount-proc sh -c 'echo 50 >/proc/sys/kernel/ns_last_pid' 2>/dev/null; then
	out=$(BTGEN_BPFTRACE=$tmp/late guard unshare -pf --mount-proc bash -c '
		sleep 1000 & export OLD=$!
		until grep -q sleep /proc/$OLD/comm; do :; done
		echo "the old one is $OLD" >&2
		"$1" run -p $OLD --ready-file "$2/reused" -e "BEGIN { }"; echo "status $?" >&2' - "$btgen" "$tmp" 2>"$tmp/err")
	is "$out" "" "a PID that was given to another process: nothing of that is printed"
	like "$(cat "$tmp/err")" "process [0-9]+ \\(sleep\\) has exited and its PID was reused" "an error says so"
	is "$(grep -c 'status 1' "$tmp/err") $(grep -o 'one is .*' "$tmp/err" | sort -u | wc -l)" "1 1" "with status 1"
	not_ok "and nobody is told that it is ready" test -e "$tmp/reused"
else
	skip "a PID that was given to another process" "no PID namespace where PIDs can be chosen"
fi

# A target that expands to another program between look-up and attach.
mkfifo "$tmp/go"
bash -c 'read -r _ <"$0"; exec sleep 1000' "$tmp/go" &
target=$!
own $target
wait_for grep -q bash "/proc/$target/comm"
# shellcheck disable=SC2016
sed -i 's/^echo "Attached/[ -z "${BEFORE-}" ] || eval "$BEFORE"\n&/' "$tmp/bpftrace"
out=$(BEFORE="trap 'exit 0' INT; echo >$tmp/go; until grep -q sleep /proc/$target/comm; do pause; done" \
	FAKE='trap "exit 0" INT; while :; do pause; done' run -p $target 2>&1)
is $? 1 "the target called exec() before its probes were attached: status 1"
like "$out" "process $target called exec" "and the message says so"

# Endless lines: bounded memory.
FAKE='head -c 50000000 /dev/zero | tr "\\0" x; head -c 50000000 /dev/zero | tr "\\0" x >&2'
(limit_memory 60000; run >"$tmp/out" 2>"$tmp/err")
is "$? $(stat -c %s "$tmp/out")" "0 50000000" "50 MB without a newline go through with little memory"

# A limit on the size of files: what fails is said, as on a full disk.
out=$(ulimit -f 100; FAKE='trap "exit 0" INT; while echo; do :; done' run -o "$tmp/limited" 2>&1)
is "$? $(stat -c %s "$tmp/limited")" "1 102400" "more than ulimit -f allows: status 1, and what fits is there"
like "$out" "^btgen: error: cannot write $tmp/limited: File too large" "and the message says so"
out=$(ulimit -f 0; "$btgen" expand -o "$tmp/none" -e 'BEGIN { }' 2>&1)
like "$out" "none: error: cannot be written: File too large" "an expanded program, too"
FAKE="until [ -s $tmp/ignored ]; do pause; done" run -c "cp /proc/self/status $tmp/ignored" 2>/dev/null
guard cp /proc/self/status "$tmp/own" # as run() does, which takes back what nohup has set
is "$(grep ^SigIgn "$tmp/ignored")" "$(grep ^SigIgn "$tmp/own")" "a program that btgen starts ignores no signal for that"
FAKE='echo x' run -o - >"$tmp/out" 2>/dev/null
is "$(cat "$tmp/out")" x "-o - is stdout"
(cd "$tmp" && unset BTGEN_BPFTRACE && FAKE='echo x' PATH=.:/nowhere "$btgen" run -e 'BEGIN { }' >/dev/null 2>&1)
is $? 127 "bpftrace is not taken from the current folder"
# Attached or not? Before 0.24 bpftrace says so only when it is asked.
cat >"$tmp/bpftrace" <<'E2'
#!/bin/bash
[ "$1" = --version ] && { echo "bpftrace v0.23.0"; exit 0; }
trap 'exit 0' INT
echo "Attaching 2 probes..."
echo "a line of its own"
until [ -e "$GO" ]; do pause; done
echo "${__BPFTRACE_NOTIFY_PROBES_ATTACHED+__BPFTRACE_NOTIFY_PROBES_ATTACHED}"
echo "an event"
while :; do pause; done
E2
rm -f "$tmp/ready" "$tmp/released"
GO=$tmp/attach "$btgen" run --ready-file "$tmp/ready" -c "touch $tmp/released" -e 'BEGIN { }' >"$tmp/out" 2>/dev/null &
run=$!
own $run
wait_for grep -q 'of its own' "$tmp/out"
not_ok "a line that bpftrace prints while it attaches: nobody is told that it is ready" test -e "$tmp/ready"
not_ok "and -c's program is not released" test -e "$tmp/released"
touch "$tmp/attach"
ok "it is ready when bpftrace says so" wait_for test -s "$tmp/ready"
ok "and the program is released" wait_for test -e "$tmp/released"
kill -INT $run
wait $run
is "$(cat "$tmp/out")" "a line of its own
an event" "and all that it printed is there"
# ^C comes while the traced program ends: btgen, which is stopped meanwhile, finds both at once.
rm -f "$tmp/ready"
GO=$tmp/attach "$btgen" run --ready-file "$tmp/ready" -c "sleep 60" -e 'BEGIN { }' >"$tmp/out" 2>/dev/null &
run=$!
own $run
wait_for test -s "$tmp/ready"
target=$(for p in $(cat "/proc/$run/task/$run/children"); do grep -lx sleep "/proc/$p/comm"; done | cut -d/ -f3)
kill -STOP $run
kill -INT $run
kill "$target"
wait_for grep -q 'State:.Z' "/proc/$target/status"
kill -CONT $run
ok "^C at the end of the traced program ends bpftrace, too" wait_for eval '! [ -e "/proc/$run" ] || grep -q "State:.Z" "/proc/$run/status"'
kill -INT $run 2>/dev/null
wait $run
# Without tracefs 0.17 and 0.23 say of each probe that it was not detached, which it was.
cat >"$tmp/bpftrace" <<'E2'
#!/bin/bash
[ "$1" = --version ] && { echo "bpftrace v0.23.0"; exit 0; }
echo "WARNING: failed to detach probe: usdt:/proc/1/exe:a:b" >&2
echo "open(/sys/kernel/debug/tracing/uprobe_events): No such file or directory" >&2
E2
if unshare -m true 2>/dev/null; then
	# shellcheck disable=SC2016
	out=$(unshare -m bash -c 'umount -l /sys/kernel/tracing /sys/kernel/debug; exec "$1" run -e "BEGIN { }"' - \
		"$btgen" 2>&1 | grep -v ^umount:)
	unlike "$out" "detach|uprobe_events" "without tracefs: no warning of a probe that is detached otherwise"
else
	skip "warnings without tracefs" "no mount namespace"
fi
# 0.23 ends like this when a clause of a uprobe has args.NAME.
cat >"$tmp/bpftrace" <<'E2'
#!/bin/bash
[ "$1" = --version ] && { echo "bpftrace v0.23.0"; exit 0; }
for a; do case $a in /proc/self/fd/*) echo "$a:1:1-9: WARNING: $FAKE" >&2 ;; esac; done
exit 1
E2
FAKE='No debuginfo'
like "$(run -q 2>&1)" "error: bpftrace: No debuginfo" "a bpftrace that fails with no more than a warning: it is told, by -q too"
printf '#!/bin/sh\n[ "$1" = --version ] && echo "bpftrace v0.23.0" && exit\nexit 4\n' >"$tmp/bpftrace"
is "$(run 2>&1)" "btgen: error: bpftrace ended with status 4" "one that fails without a word"

done_testing
