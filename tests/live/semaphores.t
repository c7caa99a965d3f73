#!/usr/bin/env bash
# Probes whose sites do not share a semaphore, as a macro in inlined code or Rust's crates make them. bpftrace up to 0.23 raises
# the first site's only, and the other sites are silent.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"
can_trace || skip_all "needs root and bpftrace"
[ "$(uname -m)" = x86_64 ] || skip_all "the operands are those of x86-64"

# For each byte of its input, one round: `each` has three sites with three semaphores, `zero` one without and one with, `some` a
# mixture, and behind the nop of the second site of `bad` is an instruction that the kernel takes no probe at. Says what was entered.
cat >"$tmp/app.c" <<'E'
#include <stdio.h>
volatile unsigned short sa __attribute__((section(".probes"))), sb __attribute__((section(".probes"))), sc __attribute__((section(".probes")));
#define NOTE(name, value, sema, behind) \
	__asm__ volatile("990: nop\n" behind "\n.pushsection .note.stapsdt,\"?\",\"note\"\n.balign 4\n.4byte 992f-991f,994f-993f,3\n" \
			 "991: .asciz \"stapsdt\"\n992: .balign 4\n993: .8byte 990b,_.stapsdt.base," sema "\n.asciz \"prov\"\n.asciz \"" name \
			 "\"\n.asciz \"-4@%0\"\n994: .balign 4\n.popsection\n.ifndef _.stapsdt.base\n" \
			 ".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n.weak _.stapsdt.base\n.hidden _.stapsdt.base\n" \
			 "_.stapsdt.base: .space 1\n.size _.stapsdt.base,1\n.popsection\n.endif\n" : : "r"(value) : "memory")
#define SITE(name, value, sema, behind) do { if (sema) { n++; NOTE(name, value, #sema, behind); } } while (0)
int main(void)
{
	int c;
	puts("waiting");
	fflush(stdout);
	while ((c = getchar()) == 'x') {
		int n = 0;
		SITE("each", 1, sa, ""); SITE("each", 2, sb, ""); SITE("each", 3, sc, "");
		printf("each %d\n", n);
		n = 1;
		NOTE("zero", 1, "0", ""); SITE("zero", 2, sb, "");
		printf("zero %d\n", n);
		n = 1;
		SITE("some", 1, sc, ""); NOTE("some", 2, "0", ""); SITE("some", 3, sb, ""); SITE("some", 4, sb, ""); SITE("some", 5, sc, "");
		printf("some %d\n", n);
		n = 0;
		SITE("bad", 1, sa, ""); SITE("bad", 2, sb, "lock addl $0, (%%rsp)");
		printf("bad %d\n", n);
		fflush(stdout);
	}
}
E
"${CC:-gcc}" -O0 -fno-pie -no-pie -o "$tmp/app" "$tmp/app.c" || exit 1
is "$(readelf -n "$tmp/app" | grep -c 'Name: \(each\|zero\|some\|bad\)')" 12 "the program has these sites"
raised() { # PID: what its semaphores count
	python3 - "$1" "$(nm "$tmp/app" | sed -n 's/ . s[abc]$//p' | sort)" <<'E'
import sys
with open(f"/proc/{sys.argv[1]}/mem", "rb") as f:
    for at in sys.argv[2].split():
        f.seek(int(at, 16))
        print(int.from_bytes(f.read(2), "little"), end=" ")
E
}
version=$("$bpftrace" --version | sed 's/.* v0\.\([0-9]*\).*/\1/')

# round PROBE ARG...: a trace of three rounds, its lines in $tmp/trace, and how often the program entered the probe in $entered
round() {
	local probe=$1
	shift
	ok "$probe $1 attaches" live_trace "$@" || return
	printf xxx >&8
	rounds=$((rounds + 3))
	wait_for eval '[ "$(grep -c ^bad "$tmp/answers")" = "$rounds" ]'
	wait_for live_still
	live_wait INT
	entered=$(grep "^$probe" "$tmp/answers" | tail -n 3 | awk '{ n += $2 } END { print n }')
}

live_start "$tmp/app"
rounds=0
for probe in each zero some; do
	case $probe in each) all=9 ;; zero) all=6 ;; some) all=15 ;; esac
	round $probe -p "$live_pid" -e "usdt:__EXE__:prov:$probe { printf(\"%d\\n\", arg0); }"
	is "$entered $(grep -c . "$tmp/trace") $(sort -u "$tmp/trace" | grep -c .)" "$all $all $((all / 3))" "$probe: each site fires, in a script"
	wait_for eval '[ "$(raised "$live_pid")" = "0 0 0 " ]' # once what bpftrace had attached is closed, which goes on after the end
	is "$(raised "$live_pid")" "0 0 0 " "$probe: the semaphores are down again"
