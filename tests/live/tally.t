#!/usr/bin/env bash
# -t with --count, --latency, --filter and --stack: what they say is what the program did, which keeps its own books, and the
# script that -n prints says the same.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"

# A line: 100 operations of each of two threads, which wait 2, 8 or 20 ms in two of ten of them; then for each operation
# "op THREAD KIND NAME ID MOST LEAST": us around its two probes, and between them. On a busy machine a thread may have to wait
# anywhere; what is measured at the probes is never outside of these two.
cat >"$tmp/work.c" <<'END'
#include <btgen/usdt.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
enum kind { KIND_READ, KIND_WRITE, KIND_FLUSH = 7 };
enum { N = 100 };
static struct op { long tid, id, most, least; enum kind kind; const char *name; } ops[2][N];
static long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}
__attribute__((noinline)) void serve(struct op *o)
{
	long start = now();
	USDT_PROBE(work, op_start, o->id, o->kind, o->name);
	long inside = now();
	if (o->id % 10 < 2)
		usleep(o->id % 10 == 0 ? 2000 : o->id % 20 == 1 ? 8000 : 20000);
	o->least = now() - inside;
	USDT_PROBE(work, op_done, o->id, o->kind);
	o->most = now() - start;
	__asm__ volatile("" ::: "memory");
}
__attribute__((noinline)) void *play(void *which)
{
	for (long i = 0; i < N; i++) {
		struct op *o = &ops[(long)which][i];
		*o = (struct op){syscall(SYS_gettid), (long)which * N + i, 0, 0, i % 5 == 0 ? KIND_FLUSH : i % 2, i % 3 ? "data" : "a log, \"x\""};
		serve(o);
	}
	return NULL;
}
int main(void)
{
	pthread_t id[2];
	while (getchar() != EOF) {
		for (long i = 0; i < 2; i++)
			pthread_create(&id[i], NULL, play, (void *)i);
		for (long i = 0; i < 2; i++)
			pthread_join(id[i], NULL);
		printf("\n"); // whoever empties our output leaves zeros in front
		for (long i = 0; i < 2 * N; i++) {
			struct op *o = &ops[i / N][i % N];
			printf("op\t%ld\t%s\t%s\t%ld\t%ld\t%ld\n", o->tid, o->kind == KIND_READ ? "KIND_READ" : o->kind == KIND_WRITE ? "KIND_WRITE" : "KIND_FLUSH", o->name, o->id, o->most, o->least);
		}
		printf("done\n");
		fflush(stdout);
	}
	return 0;
}
END
gcc -O1 -g -fno-omit-frame-pointer -pthread -I"$top/include" -o "$tmp/work" "$tmp/work.c" || exit 1
live_start "$tmp/work"

