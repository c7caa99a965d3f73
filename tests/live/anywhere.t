#!/usr/bin/env bash
# A sample of all live tests, at most a few claims of each group in README.md, in few runs of bpftrace. tests/vm/anywhere.t runs it in
# an emulated machine, which has no compiler, but the program built beside it.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"
# shellcheck source=tests/equal.sh
. "$(dirname "$0")/../equal.sh"
app=$tmp/sample-$$ # a name that no other process has
cp "$top/tests/live/anywhere" "$app" 2>/dev/null ||
	gcc -O1 -g -fno-omit-frame-pointer -I"$top/include" -o "$app" "$top/tests/live/anywhere.c" || exit 1

# work LINES ARG...: 20 operations of the program under a trace, which ^C ends when it has printed that many lines. (What else waits for
# idle processes, such as live_still, never ends in an emulated machine that is short of time: they are seldom seen idle.)
work() {
	local lines=$1
	shift
	ok "$*: it attaches" live_trace "$@" || return
	: >"$tmp/answers"
	live_say ''
	wait_for grep -q '^done' "$tmp/answers"
	wait_for has_lines "$lines"
	live_wait INT
	is "$live_rc" 0 "^C is status 0"
}
has_lines() { [ "$(grep -c . "$tmp/trace")" -ge "$1" ]; }
# log AWK-EXPRESSION: of what the program printed about each operation: $2 its number, $3 kind, $4 name, $5 change, $6 result
log() { tr -d '\0' <"$tmp/answers" | awk -F'\t' "/^op/ { print $1 }"; }
# counted: the lines of stdin, each once, with their number as bpftrace prints a map @NAME
counted() { LC_ALL=C sort | uniq -c | sed -E "s/^ *([0-9]+) (.*)/@$1[\2]: \1/" | LC_ALL=C sort; }
maps() { grep "^@$1\[" "$tmp/trace" | LC_ALL=C sort; }

# --- scripts for SPDK; enumerators and structs by name

live_nvmf nvmf_tgt
ok "nvmf.bt attaches" live_trace $live_pid nvmf.bt
live_say start
cat "$targets/cnode1.txt" >&8
wait_for eval '[ "$(grep -c "^ok" "$tmp/answers")" -ge 6 ]'
live_quit
live_wait
is "$(grep -v '^$' "$tmp/trace" | sed -E 's/^[0-9]+\.[0-9]{6}: //' | sort)" "$(python3 "$top/tests/live/nvmf_lines.py" "$tmp/log" lines | sort)" \
	"nvmf.bt: each event once, with the values that the program passed"

# --- -t, arguments, functions, JSON

live_start "$app"
work 41 -f json -t op_start -t uprobe:serve "$live_pid"
log '$2, $3, $4' >"$tmp/want"
python3 - "$tmp/trace" >"$tmp/got" <<'END'
import json, sys
capture, *events = map(json.loads, open(sys.argv[1]))
print(len({(e["pid"], e["comm"]) for e in events}), sum(e["probe"] == "uprobe:serve" for e in events), "capture" in capture)
for e in events:
    if e["probe"] == "app:op_start":
        print(e["fields"]["id"], e["fields"]["kind"]["name"], e["fields"]["name"])
END
is "$(cat "$tmp/got")" "1 20 True
$(cat "$tmp/want")" "-t -f json: each event of the program and of its function, in order, enumerators by name, texts as they are"

# --- clauses, numbers, variables, maps at ^C; -s, and a file for the data

cat >"$tmp/script.bt" <<'END'
usdt:__EXE__:app:op_start
{
	@kinds[args.kind] = count();
	if (args.kind == KIND_FLUSH) {
		printf("%d %s %s\n", args.id, args.kind, str(args.name));
	}
}
uprobe:__EXE__:serve { @half[args.op->id] = args.op->change / 2; }
uretprobe:__EXE__:serve { @result[(int32)retval] = count(); }
END
work 6 -s "$live_pid" "$tmp/script.bt"
is "$(grep 'op_start: ' "$tmp/trace" | sed -E 's/^.* app:op_start: //')" "$(log '$2, $3, $4' | grep KIND_FLUSH)" "-s: a condition of enumerators; the lines in order"
ok "... by time" sort -c -k 1,1 <(grep 'op_start: ' "$tmp/trace")
is "$(maps kinds)" "$(log '$3' | counted kinds)" "^C prints maps: keys are enumerators, counts are exact"
is "$(maps half)" "$(log '"@half[" $2 "]: " $6' | LC_ALL=C sort)" "division of negative members of a struct: as in C"
is "$(maps result)" "$(log '$6' | counted result)" "... and what the function returned"

