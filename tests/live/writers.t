#!/usr/bin/env bash
# What a trace writes, onto each kind of file (../writers.py): -o, a timeline, and --ready-file.
. "$(dirname "$0")/../lib.sh"
. "$top/tests/live.sh"
can_trace || skip_all "needs root and bpftrace"

cat >"$tmp/app.c" <<'END'
#include <btgen/usdt.h>
#include <unistd.h>
int main(void)
{
	for (;;) {
		USDT_PROBE(app, push, V);
		usleep(20000);
	}
}
END
mkdir "$tmp/other" "$tmp/mine" "$tmp/theirs" && chown 65534 "$tmp/theirs" || exit 1
name=app-$$
gcc -g -DV=42 -I"$top/include" -o "$tmp/$name" "$tmp/app.c" && gcc -g -DV=43 -I"$top/include" -o "$tmp/other/$name" "$tmp/app.c" || exit 1
"$tmp/$name" &
first=$!
own $first
rows=$(APP_PID=$first guard python3 "$top/tests/writers.py" "$tmp" live 2>&1)
is "$? $(grep -v '^ok\|^1\.\.' <<<"$rows")" "0 " "each of the $(grep -c ^ok <<<"$rows") rows of writers.py"

# shellcheck disable=SC2317 # wait_for calls it
has() { grep -qs "^$1\$" "$out"; }
# Several write one file: of two builds side by side, and one after the other.
script='usdt:__EXE__:app:push { printf("%d\n", arg0); }'
for folder in mine theirs; do
	"$tmp/other/$name" &
	second=$!
	own $second
	out=$tmp/$folder/out
	for old in "" old; do
		rm -f "$out"
		[ -z "$old" ] || echo old >"$out"
		"$live_sh" -o "$out" $first $second -e "$script" 2>"$tmp/messages" &
		live_tracer=$!
		own $live_tracer
		wait_for has 42
		wait_for has 43
		live_wait INT
		is "$live_rc $(sort -u "$out" | grep -v '^=\|^$' | tr '\n' ' ')" "0 42 43 " "two builds write into $folder${old:+, where a file was}"
	done
	kill $first $second
	wait $first $second 2>/dev/null
	rm -f "$out"
	"$live_sh" --follow -w "$name" -o "$out" -e "$script" 2>"$tmp/messages" &
	live_tracer=$!
	own $live_tracer
	wait_for grep -q "waiting for" "$tmp/messages"
	"$tmp/$name" &
	first=$!
	wait_for has 42
	kill $first
	wait $first 2>/dev/null
	"$tmp/other/$name" &
	second=$!
	own $second
	wait_for has 43
	live_wait INT
	is "$live_rc $(sort -u "$out" | tr '\n' ' ')" "0 42 43 " "--follow goes on in the file of $folder"
	kill $second
	wait $second 2>/dev/null
	"$tmp/$name" &
	first=$!
	own $first
done

# Nobody reads these.
mkfifo "$tmp/fifo"
out=$(guard "$live_sh" --ready-file "$tmp/fifo" -T 1 $first -e "$script" 2>"$tmp/messages")
is "$? $(sort -u <<<"$out") $(grep -c "warning: --ready-file: $tmp/fifo is a FIFO that nobody reads" "$tmp/messages")" "0 42 1" "--ready-file: a FIFO that nobody reads is a warning"
"$live_sh" -o "$tmp/fifo" $first -e "$script" 2>"$tmp/messages" &
live_tracer=$!
own $live_tracer
sleep 1
kill -TERM $live_tracer
wait $live_tracer
is "$?" 143 "-o onto a FIFO that nobody reads waits for a reader up to SIGTERM"
done_testing
