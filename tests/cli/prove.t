#!/usr/bin/env bash
# tests/prove.sh: what failed test files said comes once more, after prove's summary, where the end of a log shows it.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

# test_file NAME: a test file out of stdin
test_file() {
	cat >"$tmp/$1" && chmod +x "$tmp/$1"
}

# suite OPTION-OR-NAME...: runs them; status in $rc, what comes behind prove's last line in $tmp/after
suite() {
	(cd "$tmp" && "$top/tests/prove.sh" "$@") >"$tmp/log" 2>&1
	rc=$?
	sed '1,/^Result: /d' "$tmp/log" >"$tmp/after"
}

export BTGEN_CANNOT_TRACE='' # nothing here depends on it

test_file good.t <<'TEST'
#!/bin/sh
echo 'ok 1 - fine'
echo 'the good one speaks' >&2
echo 1..1
TEST
test_file bad.t <<'TEST'
#!/bin/sh
echo 'ok 1 - before'
echo '# what was seen'
echo 'not ok 2 - the sky is green'
echo '#   it is blue'
echo 'ok 3 - behind'
echo '# an aside'
echo 'ok 4 - last'
echo 1..4
exit 3
TEST
test_file dies.t <<'TEST'
#!/bin/sh
echo 'ok 1 - begun'
echo 'dies.t: no such thing' >&2
exit 4
TEST
test_file long.t <<'TEST'
#!/bin/sh
echo 'not ok 1 - much to say'
seq -f '# line %g' 100
echo 1..1
TEST

test_file descriptors.t <<'TEST'
#!/bin/sh
[ -e /proc/self/fd/3 ] || [ -e /proc/self/fd/7 ] && printf 'not '
echo 'ok 1 - no descriptor is open but the three'
echo 1..1
TEST
suite ./descriptors.t
is "$rc" 0 "a test is given no descriptors but the standard ones"
test_file speaks.t <<'TEST'
#!/bin/sh
echo 'waiting' >&2
n=0
until [ -e third ] || [ $((n += 1)) -gt 100 ]; do sleep 0.1; done
[ -e third ] || printf 'not '
echo 'ok 1 - others go on'
echo 1..1
TEST
cp "$tmp/good.t" "$tmp/second.t"
printf '#!/bin/sh\n: >third\necho "ok 1"\necho 1..1\n' | test_file third.t
suite -j2 ./speaks.t ./second.t ./third.t
is "$rc" 0 "others begin and end while a test that has said something waits"
suite ./good.t
is "$rc: $(cat "$tmp/after")" "0: " "nothing failed: status 0, nothing behind the summary"
suite -j2 ./good.t ./bad.t ./dies.t
(cd "$tmp" && prove -e '' ./good.t ./bad.t ./dies.t >/dev/null 2>&1)
is $rc $? "some failed: prove's own status"
is "$(cat "$tmp/after")" "
=== ./bad.t said:
# what was seen
not ok 2 - the sky is green
#   it is blue

=== ./dies.t said:
--- on standard error, at last:
dies.t: no such thing" "failed claims with what was said around them, of each file; what passed is not told again"
like "$(cat "$tmp/log")" 'bad.t .*Wstat: 768 ' "prove gets each file's own status"
suite ./long.t
is "$(wc -l <"$tmp/after") $(tail -n 1 "$tmp/after")" "43 ... and 61 more lines" "40 lines of a long story: its end says how many more"
FAILURES=$tmp/failures suite ./good.t ./dies.t
is "$(cat "$tmp/after" "$tmp/failures")" "
=== ./dies.t said:
--- on standard error, at last:
dies.t: no such thing" "FAILURES=FILE: there instead"

test_file lonely.t <<'TEST'
#!/bin/sh
# passes the second time
if [ -e been ]; then echo 'ok 1 - alone'; else echo 'not ok 1 - beside others'; fi
: >been
echo 1..1
TEST
AGAIN=1 AGAIN_OF='*.t' suite -j2 ./good.t ./lonely.t
is "$rc" 0 "AGAIN: what fails beside others and passes alone has passed"
is "$(grep -c 'not ok 1 - beside others' "$tmp/log") $(grep -c '^=== once more' "$tmp/log") $(tail -n 1 "$tmp/log")" \
	"1 1 Result: PASS" "with what it said at first"