# work OPTION...: a round of work under these
work() {
	ok "$*: it attaches" live_trace $live_pid "$@" || return
	: >"$tmp/answers"
	live_say ''
	wait_for grep -q "done" "$tmp/answers"
	live_wait INT
	is "$live_rc $(grep -v '^    \|attached to\|detaching\|events in\|still in progress\|the counts of one CPU are lost' "$tmp/messages")" "0 " "status 0, and nothing is said"
	missed=$(sed -n '/the counts of one CPU are lost/{s/.*warning: \([0-9]*\) times more.*/\1/;s/^[^0-9].*/1/;p}' "$tmp/messages" |
		awk '{ n += $1 } END { print n + 0 }')
	# Of these, those of @count: the line of the script that is quoted says which map it is.
	missed_counts=$(awk '
		/the counts of one CPU are lost/ { split($1, at, ":"); line = at[2]; n[line] += match($0, /[0-9]+ times more/) ? substr($0, RSTART) + 0 : 1; next }
		/^    / && line != "" { if (/@count/) is_count[line] = 1; if (/@/) known[line] = 1 }
		{ line = "" }
		END { for (l in n) if (is_count[l] || !known[l]) sum += n[l]; print sum + 0 }' "$tmp/messages")
}
# books AWK-EXPRESSION: the program's: how many operations of each, as lines "KEY: N"
books() { awk -F'\t' "/^op/ { n[$1]++ } END { for (k in n) print k \": \" n[k] }" "$tmp/answers" | LC_ALL=C sort; }
counts() { sed -n 's/^@count\[\(.*\)\]: \([0-9]*\)$/\1: \2/p' "$tmp/trace" | LC_ALL=C sort; }

# are_counts WANT CLAIM: bpftrace 0.20 to 0.23 may lose the first event of a key, and say so
total() { awk -F': ' '{ n += $NF } END { print n }'; }
are_counts() {
	if [ "$missed_counts" = 0 ]; then
		is "$(counts)" "$1" "$2"
	else
		is "$(counts | total) + $missed_counts" "$(($(total <<<"$1") - missed_counts)) + $missed_counts" "$2 (of which $missed_counts are said to be lost)"
	fi
}

work -t 'work:*' --count
are_counts "work:op_done: 200
work:op_start: 200" "--count: by probe"
work -t op_start --count=kind,name
are_counts "$(books '$3 ", " $4')" "--count=kind,name: enumerators by name, and strings"
work -t op_done --count=tid,args.kind,comm
are_counts "$(books '$2 ", " $3 ", work"')" "--count=tid,args.kind,comm"
work -e 'usdt:__EXE__:op_start { @count["seven x", pid] = count(); @count["\"with\x20fifteen\"", 1] = count(); @count["more than fifteen", pid] = count(); }'
are_counts "\"with fifteen\", 1: 200
more than fifteen, $live_pid: 200
seven x, $live_pid: 200" "a number in a key after texts of several lengths"
for sorts in -q -s; do
	work -e 'usdt:__EXE__:op_start { @count["two\n\nlines", args.kind] = count(); @most[str(args.name), "two\nlines"] = max(args.id); @one["a\n@most[x"] = count(); }' $sorts
	is "$missed $(grep -A 2 '^@count' "$tmp/trace" | grep -v '^--$' | LC_ALL=C sort | uniq -c | sed 's/^ *//' | paste -sd'|')
$(grep -A 1 -h '^@most\[a\|^@most\[d\|^@one' "$tmp/trace" | grep -v '^--$' | LC_ALL=C sort | paste -sd'|')" "0 3 |3 @count[two|1 lines, KIND_FLUSH]: 40|1 lines, KIND_READ]: 80|1 lines, KIND_WRITE]: 80
@most[a log, \"x\", two|@most[data, two|@most[x]: 200|@one[a|lines]: 198|lines]: 199" "$sorts: names and numbers of maps whose keys have newlines"
done
work -t op_start --count=pid --filter 'args.kind == KIND_FLUSH && args.id / 2 > 20'
are_counts "$live_pid: $(awk -F'\t' '/^op/ && $3 == "KIND_FLUSH" && int($5 / 2) > 20 { n++ } END { print n }' "$tmp/answers")" \
	"--filter: by what the arguments are, with / in it"
work -t op_start --count=args.kind --filter 'kind == KIND_FLUSH && id / 2 > 20 && name == "data" && "dat" != name'
are_counts "KIND_FLUSH: $(awk -F'\t' '/^op/ && $3 == "KIND_FLUSH" && int($5 / 2) > 20 && $4 == "data" { n++ } END { print n }' "$tmp/answers")" \
	"--filter and --count: an argument is NAME or args.NAME, a char * its text beside a literal"
work -t uprobe:serve --count=probe --filter 'o->name == "data" && args.o->name != "dat" && "data" == args.o->name && o->id > 20'
are_counts "uprobe:serve: $(awk -F'\t' '/^op/ && $5 > 20 && $4 == "data" { n++ } END { print n }' "$tmp/answers")" "... and so is a member that is a char *"
out=$("$live_sh" -q --bpftrace "$bpftrace" -t op_start --filter "nosuch > 3 && id" $live_pid 2>&1)
is "$? $(head -n 3 <<<"$out")" "1 --filter:1:1: error: bpftrace: Unknown identifier: 'nosuch'
    nosuch > 3 && id
    ^~~~~~" "--filter: what bpftrace reports has its place in the condition"
work -f json -t op_start --count=kind,name
python3 - "$tmp/trace" <<'END' >"$tmp/rows"
import json, sys
capture, counts = map(json.loads, open(sys.argv[1]))
for e in counts["entries"]:
    print("@count[", ", ".join(map(str, e["key"])), f"]: {e['value']}", sep="")
END
mv "$tmp/rows" "$tmp/trace"
are_counts "$(books '$3 ", " $4')" "the same as JSON"

case $("$bpftrace" --version) in *v0.1[0-9].*) keys=BPFTRACE_MAP_KEYS_MAX ;; *) keys=BPFTRACE_MAX_MAP_KEYS ;; esac
export $keys=10
live_trace $live_pid -t op_start --count=id
unset $keys
: >"$tmp/answers"
live_say ''
wait_for grep -q "done" "$tmp/answers"
live_wait INT
like "$(cat "$tmp/messages")" 'warning: (@count: the map is full: keys may be missing|bpftrace: Map full)' \
	"a map that has no room for all keys is told of"
