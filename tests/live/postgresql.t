#!/usr/bin/env bash
# PostgreSQL traced by postgresql.bt: every statement that was sent, once, with its duration.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"
# shellcheck source=tests/postgresql.sh
. "$(dirname "$0")/../postgresql.sh"

db=$tmp/db
postgresql_start query__start
sql -c 'CREATE TABLE t AS SELECT generate_series(1, 1000) AS n'

# detach LAST: ends the trace when the line of the statement LAST has come
detach() {
	wait_for grep -qF " ms $1" "$tmp/trace"
	live_wait INT
}

# sent [REGEX]: the texts of the trace in the order in which they ended, of lines that match
sent() {
	grep -E "${1-}" "$tmp/trace" | sed -nE 's/^[0-9]+\.[0-9]{6}: backend [0-9]+ [0-9]+\.[0-9]{3} ms //p'
}

# total MAP: the sum of its values over all backends
total() {
	sed -n "s/^@$1\[[0-9]*\]: //p" "$tmp/trace" | awk '{ n += $1 } END { print n + 0 }'
}

# A cluster, by its postmaster: psql, pgbench with both protocols, errors.
cat >"$tmp/statements.sql" <<'END'
SELECT 1;
SELECT count(*) FROM t WHERE n % 2 = 0;
INSERT INTO t SELECT generate_series(1001, 1100);
SELECT pg_sleep(0.1);
BEGIN;
UPDATE t SET n = n + 1 WHERE n < 10;
COMMIT;
SELECT 'a % sign, "quotes" and a \ backslash';
END
printf '%s\n' 'SELECT count(*) FROM t;' 'BEGIN;' 'SELECT 41 + 1;' 'END;' >"$tmp/bench.sql"
bench() {
	pgbench -n -h "$db" -U tester -f "$tmp/bench.sql" "$@" >/dev/null 2>&1
}

live_trace $postmaster postgresql.bt
{ echo '\timing on'; cat "$tmp/statements.sql"; } | sql >"$tmp/timed"
bench -M simple -c 2 -j 2 -t 50 postgres
bench -M prepared -t 25 postgres
bench -M extended -t 25 postgres
sql -c 'SELECT 1/0' -c 'SELEC 2' >/dev/null 2>&1
printf '%s\n' 'BEGIN;' 'SELECT nothing;' 'SELECT 3;' 'ROLLBACK;' | sql >/dev/null 2>&1
sql -c "SELECT 'the last'" >/dev/null
detach "SELECT 'the last'"
is $live_rc 0 "^C is status 0"

first=$(sed -n 's/.*: backend \([0-9]*\) .*/\1/p;T;q' "$tmp/trace")
is "$(sent "backend $first ")" "$(cat "$tmp/statements.sql")" "psql: each statement that was sent, in order, as it was sent"
sleep_us=$(sed -nE 's/.* ([0-9]+)\.([0-9]{3}) ms SELECT pg_sleep.*/\1\2/p' "$tmp/trace")
psql_us=$(sed -n '/^Time: /{s/^Time: \([0-9]*\)[.,]\([0-9]\{3\}\) ms.*/\1\2/p}' "$tmp/timed" | sort -n | tail -n 1)
ok "pg_sleep(0.1) took 100 ms, and less than psql waited for it (${sleep_us:-no} us, ${psql_us:-no} us)" \
	test "${sleep_us:-0}" -ge 100000 -a "${sleep_us:-0}" -lt "${psql_us:-0}"
is "$(sent | grep -cxF 'SELECT 41 + 1;')" 150 "pgbench: 100 with the simple, 25 prepared and 25 extended executions"
is "$(sent | grep -cxF 'SELECT count(*) FROM t;')" 150 "pgbench: the same for the statement outside of a transaction"
is "$(sent | grep '^failed: ')" "failed: SELECT 1/0
failed: SELEC 2
failed: SELECT nothing;
failed: SELECT 3;" "statements that failed say so, those of an aborted transaction too"
is "$(sent | wc -l)" $((8 + 4 * 150 + 2 + 4 + 1)) "as many lines as statements were sent"
is "$(total statements) $(total failed)" "$((8 + 4 * 150 + 2 + 4 + 1)) 4" "the maps have the same sums"
is "$(grep -cE 'backend [0-9]+ ' "$tmp/trace")" "$(sent | wc -l)" "every line has a stamp, a backend and a duration"
is "$(total rollbacks)" 3 "three transactions were rolled back"
is_sample postgresql.bt

# Everything that can be sent, counted by the server as well: its log has a line for each statement that ended, and
# one for each that failed; its statistics count transactions.
sql -c 'CREATE DATABASE work TEMPLATE postgres' -c 'ALTER SYSTEM SET log_min_duration_statement = 0' \
	-c "ALTER SYSTEM SET log_line_prefix = '%p '" -c 'ALTER SYSTEM SET log_connections = on' -c 'SELECT pg_reload_conf()' >/dev/null
