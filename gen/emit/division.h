/**
 * division - division, remainder and right shift of numbers that may be negative.
 *
 * bpftrace computes all three unsigned, whatever it knows of its operands: -700 / 7 is
 * 2635249153387078702 in every version. Where an operand is known to be signed (sema/exprtype.h),
 * it becomes what C makes of it, in unsigned arithmetic. A choice (`X < 0 ? ... : ...`) would be
 * plainer, but bpftrace 0.23 dies of one when X is behind a map.
 *
 *	X / 7	(int64)((int64)((uint64)(X + (int64)((uint64)X >> 63) * 6 + (int64)0x7fffffffffffffff) / 7) - 1317624576693539401)
 *	X >> 3	(int64)((int64)(((uint64)X ^ 0x8000000000000000) >> 3) - 1152921504606846976)
 */
#ifndef EMIT_DIVISION_H
#define EMIT_DIVISION_H

#include "emit/text.h"

struct division {
	const struct text
	    *value; /**< what may stand behind a cast: no operators outside of brackets */
	bool value_is_signed;
	char op;	       /**< '/', '%' or '>' for >> */
	const struct text *by; /**< as @value; of a shift it is never negative */
	bool by_is_signed;
};

/** `value op by`; one of the two is signed, and the other not above the largest int64. */
struct text *division_make(struct arena *a, const struct division *q);

/** Is the dividend evaluated more than once there? (A divisor that is signed always is.) */
bool division_repeats_value(const struct division *q);

#endif
