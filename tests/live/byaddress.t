#!/usr/bin/env bash
# Probes that bpftrace from 0.24 on refuses for one operand are attached to by the addresses of their sites: several sites of one, in
# the program and in a library. The values are the program's own, the names are those of the probes, and so they are before 0.24.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"
[ "$(uname -m)" = x86_64 ] || skip_all "the operands are those of x86-64"
version=$("$bpftrace" --version | sed 's/.*v0\.\([0-9]*\).*/\1/')

cat >"$tmp/site.h" <<'E2'
#include <stdio.h>
__asm__(".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n.weak _.stapsdt.base\n.hidden _.stapsdt.base\n"
	"_.stapsdt.base: .space 1\n.size _.stapsdt.base,1\n.popsection\n");
#define SITE(provider, name, args, ...) \
	__asm__ volatile("990: nop\n.pushsection .note.stapsdt,\"?\",\"note\"\n.balign 4\n.4byte 992f-991f,994f-993f,3\n" \
			 "991: .asciz \"stapsdt\"\n992: .balign 4\n993: .8byte 990b,_.stapsdt.base,0\n.asciz \"" provider \
			 "\"\n.asciz \"" name "\"\n.asciz \"" args "\"\n994: .balign 4\n.popsection\n" : : __VA_ARGS__)
E2
cat >"$tmp/lib.c" <<'E2'
#include "site.h"
static long total = -3;
int add(int n)
{
	total += n;
	SITE("lib", "add", "-8@%[m] -4@%k[n]", [m] "m"(total), [n] "D"(n));
	printf("lib:add %ld %d\n", total, n);
	return n > 1;
}
E2
cat >"$tmp/app.c" <<'E2'
#include "site.h"
int add(int n);
// Two sites, which have the number in one register.
__attribute__((noinline)) void once(int n) { SITE("app", "twice", "-4@%k[n] 8f@%%xmm0", [n] "D"(n)); printf("app:twice %d\n", n); }
__attribute__((noinline)) void more(int n) { SITE("app", "twice", "-4@%k[n] 8f@%%xmm0", [n] "D"(n)); printf("app:twice %d\n", n); }
int main(void)
{
	getchar();
	for (int i = 0; i < 3; i++) {
		SITE("app", "plain", "-4@%k[n]", [n] "D"(i));
		printf("app:plain %d\n", i);
		once(i * 7);
		if (add(i))
			more(-i);
	}
	puts("done");
	fflush(stdout);
	getchar();
}
E2
"${CC:-gcc}" -O1 -g -shared -fPIC -o "$tmp/libadd.so" "$tmp/lib.c" || exit 1
"${CC:-gcc}" -O1 -g -o "$tmp/app" "$tmp/app.c" "$tmp/libadd.so" -Wl,-rpath,"$tmp" || exit 1
passed() { grep : "$tmp/answers" | sort; } # what the program says of itself

cat >"$tmp/s.bt" <<'E2'
usdt:__EXE__:app:t* { printf("%s %d\n", probe, arg0); }
usdt:__EXE__:lib:add, usdt:__EXE__:app:plain { @[probe] = count(); }
usdt:__EXE__:lib:add { printf("%s %ld %d\n", probe, arg0, arg1); }
usdt:__EXE__:app:plain { printf("%s %d\n", probe, arg0); }
E2
live_start "$tmp/app"
live_round "$live_pid" "$tmp/s.bt"
is "$(sed -n "s,^usdt:/proc/$live_pid/root$tmp/\(app\|libadd.so\):,,p" "$tmp/trace" | sort)" "$(passed)" "a script has the values of the program, and the names"
is "$(grep ^@ "$tmp/trace" | sort)" "@[usdt:/proc/$live_pid/root$tmp/app:app:plain]: 3
@[usdt:/proc/$live_pid/root$tmp/libadd.so:lib:add]: 3" "in maps, too"

live_start "$tmp/app"
live_round -v -f json -t 'app:*' -t 'lib:*' "$live_pid"
is "$(/usr/bin/python3 -c '
import json, sys
for line in open(sys.argv[1]):
    e = json.loads(line)
    if "probe" in e:
        print(e["probe"], *[v for k, v in e["fields"].items()])' "$tmp/trace" | sort)" "$(passed)" "-t in JSON, likewise"
if [ "$version" -ge 24 ]; then
	is "$(grep -c 'attached to by address' "$tmp/messages")" 2 "-v says what is attached to by address"
	is "$(grep -o '"probe": *"usdt:[^"]*", *"hits": *[0-9]*' "$tmp/trace" | tr -d ' ' | sort)" '"probe":"usdt:app:plain","hits":3
"probe":"usdt:app:twice","hits":4
"probe":"usdt:lib:add","hits":3' "the account is that of the probes"
fi

live_start "$tmp/app"
live_round --count -t 'app:*' -t 'lib:*' "$live_pid"
is "$(grep ^@ "$tmp/trace" | sort)" "@count[app:plain]: 3
@count[app:twice]: 4
@count[lib:add]: 3" "--count has the names"

live_start "$tmp/app"
live_round -q -t 'lib:add' --filter 'arg0 < 0' "$live_pid"
is "$(sed 's/.*\] //' "$tmp/trace")" "lib:add total=-3 n=0
lib:add total=-2 n=1" "a filter reads the arguments"

mkdir "$tmp/a b" && cp "$tmp/app" "$tmp/a b/it's"
live_start "$tmp/a b/it's"
printf 'usdt:__EXE__:app:twice { @[probe] = count(); }\n' >"$tmp/s.bt"
live_round -x "$tmp/a b/it's" "$tmp/s.bt"
is "$(grep ^@ "$tmp/trace")" "@[usdt:$tmp/a b/it's:app:twice]: 4" "a path that is written in quotes is in the name as it is"

# bpftrace goes by the name of the function that has the address: of two with one name it would take the first.
cat >"$tmp/first.c" <<'E2'
#include "site.h"
__attribute__((noinline)) static void work(int n) { printf("%d\n", n); }
void first(int n) { work(n); }
E2
cat >"$tmp/second.c" <<'E2'
#include "site.h"
void first(int n);
__attribute__((noinline)) static void work(int n) { SITE("app", "second", "-4@%k[n] 8f@%%xmm0", [n] "D"(n)); printf("app:second %d\n", n); }
int main(void) { getchar(); first(1); work(2); puts("done"); fflush(stdout); getchar(); }
E2
"${CC:-gcc}" -O1 -g -fno-pie -no-pie -o "$tmp/app" "$tmp/first.c" "$tmp/second.c" || exit 1
if [ "$version" -ge 24 ]; then
	live_start "$tmp/app"
	like "$("$live_sh" -t app:second "$live_pid" 2>&1)" 'cannot attach to app:second .* and by address it may attach to other code$' \
		"in a function whose name another one has, too, it is refused"
	echo >&8
fi
strip -o "$tmp/bare" "$tmp/app"
live_start "$tmp/bare"
live_round -q -t app:second "$live_pid"
is "$(sed 's/.*\] //' "$tmp/trace")" "app:second arg0=2 arg1=?" "without symbols it is where the file has it"
done_testing
