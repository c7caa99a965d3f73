#!/usr/bin/env bash
# postgresql-waits.bt: locks that were waited for, transactions, buffers and checkpoints, as the server counts them.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"
# shellcheck source=tests/postgresql.sh
. "$(dirname "$0")/../postgresql.sh"

postgresql_start lock__wait__start -c deadlock_timeout=50ms -c checkpoint_timeout=1h
sql -c 'CREATE TABLE t AS SELECT generate_series(1, 20000) AS n' -c 'CREATE TABLE u (n int)' -c 'INSERT INTO u VALUES (1), (2)' \
	-c 'CHECKPOINT'

# held N: N sessions wait for a lock
held() { [ "$(sql -c 'SELECT count(*) FROM pg_locks WHERE NOT granted')" = "$1" ]; }
# map NAME [KEY]: the value of a map's key
map() { sed -n "s/^@$1\[${2-[0-9]*}\]: //p" "$tmp/trace"; }

# The server counts as well: blocks and transactions of a database (and blocks of 0, what all of them share), checkpoints;
# its log has what took long. A session asks that reads no blocks any more. The database is a copy of files: none of its blocks
# are in memory, where the other way to copy it, through buffers, may leave all of them.
version=$(sql -c 'SHOW server_version_num')
sql -c 'CREATE DATABASE work TEMPLATE postgres STRATEGY file_copy' -c 'ALTER SYSTEM SET log_lock_waits = on' \
	-c 'ALTER SYSTEM SET log_checkpoints = on' -c 'SELECT pg_reload_conf()' >/dev/null
