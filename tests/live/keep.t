#!/usr/bin/env bash
# --keep: nothing is printed until SIGUSR1 or the end; then an unbroken tail of what a trace beside it prints. What is neither
# written nor dropped does not exist, and memory has its limit.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"

# "N US": so many hits, so many microseconds apart
cat >"$tmp/app.c" <<'END'
#include <btgen/usdt.h>
#include <stdio.h>
#include <unistd.h>
int main(void)
{
	long n, us, hits = 0;
	while (scanf("%ld %ld", &n, &us) == 2) {
		for (; n > 0; n--) {
			hits++;
			USDT_PROBE(app, hit, hits);
			if (us)
				usleep((unsigned)us);
		}
		printf("done %ld\n", hits);
		fflush(stdout);
	}
	return 0;
}
END
gcc -O2 -g -I"$top/include" -o "$tmp/app" "$tmp/app.c" || exit 1
printf 'usdt:__EXE__:app:hit { printf("hit %%d of a line with some more text in it %%d\\n", args.hits, nsecs / 1000000); }\n' >"$tmp/hit.bt"

# hits N US: they have been fired, and read by what keeps them
hits() {
	: >"$tmp/answers"
	live_say "$*"
	wait_for grep -q "done" "$tmp/answers"
	wait_for live_still
}
# say WORD...: to a program that does not answer
say() {
	live_say "$@"
	live_settle
}
# numbers FILE: of its hits
numbers() { sed -n 's/^hit \([0-9]*\) of a line.*/\1/p' "$1"; }
# is_tail FILE: its hits are some of the last ones of $tmp/full, in order
is_tail() {
	numbers "$1" >"$tmp/kept-numbers"
	[ -s "$tmp/kept-numbers" ] && numbers "$tmp/full" | tail -n "$(wc -l <"$tmp/kept-numbers")" | cmp -s - "$tmp/kept-numbers"
}
# uptime_ms: of the clock that nsecs has
uptime_ms() { awk '{ printf "%d", $1 * 1000 }' /proc/uptime; }
# dropped: that messages speak of, in all
dropped() { sed -n 's/.*: lines written: .*, older ones dropped: \([0-9]*\)$/\1/p' "$tmp/messages" | awk '{ n += $1 } END { print n + 0 }'; }

live_start "$tmp/app"
began=$SECONDS
"$live_sh" -q --ready-file "$tmp/full-ready" -o "$tmp/full" "$live_pid" "$tmp/hit.bt" 2>"$tmp/full-messages" 8>&- &
full=$!
own $full
ok "a trace that prints everything attaches" wait_for test -s "$tmp/full-ready"
kept=$((2 + 2 * (SECONDS - began))) # seconds: what is read late on a busy machine is kept that long, too
ok "--keep attaches" live_trace --keep ${kept}s "$live_pid" "$tmp/hit.bt"
hits 1000 1000
sleep $kept.5 # more than is kept, and a block
hits 1000 500
is "$(wc -c <"$tmp/trace")" 0 "nothing is printed while nothing is wanted"
kill -USR1 "$live_tracer"
ok "SIGUSR1 has it printed" wait_for test -s "$tmp/trace"
printed=$(uptime_ms)
wait_for live_still
is "$(head -n 1 "$tmp/trace")" "==> SIGUSR1 <==" "behind a line that says why"
ok "they are the last lines of the trace that prints everything" is_tail "$tmp/trace"
n=$(numbers "$tmp/trace" | wc -l)
recent=$(awk -v from=$((printed - kept * 1000)) '/^hit/ && $NF >= from' "$tmp/full" | wc -l)
ok "of all the time that was asked for, and no more than a block before: $n, $recent in these $kept s" test "$n" -ge "$recent" -a "$n" -le 1000
is "$((n + $(dropped)))" 2000 "what was printed and what was dropped are all there was"
cp "$tmp/trace" "$tmp/first"
live_wait INT
# However slow the machine is
ok "--keep of an hour attaches" live_trace --keep 1h "$live_pid" "$tmp/hit.bt"
hits 30 0
kill -USR1 "$live_tracer"
wait_for test -s "$tmp/trace"
wait_for live_still
hits 100 0
kill -USR1 "$live_tracer"
wait_for eval '[ "$(grep -c "==>" "$tmp/trace")" = 2 ]'
wait_for live_still
is "$(sed '1,/==> SIGUSR1/d' <(tail -n +2 "$tmp/trace") | grep -c '^hit')" 100 "what came since is printed by the next one, once"
hits 50 0
live_wait INT
is "$live_rc" 0 "the end is as ever"
is "$(tail -n 51 "$tmp/trace" | head -n 1)" "==> end of the trace <==" "the end prints the rest"
kill -INT $full
wait $full
ok "which are the last lines, too" is_tail <(tail -n 51 "$tmp/trace")

