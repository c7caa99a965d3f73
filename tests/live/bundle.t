#!/usr/bin/env bash
# btgen bundle: with bpftrace alone a bundled script prints what it prints under bpftrace.sh, and refuses another build.
# shellcheck source=tests/lib.sh
[ -e /sys/kernel/tracing/available_events ] || [ -n "${BTGEN_IN_TRACEFS-}" ] ||
	exec "$(dirname "$0")/../matrix/tracefs.sh" "$0" "$@"
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"
# shellcheck source=tests/equal.sh
. "$(dirname "$0")/../equal.sh"
# shellcheck source=tests/postgresql.sh
. "$(dirname "$0")/../postgresql.sh"
version=$equal_version

# both FILE ARG...: bpftrace.sh and bare bpftrace with the bundle, of the script that ARG... are, for every process of FILE
both() {
	local file=$1
	shift
	"$btgen" bundle --for "$version" -x "$file" -o "$tmp/bundle.sh" "$@" || return 1
	live_trace -x "$file" "$@" || return 1
	bare_start env BPFTRACE="$bpftrace" sh "$tmp/bundle.sh"
}
same() {
	bare_end
	live_wait INT
	"$top/tests/equal.py" "${@:2}" "$tmp/trace" "$tmp/bare" >"$tmp/difference"
	tap_result $? "$1: $(head -n 1 "$tmp/difference")" || sed 's/^/#   /' "$tmp/bare-said"
	sed '1d; s/^/#   /' "$tmp/difference"
	is "$live_rc $bare_rc" "0 0" "$1: both end with status 0"
}

# Structs and enums; another build has others.
cat >"$tmp/app.c" <<'END'
#include <btgen/usdt.h>
#include <unistd.h>
enum state { FIRST IDLE, RUNNING };
struct request { MORE int id; enum state state; char name[8]; };
static __attribute__((noinline)) int answer(char c) { return (int)write(1, &c, 1); }
int main(void)
{
	struct request r = {.state = RUNNING, .name = "widget"};
	enum state next = IDLE;
	char c;
	while (read(0, &c, 1) == 1) {
		r.id = c;
		USDT_PROBE(app, hit, (struct request *)&r, next);
		if (answer(c) != 1)
			return 1;
	}
	return 0;
}
END
gcc -O1 -g -I"$top/include" -DFIRST= -DMORE= -o "$tmp/build1" "$tmp/app.c" &&
	gcc -O1 -g -I"$top/include" -DFIRST='NONE, ' -DMORE='long pad;' -o "$tmp/build2" "$tmp/app.c" || exit 1
cp "$tmp/build1" "$tmp/app"
cat >"$tmp/app.bt" <<'END'
usdt:__EXE__:hit
/args.r->id > 65/
{
	printf("%c %s %s %s\n", args.r->id, enum_name(state, args.r->state), enum_name(state, args.next), args.r->name);
	@n[args.r->id] = count();
}
END
live_start "$tmp/app"
ok "structs and enums: both attach" both "$tmp/app" "$tmp/app.bt"
printf ABCB >&8
wait_for eval '[ "$(wc -c <"$tmp/answers")" = 4 ]'
wait_for grep -q '^C' "$tmp/trace"
same "structs and enums"
is "$(grep -c 'RUNNING IDLE widget' "$tmp/bare")" 3 "names and layouts are in the bundle"
exec 8>&-
wait_end "$live_pid"

rm "$tmp/app"
cp "$tmp/build2" "$tmp/app"
id=$(readelf -n "$tmp/build1" | sed -n 's/.*Build ID: //p')
is "$(BPFTRACE=$bpftrace sh "$tmp/bundle.sh" 2>&1; echo $?)" \
	"error: $tmp/app is not the build that this script is for (build ID $id)
