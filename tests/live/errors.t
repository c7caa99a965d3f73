#!/usr/bin/env bash
# Errors that bpftrace finds: at their place in the template, one for each cause, with the remedy where there is one.
. "$(dirname "$0")/../lib.sh"
can_trace || skip_all "needs root and bpftrace"

# said FILE: what is reported of it, without excerpts; what btgen finds does not keep bpftrace from finding it
said() {
	timeout 60 "$btgen" run --force --bpftrace "$bpftrace" "$1" 2>&1 >/dev/null </dev/null | grep -v '^    '
}

# wrong LINE:COL REGEX CLAIM: of the script on stdin bpftrace reports one error, there
wrong() {
	local out
	cat >"$tmp/script.bt"
	out=$(said "$tmp/script.bt" | grep 'error: bpftrace\|^ERROR')
	is "$(wc -l <<<"$out")" 1 "$3: one error"
	like "$out" "script.bt:$1: error: bpftrace.*$2" "$3: at its place"
}

wrong '1:(9|15)' 'Undefined map: @x' 'a map that nothing sets' <<<'BEGIN { print(@x); exit(); } END { print(@x); }'
wrong '1:24' "does not contain a field named 'nosuch'" 'a member that is not there' \
	<<<'BEGIN { printf("%d\n", curtask->nosuch); exit(); }'
wrong '1:1[45]' 'nosuch' 'a struct that is not there' <<<'BEGIN { $a = (struct nosuch *)1; printf("%d %d\n", $a->x, $a->y); exit(); }'
wrong '1:[0-9]*' 'Can not access field' 'members of a number' \
	<<<'BEGIN { $a = 1; printf("%d %d %d\n", $a->x, $a->y.z, $a->z); exit(); }'
wrong '1:13' 'Unknown identifier' 'a word that means nothing' <<<'BEGIN { @ = pidd; printf("%d", pidd); exit(); }'
like "$(said "$tmp/script.bt")" 'note: did you mean pid\?' '... and what was meant'
wrong '1:9' 'Unknown function' 'a function that is not there' <<<'BEGIN { prinft("%d", @x); exit(); }'
like "$(said "$tmp/script.bt")" 'note: did you mean printf\?' '... and what was meant'
wrong '1:9' 'Undefined map: @x' 'delete() of a map that nothing sets' <<<'BEGIN { delete(@x[1]); exit(); }'
wrong '1:1[23]' "Type mismatch for '=='" 'a comparison' <<<'BEGIN { if ("a" == pid) { } exit(); }'

# The names of attach points: in another file, behind others, with a predicate
cat >"$tmp/other.bt" <<'E2'
BEGIN
{
	printf("other\n");
}
E2
wrong '5:1' 'nosuch:event' 'a tracepoint behind an #include' <<'E2'
#include "other.bt"

BEGIN { @x = 1; }

tracepoint:nosuch:event
/pid == 1/
{
	@x = 2;
}
E2
if [ -d /sys/kernel/tracing/events/syscalls ]; then
	like "$(said "$tmp/script.bt")" 'the kernel has no tracepoints nosuch:\*: maybe the module that has them is not loaded' \
		'... with a reason'
	wrong '1:1' 'sys_enter_opnat' 'a tracepoint that is misspelled' <<<'tracepoint:syscalls:sys_enter_opnat { @ = args->flags; }'
	like "$(said "$tmp/script.bt")" 'note: did you mean syscalls:sys_enter_openat\?' '... and what was meant'
fi
wrong '2:1' 'hz:99999999' 'a frequency that the kernel refuses' <<'E2'
BEGIN { printf("x\n"); }
profile:hz:99999999 { @ = count(); }
E2

# What is wrong with a map that btgen fills, too
echo 'enum mood { FINE = 1 }; int f(enum mood m) { return m; } int main(void) { return f(FINE); }' >"$tmp/mood.c"
gcc -g -O0 -o "$tmp/mood" "$tmp/mood.c"
cat >"$tmp/script.bt" <<'E2'
#pragma enum mood mood

uprobe:__EXE__:f
{
	@mood[arg0] = count();
}
E2
like "$("$btgen" check -x "$tmp/mood" "$tmp/script.bt" 2>&1)" 'script.bt:5:2: error: @mood is a table of names: another map needs another name  \[table\]$' \
	'a map that is a table, too'
out=$(timeout 60 "$btgen" run --force --bpftrace "$bpftrace" -x "$tmp/mood" "$tmp/script.bt" 2>&1 >/dev/null </dev/null | grep -v '^    ')
is "$(grep -c 'error: bpftrace' <<<"$out")" 1 '... with --force: one error'
like "$out" 'script.bt:5:[0-9]+: error: bpftrace: Type mismatch for @mood' '... where the template uses it'

# Without tracefs: 0.17 and 0.23 have no tracepoints, later ones start nothing.
if unshare -m true 2>/dev/null; then
	cat >"$tmp/script.bt" <<'E2'
BEGIN { printf("x\n"); }

tracepoint:syscalls:sys_enter_close { @ = count(); }
E2
	out=$(unshare -m sh -c 'umount -l /sys/kernel/tracing; umount -l /sys/kernel/debug; exec "$@"' sh \
		timeout 60 "$btgen" run --bpftrace "$bpftrace" "$tmp/script.bt" 2>&1 >/dev/null | grep -v '^umount')
	is "$(grep -c error <<<"$out")" 1 'without tracefs there is one error'
	like "$out" 'error: bpftrace (finds no tracepoints|starts no script), as tracefs is not mounted: mount -t tracefs tracefs /sys/kernel/tracing' \
		'... with the remedy'
fi
done_testing
