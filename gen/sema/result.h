/**
 * result - what `retval` is in a clause of uretprobes, by the debug information of their functions.
 *
 * To bpftrace it is the 64-bit number in a register. The upper bits of that are anything where the
 * function returns an int, and a pointer in it has no members: where the type is known it is cast. A
 * pointer remains a number wherever it is not followed, so that `retval - 8` is 8 less on all versions,
 * not 8 structs.
 *
 *	struct ctype *t = result_type(b, clause);
 */
#ifndef SEMA_RESULT_H
#define SEMA_RESULT_H

#include "bind/bind.h"

/**
 * The type that all functions of @c return: a number or pointer of at most 8 bytes. NULL: not known,
 * not one, or @c has other probes. Debug information is read when it is first asked for.
 */
struct ctype *result_type(const struct bind *b, const struct attach_clause *c);
/** Why `retval` of @c is no value of the program: "f() returns nothing"; NULL: not known to be so. */
const char *result_why_none(const struct bind *b, const struct attach_clause *c);

#endif
