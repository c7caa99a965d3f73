#!/usr/bin/env bash
# Times of a trace that lasts: after 2^32 ns, a week, 2^32 ms, half a year (summer time) and 400 days, with each option that prints or
# uses them. A stand-in for bpftrace prints the records; the oracles are Python's integers and its datetime.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
need_tracing # else btgen run says only that

cat >"$tmp/bpftrace" <<'END'
#!/usr/bin/env python3
import os, re, sys, time
if sys.argv[1] == "--version":
    print("bpftrace v0.24.0")
    sys.exit()
program = open(sys.argv[1]).read()
print("Attached 1 probe", file=sys.stderr, flush=True)
form, names = re.search(r'printf\("(@\w+<1,.*?)\\n", (.*?)\);', program).groups()
print(form.partition("<")[0] + "<0;42>")
start = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
open(os.environ["STARTED"], "w").write(f"{start} {time.time_ns()}")
for after in map(int, os.environ["TIMES"].split()):
    has = {"elapsed": after, "nsecs": start + after, "cpu": 1, "pid": 7, "tid": 8, "$record_key": 42, "comm": "app"}
    values = iter(names.split(", "))
    print(re.sub("%l[du]|%s", lambda m: str(has[next(values)]), form), flush=True)
END
chmod +x "$tmp/bpftrace"
day=86400000000000
export BTGEN_BPFTRACE=$tmp/bpftrace STARTED=$tmp/started TZ=Europe/Berlin
export TIMES="0 4294967296 $((7 * day + 123456789)) 4294967296000000 $((182 * day + 1)) $((400 * day + 999999999))"

# long ARG...: what such a trace prints
long() { guard "$btgen" run -q "$@" -e $'#pragma time since\ninterval:s:60 { printf("%d it\\n", pid); }' 2>"$tmp/messages"; }
# gives CLAIM CODE: of the lines the code, an expression of Python, is what TIMES has
gives() {
	is "$(python3 -c '
import datetime, json, os, re, sys
times = list(map(int, os.environ["TIMES"].split()))
start, wall = map(int, open(os.environ["STARTED"]).read().split())
text = sys.stdin.read()
lines = text.splitlines()
def ns(text):
    seconds, _, part = text.partition(".")
    return int(seconds) * 10**len(part) + int(part)
def local(after):  # in microseconds, with the offset of that day
    return datetime.datetime.fromtimestamp((wall + after) // 1000 / 1e6).astimezone()
def wall_ns(text):  # of RFC 3339
    at = datetime.datetime.fromisoformat(text[:19] + text[29:])
    return int(at.timestamp()) * 10**9 + int(text[20:29])
wrong = ['"$2"']
print(*wrong)')" "" "$1"
}

long >"$tmp/out"
gives "#pragma time since" '(l, t) for l, t in zip(lines, times) if l != f"{t // 10**9}.{t // 1000 % 10**6:06d}: 7 it"' <"$tmp/out"
long --time mono >"$tmp/out"
gives "--time mono" '(l, t) for l, t in zip(lines, times) if ns(l.split()[0]) != start + t' <"$tmp/out"
long --time since >"$tmp/out"
gives "--time since" '(l, t) for l, t in zip(lines, times) if ns(l.split()[0]) != t' <"$tmp/out"
for option in '--time wall' -s; do
	# shellcheck disable=SC2086
	long $option >"$tmp/out"
	gives "$option: local time, of that day" '(l, local(t)) for l, t in zip(lines, times)
		if min(abs(datetime.datetime.strptime(l[:15], "%H:%M:%S.%f") - datetime.datetime.combine(datetime.date(1900, 1, 1), (local(t) + datetime.timedelta(milliseconds=ms)).time()))
		       for ms in range(-100, 101, 10)) > datetime.timedelta(milliseconds=10)' <"$tmp/out"
done
for option in '' -s; do
	# shellcheck disable=SC2086
	long -f json $option >"$tmp/out"
	gives "-f json $option: date, time and zone" '(o["time"], t) for head in [json.loads(lines[0])["capture"]] for o, t in zip([json.loads(l) for l in lines if "\"text\"" in l], times)
		if wall_ns(o["time"]) - wall_ns(head["wall"]) + head["monotonic"] != start + t or o["time"][29:] != local(t).isoformat()[26:]' <"$tmp/out"
	is "$(grep -c '"text"' "$tmp/out")" 6 "... each once"
done
long -f perfetto -o "$tmp/timeline.json"
gives "-f perfetto: nanoseconds apart" '(e, t) for all in [[e for e in json.loads(text, parse_float=str)["traceEvents"] if e["ph"] == "i"]]
		for e, t in zip(all, times, strict=True) if ns(e["ts"]) - ns(all[0]["ts"]) != t' <"$tmp/timeline.json"
long --keep 401d -o "$tmp/kept"
is "$(grep -c it "$tmp/kept")" 6 "--keep 401d: all of its lines"

# The wall clock is set while a trace runs; a library in front of the C library's clock does it for this process alone.
cat >"$tmp/set.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
int clock_gettime(clockid_t clock, struct timespec *t)
{
	int (*real)(clockid_t, struct timespec *) = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
	int status = real(clock, t), by = 0;
	FILE *f = clock == CLOCK_REALTIME ? fopen(getenv("SET_BY"), "r") : NULL;
	if (f && fscanf(f, "%d", &by) == 1)
		t->tv_sec += by;
	if (f)
		fclose(f);
	return status;
}
END
gcc -shared -fPIC -o "$tmp/set.so" "$tmp/set.c" -ldl || exit 1
sed -i '/^    print(re.sub/a\    while os.path.exists(os.environ["WAITS"]):\n        print(flush=True)\n        time.sleep(0.1)' "$tmp/bpftrace"
export SET_BY=$tmp/by WAITS=$tmp/waits TIMES=0
echo 0 >"$SET_BY"
: >"$WAITS"
# set_clock MESSAGES ARG...: such a trace, in the background
set_clock() {
	ASAN_OPTIONS=verify_asan_link_order=0 LD_PRELOAD=$tmp/set.so guard "$btgen" run "${@:2}" -e 'interval:s:60 { printf("%d it\n", pid); }' 2>"$tmp/$1" &
	own $!
	traces+=($!)
}
traces=()
set_clock messages -f json -o "$tmp/set.json"
set_clock since --time since -o "$tmp/set.since"
for form in json since; do
	wait_for grep -qs it "$tmp/set.$form"
done
for by in 3600 -7 0; do
	echo "$by" >"$SET_BY.new" && mv "$SET_BY.new" "$SET_BY"
	[ $by = 0 ] || wait_for grep -q " ${by#-}.0 s " "$tmp/messages"
done
rm "$WAITS"
wait "${traces[@]}"
is "$(grep -o 'the wall clock.*' "$tmp/messages")" "the wall clock was set and is 3600.0 s ahead of the times of this trace: restart the trace to correct them
the wall clock was set and is 7.0 s behind the times of this trace: restart the trace to correct them" "each time that the wall clock is set, a warning"
is "$(grep -c 'wall clock' "$tmp/since")" 0 "... but not where nothing does"
done_testing
