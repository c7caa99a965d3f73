/**
 * argtype - the type of a probe's argument: what a value of a declared type is when it is passed.
 */
#pragma once

#include "btf/kbtf.h"
#include "usdt/argnote.h"
#include "usdt/sdtarg.h"
#include "dwarf/dwsite.h"

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
 * The type of argument @i from the site's @note, without any debug information, if it fits @operand; NULL:
 * it is no type, for a pointee, or which integer it is, only debug information has.
 */
struct ctype *argtype_of_kind(struct arena *a, const struct argnote *note, size_t i,
			      const struct sdtarg *operand);
/** Is it an integer of USDT_BITS? */
bool argtype_is_bits(const struct ctype *t);
/** May an argument of unknown type, whose note has @kind, be a @t? */
bool argtype_may_be(struct ctype *t, enum argnote_kind kind);
/** The two are spelled alike and look alike. */
bool argtype_is_same(struct arena *a, struct ctype *x, struct ctype *y);
/**
 * The type of what is an @x at one place, and a @y at another; NULL: they differ. char * and const
 * char * are one type to a reader; the one that promises more is shown.
 */
struct ctype *argtype_common(struct arena *a, struct ctype *x, struct ctype *y);

/**
 * The declared types of a probe's arguments, in a program that was built with btgen/usdt.h: for argument K (from 1) of the
 * site with @id there is a local variable `__usdt_ID_K` in the scope of the site, a pointer to the type; docs/usdt-notes.md,
 * "From the debug information to types". Fills ret[0..n) with them, NULL where there is none; false when no scope has any.
 */
bool argtype_declared(struct dwsrc *src, const struct dwsite *at, uint32_t id, size_t n,
		      struct ctype **ret);

/**
 * The same for argument @i of a program without debug information, by its .BTF: what the typedefs
 * `usdt_type__PROVIDER__NAME__K` have that fits @operand. NULL where that is nothing, or two of them differ, or another probe of
 * @notes gets that name, too.
 */
struct ctype *argtype_named(struct arena *a, struct kbtf *btf, const struct argnotes *notes,
			    const struct argnote *site, size_t i, const struct sdtarg *operand);