wait_for grep -q 'log_line_prefix' "$tmp/server"
work() {
	psql -X -q -At -h "$db" -U tester -d work "$@"
}
cat >"$tmp/mix.sql" <<'END'
CREATE TABLE many AS SELECT generate_series(1, 20000) AS n;
COPY many FROM STDIN;
1
2
\.
COPY (SELECT n FROM many LIMIT 3) TO STDOUT;
PREPARE p AS SELECT $1::int;
EXECUTE p(4);
BEGIN;
DECLARE c CURSOR FOR SELECT n FROM many;
FETCH 3 FROM c;
FETCH 3 FROM c;
CLOSE c;
COMMIT;
SELECT 1 \; SELECT 2 \; SELECT 3;
SELECT 1 \; SELECT 2/0 \; SELECT 3;
SELECT 1 AS described \gdesc
DO $$ BEGIN PERFORM 1; BEGIN PERFORM 1/0; EXCEPTION WHEN OTHERS THEN NULL; END; END $$;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT count(*) FROM many;
END
# bodies MAP: PID and value of each key, in order of PIDs
bodies() { sed -nE "s/^@$1\[([0-9]+)\]: /\1 /p" "$tmp/trace" | sort -n; }
live_trace $postmaster postgresql.bt
lines=$(wc -l <"$tmp/server")
work -f "$tmp/mix.sql" >"$tmp/mix" 2>&1 &
mix=$!
bench -M simple -C -t 20 work
bench -M prepared -c 3 -j 3 -t 20 work
work -c '' -c ';' -c 'SELECT 1; SELECT 2' >/dev/null
/usr/bin/python3 "$top/tests/live/pq.py" "$db/.s.PGSQL.5432" tester work
is $? 0 "messages of the extended protocol are answered as expected"
wait $mix
work -c 'SELECT pg_sleep(60), 3' >/dev/null 2>&1 &
asleep=$!
wait_for eval '[ "$(sql -At -c "SELECT count(*) FROM pg_stat_activity WHERE wait_event = '"'PgSleep'"'")" = 1 ]'
sql -c "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'" >/dev/null
wait $asleep
sql -c "SELECT 'the last'" >/dev/null
detach "SELECT 'the last'"
tail -n +$((lines + 1)) "$tmp/server" |
	awk '$2 == "STATEMENT:" || ($2 == "LOG:" && $3 == "duration:" && ($6 == "statement:" || $6 == "execute")) { n[$1]++ }
		END { for (pid in n) print pid, n[pid] }' | sort -n >"$tmp/logged"
ok "the server's log has $(awk '{ n += $2 } END { print n }' "$tmp/logged") statements of $(wc -l <"$tmp/logged") backends" \
	test "$(wc -l <"$tmp/logged")" -gt 20
is "$(bodies statements)" "$(cat "$tmp/logged")" "as many statements for each backend as in the server's log"
is "$(bodies failed)" "$(tail -n +$((lines + 1)) "$tmp/server" |
	awk '$2 == "STATEMENT:" { n[$1]++ } END { for (pid in n) print pid, n[pid] }' | sort -n)" \
	"as many failures, in parsing, binding, execution and by an administrator's hand"
is "$(histogram latency_us)" "$(awk '{ n += $2 } END { print n }' "$tmp/logged")" "as many in the histogram"
is "$(grep -cE '^[0-9.]+: backend [0-9]+ [0-9.]+ ms ' "$tmp/trace")" "$(histogram latency_us)" "and as many lines"
like "$(sent)" '^failed: SELECT pg_sleep\(60\), 3$' "a statement in whose middle the backend was ended, with its text"
# The last sessions were of another database, so were background processes: the rest is what the statistics count.
tail -n +$((lines + 1)) "$tmp/server" | sed -n 's/^\([0-9]*\) .*connection authorized: .* database=postgres.*/\1/p' >"$tmp/elsewhere"
in_work() { bodies "$1" | awk 'NR == FNR { other[$1]; next } !($1 in other) { n += $2 } END { print n + 0 }' "$tmp/elsewhere" -; }
xact() { sql -At -F ' ' -c "SELECT xact_commit, xact_rollback FROM pg_stat_database WHERE datname = 'work'"; }
wait_for eval '[ "$(xact)" = "$(in_work commits) $(in_work rollbacks)" ]'
is "$(in_work commits) $(in_work rollbacks)" "$(xact)" "as many commits and rollbacks as in pg_stat_database, with parallel workers"

