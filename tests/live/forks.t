#!/usr/bin/env bash
# bpftrace.sh -t of a server that forks: several processes of one program, and a note when its children are not traced.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"
# shellcheck source=tests/postgresql.sh
. "$(dirname "$0")/../postgresql.sh"

postgresql_start query__start

# session N: a connection that runs what comes on descriptor 10 + N; its backend in ${backend[N]}
backend=()
session() {
	local n=$1
	mkfifo "$tmp/in$n"
	sql -f "$tmp/in$n" >"$tmp/out$n" 2>&1 &
	own $!
	eval "exec $((10 + n))>\"\$tmp/in$n\""
	say "$n" 'SELECT pg_backend_pid();'
	wait_for test -s "$tmp/out$n"
	backend[n]=$(head -n 1 "$tmp/out$n")
}
say() { eval "printf '%s\\n' \"\$2\" >&$((10 + $1))"; }
answered() { grep -q "$2" "$tmp/out$1"; }
for n in 1 2 3; do session $n; done

ok "two backends, as pidof names them" live_trace -f json -t 'query__start' "${backend[1]} ${backend[2]}"
for n in 1 2 3; do
	say $n "SELECT 'asked by $n';"
	wait_for answered $n "asked by $n"
done
say 1 "SELECT 'last', 1;"
wait_for grep -q last "$tmp/trace"
live_wait INT
is "$live_rc $(/usr/bin/python3 -c '
import json, sys
print([(e["pid"], e["fields"]["query"]) for e in map(json.loads, [*open(sys.argv[1])][1:])])' "$tmp/trace")" \
	"0 [(${backend[1]}, \"SELECT 'asked by 1';\"), (${backend[2]}, \"SELECT 'asked by 2';\"), (${backend[1]}, \"SELECT 'last', 1;\")]" \
	"the queries of both, and of no other backend"

ok "the server's first process" live_trace -t 'query__start' $postmaster
live_wait INT
like "$(cat "$tmp/messages")" "note: [0-9]+ children of process $postmaster run the same program and are not traced" \
	"that its children are not traced is said, and what traces them"
like "$(cat "$tmp/messages")" "not traced: use --children, or -x $(readlink -f /proc/$postmaster/exe) to trace all that run it" "with what does"
ok "all processes of the program" live_trace -f json -t 'query__start' -x "$(readlink -f "/proc/$postmaster/exe")"
say 2 "SELECT 'asked before', $$;"
wait_for answered 2 'asked before'
session 4
say 4 "SELECT 'asked later', $$;"
wait_for grep -q "asked later.*$$" "$tmp/trace"
live_wait INT
is "$(sed -nE "s/.*\"pid\": ([0-9]+),.*'(asked [a-z]*)', $$.*/\1 \2/p" "$tmp/trace")" "${backend[2]} asked before
${backend[4]} asked later" "-x: a backend that was there, and one that came later"
like "$("$top/scripts/bpftrace.sh" -n -t 'query__start' $postmaster $$ 2>&1)" \
	"^btgen: error: process $$ does not run the same program as process $postmaster" "processes of different programs: an error"
is "$("$top/scripts/bpftrace.sh" -n -e 'usdt:__EXE__:query__start /pid == __PID__/ { exit(); }' $postmaster "${backend[1]}" 2>&1)" \
	"btgen: error: 2 processes were given ($postmaster ${backend[1]}), and the script refers to one, __PID__: give only the one to trace" \
	"a script that says so is for one process"
ok "another is for both" live_trace -e 'usdt:__EXE__:query__start { printf("%d %s\n", pid, str(arg0)); }' "${backend[1]} ${backend[2]}"
for n in 1 2 3; do
	say $n "SELECT 'of both $n';"
	wait_for answered $n "of both $n"
done
wait_for eval '[ "$(wc -l <"$tmp/trace")" -ge 2 ]'
live_wait INT
is "$(grep . "$tmp/trace")" "${backend[1]} SELECT 'of both 1';
${backend[2]} SELECT 'of both 2';" "and sees the statements of these two"
exec 14>&- 11>&- 12>&- 13>&-

postgresql_stop
done_testing
