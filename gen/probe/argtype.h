/**
 * argtype - the type of a probe's argument: what a value of a declared type is when it is passed.
 */
#ifndef PROBE_ARGTYPE_H
#define PROBE_ARGTYPE_H

#include "usdt/argnote.h"
#include "usdt/sdtarg.h"
#include "ctype/ctype.h"

/**
 * @t as a value: its own qualifiers dropped, an array or function as the address that is passed.
 */
struct ctype *argtype_of_value(struct arena *a, struct ctype *t);
/**
 * An operand of that size and sign can hold a value of type @t. False for structs and what has no
 * size.
 */
bool argtype_fits(struct ctype *t, const struct sdtarg *operand);
/**
 * What the site @note tells of argument @i without any debug information, and fits @operand; NULL
 * when it is no type: what a pointer leads to, or which integer it is, only debug information has.
 */
struct ctype *argtype_of_kind(struct arena *a, const struct argnote *note, size_t i,
			      const struct sdtarg *operand);
/** An argument whose type nobody knows, and whose note tells @kind, may be a @t. */
bool argtype_may_be(struct ctype *t, enum argnote_kind kind);
/** The two are spelled alike and look alike. */
bool argtype_is_same(struct arena *a, struct ctype *x, struct ctype *y);

#endif
