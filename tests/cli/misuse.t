#!/usr/bin/env bash
# Options that contradict each other, or that a command would ignore, and empty words: an error of one line, with its status.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
unset BPF_OUTFILE ECHO_PROGRAM USE_CMDLINE_BPF_PROGRAM
cd "$tmp" || exit

cat >app.c <<'EOF'
#include <btgen/usdt.h>
int main(int argc, char **argv) { USDT_PROBE(app, hit, argc); return !argv; }
int second(void);
int second(void) { return 2; }
EOF
gcc -g -I"$top/include" -o app app.c && cp app other || exit 1
echo 'usdt:__EXE__:hit { printf("%d\n", args.argc); }' >a.bt
sleep 1000 &
pid=$!
own $pid

# says STATUS LINE COMMAND WORD...: the first line on standard error
says() {
	local rc
	"$btgen" "${@:3}" >out 2>err
	rc=$?
	is "$rc $(head -n 1 err)" "$1 $2" "${*:3}"
}

says 2 "btgen: unknown option '-v'" -v
gone='btgen: embed was removed: keep the debug information in a separate file (objcopy --only-keep-debug, then --add-gnu-debuglink), a -dbgsym package or debuginfod'
says 2 "$gone" embed app
says 2 "$gone" embed --help
ok "btgen embed: the file is as it was" cmp app other
says 2 "btgen expand: -x: one file at a time" expand -x app -x other a.bt
says 2 "btgen run: -x: one file at a time" run -x app -x other a.bt
says 2 "btgen expand: --children and --cgroup are for processes: with -x all are traced" expand --children -x app a.bt
says 2 "btgen expand: --for: bpftrace 0.11 is too old: 0.17 or newer is needed" expand --for 0.11 -x app a.bt
says 2 "btgen check: --for: bpftrace 0.16 is too old: 0.17 or newer is needed" check --for 0.17,0.16 -x app a.bt
says 1 "btgen: error: 'app' is a program, not a script: write -x app to trace its processes" expand app a.bt
is "$("$btgen" run -n ./app a.bt)" "$("$btgen" run -n -x ./app a.bt)" "the path of a program before the script is -x"
is "$("$btgen" run -n -t hit ./app)" "$("$btgen" run -n -t hit -x ./app)" "... or in place of a process for -t"
says 2 "btgen run: the program goes before the script: bpftrace.sh app a.bt; as the script's \$1: bpftrace.sh a.bt -- app" run -n a.bt app
says 1 "btgen: error: -t app needs a process: give its PID or name, or -x FILE for every process of a program" run -n -t app
says 1 "btgen: error: --latency from to needs a process: give its PID or name, or -x FILE for every process of a program" run -n --latency from to
says 1 "btgen: error: --calls main needs a process: give its PID or name, or -x FILE for every process of a program" run -n --calls main
says 2 "btgen run: --calls cannot be combined with -t, --count or --latency" run --calls main -t hit $pid
says 2 "btgen run: --calls cannot be combined with -t, --count or --latency" run --calls main --latency hit hit $pid
says 2 "btgen run: --calls does not support -s and --keep: the tree is in order of time anyway" run --calls main -s $pid
says 2 "btgen run: --calls does not support -s and --keep: the tree is in order of time anyway" run --calls main --keep 1s $pid
says 2 "btgen run: --args and --max-functions need --calls" run --args -t hit $pid
says 2 "btgen run: --max-functions: '0' is not a number from 1 to 10000" run --max-functions 0 --calls main $pid
says 2 "btgen run: --stack needs -t: in a script, print ustack" run --stack --calls main $pid
says 2 "btgen run: --calls replaces the script: drop 'a.bt'" run --calls main -x app a.bt
says 1 "btgen: error: no function matches 'mian'" run -n --calls mian -x app
is "$(sed 1d err)" "btgen: note: did you mean 'main'?" "... with the nearest"
says 1 "btgen: error: 2 functions match '@app.c': at most 1 can be traced at once" run -n --max-functions 1 --calls @app.c -x app
is "$(sed 1d err)" "btgen: note: --max-functions 2 traces them all" "... with what can be typed instead"
says 1 "btgen: error: no function matches '@other.c'" run -n --calls @other.c -x app
is "$("$btgen" run -n -t usdt:__EXE__:app:hit -x app)" "$("$btgen" run -n -t app:hit -x app)" "a pattern as in a template"
is "$("$btgen" probes -x app usdt:__EXE__:hit)" "$("$btgen" probes -x app hit)" "... to list probes, too"

# notes LINE COMMAND WORD...: what stands below an error
notes() {
	"$btgen" "${@:2}" >out 2>err
	is "$? $(sed -n 2p err)" "1 btgen: note: $1" "${*:2}"
}
notes "it is a function: use 'uprobe:main'" run -n -t main -x app
notes "did you mean 'uprobe:main'?" run -n -t uprobe:mian -x app
says 1 "btgen: error: -t traces probes and functions of programs: for kprobes, use -e 'kprobe:vfs_read { ... }'" run -n -t kprobe:vfs_read -x app
says 2 "btgen run: --latency needs two probes: START DONE" run --latency hit $pid
says 2 "btgen run: --count is given twice: name all keys in one, as in --count=comm,pid" run -t hit --count=a --count=b $pid
says 2 "btgen run: --deep and --stack exclude --count" run -t hit --count=a --stack $pid
says 2 "btgen run: -D: '-t' is not NAME or NAME=VALUE" run -D -t hit $pid
for t in 1x 10sm 1.2.3 m 0s; do
	says 2 "btgen run: -T: '$t' is not a time, such as 10, 0.5s or 10m" run -T "$t" -t hit $pid
