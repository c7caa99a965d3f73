/**
 * nameless - a number where a table of names has no name.
 *
 * A map that lacks a key gives "": a state that nobody foresaw would be printed as nothing. So in a
 * printf() whose %s is fed by a table, `@target[arg1]` or `c ? @target[arg1] : "none"`, the number
 * is printed when the name is missing. bpftrace cannot make a string of a number; up to 0.23 its
 * printf passes formats to C's, where %.0ld prints nothing for 0:
 *
 *	printf("%s%.0ld", @target[arg1], @target[arg1] == "" ? (int64)(arg1) : 0)
 *
 * From 0.24 on %.0ld prints "0", and the statement is written once for each case, under an if. So
 * is a choice, in all versions: the kernel refuses what 0.17 makes of a choice of strings, and 0.23
 * dies of conditional expressions three deep. A key that may be another value when it is read again
 * (memory, a clock, rand, n++) is kept in a variable.
 */
#ifndef NAMES_NAMELESS_H
#define NAMES_NAMELESS_H

#include "bind/bind.h"

/**
 * Rewrites the calls of printf() and the like that print from the maps in @tables (a set of names).
 * False, with an error, for a call that cannot be written so that numbers come out.
 */
bool nameless_rewrite(struct bind *b, const struct map *tables);

#endif
