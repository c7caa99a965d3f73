#!/usr/bin/env bash
# What `btgen check` says nothing of, as bpftrace says it itself: each is refused, at its line of the template.
. "$(dirname "$0")/../lib.sh"
need_tracing
gcc -O1 -g -I "$top/include" -o "$tmp/values" "$top/tests/check/values.c" || exit 1
version=$("$bpftrace" --version | sed 's/.* v0\.\([0-9]*\).*/\1/')

# refused LINES REGEX CLAIM: the script on stdin, at one of these lines
refused() {
	local out
	cat >"$tmp/script.bt"
	out=$(guard "$btgen" run --bpftrace "$bpftrace" -x "$tmp/values" "$tmp/script.bt" 2>&1 >/dev/null </dev/null)
	is "$((!$?))" 0 "$3: a failure"
	like "$out" "^[^ ]*script.bt:$1:[0-9]+: error: bpftrace: .*$2" '... at its line'
	unlike "$out" 'error: .*\[[a-z-]+\]$' '... of which bpftrace alone speaks'
}

# left REGEX STATEMENT [LINES]: in a clause of the program
left() {
	refused "${3-3}" "$1" "$2" <<<"usdt:__EXE__:app:pointers
{
	$2
}"
}

# two REGEX FIRST SECOND: of two lines that do not fit each other 0.27 may name either
two() {
	refused '[34]' "$1" "$2 $3" <<<"usdt:__EXE__:app:pointers
{
	$2
	$3
}"
}

