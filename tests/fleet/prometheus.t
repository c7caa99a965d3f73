#!/usr/bin/env bash
# Prometheus: it scrapes a script's metrics from PCP, without a Redis server, and its percentiles are ours.
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
for tool in prometheus promtool curl jq; do
	command -v $tool >/dev/null || skip_all "scripts/pkgdep.sh --fleet installs $tool"
done
pcp_prepare
pcp_own_postgresql
postgresql_start query__start
pcp_bundle postgresql -x "$pg_bin/postgres" "$top/bpf/postgresql.bt" -D SLOW_MS=1000
pcp_bundle waits -x "$pg_bin/postgres" "$top/bpf/postgresql-waits.bt" -D BUFFERS=0

ok "PCP runs the script" pcp_start
ok "... which is attached" wait_for pcp_attached postgresql waits

# pmproxy as it is configured in the package, with no Redis server for it to ask
port=$(free_port)
pcp pmproxy -f -i 127.0.0.1 -p "$port" -l "$pcp_dir/log/pmproxy.log" -s "$pcp_dir/pmproxy.socket" -U root &
own $!
scraped() { curl -s "http://127.0.0.1:$port/metrics?names=bpftrace.scripts"; }
ok "pmproxy answers without Redis" wait_for eval 'scraped | grep -q bpftrace_scripts_postgresql_pid'

# 90 short statements and 10 of 40 ms: p50 is of the former, p95 of the latter. Our own histogram has them, too.
live_trace -f json -D SLOW_MS=1000 -x "$pg_bin/postgres" postgresql.bt
{
	printf 'SELECT %d;\n' {1..90}
	printf 'SELECT %d, pg_sleep(0.04);\n' {1..10}
} >"$tmp/load.sql"
sql -f "$tmp/load.sql" >/dev/null
live_wait INT
jq -c 'select(.map == "@latency_us") | .entries[].histogram[]' "$tmp/trace" >"$tmp/ours"
is "$(jq -s 'map(.count) | add' "$tmp/ours")" 100 "our own histogram has all statements"
# percentile PERCENT: the bounds of the bucket it is in: MIN MAX
percentile() {
	jq -rs --argjson p "$1" '(map(.count) | add * $p / 100 | ceil) as $rank |
		reduce .[] as $b ({n: 0}; if .n < $rank then {n: (.n + $b.count), at: "\($b.min) \($b.max)"} else . end) | .at' "$tmp/ours"
}

# Two hosts, which here are one by two names
prometheus=$(free_port)
python3 "$top/docs/fleet/rules.py" >"$tmp/btgen.rules.yml"
sed "s/15s/1s/; s/host1.example.com:44322/127.0.0.1:$port/; s/host2.example.com:44322/localhost:$port/" "$top/docs/fleet/prometheus.yml" >"$tmp/prometheus.yml"
is "$(promtool check config "$tmp/prometheus.yml" 2>&1 | grep -c SUCCESS)" 3 "promtool accepts configuration and rules"
prometheus --config.file="$tmp/prometheus.yml" --storage.tsdb.path="$tmp/prometheus" --web.listen-address="127.0.0.1:$prometheus" \
	>"$tmp/prometheus.log" 2>&1 &
own $!
# query EXPRESSION: its value, or values, a line each
query() {
	curl -s --data-urlencode "query=$1" "http://127.0.0.1:$prometheus/api/v1/query" | jq -r '.data.result[].value[1]' 2>/dev/null
}
all='btgen_bucket{metric="postgresql_latency_us"'
wait_for eval '[ "$(query "sum($all,le=\"+Inf\"})")" = 200 ]'
is "$(query "sum by (instance) ($all,le=\"+Inf\"})")" "100
100" "Prometheus has all statements, of each host"
expected=$(pcp pminfo -f bpftrace.scripts.postgresql.data.latency_us | sed -n 's/.*"[0-9]*-\([0-9]*\)"\] value \(.*\)/\1 \2/p' |
	sort -n | awk '{ print $1, 2 * (n += $2) }')
is "$(while read -r le _; do echo "$le $(query "sum($all,le=\"$le\"})")"; done <<<"$expected")" "$expected" "its buckets are cumulative"
# Within a bucket: that of its neighbours, for each has clocks of its own
for percent in 50 95; do
	read -r low high <<<"$(percentile $percent)"
	value=$(query "histogram_quantile(0.$percent, sum by (le) ($all}))")
	ok "p$percent over all hosts, $value us, is ours, $low to $high us, within a bucket" \
		awk -v v="$value" -v low="$low" -v high="$high" 'BEGIN { exit !(v >= low / 2 && v <= 2 * high + 1) }'
done
ok "... p95 is that of pg_sleep(0.04)" awk -v v="$value" 'BEGIN { exit !(v >= 32768 && v <= 131072) }'
is "$(query 'sum by (key) (btgen_bucket{metric="waits_transaction_us",le="+Inf"}) >= 200' | wc -l)" 1 "a histogram with a key has a label for it"
like "$(curl -s "http://127.0.0.1:$prometheus/api/v1/label/key/values")" '"commit"' "... with its name"
like "$(query 'sum(bpftrace_scripts_postgresql_data_statements)')" '^200$' "counts are there as they are"
pcp_stop
postgresql_stop
done_testing
