#!/usr/bin/env bash
# arenas.bt: blocks of each thread and arena, as many as a program with two threads made that says where they lie.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"

# Two threads at the same time: each gets an arena of its own. malloc_info() knows how many arenas there are.
cat >"$tmp/app.c" <<'END'
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_barrier_t both;

static void *worker(void *arg)
{
	long n = (long)arg;
	void *p[300], *low = (void *)-1, *high = NULL;
	pthread_barrier_wait(&both);
	for (long i = 0; i < n; i++) {
		p[i] = i % 2 ? malloc(1000) : calloc(10, 100);
		low = p[i] < low ? p[i] : low;
		high = p[i] > high ? p[i] : high;
	}
	// Not printf(): it allocates.
	char line[100];
	int length = snprintf(line, sizeof(line), "thread %d %ld %p %p\n", gettid(), n, low, high);
	if (write(1, line, length) != length)
		return arg;
	pthread_barrier_wait(&both);
	for (long i = 0; i < n; i++)
		free(p[i]);
	return NULL;
}

int main(void)
{
	char c, *info;
	size_t size;
	if (read(0, &c, 1) != 1)
		return 1;
	pthread_t t[2];
	pthread_barrier_init(&both, NULL, 2);
	pthread_create(&t[0], NULL, worker, (void *)100);
	pthread_create(&t[1], NULL, worker, (void *)300);
	pthread_join(t[0], NULL);
	pthread_join(t[1], NULL);
	void *large = malloc(64 << 20), *keep = malloc(1 << 16);
	mallopt(M_TRIM_THRESHOLD, 1 << 20);
	free(large);
	malloc_trim(0);
	FILE *f = open_memstream(&info, &size);
	malloc_info(0, f);
	fclose(f);
	int heaps = 0;
	for (char *s = info; (s = strstr(s, "<heap nr=")); s++)
		heaps++;
	dprintf(1, "arenas %d\ndone\n", heaps);
	free(keep);
	return read(0, &c, 1) < 0;
}
END
gcc -O1 -pthread -fno-builtin -o "$tmp/app" "$tmp/app.c" 2>"$tmp/err" || skip_all "gcc failed: $(head -n 1 "$tmp/err")"
live_start "$tmp/app"
live_round $live_pid arenas.bt

is "$(grep -c '^thread' "$tmp/answers")" 2 "two threads allocated"
while read -r _ thread n low high; do
	key=$(sed -n "s/^@blocks\[\($thread, [0-9]*\)\]: .*/\1/p" "$tmp/trace")
	is "$(sed -n "s/^@blocks\[$key\]: //p" "$tmp/trace")" "$n" "as many blocks as the thread took: $n"
	is "$(sed -n "s/^@bytes\[$key\]: //p" "$tmp/trace")" $((n * 1008)) "of 1000 bytes and a word each"
	# An arena and its blocks lie in the same 64 MiB.
	is "$((${key#*, } >> 26)) $((${key#*, } >> 26))" "$((low >> 26)) $((high >> 26))" "in the arena where they lie"
done < <(grep '^thread' "$tmp/answers")
is "$(sed -n 's/^@blocks\[[0-9]*, \([0-9]*\)\]: .*/\1/p' "$tmp/trace" | sort -u | wc -l)" "$(sed -n 's/^arenas //p' "$tmp/answers")" \
	"as many arenas, with the main one, as malloc_info() counts"
is "$(grep -c 'first block of arena 0x' "$tmp/trace")" 2 "a line for each thread's first block of an arena"
is "$(sed -n "s/^@mapped\[$live_pid\]: //p" "$tmp/trace")" 1 "one large block with a mapping of its own"
like "$(cat "$tmp/trace")" '^[0-9.]+: [0-9]+ mallopt\(-1, 1048576\)$' "mallopt() with its arguments"
like "$(cat "$tmp/trace")" '^[0-9.]+: [0-9]+ malloc_trim returns [01] after [0-9]+ us$' "malloc_trim() with its time"
like "$(cat "$tmp/trace")" '^@main_grows' "the main arena grows"
unlike "$(cat "$tmp/trace")" '^@(known|trim)' "its own maps are not printed"
is_sample arenas.bt

done_testing
