#!/usr/bin/env bash
# The words of bpftrace's language (gen/lang/vocabulary.c) against the bpftrace that is under test: what `btgen check --for` takes for
# its version it compiles, and what is refused as newer or gone it refuses, too.
# shellcheck source=tests/lib.sh disable=SC2016,SC2317
. "$(dirname "$0")/../lib.sh"
need_tracing
version=$("$bpftrace" --version | sed -n 's/^bpftrace v\(0\.[0-9]*\).*/\1/p')
[ -n "$version" ] || skip_all "unknown version: $("$bpftrace" --version)"
dry=--dry-run
[ "${version#0.}" -ge 22 ] || dry=-d

# compiles PROGRAM: it does, in bpftrace
compiles() { guard "$bpftrace" --unsafe "$dry" -e "$1" >"$tmp/out" 2>&1; }
# is_there PROGRAM: btgen takes it for this version
is_there() { ! "$btgen" check --for "$version" -e "$1" 2>&1 | grep -q '\[version\]$'; }

# judge HEAD TAIL: of each line on stdin, the programs HEAD LINE TAIL. Those that are there are compiled as one.
judge() {
	local line all=''
	while read -r line; do
		[ "${version#0.}" -ge 23 ] || [ "$line" != 'print(len(ustack));' ] || continue # its len() is of maps: it says so
		if is_there "$1 $line $2"; then
			all+=" $line"
		else
			not_ok "bpftrace $version refuses, as btgen says: $line" compiles "$1 $line $2"
		fi
	done
	[ -z "$all" ] || ok "bpftrace $version has what btgen takes for its own" compiles "$1 ${all%"$last"} $2" || cat "$tmp/out" >&2
}
last=

judge 'BEGIN { @m[1] = 1;' 'exit(); }' <<'EOF2'
assert(1 == 1, "x");
if (is_array(1)) { print(1); }
if (is_err(curtask)) { print(1); }
if (is_integer(1)) { print(1); }
if (is_literal(1)) { print(1); }
if (is_ptr(1)) { print(1); }
if (is_str("x")) { print(1); }
if (is_unsigned_integer(1)) { print(1); }
if (kfunc_allowed("x")) { print(1); }
if (kfunc_exist("x")) { print(1); }
static_assert(1 == 1, "x");
assert_str("x");
check_key(@m, 1, "x");
print(signal_name(9));
print(str_concat("a", "b"));
print(strcontains("ab", "b"));
print(strlen("abc"));
print(strstr("abc", "b"));
print(strcap("abc"));
print(strerror(2));
print(syscall_name(1));
print(memcmp("ab", "ac", 1));
print(default_str_length);
print(has_cpid);
print(leader_comm);
print(leader_tid);
print(ncpus);
print(pcomm);
print(ppid);
print(probetype);
print(usermode);
print(jiffies);
print(config().max_strlen);
print(pid());
print(pid(curr_ns));
print(cpu());
print(comm());
print(nsecs());
print(nsecs(boot));
print(ustack(raw));
print(ustack(build_id));
print(len(ustack));
print(has_key(@m, 1));
delete(@m, 1);
errorf("%d", 1);
warnf("%d", 1);
$ip = pton("192.0.2.1");
$bytes = (uint8[4])(uint32)pid;
exit(3);
EOF2

echo 'int main(void) { return 0; }' >"$tmp/target.c"
gcc -o "$tmp/target" "$tmp/target.c" || exit 1
judge "uprobe:$tmp/target:main {" '}' <<'EOF2'
print(sarg0);
signal_thread("USR1");
EOF2

[ "${version#0.}" -ge 21 ] || last=';' # 0.20 takes no semicolon after the last setting
judge 'config = {' '} BEGIN { exit(); }' <<'EOF2'
cache_user_symbols = "NONE";
cpp_demangle = 1;
lazy_symbolication = 1;
license = "GPL";
log_size = 1000000;
max_map_keys = 10;
BPFTRACE_MAX_STRLEN = 10;
missing_probes = "warn";
on_stack_limit = 32;
perf_rb_pages = 64;
print_maps_on_exit = 1;
show_debug_info = 1;
unstable_macro = 1;
unstable_typeinfo = 1;
unstable_dw_ustack = 1;
use_blazesym = 1;
EOF2

last=