# All its processes, the youngest first, as pidof gives them: the postmaster is meant.
# A client ends before its backend does: only those that stay are listed.
no_backend() { ! pgrep -P $postmaster -f ': (tester|parallel worker) ' >/dev/null; }
wait_for no_backend
readarray -t all < <(pgrep -P $postmaster | sort -nr; echo $postmaster)
live_trace "${all[@]}" postgresql.bt
like "$(cat "$tmp/messages")" "attached to the whole host: the script filters by the PID of postgres, $postmaster" "what it looks at is said"
like "$(cat "$tmp/messages")" "note: tracing $postmaster and its $((${#all[@]} - 1)) children" \
	"of all processes of a cluster the postmaster is taken, and that is said"
sql -c "SELECT 'of any', 'backend'" >/dev/null
detach "SELECT 'of any', 'backend'"
is "$(sent)" "SELECT 'of any', 'backend'" "and statements of new backends are seen"
live_trace -x "$(readlink -f "/proc/$postmaster/exe")" postgresql.bt
like "$(cat "$tmp/messages")" "^btgen: attached to every process of /.*/postgres$" "with -x every cluster of the program is traced"
sql -c "SELECT 'in any', 'cluster'" >/dev/null
detach "SELECT 'in any', 'cluster'"
is "$(sent | grep cluster)" "SELECT 'in any', 'cluster'" "and statements are seen"
children=("${all[@]:0:2}")
is "$("$live_sh" "${children[@]}" postgresql.bt 2>&1)" "btgen: error: 2 processes were given (${children[*]}), and the script refers to one, __PID__: give only the one to trace" \
	"two children: an error that names them"
like "$("$live_sh" "${all[@]}" $$ postgresql.bt 2>&1 | tr '\n' ' ')" \
	"error: $((${#all[@]} + 1)) processes were given .*note: $postmaster $$ are not children of the others" \
	"the cluster and a stranger: an error that names the two"

# One backend, while another one works.
coproc PSQL { sql -At -f - 2>&1; }
exec 4>&"${PSQL[1]}"
echo 'SELECT pg_backend_pid();' >&4
read -r backend <&"${PSQL[0]}"
live_trace -D SLOW_MS=500 "$backend" postgresql.bt
sql -c 'SELECT pg_sleep(0.6), 1' >/dev/null
printf '%s\n' 'SELECT 1;' 'SELECT pg_sleep(0.6), 2;' >&4
detach 'SELECT pg_sleep(0.6), 2'
is "$(sent)" 'SELECT pg_sleep(0.6), 2;' "a backend's PID: that backend alone, and with SLOW_MS what took longer"
is "$(total statements)" 2 "what is not printed is counted"

# No script: the probes' documented signatures say what is a string, and have the names of an enum.
node=$(sql -c "SELECT pg_relation_filenode('t')")
live_trace -f json -t 'query__start' -t 'buffer__read__done' "$backend"
if grep -q 'cannot attach to postgresql:buffer__read__done' "$tmp/messages"; then
	skip "-t prints the text of a query, and what it reads" "this bpftrace cannot attach to this server's buffer__read__done"
	live_wait INT
else
	echo "SELECT 'no script', 3;" >&4
	wait_for grep -q 'no script' "$tmp/trace"
	echo "EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, FORMAT YAML) SELECT count(*) FROM t;" >&4
	wait_for grep -q "relation.*$node" "$tmp/trace"
	echo "SELECT 'the last';" >&4
	while read -r line <&"${PSQL[0]}" && [ "$line" != 'the last' ]; do
		printf '%s\n' "$line"
	done >"$tmp/explain"
	wait_for grep -q 'the last' "$tmp/trace"
	live_wait INT
	cat >"$tmp/fields.py" <<'END'
import json, sys
events = [(e['probe'], e['fields']) for e in map(json.loads, [*open(sys.argv[1])][1:])]
print([e for e in events if e[0].endswith('start')][0])
reads = [f for p, f in events if p.endswith('done') and f['relation'] == int(sys.argv[2])]
print(len(reads), sorted(f['block'] for f in reads) == list(range(len(reads))), {f['fork']['name'] for f in reads})
END
	hits=$(sed -nE 's/^ *Shared Hit Blocks: ([0-9]+)/\1/p;T;q' "$tmp/explain")
	is "$(/usr/bin/python3 "$tmp/fields.py" "$tmp/trace" "$node")" \
		"('postgresql:query__start', {'query': \"SELECT 'no script', 3;\"})
$hits True {'MAIN_FORKNUM'}" "-t prints the text of a query, and what it reads: as many blocks as it says, all of the main fork"
fi
exec 4>&-

ok "postgresql.bt, once more: it attaches" live_trace -T 600 "$postmaster" postgresql.bt
postgresql_stop
live_wait
is "$live_rc $(grep '^btgen: process' "$tmp/messages")" "0 btgen: process $postmaster (postgres) has exited" "the end of the server ends it, which is said"
done_testing
