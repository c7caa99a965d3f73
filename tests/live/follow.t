#!/usr/bin/env bash
# A service that starts later, and again, as another build, too: -w and --follow.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"

name=svc-$$
gcc -O1 -g -I"$top/include" -DFIRST= -DMORE= -o "$tmp/build1" "$top/tests/live/service.c" &&
	gcc -O1 -g -I"$top/include" -DFIRST='NONE, ' -DMORE='long pad;' -o "$tmp/build2" "$top/tests/live/service.c" || exit 1
mkfifo "$tmp/in"
n=0 app=

# start BUILD: the service, as a restart or an upgrade leaves it; stop: it ends
start() {
	cp "$tmp/$1" "$tmp/$name.new"
	mv "$tmp/$name.new" "$tmp/$name"
	"$tmp/$name" <"$tmp/in" &
	app=$!
	own $app
	exec 9>"$tmp/in"
	wait_for eval '[ "$(grep -c "attached to $name (PID $app)" "$tmp/messages")" = 1 ]'
}
stop() {
	exec 9>&-
	wait $app
}
fire() {
	n=$((n + 1))
	printf '%s' "$1" >&9
	wait_for eval '[ "$(grep -c . "$tmp/trace" 2>/dev/null)" = $n ]'
}

# begin OPTION...: the trace, which gets ready when the service has started
begin() {
	rm -f "$tmp/ready" "$tmp/trace" "$tmp/messages" # the one before had the line that is waited for
	n=0
	"$live_sh" --ready-file "$tmp/ready" -o "$tmp/trace" "$@" \
		-e 'usdt:__EXE__:hit { printf("%c %s %s\n", args.r->id, args.r->state, args.next); }' 2>"$tmp/messages" 9>&- &
	live_tracer=$!
	own $live_tracer
	wait_for grep -qs "waiting for $name" "$tmp/messages"
}

begin -w "$name"
start build1
is "$(cat "$tmp/ready")" ready "-w: it is ready once the program runs"
fire a
stop
live_wait
is "$live_rc $(cat "$tmp/trace")" "0 a RUNNING IDLE" "it traces the one that came"
is "$(grep -v detaching "$tmp/messages")" "btgen: waiting for $name
btgen: attached to $name (PID $app)
btgen: process $app ($name) has exited" "and ends with it"

begin --follow -w "$name"
rm -f "$tmp/ready"
want='' all='' held=()
for build in build1 build1 build2 build2 build1 build1; do
	start $build
	fire x
	fire y
	stop
	all+=" $app"
	want+='x RUNNING IDLE
y RUNNING IDLE
'
	wait_for eval '[ "$(grep -c "waiting for" "$tmp/messages")" -gt $((n / 2)) ]'
	held+=("$(sed -n 's/^RssAnon:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$live_tracer/status")")
done
if grep -q __asan_init "$btgen"; then
	skip "what is known of a process is given back when it ends" "AddressSanitizer keeps what was freed"
else
	ok "what is known of a process is given back when it ends (${held[*]} KiB)" test "${held[5]}" -lt $((held[1] + 3000))
fi
live_wait INT
is "$live_rc" 0 "--follow: ^C between two of them is status 0"
is "$(cat "$tmp/trace")" "${want%$'\n'}" "five restarts, two with another build: each event is read by its own build's types"
is "$(grep -c "has exited" "$tmp/messages")$(sed -n 's/.*attached to [^ ]* (PID \([0-9]*\))/ \1/p' "$tmp/messages" | tr -d '\n')" \
	"6$(set -- $all; printf ' %s %s %s, another build %s %s, another build %s' "$@")" "a line for each, and whether it is another build"

begin --follow -N 3 -w "$name"
start build1
fire 1
fire 2
stop
start build2
n=2
printf 345 >&9
live_wait
is "$live_rc $(paste -sd, "$tmp/trace")" "0 1 RUNNING IDLE,2 RUNNING IDLE,3 RUNNING IDLE" "-N is of all of them"
stop

# One that runs all the time is not the next one, and those that are gone at once are no end.
cp "$tmp/build1" "$tmp/$name"
mkfifo "$tmp/old-in"
"$tmp/$name" <"$tmp/old-in" &
own $!
exec 7>"$tmp/old-in"
wait_for eval '[ "$(cat /proc/$!/comm)" = "$name" ]'
sleep 0.05 # a clock tick
start_other() { "$tmp/$name" <"$tmp/in" 7>&- & }
start_other
app=$!
own $app
exec 9>"$tmp/in"
wait_for eval '[ "$(cat /proc/$app/comm)" = "$name" ]'
live_trace --follow -T 3 $app -e 'usdt:__EXE__:hit { printf("%c\n", args.r->id); }'
stop
for _ in 1 2 3; do "$tmp/$name" </dev/null; done
printf o >&7
live_wait
is "$live_rc $(grep -c 'attached to' "$tmp/messages") $(wc -c <"$tmp/trace")" "0 1 0" \
	"--follow: not one that was there before; -T ends it while it waits, too"
