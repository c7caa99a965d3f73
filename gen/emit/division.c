/**
 * Division, remainder and right shift of numbers that may be negative.
 *
 * bpftrace computes all three unsigned, whatever it knows of its operands: -700 / 7 is
 * 2635249153387078702 in every version. Where an operand is known to be signed (sema/exprtype.h),
 * it is computed as in C, with unsigned arithmetic. A choice (`X < 0 ? ... : ...`) would be
 * plainer, but bpftrace 0.23 dies of one when X is read from a map.
 *
 *	X / 7	(int64)((int64)((uint64)(X + (int64)((uint64)X >> 63) * 6 + (int64)0x7fffffffffffffff) / 7) - 1317624576693539401)
 *	X >> 3	(int64)((int64)(((uint64)X ^ 0x8000000000000000) >> 3) - 1152921504606846976)
 */
#include "emit/emit_priv.h"

/** A literal that all versions read alike: not 1e6, not 010. */
static bool read_number(const struct text *n, uint64_t *ret)
{
	const struct piece *p = n->is_number ? n->pieces : NULL;
	struct str digits = !p			     ? STR("")
			    : p->kind == PIECE_WORDS ? (struct str){p->words, p->n}
						     : p->token->text;
	bool octal = digits.n > 1 && digits.p[0] == '0' && (digits.p[1] | 32) != 'x';
	return !octal && str_to_u64(digits, ret);
}

/** 1 for a negative value, else 0. */
static struct text *sign_of(struct arena *a, const struct text *value)
{
	return text_make(a, value->at, "(int64)((uint64)%n >> 63)", value);
}

/**
 * By a positive constant: negative values are moved up by a multiple of it, so that none is
 * negative, and by one less than it, because C rounds towards 0. If the sign is read at another moment
 * than the value, the result is off by one at most.
 */
static struct text *by_constant(struct arena *a, const struct text *value, char op, uint64_t by)
{
	uint64_t multiple = ((uint64_t)1 << 63) / by;
	const struct text *sign = sign_of(a, value);
	const struct text *up =
	    text_make(a, value->at, "(uint64)(%n + %n * %u + (int64)0x%s)", value, sign, by - 1,
		      arena_printf(a, "%" PRIx64, multiple * by));
	if (op == '/')
		return text_make(a, value->at, "(int64)((int64)(%n / %u) - (int64)%u)", up, by,
				 multiple);
	return text_make(a, value->at, "(int64)((int64)(%n %% %u) - %n * %u)", up, by, sign,
			 by - 1);
}

/** 1 or -1: @value times it is not negative. */
static struct text *unit_of(struct arena *a, const struct text *value)
{
	return text_make(a, value->at, "(1 | -%n)", sign_of(a, value));
}

/** A divisor cast to unsigned, for 0.27 warns of mixed signs. A literal has none. */
static struct text *without_sign(struct arena *a, const struct text *by)
{
	return text_make(a, by->at, by->is_number ? "%n" : "(uint64)%n", by);
}

/** By anything: divide the magnitudes, then apply the sign. */
static struct text *by_any(struct arena *a, const struct division *q)
{
	const struct text *value = q->value, *by = without_sign(a, q->by);
	const struct text *sign = text_make(a, value->at, "");
	if (q->value_is_signed) {
		const struct text *unit = unit_of(a, q->value);
		value = text_make(a, value->at, "(%n * %n)", value, unit);
		sign = text_make(a, value->at, " * %n", unit);
	}
	if (q->by_is_signed) {
		const struct text *unit = unit_of(a, q->by);
		by = text_make(a, by->at, "(uint64)(%n * %n)", q->by, unit);
		if (q->op == '/')
			sign = text_make(a, value->at, "%n * %n", sign, unit);
	}
	return text_make(a, value->at, "(int64)((int64)((uint64)%n %s %n)%n)", value,
			 q->op == '/' ? "/" : "%", by, sign);
}

static bool is_plain_shift(const struct text *by, uint64_t *n)
{
	return read_number(by, n) && *n >= 1 && *n < 64;
}

static struct text *shift(struct arena *a, const struct text *value, const struct text *by)
{
	uint64_t n;
	if (is_plain_shift(by, &n))
		return text_make(a, value->at,
				 "(int64)((int64)(((uint64)%n ^ 0x8000000000000000) >> %u) - "
				 "(int64)%u)",
				 value, n, (uint64_t)1 << (63 - n));
	const struct text *ones = text_make(a, value->at, "-%n", sign_of(a, value));
	return text_make(a, value->at, "(int64)((int64)((uint64)(%n ^ %n) >> %n) ^ %n)", value,
			 ones, without_sign(a, by), ones);
}

struct text *division_make(struct arena *a, const struct division *q)
{
	uint64_t n;
	if (q->op == '>')
		return shift(a, q->value, q->by);
	if (q->value_is_signed && read_number(q->by, &n) && n > 1 && n <= INT64_MAX)
		return by_constant(a, q->value, q->op, n);
	return by_any(a, q);
}

bool division_repeats_value(const struct division *q)
{
	uint64_t n;
	return q->value_is_signed && !(q->op == '>' && is_plain_shift(q->by, &n));
}
