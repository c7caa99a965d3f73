#!/usr/bin/env bash
# The options of all commands: help that fits a terminal, a long form of each letter, one meaning of each letter.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
sh=$top/scripts/bpftrace.sh
unset BPF_OUTFILE ECHO_PROGRAM USE_CMDLINE_BPF_PROGRAM

commands=$("$btgen" --help | sed -nE 's/^  ([a-z]+) .*/\1/p')
for command in $commands; do
	"$btgen" "$command" --help >"$tmp/help.$command"
done
is "$(awk 'length > 80 { print FILENAME, $0 }' "$tmp"/help.*)" "" "--help of each command has 80 columns"
"$sh" -h >"$tmp/short"
is "$(awk 'length > 80' "$tmp/short") $((24 > $(wc -l <"$tmp/short")))" " 1" "bpftrace.sh -h fits a terminal of 24 lines, with a prompt"
is "$("$sh" -L | awk 'length > 80')" "" "bpftrace.sh -L has 80 columns"
is "$("$sh" --help)" "$(cat "$tmp/help.run")" "btgen run is bpftrace.sh"
is "$(grep -vxFf "$tmp/help.run" "$tmp/short" | grep .)" "" "what -h shows is what --help says"

is "$(grep -hE '^  -[A-Za-z]( |$)' "$tmp"/help.* | sed 's/  *[a-z].*//' | sort -u)" "  -h SCRIPT" "each letter has a long form"
is "$(sed -nE 's/^  -([A-Za-z]), --([a-z-]+).*/\1 \2/p' "$tmp"/help.* | sort -u | awk '{ print $1 }' | uniq -d)" "" \
	"which is the same in every command"

# The same line, with letters and in words.
text='usdt:__EXE__:spdk:nvmf_tgt_state { printf("%d %s\n", N, "$1"); }'
short=$("$sh" -n -q -x "$targets/nvmf_tgt" -D N=5 -I "$tmp" -W no-dead-probe -e "$text" 2>&1)
like "$short" '5, "' "letters"
is "$("$sh" --no-run --quiet --exe "$targets/nvmf_tgt" --define=N=5 --include "$tmp" --warn no-dead-probe --text "$text" 2>&1)" "$short" "long forms"
is "$("$sh" -nqx"$targets/nvmf_tgt" -DN=5 -I"$tmp" -Wno-dead-probe -e"$text" 2>&1)" "$short" "letters with their values behind them"
is "$("$btgen" run -n -q -x "$targets/nvmf_tgt" -D N=5 -I "$tmp" -W no-dead-probe -e "$text" 2>&1)" "$short" "btgen run"
is "$("$sh" --scripts)" "$("$sh" -L)" "--scripts"
is "$("$sh" --list "$targets/nvmf_tgt" nvmf_tgt_state)" "usdt:$("$btgen" probes -x "$targets/nvmf_tgt" nvmf_tgt_state)" "--list"
is "$("$sh" -l --json -x "$targets/nvmf_tgt" nvmf_tgt_state)" "$("$btgen" probes --json -x "$targets/nvmf_tgt" nvmf_tgt_state)" "... of -x"
for pair in "-T --duration" "-N --events" "-f --format"; do
	is "$("$sh" "${pair#* }" x nvmf.bt 2>&1)" "$("$sh" "${pair% *}" x nvmf.bt 2>&1)" "${pair#* } is read as ${pair% *}"
done

sleep 1000 &
pid=$!
own $pid
for who in "$pid" "-p $pid" "--pid=$pid" "-p$pid"; do
	# shellcheck disable=SC2086
	is "$("$sh" -n $who -e 'BEGIN { print(__PID__); }' 2>/dev/null)" "BEGIN { print($pid); }" "a process: ${who/$pid/PID}"
done
sleep 1000 &
own $!
both=$("$sh" -n $pid $! files 2>&1)
like "$both" "$pid.*$!|$!.*$pid" "two processes"
is "$("$sh" -n -p "$pid $!" files 2>&1)" "$both" "... with -p, as pidof prints them"
is "$("$sh" -n "$pid,$!" files 2>&1)" "$both" "... with a comma"

is "$(ECHO_PROGRAM='' BPF_OUTFILE='' "$sh" -n -e 'BEGIN { }')" "$("$sh" -n -e 'BEGIN { }')" "variables that are empty are not set"
is "$(USE_CMDLINE_BPF_PROGRAM=1 "$sh" -n 'BEGIN { __X__ }')" "BEGIN { __X__ }" "USE_CMDLINE_BPF_PROGRAM: a finished program"

"$btgen" prboes 2>"$tmp/err"
is "$? $(head -n 1 "$tmp/err")" "2 btgen: unknown command 'prboes', did you mean 'probes'?" "a misspelt command"
"$btgen" types --asert 2>"$tmp/err"
is "$? $(head -n 1 "$tmp/err")" "2 btgen types: unknown option '--asert', did you mean '--assert'?" "a misspelt option of btgen's"
if can_trace; then
	"$sh" -q -c "$btgen types" -e 'BEGIN { }' >"$tmp/out" 2>&1
	like "$(cat "$tmp/out")" '^btgen types: give' "a btgen in the command that is traced speaks for itself"
else
	skip_tracing "a btgen in the command that is traced speaks for itself"
fi
done_testing