work=$(sql -c "SELECT oid FROM pg_database WHERE datname = 'work'")
# Since 16 it counts what it reads, and a block that one session has to have while another one reads it (which is found, says
# the probe) is not among those that were found.
fetched="pg_stat_get_db_blocks_fetched(0) + pg_stat_get_db_blocks_fetched($work)" found=${fetched//fetched/hit}
[ "$version" -lt 160000 ] || found="$fetched - (SELECT sum(reads) FROM pg_stat_io)"
checkpoints="pg_stat_get_bgwriter_requested_checkpoints(), pg_stat_get_bgwriter_buf_written_checkpoints()"
[ "$version" -lt 170000 ] ||
	checkpoints="pg_stat_get_checkpointer_num_requested(), pg_stat_get_checkpointer_buffers_written()"
mkfifo "$tmp/ask" "$tmp/told"
exec 5<>"$tmp/ask" 6<>"$tmp/told"
sql -F ' ' -f "$tmp/ask" >&6 2>&1 5>&- 6>&- &
own $!
# counters: fetched, found, committed, rolled back, deadlocks, checkpoints and what they wrote, when it does not change, and
# sessions: one that has ended has added what it counted before it is gone from there
counters() {
	local last=none
	while [ "$last" != "${count[*]-}" ] || [ "${count[7]}" != 0 ]; do
		last=${count[*]-}
		sleep 0.3
		echo "SELECT pg_stat_force_next_flush() \\g /dev/null
			SELECT $fetched, $found, pg_stat_get_db_xact_commit($work), pg_stat_get_db_xact_rollback($work),
			pg_stat_get_db_deadlocks($work), $checkpoints,
			(SELECT count(*) FROM pg_stat_get_activity(NULL) WHERE datid = $work);" >&5
		read -r -a count <&6
	done
}
counters
before=("${count[@]}")
lines=$(wc -l <"$tmp/server")
# shellcheck disable=SC2034 # sql connects to it
database=work

live_trace $postmaster postgresql-waits.bt
reads=yes excuse=()
if grep -q 'cannot attach to .*buffer__read__done' "$tmp/messages"; then
	reads=no excuse=(-x '^@disk_reads' -x '^@hits')
fi
# if_reads COMMAND...: a claim about what is counted when a buffer has been read
if_reads() {
	if [ $reads = yes ]; then
		"$@"
	else
		skip "of buffers that have been read" "this bpftrace cannot attach to this server's buffer__read__done"
	fi
}

# One session holds a table, another one waits for it for a while.
coproc HOLDER { sql -f - 2>&1; }
holder=${HOLDER[1]}
echo 'BEGIN; LOCK TABLE u IN EXCLUSIVE MODE; SELECT pg_backend_pid();' >&"$holder"
read -r holder_pid <&"${HOLDER[0]}"
began=${EPOCHREALTIME//./}
sql -c 'SELECT pg_backend_pid()' -c 'UPDATE u SET n = 3 WHERE n = 1' >"$tmp/waiter" &
waiter=$!
wait_for held 1
sleep 0.1
echo 'COMMIT; \q' >&"$holder"
wait $waiter
waiter_pid=$(cat "$tmp/waiter")

# Two sessions that wait for each other.
cat >"$tmp/dead1.sql" <<'END'
BEGIN;
SELECT pg_advisory_xact_lock(1);
DO 'BEGIN WHILE NOT EXISTS (SELECT FROM pg_locks WHERE locktype = $$advisory$$ AND objid = 2) LOOP
	PERFORM pg_sleep(0.01); END LOOP; END';
SELECT pg_advisory_xact_lock(2);
COMMIT;
END
sed 's/lock(1)/lock(3)/; s/lock(2)/lock(1)/; s/lock(3)/lock(2)/; s/objid = 2/objid = 1/' "$tmp/dead1.sql" >"$tmp/dead2.sql"
sql -f "$tmp/dead1.sql" >/dev/null 2>"$tmp/dead1" &
one=$!
sql -f "$tmp/dead2.sql" >/dev/null 2>"$tmp/dead2"
wait $one
waited_at_most=$(((${EPOCHREALTIME//./} - began) / 1000 + 1))

# A table that is read by a session of its own, which asks the server what it read.
sql -c 'SELECT pg_backend_pid()' -c 'SELECT count(*) FROM t' \
	-c 'SELECT pg_stat_force_next_flush()' -c "SELECT heap_blks_read FROM pg_statio_user_tables WHERE relname = 't'" >"$tmp/reader"
reader=$(head -n 1 "$tmp/reader") from_file=$(tail -n 1 "$tmp/reader")
pages=$(sql -c "SELECT pg_relation_size('t') / 8192")
sql -c 'UPDATE t SET n = n + 1' -c CHECKPOINT
wait_for grep -q 'checkpoint wrote' "$tmp/trace"
live_wait INT
is $live_rc 0 "^C is status 0"

like "$(grep "backend $waiter_pid waited" "$tmp/trace")" \
	'^[0-9]+\.[0-9]{6}: backend [0-9]+ waited [1-9][0-9]{2,}\.[0-9]{3} ms for RowExclusiveLock on relation [0-9]+ [0-9]+$' \
	"who waited for the table, how long, for which lock"
is "$(grep -c "backend $holder_pid waited" "$tmp/trace")" 0 "and not who held it"
is "$(histogram 'lock_us[relation, RowExclusiveLock]')" 1 "the wait is in the histogram"
is "$(map deadlocks | wc -l)" "$(cat "$tmp"/dead[12] | grep -c 'ERROR: *deadlock detected')" "one deadlock, as one session was told"
is "$(grep -c 'found a deadlock and gives up$' "$tmp/trace")" 1 "with its line"
ok "the reader asked for each block of the table ($(map buffers "$reader") buffers, $pages blocks)" \
	test "$(map buffers "$reader")" -ge "$pages"
has_read() { [ "$from_file" = "$pages" ] && [ "$(map disk_reads "$reader")" -ge "$from_file" ]; }
if_reads ok "and had to read those that it says it had to ($(map disk_reads "$reader") from files, $from_file of the table)" has_read
is "$(grep -cE 'checkpoint wrote for [0-9]+\.[0-9]{3} ms, of which [0-9]+ us to sync files$' "$tmp/trace")" 1 "one checkpoint"
ok "which wrote at least the blocks of the table" test "$(map written | sort -n | tail -n 1)" -ge "$pages"
ok "transactions that were committed have their times" test "$(histogram 'transaction_us[commit]')" -ge 6
is "$(histogram 'transaction_us[rollback]')" 1 "and the one that the deadlock rolled back"
# sum MAP: over all processes
sum() { map "$1" | awk '{ n += $1 } END { print n + 0 }'; }
counters
exec 5>&- 6<&-
for i in "${!count[@]}"; do
	count[i]=$((count[i] - before[i]))
done
is "$(sum buffers)" "${count[0]}" "as many buffers as the server says, of all sessions (${count[0]})"
if_reads is "$(sum hits)" "${count[1]}" "as many of them found in memory (${count[1]})"
rest=$((count[0] - count[1]))
if [ "$version" -lt 160000 ]; then
	ok "as many that were read from a file, or new ($(sum disk_reads) read)" \
		test "$(sum disk_reads)" -gt 0 -a "$(sum disk_reads)" -le $rest
else
	if_reads is "$(sum disk_reads)" $rest "as many that were read from a file ($rest)"
fi
is "$(histogram 'transaction_us[commit]') $(histogram 'transaction_us[rollback]')" "${count[2]} ${count[3]}" \
	"as many commits and rollbacks (${count[2]}, ${count[3]})"
is "$(sum deadlocks)" "${count[4]}" "as many deadlocks"
is "$(grep -c 'checkpoint wrote' "$tmp/trace")" "${count[5]}" "as many checkpoints"
checkpointer=$(sed -n 's/^@written\[\([0-9]*\)\]: '"${count[6]}"'$/\1/p' "$tmp/trace")
like "$checkpointer" '^[0-9]+$' "and a process that wrote what these wrote (${count[6]} blocks)"
tail -n +$((lines + 1)) "$tmp/server" | sed \
	-nE 's/.*process ([0-9]+) acquired ([A-Za-z]+) on .* after ([0-9.]+) ms.*$/\1 \2 \3/p' | sort >"$tmp/logged"
sed -nE 's/.*backend ([0-9]+) waited ([0-9.]+) ms for ([A-Za-z]+) on.*/\1 \3 \2/p' "$tmp/trace" | sort >"$tmp/waited"
# The server has a line only for who still waits when it looks, after deadlock_timeout.
ok "its log has long waits ($(wc -l <"$tmp/logged"))" test -s "$tmp/logged"
# From the log's figure on the process may wait for the processor, for as long as this test saw.
is "$(awk -v most=$waited_at_most 'NR == FNR { ms[$1 " " $2] = $3; next }
	!(($1 " " $2) in ms) { print "not traced:", $0; next }
	{ d = ms[$1 " " $2] - $3; if (d < -1 || ms[$1 " " $2] > most) print $0, "traced as", ms[$1 " " $2] }' \
		"$tmp/waited" "$tmp/logged")" "" \
	"whose, for which lock and how long is traced as it is logged"
unlike "$(cat "$tmp/trace")" '^@(sought|mode|kind|began|sync|checkpoint)' "its own maps are not printed"
is_sample postgresql-waits.bt "${excuse[@]}"

postgresql_stop
done_testing
