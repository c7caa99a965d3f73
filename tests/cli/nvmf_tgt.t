#!/usr/bin/env bash
# The program under test does what the tests of tracing take for granted: probes, states, values, answers.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

# probes FILE...: the names of provider spdk, sorted
probes() {
	local f
	for f; do
		readelf -n "$f" 2>/dev/null
	done | sed -n '/Provider: spdk/{n;s/.*Name: //p}' | sort
}

# states LOG: the state changes as a trace would tell them, without stamps
states() {
	awk -F'\t' '
	BEGIN {
		split("NONE CREATE_TARGET CREATE_POLL_GROUPS START_SUBSYSTEMS RUNNING", t, " ")
		s[0] = "INACTIVE"; s[2] = "ACTIVE"; s[4] = "PAUSED"
	}
	$3 == "nvmf_tgt_state" && $5 < 5 { print "tgt " t[$5 + 1] }
	$3 == "nvmf_tgt_state" && $5 >= 5 { exit }
	$3 == "nvmf_subsystem_change_state" { print $5, s[$7] ">" s[$6], "start" }
	$3 == "nvmf_subsystem_change_state_done" { print $5, s[$7] ">" s[$6], "done", $8 }
	$3 == "nvmf_pg_change_state" { print $5, $7, s[$6], "start" }
	$3 == "nvmf_pg_change_state_done" { print $5, $7, s[$6], "done" }' "$1"
}

# change NQN FROM TO: the lines of one change on threads 2 and 3
change() {
	printf '%s\n' "$1 $2>$3 start" "$1 2 $3 start" "$1 2 $3 done" "$1 3 $3 start" "$1 3 $3 done" "$1 $2>$3 done 0"
}

if readelf -n "$targets/nvmf_tgt" 2>/dev/null | grep -q 'Provider: spdk'; then
	exe=$(probes "$targets/nvmf_tgt")
	is "$(sort -u <<<"$exe" | wc -l)" 50 "the executable has SPDK's 50 probes"
	is "$(probes "$targets/nvmf_tgt_shared")" "" "the executable of the shared build has none"
	is "$(probes "$targets"/lib{nvmf,bdev_nvme,thread}.so)" "$exe" "its libraries have the same ones, site for site"
else
	skip "probes in the files" "built with --without-usdt"
fi

cnode1=nqn.2016-06.io.spdk:cnode1
want=$(
	printf 'tgt %s\n' NONE CREATE_TARGET CREATE_POLL_GROUPS START_SUBSYSTEMS
	change nqn.2014-08.org.nvmexpress.discovery INACTIVE ACTIVE
	echo tgt RUNNING
	change $cnode1 INACTIVE ACTIVE
	for _ in listener namespace; do
		change $cnode1 ACTIVE PAUSED
		change $cnode1 PAUSED ACTIVE
	done
)
for build in nvmf_tgt nvmf_tgt_shared; do
	"$targets/$build" -m 0xC --log "$tmp/log" <"$targets/cnode1.txt" >"$tmp/out"
	is $? 0 "$build ends with status 0 at the end of its commands"
	is "$(tail -n +2 "$tmp/out")" "$(printf 'ok\n%.0s' 1 2 3 4 5)" "$build answers every command"
	is "$(states "$tmp/log")" "$want" "$build goes through the states on threads 2 and 3 in order"

	"$targets/$build" -m 0xC --interrupt-mode --log "$tmp/log" < <(cat "$targets/tour.txt") >"$tmp/out"
	is "$(grep -v '^ok$' "$tmp/out")" "nvmf_tgt: running, 2 poll groups" "$build takes the whole tour without an error"
	fired=$(cut -f 3 "$tmp/log" | grep -v '()$' | sort -u)
	is "$(wc -l <<<"$fired")" 50 "$build fires 50 probes on it"
	[ -z "${exe-}" ] || is "$fired" "$(sort -u <<<"$exe")" "$build: they are those of the file"

	# What the record of a real SPDK (spdk_record.t) says nothing about is as SPDK's source has it.
	is "$(awk -F'\t' '$3 == "timerfd_exec" { print before[$2] } { before[$2] = $3 }' "$tmp/log" | sort -u)" interrupt_fd_process \
		"$build: a timer that runs is a descriptor that is handled, too"
	is "$(awk -F'\t' '$3 == "nvmf_destroy_poll_group_qpairs" { n[$5] = 1 } $3 == "nvmf_destroy_poll_group" { print n[$5] + 0 }' "$tmp/log")" $'1\n1' \
		"$build: the queue pairs of a poll group are ended before it is"
	is "$(awk -F'\t' '$3 ~ /^nvmf_(create_poll_group|poll_group_add_subsystem)$/ { print $3, $5 }' "$tmp/log" |
		sort | uniq -c | awk '{ print $2, $3, ($1 > 1) }')" \
		"nvmf_create_poll_group 2 0
nvmf_create_poll_group 3 0
nvmf_poll_group_add_subsystem 2 1
nvmf_poll_group_add_subsystem 3 1" "$build: a new poll group is given the subsystems that there are, and each that starts"
	is "$(awk -F'\t' '$3 == "dynsched_balance" { print $5 }' "$tmp/log")" 4 \
		"$build: the scheduler's number of cores is the highest one's and one"
done

{
	cat "$targets/cnode1.txt"
	for _ in {1..100}; do printf '%s\n' "nvmf_subsystem_remove_ns $cnode1 1" "nvmf_subsystem_add_ns $cnode1 null0"; done
} >"$tmp/many"
"$targets/nvmf_tgt" -m 0xC < <(cat "$tmp/many") >"$tmp/out"
is "$(grep -c '^ok$' "$tmp/out")" "$(grep -c . "$tmp/many")" \
	"more commands at once than are read at once ($(wc -c <"$tmp/many") bytes) are all run"

# The gate, a socket, and errors that are answers.
"$targets/nvmf_tgt" -t 2 --wait --log "$tmp/log" >"$tmp/out" < <(
	echo bdev_null_create null0 10 512
	wait_for grep -q "^error: waiting" "$tmp/out"
	test -s "$tmp/log" && echo quit
	printf '%s\n' start 'nvmf_subsystem_add_ns nqn.x y' 'nvmf_create_transport' nonsense
)
is "$(cat "$tmp/out")" "nvmf_tgt: waiting for \`start\`
error: waiting for start
ok
nvmf_tgt: running, 2 poll groups
error: no subsystem of that name
error: usage: nvmf_create_transport -t tcp|rdma|fc|vfiouser
error: unknown command; try help" "nothing fires before the start, and wrong commands are answered by errors"

"$targets/nvmf_tgt" -r "$tmp/sock" >"$tmp/out" &
pid=$!
own $pid
wait_for test -S "$tmp/sock"
is "$(python3 -c '
import socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
s.sendall(b"bdev_null_create null0 10 512\nbdev_null_create null0 10 512\nquit\n")
print(s.makefile().read(), end="")' "$tmp/sock")" "ok
error: a bdev of that name exists
ok" "commands come through a UNIX socket too"
wait $pid
is $? 0 "quit ends it with status 0"
not_ok "its socket is gone" test -e "$tmp/sock"

done_testing