done
for option in -T --keep; do
	for t in 10 0.5 500ms 90s 10m 2h 1d; do
		ok "$option $t" "$btgen" run -n "$option" "$t" -x app a.bt
	done
done
says 2 "btgen run: --by needs --latency: --count takes its own keys" run --by a -t hit $pid
says 2 "btgen check: unknown option '--hlep', did you mean '--help'?" check --hlep
says 1 "<command line>:1:1: error: expected '{' after the attach point" run -n -x app -e 'usdt:__EXE__:app:hit printf("x"); }'
says 1 "<command line>:1:1: error: unknown probe type app" run -n -x app -e 'app:hit { }'
is "$(tail -n 1 err)" "btgen: note: did you mean usdt:__EXE__:app:hit?" "... which is a probe of the program"
says 1 "<command line>:1:1: error: no program __exe__ in \$PATH" run -n -x app -e 'usdt:__exe__:app:hit { }'
is "$(tail -n 1 err)" "btgen: note: did you mean __EXE__?" "... the marker in capitals"
is "$("$btgen" help check)" "$("$btgen" check --help)" "btgen help check"
is "$("$btgen" help)" "$("$btgen" --help)" "btgen help"
is "$("$top/scripts/bpftrace.sh" help)" "$("$top/scripts/bpftrace.sh" -h)" "bpftrace.sh help"
cp /bin/sleep longsleeper
./longsleeper 1000 &
own $!
wait_for grep -q longsleeper "/proc/$!/comm"
"$btgen" run -n longsleper 2>err
like "$(head -n 1 err)" "^btgen: error: no script 'longsleper' .*, did you mean 'longsleeper \(PID $!\)'\?$" "a program that is misspelt"
notes "give each pattern a -t of its own" run -n -t hit,miss -x app
strip -o stripped app
"$btgen" check -x stripped -e 'usdt:__EXE__:hit { $a = (struct a *)arg0; $b = (struct b *)arg0; print(($a->x, $b->x)); }' 2>err
is "$? $(grep -c 'error: no debug information' err)" "1 1" "no types, for one cause: one error"
says 0 "btgen: note: $tmp/stripped has no debug information (-g): enums and structs are numbers" run -n -t hit -x stripped
says 0 "" run -n -t hit -x app
gcc -o plain -x c - <<<'int main(void) { return 0; }'
notes "$tmp/plain has no USDT probes; functions are uprobe:NAME" run -n -t hit -x ./plain
says 1 "btgen: error: no function matches 'uprobe:mian'" probes -x app uprobe:mian

says 2 "btgen expand: option '--exe' needs a value" expand -x '' a.bt
says 2 "btgen run: option '--output' needs a value" run -o '' -x app a.bt
says 2 "btgen expand: an empty argument in place of a script" expand -x app ''
says 2 "btgen probes: an argument is empty" probes -x app ''
says 2 "btgen diff: an argument is empty" diff app ''
says 2 "btgen doctor: an empty argument in place of a PID or a script: is the program running?" doctor ''

says 2 "btgen probes: give --for or --bpftrace, not both" probes -x app --for 0.23 --bpftrace /none
says 1 "btgen: error: bpftrace not found at /none: install it with your package manager, or give its path with --bpftrace PATH" \
	probes -x app --bpftrace /none
says 2 "btgen diff: give -q or --json, not both" diff -q --json app other
says 2 "btgen diff: -D and -I are for scripts: give one" diff -D X app other
says 0 "" diff -D X app other a.bt
says 2 "btgen doctor: the PID goes before the script" doctor a.bt $pid
says 2 "btgen doctor: -D and -I are for a script: give one" doctor -D X
is "$("$btgen" doctor --json -p $pid)" "$("$btgen" doctor --json $pid)" "doctor -p PID is doctor PID"

says 2 "btgen types: -l lists names only: it excludes --at, --follow, --assert, --bpftrace and --keep-going" types -x app -l --assert
says 2 "btgen types: --json excludes --assert and --bpftrace, which are for C" types -x app --json --bpftrace int
says 1 "btgen: error: no type matches 'zz*'" types -x app -l 'zz*'
says 0 "" types -x app -l 'zz*' int
is "$(cat out)" int "one of several patterns is enough"
says 0 'btgen: warning: "int" is not a struct, union or enum: nothing to define' types -x app int

says 2 "btgen run: -L lists all scripts: for one, use -h nvmf" run -L nvmf
says 2 "btgen run: -w waits for a program name, not a PID" run -w $pid a.bt
says 2 "btgen run: --ready-fd: that descriptor carries data or messages: use another" run --ready-fd 1 -x app a.bt
says 2 "btgen run: --ready-fd: that descriptor carries data or messages: use another" run --ready-fd 2 -o out -x app a.bt
for option in "-o out" "-f json" -s "--time wall" -n "-T 1" "-N 1" "--ready-file ready" --strict "-e BEGIN{}" "-D X" "-W no-unused" --force \
	"-t hit" --count "--filter 1" -w --follow --children "--cgroup /" "-c ./app"; do
	# shellcheck disable=SC2086
	says 2 "btgen run: -l takes only a process or file, patterns, -v, --json and --bpftrace" run -l -x app $option
done
is "$(BPF_OUTFILE=out "$btgen" run -l -q -x app)" "usdt:app:hit(int argc)" "BPF_OUTFILE is for traces"
done_testing
