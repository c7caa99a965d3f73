#!/usr/bin/env bash
# Errors that bpftrace finds: at their place in the template, one for each cause, with the remedy where there is one.
. "$(dirname "$0")/../lib.sh"
need_tracing

# said FILE: what is reported of it, without excerpts; what btgen finds does not keep bpftrace from finding it
said() {
	guard "$btgen" run --force --bpftrace "$bpftrace" "$1" 2>&1 >/dev/null </dev/null | grep -v '^    '
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
wrong '1:25' 'Unknown identifier' 'a variable without its $' <<<'BEGIN { $start = 1; @ = start; exit(); }'
like "$(said "$tmp/script.bt")" 'note: did you mean \$start\?' '... and what was meant'
wrong '1:13' 'Unknown identifier' 'a name of nothing' <<<'BEGIN { @ = requests; exit(); }'
like "$(said "$tmp/script.bt")" 'note: a variable begins with \$, a map with @' '... and how one is spelled'
wrong '1:9' 'Unknown function' 'a function that is not there' <<<'BEGIN { prinft("%d", @x); exit(); }'
like "$(said "$tmp/script.bt")" 'note: did you mean printf\?' '... and what was meant'
wrong '1:9' 'Undefined map: @x' 'delete() of a map that nothing sets' <<<'BEGIN { delete(@x[1]); exit(); }'
wrong '1:1[23]' "Type mismatch for '=='" 'a comparison' <<<'BEGIN { if ("a" == pid) { } exit(); }'
wrong '1:1[45]' "Type mismatch for '=='" 'a comparison in a predicate' <<<'interval:s:1 /pid == "x"/ { exit(); }'
unlike "$(said "$tmp/script.bt")" 'left|right' '... whose operands are in the message'
case $("$bpftrace" --version) in
*' v0.17.'* | *' v0.2'[01].*) skip 'a variable that is declared twice' 'no let' ;;
*)
	wrong '2:1' 'Variable \$x was already declared' 'a variable that is declared twice' <<<'BEGIN { let $x = 1;
let $x = 2; print($x); exit(); }'
	like "$(said "$tmp/script.bt")" 'script.bt:1:9: note: bpftrace: .*nitial declaration' '... with the place of the first one'
	;;
esac

# Up to 0.23 a warning of six lines and an excerpt
printf 'BEGIN { print(strcontains(str(1), str(2))); exit(); }' >"$tmp/script.bt"
unlike "$(said "$tmp/script.bt")" '@key_|@fired_|ptr|strcontains|warning' 'none of a warning of several lines'

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
	like "$(said "$tmp/script.bt")" 'the kernel has no tracepoints nosuch:\*: is their module loaded?' \
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
out=$(guard "$btgen" run --force --bpftrace "$bpftrace" -x "$tmp/mood" "$tmp/script.bt" 2>&1 >/dev/null </dev/null | grep -v '^    ')
is "$(grep -c 'error: bpftrace' <<<"$out")" 1 '... with --force: one error'
like "$out" 'script.bt:5:[0-9]+: error: bpftrace: Type mismatch for @mood' '... where the template uses it'

# A program that the kernel rejects is a clause's, or that of several clauses on one probe, of which the first is named.
cat >"$tmp/p.c" <<'E2'
#include "usdt.h"
#include <unistd.h>
int main(void) { for (int n = 0; n < 600; n++) { USDT_PROBE(t, p, n); USDT_PROBE(t, q, n); usleep(100000); } return 0; }
E2
gcc -O1 -g -I "$top/include/btgen" -o "$tmp/p" "$tmp/p.c" || exit 1
# The kernel sees at once that this never ends; a loop that counts it follows for a million instructions.
endless='$n = (uint64)pid; while ($n > 0) { @x = 1; }'
# rejected: what is said of the script on stdin that the kernel rejects
rejected() {
	cat >"$tmp/script.bt"
	guard "$btgen" run --force --bpftrace "$bpftrace" -c "$tmp/p" "$tmp/script.bt" 2>&1 >/dev/null </dev/null |
		grep -E 'error:|^ERROR'
}
out=$(rejected <<<"usdt:__EXE__:t:p { @a = count(); }
usdt:__EXE__:t:q { $endless }
usdt:__EXE__:t:p { @d = count(); }")
like "$out" '^[^ ]*script.bt:2:1: error: bpftrace: Error loading .*' 'a rejected program is at its clause'
out=$(rejected <<<"usdt:__EXE__:t:p { @a = count(); }
usdt:__EXE__:t:q { @b = count(); }
usdt:__EXE__:t:p /arg0 > 3/ { @c = count(); }
usdt:__EXE__:t:p { $endless }")
like "$out" 'script.bt:1:1: error: bpftrace: Error loading ' 'clauses on one probe are one program'
out=$(rejected <<<"interval:s:1 { if (pid == 1) { exit(); } @a = count(); }
BEGIN { @b = count(); }
interval:s:1 { if (pid == 2) { exit(); } $endless }
interval:s:1 { @c = count(); }")
case $("$bpftrace" --version) in
*' v0.17.'* | *' v0.2'[01].*) like "$out" 'script.bt:1:1: error: bpftrace: Error loading ' 'an old one names the probe, which may be in several programs' ;;
*) like "$out" '^[^ ]*script.bt:3:1: error: bpftrace: Error loading ' 'of several programs it is the one that bpftrace counts' ;;
esac
out=$(rejected <<<"interval:s:1 { if (pid == 1) { exit(); } printf(\"a\n\"); }
interval:s:1 { if (pid == 2) { exit(); } printf(\"b\n\"); $endless }
interval:s:1 { if (pid == 3) { exit(); } printf(\"c\n\"); }")
case $("$bpftrace" --version) in
*' v0.17.'* | *' v0.2'[01].*) ;;
*) like "$out" '^[^ ]*script.bt:2:1: error: bpftrace: Error loading ' '... with the BEGIN that btgen writes' ;;
esac

# Without tracefs: 0.17 and 0.23 have no tracepoints, later ones start nothing.
if unshare -m true 2>/dev/null; then
	cat >"$tmp/script.bt" <<'E2'
BEGIN { printf("x\n"); }

tracepoint:syscalls:sys_enter_close { @ = count(); }
E2
	out=$(unshare -m sh -c 'umount -l /sys/kernel/tracing; umount -l /sys/kernel/debug; exec "$@"' sh \
		timeout $PATIENCE "$btgen" run --bpftrace "$bpftrace" "$tmp/script.bt" 2>&1 >/dev/null | grep -v '^umount')
	is "$(grep -c error <<<"$out")" 1 'without tracefs there is one error'
	like "$out" 'error: bpftrace (finds no tracepoints|cannot run a script) because tracefs is not mounted: mount -t tracefs tracefs /sys/kernel/tracing' \
		'... with the remedy'
fi
done_testing