# --- memory has a limit ---

ok "--keep of an hour in 1 MB attaches" live_trace --keep 1h,1M --max-cost none "$live_pid" "$tmp/hit.bt"
hits 60000 20
rss=$(awk '/^VmHWM/ { print $2 }' "/proc/$live_tracer/status")
live_wait INT
is "$live_rc" 0 "it ends as ever"
size=$(wc -c <"$tmp/trace")
ok "what is kept is as large as was asked for" test "$size" -gt 900000 -a "$size" -le 1048576
lost=$(sed -n 's/.*warning: \([0-9]*\) of [0-9]* events were lost.*/\1/p' "$tmp/messages")
is "$(($(numbers "$tmp/trace" | wc -l) + $(dropped) + ${lost:-0}))" 60000 "printed, dropped and lost are what was fired"
printf '# at most %s kB resident\n' "$rss"

long=$(printf 'x%.0s' $(seq 900))
printf 'usdt:__EXE__:app:hit { printf("hit %%d %s\\n", args.hits); }\n' "$long" >"$tmp/long.bt"
ok "--keep of an hour in 32 MB attaches" live_trace --keep 1h,32M --max-cost none "$live_pid" "$tmp/long.bt"
kb() { awk -v key="$1:" '$1 == key { print $2 }' "/proc/$live_tracer/status"; }
before=$(kb VmRSS)
for _ in {1..10}; do # a busy machine may lose some
	hits 50000 30
	grown=$(($(kb VmHWM) - before))
	[ $grown -lt $((32768 * 9 / 10)) ] || break
done
live_wait INT
printf '# %s kB more resident than before\n' "$grown"
if grep -q __asan_init "$btgen"; then
	skip "what it takes of memory" "AddressSanitizer keeps what was freed"
else
	ok "what it takes of memory is what was asked for, within a tenth" test "$grown" -gt $((32768 * 9 / 10)) -a "$grown" -lt $((32768 * 11 / 10))
fi

# --- JSON ---

ok "--keep -f json attaches" live_trace --keep 60s -f json "$live_pid" -t 'app:*'
hits 3 0
kill -USR1 "$live_tracer"
wait_for test -s "$tmp/trace"
hits 2 0
live_wait INT
is "$(jq -r '.capture.trigger // .fields.hits // empty' "$tmp/trace" | tr '\n' ' ')" \
	"SIGUSR1 $(jq -r 'select(.fields) | .fields.hits' "$tmp/trace" | head -n 3 | tr '\n' ' ')end of the trace $(jq -r 'select(.fields) | .fields.hits' "$tmp/trace" | tail -n 2 | tr '\n' ' ')" \
	"each part begins with the capture's line, which says why"
python=$(python_with "jsonschema; jsonschema.Draft202012Validator") && [ -n "$python" ] &&
	is "$("$python" "$top/tests/schema.py" "$tmp/trace" 2>&1 | grep -ci 'error\|invalid')" 0 "and the schema knows it"
live_quit

# --- a trigger ---

cat >"$tmp/two.c" <<'END'
#include <btgen/usdt.h>
#include <stdio.h>
int main(void)
{
	char word[8];
	for (long n = 0; scanf("%7s", word) == 1 && word[0] != 'q'; n++) {
		if (word[0] == 'e')
			USDT_PROBE(two, error, n);
		else
			USDT_PROBE(two, step, n);
	}
	return 0;
}
END
gcc -O2 -g -I"$top/include" -o "$tmp/two" "$tmp/two.c" || exit 1
cat >"$tmp/two.bt" <<'END'
usdt:__EXE__:two:step { printf("step %d\n", args.n); }
usdt:__EXE__:two:error { printf("error %d\n", args.n); }
END

