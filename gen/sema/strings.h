/**
 * strings - how many strings a program prints, or makes a key of, at once.
 *
 * Old versions of bpftrace keep every string of a printf(), and of a map's key, on the 512 bytes of stack
 * of a BPF program; the longest possible string depends on their number (dialect/dialect.h).
 */
#pragma once

#include "bind/bind.h"

/** Stack of a map that a string is assigned to, in strings. */
enum { STRINGS_OF_MAP = 3 };

/** Does reading @n read a string: str(), or a char array in memory? */
bool strings_is_read(const struct node *n);
/** Stack that printing the value @n needs, in strings; 0: @n is no string. */
unsigned strings_printed(const struct node *n);
/** Stack of a clause that its calls share. */
struct strings {
	struct arena *arena;
	struct map conditions; /**< call -> conditions around it that read strings */
	unsigned n_variables;  /**< that hold a string */
};

void strings_find(const struct bind *b, const struct script_clause *c, struct strings *ret);
/** The strings that are on the stack, besides its own, when @call of the clause of @s is made. */
unsigned strings_beside(const struct strings *s, const struct node *call);

/**
 * The length that bpftrace must give to strings of the program: its default, or that of the longest char
 * array that is read, as far as this version allows. @strings: the largest number in one printf() or one
 * key (emit/). Call it while the program is written.
 */
unsigned strings_limit(const struct bind *b, unsigned strings);