done

# In other ways.
probe=some all=15
round $probe -t "prov:$probe" "$live_pid"
is "$entered $(grep -c "$probe" "$tmp/trace")" "$all $all" "$probe: with -t"
round $probe --count -t "prov:$probe" "$live_pid"
is "$entered $(grep -o '[0-9]*$' "$tmp/trace")" "$all $all" "$probe: with --count"
round $probe -x "$tmp/app" -e "usdt:__EXE__:prov:$probe { printf(\"%d\\n\", arg0); }"
is "$entered $(grep -c . "$tmp/trace")" "$all $all" "$probe: with -x"

# A process that starts while the file is traced.
ok "-x attaches" live_trace -N 3 -x "$tmp/app" -e 'usdt:__EXE__:prov:each { printf("%d\n", arg0); }'
printf x | "$tmp/app" >"$tmp/later"
live_wait
is "$(grep each "$tmp/later") $(sort "$tmp/trace" | paste -sd ' ')" "each 3 1 2 3" "-x: a process that starts later has all of them, too"

ok "-v attaches" live_trace -v -N 3 -p "$live_pid" -e 'usdt:__EXE__:prov:each { printf("%d\n", arg0); }'
up=$(raised "$live_pid")
printf x >&8
live_wait
rounds=$((rounds + 1))
unlike "$up" '(^| )0 ' "while it is traced each semaphore is up"
if [ "$version" -le 23 ]; then
	like "$(cat "$tmp/messages")" 'prov:each: semaphores that bpftrace does not raise, raised by btgen: 2$' "-v says that they are btgen's"
else
	unlike "$(cat "$tmp/messages")" 'raised by btgen' "-v: this bpftrace raises them itself"
fi

ok "a trace attaches" live_trace -p "$live_pid" -e 'usdt:__EXE__:prov:each { printf("%d\n", arg0); }'
kill -KILL $live_tracer
wait $live_tracer 2>/dev/null
wait_for eval '[ "$(raised "$live_pid")" = "0 0 0 " ]'
is "$(raised "$live_pid")" "0 0 0 " "KILL to btgen: the semaphores are down again"

# The kernel refuses the second site of `bad`, by bpftrace alone or by us.
round bad --strict -p "$live_pid" -e 'usdt:__EXE__:prov:bad { printf("%d\n", arg0); }'
if [ "$version" -le 23 ]; then
	is "$entered $live_rc $(sort -u "$tmp/trace")" "3 3 1" "a semaphore that the kernel cannot raise: the site is silent, and --strict is status 3"
	like "$(cat "$tmp/messages")" '^btgen: warning: prov:bad: 1 of its 2 semaphores stay 0, so their sites do not fire: bpftrace does not raise them, and the kernel cannot: ' \
		"... with a warning"
	round bad -q -f json -p "$live_pid" -e 'usdt:__EXE__:prov:bad { printf("%d\n", arg0); }'
	like "$(head -n 1 "$tmp/trace")" '"skipped": \[\{"probe": "prov:bad", "reason": "' "... in JSON as a skipped probe"
	like "$(cat "$tmp/messages")" '^btgen: warning: prov:bad: ' "... with -q as well"
else
	is "$entered $live_rc $(sort -u "$tmp/trace" | paste -sd ' ')" "6 0 1 2" "the kernel is asked for no instruction but the site's"
fi
exec 8>&-

# Where btgen is not there to raise them.
bare() { "$btgen" expand --for "$1" -x "$tmp/app" -e "usdt:__EXE__:prov:$2 { @ = count(); }" 2>&1 >/dev/null | head -n 1; }
is "$(bare 0.23 each)" "<command line>:1:1: warning: 2 of 3 sites of prov:each will not fire: bpftrace 0.23 raises only the first site's semaphore; run the script with bpftrace.sh, or a newer bpftrace  [dead-probe]" \
	"a program for bpftrace alone: the warning counts the sites that are silent"
is "$(bare 0.27 each)" "" "not of a bpftrace that raises each"
like "$("$btgen" bundle -x "$tmp/app" --for 0.17 -e 'usdt:__EXE__:prov:some { @ = count(); }' 2>&1 >/dev/null)" 'warning: 2 of 5 sites of prov:some will not fire' "a bundle warns, too"
listed() { "$btgen" probes -v -x "$tmp/app" "prov:$1" | sed -n 's/^ *semaphore 0x[0-9a-f]*//p'; }
is "$(listed each)/$(listed zero)/$(listed some)" ", another at 2 of 3 sites/, none at 1 of 2 sites/, another at 2 of 5 sites, none at 1 of 5 sites" \
	"the list of probes says which sites have another"
done_testing
