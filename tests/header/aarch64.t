#!/usr/bin/env bash
# For aarch64: the notes of a program compiled for it (not run here).
. "$(dirname "$0")/../lib.sh"
# shellcheck disable=SC2154 # top, tmp: lib.sh

cat >"$tmp/p.c" <<'EOP'
#include <btgen/usdt.h>
struct item { long id; unsigned char kind; char name[8]; };
int counter;
int other(struct item *it, int a)
{
	USDT_PROBE(p, args, it->id, it->kind, it->name, a, 42, -1L, counter);
	USDT_PROBE_LAZY(p, lazy, a);
	USDT_PROBE(p, twelve, a, a, a, a, a, a, a, a, a, a, a, a);
	return USDT_ENABLED(p, lazy);
}
EOP
cp "$tmp/p.c" "$tmp/p.cc"
ran=0
for how in "aarch64-linux-gnu-gcc -std=gnu11" "aarch64-linux-gnu-g++ -std=c++11" "clang --target=aarch64-linux-gnu -std=gnu11" \
	"clang++ --target=aarch64-linux-gnu -std=c++17"; do
	command -v "${how%% *}" >/dev/null || { skip "$how" "no ${how%% *}"; continue; }
	src=p.c
	case $how in *++*) src=p.cc ;; esac
	for opt in -O0 -O2; do
		# shellcheck disable=SC2086
		$how $opt -g -ffreestanding -Wall -Wextra -Werror -I"$top/include" -c -o "$tmp/p.o" "$tmp/$src" ||
			{ ok "$how $opt compiles" false; continue; }
		args=$(readelf -nW "$tmp/p.o" | grep -A2 'Name: args' | sed -n 's/ *Arguments: //p')
		like "$args" '^-8@x[0-9]+ 1@x[0-9]+ 8@x[0-9]+ -4@x[0-9]+ -4@(42|x[0-9]+) -8@(-1|x[0-9]+) -4@x[0-9]+$' \
			"$how $opt: registers and constants, with sizes and signs"
		is "$(readelf -nW "$tmp/p.o" | grep -c 'NT_STAPSDT')" 3 "$how $opt: all sites"
		ran=$((ran + 1))
	done
done
printf '# %d combinations ran\n' "$ran"
done_testing
