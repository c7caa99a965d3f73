#!/usr/bin/env bash
# Files whose names are hard to write: the one that was meant is traced, or none, with an error.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"

cat >"$tmp/hit.c" <<'END2'
#include <btgen/usdt.h>
#include <unistd.h>
__attribute__((noinline)) void work(int n) { __asm__ volatile("" : : "r"(n)); }
__attribute__((noinline)) void café(int n) { __asm__ volatile("" : : "r"(n)); }
int main(void)
{
	for (int n = 0;; n++) {
		work(n);
		café(n);
		USDT_PROBE(test, hit, n);
		usleep(10000);
	}
}
END2
gcc -O1 -g -I"$top/include" -o "$tmp/hit" "$tmp/hit.c" || exit 1

# misread NAME: what is left of it where \xNN is read as the letters xNN
misread() { printf '%s' "$1" | python3 -c 'import sys
print("".join(chr(c) if 32 <= c < 127 else "x%02x" % c for c in sys.stdin.buffer.read()))'; }

# traced NAME PROBE: the processes that a host-wide trace of PROBE in $tmp/NAME/prog has events of; else the error
traced() {
	guard "$btgen" run --bpftrace "$bpftrace" -x "$tmp/$1/prog" -e "#pragma scope host
$2 { @n[pid] = count(); @all += 1; if (@all > 100) { exit(); } }" 2>&1 | sed -nE 's/^@n\[([0-9]+)\]: .*/\1/p; /error:/p'
}
names=(é $'\xff' $'b\x9bd' $'\xc2\x9b' $'\xe2\x80\xae' $'a\tb' $'a\x1b[31mb' $'a\x7fb' 'say "é"' "it's é" 'a é b')
for name in "${names[@]}"; do
	shown=$(printf %q "$name")
	other=$(misread "$name")
	mkdir -p "$tmp/$name" "$tmp/$other"
	cp "$tmp/hit" "$tmp/$name/prog"
	cp "$tmp/hit" "$tmp/$other/prog"
	"$tmp/$name/prog" &
	own $!
	meant=$!
	"$tmp/$other/prog" &
	own $!
	for probe in usdt:__EXE__:test:hit uprobe:__EXE__:work; do
		got=$(traced "$name" "$probe")
		if [ "$got" != "$meant" ]; then
			like "$got" 'error: .*bpftrace does not accept paths with.*use a hard link$' "$shown, ${probe%%:*}: refused"
		else
			is "$got" "$meant" "$shown, ${probe%%:*}: the file that was meant, no other"
		fi
	done
	kill "$meant" "$!"
done
for name in é 'say "é"'; do
	cp "$tmp/hit" "$tmp/$name/prog"
	"$tmp/$name/prog" &
	own $!
	is "$(traced "$name" uprobe:__EXE__:work)" $! "$(printf %q "$name"): printable ones are not refused"
	is "$(traced "$name" uprobe:__EXE__:café)" $! "and a function with such a name, too"
	kill $!
done

# As bpftrace has it, quotes may stand around any part of an attach point.
mkdir "$tmp/a b"
cp "$tmp/hit" "$tmp/a b/prog"
"$tmp/a b/prog" &
own $!
for probe in 'usdt:__EXE__:"test":"hit"' 'usdt:__EXE__:"hit"' 'usdt:__EXE__:te"st":h"it"' '"usdt":__EXE__:"test":"h"*' \
	"usdt:\"$tmp/a b/prog\":\"test\":\"hit\"" "usdt:\"$tmp/a b\"/prog:test:\"hit\"" \
	'uprobe:__EXE__:"work"' 'uprobe:__EXE__:wo"rk"' 'uprobe:__EXE__:"work"+0' '"uprobe":__EXE__:work'; do
	is "$(traced "a b" "$probe")" $! "$probe: as without the quotes"
done
kill $!
is "$(guard "$btgen" run --bpftrace "$bpftrace" -e '"interval":ms:1 { print(1); exit(); }' 2>/dev/null)" 1 \
	"and around the name of a provider that is not the program's"
done_testing
