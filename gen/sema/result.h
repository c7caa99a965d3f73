/**
 * result - the type of `retval` in a clause of uretprobes, by the debug information of their functions.
 *
 * To bpftrace it is the 64-bit number in a register. Its upper bits are undefined if the function returns
 * an int, and a pointer has no members: so it is cast if the type is known. A pointer stays a number unless
 * it is dereferenced, so that `retval - 8` is 8 less on all versions, not 8 structs.
 *
 *	struct ctype *t = result_type(b, clause);
 */
#pragma once

#include "bind/bind.h"

/**
 * The type that all functions of @c return: a number or pointer of at most 8 bytes. NULL: not known,
 * another type, or @c has other probes. Debug information is read on first use.
 */
struct ctype *result_type(const struct bind *b, const struct attach_clause *c);
/** Why `retval` of @c is undefined: "f() returns nothing"; NULL: it is not known to be. */
const char *result_why_none(const struct bind *b, const struct attach_clause *c);
