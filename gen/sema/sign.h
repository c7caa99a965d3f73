/**
 * sign - can a number be negative, and how large can it be?
 *
 * The arithmetic of it: what comes of two operands, and of what a name is assigned.
 *
 *	sign_of_result(OP_ADD, SIGN_NONE, SIGN_SIGNED) == SIGN_SIGNED
 */
#ifndef SEMA_SIGN_H
#define SEMA_SIGN_H

#include "ctype/ctype.h"

/** The values that a number can have. */
enum sign {
	SIGN_OPEN,   /**< of a name whose assignments were not seen yet, or only of itself */
	SIGN_NONE,   /**< neither negative nor above INT64_MAX: compatible with either signedness */
	SIGN_SIGNED, /**< an int64 */
	SIGN_UNSIGNED, /**< an uint64 */
	SIGN_OTHER,    /**< no number, or nothing is known */
	SIGN_MIXED,    /**< sometimes one and sometimes another */
};

/** Of what may be either of two, such as an argument of two sites: MIXED if it depends. */
enum sign sign_join(enum sign a, enum sign b);
/** Of what both are put into, such as a variable, or a choice: as in C, an uint64 if one of them is. */
enum sign sign_of_both(enum sign a, enum sign b);
/** Of a value of type @t, or of @bit_size bits of it (0: it is no bit-field). */
enum sign sign_of_type(struct ctype *t, unsigned bit_size);
/** Of `A op B` (OP_* of lang/vocabulary.h), computed as in C; a difference of two that have none is the caller's to judge. */
enum sign sign_of_result(unsigned op, enum sign a, enum sign b);

/** How many bits a value of such a type may need, 1 to 64; 0: not known. */
unsigned sign_bits_of_type(struct ctype *t, unsigned bit_size);
unsigned sign_bits_of_number(uint64_t value);
/**
 * Of `A op B` in 64 bits, of operands of @a and @b bits, and with B itself where it is a number, else NULL. One bit more than what
 * an unsigned result needs, so that %d shows it: 0xffff * 0xffff is no int32.
 */
unsigned sign_bits_of_result(unsigned op, unsigned a, unsigned b, const uint64_t *number);

#endif