AGAIN=2 AGAIN_OF='*.t' suite -j2 ./good.t ./bad.t ./dies.t
is "$rc $(grep -c 'the sky is green' "$tmp/log")" "1 2" "what fails again has failed"
rm -f "$tmp/been"
AGAIN=1 AGAIN_OF='*.t' suite -j2 ./lonely.t ./bad.t
is "$rc $(grep -c '^=== once more' "$tmp/log")" "1 0" "so have all when they are more than N"
rm -f "$tmp/been"
AGAIN=1 AGAIN_OF='live/*' suite -j2 ./good.t ./lonely.t
is "$rc $(grep -c '^=== once more' "$tmp/log")" "1 0" "and when it is none of those that may"
# --- where nothing can be traced

test_file traces.t <<'TEST'
#!/usr/bin/env bash
. "$LIB"
need_tracing
ok "it runs" true
done_testing
TEST
test_file partly.t <<'TEST'
#!/usr/bin/env bash
. "$LIB"
ok "it runs" true
can_trace || skip_tracing "the rest"
done_testing
TEST
export LIB=$top/tests/lib.sh
cp "$tmp/traces.t" "$tmp/traces-too.t"
BTGEN_CANNOT_TRACE="no kernel" suite ./good.t ./traces.t ./partly.t ./traces-too.t
is "$rc: $(cat "$tmp/after")" "0: 
Skipped: 2 of 4 test files, and parts of 1 others. They need tracing, which this machine does not allow: no kernel" \
	"what needs tracing is skipped where it is not possible, and counted"
like "$(cat "$tmp/log")" '^\./traces\.t \.+ skipped: needs tracing: no kernel$' "... with the reason"
BTGEN_CANNOT_TRACE="no kernel" suite ./good.t ./bad.t ./traces.t
is "$rc $(tail -n 1 "$tmp/after" | cut -d. -f 1)" "1 Skipped: 1 of 3 test files, and parts of 0 others" "... also after what failed"
BTGEN_CANNOT_TRACE="no kernel" suite ./good.t
is "$(cat "$tmp/after")" "" "nothing was skipped: nothing is said"
suite ./traces.t ./partly.t
is "$rc: $(grep -c -i skip "$tmp/log")" "0: 0" "where it is possible nothing is skipped"
ask() { (unset BTGEN_CANNOT_TRACE && "$@"); }
printf '#!/bin/sh\necho asked >>"%s/asked"; echo "ERROR: no way" >&2; exit 1\n' "$tmp" >"$tmp/no-bpftrace"
chmod +x "$tmp/no-bpftrace"
BTGEN_BPFTRACE=$tmp/no-bpftrace ask suite ./traces.t ./partly.t ./traces-too.t
is "$(tail -n 1 "$tmp/log" | sed 's/.*allow: //')" "$(BTGEN_BPFTRACE=$tmp/no-bpftrace "$top/tests/tracing.sh")" "the reason is that of tracing.sh"
if "$top/tests/tracing.sh" --rights >/dev/null; then
	rm "$tmp/asked"
	BTGEN_BPFTRACE=$tmp/no-bpftrace ask suite ./traces.t ./partly.t ./traces-too.t
	is "$(cat "$tmp/asked")" "asked
asked" "bpftrace is asked once for all tests, and once more when it cannot attach a probe"
	like "$(cat "$tmp/log")" 'not allow: bpftrace cannot attach a probe: no way$' "... in its words"
fi

test_file early.t <<'TEST'
#!/bin/sh
echo 'ok 1 - begun'
echo 1..5
TEST
rm -f "$tmp/been"
AGAIN=1 AGAIN_OF='*.t' suite -j2 ./early.t ./lonely.t
is "$rc $(grep -c '^=== once more' "$tmp/log")" "1 0" "one that ends early with status 0 is one of them"

