/**
 * strings - how many strings a program prints, or makes a key of, at once.
 *
 * Old versions of bpftrace keep every string of a printf(), and of a map's key, on the 512 bytes of
 * stack that a BPF program has; how long a string may be depends on how many there are
 * (out/dialect.h).
 */
#ifndef LOWER_STRINGS_H
#define LOWER_STRINGS_H

#include "bind/bind.h"
#include "base/map.h"
#include "lang/script.h"

/**
 * The most strings that one printf() or one key has, in the whole program: each str(), and each
 * char array that is read as one, counts once, each use of a map that one was assigned to three
 * times, which is what it takes on the stack, and each use of a map whose name is in the set
 * @tables once. A call in a while loop that prints any counts one more, and strings_beside().
 */
unsigned strings_most_in_call(struct arena *a, const struct script *s, const struct map *tables);

/** What printing the value @n takes there, counted in strings: 0 where it is none. */
unsigned strings_printed(struct node *n);
/**
 * So many more are on the stack when @call, somewhere in @clause, is made: one for each variable of
 * the clause that holds a string, and one for each condition that reads strings and decides about it.
 */
unsigned strings_beside(struct arena *a, struct node *clause, const struct node *call);

/**
 * Bytes that bpftrace must give to a string of the program: its default, or what the longest char
 * array that is read needs, as far as this version goes. To be called behind lower_program();
 * @tables as above.
 */
unsigned strings_limit(const struct bind *b, const struct map *tables);

#endif
