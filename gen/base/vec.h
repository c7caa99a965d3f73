/**
 * vec - a growable array in an arena.
 *
 * The elements move when the array grows, so keep indices, not pointers, while pushing.
 *
 *	VEC(struct probe) probes = {0};
 *	vec_push(&arena, &probes, p);
 *	vec_each(const struct probe, p, &probes)
 *		use(p);
 */
#pragma once

#include <string.h>

#include "base/arena.h"

#define VEC(T)                                                                                     \
	struct {                                                                                   \
		T *v;                                                                              \
		size_t n, cap;                                                                     \
	}

/** Makes room for one more element; the old copy stays in the arena. */
#define vec_grow(a, vec)                                                                           \
	do {                                                                                       \
		if ((vec)->n == (vec)->cap) {                                                      \
			size_t cap_ = (vec)->cap ? (vec)->cap * 2 : 1;                             \
			void *new_ = arena_alloc_n((a), cap_, sizeof(*(vec)->v));                  \
			if ((vec)->n)                                                              \
				memcpy(new_, (vec)->v, (vec)->n * sizeof(*(vec)->v));              \
			(vec)->v = new_;                                                           \
			(vec)->cap = cap_;                                                         \
		}                                                                                  \
	} while (0)

#define vec_push(a, vec, ...)                                                                      \
	do {                                                                                       \
		vec_grow((a), (vec));                                                              \
		(vec)->v[(vec)->n++] = (__VA_ARGS__);                                              \
	} while (0)

/** For each of the @n elements from @first on, which may be NULL, with its address in @T *@name. */
#define list_each(T, name, first, n) for (T *name = (first); name && name < (first) + (n); name++)
/** The same of @vec, which must not grow in the loop, and of @array. */
#define vec_each(T, name, vec) list_each(T, name, (vec)->v, (vec)->n)
#define array_each(T, name, array) list_each(T, name, array, sizeof(array) / sizeof((array)[0]))

/** The first element of @vec for which the test after it is true, or NULL; names are as in vec_each(). */
#define vec_find(T, name, vec, ...)                                                                \
	({                                                                                         \
		T *found_ = NULL;                                                                  \
		vec_each(T, name, vec)                                                             \
			if (!found_ && (__VA_ARGS__))                                              \
				found_ = name;                                                     \
		found_;                                                                            \
	})
/** Is there one? */
#define vec_any(...) (vec_find(__VA_ARGS__) != NULL)

/** The index of the first element whose @member is not less than @value: all are in its order. */
#define vec_first_from(vec, member, value)                                                         \
	({                                                                                         \
		size_t lo_ = 0, hi_ = (vec)->n;                                                    \
		while (lo_ < hi_) {                                                                \
			size_t mid_ = (lo_ + hi_) / 2;                                             \
			if ((vec)->v[mid_].member < (value))                                       \
				lo_ = mid_ + 1;                                                    \
			else                                                                       \
				hi_ = mid_;                                                        \
		}                                                                                  \
		lo_;                                                                               \
	})

/** Such as the values of an option that can be repeated. */
typedef VEC(const char *) word_list;
