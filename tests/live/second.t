#!/usr/bin/env bash
# --latency on a terminal: a line each second above the histogram, whose counts add up to it and whose bounds hold the program's own
# durations; in a file or a pipe there is none of it.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"

# For some seconds operations of 2 ms, then for as long of 20 ms, which say themselves what they took, around and between the
# probes; a number among its arguments: operations of the kind.
cat >"$tmp/ops.c" <<'END'
#include <btgen/usdt.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
static long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}
int main(int argc, char **argv)
{
	usleep(2200000); // two seconds without any
	for (int slow = 0; slow < 2 && argc; slow++)
		for (int i = 0; i < atoi(argv[slow + 1]); i++) {
			long start = now(), inside;
			USDT_PROBE(ops, start, i);
			inside = now();
			usleep(slow ? 20000 : 2000);
			inside = now() - inside;
			USDT_PROBE(ops, done, slow);
			printf("%ld %ld\n", inside, now() - start);
		}
	return 0;
}
END
gcc -O1 -g -I"$top/include" -o "$tmp/ops" "$tmp/ops.c" || exit 1

# What the lines of each second say, against the books: no operation is in none or in two.
cat >"$tmp/seconds.py" <<'END'
import re, sys
books = sorted(tuple(map(int, line.split())) for line in open(sys.argv[1]))
lines = open(sys.argv[2]).read().splitlines()
missed, has_all = int(sys.argv[3]), sys.argv[4] == "all"
live = [(i, line) for i, line in enumerate(lines) if re.fullmatch(r"@us: count \d+(, (p50|p99|max) \d+(-\d+)?)*", line) and "p90" not in line]
end = [i for i, line in enumerate(lines) if re.match(r"@us: count \d+, p50 .* p90 |@count\[", line)]
counts = [int(line.split()[2].rstrip(",")) for _, line in live]
print("lines of a second:", "several" if len(live) > 2 else len(live))
print("all above the histogram:", bool(end) and all(i < end[0] for i, _ in live))
if has_all:
    total = int(re.search(r"count (\d+)", lines[end[0]])[1])
else:
    total = sum(int(line.rsplit(" ", 1)[1]) for line in lines if line.startswith("@count["))
print("not more than in all:", sum(counts) <= total == len(books) - missed, "and most of them:", sum(counts) * 2 > total)
first = [line for _, line in live if "max" in line]
least, most = books[0][0], max(b for _, b in books)
for line in first:
    for name, low, high in re.findall(r"(\w+) (\d+)(?:-(\d+))?(?:,|$)", line)[1:]:
        low, high = int(low), int(high or low)
        if not (least - 1 <= high and low <= most + 1) or (high - low) * 16 > high:
            print("out of bounds:", line)
def point(line, name):
    return int(re.search(name + r" (\d+)", line)[1])
print("the slow ones last:", point(first[0], "p50") < 15000 < point(first[-1], "p50"), "and alone:", point(first[-1], "p50") > 18000)
print("empty lines before the first:", live[0][0])
print("rows of buckets:", sum(line.startswith("@us_buckets") for line in lines))
END
missed() { sed -n '/the counts of one CPU are lost/{s/.*warning: \([0-9]*\) times more.*/\1/;s/^[^0-9].*/1/;p}' "$tmp/messages" | awk '{ n += $1 } END { print n + 0 }'; }
want='lines of a second: several
all above the histogram: True
not more than in all: True and most of them: True
the slow ones last: True and alone: True
empty lines before the first: 0
rows of buckets: 0'
# traced OUTPUT OPTION...; $meanwhile is what a shell does beside the program, whose parent is btgen
traced() {
	local to=()
	[ "$1" = pipe ] || to=("$top/tests/on_terminal.py")
	"${to[@]}" "$live_sh" "${@:2}" --bpftrace "$bpftrace" -c "sh -c '$tmp/ops 800 150 >$tmp/books & $meanwhile wait'" 2>"$tmp/messages" >"$tmp/trace"
}
meanwhile=
traced terminal --latency start "done"
is "$? $(python3 "$tmp/seconds.py" "$tmp/books" "$tmp/trace" "$(missed)" all 2>&1)" "0 $want" "a line each second"
traced terminal --latency start "done" --by slow
is "$? $(python3 "$tmp/seconds.py" "$tmp/books" "$tmp/trace" "$(missed)" by 2>&1)" "0 $want" "--by: of all of them together"
meanwhile='sleep 3; kill -STOP $PPID; sleep 2.5; kill -CONT $PPID;'
traced terminal --latency start "done"
is "$? $(python3 "$tmp/seconds.py" "$tmp/books" "$tmp/trace" "$(missed)" all 2>&1)" "0 $want" "a terminal that takes nothing for a while: each second is one of its own"
meanwhile=
traced pipe --latency start "done"
is "$? $(grep -c '^@us: count' "$tmp/trace") $(grep -c '^@us_max' "$tmp/trace")" "0 1 1" "in a pipe there is the end alone"
done_testing
