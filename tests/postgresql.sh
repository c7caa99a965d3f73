# Sourced after lib.sh: a PostgreSQL server of the test's own.
#
#   postgresql_start query__start [-c SETTING=VALUE...]
#   sql -c 'SELECT 1'                       # psql on it, as its superuser
#   postgresql_stop
#
# The server is the system's, the cluster a private one in $tmp/db: an unprivileged user, a UNIX socket only, no fsync, no
# autovacuum. Its PID is in $postmaster, the folder of its programs in $pg_bin; sql connects to $database. What is missing
# skips the whole file.
# shellcheck shell=bash disable=SC2154

postmaster='' pg_bin='' database=postgres

# postgresql_start PROBE OPTION...: a server that has PROBE, with these options of postgres
postgresql_start() {
	local probe=$1 user=postgres db=$tmp/db
	shift
	for pg_bin in $(pg_config --bindir 2>/dev/null) /usr/lib/postgresql/*/bin /usr/bin; do
		[ ! -x "$pg_bin/initdb" ] || break
	done
	[ -x "$pg_bin/initdb" ] || skip_all "needs a PostgreSQL server"
	readelf -n "$pg_bin/postgres" 2>/dev/null | grep -q "Name: $probe\$" ||
		skip_all "$pg_bin/postgres was built without --enable-dtrace"
	id -u $user >/dev/null 2>&1 || user=nobody
	local -a as_user=(setpriv --reuid="$user" --regid="$(id -g $user)" --clear-groups env -i PATH="$pg_bin:$PATH" LC_ALL=C)

	chmod 711 "$tmp"
	mkdir "$db"
	chown $user "$db"
	(cd "$db" && "${as_user[@]}" initdb -D "$db/data" -U tester -A trust -N --no-locale >"$tmp/initdb" 2>&1) ||
		skip_all "initdb failed: $(tail -n 1 "$tmp/initdb")"
	(cd "$db" && exec "${as_user[@]}" postgres -D "$db/data" -c listen_addresses= -c unix_socket_directories="$db" \
		-c fsync=off -c autovacuum=off "$@") >"$tmp/server" 2>&1 &
	postmaster=$!
	own $postmaster
	wait_for sql -c 'SELECT 1' >/dev/null 2>&1 || skip_all "the server does not start: $(tail -n 1 "$tmp/server")"
}

sql() { psql -X -q -At -h "$tmp/db" -U tester -d "$database" "$@"; }

# At once, whoever is connected
postgresql_stop() {
	kill -INT $postmaster
	wait $postmaster
}
