/**
 * codecall - printf("%s", usym(...)) and @map[usym(...)]: the program prints the address in a mark,
 * and marks/codemark.h its name.
 *
 * For a bpftrace that is not to look functions up itself. Only in clauses that fire in the target
 * alone, and for a map whose key is usym(...) wherever it has one; elsewhere the names stay
 * bpftrace's.
 */
#ifndef NAMES_CODECALL_H
#define NAMES_CODECALL_H

#include "bind/bind.h"

/** Does nothing without b->code_mark. Sets b->marks_code. */
void codecall_rewrite(struct bind *b);

#endif