# What can be a key, bpftrace can print. (A signal that it sends to itself, 0.23 turns into a core dump.)
ulimit -c 0
runs() { guard "$bpftrace" -e "$1" >"$tmp/out" 2>&1; }
for key in 'strerror(2)' '1, strerror(2)' 'cgroup_path(cgroup)' '1, cgroup_path(cgroup)'; do
	script="BEGIN { @[$key] = 1; exit(); }"
	if is_there "$script"; then
		ok "bpftrace $version prints the key $key" runs "$script"
	else
		not_ok "bpftrace $version does not print the key $key, as btgen says" runs "$script"
	fi
done

# What bpftrace calls unsafe.
cat >"$tmp/ticks.c" <<'EOF2'
#include <signal.h>
#include <unistd.h>
#include <btgen/usdt.h>
enum color { RED = 1, GREEN = 5, BLUE = 9 };
struct job { int n; const char *argv[3]; enum color color; char letters[300]; };
static void stop(int signal) { _exit(write(1, "stopped\n", 8) != 8 || signal != SIGUSR1); }
int main(void)
{
	volatile struct job job = { -7, { "ls", "-l", 0 }, GREEN };
	volatile char c = *job.argv[0] + *job.argv[1]; // so that their pages are there
	for (int i = 0; i < 300; i++)
		job.letters[i] = 'a' + i % 26;
	signal(SIGUSR1, stop);
	for (;;) {
		USDT_PROBE(app, tick, &job, c);
		usleep(100000);
	}
}
EOF2
gcc -g -I"$top/include" -o "$tmp/ticks" "$tmp/ticks.c" || exit 1
script='usdt:__EXE__:app:tick { system("echo tick %d", 7); signal("USR1"); }'
out=$(guard "$btgen" run --bpftrace "$bpftrace" -c "$tmp/ticks" -e "$script" 2>&1)
like "$? $out" '^1 .*:25: error: system\(\) needs --unsafe' "system() needs --unsafe, and the error names it"
like "$out" ':52: error: signal\(\) needs --unsafe' "... as does signal()"
is "$(guard "$btgen" run -q --unsafe --bpftrace "$bpftrace" -c "$tmp/ticks" -e "$script" | grep . | sort)" \
	$'stopped\ntick 7' "with it the command runs, and the program gets the signal"
is "$("$btgen" run -n --bpftrace "$bpftrace" -x "$tmp/ticks" -e "$script" 2>&1 | grep -c unsafe)" 0 \
	"-n prints a program for bpftrace's own --unsafe"

