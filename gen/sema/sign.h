/**
 * sign - can a number be negative, and how large can it be?
 *
 * Signs of results of operators, and of names with several assignments.
 *
 *	sign_of_result(OP_ADD, SIGN_NONE, SIGN_SIGNED) == SIGN_SIGNED
 */
#pragma once

#include "ctype/ctype.h"

/** The range of a number. */
enum sign {
	SIGN_OPEN,   /**< of a name with no assignment yet, or only of itself */
	SIGN_NONE,   /**< neither negative nor above INT64_MAX: compatible with either signedness */
	SIGN_SIGNED, /**< an int64 */
	SIGN_UNSIGNED, /**< an uint64 */
	SIGN_OTHER,    /**< no number, or not known */
	SIGN_MIXED,    /**< sometimes one, sometimes another */
};

/** Of one value or the other, such as an argument of two sites: MIXED if they differ. */
enum sign sign_join(enum sign a, enum sign b);
/** The common sign of both, as of two assignments or a choice: as in C, an uint64 if one of them is. */
enum sign sign_of_both(enum sign a, enum sign b);
/** Of a value of type @t, or of @bit_size bits of it (0: it is no bit-field). */
enum sign sign_of_type(struct ctype *t, unsigned bit_size);
/**
 * Of `A op B` (OP_* of text/expr.h), computed as in C; the caller decides on a difference of two that
 * have none.
 */
enum sign sign_of_result(unsigned op, enum sign a, enum sign b);

/** How many bits a value of such a type may need, 1 to 64; 0: not known. */
unsigned sign_bits_of_type(struct ctype *t, unsigned bit_size);
unsigned sign_bits_of_number(uint64_t value);
/**
 * Of `A op B` in 64 bits, with operands of @a and @b bits; @number: the value of B if it is a literal, else
 * NULL. One bit more than an unsigned result needs, so that %d shows it: 0xffff * 0xffff is no int32.
 */
unsigned sign_bits_of_result(unsigned op, unsigned a, unsigned b, const uint64_t *number);
