#!/usr/bin/env bash
# php.bt: functions in the order in which a known program runs them, exceptions, files, requests.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"
php=$(command -v php) || skip_all "no php here"
readelf -n "$(readlink -f "$php")" 2>/dev/null | grep -q 'Provider: php' || skip_all "$php was built without probes"

cat >"$tmp/part.php" <<'END'
<?php
function included() { return 1; }
END
cat >"$tmp/app.php" <<'END'
<?php
function leaf($n) { return $n; }
function middle($n) { leaf($n); return leaf($n + 1); }
class Shop {
	function open() {
		middle(1);
		try { $this->sell(); } catch (RuntimeException $e) { }
	}
	function sell() { throw new RuntimeException("no"); }
}
echo "ready\n";
while (fgets(STDIN) !== false) {
	$shop = new Shop;
	$shop->open();
	require "part.php";
	included();
	echo "done\n";
}
END
USE_ZEND_DTRACE=1 live_start "$php" -n "$tmp/app.php"
wait_for grep -q ready "$tmp/answers"
ok "it attaches" live_trace -D FLOW $live_pid php.bt
live_say work
wait_for grep -q 'done' "$tmp/answers"
wait_for grep -q '< included' "$tmp/trace"
live_wait INT
is $live_rc 0 "^C is status 0"
exec 8>&-
wait_end "$live_pid"
is "$(sed -nE "s/^[0-9.]+: $live_pid (([0-9]+ [<>] (Shop::)?[a-z]+|throws [A-Za-z]+)).*/\1/p" "$tmp/trace")" "1 > Shop::open
2 > middle
3 > leaf
3 < leaf
3 > leaf
3 < leaf
2 < middle
2 > Shop::sell
throws RuntimeException
2 < Shop::sell
1 < Shop::open
1 > main
1 < main
1 > included
1 < included" "the functions of the program and what it throws, in order, as deep as they are"
is "$(sed -n 's/^@calls//p; s/^@method_calls//p; s/^@thrown//p; s/^@compiled//p' "$tmp/trace" | sed "s|$tmp/||" | LC_ALL=C sort)" "[RuntimeException]: 1
[Shop, open]: 1
[Shop, sell]: 1
[included]: 1
[leaf]: 2
[main]: 1
[middle]: 1
[part.php]: 1" "how often each was called; the exception, the file"
is_sample php.bt
unlike "$(cat "$tmp/trace")" '^(no function calls|@called)' "without a complaint"

# Without a script: PHP's manual has the arguments' names and types.
USE_ZEND_DTRACE=1 live_start "$php" -n "$tmp/app.php"
wait_for grep -q ready "$tmp/answers"
ok "it attaches without a script" live_trace -t function__entry -t exception__thrown -t exception__caught $live_pid
live_say work
wait_for grep -q 'function_name="included"' "$tmp/trace"
live_wait INT
exec 8>&-
wait_end "$live_pid"
shop='classname="Shop" scope="::"' none='classname="" scope=""'
is "$(sed -n "s|$tmp/||; s/arg0=0x.*/arg0=an address/; s/^[^]]*] php://p" "$tmp/trace")" \
	"function__entry function_name=\"open\" request_file=\"app.php\" lineno=6 $shop
function__entry function_name=\"middle\" request_file=\"app.php\" lineno=3 $none
function__entry function_name=\"leaf\" request_file=\"app.php\" lineno=2 $none
function__entry function_name=\"leaf\" request_file=\"app.php\" lineno=2 $none
function__entry function_name=\"sell\" request_file=\"app.php\" lineno=9 $shop
exception__thrown classname=\"RuntimeException\"
exception__caught arg0=an address
function__entry function_name=\"main\" request_file=\"part.php\" lineno=3 $none
function__entry function_name=\"included\" request_file=\"part.php\" lineno=2 $none" "-t prints names and files as strings"

# Requests, of PHP's own server.
echo '<?php echo "hello";' >"$tmp/index.php"
port=$((20000 + $$ % 20000))
"$php" -n -S 127.0.0.1:$port -t "$tmp" >"$tmp/server" 2>&1 &
server=$!
own $server
get() {
	exec 7<>"/dev/tcp/127.0.0.1/$port" && printf 'GET /%s HTTP/1.0\r\n\r\n' "$1" >&7 && grep -q hello <&7
} 2>/dev/null
if wait_for get index.php; then
	live_trace $server php.bt
	for path in index.php 'index.php?a=1' index.php; do get "$path"; done
	wait_for eval "[ \$(grep -c ' request ' '$tmp/trace') = 3 ]"
	live_wait INT
	is "$(sed -nE 's/^[0-9.]+: [0-9]+ (request .*) \(.*/\1/p' "$tmp/trace")" "request GET /index.php
request GET /index.php?a=1
request GET /index.php" "each request, with its method and address"
	like "$(cat "$tmp/trace")" '^no function calls were seen: PHP reports them only if .* USE_ZEND_DTRACE=1 in its environment' \
		"and why no function is shown: its server was started without USE_ZEND_DTRACE=1"
	is "$(histogram request_us)" 3 "and its time"
else
	skip "requests" "PHP's server does not start: $(tail -n 1 "$tmp/server")"
fi

done_testing
