#!/usr/bin/env bash
# -t '*' of programs with many probes: each probe is attached to, or counted among those that are skipped.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"
# shellcheck source=tests/postgresql.sh
. "$(dirname "$0")/../postgresql.sh"

# probes PID: PROVIDER:NAME of all that its files have, once for each file
probes() {
	awk '$6 ~ "^/" { print $6 }' "/proc/$1/maps" | sort -u | while read -r file; do
		readelf -n "$file" 2>/dev/null | sed -n 's/^ *Provider: //p; s/^ *Name: //p' | paste -d: - - | sort -u
	done
}

# all NAME PID: its probes, as far as they are attached to, and those that are said to be skipped, are all that there are
all() {
	local name=$1 pid=$2 n skipped
	n=$(probes "$pid" | wc -l)
	[ "$n" != 0 ] || {
		skip "$name" "it was built without probes"
		return
	}
	ok "$name: -t '*' attaches" live_trace -t '*' "$pid"
	skipped=$(sed -nE 's/.*warning: ([0-9]+) of '"$n"' probes (is|are) skipped: .*/\1/p' "$tmp/messages")
	skipped=${skipped:-0}
	is "$("$live_sh" -n -t '*' "$pid" 2>/dev/null | grep -c ^usdt:) + $skipped" "$((n - skipped)) + $skipped" \
		"$name: each of $n probes is attached to, or counted as skipped"
	unlike "$(cat "$tmp/messages")" 'error:|@[0-9a-f]{16}' "$name: and nothing else is wrong"
	live_wait INT
	is $live_rc 0 "$name: ^C is status 0"
}

# of NAME PROGRAM ARG...: the same of a program that is started for it
of() {
	local name=$1 program
	program=$(command -v "$2") || {
		skip "$name" "no $2 here"
		return
	}
	live_start "$program" "${@:3}"
	all "$name" "$live_pid"
	exec 8>&-
	kill "$live_pid" 2>/dev/null
	wait_end "$live_pid" 2>/dev/null
}

echo 'gets' >"$tmp/app.rb"
echo 'input()' >"$tmp/app.py"
# shellcheck disable=SC2016 # PHP's
echo '<?php fgets(STDIN);' >"$tmp/app.php"
of nvmf_tgt "$targets/nvmf_tgt" -m 0xC --wait --log "$tmp/log"
of python3.11 /usr/bin/python3.11 "$tmp/app.py"
of php php "$tmp/app.php"
of ruby /usr/bin/ruby "$tmp/app.rb"

for dir in /usr/lib/jvm/*; do
	if [ -x "$dir/bin/javac" ] && readelf -n "$dir/lib/server/libjvm.so" 2>/dev/null | grep -q 'Provider: hotspot'; then
		echo 'class App { public static void main(String[] a) throws Exception { System.in.read(); } }' >"$tmp/App.java"
		"$dir/bin/javac" -J-XX:-UsePerfData -d "$tmp" "$tmp/App.java" && of libjvm "$dir/bin/java" -XX:-UsePerfData -Xmx64m -cp "$tmp" App
		break
	fi
done

postgresql_start query__start
all postgres "$postmaster"
postgresql_stop
done_testing
