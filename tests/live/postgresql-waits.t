#!/usr/bin/env bash
# postgresql-waits.bt: locks that were waited for, transactions, buffers and checkpoints, as the server counts them.
# The server is the system's, the cluster a private one: its own folder, an unprivileged user, a UNIX socket only.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"
can_trace || skip_all "needs root and bpftrace"

for bin in $(pg_config --bindir 2>/dev/null) /usr/lib/postgresql/*/bin /usr/bin; do
	[ ! -x "$bin/initdb" ] || break
done
[ -x "$bin/initdb" ] || skip_all "needs a PostgreSQL server"
readelf -n "$bin/postgres" 2>/dev/null | grep -q 'Name: lock__wait__start' ||
	skip_all "$bin/postgres was built without --enable-dtrace"
user=postgres
id -u $user >/dev/null 2>&1 || user=nobody
as_user=(setpriv --reuid="$user" --regid="$(id -g $user)" --clear-groups)

db=$tmp/db
chmod 711 "$tmp"
mkdir "$db"
chown $user "$db"
(cd "$db" && "${as_user[@]}" "$bin/initdb" -D "$db/data" -U tester -A trust -N --no-locale >"$tmp/initdb" 2>&1) ||
	skip_all "initdb failed: $(tail -n 1 "$tmp/initdb")"
(cd "$db" && exec "${as_user[@]}" "$bin/postgres" -D "$db/data" -c listen_addresses= -c unix_socket_directories="$db" \
	-c fsync=off -c autovacuum=off -c deadlock_timeout=50ms -c checkpoint_timeout=1h) >"$tmp/server" 2>&1 &
postmaster=$!
own $postmaster
sql() {
	psql -X -q -At -h "$db" -U tester -d postgres "$@"
}
wait_for 20 sql -c 'SELECT 1' >/dev/null 2>&1 || skip_all "the server does not start: $(tail -n 1 "$tmp/server")"
sql -c 'CREATE TABLE t AS SELECT generate_series(1, 20000) AS n' -c 'CREATE TABLE u (n int)' -c 'INSERT INTO u VALUES (1), (2)' \
	-c 'CHECKPOINT'

# held N: N sessions wait for a lock
held() { [ "$(sql -c 'SELECT count(*) FROM pg_locks WHERE NOT granted')" = "$1" ]; }
# map NAME [KEY]: the value of a map's key
map() { sed -n "s/^@$1\[${2-[0-9]*}\]: //p" "$tmp/trace"; }
histogram() {
	awk -v m="@$1:" '/^@/ { sub(/ *$/, ""); on = $0 == m; next } on && /^[\[(]/ { sub(/\|.*/, ""); sum += $NF } END { print sum + 0 }' "$tmp/trace"
}

live_trace $postmaster postgresql-waits.bt

# One session holds a table, another one waits for it for a while.
coproc HOLDER { sql -f - 2>&1; }
holder=${HOLDER[1]}
echo 'BEGIN; LOCK TABLE u IN EXCLUSIVE MODE; SELECT pg_backend_pid();' >&"$holder"
read -r holder_pid <&"${HOLDER[0]}"
sql -c 'SELECT pg_backend_pid()' -c 'UPDATE u SET n = 3 WHERE n = 1' >"$tmp/waiter" &
waiter=$!
wait_for 10 held 1
sleep 0.1
echo 'COMMIT; \q' >&"$holder"
wait $waiter
waiter_pid=$(cat "$tmp/waiter")

# Two sessions that wait for each other.
cat >"$tmp/dead1.sql" <<'END'
BEGIN;
SELECT pg_advisory_xact_lock(1);
SELECT pg_sleep(0.3);
SELECT pg_advisory_xact_lock(2);
COMMIT;
END
sed 's/lock(1)/lock(3)/; s/lock(2)/lock(1)/; s/lock(3)/lock(2)/' "$tmp/dead1.sql" >"$tmp/dead2.sql"
sql -f "$tmp/dead1.sql" >/dev/null 2>"$tmp/dead1" &
one=$!
sql -f "$tmp/dead2.sql" >/dev/null 2>"$tmp/dead2"
wait $one

# A table that is read by a session of its own, which asks the server what it read.
sql -c 'SELECT pg_backend_pid()' -c 'SELECT count(*) FROM t' \
	-c "SELECT heap_blks_read + heap_blks_hit FROM pg_statio_user_tables WHERE relname = 't'" \
	-c "SELECT relpages FROM pg_class WHERE relname = 't'" >"$tmp/reader"
reader=$(head -n 1 "$tmp/reader")
pages=$(sql -c "SELECT pg_relation_size('t') / 8192")
sql -c 'UPDATE t SET n = n + 1' -c CHECKPOINT
wait_for 10 grep -q 'checkpoint wrote' "$tmp/trace"
live_wait INT
is $live_rc 0 "^C is status 0"

like "$(grep "backend $waiter_pid waited" "$tmp/trace")" \
	'^[0-9]+\.[0-9]{6}: backend [0-9]+ waited [0-9]{3}\.[0-9]{3} ms for RowExclusiveLock on relation [0-9]+ [0-9]+$' \
	"who waited for the table, how long, for which lock"
is "$(grep -c "backend $holder_pid waited" "$tmp/trace")" 0 "and not who held it"
is "$(histogram 'lock_us[relation, RowExclusiveLock]')" 1 "the wait is in the histogram"
is "$(map deadlocks | wc -l)" "$(cat "$tmp"/dead[12] | grep -c 'ERROR: *deadlock detected')" "one deadlock, as one session was told"
is "$(grep -c 'found a deadlock and gives up$' "$tmp/trace")" 1 "with its line"
ok "the reader asked for each block of the table ($(map buffers "$reader") buffers, $pages blocks)" \
	test "$(map buffers "$reader")" -ge "$pages"
is "$(grep -cE 'checkpoint wrote for [0-9]+\.[0-9]{3} ms, of which [0-9]+ us to sync files$' "$tmp/trace")" 1 "one checkpoint"
ok "which wrote at least the blocks of the table" test "$(map written | sort -n | tail -n 1)" -ge "$pages"
ok "transactions that were committed have their times" test "$(histogram 'transaction_us[commit]')" -ge 6
is "$(histogram 'transaction_us[rollback]')" 1 "and the one that the deadlock rolled back"
unlike "$(cat "$tmp/trace")" '^@(mode|kind|began|sync|checkpoint)' "its own maps are not printed"

kill -INT $postmaster # ends it at once, whoever is connected
wait $postmaster
done_testing
