#!/usr/bin/env bash
# A trace that costs its target too much is stopped, and the target is as fast again as before; others are left alone. What the
# account says of hits is what the program fired.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"

# "fire N": N hits of each of two probes. "pace US": one each so many microseconds until there is more to do; says how many a
# second each half of one had. "run 0": hits as fast as it can until there is more to do; says how many each tenth of a second had. A trace may take long to attach: what it is stopped for goes on until then.
cat >"$tmp/app.c" <<'END'
#include <btgen/usdt.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
static __attribute__((noinline)) long function(long n)
{
	__asm__ volatile("");
	return n + 1;
}
#ifdef __x86_64__
/* Of what they begin with, the kernel does the first two itself, and has to step the others. */
void pushed(void);
void long_nop(void);
void other_nop(void);
void tested(void);
#define FUNCTION(name, code) __asm__(".type " #name ", @function\n" #name ": " code "\n ret\n.size " #name ", .-" #name "\n")
FUNCTION(pushed, "push %rax\n pop %rax");
FUNCTION(long_nop, ".byte 0x0f, 0x1f, 0x44, 0, 0");
FUNCTION(other_nop, ".byte 0x66, 0x0f, 0x1f, 0");
FUNCTION(tested, "test %eax, %eax");
static void (*const steps[])(void) = {pushed, long_nop, other_nop, tested};
#else
static void none(void) { }
static void (*const steps[])(void) = {none, none, none, none};
#endif
static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}
static int compare(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;
	return a < b ? -1 : a > b;
}
/* Of a call, which others may interrupt; after work of another kind, too: both are in the account. */
static double median(void (*call)(void), long n, bool is_cold)
{
	static volatile char other[2 << 20];
	static double took[1000];
	for (long i = 0; i < n; i++) {
		for (size_t at = 0; is_cold && at < sizeof(other); at += 64)
			other[at]++;
		double before = now();
		call();
		took[i] = now() - before;
	}
	qsort(took, (size_t)n, sizeof(*took), compare);
	return took[n / 2];
}
int main(void)
{
	char word[16];
	long n, sum = 0;
	while (scanf("%15s %ld", word, &n) == 2) {
		double from = now(), tenth = from;
		long hits = 0;
		for (long i = 0; strcmp(word, "fire") == 0 && i < n; i++) {
			USDT_PROBE(app, often, i);
			USDT_PROBE(app, also, i);
			sum = function(sum);
		}
		while (strcmp(word, "run") == 0) {
			for (int i = 0; i < 100; i++, hits++) {
				USDT_PROBE(app, often, hits);
				steps[3]();
			}
			if (now() > tenth + 0.1) {
				struct pollfd more = {.fd = 0, .events = POLLIN};
				printf("%.2f %.0f\n", tenth - from, (double)hits / (now() - tenth));
				fflush(stdout);
				tenth = now(), hits = 0;
				if (poll(&more, 1, 0) > 0)
					break;
			}
		}
		for (struct pollfd more = {.fd = 0, .events = POLLIN}; strcmp(word, "pace") == 0; hits++) {
			USDT_PROBE(app, often, hits);
			USDT_PROBE(app, also, hits);
			usleep((unsigned)n);
			if (now() > from + 0.5) {
				printf("pace %.0f\n", (double)(hits + 1) / (now() - from));
				from = now(), hits = -1;
				if (poll(&more, 1, 0) > 0)
					break;
			}
		}
		for (int k = 0; k < 4 && strcmp(word, "step") == 0; k++)
			printf("%.0f\n", (median(steps[k], n / 2, false) + median(steps[k], n / 2, true)) / 2 * 1e9);
		printf("done\n");
		fflush(stdout);
	}
	return sum < 0;
}
END
gcc -O2 -g -I"$top/include" -o "$tmp/app" "$tmp/app.c" || exit 1

# recovered: in the last half second, in which it had not less than twenty times of what it had while traced
recovered() {
	traced=$(awk 'NF == 2 { print $2 }' "$tmp/answers" | sort -n | head -n 1) # it may be few seconds of many
	after=$(tail -n 6 "$tmp/answers" | awk 'NF == 2 && NR < 6 { print $2 }' | sort -n | sed -n 3p) # the last line may be half of one
	[ "${after:-0}" -gt $((20 * traced)) ]
}

# account: of the JSON in $tmp/trace
account() { jq -r 'select(.cost) | .cost.probes[] | "\(.probe) \(.hits)"' "$tmp/trace" | sort; }

