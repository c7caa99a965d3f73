#!/usr/bin/env bash
# Names and types of arguments: declared ones are read exactly, inferred ones are right where they are shown.
#
# Oracles: tests/header/probes.py (pyelftools and the raw notes) for what is declared; the declared ones for
# what is inferred from the same program built with systemtap's header; the manuals for programs that are not ours.
. "$(dirname "$0")/../lib.sh"
# shellcheck disable=SC2154 # top, tmp, targets: lib.sh
here=$top/tests/obj

# What is inferred is tested without the list of known signatures: a copy of the program finds none.
mkdir "$tmp/unlisted"
cp "$btgen" "$tmp/unlisted/btgen"
unlisted=$tmp/unlisted/btgen

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
"$unlisted" probes --json -x "$tmp/stripped" >"$tmp/stripped.json"
"$here/args.py" "$tmp/declared.json" "$tmp/stripped.json" >"$tmp/out"
kinds=$(python3 -c 'import json, sys
print(sum(a["type"] in ("char *", "const char *", "char", "bool", "_Bool") for p in json.load(open(sys.argv[1])) for a in p["args"]))' "$tmp/declared.json")
like "$(cat "$tmp/out")" "^$kinds types and ([0-9]+) names" "a stripped program keeps its names, and which arguments are texts ($kinds)"
is "$(wc -l <"$tmp/out")" 1 "and they are right"
objcopy --only-keep-debug "$targets/nvmf_tgt" "$tmp/split.debug"
cp "$tmp/stripped" "$tmp/split"
objcopy --add-gnu-debuglink="$tmp/split.debug" "$tmp/split"
is "$("$btgen" probes --json -x "$tmp/split" | sed "s|$tmp/split|$targets/nvmf_tgt|")" "$(cat "$tmp/declared.json")" \
	"with a separate debug file everything is back"

objcopy --compress-debug-sections=zlib "$tmp/split.debug" "$tmp/split.packed"
mv "$tmp/split.packed" "$tmp/split.debug"
is "$("$btgen" probes --json -x "$tmp/split" | sed "s|$tmp/split|$targets/nvmf_tgt|")" "$(cat "$tmp/declared.json")" \
	"also when that is compressed, as Debian's are"

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
    arg0   ? size  declared; sites disagree about its type; sites disagree about its size or signedness" \
	"-v: a declaration, sentences, units, and where sites disagree" || sed 's/^/# /' "$tmp/out"
like "$(cat "$tmp/out")" '^    ADDR  note\(\), inlined into main\(\)  all.c:8  file offset ADDR$' \
	"a site names its function, where that is inlined, and its line"
like "$(cat "$tmp/out")" '^    semaphore ADDR$' "a semaphore is there"

mkfifo "$tmp/held"
"$tmp/all" <>"$tmp/held" >"$tmp/up" &
pid=$!
own $pid
wait_for grep -q up "$tmp/up"
is "$("$btgen" probes -v -p $pid sized | grep -o 'in the process.*')" "in the process now 0 (not traced)" \
	"-p: the counter in the process, while nobody traces"
is "$("$btgen" probes --json -p $pid sized |
	/usr/bin/python3 -c 'import json, sys; print([p["counter"] for p in json.load(sys.stdin)])')" "[0]" \
	"and in the JSON"

# --- can this bpftrace attach?
# shellcheck disable=SC2016 # the $ are the assembler's
cat >"$tmp/sym.s" <<'END'
	.globl main
	.type main, @function
main:	nop
	ret
	.size main, .-main
	.section .note.stapsdt,"","note"
	.balign 4
	.4byte 8, 9f-8f, 3
	.asciz "stapsdt"
8:	.8byte main, _.stapsdt.base, counter
	.asciz "app"
	.asciz "global"
	.asciz "4@value(%rip)"
9:	.balign 4
	.section .stapsdt.base,"aG","progbits",.stapsdt.base,comdat
_.stapsdt.base: .space 1
	.data
counter: .2byte 0
	.section .note.GNU-stack,"","progbits"