is "$(grep -c '^@count' "$tmp/trace") $(test "$(wc -l <"$tmp/messages")" -lt 12 || wc -l <"$tmp/messages")" "10 " "and not for each of them"

early() {
	awk -F'\t' '/^op/ && $5 < 150 { n["work:op_start, " $3]++; n["work:op_done, " $3]++ } END { for (k in n) print k ": " n[k] }' \
		"$tmp/answers" | LC_ALL=C sort
}
work -t 'work:*' --count=probe,kind --filter 'args.id < 150'
are_counts "$(early)" "several probes and keys"
"$live_sh" -n -t 'work:*' --count=probe,kind --filter 'args.id < 150' $live_pid >"$tmp/count.bt"
work "$tmp/count.bt"
are_counts "$(early)" "-n prints the script that it is"

# latencies CLAIM: percentiles are between those of what the program measured itself, around and between the probes
cat >"$tmp/latency.py" <<'END'
import json, re, sys
books = [line.split("\t") for line in open(sys.argv[2]) if line.startswith("op")]
longest, shortest = (sorted(int(op[column]) for op in books) for column in (5, 6))
text = open(sys.argv[1]).read()
if text.startswith("{"):
    rows = {o["map"]: o["entries"][0] for o in map(json.loads, text.splitlines()[1:])}
    count = sum(b["count"] for b in rows["@us"]["histogram"])
    points = {k: (v["min"], v["max"]) for k, v in rows["@us"]["percentiles"].items()}
    most = rows["@us_max"]["value"]
else:
    count = int(re.search(r"^@us: count (\d+),", text, re.M)[1])
    points = {k: (int(a), int(b or a)) for k, a, b in re.findall(r"(p[\d.]+) (\d+)(?:-(\d+))?", text)}
    most = int(re.search(r"^@us_max: (\d+)$", text, re.M)[1])
    bars = sum(map(int, re.findall(r"^\[.* (\d+) \|", text, re.M)))
    if bars != count:
        print("bars have", bars)
missed = int(sys.argv[3])
if count + missed != len(books):
    print(count, "and", missed, "of", len(books))
