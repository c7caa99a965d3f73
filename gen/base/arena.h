/**
 * arena - memory that lives until the end of a run.
 *
 * One arena serves one run of a command; everything that the run builds (tokens, types, strings) is taken
 * from it and given back at once by arena_fini(). Nothing is freed by itself, nothing returns NULL: when
 * memory is exhausted the process reports that and exits with status 1.
 *
 * Built with -DARENA_MALLOC each object is its own malloc(), so that AddressSanitizer sees
 * overruns.
 *
 *	struct arena a = {0};
 *	char *s = arena_printf(&a, "%d", 42);
 *	arena_fini(&a);
 */
#pragma once

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

struct arena_chunk;

struct arena {
	struct arena_chunk *chunks; /**< newest first; owned */
	char *pos;		    /**< next free byte of the newest chunk */
	char *end;		    /**< one past its last byte */
};

void arena_fini(struct arena *a);
/** Gives back all that was taken from it, but keeps memory for what comes next. */
void arena_reset(struct arena *a);

/** @size bytes, aligned to 8, not initialised. */
void *arena_alloc(struct arena *a, size_t size);
/** The same, zeroed. */
void *arena_zalloc(struct arena *a, size_t size);
/** Room for @n objects of @size bytes, not initialised; exits when the product overflows. */
void *arena_alloc_n(struct arena *a, size_t n, size_t size);
/** The same, zeroed. */
void *arena_calloc(struct arena *a, size_t n, size_t size);
/** Copies @n bytes and adds a NUL. */
char *arena_strndup(struct arena *a, const char *p, size_t n);
char *arena_strdup(struct arena *a, const char *z);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
char *arena_vprintf(struct arena *a, const char *fmt, va_list ap)
    __attribute__((format(printf, 2, 0)));

#define arena_new(a, T) ((T *)arena_zalloc((a), sizeof(T)))
#define arena_array(a, T, n) ((T *)arena_calloc((a), (n), sizeof(T)))

/** Reports that memory is exhausted and exits with status 1. */
void base_oom(void) __attribute__((noreturn));
/** Zeroed memory for free(). */
void *base_zalloc(size_t size);
/** As realloc(). */
void *base_realloc(void *p, size_t size);
#define base_new(T) ((T *)base_zalloc(sizeof(T)))
