#!/usr/bin/env bash
# Several builds of one program at once, as an upgrade leaves them while old processes go on: the events of each are read
# by its own types.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"

name=svc-$$
mkdir "$tmp/bin" "$tmp/other"
program=$tmp/bin/$name
build() { gcc -O1 -g -I"$top/include" "$@" "$top/tests/live/service.c"; }

# shellcheck disable=SC2317 # wait_for calls it
runs() { [ "$(readlink "/proc/$1/exe")" = "$2" ]; }
# run N PROGRAM: the N-th process, pid[N], with its input at hand as in[N]
declare -a pid in
run() {
	mkfifo "$tmp/in$1"
	"$2" <"$tmp/in$1" &
	pid[$1]=$!
	own $!
	local fd
	exec {fd}>"$tmp/in$1"
	in[$1]=$fd
	wait_for runs $! "$2"
}
# shellcheck disable=SC2317
has_lines() { [ "$(grep -c '^[a-z0-9] ' "$tmp/trace" 2>/dev/null)" = "$1" ]; }
n=0
# fire N BYTES: events of the N-th process, which are printed before this returns
fire() {
	printf '%s' "$2" >&"${in[$1]}"
	n=$((n + ${#2}))
	wait_for has_lines $n
}
semaphores() { # what each process's semaphore counts
	local p
	for p in "${pid[@]}"; do
		python3 - "$p" "$program" <<'END'
import re, subprocess, sys
pid = sys.argv[1]
notes = subprocess.run(["readelf", "-nW", f"/proc/{pid}/exe"], capture_output=True, text=True).stdout
at = int(re.search(r"Semaphore: 0x([0-9a-f]+)", notes)[1], 16)
low = min(int(line.split("-")[0], 16) for line in open(f"/proc/{pid}/maps") if sys.argv[2] in line)
with open(f"/proc/{pid}/mem", "rb") as f:
    f.seek(low + at)
    print(int.from_bytes(f.read(2), "little"), end=" ")
END
	done
}

build -DFIRST= -DMORE= -o "$program" || exit 1
run 1 "$program"
run 2 "$program"
build -DFIRST='NONE, ' -DMORE='long pad;' -o "$program.new" || exit 1
mv "$program.new" "$program"
run 3 "$program"
id() { readelf -nW "/proc/$1/exe" | sed -n 's/.*Build ID: \(............\).*/\1/p'; }
old=$(id "${pid[1]}") new=$(id "${pid[3]}")
script='usdt:__EXE__:hit { printf("%c %s %s %d\n", args.r->id, args.r->state, args.next, pid); @[args.next] = count(); }'

# What helps is said.
out=$(guard "$live_sh" "$name" -e "#pragma scope host
$script" 2>&1)
is "$? $(grep -v 'it is reached' <<<"$out" | grep -E '^btgen:' | sort)" "1 $(sort <<END
btgen: error: 2 builds of the program are running, and the script is for the whole host: give the PIDs of one build
btgen: note: $program (deleted), build ID $old: PIDs ${pid[1]} ${pid[2]}
btgen: note: $program, build ID $new: PID ${pid[3]}
END
)" "a script for the whole host: the processes of each build are named"
ok "processes of a file that was replaced" live_trace "${pid[1]}" "${pid[2]}" -e "$script"
live_wait INT
is "$(grep note: "$tmp/messages" | grep -v 'it is reached')" "btgen: note: processes that start later are not traced: use --children for those that these fork
btgen: note: $program was replaced on disk: -x would trace the new file, which these processes do not run" \
	"-x, which would trace none of them, is not proposed"
cat >"$tmp/fork.c" <<'END'
#include <btgen/usdt.h>
#include <unistd.h>
int main(void)
{
	char c;
	if (fork())
		fork();
	while (read(0, &c, 1) == 1)
		USDT_PROBE(app, turn, c);
}
END
gcc -O1 -g -I"$top/include" -o "$tmp/fork" "$tmp/fork.c" && run 5 "$tmp/fork"
wait_for pgrep -P "${pid[5]}" >/dev/null
cp "$tmp/fork" "$tmp/fork.new" && mv "$tmp/fork.new" "$tmp/fork"
ok "one with a child" live_trace "${pid[5]}" -t turn
live_wait INT
is "$(grep note: "$tmp/messages" | grep -v 'it is reached')" "btgen: note: 2 children of process ${pid[5]} run the same program and are not traced: use --children, or give their PIDs
btgen: note: $tmp/fork was replaced on disk: -x would trace the new file, which these processes do not run" \
	"nor is it there"
fd=${in[5]}
exec {fd}>&-
unset 'pid[5]'

is "$(semaphores)" "0 0 0 " "no semaphore is raised"
ok "a name of two builds: it attaches" live_trace "$name" -e "$script"
is "$(grep attached "$tmp/messages" | LC_ALL=C sort)" "btgen: attached to 2 processes of $name (${pid[1]}, ${pid[2]}), build $old
btgen: attached to $name (PID ${pid[3]}), build $new" "and says to which"
is "$(semaphores)" "1 1 1 " "each process's semaphore is raised once"
fire 1 a
fire 3 bc
fire 2 d
fire 1 e
fire 3 f
live_wait INT
is "$live_rc" 0 "^C is status 0"
sections=$(grep -v '^$' "$tmp/trace")
is "$(sed '/^@/,$d' <<<"$sections" | sed "s/ ${pid[1]}\$/ P1/; s/ ${pid[2]}\$/ P2/; s/ ${pid[3]}\$/ P3/" | head -n 9)" "==> $name (PID ${pid[1]}), build $old <==
a RUNNING IDLE P1
==> $name (PID ${pid[3]}), build $new <==
b RUNNING IDLE P3
c RUNNING IDLE P3
==> $name (PID ${pid[1]}), build $old <==
d RUNNING IDLE P2
e RUNNING IDLE P1
==> $name (PID ${pid[3]}), build $new <==" "each line is read by its own build's types, below a heading"
is "$(awk '/^==>/ { who = $6 } /^@/ { print who, $0 }' <<<"$sections" | sort)" "$(printf '%s\n' "$old @[IDLE]: 3" "$new @[IDLE]: 3" | sort)" \
	"so is each map"
is "$(semaphores)" "0 0 0 " "the semaphores are down again"

# --keep: each build has its own lines, and SIGUSR1 asks for those of all.
ok "--keep of two builds attaches" live_trace --keep 60s "$name" -e "$script"
printf a >&"${in[1]}"
printf b >&"${in[3]}"
wait_for are_idle "${pid[1]}" "${pid[3]}"
wait_for live_still
kill -USR1 "$live_tracer"
wait_for eval '[ "$(grep -c "SIGUSR1" "$tmp/trace")" = 2 ]'
is "$(sed "s/ ${pid[1]}\$/ P1/; s/ ${pid[3]}\$/ P3/" "$tmp/trace" | grep -v '^==> svc' | sort | uniq -c | sed 's/^ *//')" "2 ==> SIGUSR1 <==
1 a RUNNING IDLE P1
1 b RUNNING IDLE P3" "both print what they have kept"
live_wait INT
is "$live_rc" 0 "and go on until ^C"

# One ^C ends the trace; more of them come when each bpftrace has ended.
ok "two builds, again" live_trace "$name" -e "$script"
n=0
fire 1 a
traced=$(for process in $(pgrep -P "$live_tracer"); do pgrep -P "$process" -f ' /proc/self/fd/'; done)
kill -INT "$live_tracer"
# shellcheck disable=SC2317
have_ended() { ! ps -o pid= -p "$(paste -sd, <<<"$traced")" >/dev/null; }
wait_for have_ended
while kill -INT "$live_tracer" 2>/dev/null; do :; done
live_wait
is "$(wc -l <<<"$traced") $live_rc $(grep -c '^a RUNNING' "$tmp/trace")" "2 0 1" "^C over and over as it ends: status 0, and the events are there"

# JSON, to stdout; one of them ends, the other goes on.
"$live_sh" -q -f json --ready-file "$tmp/ready2" "${pid[@]}" -e "$script" >"$tmp/out" 2>"$tmp/messages" &
live_tracer=$!
own $live_tracer
wait_for test -s "$tmp/ready2"
printf x >&"${in[3]}"
wait_for grep -q '"text"' "$tmp/out"
kill "${pid[3]}"
wait "${pid[3]}"
unset 'pid[3]'
wait_for grep -q '"map"' "$tmp/out"
printf y >&"${in[2]}"
wait_for grep -q '"y' "$tmp/out"
live_wait TERM
is "$live_rc $(cat "$tmp/messages")" "0 " "SIGTERM ends it"
is "$(python3 - "$tmp/out" <<'END'
import json, sys
who = None
for o in map(json.loads, open(sys.argv[1])):
    if "program" in o:
        who = o["build"]
    elif "capture" in o:
        pass
    elif "map" in o:
        print(who, o["map"], [(e["key"], e["value"]) for e in o["entries"]])
    else:
        print(who, " ".join(o["text"].split()[:3]))
END
)" "$new x RUNNING IDLE
$new @ [(['IDLE'], 1)]
$old y RUNNING IDLE
$old @ [(['IDLE'], 1)]" "-f json: an object says whose the next ones are"
python=$(python_with "jsonschema; jsonschema.Draft202012Validator") &&
	ok "they hold the schema" "$python" "$top/tests/schema.py" "$tmp/out"

# What is wrong for one build is wrong before anything is attached, what is wrong for both is said once.
build -DFIRST= -DMORE= -Dstate=condition -o "$tmp/other/$name" || exit 1
run 4 "$tmp/other/$name"
out=$("$live_sh" -o "$tmp/kept" "$name" -e 'usdt:__EXE__:hit { printf("%d\n", args.r->state); }' 2>&1)
is "$? $(grep -c error: <<<"$out") $([ -e "$tmp/kept" ] || echo untouched)" "1 1 untouched" \
	"a member that one build does not have: an error before anything is touched"
out=$("$live_sh" "$name" -e 'usdt:__EXE__:hit { nosuch(; }' 2>&1)
is "$? $(grep -c 'error:' <<<"$out")" "1 1" "what is wrong with the script is said once"

# Killed.
unset 'pid[2]'
program=svc
# Who waits for --ready-fd has gone.
exec 9> >(:)
wait $!
"$live_sh" -q -T 1 --ready-fd 9 "${pid[@]}" -e 'usdt:__EXE__:hit { @ = count(); }' >"$tmp/out" 2>"$tmp/messages" || echo "status $?" >>"$tmp/messages"
exec 9>&-
unlike "$(cat "$tmp/messages")" 'status' "nobody reads --ready-fd: it is traced all the same"
ok "it attaches again" live_trace "${pid[@]}" -e 'usdt:__EXE__:hit { @ = count(); }'
is "$(semaphores)" "1 1 " "the semaphores are up"
live_wait KILL
wait_for eval '[ "$(semaphores)" = "0 0 " ]'
is "$(semaphores)" "0 0 " "kill -9: they are down again"
done_testing