# triggered ARG...: two steps, an error, a step
triggered() {
	live_start "$tmp/two"
	ok "$1: --trigger attaches" live_trace --keep 60s "$live_pid" "$@"
	say step step
	is "$(wc -c <"$tmp/trace")" 0 "$1: steps print nothing"
	live_say error
	wait_for test -s "$tmp/trace"
	wait_for live_still
	say step
	live_quit
	live_wait
}
triggered --trigger 'err*' "$tmp/two.bt"
is "$(cat "$tmp/trace")" "==> two:error <==
step 0
step 1
error 2
==> end of the trace <==
step 3" "a script: the error has what was before it printed, and the end the rest"
{ echo "#pragma trigger two:err*" && cat "$tmp/two.bt"; } >"$tmp/own.bt"
triggered "$tmp/own.bt"
is "$(head -n 1 "$tmp/trace")" "==> two:error <==" "a script has its own trigger"
triggered --trigger 'err*' -s "$tmp/two.bt"
is "$(sed 's/^[0-9].* two:/two:/' "$tmp/trace")" "==> two:error <==
two:step: step 0
two:step: step 1
two:error: error 2
==> end of the trace <==
two:step: step 3" "-s: the lines that were held to be sorted are among them"
live_start "$tmp/two"
ok "-s: --trigger attaches" live_trace --keep 60s -s --trigger error "$live_pid" "$tmp/two.bt"
live_say error
sleep 0.1
live_say error
ok "-s: an error while the one before is waited for has its line printed, too" wait_for grep -q 'error 1$' "$tmp/trace"
live_quit
live_wait
triggered --trigger two:error -f json -t 'two:*'
is "$(jq -r '.capture.trigger // .text' "$tmp/trace" | tr '\n' ,)" "two:error,n=0,n=1,n=2,end of the trace,n=3," "-t as JSON"
live_start "$tmp/two"
said=$("$live_sh" --keep 60s --trigger nothing "$live_pid" "$tmp/two.bt" 2>&1)
is "$?" 1 "a trigger that never prints is an error"
like "$said" "error: no probe that matches the trigger 'nothing' prints anything" "with its name"
live_quit

# --- a slice that takes too long ---

cat >"$tmp/work.c" <<'END'
#include <btgen/usdt.h>
#include <stdio.h>
#include <unistd.h>
int main(void)
{
	unsigned ms;
	for (int n = 0; scanf("%u", &ms) == 1; n++) {
		USDT_PROBE(work, job_start, n);
		usleep(1000 * ms);
		USDT_PROBE(work, job_done, n);
	}
	return 0;
}
END
gcc -O2 -g -I"$top/include" -o "$tmp/work" "$tmp/work.c" || exit 1
# jobs ARG...: one of 1 ms, one of 2 s, another of 1 ms
jobs() {
	live_start "$tmp/work"
	ok "$*: latency attaches" live_trace --keep 60s -f json "$live_pid" "$@"
	say 1
	is "$(wc -c <"$tmp/trace")" 0 "$*: a short one prints nothing"
	live_say 2000
	wait_for test -s "$tmp/trace"
	wait_for live_still
	say 1
	live_quit
	live_wait
}
cat >"$tmp/slow.bt" <<'END'
#pragma trigger job_done
usdt:__EXE__:work:job_start { @start[tid] = nsecs; printf("%d begins\n", args.n); }
usdt:__EXE__:work:job_done /nsecs - @start[tid] > 1500000000/ { printf("%d took %d ms\n", args.n, (nsecs - @start[tid]) / 1000000); }
usdt:__EXE__:work:job_done { delete(@start[tid]); }
END
jobs "$tmp/slow.bt"
is "$(jq -r '.capture.trigger // .text // empty' "$tmp/trace" | sed 's/[0-9]* ms$/MS/' | tr '\n' ,)" \
	"work:job_done,0 begins,1 begins,1 took MS,end of the trace,2 begins," "an operation that takes longer has it printed: a clause whose condition is the duration"
ms=$(jq -r '.text // empty' "$tmp/trace" | sed -n 's/.*took \([0-9]*\) ms$/\1/p')
ok "with the time that it took" test "${ms:-0}" -ge 1999 -a "${ms:-0}" -lt 600000

# --- a service that is started again ---

ok "--keep --follow attaches" eval 'live_start "$tmp/two" && live_trace --keep 60s --follow "$live_pid" "$tmp/two.bt"'
say step error
live_quit
wait_for grep -q "waiting for two" "$tmp/messages"
is "$(cat "$tmp/trace")" "==> end of the trace <==
step 0
error 1" "--follow: the end of the process has what was kept printed"
kill -USR1 "$live_tracer"
wait_for eval '! grep -qsE "^(SigPnd|ShdPnd):.*[1-9a-f]" /proc/$live_tracer/status' # it has taken it
live_start "$tmp/two"
wait_for eval '[ "$(grep -c "attached to" "$tmp/messages")" = 2 ]'
say step
kill -USR1 "$live_tracer"
wait_for grep -q "SIGUSR1" "$tmp/trace"
live_wait INT
is "$live_rc $(tail -n +4 "$tmp/trace")" "0 ==> SIGUSR1 <==
step 0" "and the next one is kept; SIGUSR1 between the two does nothing"
live_quit

for wrong in 0s 60x 60s,1 60s,64X '60s,' s 60s,1M,2 1.2.3s; do
	said=$("$live_sh" --keep "$wrong" -e 'BEGIN { }' 2>&1)
	is "$?" 2 "--keep $wrong is refused"
	like "$said" ": --keep: '$wrong' is not a time and a size" "with what it should be"
done

done_testing