# --- a flood ---

# A hit may really take several times of what is estimated: the limit is far below what a flood is charged.
live_start "$tmp/app"
live_say "run 0"
ok "-t of a flood attaches" live_trace "$live_pid" -t 'app:*' --max-cost 5%
live_wait
is "$live_rc" 4 "and is stopped: status 4"
like "$(cat "$tmp/messages")" 'error: the trace was stopped: it takes an estimated [0-9]+ % of (a processor|what its process runs, which waits for a processor), and --max-cost is 5 %' "which is said"
like "$(cat "$tmp/messages")" '^btgen:   usdt:app:often: [0-9]+ hits/s, [0-9.]+ us a hit, [0-9.]+ %' "and which probe costs what"
ok "what was printed is there" grep -q 'app:often i\?' "$tmp/trace"
ok "then the target has its speed again" wait_for recovered
printf '# %s hits a second while it was traced, %s at the end\n' "$traced" "$after"
live_quit

# Of what has to be stepped most is charged: at the limit that every trace has
if [ "$(uname -m)" = x86_64 ]; then
	live_start "$tmp/app"
	live_say "run 0"
	ok "-t of a function that is called all the time attaches" live_trace "$live_pid" -t uprobe:tested
	live_wait
	is "$live_rc $(grep -c ', and --max-cost is 25 %$' "$tmp/messages")" "4 1" "and is stopped at a quarter, unless another limit is given"
	live_quit
else
	skip "a function that is called all the time" "its breakpoint is known of x86-64 only"
fi

live_start "$tmp/app"
live_say "run 0"
ok "--max-cost none attaches" live_trace "$live_pid" -T 4.5 -t 'app:*' --max-cost none
live_wait
is "$live_rc" 0 "and goes on to its end"
live_quit

live_start "$tmp/app"
live_say "run 0"
printf 'usdt:__EXE__:app:often { @ = count(); }\n' >"$tmp/count.bt"
ok "--max-rate attaches" live_trace "$live_pid" "$tmp/count.bt" --max-rate 2k/s
live_wait
is "$live_rc" 4 "a script that only counts is stopped at --max-rate"
like "$(cat "$tmp/messages")" 'error: the trace was stopped: its probes fire [0-9]+ times a second, and --max-rate is 2000' "which is said"
like "$(cat "$tmp/trace")" '^@: [0-9]+$' "its maps are printed"
live_quit

live_start "$tmp/app"
live_say "run 0"
ok "a script that only counts attaches" live_trace "$live_pid" "$tmp/count.bt" -T 4.5
live_wait
is "$live_rc" 0 "and may cost what it costs"
live_quit

# --- the account ---

live_start "$tmp/app"
ok "-t -f json attaches" live_trace "$live_pid" -f json --max-cost 900% -t 'app:*' -t uprobe:function
live_say "fire 700"
wait_for grep -q 'done' "$tmp/answers"
wait_for live_still
live_wait INT
is "$live_rc" 0 "it ends as ever"
is "$(account)" "uprobe:function 700
usdt:app:also 700
usdt:app:often 700" "the account has the hits that were fired"
is "$(tail -n 1 "$tmp/trace" | jq -r '.cost | (.percent > 0) and (.seconds > 0) and ([.probes[].ns_per_hit] | min > 100)')" true \
	"and is the last line"

printf 'usdt:__EXE__:app:often { @ = count(); }\nusdt:__EXE__:app:also { @ = count(); }\ninterval:s:3600 { }\n' >"$tmp/two.bt"
ok "-v attaches" live_trace "$live_pid" -v "$tmp/two.bt"
live_say "fire 300"
wait_for sh -c '[ "$(grep -c done "$1")" = 2 ]' - "$tmp/answers"
live_wait INT
like "$(cat "$tmp/messages")" '^btgen: cost: [0-9.]+ % of a processor \(estimated\)$' "-v has the account at the end"
like "$(cat "$tmp/messages")" '^btgen:   usdt:app:also: [0-9]+ hits/s' "with a line for each probe"
live_quit

