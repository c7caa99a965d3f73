#!/usr/bin/env bash
# What btgen takes for granted about bpftrace: a version that behaves differently fails here first.
#
# The target is built here from <sys/sdt.h> (systemtap's, not ours), so that only bpftrace is under test.
# shellcheck source=tests/lib.sh disable=SC2034,SC2016,SC2317
. "$(dirname "$0")/../lib.sh"
need_tracing
echo '#include <sys/sdt.h>' | "${CC:-cc}" -E - >/dev/null 2>&1 || skip_all "needs sys/sdt.h (systemtap-sdt-dev)"

version=$("$bpftrace" --version | sed -n 's/^bpftrace v0\.\([0-9]*\).*/\1/p')
[ -n "$version" ] || skip_all "unknown version: $("$bpftrace" --version)"

# One round of probes for each byte on standard input: the test decides when.
cat >"$tmp/lib.c" <<'EOF2'
#include <sys/sdt.h>
void lib_round(long n) { DTRACE_PROBE1(dialect, lib, n); }
EOF2
cat >"$tmp/target.c" <<'EOF2'
#include <stdio.h>
#include <string.h>
#include <sys/sdt.h>
#include <unistd.h>
void lib_round(long n);
struct inner { char pad[3]; int value; };
static struct thing { char c; struct inner in; char name[300]; } thing = { 'c', { "", -7 }, "" };
static char words[4][5000];
__attribute__((noinline)) void site1(int a, int b) { DTRACE_PROBE2(dialect, sites, a, b); }
__attribute__((noinline)) void site2(struct inner *in) { DTRACE_PROBE2(dialect, sites, in->value, 5); }
int main(void)
{
	char c;
	long n = 0;
	memset(thing.name, 'n', sizeof(thing.name) - 1);
	for (int i = 0; i < 4; i++)
		memset(words[i], 'a' + i, sizeof(words[i]) - 1);
	while (read(0, &c, 1) == 1) {
		n++;
		DTRACE_PROBE3(dialect, round, n, (int)-n, &thing);
		DTRACE_PROBE4(dialect, words, words[0], words[1], words[2], words[3]);
		site1(1, -2);
		site2(&thing.in);
		lib_round(n);
		dprintf(1, "round %ld\n", n);
	}
	return 3;
}
EOF2
(
	cd "$tmp" &&
		"${CC:-cc}" -O2 -g -shared -fPIC -o libdialect.so lib.c &&
		"${CC:-cc}" -O2 -g -o target target.c -L. -ldialect -Wl,-rpath,"$tmp"
) || skip_all "the target cannot be built"

# start NAME: a target that listens to descriptor $fire
start() {
	rm -f "$tmp/fifo"
	mkfifo "$tmp/fifo"
	rm -f "$tmp/rounds"
	"$1" <"$tmp/fifo" >"$tmp/rounds" &
	target=$!
	own $target
	exec {fire}>"$tmp/fifo"
	wait_for grep -qs libdialect "/proc/$target/maps" || skip_all "the target does not start"
}

# fire N: so many rounds more, until they are over
fire() {
	local rounds
	rounds=$(($(wc -l <"$tmp/rounds") + $1))
	printf '%*s' "$1" '' >&"$fire"
	wait_for grep -qx "round $rounds" "$tmp/rounds"
}

# bt TEXT [OPTION...]: runs a program from a file; its exit status in $rc, its streams in $out and $err
bt() {
	printf '%s\n' "$1" >"$tmp/prog.bt"
	shift
	guard "$bpftrace" -q "$@" "$tmp/prog.bt" >"$tmp/out" 2>"$tmp/err" </dev/null
	rc=$?
	out=$(cat "$tmp/out") err=$(cat "$tmp/err")
}

# The numbers of epoll_wait and epoll_pwait (asm/unistd.h); the register of a second argument.
case $(uname -m) in
x86_64) epoll='^(232|281) ' second=si ;;
*) epoll='^22 ' second=r1 ;;
esac

ended() { [ ! -e "/proc/$tracer/stat" ]; }
said() { grep -qs "$1" "$tmp/out"; }

