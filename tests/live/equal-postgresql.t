#!/usr/bin/env bash
# What the scripts for PostgreSQL print is what bare bpftrace prints of the same events, given the program that btgen expand
# makes of each.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"
# shellcheck source=tests/equal.sh
. "$(dirname "$0")/../equal.sh"
# shellcheck source=tests/postgresql.sh
. "$(dirname "$0")/../postgresql.sh"

postgresql_start query__start -c deadlock_timeout=50ms -c checkpoint_timeout=1h
sql -c 'CREATE TABLE t AS SELECT generate_series(1, 5000) AS n' -c CHECKPOINT
held() { [ "$(sql -c 'SELECT count(*) FROM pg_locks WHERE NOT granted')" = 1 ]; }
# shellcheck disable=SC2034 # read by equal.sh
live_pid=$postmaster
equal_watch postgresql postgresql.bt
equal_watch postgresql-waits postgresql-waits.bt
ok "they attach" equal_attached
coproc HOLDER { sql -f - 2>&1; }
holder=${HOLDER[1]}
echo 'BEGIN; LOCK TABLE t IN EXCLUSIVE MODE; SELECT pg_backend_pid();' >&"$holder"
read -r _ <&"${HOLDER[0]}"
sql -c 'UPDATE t SET n = 3 WHERE n = 1' &
waiter=$!
wait_for held
echo 'COMMIT; \q' >&"$holder"
wait $waiter
sql -c 'SELECT 1/0' -c 'SELEC 2' >/dev/null 2>&1
sql -c "SELECT 'a % sign, \"quotes\" and a \\ backslash', count(*) FROM t" -c 'UPDATE t SET n = n + 1' -c CHECKPOINT >/dev/null
printf '%s\n' 'SELECT count(*) FROM t;' 'BEGIN;' 'SELECT 41 + 1;' 'END;' >"$tmp/bench.sql"
for protocol in simple prepared extended; do
	pgbench -n -h "$tmp/db" -U tester -f "$tmp/bench.sql" -M $protocol -t 5 postgres >/dev/null 2>&1
done
sleep 0.5
equal_end
equal_is postgresql -u -t '.*_us'
equal_is postgresql-waits -u -t '.*_us'
postgresql_stop
done_testing
