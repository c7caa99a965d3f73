/**
 * quotient - division, remainder and right shift of numbers that may be below 0.
 *
 * bpftrace computes all three without a sign, whatever it knows of its operands: -700 / 7 is 2635249153387078702 in every
 * version. Where the target tells that the left operand is signed, it becomes what C makes of it, in arithmetic that is right
 * without a sign. A choice (`X < 0 ? ... : ...`) would be plainer, but bpftrace 0.23 dies of one when X is behind a map.
 *
 *	X / 7	((int64)((uint64)(X + (int64)((uint64)X >> 63) * 6 + (int64)0x7ffffffffffffff8) / 7) - 1317624576693539401)
 *	X >> 3	((int64)(((uint64)X ^ 0x8000000000000000) >> 3) - 1152921504606846976)
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

/** May the expression be evaluated several times, as the texts here do? Not with ++, -- or rand in it. */
bool quotient_is_repeatable(const struct token *first, const struct token *last);

#endif