# --- --latency, --calls

work 0 --latency op_start op_done --key id "$live_pid"
like "$(cat "$tmp/trace")" '^@us: count 20, p50 [0-9]' "--latency: a time of each pair"
work 21 --calls serve --args "$live_pid"
is "$(sed -nE 's/.*serve\(op=0x[0-9a-f]+\) = (-?[0-9]+);$/\1/p' "$tmp/trace")" "$(log '$6')" "--calls: each call in order, with its result"

# --- loss: the tracer stands still while more happens than it can keep

export BPFTRACE_PERF_RB_PAGES=64
ok "a flood: it attaches" live_trace "$live_pid" -e 'usdt:__EXE__:app:flood { printf("flood %d\n", args.arg0); @fired = count(); }'
read -r tracer _ <"/proc/$live_tracer/task/$live_tracer/children"
kill -STOP "$tracer"
: >"$tmp/answers"
live_say "flood 20000"
wait_for grep -q 'done' "$tmp/answers"
kill -CONT "$tracer"
wait_for has_lines 100
live_wait INT
unset BPFTRACE_PERF_RB_PAGES
lost=$(sed -nE 's/.*warning: ([0-9]+) of 20000 events were lost.*/\1/p' "$tmp/messages")
is "$(grep '^@fired' "$tmp/trace") $((lost > 0)) $(($(grep -c '^flood' "$tmp/trace") + lost))" "@fired: 20000 1 20000" "some were lost: as many as the warning says"

# --- the C library, and any program: malloc.bt as bare bpftrace prints it; system calls of a process by its name

live_quit
equal_start "$app"
equal_watch malloc malloc.bt
ok "malloc.bt attaches twice, under bare bpftrace, too" equal_attached
live_say ''
wait_for grep -q '^done' "$tmp/answers"
live_quit
equal_end target
equal_is malloc
is "$(grep '^@allocated.malloc' "$tmp/malloc.ours")" "@allocated[malloc]: 100000" "malloc.bt: 20 blocks of 5000 bytes"
live_start "$app"
work 0 -e 'tracepoint:raw_syscalls:sys_enter /pid == __PID__ && args.id == 1/ { @writes = count(); }' "${app##*/}"
is "$(grep . "$tmp/trace")" "@writes: 1" "a process by its name: its system calls"

# --- how a trace ends, and what it does not begin

ok "-N 3 attaches" live_trace -N 3 -t op_done "$live_pid"
live_say ''
live_wait
is "$live_rc $(grep -c 'app:op_done id=10[012] ' "$tmp/trace")" "0 3" "-N 3: three lines, and status 0"
out=$("$live_sh" -e 'usdt:__EXE__:app:op_strat { }' "$live_pid" 2>&1)
like "$? $out" "^1 .*error: .*op_strat" "a name that no probe has is an error"
like "$out" "op_start" "... which names the one that was meant"
out=$(python3 -c 'import os, sys; os.setgroups([]); os.setuid(65534); os.execv(sys.argv[1], sys.argv[1:])' "$btgen" run -e 'BEGIN { exit() }' 2>&1)
like "$? $out" "^[1-9][0-9]* .*root" "without rights: an error that names root"

# --- the commands of the documents

is "$("$live_sh" -l "$live_pid" 'op_start')" "$app: 1 probe
usdt:app:op_start(long int id, enum kind kind, const char *name)" "-l: a probe with the types of its arguments"
is "$("$live_sh" -n -e 'BEGIN { print(__BPFTRACE__); }')" "BEGIN { print(${equal_version#0.}); }" "the version of bpftrace"
live_quit
done_testing