1" "another build is refused"
rm "$tmp/app"
is "$(BPFTRACE=$bpftrace sh "$tmp/bundle.sh" 2>&1; echo $?)" "error: there is no $tmp/app here
1" "so is none"
cp "$tmp/build1" "$tmp/app"
strip -o "$tmp/app" "$tmp/build1"
"$btgen" bundle -x "$tmp/build1" --at "$tmp/app" --for "$version" -e 'uprobe:__EXE__:answer { @ = count(); }' -o "$tmp/answer.sh"
like "$(BPFTRACE=$bpftrace guard sh "$tmp/answer.sh" 2>&1)" "^warning: $tmp/app is stripped: without a debug file it has no function answer\$" "of a stripped one it is said which function is gone"
rm "$tmp/app"
cp "$tmp/build1" "$tmp/app"
unlike "$(BPFTRACE=/bin/false sh "$tmp/answer.sh" 2>&1)" "warning" "... and of no other"
live_start "$tmp/app"
rm "$tmp/app"
cp "$tmp/build1" "$tmp/app"
is "$(BPFTRACE=$bpftrace sh "$tmp/bundle.sh" -p "$live_pid" 2>&1; echo $?)" "error: process $live_pid runs a $tmp/app that has been replaced: restart it
1" "a process whose file has been replaced, which would be traced in vain"
exec 8>&-
wait_end "$live_pid"
printf '#!/bin/sh\necho bpftrace v0.99.1\n' >"$tmp/other"
chmod +x "$tmp/other"
is "$(BPFTRACE=$tmp/other sh "$tmp/bundle.sh" 2>&1; echo $?)" "error: bpftrace v0.99.1: this is for bpftrace $version
1" "and another bpftrace"
is "$(cd "$tmp" && BPFTRACE=$bpftrace sh -s -- -h <"$tmp/bundle.sh" 2>&1 | grep -ci usage)" 1 "it comes through a pipe, too, with options"

gcc -O1 -g -Wl,--build-id=none -I"$top/include" -DFIRST= -DMORE= -o "$tmp/none" "$tmp/app.c"
like "$("$btgen" bundle -x "$tmp/none" "$tmp/app.bt" 2>&1)" '^btgen: error: .*/none has no build ID' "no build-id"
like "$("$btgen" bundle "$tmp/app.bt" 2>&1)" '^btgen bundle: give the program to trace: -x FILE$' "no program"
like "$("$btgen" bundle -x "$tmp/app" -e 'usdt:__EXE__:hit /pid == __PID__/ { exit(); }' 2>&1)" '__PID__ needs a process' "a script for one process"

if readelf -n "$targets/nvmf_tgt" 2>/dev/null | grep -q 'Provider: spdk'; then
	sed 's/uuid:[-0-9a-f]*/host/' "$targets/tour.txt" >"$tmp/tour.txt" # 64 characters are what 0.17 has room for
	cp "$targets/nvmf_tgt" "$tmp/nvmf_tgt"
	live_start "$(command -v taskset)" -c "$(sed -n 's/^Cpus_allowed_list:\s*\([0-9]*\).*/\1/p' /proc/self/status)" \
		"$tmp/nvmf_tgt" -m 0xC --wait --interrupt-mode --log "$tmp/log"
	wait_for grep -q waiting "$tmp/answers"
	ok "nvmf.bt: both attach" both "$tmp/nvmf_tgt" -D QPAIRS nvmf.bt
	live_say start
	cat "$targets/tour.txt" >&8
	# bpftrace finds no function's name in a process that has ended.
	wait_for are_idle "$live_pid" "$live_bare"
	wait_for live_still
	live_quit
	same nvmf.bt
else
	skip "nvmf.bt" "built with --without-usdt"
fi

# Other servers of this program may run: what this one is told has a mark.
postgresql_start query__start
ok "postgresql.bt: both attach" both "$pg_bin/postgres" postgresql.bt
for i in {1..5}; do sql -c "SELECT 'bundle-$$ $i'" -c "SELECT 'bundle-$$' || $i / 0" >/dev/null 2>&1; done
wait_for eval '[ "$(grep -c "bundle-$$" "$tmp/trace")" = 10 ]'
bare_end
live_wait INT
statements() { sed -nE "s/^[0-9.]+: (backend [0-9]+) +[0-9.]+ ms +/\1 /; /bundle-$$/p" "$1"; }
is "$(statements "$tmp/trace" | wc -l) $(statements "$tmp/bare")" "10 $(statements "$tmp/trace")" "postgresql.bt: each statement, with which failed"
postgresql_stop
done_testing