# Calls
left 'count\(\) requires no arguments' '@a = count(1);'
left 'hist\(\) requires (one|at least one) argument' '@a = hist();'
left 'lhist\(\) requires 4 arguments' '@a = lhist(pid, 0, 100);'
left 'strftime\(\) requires' 'printf("%s", strftime("%H"));'
left 'strncmp\(\) requires 3 arguments' 'if (strncmp(comm, "a") == 0) { @a = 1; }'
left 'str\(\) takes up to 2 arguments' 'printf("%s", str(arg0, 8, 8));'
left 'printf\(\) requires at least one argument' 'printf();'
left 'str\(\) expects .*integer or a pointer type.* \(ustack' 'printf("%s", str(ustack));'
left 'str\(\) expects .*\(int8 \*\[3\]' 'printf("%s", str(args.j->argv));'
left 'str\(\) only supports int.* \(string' 'printf("%s", str(arg0, comm));'
left 'strncmp\(\) only supports string arguments' 'if (strncmp(pid, "a", 1) == 0) { @a = 1; }'
left 'strncmp\(\) only supports string arguments' 'if (strncmp(args.j->title, "a", 1) == 0) { @a = 1; }'
left 'strncmp' 'if (strncmp(comm, "a", pid) == 0) { @a = 1; }'
left 'only supports int.* or pointer arguments \(string' 'join(str(arg0));'
left 'buf\(\) expects a length argument' 'printf("%r", buf(arg2));'
left 'buf\(\) expects a length argument' 'printf("%r", buf(args.j->name));'
left 'buf\(\) only supports int.* arguments \(string' 'printf("%r", buf(arg2, "6"));'
left 'hist\(\) only supports int.* \(string' '@a = hist(comm);'
left 'sum\(\) only supports int.* \(string' '@a = sum(args.j->name);'
left 'sum\(\) only supports int.* \(ustack' '@a = sum(ustack);'
left 'hist\(\) only supports int.* \((tuple|\()' '@a = hist((1, 2));'
left 'sum\(\) only supports int.* \(count' '@n = count(); @a = sum(@n);'
left 'lhist\(\) min must be less than max' '@a = lhist(pid, 100, 0, 10);'
left 'lhist\(\) step must be >= 1' '@a = lhist(pid, 0, 100, 0);'
left 'lhist\(\) step is too large' '@a = lhist(pid, 0, 100, 200);'
left 'lhist\(\) too many buckets' '@a = lhist(pid, 0, 100000, 10);'
left 'usym\(\) expects an integer or pointer' 'printf("%s", usym("main"));'
left 'strftime\(\) only supports int' 'printf("%s", strftime("%H", comm));'
left 'sum\(\) (should|must) be (directly assigned|assigned directly) to a map' '$a = sum(pid); print($a);'
left 'count\(\) (should|must) be (directly assigned|assigned directly) to a map' 'count();'
left 'clear\(\)' '@a[tid] = count(); clear(@a[tid]);'
left 'zero\(\)' '@a[tid] = 1; zero(@a[tid]);'
left 'clear\(\) expects a map' '$n = 1; clear($n);'
left '(Argument mismatch for @a|delete\(\) (expects|with))' '@a[tid] = 1; delete(@a);'
left '(delete\(\) expects a map|Unknown function)' 'delete(tid);'
left 'Non-map print\(\) only takes 1 argument' 'print(comm, 5);'
left 'Unknown function: .?prinft' 'prinft("%d", pid);'
if [ "$version" -ge 23 ]; then
	refused 3 'printf\(\) takes up to 128 arguments' 'printf() of 128 values' <<<"usdt:__EXE__:app:pointers
{
	printf(\"$(printf '%%d %.0s' {1..128})\"$(printf ', pid%.0s' {1..128}));
}"
	left '([Ss]ingle-value|Non-map) .*print' '@a[tid] = 1; print(@a[tid], 5);'
	left 'has_key\(\)' '@a[tid] = 1; if (has_key(@a[tid], tid)) { exit(); }'
	left 'len\(\) expects a map' 'print(len(comm));'
	left 'hist: bits 8 must be 0\.\.5' '@a = hist(arg2, 8);'
else
	left 'str\(\) expects .* \(string' 'printf("%s", str(comm));'
fi
if [ "$version" -lt 21 ]; then # at the clause
	left 'BPF stack limit of 512 bytes is exceeded' "@[$(printf 'str(arg0), %.0s' {1..7})pid] = count();" 1
	left 'BPF stack limit of 512 bytes is exceeded' "printf(\"$(printf '%%d %.0s' {1..64})\"$(printf ', arg2%.0s' {1..64}));" 1
fi

# printf()
left '[Nn]ot enough arguments for format string \(1 supplied, 2 expected\)' 'printf("%d %d\n", pid);'
left '[Tt]oo many arguments for format string \(2 supplied, 1 expected\)' 'printf("100%% of %d\n", pid, tid);'
left '[Nn]ot enough arguments for format string \(0 supplied' 'printf("%d %s %d\n");'
wanted='(specifier expects a value of type|unsupported format specifier for type)'
for value in 'str(arg0)' args.j-\>mac ustack 'usym(arg3)' 'buf(arg2, 6)' '(1, 2)' '*args.j' 'strftime("%H", nsecs)'; do
	left "$wanted" "printf(\"%d\\n\", $value);"
done
left "$wanted" 'printf("%p\n", comm);'
left "$wanted" 'printf("%r\n", comm);'
left "$wanted" 'printf("%rx\n", arg2);'
left "$wanted" '@a = count(); printf("%d\n", @a);'
left "$wanted" '@a[tid] = max(pid); printf("%d\n", @a[tid]);'
if [ "$version" -lt 24 ]; then
	left "$wanted" 'printf("%s\n", buf(arg2, 6));'
	left "$wanted" 'printf("%s\n", (1, 2));'
	left "$wanted" '@a = count(); printf("%s\n", @a);'
fi

# Operators and conditions
left "(Type mismatch for '\\+'|The \\+ operator can not be used)" '@a = comm + 1;'
left "The < operator can not be used" 'if (comm < "b") { @a = 1; }'
left "The - operator can not be used" '@a = -comm;'
left "Type mismatch for '&&'" 'if (comm && pid) { @a = 1; }'
left "Type mismatch for '=='" 'if (arg4 == "x") { @a = 1; }'
refused 1 "Type mismatch for '=='" 'the address of a string that a function returns' <<<'uretprobe:__EXE__:main /retval == "x"/ { @ = count(); }'
left 'The == operator can not be used on expressions of types int8 \*, string' 'if (args.j->title == "x") { @a = 1; }'
left '.?break.? (used outside of a loop|statement is not allowed)' 'if (pid == 1) { break; }'
left 'unroll maximum value is 100' 'unroll (1000) { @a++; }'
refused 1 'Invalid (type for predicate|condition): string' 'a string for a predicate' <<<'BEGIN /comm/ { @a = 1; }'
left 'Invalid condition.*: string' 'if (comm) { @a = 1; }' '[13]' # 0.17 names the clause
left 'Invalid condition.*: string' '@a = sum(comm ? 1 : 2);'
left 'The ! operator can not be used' '@a[tid] = comm; if (!@a[tid]) { @b = 1; }'

# Words of another kind of probe, and of none
left 'The retval builtin can only be used with' '@a = hist(retval);'
refused 1 'The arg0 builtin can only be used with' 'an argument at the end of a function' <<<'uretprobe:__EXE__:main { @ = hist(arg0); }'
refused 2 'The arg1 builtin can only be used with' 'arg1 of a tracepoint' <<<'#pragma scope host
tracepoint:raw_syscalls:sys_enter { @[arg1] = count(); }'
refused 1 'The arg0 builtin can only be used with' 'an argument of a timer' <<<'interval:s:1 { printf("%d\n", arg0); }'
refused 1 'The args builtin can only be used with' 'arguments of BEGIN' <<<'BEGIN { printf("%s\n", str(args->filename)); }'
left "Unknown identifier: 'nsec'" '@a = nsec;'
refused 2 "Unknown identifier: 'start'" 'a map without its @' <<<'BEGIN { @start = nsecs; }
END { printf("%d\n", nsecs - start); }'

# Maps and variables
unset='Undefined or undeclared variable: \$'
left "${unset}pid" 'printf("%d\n", $pid);'
left "${unset}n" 'printf("%d\n", $n); $n = 5;'
left "${unset}n" '$n++; printf("%d\n", $n);'
left "${unset}n" '$n += arg4; @a = sum($n);'
refused 2 "${unset}t0" 'a variable of another clause' <<<'BEGIN { $t0 = nsecs; }
END { printf("%d ns\n", nsecs - $t0); }'
key='(Argument mismatch for @a|@a used as a map with)'
left "$key" '@a[tid] = 1; printf("%d\n", @a);'
left "$key" '@a[tid] = 1; if (@a) { print(1); }'
two "$key" '@a = 1;' '@a[kstack] = 2;'
two "$key" '@a[pid, comm] = sum(1);' '@a[pid] = sum(1);'
two "$key" '@a[comm] = sum(1);' '@a[pid] = sum(1);'
two "$key" '@a[1, "read"] = count();' '@a["write", 2] = count();'
mixed='(Type mismatch for [@$]a: trying to assign|The \+\+ .*operator can not be used)'
two "$mixed" '@a = count();' '@a = 0;'
two "$mixed" '@a = count();' '@a++;'
two "$mixed" '@a += pid;' '@a = sum(pid);'
two "$mixed" '@a = min(pid);' '@a = max(pid);'
two "$mixed" '@a = hist(pid);' '@a = lhist(pid, 0, 100, 10);'
two "$mixed" '@a[tid] = comm;' '@a[tid] = 0;'
two "$mixed" '$a = comm;' '$a = pid; print($a);'
two "$mixed" '$a = 0;' 'if (pid == 1) { $a = "init"; } print($a);'
if [ "$version" -ge 23 ]; then
	left "${unset}n" 'if (pid > 1) { $n = 1; } printf("%d\n", $n);'
	left "${unset}n" '@a[tid]++; for ($kv : @a) { $n = $kv.0; } printf("%d\n", $n);'
	two '(was already declared|declarations need to occur before)' '$a = 1;' 'if (pid) { let $a = 2; print($a); } print($a);'
	refused 3 "Variable .*(used before it was assigned|never assigned)|none type" 'a variable that is declared and never set' <<<'BEGIN
{
	let $a; print($a);
}'
fi

# What came with a newer version, or is gone
if [ "$version" -lt 18 ]; then
	left 'hist\(\) requires one argument \(2 provided\)' '@a = hist(arg2, 2);'
	left 'map passed to print\(\) should not be indexed' '@a[tid] = 1; print(@a[tid]);'
	left 'tuple cannot be used as a map key' '@a[(pid, tid)] = 1;'
fi
if [ "$version" -ge 24 ]; then
	left 'invalid trailing bytes: 2ULL' '@a = 2ULL;'
	like "$("$btgen" run --bpftrace "$bpftrace" -e 'BEGIN { @a = sum(pid > 100); }' 2>&1 >/dev/null </dev/null)" \
		'^<command line>:1:[0-9]+: error: bpftrace: sum\(\) only supports int.* \(bool' 'a bool in a script without a target'
fi
if [ "$version" = 23 ]; then
	for word in break continue return; do
		left "'$word' statement is not allowed in a for-loop" "@a[tid]++; for (\$kv : @a) { if (\$kv.0 == 1) { $word; } }"
	done
fi
left 'delete\(\) (requires one argument|expects a map|has arguments that)' '@a[1] = 2; @a[2] = 2; delete(@a[1], @a[2]);'
done_testing
