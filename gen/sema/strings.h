/**
 * strings - how many strings a program prints, or makes a key of, at once.
 *
 * Old versions of bpftrace keep every string of a printf(), and of a map's key, on the 512 bytes of
 * stack that a BPF program has; how long a string may be depends on how many there are
 * (dialect/dialect.h).
 */
#ifndef SEMA_STRINGS_H
#define SEMA_STRINGS_H

#include "bind/bind.h"
#include "base/map.h"
#include "lang/script.h"

/** What a map takes there that a string was assigned to. */
enum { STRINGS_OF_MAP = 3 };

/** Does reading @n read a string: str(), or a char array in memory? */
bool strings_is_read(const struct node *n);
/** What printing the value @n takes there, counted in strings: 0 where it is none. */
unsigned strings_printed(const struct node *n);
/** What else of a clause is on the stack when it makes a call. */
struct strings {
	struct arena *arena;
	struct map conditions; /**< call -> how many that read strings decide about it */
	unsigned n_variables;  /**< that hold a string */
};

void strings_find(const struct bind *b, const struct script_clause *c, struct strings *ret);
/** So many more strings are there when @call, somewhere in the clause of @s, is made. */
unsigned strings_beside(const struct strings *s, const struct node *call);

/**
 * Bytes that bpftrace must give to a string of the program: its default, or what the longest char
 * array that is read needs, as far as this version goes. @strings: the most that one printf() or one
 * key has (emit/). To be called when the program is written.
 */
unsigned strings_limit(const struct bind *b, unsigned strings);

#endif
