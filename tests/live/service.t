#!/usr/bin/env bash
# docs/production.md: systemd knows its unit, and its command does what the page says when it is run as systemd runs it.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
export live_partly=yes
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"
page=$top/docs/production.md
unit=$tmp/btgen@.service
service() { python3 "$top/tests/live/service.py" "$@"; }

# The block that begins with the name of the unit, up to the next line of text.
awk '/^    # .*btgen@\.service/ { on = 1 } on && /^[^ ]/ { exit } on { sub(/^    /, ""); print }' "$page" >"$unit"
ok "the page has a unit, with all three sections" eval '[ "$(grep -cE "^\[(Unit|Service|Install)\]$" "$unit")" = 3 ]'

if command -v systemd-analyze >/dev/null; then
	# It reads files, and needs no systemd that runs. Another unit may be wrong on this machine.
	check() { SYSTEMD_LOG_LEVEL=info systemd-analyze verify --man=no "$1" 2>&1 | grep "btgen@"; }
	cp "$unit" "$tmp/btgen@app.service"
	is "$(check "$tmp/btgen@app.service")" "" "systemd knows each of its directives, and their values"
	sed 's/^KillMode=mixed/KillMode=mixt\nKilMode=mixed/' "$unit" >"$tmp/btgen@bad.service"
	is "$(check "$tmp/btgen@bad.service" | grep -cE "KilMode|mixt")" 2 "... and would say so of others"
else
	skip "systemd knows its directives" "no systemd-analyze"
fi

missing=
for tool in systemd-notify setpriv python3; do command -v $tool >/dev/null || missing=$tool; done
can_trace || missing="tracing: $BTGEN_CANNOT_TRACE"
if [ "$missing" ]; then
	skip "the command of the unit" "needs $missing"
	done_testing
fi

cat >"$tmp/app.c" <<'END'
#include <btgen/usdt.h>
#include <unistd.h>
int main(void)
{
	char c;
	while (read(0, &c, 1) == 1)
		USDT_PROBE_LAZY(app, hit, c);
	return 0;
}
END
name=svc-$$
gcc -O1 -g -I"$top/include" -o "$tmp/$name" "$tmp/app.c" || exit
mkdir "$tmp/etc" "$tmp/log"
echo 'usdt:__EXE__:hit { printf("event %d\n", arg0); @hits = count(); }' >"$tmp/etc/$name.bt"
python3 "$top/tests/live/service.py" listen "$tmp/socket" "$tmp/notified" &
own $!
wait_for test -S "$tmp/socket"

# The command line, with our files in place of those that are installed.
words=()
while IFS= read -r -d '' word; do
	word=${word//\/usr\/local\/bin\/bpftrace.sh/$live_sh}
	words+=("${word//\/etc\/btgen/$tmp/etc}")
done < <(service command "$unit" "$name")
like "${words[*]}" "^/bin/bash -c exec $live_sh .* trace $name\$" "the command of the unit"

# begin: runs it with the unit's capabilities and limits; its process, as systemd knows it, is $main. end SIGNAL: its status in $rc
bounding=-all$(service value "$unit" CapabilityBoundingSet | tr 'A-Z ' 'a-z\n' | sed 's/^cap_/,+/' | tr -d '\n')
begin() {
	local limits=()
	[ "$(service value "$unit" NoNewPrivileges)" != yes ] || limits+=(--no-new-privs)
	: >"$tmp/notified"
	: >"$tmp/messages"
	(
		[ "$(service value "$unit" LimitMEMLOCK)" != infinity ] || ulimit -l unlimited 2>/dev/null # which even root may not be allowed
		cd / || exit
		NOTIFY_SOCKET=$tmp/socket LOGS_DIRECTORY=$tmp/log exec setpriv --bounding-set="$bounding" --inh-caps=-all "${limits[@]}" \
			env --default-signal=INT "${words[@]}" </dev/null >/dev/null 2>"$tmp/messages" 8>&-
	) &
	main=$!
	own $main
}
end() {
	kill -"$1" $main
	wait $main
	rc=$?
}
is_ready() { grep -q READY=1 "$tmp/notified"; }
data=$tmp/log/$name.json
# events N: so many are in the file
events() { [ "$(grep -c '"text": "event 65' "$data" 2>/dev/null)" = "$1" ]; }

sig=$(service value "$unit" KillSignal)
begin
wait_for grep -q 'waiting for' "$tmp/messages"
not_ok "the program does not run: the service is not started" is_ready
end "${sig#SIG}"
is $rc "$(service value "$unit" SuccessExitStatus)" "stopped before that: the status that is no failure"

begin
wait_for grep -q 'waiting for' "$tmp/messages"
live_start "$tmp/$name"
ok "the program starts: the service is started" wait_for is_ready
printf A >&8
ok "... when the probes are attached: the next event is in the file" wait_for events 1
live_quit
wait_for grep -q 'has exited' "$tmp/messages"
live_start "$tmp/$name"
wait_for eval '[ "$(grep -c "attached to" "$tmp/messages")" = 2 ]'
printf A >&8
ok "the program is started again: so is its trace" wait_for events 2
is "$(grep -c READY=1 "$tmp/notified")" 1 "... and systemd was told once"
end "${sig#SIG}"
is $rc 0 "stopped: status 0"
is "$(grep -c '"map": "@hits"' "$data")" 2 "... and each process's maps are in the file"
unlike "$(cat "$tmp/messages")" 'error|lost' "nothing went wrong"

begin
ok "the program runs: the service is started" wait_for is_ready
printf A >&8
ok "what the file had is kept" wait_for events 3
end "${sig#SIG}"
is $rc 0 "stopped: status 0"
ok "each line of the file is JSON" python3 -c 'import json, sys; [json.loads(line) for line in sys.stdin]' <"$data"
live_quit

# A mistake in the script is one of the unit: it fails, and says nothing to systemd.
echo 'usdt:__EXE__:nosuch { @ = count(); }' >"$tmp/etc/$name.bt"
live_start "$tmp/$name"
begin
wait $main
is $? 1 "a script with a mistake: status 1"
not_ok "... and the service is not started" is_ready
live_quit
done_testing
