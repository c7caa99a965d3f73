#!/usr/bin/env bash
# qpair.bt and qpair-lifetime on nvmf_tgt: every queue pair's life, and lines of a log explained by their TSC.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"
readelf -n "$targets/nvmf_tgt" 2>/dev/null | grep -q 'Provider: spdk' || skip_all "built with --without-usdt"
tool=$top/scripts/qpair-lifetime

live_nvmf nvmf_tgt
ok "it ends with the target" live_tour $live_pid qpair.bt
is_sample qpair.bt

# The program's own account: address, qid, subsystem, host, in order of time.
connected() { awk -F'\t' '$3 == "nvmf_ctrlr_add_qpair" { print $4, $5, $6, $7, $8 }' "$tmp/log" | sort -n; }
"$tool" "$tmp/trace" >"$tmp/lives"
is "$(sed -n 's/.*: qpair \(0x[0-9a-f]*\) qid \([0-9]*\) thread [0-9]* subnqn \([^ ]*\) hostnqn \([^ ]*\)$/\1 \2 \3 \4/p' "$tmp/lives" | sort)" \
	"$(connected | cut -d' ' -f2- | sort)" "a life for each queue pair that a host connected"
is "$(grep -c . "$tmp/lives")" "$(grep -c 'nvmf_poll_group_add_qpair	' "$tmp/log")" "and for each that a poll group took"
is "$(grep -c 'lasted -' "$tmp/lives")" 0 "all of them ended"
is "$(sed -n 's/^from [0-9]* to [0-9]* lasted \([0-9]*\) ticks: \(qpair 0x[0-9a-f]*\).*/\2 \1/p' "$tmp/lives" | sort)" \
	"$(awk -F'\t' '$3 == "nvmf_poll_group_add_qpair" { began[$5] = $4 }
		$3 == "nvmf_poll_group_remove_qpair" { print "qpair", $5, $4 - began[$5] }' CONVFMT=%d OFMT=%d "$tmp/log" | sort)" \
	"as long as the program's own stamps say"

# Lines of a log with a TSC: the one from when an I/O queue pair was added says itself what qid it has, and where.
awk -F'\t' '$3 ~ /qpair/ && $4 > 0 { print $4, $3, $5, $6, $7, $8 }' "$tmp/log" | sort -R >"$tmp/lines"
"$tool" "$tmp/trace" "$tmp/lines" >"$tmp/explained"
is "$(cut -d' ' -f1 "$tmp/explained")" "$(cut -d' ' -f1 "$tmp/lines" | sort -n)" "lines come in order of their TSC"
is "$(sed -n 's/.*nvmf_ctrlr_add_io_qpair 0x[0-9a-f]* \(0x[0-9a-f]*\) \([0-9]*\) .*  \[qpair \(0x[0-9a-f]*\) qid \([0-9]*\) .*/\1 \2/p' "$tmp/explained" | wc -l)" \
	"$(grep -c 'nvmf_ctrlr_add_io_qpair	' "$tmp/log")" "each line with a queue pair is explained"
is "$(sed -n 's/.*nvmf_ctrlr_add_io_qpair 0x[0-9a-f]* \(0x[0-9a-f]*\) \([0-9]*\) .*  \[qpair \(0x[0-9a-f]*\) qid \([0-9]*\) .*/\1 \2 \3 \4/p' "$tmp/explained" |
	awk '$1 != $3 || $2 != $4' | wc -l)" 0 "by the queue pair that it names, with its qid"

# What spdk_trace -t prints is the distance to its first line.
printf '%s\n' '700024 TCP_REQ_NEW' '5695585000 TCP_REQ_NEW' >"$tmp/distances"
is "$("$tool" "$tmp/trace" "$tmp/lines" 2>&1 >/dev/null; "$tool" "$tmp/trace" "$tmp/distances" 2>&1 | sed -E 's/at [0-9]+/at N/')" \
	"qpair-lifetime: warning: $tmp/distances ends before the first queue pair, at N: are its lines of the same counter?
$(cat "$tmp/distances")" "lines of another counter are warned of"

# An address that is used again, lines of more than one row, a pointer that is no queue pair.
cat >"$tmp/events" <<'END'
Attaching 5 probes...
300 add qpair=0xa0 thread=3
110 connect qpair=0xa0 qid=1 subnqn=one hostnqn=h1
100 add qpair=0xa0 thread=2
200 remove qpair=0xa0 thread=2
310 connect qpair=0xa0 qid=2 subnqn=two hostnqn=h2
END
printf '%s\n' '0x96 first 0xa0' '  more of it' '250 between 0xa0' '320 second 0xa0 0xb0' '50 before' >"$tmp/other"
is "$("$tool" "$tmp/events" "$tmp/other")" "50 before
0x96 first 0xa0  [qpair 0xa0 qid 1 thread 2 subnqn one hostnqn h1]
  more of it
250 between 0xa0  [qpair 0xa0 not alive]
320 second 0xa0 0xb0  [qpair 0xa0 qid 2 thread 3 subnqn two hostnqn h2]" "an address that is used again has two lives"
is "$("$tool" --hz 100 "$tmp/events")" "from 0.000000 to 1.000000 lasted 1.000000 s: qpair 0xa0 qid 1 thread 2 subnqn one hostnqn h1
from 2.000000 to - lasted -: qpair 0xa0 qid 2 thread 3 subnqn two hostnqn h2" "with --hz in seconds"
"$tool" "$tmp/other" >"$tmp/out" 2>&1
is "$? $(cat "$tmp/out")" "1 qpair-lifetime: error: $tmp/other has no event of qpair.bt" "a file without events is an error"

done_testing
