/**
 * quotient - division, remainder and right shift of numbers that may be below 0.
 *
 * bpftrace computes all three without a sign, whatever it knows of its operands: -700 / 7 is 2635249153387078702 in every
 * version. Where the target tells that the left operand is signed, `X / 7` becomes
 * `(X < 0 ? -(int64)((uint64)-X / 7) : (int64)((uint64)X / 7))`, which is what C makes of it.
 */
#ifndef BIND_QUOTIENT_H
#define BIND_QUOTIENT_H

#include "text/lex.h"

/**
 * The text for the signed operand @value and the operators and constants behind it, which start at @op; the last constant's
 * token in *@last. Empty, when something else follows, or when @before, the token before the operand or NULL, has the operand
 * first, as in `2 * X / 7`.
 */
struct str quotient_text(struct arena *a, const struct token *before, struct str value,
			 struct token *op, struct token **last);

#endif