END
if [ "$(uname -m)" = x86_64 ] && "${CC:-gcc}" -no-pie -o "$tmp/sym" "$tmp/sym.s"; then
	attachable() { "$btgen" probes --json --for "$1" -x "$2" "$3" |
		/usr/bin/python3 -c 'import json, sys; p, = json.load(sys.stdin); print(p["attachable"], p["why_not"])'; }
	is "$(attachable 0.23 "$tmp/sym" global)" "True None" "bpftrace 0.23 can attach to a probe with a global in memory"
	is "$(attachable 0.27 "$tmp/sym" global)" "False it cannot read the location of arg0, 4@value(%rip), and by address it raises no semaphore" "0.27 cannot where it has a semaphore, and that is said"
	is "$(attachable 0.27 "$tmp/all" work)" "True None" "what it can read it can attach to"
	is "$("$btgen" expand --for 0.27 -x "$tmp/sym" -e 'usdt:__EXE__:global { print(1); }' 2>&1 | head -n 1)" \
		"<command line>:1:1: error: bpftrace 0.27 cannot attach to app:global: it cannot read the location of arg0, 4@value(%rip), and by address it raises no semaphore  [attach]" \
		"a script for it is an error, in the same words"
	sed 's/, counter$/, 0/' "$tmp/sym.s" >"$tmp/address.s"
	"${CC:-gcc}" -no-pie -o "$tmp/address" "$tmp/address.s"
	is "$(attachable 0.27 "$tmp/address" global)" "True None" "without one it can"
	at=$(readelf -sW "$tmp/address" | awk '$8 == "main" { print "0x" $2 }' | sed 's/0x0*/0x/')
	is "$("$btgen" expand --for 0.27 -x "$tmp/address" -e 'usdt:__EXE__:g* { print(probe); }' 2>&1)" \
		"uprobe:$tmp/address:$at { print(\"usdt:$tmp/address:app:global\"); }" "by the address of its site"
	optional='usdt:__EXE__:global { print(1); }
uprobe:__EXE__:main { print(2); }'
	printf '#pragma optional\n%s\n' "$optional" >"$tmp/optional.bt"
	is "$("$btgen" expand --for 0.27 -x "$tmp/sym" "$tmp/optional.bt" 2>&1 | grep -o '^btgen: .*\|^u[a-z]*:')" \
		"btgen: warning: 1 of 1 probes is skipped: bpftrace 0.27 cannot attach to app:global (bpftrace 0.23 can): it cannot read the location of arg0, 4@value(%rip), and by address it raises no semaphore
uprobe:" "a script that can do without it runs without it, and that is said"
	is "$("$btgen" expand --for 0.23 -x "$tmp/sym" "$tmp/optional.bt" 2>&1 | grep -o '^btgen: note.*\|^u[a-z]*:')" "usdt:
uprobe:" "0.23 runs it whole"
	# Another bpftrace is no help where none can.
	sed 's/global/gl*bal/' "$tmp/sym" >"$tmp/star"
	is "$(clauses_of 0.27 "$tmp/star" '*' 2>&1 | grep -c 'cannot attach to app:gl\*bal: its name\|0\.23 can')" 1 \
		"a name that no bpftrace can attach to: none is said to"
	for v in 0.23 0.27; do
		printf '#!/bin/sh\necho "bpftrace v%s.1"\n' $v >"$tmp/bpftrace-$v"
		chmod +x "$tmp/bpftrace-$v"
	done
	like "$("$top/scripts/bpftrace.sh" --bpftrace "$tmp/bpftrace-0.27" -l "$tmp/sym" global)" "by bpftrace 0\.27" \
		"-l judges by the bpftrace that is given"
	is "$("$top/scripts/bpftrace.sh" --bpftrace "$tmp/bpftrace-0.23" -l "$tmp/sym" global | grep -c 'by bpftrace')" 0 \
		"of which an older one can"
	sed -i '$d' "$tmp/optional.bt"
	is "$("$btgen" expand --for 0.27 -x "$tmp/sym" "$tmp/optional.bt" 2>&1)" \
		"btgen: error: bpftrace 0.27 can attach to none of the probes of this script, all of which are optional: global" \
		"one of which nothing is left is an error"
	sed 's/main, _/0, _/; s/4@value(%rip)/4@%ebx/' "$tmp/sym.s" >"$tmp/gone.s"
	"${CC:-gcc}" -no-pie -o "$tmp/gone" "$tmp/gone.s"
	is "$({ attachable 0.23 "$tmp/gone" global; attachable 0.27 "$tmp/gone" global; } 2>/dev/null)" \
		"True None
