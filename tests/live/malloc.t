#!/usr/bin/env bash
# malloc.bt counts the blocks of a program that counts them itself.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"

cat >"$tmp/app.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void *p[2000];

void __attribute__((noinline)) grow(int i)
{
	p[i] = realloc(p[i], 200000);
	__asm__ volatile("");
}

int main(void)
{
	char c;
	while (read(0, &c, 1) == 1 && c != 'q') {
		int n = 0;
		for (int i = 0; i < 1000; i++)
			p[n++] = malloc(100);
		for (int i = 0; i < 100; i++)
			p[n++] = calloc(10, 50);
		grow(0);
		for (int i = 0; i < n; i++)
			free(p[i]);
		free(NULL);
		if (write(1, "done\n", 5) != 5)
			return 1;
	}
}
END
gcc -O1 -fno-builtin -fno-omit-frame-pointer -rdynamic -o "$tmp/app" "$tmp/app.c" 2>"$tmp/err" ||
	skip_all "gcc failed: $(head -n 1 "$tmp/err")"
# From 2.42 on (seen with 2.43) the first free() of a thread, which has no cache yet, makes one and calls itself.
freed=1100
[ "$(printf '%s\n' 2.42 "$(getconf GNU_LIBC_VERSION | cut -d ' ' -f 2)" | sort -V | head -n 1)" != 2.42 ] || freed=1101
live_start "$tmp/app"
live_round $live_pid malloc.bt
is "$(grep -E '^@(calls|allocated)' "$tmp/trace" | sort)" "@allocated[calloc]: 50000
@allocated[malloc]: 100000
@allocated[realloc]: 200000
@calls[calloc]: 100
@calls[free]: $freed
@calls[malloc]: 1000
@calls[realloc]: 1" "calls and bytes, as many as the program made"
like "$(sed -n '/^@sizes\[malloc\]/,/^$/p' "$tmp/trace")" '^\[64, 128\) +1000 ' "sizes"
# The C library has several names for one function; which of them a frame gets is not the same everywhere.
like "$(tr '\n' ' ' <"$tmp/trace")" '@large\[realloc, grow, +(__|__libc_|__GI___libc_)?realloc\+0 +grow\+[0-9]+ +main\+[0-9]+ ' "who allocated the large one"
is_sample malloc.bt

done_testing
