#include "base/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct arena_chunk {
	struct arena_chunk *next;
	_Alignas(8) char bytes[];
};

#define CHUNK_SIZE (64 * 1024)

void base_oom(void)
{
	fputs("btgen: error: out of memory\n", stderr);
	exit(1);
}

void *base_zalloc(size_t size)
{
	void *p = calloc(1, size);
	if (!p)
		base_oom();
	return p;
}

void *base_realloc(void *p, size_t size)
{
	p = realloc(p, size);
	if (!p)
		base_oom();
	return p;
}

void arena_fini(struct arena *a)
{
	while (a->chunks) {
		struct arena_chunk *next = a->chunks->next;
		free(a->chunks);
		a->chunks = next;
	}
	*a = (struct arena){0};
}

void arena_reset(struct arena *a)
{
#ifdef ARENA_MALLOC
	arena_fini(a);
#else
	struct arena_chunk *kept = a->end ? a->chunks : NULL;
	if (!kept) {
		arena_fini(a);
		return;
	}
	a->chunks = kept->next;
	char *end = a->end;
	arena_fini(a);
	kept->next = NULL;
	*a = (struct arena){.chunks = kept, .pos = kept->bytes, .end = end};
#endif
}

/** A new chunk in front of @list. */
static struct arena_chunk *chunk_add(struct arena_chunk **list, size_t size)
{
	struct arena_chunk *c;
	if (size > SIZE_MAX / 2 || !(c = malloc(sizeof(*c) + size)))
		base_oom();
	c->next = *list;
	*list = c;
	return c;
}

void *arena_alloc(struct arena *a, size_t size)
{
#ifdef ARENA_MALLOC
	return chunk_add(&a->chunks, size)->bytes;
#else
	if (size > SIZE_MAX / 2)
		base_oom();
	size_t need = (size + 7) & ~(size_t)7;

	if (need > (size_t)(a->end - a->pos)) {
		if (need > CHUNK_SIZE / 4) {
			// A large object gets a chunk of its own after the newest one, which stays in use.
			return chunk_add(a->chunks ? &a->chunks->next : &a->chunks, need)->bytes;
		}
		a->pos = chunk_add(&a->chunks, CHUNK_SIZE)->bytes;
		a->end = a->pos + CHUNK_SIZE;
	}
	void *p = a->pos;
	a->pos += need;
	return p;
#endif
}

void *arena_zalloc(struct arena *a, size_t size)
{
	return memset(arena_alloc(a, size), 0, size);
}

void *arena_alloc_n(struct arena *a, size_t n, size_t size)
{
	size_t total;
	if (__builtin_mul_overflow(n, size, &total))
		base_oom();
	return arena_alloc(a, total);
}

void *arena_calloc(struct arena *a, size_t n, size_t size)
{
	return memset(arena_alloc_n(a, n, size), 0, n * size);
}

char *arena_strndup(struct arena *a, const char *p, size_t n)
{
	char *s = arena_alloc(a, n + 1);
	if (n)
		memcpy(s, p, n);
	s[n] = '\0';
	return s;
}

char *arena_strdup(struct arena *a, const char *z)
{
	return arena_strndup(a, z, strlen(z));
}

char *arena_vprintf(struct arena *a, const char *fmt, va_list ap)
{
	va_list again;
	va_copy(again, ap);
	int n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (n < 0)
		base_oom();
	char *s = arena_alloc(a, (size_t)n + 1);
	vsnprintf(s, (size_t)n + 1, fmt, ap);
	return s;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	char *s = arena_vprintf(a, fmt, ap);
	va_end(ap);
	return s;
}
