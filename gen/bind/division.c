#include "bind/division.h"

#include <inttypes.h>

/** A number that all versions read alike: not 1e6, nor 010. */
static bool read_number(struct str text, uint64_t *ret)
{
	bool octal = text.n > 1 && text.p[0] == '0' && (text.p[1] | 32) != 'x';
	return !octal && str_to_u64(text, ret);
}

/** 1 for a value below 0, else 0. */
static struct str sign_of(struct arena *a, struct str value)
{
	return str_from(arena_printf(a, "(int64)((uint64)" STR_FMT " >> 63)", STR_ARG(value)));
}

/**
 * By a positive constant: negative values are moved up by a multiple of it, so that none is below 0, and by one less than
 * it, because C rounds to 0. Were the sign read in another moment than the value, it would be off by one at most.
 */
static struct str by_constant(struct arena *a, struct str value, char op, uint64_t by)
{
	uint64_t multiple = ((uint64_t)1 << 63) / by;
	struct str sign = sign_of(a, value);
	struct str up = str_from(arena_printf(
	    a, "(uint64)(" STR_FMT " + " STR_FMT " * %" PRIu64 " + (int64)0x%" PRIx64 ")",
	    STR_ARG(value), STR_ARG(sign), by - 1, multiple * by));
	if (op == '/')
		return str_from(arena_printf(
		    a, "(int64)((int64)(" STR_FMT " / %" PRIu64 ") - (int64)%" PRIu64 ")",
		    STR_ARG(up), by, multiple));
	return str_from(arena_printf(
	    a, "(int64)((int64)(" STR_FMT " %% %" PRIu64 ") - " STR_FMT " * %" PRIu64 ")",
	    STR_ARG(up), by, STR_ARG(sign), by - 1));
}

/** 1 or -1; with @value times it there is nothing below 0. */
static struct str unit_of(struct arena *a, struct str value)
{
	return str_from(arena_printf(a, "(1 | -" STR_FMT ")", STR_ARG(sign_of(a, value))));
}

/** Without a sign beside what has none: 0.27 warns of another pair. Numbers go with both. */
static const char *unsigned_text(struct arena *a, struct str by)
{
	bool is_number = by.n && by.p[0] >= '0' && by.p[0] <= '9';
	return arena_printf(a, "%s" STR_FMT, is_number ? "" : "(uint64)", STR_ARG(by));
}

/** By anything: of the magnitudes, and then with the sign. */
static struct str by_any(struct arena *a, const struct division *q)
{
	const char *value = arena_printf(a, STR_FMT, STR_ARG(q->value)),
		   *by = unsigned_text(a, q->by);
	const char *sign = "";
	if (q->value_is_signed) {
		struct str unit = unit_of(a, q->value);
		value = arena_printf(a, "(%s * " STR_FMT ")", value, STR_ARG(unit));
		sign = arena_printf(a, " * " STR_FMT, STR_ARG(unit));
	}
	if (q->by_is_signed) {
		struct str unit = unit_of(a, q->by);
		by = arena_printf(a, "(uint64)(" STR_FMT " * " STR_FMT ")", STR_ARG(q->by),
				  STR_ARG(unit));
		if (q->op == '/')
			sign = arena_printf(a, "%s * " STR_FMT, sign, STR_ARG(unit));
	}
	return str_from(
	    arena_printf(a, "(int64)((int64)((uint64)%s %c %s)%s)", value, q->op, by, sign));
}

static bool is_plain_shift(struct str by, uint64_t *n)
{
	return read_number(by, n) && *n >= 1 && *n < 64;
}

static struct str shift(struct arena *a, struct str value, struct str by)
{
	uint64_t n;
	if (is_plain_shift(by, &n))
		return str_from(arena_printf(a,
					     "(int64)((int64)(((uint64)" STR_FMT
					     " ^ 0x8000000000000000) >> %" PRIu64
					     ") - (int64)%" PRIu64 ")",
					     STR_ARG(value), n, (uint64_t)1 << (63 - n)));
	const char *ones = arena_printf(a, "-" STR_FMT, STR_ARG(sign_of(a, value)));
	return str_from(arena_printf(a, "(int64)((int64)((uint64)(" STR_FMT " ^ %s) >> %s) ^ %s)",
				     STR_ARG(value), ones, unsigned_text(a, by), ones));
}

struct str division_text(struct arena *a, const struct division *q)
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

bool division_is_repeatable(const struct token *first, const struct token *last)
{
	for (const struct token *t = first;; t = t->next) {
		if (tok_is(t, "++") || tok_is(t, "--") || tok_is(t, "rand") || tok_is(t, "?") ||
		    tok_is(t, "{"))
			return false;
		if (t == last)
			return true;
	}
}
