#!/usr/bin/env bash
# A flood from 16 threads through a script of several statements: what is printed and what is said to be lost make what the
# program says that it fired, exactly, and nothing is torn. Text, JSON, sorted; with a reader that keeps up, and one that does not.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"

# A line "N": N events of each of 16 threads, numbered; then how many of each kind there were.
cat >"$tmp/flood.c" <<'END'
#include <btgen/usdt.h>
#include <pthread.h>
#include <stdio.h>
static long each;
static _Atomic long fired, even, long_ones;
static void *work(void *from)
{
	for (long n = (long)from * each; n < ((long)from + 1) * each; n++) {
		const char *text = n % 10 ? "short" : "a text of forty letters, more or less...";
		USDT_PROBE(flood, hit, n, text);
		fired++, even += n % 2 == 0, long_ones += n % 10 == 0;
	}
	return NULL;
}
int main(void)
{
	pthread_t id[16];
	while (scanf("%ld", &each) == 1) {
		fired = even = long_ones = 0;
		for (long i = 0; i < 16; i++)
			pthread_create(&id[i], NULL, work, (void *)i);
		for (long i = 0; i < 16; i++)
			pthread_join(id[i], NULL);
		printf("done %ld %ld %ld\n", fired, even, long_ones);
		fflush(stdout);
	}
	return 0;
}
END
gcc -O2 -g -pthread -I"$top/include" -o "$tmp/flood" "$tmp/flood.c" || exit 1
cat >"$tmp/flood.bt" <<'END'
usdt:__EXE__:hit { printf("hit %d %s\n", args.n, str(args.text)); @n = count(); }
usdt:__EXE__:hit /arg0 % 2 == 0/ { printf("even %ld\n", args.n); }
usdt:__EXE__:hit { if (arg0 % 10 == 0) { printf("long %d", args.n); printf(": %s\n", str(args.text)); } }
interval:ms:100 { print(@n); }
END

# account.py TRACE FIRED EVEN LONG LOST: complains about lines that are none, and sums that do not fit
cat >"$tmp/account.py" <<'END'
import collections, json, re, sys

path, *numbers = sys.argv[1:]
fired, even, long_ones, lost = map(int, numbers)
TEXT = r"a text of forty letters, more or less\.\.\."
PIECE = re.compile(rf"hit (?P<hit>\d+) (?P<text>short|{TEXT})|even (?P<even>\d+)|long (?P<long>\d+)|(?P<end>: {TEXT})|@n: \d+")
seen, times = collections.Counter(), []
for line in open(path, encoding="utf-8"):
    line = line.rstrip("\n")
    if line.startswith("{"):
        o = json.loads(line)
        if {"map", "lost", "capture"} & o.keys():
            if "lost" in o and (o["lost"]["total"] != lost or o["lost"]["flood:hit"] != lost):
                print("lost", o["lost"], "instead of", lost)
            continue
        line = o["text"]
    elif m := re.match(r"(\d+\.\d{9}) \[\d{3}\] \d+ \d+ (late )?(flood:hit|interval:ms:100): (.*)", line):
        # A thread that stands still between the clock and the buffer, as many do here, makes a late line: it says so.
        if not m[2]:
            times.append(float(m[1]))
        line = m[4]
    if not line or re.fullmatch(r"@n: \d+", line):
        continue
    # As bpftrace alone does, and where the end of a line was lost: pieces of several lines are on one.
    pieces = list(PIECE.finditer(line))
    if "".join(m[0] for m in pieces) != line:
        print("not of this script:", line)
    for m in pieces:
        if m["hit"] and (int(m["hit"]) % 10 == 0) != m["text"].startswith("a"):
            print("a text of another event:", line)
        for kind in "hit", "even", "long":
            if m[kind]:
                seen[kind, m[kind]] += 1
        seen["end"] += bool(m["end"])
twice = [k for k, n in seen.items() if n > 1 and k != "end"]
if twice:
    print("twice:", twice[:5])
if sorted(times) != times:
    print("not in order")
want = fired + even + 2 * long_ones
if sum(seen.values()) + lost != want:
    print(sum(seen.values()), "printed +", lost, "lost instead of", want)
END

# flood CLAIM N stop|run OPTION...: N events of each thread; with "stop" bpftrace does not read meanwhile
flood() {
	local claim=$1 n=$2 how=$3 tracer lost fired even long
	shift 3
	ok "$claim: it attaches" live_trace -q "$@" "$live_pid" "$tmp/flood.bt"
	read -r tracer _ <"/proc/$live_tracer/task/$live_tracer/children"
	[ "$how" = run ] || kill -STOP "$tracer"
	: >"$tmp/answers"
	live_say "$n"
	wait_for grep -q "done" "$tmp/answers"
	[ "$how" = run ] || kill -CONT "$tracer"
	live_wait INT
	read -r _ fired even long <"$tmp/answers"
	lost=$(sed -nE 's/^btgen: warning: ([0-9]+) of [0-9]+ events were lost.*/\1/p' "$tmp/messages")
	is "$(python3 "$tmp/account.py" "$tmp/trace" "$fired" "$even" "$long" "${lost:-0}" 2>&1 | head -n 10)" "" \
		"$claim: printed and lost (${lost:-0}) are what $fired events had to print, to the last one"
	[ "$how" = run ] || ok "$claim: some were lost, as was wanted" test "${lost:-0}" -gt 0
	is "$(sed '/events were lost/d; /look for "late"$/d' "$tmp/messages")" "" "$claim: nothing else is said"
}

live_start "$tmp/flood"
flood "a burst" 200 run
export BPFTRACE_PERF_RB_PAGES=64
flood text 4000 stop
flood JSON 4000 stop -f json
flood sorted 4000 stop -s --time mono
flood "text, as fast as it can" 12000 run
live_quit
done_testing
