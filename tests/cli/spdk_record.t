#!/usr/bin/env bash
# nvmf_tgt is a double of SPDK: given the commands of a recorded run of a real one, it fires the same probes in the same order
# with the same arguments. What the record is compared as: spdk_record.py.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
record=$targets/spdk-events.txt

chains() { python3 "$top/tests/cli/spdk_record.py" "$@" "$targets"/*.h; }
answered() { [ "$(grep -cE '^(ok|error)' "$tmp/answers")" -ge "$1" ]; }
has_rounds() { [ "$(grep -c dynsched_balance "$tmp/log")" -ge "$1" ]; }
rounds() { awk -F'\t' '$3 == "dynsched_balance" { n++ } n && n <= 3' "$tmp/log" | cut -f 3- | grep -E "$1"; }

chains commands "$record" >"$tmp/commands"
mkfifo "$tmp/in"
for build in nvmf_tgt nvmf_tgt_shared; do
	"$targets/$build" -m 0x3 --log "$tmp/log" <"$tmp/in" >"$tmp/answers" &
	pid=$!
	own $pid
	exec 8>"$tmp/in"
	n=0
	while read -r command; do
		# The record was made by hand, second by second: three rounds of the scheduler went by, then a controller was given up.
		[[ $command != nvmf_subsystem_remove_listener* ]] || wait_for has_rounds 3
		echo "$command" >&8
		n=$((n + 1))
		if [[ $command = nvmf_subsystem_remove_listener* ]]; then
			echo wait_deleted Nvme0 >&8
			n=$((n + 1))
		fi
		wait_for answered $n
	done <"$tmp/commands"
	echo quit >&8
	exec 8>&-
	wait $pid
	is "$(sed 1d "$tmp/answers" | sort | uniq -c | tr -s ' ')" " $((n + 1)) ok" "$build takes the commands of the record"
	chains log "$tmp/log" >"$tmp/got"
	is "$(cat "$tmp/got")" "$(chains record "$record")" \
		"$build fires what a real SPDK did, in its order, with its arguments ($(wc \
			-l <"$tmp/got") lines of $(cut -d'|' -f 1 "$tmp/got" | sort -u | wc -l) chains)"

	is "$(rounds '^dynsched_move' | cut -f 4 | sort | uniq -c | tr -s ' ')" " 9 0" \
		"$build: three rounds ask for each of three threads where it is to run"
	is "$(rounds '^move\(\)')" $'move()\t3\t1\t0' "of which one is moved"
done

done_testing
