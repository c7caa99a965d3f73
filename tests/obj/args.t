#!/usr/bin/env bash
# Names and types of arguments: declared ones are read exactly, inferred ones are right where they are shown.
#
# Oracles: tests/header/probes.py (pyelftools and the raw notes) for what is declared; the declared ones for
# what is inferred from the same program built with systemtap's header; the manuals for programs that are not ours.
. "$(dirname "$0")/../lib.sh"
# shellcheck disable=SC2154 # top, tmp, targets: lib.sh
here=$top/tests/obj

# share FILE: types in percent, of the last line that args.py printed
share() { awk 'END { printf "%d", $1 * 100 / $(NF - 1) }' "$1"; }

# --- declared
if /usr/bin/python3 -c 'import elftools' 2>/dev/null; then
	for name in nvmf_tgt libnvmf.so libthread.so libbdev_nvme.so; do
		"$top/tests/header/probes.py" "$targets/$name" >"$tmp/want"
		is "$("$top/tests/header/sites.py" "$btgen" "$targets/$name")" "$(cat "$tmp/want")" \
			"$name: types, expressions and lines of all $(wc -l <"$tmp/want") sites are the declared ones"
	done
else
	skip "declared types" "no pyelftools for the oracle (python3-pyelftools)"
fi
"$btgen" probes --json -x "$targets/nvmf_tgt" >"$tmp/declared.json"
/usr/bin/python3 - "$tmp/declared.json" >"$tmp/got" <<'END'
import json, sys
for p in json.load(open(sys.argv[1])):
    if p['name'] in ('nvmf_subsystem_change_state', 'nvmf_tgt_state'):
        print('%s:%s(%s) %s' % (p['provider'], p['name'], ', '.join('%s %s' % (a['type'], a['name']) for a in p['args']), p['args'][0]['from']))
END
is "$(cat "$tmp/got")" "spdk:nvmf_tgt_state(int arg0, enum nvmf_tgt_state g_tgt_state) declared
spdk:nvmf_subsystem_change_state(int arg0, char * subnqn, enum spdk_nvmf_subsystem_state requested_state, enum spdk_nvmf_subsystem_state state) declared" \
	"names are those of the expressions"

cp "$targets/nvmf_tgt" "$tmp/stripped"
strip "$tmp/stripped"
"$btgen" probes --json -x "$tmp/stripped" >"$tmp/stripped.json"
"$here/args.py" "$tmp/declared.json" "$tmp/stripped.json" >"$tmp/out"
like "$(cat "$tmp/out")" '^0 types and ([0-9]+) names' "a stripped program keeps its names"
is "$(wc -l <"$tmp/out")" 1 "and they are right"
objcopy --only-keep-debug "$targets/nvmf_tgt" "$tmp/split.debug"
cp "$tmp/stripped" "$tmp/split"
objcopy --add-gnu-debuglink="$tmp/split.debug" "$tmp/split"
is "$("$btgen" probes --json -x "$tmp/split" | sed "s|$tmp/split|$targets/nvmf_tgt|")" "$(cat "$tmp/declared.json")" \
	"with a separate debug file everything is back"

# --- one program with everything that a listing can say
cat >"$tmp/all.c" <<'END'
#include <btgen/usdt.h>
#include <stdio.h>
enum mode { OFF, ON };
struct job { char name[8]; enum mode mode; long size; };
USDT_DOC(app, work, "when a job is taken " "from the queue");
static inline __attribute__((always_inline)) void note(struct job *j, int n)
{
	USDT_PROBE(app, work, j->name, j->mode, USDT_ARG(-n, "left", "jobs that wait", "jobs"), n);
}
static void start(struct job *j, int n)
{
	note(j, n);
	USDT_PROBE_LAZY(app, sized, j->size);
}
int main(int argc, char **argv)
{
	struct job j = {"first", ON, argc};
	struct job *other = &j;
	const char *text = argv[0];
	start(other, argc);
	USDT_PROBE(app, work, text, other->mode, USDT_ARG(-argc, "left"), argc);
	USDT_PROBE(app, sized, (int)other->size);
	puts("up");
	fflush(stdout);
	return getchar() == 0;
}
END
"${CC:-gcc}" -O2 -g -I"$top/include" -o "$tmp/all" "$tmp/all.c"
(cd "$tmp" && "$btgen" probes -v --for 0.17 -x all 2>&1 | sed -E 's/0x[0-9a-f]+/ADDR/g; s|/[^ ]*/all.c|all.c|') >"$tmp/out"
is "$(grep -v 'ADDR\|^        arg\|^  2 sites:' "$tmp/out")" "all: 2 probes
app:work(const char *name, enum mode mode, int left, int n)
    when a job is taken from the queue
    arg0   const char *name  declared; elsewhere called text
    arg1   enum mode mode    declared
    arg2   int left          declared, in jobs: jobs that wait
    arg3   int n             declared; elsewhere called argc
