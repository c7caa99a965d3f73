#!/usr/bin/env bash
# Scripts for the whole machine (tests/cli/host.scripts) print what bare bpftrace prints, each eighth of those that need no event
# of the kernel, and where they divide what has a sign, what C does.
. "$(dirname "$0")/../lib.sh"
need_tracing

# without what bpftrace says of itself, and the clock
said() { grep -vE '^(Attach|$)' | sed -E 's/[0-9]{2}:[0-9]{2}:[0-9]{2}/TIME/'; }

i=0
while IFS= read -r line; do
	i=$((i + 1))
	[ $((i % 8)) = 1 ] || continue
	guard "$bpftrace" -e "$line" 2>/dev/null </dev/null | said >"$tmp/bare"
	echo "$line" >"$tmp/script.bt"
	guard "$btgen" run -q --bpftrace "$bpftrace" "$tmp/script.bt" 2>/dev/null </dev/null | said >"$tmp/ours"
	is "$(cat "$tmp/ours")" "$(cat "$tmp/bare")" "$line"
	ok "... which is something" test -s "$tmp/bare"
done < <(grep -E '^BEGIN.*exit\(\)' "$top/tests/cli/host.scripts" |
	grep -vE 'elapsed|nsecs|\$[1#]|-7|-2|let |for |if has|= if|\{ let|has_key|len\(|rand|\(a =|strcontains|true')

while IFS='~' read -r line want; do
	is "$(guard "$btgen" run -q --bpftrace "$bpftrace" -e "$line" 2>/dev/null </dev/null | said)" "$want" "as in C: $line"
done <<'E2'
BEGIN { $x = (int32)-7; printf("%d\n", $x / 2); exit(); }~-3
BEGIN { printf("%d %d\n", -7 / 2, -7 % 2); exit(); }~-3 -1
BEGIN { @a = -7; printf("%d\n", @a / 2); clear(@a); exit(); }~-3
BEGIN { $x = 7; printf("%d\n", $x / -2); exit(); }~-3
begin { printf("lower\n"); exit(); }~lower
E2

# A macro may name no map of ours: what it prints, bpftrace prints
version=$("$bpftrace" --version | sed -n 's/^bpftrace v0\.\([0-9]*\).*/\1/p')
line='macro tell(x) { printf("macro %d\n", x); time("in it\n"); print(x) } macro quarter(a) { half(a) / 2 } macro half(a) { a / 2 } macro cpu() { "own\n" }
BEGIN { printf("first\n"); tell(-3); @m[1] = -21; $n = -9; printf("%d %d %d %d\n", half(-8), half($n), half(@m[1]), quarter(@m[1])); printf(cpu()); clear(@m); printf("last\n"); exit(); }'
if [ "$version" -ge 24 ]; then
	is "$(guard "$btgen" run -q --bpftrace "$bpftrace" -e "$line" 2>&1 </dev/null | said)" "first
macro -3
in it
-3
-4 -4 -10 -5
own
last" "a macro that prints, in the order of what is printed; macros that divide, and one with the name of a builtin"
else
	skip "macros" "bpftrace 0.$version has no macros"
fi

# args.NAME of a tracepoint, which bpftrace up to 0.18 alone does not take
if [ -e /sys/kernel/tracing/available_events ] || [ -e /sys/kernel/debug/tracing/available_events ]; then
	"$btgen" run -q --bpftrace "$bpftrace" --ready-file "$tmp/ready" -e 'tracepoint:syscalls:sys_enter_exit_group
		/args.error_code == 211/ { printf("%d %s\n", args.error_code, comm); exit(); }' >"$tmp/exits" 2>"$tmp/said" </dev/null &
	tracer=$!
	own $tracer
	ok "a script with args.NAME is attached" wait_for test -s "$tmp/ready"
	bash -c 'exit 211'
	wait_for test -s "$tmp/exits"
	kill -INT $tracer 2>/dev/null
	wait $tracer
	is "$(grep . "$tmp/exits")" "211 bash" "... and prints the tracepoint's argument"
else
	skip "args.NAME of a tracepoint" "tracefs is not mounted here"
fi
done_testing