# Of a pattern each probe has its name, and its breakpoint: a nop of a uprobe takes more than 0.2 us wherever it was measured.
live_start "$tmp/app"
printf 'usdt:__EXE__:app:* { @[probe] = count(); }\nuprobe:__EXE__:func* { @f = count(); }\n' >"$tmp/pattern.bt"
ok "a pattern attaches" live_trace "$live_pid" -f json --max-cost 900% "$tmp/pattern.bt"
live_say "fire 700"
wait_for grep -q 'done' "$tmp/answers"
wait_for live_still
live_wait INT
is "$(account | grep usdt)" "usdt:app:also 700
usdt:app:often 700" "the probes of a pattern have their names"
is "$(jq -r 'select(.cost) | [.cost.probes[] | select(.ns_per_hit > 200)] | length' "$tmp/trace")" 3 "and their breakpoints are counted"
live_quit

# What a breakpoint takes depends on the instruction under it: 10 us are charged where the kernel has to step it.
if [ "$(uname -m)" = x86_64 ]; then
	live_start "$tmp/app"
	printf 'uprobe:__EXE__:%s { @[probe] = count(); }\n' pushed long_nop other_nop tested >"$tmp/step.bt"
	ok "functions attach" live_trace "$live_pid" -f json --max-cost 900% "$tmp/step.bt"
	live_say "step 500"
	wait_for grep -q 'done' "$tmp/answers"
	wait_for live_still
	live_wait INT
	accounted=$(jq -r 'select(.cost) | .cost.probes[] | "\(.probe) \(.ns_per_hit)"' "$tmp/trace" | awk '
		{ ns[$1] = $2 } END { print ns["uprobe:pushed"], ns["uprobe:long_nop"], ns["uprobe:other_nop"], ns["uprobe:tested"] }')
	printf '# ns: %s\n' "$accounted"
	is "$(awk '{ for (i = 1; i < 3; i++) for (j = 3; j < 5; j++) n += $j > 2 * $i; print n }' <<<"$accounted")" 4 \
		"those of instructions that are stepped cost most"

	# A call and its return share the breakpoint at the entry, which is stepped, as another function's is.
	printf 'uprobe:__EXE__:%s { @c = count(); }\nuretprobe:__EXE__:%s { @r = count(); }\n' 'teste*' 'teste*' >"$tmp/pair.bt"
	echo 'uprobe:__EXE__:other_nop { @o = count(); }' >>"$tmp/pair.bt"
	ok "calls and returns of a pattern attach" live_trace "$live_pid" -f json --max-cost 900% "$tmp/pair.bt"
	live_say "step 500"
	wait_for sh -c '[ "$(grep -c done "$1")" = 2 ]' - "$tmp/answers"
	wait_for live_still
	live_wait INT
	both=$(jq -r 'select(.cost) | [.cost.probes[] | select(.probe | test("other_nop") | not) | .hits * .ns_per_hit] | add / 500 | round' "$tmp/trace")
	other=$(jq -r 'select(.cost) | .cost.probes[] | select(.probe | test("other_nop")) | .ns_per_hit' "$tmp/trace")
	printf '# ns: both %s, another %s\n' "$both" "$other"
	is "$(awk -v both="$both" -v one="$other" 'BEGIN { print (both > one / 2 && both < one * 1.5) ? "once" : both " of " one }')" once \
		"it is charged once"
	live_quit
else
	skip "steps of breakpoints" "they are known of x86-64 only"
fi

# --- no more than there is ---

# Of a process of one thread, whose CPU time is in its schedstat.
cpu_ns() { cut -d' ' -f1 "/proc/$live_pid/schedstat"; }

live_start "$tmp/app"
printf 'uprobe:__EXE__:function { @c = count(); }\nuretprobe:__EXE__:function { @r = count(); }\n' >"$tmp/calls.bt"
before=$(cpu_ns)
ok "a function that is called all the time attaches" live_trace "$live_pid" -f json --max-cost 900% "$tmp/calls.bt"
live_say "fire 20000"
wait_for grep -q 'done' "$tmp/answers"
wait_for live_still
after=$(cpu_ns)
live_wait INT
cost=$(jq -r 'select(.cost) | .cost | .percent * .seconds * 1e7' "$tmp/trace")
printf '# the process ran %s ns, the trace is charged %s\n' $((after - before)) "$cost"
is "$(awk -v cost="$cost" -v ran=$((after - before)) 'BEGIN { print (cost > 0 && cost <= ran * 1.01) }')" 1 "it costs at most what the process ran"
live_quit

# On a processor that is full, a flood may get less than the limit is of a processor. One that sleeps is left alone.
cat >"$tmp/full.c" <<'END'
#include <btgen/usdt.h>
#include <pthread.h>
#include <unistd.h>
static void *flood(void *x)
{
	for (long i = 0;; i++)
		USDT_PROBE(app, often, i);
	return x;
}
int main(int argc, char **argv)
{
	pthread_t t;
	(void)argv;
	for (int i = 0; argc < 2 && i < 4; i++)
		pthread_create(&t, 0, flood, 0);
	for (;; usleep(20000))
		USDT_PROBE(app, tick, argc);
}
END
gcc -O1 -g -pthread -I"$top/include" -o "$tmp/full" "$tmp/full.c" || exit 1
processor=$(taskset -cp $$ | sed 's/.*: //; s/[,-].*//')
# full_trace CLAIM ARG...: a trace of the program in ARG, on that processor, which is full once it is attached
full_trace() {
	local others=()
	live_start "$(command -v taskset)" -c "$processor" "$tmp/full" ${full_arg-}
	ok "$1" live_trace "$live_pid" "${@:2}"
	for _ in {1..24}; do
		taskset -c "$processor" sh -c 'while :; do :; done' &
		own $!
		others+=($!)
	done
	live_wait
	kill "$live_pid" "${others[@]}"
}
full_trace "-t of a flood on a full processor attaches" -T 600 -t 'app:often' --max-cost 5%
is "$live_rc" 4 "and is stopped"
like "$(cat "$tmp/messages")" 'it takes an estimated [0-9]+ % of (a processor|what its process runs, which waits for a processor), and --max-cost is 5 %' \
	"of what it gets of the processor"
# Three seconds above the limit would end it; check-matrix goes on for longer.
full_arg=sleeps full_trace "-t of a process that sleeps attaches" -T $((${BTGEN_BPFTRACE:+13} + 7)) -t 'app:*'
is "$live_rc" 0 "and is never stopped"

# --- an estimate ---

live_start "$tmp/app"
live_say "pace 1000"
rm -f "$tmp/ready"
"$live_sh" --cost --max-cost none --ready-file "$tmp/ready" "$live_pid" -t 'app:*' >"$tmp/estimate" 2>"$tmp/messages" &
live_tracer=$!
own $live_tracer
ok "--cost attaches" wait_for test -s "$tmp/ready"
live_wait
live_say "fire 0"
wait_for grep -q pace "$tmp/answers"
read -r slowest fastest < <(sed -n 's/^pace //p' "$tmp/answers" | sort -n | sed -n '1p;$p' | tr '\n' ' ')
is "$live_rc" 0 "and ends by itself"
like "$(cat "$tmp/estimate")" '^cost: [0-9.]+ % of a processor \(estimated\)$' "it prints what the trace takes"
is "$(sed 1d "$tmp/estimate" | sed -E 's/: ([0-9]+) hits.s, [0-9.]+ us a hit, [0-9.]+ %$/ \1/' | sort |
	awk -v slowest="$slowest" -v fastest="$fastest" '
		{ print $1, ($2 > 0.6 * slowest && $2 < 1.7 * fastest ? "as fired" : $2 " of " slowest " to " fastest) }')" \
	"usdt:app:also as fired
usdt:app:often as fired" "and how often each probe fires a second"
live_say "pace 1000"
rm -f "$tmp/ready"
"$live_sh" --cost --max-rate 10 --ready-file "$tmp/ready" "$live_pid" -t 'app:*' >"$tmp/estimate" 2>"$tmp/messages" &
live_tracer=$!
own $live_tracer
live_wait
is "$live_rc $(grep -c 'was stopped' "$tmp/messages")" "4 1" "a look above the limit ends it"
like "$("$live_sh" --cost -o "$tmp/data" "$live_pid" -t 'app:*' 2>&1)" '--cost does not support -o' "it has no data for a file"
like "$("$live_sh" --cost --keep 5s "$live_pid" -t 'app:*' 2>&1)" '--cost does not support' "what prints nothing else excludes others"
live_quit

# --- what is wrong ---

for wrong in "--max-cost 2" "--max-cost -1%" "--max-cost 0%" "--max-cost %" "--max-cost 1%x" "--max-rate 0" "--max-rate k" "--max-rate 5x" "--max-rate 5k/m" "--max-rate 1.5.2k"; do
	# shellcheck disable=SC2086
	said=$("$live_sh" $wrong -e 'BEGIN { }' 2>&1)
	is "$?" 2 "$wrong is refused"
	like "$said" ": ${wrong%% *}: '.*' is not a" "with what it should be"
done

done_testing
