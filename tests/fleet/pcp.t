#!/usr/bin/env bash
# Performance Co-Pilot: scripts run under its bpftrace agent, and what happened is in its metrics, by name.
# shellcheck source=tests/lib.sh
[ -e /sys/kernel/tracing/available_events ] || [ -n "${BTGEN_IN_TRACEFS-}" ] ||
	exec "$(dirname "$0")/../matrix/tracefs.sh" "$0" "$@"
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"
# shellcheck source=tests/postgresql.sh
. "$(dirname "$0")/../postgresql.sh"
# shellcheck source=tests/fleet/pcp.sh
. "$(dirname "$0")/pcp.sh"
pcp_prepare
pcp_own_postgresql
postgresql_start query__start

# values METRIC: NAME VALUE of each instance, sorted
values() {
	pcp pminfo -f "bpftrace.scripts.$1" | sed -n 's/^ *inst \[[0-9]* or "\(.*\)"\] value \(.*\)/\1 \2/p' | LC_ALL=C sort
}
is_gone() { ! kill -0 "$1" 2>/dev/null; }
total() { awk '{ n += $NF } END { print n + 0 }'; }

cp "$targets/nvmf_tgt" "$tmp/own_tgt" # a file of its own: other tests run theirs meanwhile
cp "$targets/nvmf_tgt" "$tmp/changed"
pcp_bundle states -x "$tmp/own_tgt" "$top/docs/fleet/nvmf_states.bt"
pcp_bundle postgresql -x "$pg_bin/postgres" "$top/bpf/postgresql.bt" -D SLOW_MS=1000
pcp_bundle waits -x "$pg_bin/postgres" "$top/bpf/postgresql-waits.bt" -D BUFFERS=0
pcp_bundle changed -x "$tmp/changed" "$top/docs/fleet/nvmf_states.bt"
cp "$targets/nvmf_tgt_shared" "$tmp/changed"
cat >"$tmp/odd.bt" <<'EOF'
BEGIN
{
	@calls["</script>\x1b[31m\"quoted\" a\nb"] = count();
	@calls["\xff\xfe"] = count();
	@depth = sum(5);
	@level["a"] = sum(-7);
	@level["b"] = sum(7);
	@us["x y"] = hist(5);
	@us["x y"] = hist(6);
	@size = stats(10);
	@size = stats(20);
	@own["a"] = count();
	printf("a line\n");
}
END { clear(@own); }
EOF
pcp_bundle odd "$tmp/odd.bt"
printf 'BEGIN { @n = 7; }\n' >"$pcp_autostart/foreign.bt"

# tour: a target is started, does what tour.txt says, and ends; what it did goes to lines
tour() {
	live_nvmf "$tmp/own_tgt"
	live_say start
	cat "$targets/tour.txt" >&8
	live_quit
	python3 "$top/tests/live/nvmf_lines.py" "$tmp/log" lines >>"$tmp/lines"
}
# did REGEX REPLACEMENT: NAME TIMES of the lines that match
did() { sed -nE "s/$1/$2/p" "$tmp/lines" | LC_ALL=C sort | uniq -c | awk '{ print $2, $1 }'; }

ok "pmcd starts with the agent" pcp_start
ok "scripts are started, and attached" wait_for pcp_attached states postgresql waits odd
tour
did '^(.*) change state from (.*) to (.*) done$' '\1,\2,\3' >"$tmp/changes"
did '^nvmf_tgt reached state (.*)' '\1' >"$tmp/reached"
wait_for eval '[ "$(values states.data.changes)" = "$(cat "$tmp/changes")" ] && [ "$(values states.data.reached)" = "$(cat "$tmp/reached")" ]'
is "$(values states.data.changes)" "$(cat "$tmp/changes")" "state changes by subsystem and name, as often as the target made them"
is "$(values states.data.reached)" "$(cat "$tmp/reached")" "... states that the target reached"
is "$(values states.data.change_us_histogram | total)" "$(total <"$tmp/changes")" "... and each took some time, in a histogram for each state"
like "$(values states.data.change_us_histogram)" '^PAUSED,[0-9]+-[0-9]+ ' "... whose instances are the state and the bounds of the bucket"

