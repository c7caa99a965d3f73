/**
 * sign - may a number be below 0?
 *
 * What the steps that know types find out about operands, by their first token, for the step that looks at whole
 * expressions (arith.h).
 *
 *	sign_note(b, token, SIGN_SIGNED);
 *	sign_join(sign_add(left, right), SIGN_NONE);
 */
#ifndef BIND_SIGN_H
#define BIND_SIGN_H

#include "bind/bind.h"

enum sign {
	SIGN_NONE,   /**< never below 0, nor above the largest int64: goes with both */
	SIGN_SIGNED, /**< an int64 */
	SIGN_OTHER,  /**< an uint64, no number at all, or nothing is known */
	SIGN_MIXED,  /**< sometimes an int64 and sometimes something else */
	SIGN_OPEN,   /**< of a name whose assignments were not seen yet, or only of itself */
};

/** The operand that starts at @t, members and indices behind it included, has that sign. */
void sign_note(struct bind *b, const struct token *t, enum sign sign);
/** What was noted of @t; NULL for nothing. */
const enum sign *sign_noted(const struct bind *b, const struct token *t);

/** Of what may be either of two, such as a variable that is assigned twice. */
enum sign sign_join(enum sign a, enum sign b);
/** Of `A op B`; of a division, when it is computed as in C. */
enum sign sign_of_result(struct str op, enum sign a, enum sign b);
/** Of what is cast to a type that bpftrace knows by this name. */
enum sign sign_of_builtin(struct str type);
/** Of a word that is no variable, map, argument or call. */
enum sign sign_of_word(struct str word);

#endif