app:sized(? size)
    arg0   ? size  declared; sites disagree about its type; sites disagree about its size or sign" \
	"-v: a declaration, sentences, units, and where sites disagree" || sed 's/^/# /' "$tmp/out"
like "$(cat "$tmp/out")" '^    ADDR  note\(\), inlined into main\(\)  all.c:8  file offset ADDR$' "a site names its function, where that is inlined, and its line"
like "$(cat "$tmp/out")" '^    semaphore ADDR$' "a semaphore is there"

"$tmp/all" < <(sleep 20) >"$tmp/up" &
pid=$!
own $pid
wait_for 5 grep -q up "$tmp/up" || sleep 0.2
is "$("$btgen" probes -v -p $pid sized | grep -o 'in the process.*')" "in the process now 0 (not traced)" \
	"-p: the counter in the process, while nobody traces"
is "$("$btgen" probes --json -p $pid sized | /usr/bin/python3 -c 'import json, sys; print([p["counter"] for p in json.load(sys.stdin)])')" "[0]" \
	"and in the JSON"

# --- can this bpftrace attach?
# shellcheck disable=SC2016 # the $ are the assembler's
cat >"$tmp/sym.s" <<'END'
	.globl main
main:	nop
	ret
	.section .note.stapsdt,"","note"
	.balign 4
	.4byte 8, 9f-8f, 3
	.asciz "stapsdt"
8:	.8byte main, _.stapsdt.base, 0
	.asciz "app"
	.asciz "global"
	.asciz "4@value(%rip)"
9:	.balign 4
	.section .stapsdt.base,"aG","progbits",.stapsdt.base,comdat
_.stapsdt.base: .space 1
	.section .note.GNU-stack,"","progbits"
END
if [ "$(uname -m)" = x86_64 ] && "${CC:-gcc}" -no-pie -o "$tmp/sym" "$tmp/sym.s"; then
	attachable() { "$btgen" probes --json --for "$1" -x "$2" "$3" | /usr/bin/python3 -c 'import json, sys; p, = json.load(sys.stdin); print(p["attachable"], p["why_not"])'; }
	is "$(attachable 0.23 "$tmp/sym" global)" "True None" "bpftrace 0.23 can attach to a probe with a global in memory"
	is "$(attachable 0.27 "$tmp/sym" global)" "False it cannot read the place of arg0, 4@value(%rip)" "0.27 cannot, and that is said"
	is "$(attachable 0.27 "$tmp/all" work)" "True None" "what it can read it can attach to"
	for old in 0.17 0.23; do
		like "$("$btgen" expand --for $old -x "$tmp/sym" -e 'usdt:__EXE__:global { printf("%d", arg0); }' 2>&1)" \
			"error: bpftrace $old cannot read arg0 of app:global: it is at value\(%rip\)" \
			"$old would print rubbish for a global in memory: that is an error"
		ok "$old may attach to it when the argument is not used" \
			"$btgen" expand --for $old -o "$tmp/unused" -x "$tmp/sym" -e 'usdt:__EXE__:global { printf("x"); }'
	done
fi

# --- inferred: nvmf_tgt, built with systemtap's header
if [ -e /usr/include/x86_64-linux-gnu/sys/sdt.h ] || [ -e /usr/include/sys/sdt.h ]; then
	mkdir -p "$tmp/plain/btgen"
	cat >"$tmp/plain/btgen/usdt.h" <<'END'