exec 7>&-

begin -w "$name"
live_wait TERM
is "$live_rc" 143 "-w: a signal while it waits is the end"
# Anybody can give a program the name.
if command -v setpriv >/dev/null; then
	chmod 755 "$tmp"
	mkdir "$tmp/theirs" "$tmp/moved"
	cp "$tmp/build1" "$tmp/theirs/$name"
	cp "$tmp/build1" "$tmp/moved/$name"
	mkfifo "$tmp/their-in"
	their=''
	# pretend FILE: a process of another user runs it, and fires for each byte that comes by way of descriptor 7
	pretend() {
		setpriv --reuid=65534 --regid=65534 --clear-groups "$1" "${@:2}" <"$tmp/their-in" 9>&- &
		their=$!
		own $their
		exec 7>"$tmp/their-in"
		wait_for eval '[ "$(cat /proc/$their/comm)" = "$name" ]'
	}
	unmask() {
		exec 7>&-
		kill $their 2>/dev/null
		wait $their 2>/dev/null
	}

	begin --follow -w "$name"
	start build1
	fire a
	stop
	wait_for eval '[ "$(grep -c "waiting for" "$tmp/messages")" = 2 ]'
	pretend "$tmp/theirs/$name"
	printf lies >&7
	ok "--follow: the next process is another user's, which is reported" wait_for grep -q \
		"warning: process $their is not traced: it runs $tmp/theirs/$name as uid 65534, unlike" "$tmp/messages"
	"$tmp/moved/$name" <"$tmp/in" 7>&- &
	app=$!
	own $app
	exec 9>"$tmp/in"
	ok "... and waited past; another path is named" wait_for grep -q "attached to $name (PID $app): $tmp/moved/$name\$" "$tmp/messages"
	printf more >&7
	fire b
	stop
	wait_for eval '[ "$(grep -c "waiting for" "$tmp/messages")" = 3 ]'
	live_wait INT
	is "$live_rc $(paste -sd, "$tmp/trace")" "0 a RUNNING IDLE,b RUNNING IDLE" \
		"nothing of it is in the trace"
	unmask

	begin -w "$name"
	pretend "$tmp/theirs/$name"
	ok "-w: the line of a process of another user names path and user" wait_for grep -q \
		"attached to $name (PID $their): $tmp/theirs/$name, of uid 65534\$" "$tmp/messages"
	live_wait INT
	unmask

	# by_name CLAIM: the program is traced, and not what has its name
	by_name() {
		cp "$tmp/build1" "$tmp/$name"
		"$tmp/$name" <"$tmp/in" 7>&- &
		app=$!
		own $app
		exec 9>"$tmp/in"
		wait_for eval '[ "$(cat /proc/$app/comm)" = "$name" ]'
		rm -f "$tmp/trace"
		live_trace -N 1 "$name" -e 'usdt:__EXE__:hit { printf("%c\n", args.r->id); }'
		printf r >&9
		live_wait
		is "$live_rc $(cat "$tmp/trace") $(grep -c "attached to $name (PID $app)\$" "$tmp/messages")" "0 r 1" "$1"
	}
	mkdir "$tmp/theirs/comm"
	ln -s "$(command -v sleep)" "$tmp/theirs/comm/$name"
	pretend "$tmp/theirs/comm/$name" 600
	by_name "by name: an executable of that name goes before a process that calls itself so"
	stop
	unmask
	cp "$(command -v sleep)" "$tmp/theirs/$name"
	pretend "$tmp/theirs/$name" 600
	by_name "... and one with the probes before one without them"
	is "$(grep -c "warning: process $their is not traced: $tmp/theirs/$name (uid 65534) does not have the probes" "$tmp/messages")" 1 \
		"which is reported with its user"
	is "$("$live_sh" -n "$name" -t hit 2>&1 | grep -c 'error:')" 0 "... with -n, too"
	stop
	out=$("$live_sh" "$name" -t hit 2>&1)
	like "$out" "note: process $their runs $tmp/theirs/$name, of uid 65534" "alone, without the probes: the error names its user"
	unmask
else
	skip "a program of another user that has the name" "no setpriv"
fi

like "$("$live_sh" -w -t hit 2>&1)" '^bpftrace.sh: -w: give the name of a program to wait for$' "-w without a name: an error"
like "$("$live_sh" --follow -x "$tmp/build1" -t hit 2>&1)" '^bpftrace.sh: --follow needs a PID or name' "--follow with -x: an error"
done_testing
