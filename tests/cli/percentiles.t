#!/usr/bin/env bash
# percentiles.py: histograms and percentiles out of counted buckets.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
command -v python3 >/dev/null || skip_all "no python3"
percentiles=$top/scripts/percentiles.py

is "$("$percentiles" -w 10 <<'END'
timing, ^C ends

@completed[1]: 3
@us_buckets[1, read, 8, 9]: 3
@us_buckets[0, write, 64, 68]: 998
@us_buckets[1, read, 2, 3]: 1
@us_buckets[0, write, 128, 136]: 2
@us_max[0, write]: 130
END
)" "timing, ^C ends
@us[0, write]: count 1000, p50 64-67, p99 64-67, p99.9 128-130, max 130
[64, 68)                    998 |@@@@@@@@@@|
[128, 131)                    2 |@         |

@us[1, read]: count 4, p50 8, p99 8, p99.9 8
[2, 3)                        1 |@@@       |
[8, 9)                        3 |@@@@@@@@@@|

@completed[1]: 3
@us_max[0, write]: 130" "buckets become histograms in order, other lines stay, the maximum ends the last bucket"

is "$("$percentiles" -n <<'END'
10:00:00
@us_buckets[1, read, 4, 8]: 2
10:00:01
@us_buckets[1, read, 4, 8]: 7
END
)" "10:00:00
@us[1, read]: count 2, p50 4-7, p99 4-7, p99.9 4-7
10:00:01
@us[1, read]: count 7, p50 4-7, p99 4-7, p99.9 4-7" "each report is for itself; -n: only percentiles"

like "$("$percentiles" <<'END'
@us_buckets[1, read, 4, 8]: 2
@us_stats[1, read]: count 5, average 5, total 25
END
)" '^warning: 3 values are in no bucket' "values that found no room in the map are not passed over"

like "$("$percentiles" <<'END'
@us_buckets[1, read, 4, 8]: 2
@us_stats[1, read]: { .count = 5, .average = 5, .total = 25 }
END
)" '^warning: 3 values are in no bucket' "also as bpftrace 0.27 prints it"

# A thousand random latencies, counted as nvme-latency.bt counts them, against the sorted values.
cat >"$tmp/oracle.py" <<'END'
import math, random, re, subprocess, sys
random.seed(7)
bad = 0
for run in range(40):
    values = sorted(int(random.lognormvariate(5, 2)) for _ in range(random.choice([1, 2, 99, 100, 999, 1000, 1001])))
    count = {}
    for v in values:
        width = max(v.bit_length() - 1 - 4, 0)
        low = v >> width << width
        count[low, low + (1 << width)] = count.get((low, low + (1 << width)), 0) + 1
    text = "".join(f"@us_buckets[1, {a}, {b}]: {n}\n" for (a, b), n in count.items())
    out = subprocess.run([sys.argv[1], "-n"], input=text, capture_output=True, text=True, check=True).stdout
    for label, share in (("p50", (1, 2)), ("p99", (99, 100)), ("p99.9", (999, 1000))):
        m = re.search(r"%s (\d+)(?:-(\d+))?[,\n]" % re.escape(label), out)
        low, high = int(m[1]), int(m[2] or m[1])
        exact = values[-(-len(values) * share[0] // share[1]) - 1]
        if not low <= exact <= high or high - low > max(low / 16, 0):
            print("#", label, len(values), exact, low, high)
            bad = 1
sys.exit(bad)
END
ok "p50, p99 and p99.9 enclose the exact values within 1/16" python3 "$tmp/oracle.py" "$percentiles"

"$percentiles" --nonsense >"$tmp/out" 2>"$tmp/err" </dev/null
is "$? $(head -n 1 "$tmp/err")" "2 percentiles.py: error: '--nonsense' is not understood" "a wrong option is status 2, one line"
printf '@us_buckets[1, 4, 8]: 2\n\377\n@x: 1\n' | "$percentiles" -n >"$tmp/out"
is "$(od -An -c "$tmp/out" | tr -d ' \n')" '@us[1]:count2,p504-7,p994-7,p99.94-7\n377\n@x:1\n' "bytes that are no text pass as they are"

# Names of strangers in what these two print
printf '@n[\033[2J\377\342\200\256\303\244]: 1\n' >"$tmp/named"
printf '1 add qpair=0x10 qid=1 thread=t\n2 connect qpair=0x10 hostnqn=\033[2J\377\342\200\256\302\233\303\244\n' >"$tmp/events"
# shellcheck disable=SC2016
is "$("$top/tests/on_terminal.py" sh -c '"$0" <"$1"; "$2" "$3"' "$percentiles" "$tmp/named" "$top/scripts/qpair-lifetime" "$tmp/events")" \
	'@n[\x1b[2J\xff\xe2\x80\xaeä]: 1
from 0 to - lasted -: qpair 0x10 qid 1 thread t hostnqn \x1b[2J\xff\xe2\x80\xae\xc2\x9bä' "a terminal gets what is printable, of queue pairs, too"
is "$("$percentiles" <"$tmp/named" | cmp - "$tmp/named") $("$top/scripts/qpair-lifetime" "$tmp/events" | grep -ac $'hostnqn \033\\[2J\377\342\200\256\302\233\303\244')" " 1" "... and a pipe the bytes"
is "$("$percentiles" $'\e[31m' 2>&1; "$top/scripts/qpair-lifetime" $'a\e[31m' 2>&1; "$top/scripts/qpair-lifetime" --hz=$'\e[31m' b 2>&1 | grep error)" \
	"percentiles.py: error: '\x1b[31m' is not understood
Try 'percentiles.py --help'.
qpair-lifetime: error: a\x1b[31m: No such file or directory
qpair-lifetime: error: argument --hz: invalid float value: '\x1b[31m'" "no word of the command line colors a terminal"
done_testing
