#!/usr/bin/env bash
# Arguments that this bpftrace cannot read, each in the middle of three: whatever it is, the others are traced, and so are the
# other probes. Before 0.24 the argument is lost alone; newer ones refuse its whole probe, which is attached to by address.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"
[ "$(uname -m)" = x86_64 ] || skip_all "the operands are those of x86-64"

cat >"$tmp/app.c" <<'E2'
#include <stdio.h>
__asm__(".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n.weak _.stapsdt.base\n.hidden _.stapsdt.base\n"
	"_.stapsdt.base: .space 1\n.size _.stapsdt.base,1\n.popsection\n");
#define SITE(name, arg, ...) \
	__asm__ volatile("990: nop\n.pushsection .note.stapsdt,\"?\",\"note\"\n.balign 4\n.4byte 992f-991f,994f-993f,3\n" \
			 "991: .asciz \"stapsdt\"\n992: .balign 4\n993: .8byte 990b,_.stapsdt.base,0\n.asciz \"app\"\n.asciz \"" name \
			 "\"\n.asciz \"-4@$7 " arg " -4@%k[n]\"\n994: .balign 4\n.popsection\n" : : [n] "r"(n), ##__VA_ARGS__)
struct large { char c[176]; };
struct three { char c[3]; };
long global = 4711, table[4] = {1, 2, 3, 4};
static __thread long own = 5;
__attribute__((noinline)) static void count(int n) { static long calls = 42; calls += n > 1000; SITE("statics", "-8@%[m]", [m] "m"(calls)); }
__attribute__((noinline)) static void fire(int n, struct large s, struct three t, __int128 i, long index)
{
	static long calls = 43;
	calls += n > 1000;
	SITE("good", "-8@%[m]", [m] "r"(index));
	SITE("local", "-8@%[m]", [m] "m"(calls));
	SITE("global", "-8@%[m]", [m] "m"(global));
	SITE("behind", "-8@table+16(%%rip)");
	SITE("large", "176@%[m]", [m] "m"(s));
	SITE("three", "3@%[m]", [m] "m"(t));
	SITE("wide", "16@%[m]", [m] "m"(i));
	SITE("vector", "16@%[m]", [m] "x"((double)index));
	SITE("tls", "-8@%[m]", [m] "m"(own));
	SITE("got", "-8@global@GOTPCREL(%%rip)");
	SITE("scaled", "-8@8(,%[m],8)", [m] "r"(index));
	SITE("high", "-1@%%ah");
	SITE("indexed", "-8@8(%[b],%[m],8)", [b] "r"(table), [m] "r"(index + 1));
}
int main(void)
{
	struct large s = {"large"};
	struct three t = {"t"};
	getchar();
	for (int n = 1; n < 3; n++) {
		count(n);
		fire(n, s, t, n, 1);
	}
	puts("done");
	fflush(stdout);
	getchar();
}
E2
"${CC:-gcc}" -O1 -g -o "$tmp/app" "$tmp/app.c" || exit 1
like "$(readelf -n "$tmp/app" | tr '\n' ' ')" '-8@calls\.[0-9]+\(%rip\) .* 176@[0-9]*\(%rsp\) .*-8@%fs:own@tpoff' \
	"gcc writes such operands"
list=$("$btgen" probes -x "$tmp/app")
like "$list" 'app:large\([^,]* arg0, 176 bytes [a-z0-9]+, ' "a struct by value is listed by its size"
unlike "$list" 'int(24|128|1408)_t' "no type is invented"

# What each has in the middle.
values='behind 3
global 4711
good 1
indexed 4
local 43
statics 42'
unreadable='got high large scaled three tls vector wide'
n_traced=14
{
	echo "$values"
	for probe in $unreadable; do echo "$probe ?"; done
} | awk '{ print $1, 7, $2, 1; print $1, 7, $2, 2 }' | sort >"$tmp/want"

live_start "$tmp/app"
live_round -t 'app:*' "$live_pid"
is "$(sed -nE 's/^.* app:([a-z]+) +[a-z0-9]+=7 [a-z0-9]+=([^ ]*) [a-z0-9]+=(.*)$/\1 7 \2 \3/p' "$tmp/trace" | sort)" \
	"$(cat "$tmp/want")" "-t 'app:*' shows all that can be read, and ? for the rest"
unlike "$(cat "$tmp/messages")" 'Parse error|error:|^-+\^' "no error, and no parser's complaint about what is known"

# A script: what it reads is checked, what it does not read is no matter to it.
cat >"$tmp/reads.bt" <<'E2'
usdt:__EXE__:app:large { printf("%d\n", arg1); }
E2
out=$("$btgen" check -x "$tmp/app" "$tmp/reads.bt" 2>&1)
live_start "$tmp/app"
live_round "$live_pid" -e 'usdt:__EXE__:app:* { printf("%s\n", probe); }'
is "$(sed -n 's/^usdt:.*:app:/app:/p' "$tmp/trace" | sort | uniq -c | awk '$1 == 2' | wc -l)" $n_traced "a pattern in a script does as -t"
unlike "$(cat "$tmp/messages")" 'skipped' "and skips nothing"
like "$out" 'reads.bt:1:[0-9]*: error: bpftrace cannot read arg1 of app:large: it has 176 bytes' \
	"check: a script that reads it is an error at its place"
for probe in large three wide vector tls got scaled high; do
	printf 'usdt:__EXE__:app:%s { printf("%s %%d %%d\\n", arg0, arg2); }\n' "$probe" "$probe"
done >"$tmp/beside.bt"
live_start "$tmp/app"
live_round "$live_pid" "$tmp/beside.bt"
is "$(grep . "$tmp/trace" | sort)" "$(for probe in $unreadable; do echo "$probe 7 1"; echo "$probe 7 2"; done | sort)" \
	"a script reads what is before and behind it"
unlike "$(cat "$tmp/messages")" 'Parse error|error:|^-+\^' "and nothing is said"

# Without symbols bpftrace wants --unsafe for addresses, and counts them from the start of the file.
for pie in -pie -no-pie; do
	"${CC:-gcc}" -O1 -g $pie -f${pie#-} -o "$tmp/app" "$tmp/app.c" || exit 1
	strip "$tmp/app"
	live_start "$tmp/app"
	live_round "$live_pid" -e 'usdt:__EXE__:app:* { printf("%s %d %d\n", probe, arg0, arg2); }'
	is "$(sed -n 's/^usdt:.*:\(app:.* 7 [12]\)$/\1/p' "$tmp/trace" | sort | uniq | wc -l) $(grep -c 'error:\|arning' "$tmp/messages")" \
		"$((2 * n_traced)) 0" "$pie: a stripped program, too"
done
out=$("$live_sh" -n -x "$tmp/app" -e 'usdt:__EXE__:app:large { system("true"); }' 2>&1)
if [ "$("$bpftrace" --version | sed 's/.*v0\.\([0-9]*\).*/\1/')" -ge 24 ]; then
	like "$out" '1:26: error: system\(\) cannot be used together with app:large: bpftrace attaches to that with --unsafe only' \
		"which is for the attach points alone"
else
	unlike "$out" 'error' "older ones have no need of it"
fi
done_testing