for name, share in ("p50", 500), ("p90", 900), ("p99", 990), ("p99.9", 999):
    low, high = points[name]
    rank = -(-len(books) * share // 1000) - 1
    if missed: # of ranks that nobody knows
        continue
    if not (low - 1 <= longest[rank] and shortest[rank] <= high + 1) or (high - low) * 16 > high:
        print(name, low, high, "but", shortest[rank], longest[rank])
if not shortest[-1] - 1 <= most <= longest[-1] + 1:
    print("the longest", most, "but", shortest[-1], longest[-1])
END
latencies() { is "$(python3 "$tmp/latency.py" "$tmp/trace" "$tmp/answers" "$missed" 2>&1)" "" "$1"; }
work --latency op_start op_done --key args.id
latencies "--latency by an argument: each operation, percentiles as the program has them"
unlike "$(cat "$tmp/trace")" unpaired "all have an end"
work --latency op_start op_done
latencies "--latency by thread"
work --latency op_start op_done --key id --by kind
are_counts "$(books '$3')" "--latency --by: the count of each key"
n=$(for kind in KIND_READ KIND_WRITE KIND_FLUSH; do histogram "us[$kind]"; done | awk '{ n += $1 } END { print n }')
is "$((200 - missed <= n && n <= 200))" 1 "... a histogram of each ($n; $missed counts of this map or another are said to be lost)"
is "$(awk -F'\t' '/^op/ { if ($6 > most[$3]) most[$3] = $6; if ($7 > least[$3]) least[$3] = $7; next }
	split($0, part, "[^A-Za-z0-9_@]+") && part[1] == "@us_max" { print part[2], (part[3] >= least[part[2]] && part[3] <= most[part[2]]) }' \
	"$tmp/answers" "$tmp/trace" | sort)" "KIND_FLUSH 1
KIND_READ 1
KIND_WRITE 1" "... and its maximum, which is the program's"
work -f json --latency 'work:op_start' 'work:op_done'
latencies "the same as JSON"
python=$(python_with "jsonschema; jsonschema.Draft202012Validator") &&
	like "$("$python" "$top/tests/schema.py" "$tmp/trace" 2>&1)" '^0 record 2 map 0 loss 0 line$' "which holds the schema"
work --latency op_start op_done --filter 'kind == KIND_FLUSH'
like "$(cat "$tmp/trace")" "^@us: count $(($(grep -c KIND_FLUSH "$tmp/answers") - missed)), " "--latency of what a filter lets pass"
unlike "$(cat "$tmp/trace")" unpaired "the others are not missed"
work --latency op_done op_start
like "$(cat "$tmp/trace")" '@unpaired\[done without a start\]: [12]$' "a start that was not seen is counted"
like "$(cat "$tmp/messages")" '^btgen: 2 operations still in progress at the end of the trace are not counted$' "... and the ends that were not, said"

# Two threads of one key: each end is paired, or told of. A start can be taken by the other's end before it is looked at.
ok "a key that two threads have" live_trace $live_pid --latency op_start op_done --key kind
: >"$tmp/answers"
live_say ''
wait_for grep -q "done" "$tmp/answers"
live_wait INT
missed=$(grep -c 'counted is lost' "$tmp/messages")
is "$(python3 - "$tmp/trace" "$missed" <<'END'
import collections, re, sys
text, missed = open(sys.argv[1]).read(), int(sys.argv[2])
n = collections.Counter({k: int(v) for k, v in re.findall(r"^@unpaired\[(.*)\]: (\d+)$", text, re.M)})
pairs, again, done = int(re.search(r"^@us: count (\d+)", text, re.M)[1]), n["started again before it was done"], n["done without a start"]
print(again > 0, missed > 0 or pairs + done == 200, set(n) - {"started again before it was done", "done without a start", "start not kept: @start is full, or another thread was done"})
END
)" "True True set()" "operations that share a key"
work --latency op_start op_done --key tid --filter 'args.kind != KIND_FLUSH && args.name != 0'
like "$(cat "$tmp/trace")" "^@us: count $(($(grep -c 'KIND_[RW]' "$tmp/answers") - missed)), " "a condition that has its place in the script"

# What is under way without an end is not taken for the start that a filter holds back: the first and the third of three.
cat >"$tmp/lonely.c" <<'END'
#include <btgen/usdt.h>
#include <stdio.h>
#include <unistd.h>
static void begin(long n, const char *name) { USDT_PROBE(lonely, start, n, name); }
static void end(const char *name) { USDT_PROBE(lonely, done, name); }
int main(void)
{
	static const char *const names[] = {"a", "", NULL};
	getchar();
	(void)*(const volatile char *)names[0]; // what nobody has read may not be in memory
	begin(1, names[0]);
	usleep(50000);
	begin(2, names[0]);
	end(names[0]);
	for (int i = 0; i < 3; i++) {
		begin(3, names[i]);
		end(names[i]);
	}
	return 0;
}
END
gcc -O1 -g -I"$top/include" -o "$tmp/lonely" "$tmp/lonely.c" || exit 1
lonely() {
	ok "$*: it attaches" live_trace -c "$tmp/lonely" "$@" </dev/null
	live_wait
}
lonely --latency 'lonely:start' 'lonely:done' --filter 'args.n != 2'
like "$(sed -n 's/^@us_max: //p' "$tmp/trace")" '^[0-9]{1,4}$' "--filter: the time of another start is none"
lonely --latency 'lonely:start' 'lonely:done' --key name --filter 'args.n != 2'
like "$(cat "$tmp/trace")" '@unpaired\[the key is empty, or was not readable\]: 2' "a key that is empty is none"
like "$(cat "$tmp/trace")" '^@us: count 1, ' "the other one is"