# attach TEXT [OPTION...]: starts it in the background, waits until its BEGIN line "ready" is out
attach() {
	printf '%s\n' "$1" 'BEGIN { printf("ready\n"); }' >"$tmp/prog.bt"
	shift
	# without our end of the fifo: the target is to see its end when we close it
	rm -f "$tmp/out" # an old "ready" must not be taken for the new one
	"$bpftrace" -q "$@" "$tmp/prog.bt" >"$tmp/out" 2>"$tmp/err" </dev/null {fire}>&- &
	tracer=$!
	own $tracer
	if ! wait_for said '^ready'; then
		printf '# bpftrace did not start:\n'
		sed 's/^/#   /' "$tmp/err"
		return 1
	fi
}

# detach: stops it as `btgen run` does; $rc, $out (without blank lines and "ready"), $err
detach() {
	kill -INT $tracer
	until ended || { sleep 0.5; ended; }; do
		kill -STOP $tracer # 0.17 misses a signal that comes between two waits; this ends its wait
		kill -CONT $tracer
	done 2>/dev/null
	wait $tracer
	rc=$?
	out=$(grep -vE '^(ready)?$' "$tmp/out") err=$(cat "$tmp/err")
}

bt 'BEGIN { printf("%s %ld %lx\n", "hello", -42, 255); exit(); }'
is "$(sed '/^$/d' <<<"$out")" "hello -42 ff" "with -q, standard output holds what the program prints, and blank lines"
is "$rc" 0 "exit() in BEGIN is status 0"

# A program without a name in the file system, and where its errors are said to be.
exec {fd}<<<'BEGIN
{
	$a = 1;	foo($a);
}'
err=$("$bpftrace" "/proc/self/fd/$fd" 2>&1 >/dev/null)
like "$err" "^/proc/self/fd/$fd:3:10-" "an inherited descriptor is accepted as a file; errors are LINE:COLUMN, a tab is one column"
exec {fd}<&-
bt '// not counted
struct s {
	int a;
	nosuch_t b;
};
BEGIN { exit(); }'
like "$err" '^definitions\.h:4:2: error: unknown type name' \
	"lines of C errors count in the extracted definitions, after one of bpftrace's own"
not_ok "a C error is not status 0" test "$rc" = 0

# Attach points. Each round prints n once: twice attached would be seen.
start "$tmp/target"
map=$(awk '/libdialect/ && $2 ~ /x/ { print $1 }' "/proc/$target/maps")
twice='round { printf("r%ld\n", arg0); } END { printf("end\n"); }'
once() {
	local how=$1
	shift
	attach "$@" || return
	fire 3
	wait_for said '^r3' # a signal while it reads would make it forget the rest
	detach
	is "$out" "$(printf 'r1\nr2\nr3\nend')" "$how: each event exactly once"
	exec {fire}>&-
	wait "$target" 2>/dev/null
}
once "-p with /proc/PID/root/PATH" "usdt:\"/proc/$target/root$tmp/target\":dialect:$twice" -p "$target"
start "$tmp/target"
once "/proc/PID/exe without -p" "usdt:\"/proc/$target/exe\":dialect:$twice"
cp "$tmp/target" "$tmp/deleted"
start "$tmp/deleted"
rm "$tmp/deleted"
once "a deleted executable, /proc/PID/exe without -p" "usdt:\"/proc/$target/exe\":dialect:$twice"
start "$tmp/target"
map=$(awk '/libdialect/ && $2 ~ /x/ { print $1; exit }' "/proc/$target/maps")
once "a library, /proc/PID/map_files/A-B without -p" \
	"usdt:\"/proc/$target/map_files/$map\":dialect:lib { printf(\"r%ld\n\", arg0); } END { printf(\"end\n\"); }"

