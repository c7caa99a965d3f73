/**
 * unknown - a number where a table of names has no name.
 *
 * A map that lacks a key gives "": a state that nobody foresaw would be printed as nothing. So in a printf()
 * whose %s is fed by a table, `@target[arg1]`, the number is printed when the name is missing. bpftrace cannot
 * make a string of a number; up to 0.23 its printf passes formats to C's, where %.0ld prints nothing for 0:
 *
 *	printf("%s%.0ld", @target[arg1], @target[arg1] == "" ? (int64)(arg1) : 0)
 *
 * From 0.24 on %.0ld prints "0", and the statement is written once for each case, under an if.
 */
#ifndef BIND_UNKNOWN_H
#define BIND_UNKNOWN_H

#include "bind/bind.h"

/** Rewrites the printf() calls of the program that print from the maps in @tables (a set of names). */
void unknown_rewrite(struct bind *b, const struct map *tables);

#endif
