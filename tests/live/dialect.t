#!/usr/bin/env bash
# What btgen takes for granted about bpftrace: a version that behaves differently fails here first.
# shellcheck source=tests/lib.sh disable=SC2034
. "$(dirname "$0")/../lib.sh"
can_trace || skip_all "needs root and bpftrace"

# bt TEXT [OPTION...]: runs a program from a file; its exit status in $rc, its streams in $out and $err
bt() {
	printf '%s\n' "$1" >"$tmp/prog.bt"
	shift
	timeout 60 "$bpftrace" "$@" "$tmp/prog.bt" >"$tmp/out" 2>"$tmp/err" </dev/null
	rc=$?
	out=$(cat "$tmp/out") err=$(cat "$tmp/err")
}

bt 'BEGIN { printf("%s %ld\n", "hello", 42); exit(); }' -q
is "$out" "hello 42" "with -q, standard output holds what the program prints and nothing else"
is "$rc" 0 "exit() in BEGIN is status 0"
done_testing