False the file has no code at one of its sites" "0.23 passes over a site without code, 0.27 does not attach"
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
	# Without the target's own log: what calls it in a cold branch before each probe is in no other program, and where gcc 16
	# reloads an argument behind that call its debug information has no location for it.
	plain_sources() {
		cp "$targets"/*.[ch] "$tmp/plain"
		sed -i '/^#define PROBE_LOG(/,/while (0)/c #define PROBE_LOG(name, ...) do { } while (0)' "$tmp/plain/probes.h"
		# One release: what -D decides is not in the program.
		sed -i '/^#if SPDK_RELEASE/,/^#endif/d' "$tmp/plain/probes.h"
	}
	plain_sources
	for level in -O0 -O2 -Os; do
		(cd "$tmp/plain" && "${CC:-gcc}" -std=gnu11 $level -g -D_GNU_SOURCE -I. -pthread -o tgt ./*.c) || ok "compiles $level" false
		"$unlisted" probes --json -x "$tmp/plain/tgt" >"$tmp/inferred.json"
		"$here/args.py" "$tmp/declared.json" "$tmp/inferred.json" >"$tmp/out"
		is "$(sed '$d' "$tmp/out")" "" "$level, with the source at hand: every type and name that is shown is right" &&
			printf '# %s, with source: %s (%d %%)\n' $level "$(tail -n 1 "$tmp/out")" "$(share "$tmp/out")"
		ok "$level: all types are known" test "$(share "$tmp/out")" -eq 100
		not_ok "$level: nothing of it is called declared" grep -q '"declared"' "$tmp/inferred.json"
		mv "$tmp/plain/target.c" "$tmp/plain/subsystem.c" "$tmp"
		# A source that is newer than the program is not believed.
		sed -i 's/PROBE(/PROBE (wrong, /' "$tmp"/plain/*.c
		"$unlisted" probes --json -x "$tmp/plain/tgt" >"$tmp/inferred.json"
		"$here/args.py" "$tmp/declared.json" "$tmp/inferred.json" >"$tmp/out"
		is "$(sed '$d' "$tmp/out")" "" "$level, without the source, or with a newer one: all that is shown is right" &&
			printf '# %s, without: %s (%d %%)\n' $level "$(tail -n 1 "$tmp/out")" "$(share "$tmp/out")"
		ok "$level: at least 60 % of the types are known all the same" test "$(share "$tmp/out")" -ge 60
		# What that did not tell is listed. A function is listed without the name of its type.
		"$btgen" probes --json -x "$tmp/plain/tgt" >"$tmp/listed.json"
		"$here/args.py" --all "$tmp/declared.json" "$tmp/listed.json" >"$tmp/out"
		is "$(sed -E 's/^([0-9]+) types and [0-9]+ names of \1 arguments$/all/' "$tmp/out")" all \
			"$level, with the list: all types of all 50 probes are known, and right"
		like "$(cat "$tmp/listed.json")" '"listed"' "$level: which says what is from the list"
		strip -o "$tmp/plain/bare" "$tmp/plain/tgt"
		"$btgen" probes --json -x "$tmp/plain/bare" >"$tmp/listed.json"
		"$here/args.py" --all "$tmp/declared.json" "$tmp/listed.json" >"$tmp/out"
		is "$(sed -E 's/^([0-9]+) types and [0-9]+ names of \1 arguments$/all/' "$tmp/out")" all \
			"$level, with nothing but the list: likewise"
		plain_sources
	done
	# With the log all that is shown must be right as well, however little that is.
	cp "$targets"/*.[ch] "$tmp/plain"
	(cd "$tmp/plain" && "${CC:-gcc}" -std=gnu11 -O2 -g -D_GNU_SOURCE -I. -pthread -o tgt ./*.c && touch -d 2001-01-01 tgt)
	"$unlisted" probes --json -x "$tmp/plain/tgt" >"$tmp/inferred.json"
	"$here/args.py" "$tmp/declared.json" "$tmp/inferred.json" >"$tmp/out"
	is "$(sed '$d' "$tmp/out")" "" "behind calls in cold branches all that is shown is right" &&
		printf '# behind calls in cold branches: %s\n' "$(tail -n 1 "$tmp/out")"

	# Globals, statics of a file and of functions, members of them; and where a guess would be wrong: a pointer to a struct is
	# one to its first member, too, and a constant of four bytes can be an enumerator's where that has a sign.
	cat >"$tmp/traps.c" <<'END'
#include <sys/sdt.h>
enum mood { SAD, GLAD };
struct job { char name[8]; long size; struct job *next; };
struct lock { int held; long id; };
static long hits;
int limits[4];
struct conf { int level; char name[8]; enum mood mood; } conf;
volatile int sink;
#define KEEP __attribute__((noinline))
KEEP static void globals(void) { STAP_PROBE2(trap, globals, hits, conf.mood); sink += limits[sink & 3]; }
KEEP static void addresses(void) { STAP_PROBE2(trap, addresses, limits, &conf.mood); }
KEEP static unsigned long statics(int n)
{
	static unsigned long total;
	STAP_PROBE1(trap, statics, total);
	{
		static short total;
		STAP_PROBE1(trap, inner, total);
		total += n;
	}
	return total += n;
}
KEEP static void first(struct job *p) { STAP_PROBE1(trap, first, p); sink = (int)p->size; }
KEEP static void second(struct job *q) { STAP_PROBE1(trap, first, q); sink = (int)q->size; }
KEEP static void twins(struct lock *l) { STAP_PROBE2(trap, twins, &l->held, l); sink = (int)l->id; }
KEEP static void numbers(int n) { STAP_PROBE3(trap, numbers, 0, GLAD, (short)5); sink = n; }
int main(int argc, char **argv)
{
	struct job j = {"job", argc, 0};
	struct lock l = {argc, argc};
	(void)argv;
	hits += argc;
	globals();
	addresses();
	first(&j);
	second(&j);
	twins(&l);
	numbers(argc);
	return (int)statics(argc);
}
END
	sed 's/enum mood { SAD/enum mood { WORSE = -1, SAD/' "$tmp/traps.c" >"$tmp/signed.c"
	cat >"$tmp/traps.txt" <<'END'
trap:globals long int|hits, enum mood|mood
trap:addresses int *|limits, enum mood *|mood
trap:statics long unsigned int|total
trap:inner short int|total
trap:first struct job *|p/q
trap:twins int *|held, struct lock *|l
trap:numbers int|-, int|-, short int|-
END
	for level in "-O0" "-O1" "-O2 -fno-pie -no-pie" "-O2 -flto" -Os; do
		# shellcheck disable=SC2086 # several options
		"${CC:-gcc}" $level -g -o "$tmp/traps" "$tmp/traps.c"
		touch -d 2001-01-01 "$tmp/traps"
		"$btgen" probes --json -x "$tmp/traps" >"$tmp/inferred.json"
		"$here/args.py" "$tmp/traps.txt" "$tmp/inferred.json" >"$tmp/out"
		is "$(sed '$d' "$tmp/out")" "" "$level: nothing is wrong where guesses would be" &&
			printf '# %s, globals and traps: %s\n' "$level" "$(tail -n 1 "$tmp/out")"
		[ "$level" = -O0 ] ||
			is "$("$btgen" probes -v -x "$tmp/traps" | grep '^trap:\(globals\|statics\|inner\|numbers\)' |
				sort)" "trap:globals(long int hits, enum mood mood)
trap:inner(short int total)
trap:numbers(int arg0, int arg1, int16_t arg2)
trap:statics(long unsigned int total)" "$level: variables that are not the function's own, and constants"
	done
	"${CC:-gcc}" -O2 -g -o "$tmp/traps" "$tmp/signed.c"
	touch -d 2001-01-01 "$tmp/traps"
	like "$("$btgen" probes -v -x "$tmp/traps" numbers)" '^trap:numbers\(int32_t arg0, int32_t arg1, int16_t arg2\)$' \
		"a constant of a program with a signed enumeration may be one of its"
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
	is "$("$btgen" probes -v -x "$tmp/listed" | grep '^postgresql\|^    [a-z]')" "postgresql:query__start(const char *query)
    arg0   const char *query  listed
postgresql:checkpoint__start(int64_t flags)
    arg0   int64_t flags  listed
postgresql:query__done(uint64_t arg0, int32_t arg1)
    probes.conf is not used: it lists 1 argument
    arg0   uint64_t arg0  size only
    arg1   int32_t arg1   size only" "listed names and types are used where number, size and sign fit"

	# The binary goes before the list.
	cat >"$tmp/spdk.c" <<'END'
#include <sys/sdt.h>
struct ctrlr { long a; };
enum nvmf_tgt_state { UP, DOWN };
__attribute__((noinline)) static void destroyed(struct ctrlr *c) { DTRACE_PROBE2(spdk, nvmf_subsystem_destroy, 0, c); __asm__ volatile("" : : "r"(c)); }
__attribute__((noinline)) static void state(enum nvmf_tgt_state now) { DTRACE_PROBE2(spdk, nvmf_tgt_state, 0, now); __asm__ volatile("" : : "r"(now)); }
__attribute__((noinline)) static void run(void (*fn)(void), void *arg1) { DTRACE_PROBE4(spdk, event_exec, 0, fn, arg1, fn); __asm__ volatile("" : : "r"(fn), "r"(arg1)); }
int main(int argc, char **argv)
{
	DTRACE_PROBE2(spdk, nvmf_subsystem_create, 5, argv[0]);
	DTRACE_PROBE2(spdk, nvmf_create_poll_group, 0, (long)argc);
	DTRACE_PROBE2(other, nvmf_tgt_state, 0, argc);
	struct ctrlr c = {argc};
	destroyed(&c);
	state(argc > 1 ? UP : DOWN);
	run((void (*)(void))destroyed, argv);
	return 0;
}
END
	"${CC:-gcc}" -O1 -g -o "$tmp/spdk" "$tmp/spdk.c"
	touch -d 2001-01-01 "$tmp/spdk"
	"$btgen" probes -v -x "$tmp/spdk" | grep '^[a-z]\|^    [a-z]' >"$tmp/out"
	# said PROBE: what is known of its arguments
	said() { sed -n "/^$1(/,/^[a-z].*)\$/{/^    /p}" "$tmp/out" | tr -s ' '; }
	is "$(said spdk:nvmf_subsystem_create | head -n 1)" " probes.conf is not used: it lists arg0 as always 0" \
		"an argument that is listed as constant and has another value"
	is "$(said spdk:nvmf_create_poll_group | head -n 1)" " probes.conf is not used: it lists arg0 as uint64_t" \
		"an operand that is too small for what is listed, as in an older program"
	is "$(said spdk:nvmf_subsystem_destroy)" " probes.conf is not used: it lists arg1 as char *
 arg0 int arg0 inferred
 arg1 struct ctrlr *c inferred" "a variable of another type is where the argument is"
	is "$(said spdk:nvmf_tgt_state)" " arg0 int arg0 inferred, constant 0: -t omits it
 arg1 enum nvmf_tgt_state now inferred; documented as g_tgt_state" "where all agrees, what was inferred goes before"
	is "$("$btgen" expand --for 0.17 -x "$tmp/spdk" -e 'usdt:__EXE__:spdk:nvmf_tgt_state { print((args.g_tgt_state, args.now)); }' 2>&1 | sed 's/.*{/{/')" \
		"$("$btgen" expand --for 0.17 -x "$tmp/spdk" -e 'usdt:__EXE__:spdk:nvmf_tgt_state { print((args.now, args.now)); }' 2>&1 | sed 's/.*{/{/')" \
		"... and a script that has the listed name is understood"
	is "$(said other:nvmf_tgt_state | head -n 1)" " arg0 int arg0 inferred" "another provider is another program"
	like "$(cat "$tmp/out")" '^    arg2   void \*fn_arg1 ' "what the source calls arg1 and is arg2 has no such name"
	unlike "$(cat "$tmp/out")" 'void \*arg1' "at no place"
	is "$(clauses_of 0.17 "$tmp/spdk" spdk:nvmf_tgt_state spdk:nvmf_subsystem_create spdk:event_exec \
		2>&1 | grep printf | sed "s,argv=,arg1=,")" \
'	printf("%s %s[%d] spdk:nvmf_tgt_state now=%s\n",
	printf("%s %s[%d] spdk:nvmf_subsystem_create arg0=%ld arg1=\"%s\"\n",
	printf("%s %s[%d] spdk:event_exec fn=%s fn_arg1=0x%lx fn_arg2=0x%lx\n",' \
		"what the macro adds is not printed, a number of the program's own is; a function has its name"
	strip -o "$tmp/spdk.bare" "$tmp/spdk"
	is "$(clauses_of 0.17 "$tmp/spdk.bare" spdk:nvmf_tgt_state 2>&1 | tail -n 6)" \
		'// nvmf_tgt_state(int arg0, enum nvmf_tgt_state g_tgt_state)
usdt:__EXE__:spdk:nvmf_tgt_state
{
	printf("%s %s[%d] spdk:nvmf_tgt_state g_tgt_state=%lu\n",
	       strftime("%H:%M:%S.%f", nsecs), comm, tid, args.g_tgt_state);
}' "an enum that is listed and not in the program is its number"

	mkdir -p "$tmp/list/bin" "$tmp/list/bpf"
	cp "$btgen" "$tmp/list/bin/btgen"
	printf 'spdk:%s(long long x)\nspdk:%s(struct *x)\nspdk:%s(void (*f)(int))\nspdk:%s(enum e)\na:ok(0, enum e x)\na:unused(enum)\n' \
		nvmf_subsystem_destroy nvmf_tgt_state nvmf_subsystem_create nvmf_create_poll_group >"$tmp/list/bpf/probes.conf"
	is "$("$tmp/list/bin/btgen" probes -v -x "$tmp/spdk" 2>&1 >/dev/null | sed -n 's/.*\(probes.conf:[0-9]*: error: \).*/\1/p')" \
		"$(printf 'probes.conf:%d: error: \n' 1 2 3 4)" \
		"mistakes in the list are told at their lines, those of a probe when it is asked for"
	printf 'a:ok(0)\na:b(\nab(int a)\n' >"$tmp/list/bpf/probes.conf"
	is "$("$tmp/list/bin/btgen" probes -x "$tmp/spdk" 2>&1 >/dev/null | grep -c 'probes.conf:[23]: error: ')" 2 \
		"what is no probe at all, at once"

	# An enum may have its enumerators in the list, for programs that do not have them.
	printf 'enum a { A, B\nenum b { };\nenum c { 1 };\nenum d { A = };\nenum e { A = 4294967296 };\nenum { A };\n' >"$tmp/list/bpf/probes.conf"
	is "$("$tmp/list/bin/btgen" probes -v -x "$tmp/spdk" 2>&1 >/dev/null | grep -c 'probes.conf:[1-6]: error: ')" 6 \
		"mistakes in listed enums, too"
	cat >"$tmp/list/bpf/probes.conf" <<'END'
enum state { OFF, ON, BROKEN = 7 };
enum level { LOW = -1, HIGH };
a:on(enum state now)
a:at(enum level now)
a:wide(enum state now)
END
	cat >"$tmp/enum.c" <<'END'
#include <sys/sdt.h>
enum state { UP, DOWN } state;
int main(int argc, char **argv)
{
	STAP_PROBE1(a, on, argc & 1u);
	STAP_PROBE1(a, on, 1);
	STAP_PROBE1(a, at, argc - 2);
	STAP_PROBE1(a, wide, argc & 1ul);
	return state;
}
END
	"${CC:-gcc}" -O1 -g -o "$tmp/enum" "$tmp/enum.c"
	strip -o "$tmp/enum.bare" "$tmp/enum"
	touch -d 2001-01-01 "$tmp/enum"
	is "$("$tmp/list/bin/btgen" probes -v -x "$tmp/enum.bare" | grep '^a:')" "a:on(enum state now)
a:at(enum level now)
a:wide(uint64_t now)" "an enum is used where its size and sign fit, or the operand is one of its constants"
	# names FILE: what the argument of a:on can be called
	names() {
		"$tmp/list/bin/btgen" expand --for 0.17 -x "$1" -e 'usdt:__EXE__:a:on { printf("%s\n", enum_name(state, args.now)); }' |
			grep -oE '"[A-Z]+"' | tr -d '\n'
	}
	is "$(names "$tmp/enum.bare")" '"OFF""ON""BROKEN"' "its names are those of the list"
	is "$(names "$tmp/enum")" '"UP""DOWN"' "those of the program go before"
	like "$("$tmp/list/bin/btgen" run -n --bpftrace /nonexistent -t a:at -x "$tmp/enum.bare")" 'now=%s.*' "-t prints it by name"

	# A probe that has changed with a version of its program.
	printf 'a:%s\n' 'at(int x, int y)' 'at(int level)' 'at(int x, int y, int z)' 'on(long x, long y)' 'on(long x)' >"$tmp/list/bpf/probes.conf"
	is "$("$tmp/list/bin/btgen" probes -v -x "$tmp/enum.bare" | grep -A1 '^a:[ao]' | grep -v '^--')" "a:on(? arg0)
    probes.conf is not used: it lists 2 arguments
a:at(int level)
    arg0   int level  listed" "of several forms of a probe that one is used which fits"
fi

# --- sites whose types nobody knows: what their notes tell is no type of the others

cat >"$tmp/first.c" <<'END'
#include <btgen/usdt.h>
struct box { int w; };
int other(long number);
int main(int argc, char **argv)
{
	struct box b = {argc};
	USDT_PROBE(mixed, one, USDT_ARG(&b, "box"), USDT_ARG(argv[0], "word"), USDT_ARG((long)argc, "number"), USDT_ARG(argv[0], "text"));
	return other(argc);
}
END
cat >"$tmp/second.c" <<'END'
#include <btgen/usdt.h>
int other(long number);
int other(long number)
{
	char text[] = "text";
	USDT_PROBE(mixed, one, USDT_ARG(text, "box"), USDT_ARG(number, "word"), USDT_ARG((const char *)text, "number"), USDT_ARG((const char *)text, "text"));
	USDT_PROBE(mixed, one, USDT_ARG(text, "box"), USDT_ARG(text, "word"), USDT_ARG(number, "number"), USDT_ARG((const char *)0, "text"));
	return text[number & 3];
}
END
for how in "-g0 -g0" "-g -g0" "-g0 -g" "-g -g"; do
	# shellcheck disable=SC2086 # two words
	set -- $how
	gcc -O2 "$1" -I"$top/include" -c -o "$tmp/first.o" "$tmp/first.c"
	gcc -O2 "$2" -I"$top/include" -c -o "$tmp/second.o" "$tmp/second.c"
	gcc -o "$tmp/mixed" "$tmp/first.o" "$tmp/second.o"
	like "$("$btgen" probes -x "$tmp/mixed")" \
		'^mixed:one\(uint64_t box, \? word, \? number, (const )?char \*text\)  3 sites$' "sites of two files, $how"
done

done_testing