test_file hangs.t <<'TEST'
#!/bin/bash
echo 'ok 1 - begun'
sleep 500 &
echo $! >sleeper
wait
TEST
LIMIT=1 suite -j2 ./good.t ./hangs.t
is "$rc $(grep -c '^# ended: it .* more than 1 s$' "$tmp/after")" "1 1" "one that hangs is ended, and has failed"
if command -v ps >/dev/null; then
	ok "... and what it waited for is there" grep -qE '^#  .* sleep [0-9]+$' "$tmp/after"
else
	skip "... and what it waited for is there" "no ps"
fi
is_over() { ! grep -q '^State:[[:space:]]*[^Z]' "/proc/$1/status" 2>/dev/null; } # who adopts it may be slow to wait for it
ok "with what it started" wait_for is_over "$(cat "$tmp/sleeper")"
test_file signals.t <<'TEST'
#!/bin/bash
awk '/^SigIgn/ { print (substr($2, 16) ~ /[2367abef]/ ? "not " : "") "ok 1 - nothing ignores ^C" }' /proc/self/status
echo 1..1
TEST
suite ./signals.t
is "$rc" 0 "a test's programs take ^C"

# --- /dev/null, of a /dev of our own

# dev NULL COMMAND...: runs the command where /dev has only what shells need, and the result of `NULL` is /dev/null
dev() {
	# shellcheck disable=SC2016 # for that shell
	env -u BTGEN_NULL unshare -m -- bash -c 'mount -t tmpfs -o mode=755 none /dev && mknod -m 666 /dev/urandom c 1 9 && ln -s /proc/self/fd /dev/fd &&
		cd "$1" && eval "$2" && "${@:3}"; echo "status $?"; LC_ALL=C stat -c "%F %t:%T" /dev/null' bash "$tmp" "$@" 2>&1
}
device='mknod -m 666 /dev/null c 1 3'
test_file replaces.t <<'TEST'
#!/bin/sh
rm -f /dev/null
: >x && mv -f x /dev/null
: >x && ln -f x /dev/null
cp --remove-destination x /dev/null
install -m 600 x /dev/null
python3 -c 'import os; open("y", "w"); os.rename("y", "/dev/null")'
echo 'ok 1 - it tried'
echo 1..1
TEST
if [ "$(id -u)" != 0 ] || ! unshare -m sh -c 'mount -t tmpfs none /dev && mknod /dev/null c 1 3' 2>/dev/null; then
	skip "/dev/null" "this user cannot have a /dev of its own"
else
	like "$(dev "$device" "$top/tests/prove.sh" ./replaces.t | tail -n 3 | paste -sd' ')" '^Result: PASS status 0 character special file 1:3$' \
		"no test can replace /dev/null"
	is "$(dev ': >/dev/null' "$top/tests/prove.sh" ./good.t)" "null.sh: error: /dev/null is not the null device (regular empty file 0:0): as root, rm -f /dev/null && mknod -m 666 /dev/null c 1 3
status 1
regular empty file 0:0" "where it is a file already, that is said, and no test runs"
	like "$(dev true "$top/tests/prove.sh" ./good.t | paste -sd' ')" "not the null device .*No such file or directory.* status 1" "the same where there is none"
	is "$(dev ': >/dev/null' "$top/tests/cli/prove.t" | head -n 1)" "Bail out!  /dev/null is not the null device (tests/null.sh)" "a test by itself says so, too"
fi

# tests/matrix/tracefs.sh: a setting of the kernel that it changes while a command runs is as before behind it.
sed "s,^expedited=.*,expedited=$tmp/expedited," "$top/tests/matrix/tracefs.sh" >"$tmp/tracefs.sh"
chmod +x "$tmp/tracefs.sh"
is_back() { [ "$(cat "$tmp/expedited")" = 0 ]; }
for beside in "" "unshare --pid --fork --mount-proc"; do
	# shellcheck disable=SC2086
	if ! $beside true 2>/dev/null; then
		skip "$beside" "this user cannot have a PID namespace"
		continue
	fi
	echo 0 >"$tmp/expedited"
	# shellcheck disable=SC2086
	$beside "$tmp/tracefs.sh" true
	ok "the setting is as before${beside:+, in a container too}" wait_for is_back
done
echo 1 >"$tmp/expedited"
"$tmp/tracefs.sh" true
sleep 1.5
is "$(cat "$tmp/expedited")" 1 "what somebody else has set stays"
done_testing
