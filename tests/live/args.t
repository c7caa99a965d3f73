#!/usr/bin/env bash
# Values by name: what `-t '*'`, the template of -t -n and args.NAME print of nvmf_tgt is what the program recorded itself.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"
readelf -n "$targets/nvmf_tgt" 2>/dev/null | grep -q 'Provider: spdk' || skip_all "built with --without-usdt"
headers=("$targets"/*.h "$targets"/*.c)

# start BUILD: the target behind its gate
start() {
	live_nvmf "$1" --interrupt-mode
	cp "/proc/$live_pid/maps" "$tmp/maps"
}

# passed: what the program passed, functions by name, without the 0 that the macro puts in front; and the same of a trace, but
# for what a C library with probes does beside it
passed() { "$top/tests/live/args.py" log "$tmp/log" "$tmp/maps" | sed -E 's/^([0-9]+ \w+) 0 /\1 /' | sort; }
traced() { "$top/tests/live/args.py" "$1" "$tmp/trace" "${headers[@]}" | grep -vE '^[0-9]+ (libc|rtld):' | sort; }

for build in nvmf_tgt nvmf_tgt_shared; do
	start $build
	ok "$build: -t '*' -f json ends with the target, status 0" live_tour -t '*' -f json $live_pid
	is "$(traced json)" "$(passed)" \
		"$build: each event of 50 probes once, each value the one that the program passed"
	printf '# %s events, %s values\n' "$(wc -l <"$tmp/trace")" "$(cut -f 4- "$tmp/log" | wc -w)"
done
start nvmf_tgt
ok "-t prints text, too" live_tour -t 'nvmf_*' -t spdk:msg_exec $live_pid
is "$(traced text)" "$(passed | grep -E '^[0-9]+ (nvmf_|msg_exec )')" "with the same values"
like "$(cat "$tmp/trace")" '^[0-9:]{8}\.[0-9]{6} reactor_2\[[0-9]+\] spdk:nvmf_subsystem_change_state subnqn="nqn[^"]*cnode1" requested_state=SPDK_NVMF_SUBSYSTEM_ACTIVE state=SPDK_NVMF_SUBSYSTEM_INACTIVE$' \
	"a line has time, thread, probe, strings in quotes, enumerators by name"

start nvmf_tgt
"$live_sh" -q -n -t 'nvmf_*' -t msg_exec $live_pid >"$tmp/clauses.bt"
ok "the template of -t -n runs" live_tour $live_pid "$tmp/clauses.bt"
is "$(traced text)" "$(passed | grep -E '^[0-9]+ (nvmf_|msg_exec )')" "and prints the same values"

cat >"$tmp/named.bt" <<'END'
usdt:__EXE__:nvmf_subsystem_change_state /args.requested_state == SPDK_NVMF_SUBSYSTEM_ACTIVE/ {
	printf("%d nvmf_subsystem_change_state 0 %s %d %d\n", tid, str(args.subnqn), args.2, args.state);
}
usdt:__EXE__:nvmf_ctrlr_add_io_qpair { printf("%d ctrlr %lu 0x%lx 0x%lx %lu %lu %s\n", tid, args.ticks, args.ctrlr, args.qpair, args.qid, args.thread_id, enum_name(spdk_nvmf_subsystem_state, args.ctrlr->subsys->state)); }
END
start nvmf_tgt
ok "a script with args.NAME, a member of what one points to, enum_name() and args.N runs" live_tour $live_pid "$tmp/named.bt"
is "$(grep change_state "$tmp/trace" | sort)" \
	"$("$top/tests/live/args.py" log "$tmp/log" | awk '$2 == "nvmf_subsystem_change_state" && $5 == 2')" \
	"and prints what the program passed"
is "$(sed -n 's/ ctrlr / nvmf_ctrlr_add_io_qpair /p' "$tmp/trace" | sed 's/ SPDK_NVMF_SUBSYSTEM_ACTIVE$//' | sort)" \
	"$("$top/tests/live/args.py" log "$tmp/log" | grep ' nvmf_ctrlr_add_io_qpair ')" \
		"a controller gets queue pairs while its subsystem is active"

# --- strings that try to be something else, numbers at their limits
cat >"$tmp/odd.c" <<'END'
#include <btgen/usdt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
enum mode { OFF, ON = 3, BAD = -1 };
enum far { NEAR = 1, FAR = 0xfedcba9876543210 };
volatile int total;
int main(int argc, char **argv)
{
	const char *texts[] = {"say \"hi\"", "a\\b", "two\nlines", "\x01\x1b[31m\x7f", "\xff\xfe", "caf\xc3\xa9",
			       "@0<1@0,2", "", 0, (const char *)(long)argc};
	enum mode modes[] = {OFF, ON, BAD, (enum mode)7};
	getchar();
	// A page that the program has not touched yet cannot be read from a probe.
	for (unsigned i = 0; i < 8; i++)
		total += texts[i][0];
	for (unsigned i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		USDT_PROBE(odd, text, USDT_ARG(texts[i], "text"));
	for (unsigned i = 0; i < 4; i++)
		USDT_PROBE(odd, mode, USDT_ARG(modes[i], "mode"), USDT_ARG((bool)(i == 1), "flag"));
	float f = 1.5f * (float)argc;
	double d = -0.1 * argc;
	USDT_PROBE(odd, number, USDT_ARG((int8_t)-argc, "i8"), USDT_ARG((uint64_t)-argc, "u64"), USDT_ARG((uint16_t)-argc, "u16"),
		   USDT_BITS(f), USDT_BITS(d), USDT_ARG((void *)argv, "p"));
	USDT_PROBE(many, six, texts[0], texts[1], texts[3], texts[4], texts[5], texts[6]);
	USDT_PROBE(sign, longs, USDT_ARG((int64_t)-argc, "i"), USDT_ARG((uint64_t)-argc, "u"),
		   USDT_ARG(argc ? FAR : NEAR, "far"));
	(void)argv;
	return 0;
}
END
"${CC:-gcc}" -O1 -g -I"$top/include" -o "$tmp/odd" "$tmp/odd.c"
traced() { # PROGRAM OPTION...: traced to its end
	live_start "$tmp/$1"
	live_trace "${@:2}" $live_pid || return 1
	echo >&8
	exec 8>&-
	live_wait
	return $live_rc
}
odd() { traced odd "$@"; }
ok "odd strings in JSON" odd -f json -t 'odd:*'
is "$(/usr/bin/python3 -c '
import json, sys
for line in [*open(sys.argv[1])][1:]:
    e = json.loads(line)
    a = e["fields"]
    a.pop("p", None)
    print(e["probe"], ascii(a))' "$tmp/trace" | sort)" "$(sort <<'END'
odd:text {'text': 'say "hi"'}
odd:text {'text': 'a\\b'}
odd:text {'text': 'two\nlines'}
odd:text {'text': '\x01\x1b[31m\x7f'}
odd:text {'text': {'text': '\ufffd\ufffd', 'hex': 'fffe'}}
odd:text {'text': 'caf\xe9'}
odd:text {'text': '@0<1@0,2'}
odd:text {'text': ''}
odd:text {'text': None}
odd:text {}
odd:mode {'mode': {'name': 'OFF', 'value': 0}, 'flag': False}
odd:mode {'mode': {'name': 'ON', 'value': 3}, 'flag': True}
odd:mode {'mode': {'name': 'BAD', 'value': -1}, 'flag': False}
odd:mode {'mode': {'name': None, 'value': 7}, 'flag': False}
odd:number {'i8': -1, 'u64': '18446744073709551615', 'u16': 65535, 'f': 1.5, 'd': -0.1}
END
)" "are what the program has; enumerators have names, and a number has what has none"
ok "odd strings in text" odd -t 'odd:text'
is "$(sed 's/.*odd:text //' "$tmp/trace" | sort)" "$(sort <<'END'
text="say \"hi\""
text="a\\b"
text="two\nlines"
text="\x01\x1b[31m\x7f"
text="\xff\xfe"
text="café"
text="@0<1@0,2"
text=""
text=(null)
text=?
END
)" "are one line each, escaped"
ok "six strings in one probe" odd -t 'many:six'
like "$(cat "$tmp/trace")" 'many:six texts="say \\"hi\\"" texts2="a\\\\b" .* texts6="@0<1@0,2"$' "fit into every bpftrace"
unlike "$(cat "$tmp/messages")" "warning|error" "which has nothing to say about it"

# Long strings, arguments in memory, and more arguments than bpftrace before 0.24 reads.
cat >"$tmp/full.c" <<'END'
#include <btgen/usdt.h>
#include <stdio.h>
#include <string.h>
int counter;
__attribute__((noinline)) void report(int argc)
{
	USDT_PROBE(side, symbol, counter, argc);
	USDT_PROBE(side, plain, argc);
}
int main(int argc, char **argv)
{
	char a[300], b[300], c[300];
	memset(a, 'a', 299), memset(b, 'b', 299), memset(c, 'c', 299);
	a[299] = b[299] = c[299] = '\0';
	char *x = a, *y = b, *z = c;
	getchar();
	counter = 40 + (strlen(argv[0]) > 0);
	USDT_PROBE(full, two, x, y);
	USDT_PROBE(full, behind, argc, x, y);
	USDT_PROBE(full, three, x, argc, y, argc, z);
	USDT_PROBE(full, twelve, argc, x, argc, y, argc, argc, argc, argc, argc, argc, argc, argc);
	report(argc);
	return 0;
}
END
for option in -O0 -O2; do
	"${CC:-gcc}" $option -g -fno-pie -no-pie -fno-section-anchors -I"$top/include" -DUSDT_CONSTRAINT='"nor"' -o "$tmp/full$option" "$tmp/full.c"
done
for probe in two behind three twelve; do
	ok "$probe: its record is one that this bpftrace has room for" traced full-O0 -t "full:$probe"
	unlike "$(cat "$tmp/messages")" "warning|error" "$probe: nothing is to be said about it"
	sed -E 's/.*full:/full:/; s/"([abc])\1{40,299}"(\.\.\.)?/\1/g; s/=\?/=1/g' "$tmp/trace" >>"$tmp/fullest"
done
is "$(cat "$tmp/fullest")" "full:two x=a y=b
full:behind argc=1 x=a y=b
full:three x=a argc=1 y=b argc2=1 z=c
full:twelve argc=1 x=a argc2=1 y=b$(printf ' argc%s=1' $(seq 3 10))" \
	"strings and numbers are what the program passed, as far as they can be read"

like "$(readelf -n "$tmp/full-O2")" '@counter\(%rip\)|#:lo12:counter\]' "an argument whose place is a symbol"
ok "-t '*' traces what it can" traced full-O2 -t 'side:*'
is "$(sed 's/.*] //' "$tmp/trace")" "side:symbol counter=41 argc=1
side:plain argc=1" "and reads it by its distance from the site"

# Before 0.24 bpftrace takes every argument for unsigned, from then on for signed.
cat >"$tmp/sign.bt" <<'END'
usdt:__EXE__:sign:longs /args.i < 0 && args.u > 5/ {
	$i = args.i;
	$u = args.u;
	printf("%d%d%d %d%d%d", args.i < 5, arg0 > 5, 5 < arg1, $i < 0, $u > 5, args.i == -1);
	printf(" %lu %lu %s\n", args.u >> 60, arg1 / 0x8000000000000000, enum_name(far, args.far));
}
END
ok "a script that compares 64-bit arguments" odd -e "$(cat "$tmp/sign.bt")"
is "$(grep . "$tmp/trace")" "101 111 15 1 FAR" "sees the sign of the signed and the size of the unsigned, which may be an enumerator"
# --- two libraries with a probe of one name: given a PID, bpftrace before 0.24 takes them for one and fails
for n in 1 2; do
	printf '#include <btgen/usdt.h>\nvoid l%d(int x) { USDT_PROBE(twin, hit, x); }\n' $n >"$tmp/l$n.c"
	"${CC:-gcc}" -O1 -g -shared -fPIC -I"$top/include" -o "$tmp/libl$n.so" "$tmp/l$n.c"
done
printf '#include <stdio.h>\nvoid l1(int), l2(int);\nint main(void) { getchar(); l1(-1); l2(-2); }\n' >"$tmp/twins.c"
"${CC:-gcc}" -o "$tmp/twins" "$tmp/twins.c" "$tmp/libl1.so" "$tmp/libl2.so"
live_start "$tmp/twins"
ok "two libraries with a probe of one name" live_trace -t hit $live_pid
echo >&8
exec 8>&-
live_wait
is "$(sed 's/.*\] //' "$tmp/trace" | sort)" "twin:hit x=-1
twin:hit x=-2" "both are traced"

cat >"$tmp/lazy.c" <<'END'
#include <btgen/usdt.h>
#include <stdio.h>
int main(void)
{
	getchar();
	USDT_PROBE_LAZY(lazy, one, 1);
	return 0;
}
END
"${CC:-gcc}" -O1 -g -I"$top/include" -o "$tmp/lazy" "$tmp/lazy.c"
live_start "$tmp/lazy"
counter() { "$btgen" probes -v -p $live_pid lazy:one | grep -o 'in the process.*'; }
is "$(counter)" "in the process now 0 (not traced)" "a semaphore, while nobody traces"
live_trace -t lazy:one $live_pid
is "$(counter)" "in the process now 1 (traced)" "the same, while somebody does"
echo >&8
exec 8>&-
live_wait

start nvmf_tgt
is "$("$top/scripts/bpftrace.sh" -t nvmf_tgt_stat $live_pid 2>&1)" "btgen: error: no probe matches 'nvmf_tgt_stat'
btgen: note: did you mean 'spdk:nvmf_tgt_state'?" "a pattern that matches nothing"
is "$("$top/scripts/bpftrace.sh" -t 'x*' $live_pid nvmf.bt 2>&1 | head -n 1)" \
	"bpftrace.sh: -t replaces the script: drop 'nvmf.bt'" "a pattern and a script"
live_quit
done_testing