# Values, in one program: layout, strings, signs, sites, a site by address.
start "$tmp/target"
site=$(readelf -n "$tmp/target" | awk '/Name: sites/ { getline; sub(/,/, "", $2); print $2; exit }')
attach "#pragma pack(push,1)
struct thing { char _p0[8]; int value; char _p1[300]; };
#pragma pack(pop)
usdt:\"/proc/$target/exe\":dialect:round {
	printf(\"member %d\n\", ((struct thing *)arg2)->value);
	printf(\"array %s\n\", str((uint64)arg2 + 12, 10));
	printf(\"sign %ld %d\n\", (int64)(int32)arg1, (int64)(int32)arg1 < 0);
	@hits = count();
}
usdt:\"/proc/$target/exe\":dialect:sites { printf(\"sites %ld %ld\n\", (int64)(int32)arg0, (int64)(int32)arg1); }
uprobe:\"/proc/$target/exe\":$site /pid == $target/ { printf(\"address %ld\n\", (int64)(int32)reg(\"$second\")); }
uprobe:\"/proc/$target/exe\":site1 /pid != $target/ { printf(\"another process\n\"); }
END { printf(\"end\n\"); }"
# Where it waits first from then on: while it attaches, that would be in another call.
until now=$(cat "/proc/$tracer/syscall") && [ "$now" != running ]; do nap 0.001; done
like "$now" "$epoll" "when text of BEGIN is out, the main thread waits in epoll_wait: it is attached"
fire 1
wait_for said '^address'
detach
like "$out" '^member -7$' "packed definitions with explicit padding give the compiler's layout"
n=10
[ "$version" -lt 23 ] || n=9
like "$out" "^array $(printf 'n%.0s' $(seq $n))\$" "str(address, 10) reads an array of any size: 10 characters, 9 from 0.23"
like "$out" '^sign -1 1$' "(int64)(int32)argN keeps its sign"
is "$(grep sites <<<"$out" | tr '\n' ' ')" "sites 1 -2 sites -7 5 " "each site of a probe is read by its own operands"
like "$out" '^address -2$' "uprobe:FILE:ADDRESS attaches to a probe's site, reg() reads its operand"
is "$(tail -n 2 <<<"$out")" "$(printf 'end\n@hits: 1')" "an interrupt runs END, then prints the maps"
is "$rc" 0 "an interrupt is status 0"

# Strings as long as the version allows, four in one printf.
max=4095
[ "$version" -ge 23 ] || max=95
[ "$version" -ne 21 ] || max=71
strlen=BPFTRACE_MAX_STRLEN
[ "$version" -ge 20 ] || strlen=BPFTRACE_STRLEN
export "$strlen=$((max + 1))" BPFTRACE_STR_TRUNC_TRAILER=''
attach "usdt:\"/proc/$target/exe\":dialect:words { printf(\"%s|%s|%s|%s\n\", str(arg0), str(arg1), str(arg2), str(arg3)); } END { printf(\"end\n\"); }"
fire 1
wait_for said '^aaa'
detach
is "$(awk -F'|' '/^aaa/ { print length($1), length($2), length($3), length($4) }' <<<"$out")" "$max $max $max $max" \
	"four strings of the longest size in one printf: 95 characters on 0.17 and 0.20, 4095 from 0.23"
unset $strlen BPFTRACE_STR_TRUNC_TRAILER

# Times: what btgen-template(5) says of them.
bt 'BEGIN { $t = nsecs; printf("%d %d\n", ($t - nsecs) < 0, $t < nsecs); exit(); }'
case $version in
24 | 25 | 26) signed='[01]' ;; # nobody has asked them
*) signed=$((version >= 27)) ;;
esac
like "$out" "^$signed 1$" "the difference of two times is unsigned up to 0.23, signed in 0.27; they compare alike in each"

# Names of enumerators.
if [ "$version" -ge 23 ]; then
	bt 'enum e { ZERO, TWO = 2, NEG = -1 };
BEGIN { $a = (int64)2; $b = (int64)-1; $c = (int64)9;
printf("%s %s %s %s\n", (enum e)0, (enum e)$a, (enum e)$b, (enum e)$c); exit(); }'
	is "$(sed '/^$/d' <<<"$out")" "ZERO TWO NEG 9" "from 0.23, %s of a cast to an enum is the name, or the number when there is none"
else
	bt 'BEGIN { @t[0] = "ZERO"; @t[2] = "TWO"; $a = (int64)2; $b = (int64)9; $c = (int64)-1;
printf("%s%.0ld %s%.0ld %s%.0ld\n", @t[$a], @t[$a] == "" ? $a : 0, @t[$b], @t[$b] == "" ? $b : 0, @t[$c], @t[$c] == "" ? $c : 0);
clear(@t); exit(); }'
	is "$(sed '/^$/d' <<<"$out")" "TWO 9 -1" "before 0.23, %s%.0ld prints a table's name, or the number when there is none"
fi

# The end of the target.
attach "usdt:\"/proc/$target/root$tmp/target\":dialect:round { @n = count(); } END { printf(\"end\n\"); }" -p "$target"
fire 2
exec {fire}>&-
wait $tracer
is "$? $(grep -vE '^(ready)?$' "$tmp/out" | tr '\n' ' ')" "0 end @n: 2 " "with -p, the target's end is the trace's: END, the maps, status 0"
done_testing