# A folder that anybody may write to: the script of --latency is ours, whatever lies there.
mkdir "$tmp/here"
echo 'this is no script' >"$tmp/here/buckets.bt"
(cd "$tmp/here" && "$live_sh" -n --latency op_start op_done $live_pid >"$tmp/there.bt" && "$btgen" expand -p $live_pid "$tmp/there.bt" >/dev/null)
is $? 0 "buckets.bt is our own"

# bpftrace's own histogram of the same values, and the rows of the buckets
"$live_sh" -n --latency op_start op_done $live_pid | sed 's/^\t\t@us_max.*/&\n\t\t@h = hist($us);/' >"$tmp/latency.bt"
work "$tmp/latency.bt"
is "$(grep -c '^@us_buckets' "$tmp/trace" | sed 's/^[1-9][0-9]*$/some/')" some "-n prints the script, which prints its buckets"
is "$(python3 - "$tmp/trace" "$missed" <<'END'
import collections, re, sys
text = open(sys.argv[1]).read()
def number(s):
    return int(s[:-1]) << 10 if s.endswith("K") else int(s)
mine, theirs = collections.Counter(), collections.Counter()
for low, high, n in re.findall(r"^@us_buckets\[(\d+), (\d+)\]: (\d+)$", text, re.M):
    low, high = int(low), int(high)
    width = 1 << max(low.bit_length() - 5, 0)
    if low % width or high - low != width:
        print("bounds", low, high)
    mine[low.bit_length()] += int(n)
for low, n in re.findall(r"^\[(\w+)(?:, \w+\)|\]) +(\d+) \|", text, re.M):
    theirs[number(low).bit_length()] += int(n)
same = {k: n for k, n in mine.items() if n} == {k: n for k, n in theirs.items() if n}
missed = int(sys.argv[2])
print(same or missed > 0, sum(mine.values()) + missed >= 200 >= sum(mine.values()))
END
)" "True True" "they hold what bpftrace's histogram of the same values holds"

work --stack -t op_start --filter 'args.id == 42'
like "$(cat "$tmp/trace")" "^[0-9:.]+ work\[[0-9]+\] work:op_start id=42 kind=KIND_READ name=\"a log, .*" "--stack: the event"
is "$(sed -n '2,3s/^ *\([a-z]*\)+.*/\1/p' "$tmp/trace" | tr '\n' ' ')" "serve play " "and behind it the stack, on lines of its own"
is "$(grep -c work:op_start "$tmp/trace")" 1 "once"
work --stack -f json -t op_start --filter 'args.id >= 42 && args.id < 44'
is "$(python3 - "$tmp/trace" <<'END'
import json, re, sys
for line in [*open(sys.argv[1])][1:]:
    o = json.loads(line)
    print(o["fields"]["id"], o["fields"]["name"], *[frame.split("+")[0] for frame in o["fields"]["ustack"][:2]])
END
)" '42 a log, "x" serve play
43 data serve play' "in JSON it is a field"
"$live_sh" -n --stack -t op_start --filter 'args.id == 43' $live_pid >"$tmp/stack.bt"
work "$tmp/stack.bt"
like "$(tr '\n' ' ' <"$tmp/trace")" '^[0-9:.]+ work\[[0-9]+\] work:op_start +id=43 kind=KIND_WRITE name="data" +serve\+[0-9]+ +play\+' "so does the script of -n"
live_quit
done_testing