#define SDT_USE_VARIADIC
#include <sys/sdt.h>
#define USDT_PROBE(provider, name, ...) STAP_PROBEV(provider, name, ##__VA_ARGS__)
#define USDT_DOC(provider, name, sentence) _Static_assert(1, sentence)
END
	cp "$targets"/*.[ch] "$tmp/plain"
	for level in -O0 -O2 -Os; do
		(cd "$tmp/plain" && "${CC:-gcc}" -std=gnu11 $level -g -D_GNU_SOURCE -I. -pthread -o tgt ./*.c) || ok "compiles $level" false
		"$btgen" probes --json -x "$tmp/plain/tgt" >"$tmp/inferred.json"
		"$here/args.py" "$tmp/declared.json" "$tmp/inferred.json" >"$tmp/out"
		is "$(sed '$d' "$tmp/out")" "" "$level, with the source at hand: every type and name that is shown is right" &&
			printf '# %s, with source: %s (%d %%)\n' $level "$(tail -n 1 "$tmp/out")" "$(share "$tmp/out")"
		ok "$level: at least 60 % of the types are known" test "$(share "$tmp/out")" -ge 60
		not_ok "$level: nothing of it is called declared" grep -q '"declared"' "$tmp/inferred.json"
		mv "$tmp/plain/target.c" "$tmp/plain/subsystem.c" "$tmp"
		# A source that is newer than the program is not believed.
		sed -i 's/PROBE(/PROBE (wrong, /' "$tmp"/plain/*.c
		"$btgen" probes --json -x "$tmp/plain/tgt" >"$tmp/inferred.json"
		"$here/args.py" "$tmp/declared.json" "$tmp/inferred.json" >"$tmp/out"
		is "$(sed '$d' "$tmp/out")" "" "$level, without the source, or with a newer one: all that is shown is right" &&
			printf '# %s, without: %s (%d %%)\n' $level "$(tail -n 1 "$tmp/out")" "$(share "$tmp/out")"
		ok "$level: something is known all the same" test "$(share "$tmp/out")" -ge 30
		cp "$targets"/*.[ch] "$tmp/plain"
	done
else
	skip "inferred types" "no <sys/sdt.h> (systemtap-sdt-dev)"
fi

# --- listed: no debug information, but a probe that bpf/probes.conf knows
if [ -e "$tmp/plain/btgen/usdt.h" ]; then
	cat >"$tmp/listed.c" <<'END'
#include <sys/sdt.h>
int main(int argc, char **argv)
{
	STAP_PROBE1(postgresql, query__start, argv[0]);
	STAP_PROBE1(postgresql, checkpoint__start, (long)argc);
	STAP_PROBE2(postgresql, query__done, argv[0], argc);
	return 0;
}
END
	"${CC:-gcc}" -O2 -o "$tmp/listed" "$tmp/listed.c"
	is "$("$btgen" probes -v -x "$tmp/listed" | grep '^postgresql\|^    arg')" "postgresql:query__start(const char *query)
    arg0   const char *query  listed
postgresql:checkpoint__start(int64_t flags)
    arg0   int64_t flags  listed
postgresql:query__done(uint64_t arg0, int32_t arg1)
    arg0   uint64_t arg0  size only
    arg1   int32_t arg1   size only" "listed names and types are used where number, size and sign fit"
fi

# --- programs that are not ours, against their manuals
# documented TABLE FILE NAME: all that is shown is what the manual says
documented() {
	"$btgen" probes --json -x "$2" >"$tmp/inferred.json"
	"$here/args.py" "$1" "$tmp/inferred.json" >"$tmp/out"
	is "$(sed '$d' "$tmp/out")" "" "$3: every type and name that is shown is the documented one" &&
		printf '# %s: %s (%d %%)\n' "$3" "$(tail -n 1 "$tmp/out")" "$(share "$tmp/out")"
}
# https://docs.python.org/3.11/howto/instrumentation.html; names as in its text or its source
cat >"$tmp/python.txt" <<'END'
python:function__entry char */const char *|filename, char */const char *|funcname, int|lineno
python:function__return char */const char *|filename, char */const char *|funcname, int|lineno
python:line char */const char *|filename/co_filename, char */const char *|funcname/co_name, int|lineno/line
python:gc__start int|generation
python:gc__done long/long int/Py_ssize_t|collected
python:import__find__load__start char */const char *|modulename
python:import__find__load__done char */const char *|modulename, int|found
python:audit char */const char *|event, void */PyObject *|tuple/eventArgs
END
python=
for p in /usr/bin/python3.11-dbg /usr/lib/x86_64-linux-gnu/libpython3.11d.so.1.0; do
	[ -z "$python" ] && [ -e "$p" ] && "$btgen" probes -x "$p" 2>/dev/null | grep -q python: && python=$p
done
if [ -n "$python" ]; then
	documented "$tmp/python.txt" "$python" python3.11
	ok "python: more than half is known" test "$(share "$tmp/out")" -ge 50
else
	skip "python3.11: every type and name that is shown is the documented one" "no python3.11-dbg with probes"
fi
done_testing