echo 'SELECT 1;' >"$tmp/one.sql"
"$pg_bin/pgbench" -n -f "$tmp/one.sql" -c 2 -t 100 -h "$tmp/db" -U tester postgres >"$tmp/pgbench" 2>&1 || sed 's/^/# /' "$tmp/pgbench"
wait_for eval '[ "$(values postgresql.data.statements | total) $(values postgresql.data.latency_us | total)" = "200 200" ]'
is "$(values postgresql.data.statements | cut -d" " -f2 | paste -sd" ")" "100 100" "statements of pgbench, by backend"
is "$(values postgresql.data.latency_us | total)" 200 "... their durations in a histogram"
wait_for eval '[ "$(values waits.data.transaction_us_histogram | total)" -ge 200 ]'
like "$(values waits.data.transaction_us_histogram)" '^commit,[0-9]+-[0-9]+ ' "... and transactions, by how they ended"

# 0.27 drops blanks of keys by itself, 0.23 writes escapes of its own
like "$(values odd.data.us_histogram)" '^x_?y,4-7 2$' "a histogram with a key has instances"
is "$(values odd.data.size)" "average 15
count 2
total 30" "so has stats()"
is "$(pcp_value odd.data.depth)" 5 "a map without a key is a value"
is "$(values odd.data.level)" "b 7" "what is negative is absent"
is "$(values odd.data.calls | cut -d' ' -f2)" "1
1" "keys of any bytes are instances"
like "$(values odd.data.calls)" '^</script>[^[:cntrl:] ]*quoted[^[:cntrl:] ]*a[^[:cntrl:] ]*b 1$' "... without control characters and blanks"
not_ok "the script's own maps are none" pcp_has bpftrace.scripts.odd 'data\.own'
is "$(pcp pminfo bpftrace.scripts.odd | grep -c 'data.output')" 0 "lines are no metric"
is "$(pcp_value foreign.data.n)" 7 "other scripts run as they did"
like "$(pcp_value changed.error)" "error: $tmp/changed is not the build that this script is for \(build ID [0-9a-f]{40}" \
	"another build is refused, and a metric says so"
is "$(pcp_value changed.exit_code)" 1 "... and its exit code"
is "$(pcp_value changed.status)" '"error"' "... and that it does not run"

like "$(pcp pminfo -d bpftrace.scripts.postgresql.data.busy_us)" 'Semantics: counter' "a sum that never falls is a counter"
like "$(pcp pminfo -d bpftrace.scripts.odd.data.level)" 'Semantics: instant' "... one that may is none"

# Once more, for pmlogger
printf 'log mandatory on 1 sec { bpftrace.scripts }\n' >"$tmp/pmlogger.conf"
pcp pmlogger -c "$tmp/pmlogger.conf" -l "$pcp_dir/log/pmlogger.log" "$tmp/archive" &
logger=$!
own $logger
wait_for eval 'pcp pmdumplog -a "$tmp/archive" 2>/dev/null | grep -q states.data.changes'
pcp pmrep -s 12 -o csv -l '|' bpftrace.scripts.states.data.changes >"$tmp/rates" 2>&1 &
reporter=$!
sleep 1
tour
did '^(.*) change state from (.*) to (.*) done$' '\1,\2,\3' >"$tmp/changes"
wait $reporter
kill $logger
wait $logger
# sums: what the columns of pmrep's rates add up to, for samples of a second each: NAME VALUE
sums() {
	awk -F '|' '
		NR == 1 { for (i = 2; i <= NF; i++) { name[i] = $i; gsub(/"|^"?bpftrace.scripts.states.data.changes-/, "", name[i]) } next }
		{ for (i = 2; i <= NF; i++) sum[i] += $i }
		END { for (i in name) printf "%s %.0f\n", name[i], sum[i] }' "$1" | LC_ALL=C sort
}
is "$(sums "$tmp/rates")" "$(awk '{ print $1, $2 / 2 }' "$tmp/changes")" "pmrep shows how often each change happens, by these names"
pcp pmrep -a "$tmp/archive" -o csv -l '|' bpftrace.scripts.states.data.changes >"$tmp/logged" 2>&1
is "$(sums "$tmp/logged")" "$(awk '{ print $1, $2 / 2 }' "$tmp/changes")" "... and out of pmlogger's archive"
is "$(pcp pmdumplog -a "$tmp/archive" bpftrace.scripts.states.data.changes |
	awk '/data.changes/ { last = "" } / inst / { last = last $0 "\n" } END { printf "%s", last }' |
	sed 's/^ *inst \[[0-9]* or "\(.*\)"\] value \(.*\)/\1 \2/' | LC_ALL=C sort)" "$(cat "$tmp/changes")" "... which at last has what happened since the script began"

running=$(pgrep -P "$(pcp_value states.pid)")
pcp_stop
ok "with pmcd the scripts end" wait_for is_gone "$running"
postgresql_stop
done_testing