[ "${version#0.}" -lt 25 ] ||
	is "$(guard "$btgen" run -q --unsafe --bpftrace "$bpftrace" -c "$tmp/ticks" -e "${script/signal(/signal_thread(}" | grep . | sort)" \
		$'stopped\ntick 7' "... or the thread does"

# What is done, or reported beside the data, once a clause.
log=/sys/kernel/tracing/trace
script='BEGIN { debugf("words %d", '$$'); } usdt:__EXE__:app:tick { printf("%d\n", cpid == pid); exit(); }'
is "$(guard "$btgen" run -q --bpftrace "$bpftrace" -c "$tmp/ticks" -e "$script" 2>&1 | grep .)" 1 "cpid is the PID of the program that -c starts"
if [ -e "$log" ]; then
	ok "debugf() writes to the kernel's log of a trace" grep -q "words $$" "$log"
else
	skip "debugf() writes to the kernel's log of a trace" "no tracefs here"
fi
if [ "${version#0.}" -ge 25 ]; then
	script='config = { unstable_tseries = "enable" }
BEGIN {
	let $r;
	@m[1] = 15;
	if (find(@m, 1, $r)) { printf("found %d\n", $r); }
	if (!find(@m, 2, $r)) { printf("not found\n"); }
	static_assert(sizeof(uint32) == 4, "size");
	assert(1 == 1, "never");
	warnf("warned %d", 7);
	errorf("wrong %d", 8);
	@last = tseries(5, 100s, 2); @last = tseries(7, 100s, 2);
	@sum = tseries(5, 100s, 2, "sum"); @sum = tseries(7, 100s, 2, "sum");
	clear(@m);
	assert(pid == 0, "this process");
	printf("after\n");
}'
	guard "$btgen" run --bpftrace "$bpftrace" -x "$tmp/ticks" -e "$script" >"$tmp/out" 2>"$tmp/err"
	is "$(grep -E '^@|found|after|[0-9] \|' "$tmp/out" | sed -E 's/^[0-9:.]+ .* //')" $'found 15\nnot found\n@last:\n7\n@sum:\n12' \
		"find() finds what is there, tseries() keeps the last value or the sum, and a failed assert() ends the clause"
	is "$(grep -oE '(warning|error): bpftrace: .*' "$tmp/err" | sort)" \
		$'error: bpftrace: assert failed: this process\nerror: bpftrace: wrong 8\nwarning: bpftrace: warned 7' "warnf(), errorf() and assert() report their text at their place"
	out=$(guard "$btgen" run -q --bpftrace "$bpftrace" -x "$tmp/ticks" -e 'BEGIN { static_assert(sizeof(uint32) == 5, "size"); fail("failed %d", 3); }' 2>&1)
	like "$out" ':1:9: error: bpftrace: size$' "static_assert() of what is false stops the script"
	like "$out" ': error: bpftrace: failed 3$' "... as does fail()"
fi

# What C takes, too.
# printed TEXT WANTED CLAIM: the body of a clause, of the first tick
printed() {
	is "$(guard "$btgen" run -q --bpftrace "$bpftrace" -c "$tmp/ticks" -e "usdt:__EXE__:app:tick { $1 exit(); }" 2>&1 | grep .)" "$2" "$3"
}
printed 'printf("%d\n", uptr(args.job)->n);' -7 "the result of uptr() can be followed"
printed '$job = uptr(args.job); printf("%d\n", $job->n);' -7 "... out of a variable"
printed 'join(args.job->argv, "+");' 'ls+-l' "join() takes an array of strings"
printed 'printf("%s %s\n", str(curtask->comm), str(curtask->group_leader->comm));' "ticks ticks" "str() takes a char array of the kernel's"
script='usdt:__EXE__:app:tick { printf("%s\n", args.job->n < 0 ? curtask->comm : "no"); @l = lhist(5, 25 - 25, 10 * 10, 25 + 25 - 40); exit(); }'
out=$(guard "$btgen" run -q --bpftrace "$bpftrace" -c "$tmp/ticks" -e "$script" 2>&1)
like "$out" '^ticks$' "one of two texts may be the command's name"
like "$out" '^\[0, 10\) +1 \|' "lhist() takes constant expressions"
letters=$(printf 'abcdefghijklmnopqrstuvwxyz%.0s' {1..9})
length=220
case ${version#0.} in # as the warning says
17 | 20 | 22) length=200 ;;
21) length=146 ;;
esac
printed 'printf("%r\n", buf(args.job->letters, 220));' "${letters:0:$length}" "buf() reads a part of a large array"
printed '@one[args.job->color] = 1; delete(@one[BLUE]); @two[5] = 2; @two[args.job->color] = 3;' $'@one[GREEN]: 1\n@two[GREEN]: 3' \
	"keys of an enum keep their names beside keys that are written out"
printed '@one = 0; @one = args.job->color;' '@one: GREEN' "... and so does a value"
[ "${version#0.}" -lt 22 ] || # a loop of 0.21 sees nothing of its clause, and bpftrace says so
	printed '@m[1] = 2; for ($kv : @m) { printf("%d %d %d\n", $kv.0, args.job->n, args.c); }' $'1 -7 -103\n@m[1]: 2' \
		"a loop over a map reads arguments"

is "$(guard "$btgen" run -q --bpftrace "$bpftrace" -x "$tmp/ticks" -e 'BEGIN { $a = true; @m = false; printf("%d %d %d\n", $a, !true, 3 > 2 == true); @k[true] = 2; exit(); }' 2>&1 |
	grep . | sort)" $'1 0 1\n@k[1]: 2\n@m: 0' "true and false are 1 and 0"

# Scripts that each begin with definitions and settings
printf 'struct one { int n; };\nBEGIN { printf("%%d\\n", sizeof(struct one)); }\n' >"$tmp/one.bt"
{
	[ "${version#0.}" -lt 20 ] || echo 'config = { max_map_keys = 8 }'
	printf 'BEGIN { printf("%%d\\n", 2); exit(); }\n'
} >"$tmp/two.bt"
is "$(guard "$btgen" run -q --bpftrace "$bpftrace" -x "$tmp/ticks" "$tmp/one.bt" "$tmp/two.bt" 2>&1 | grep .)" $'4\n2' \
	"the second of two scripts may begin with a config block"
printf 'struct two { char c; };\nBEGIN { printf("%%d\\n", sizeof(struct two)); exit(); }\n' >"$tmp/two.bt"
is "$(guard "$btgen" run -q --bpftrace "$bpftrace" -x "$tmp/ticks" "$tmp/one.bt" "$tmp/two.bt" 2>&1 | grep .)" $'4\n1' \
	"... or with a struct"
done_testing
