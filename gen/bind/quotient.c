#include "bind/quotient.h"

#include <inttypes.h>

#include "bind/edit.h"

static bool is_one_of(const struct token *t, const char *const *texts)
{
	for (; t && *texts; texts++)
		if (tok_is(t, *texts))
			return true;
	return false;
}

/** The operand and what is behind it are one operand of whatever @before belongs to. */
static bool is_free(const struct token *before, bool shift)
{
	static const char *const texts[] = {
	    "(",  "[",	"{",  ",",  ";",  "?",	"=",  ":",  "==", "!=", "<", ">", "<=",
	    ">=", "&&", "||", "+=", "-=", "|=", "&=", "^=", "&",  "|",	"^", NULL};
	static const char *const sums[] = {"+", "-", "<<", ">>", NULL};
	// `pid == N && (` is one token of ours
	return !before || is_one_of(before, texts) || str_has_suffix(before->text, STR("(")) ||
	       (!shift && is_one_of(before, sums));
}

/** `/ 1000 % 60`: the end of the operators of one strength with numbers behind that begin at @op; NULL for none. */
static struct token *last_number(struct token *op, bool shift)
{
	struct token *last = NULL;
	for (;; op = op->next->next) {
		bool divides = shift ? tok_is(op, ">>") : tok_is(op, "/") || tok_is(op, "%");
		if ((!divides && (shift || !tok_is(op, "*"))) || op->next->kind != TOK_NUMBER)
			return last;
		last = divides ? op->next : last;
	}
}

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
		return str_from(arena_printf(a,
					     "((int64)(" STR_FMT " / %" PRIu64 ") - %" PRIu64 ")",
					     STR_ARG(up), by, multiple));
	return str_from(
	    arena_printf(a, "((int64)(" STR_FMT " %% %" PRIu64 ") - " STR_FMT " * %" PRIu64 ")",
			 STR_ARG(up), by, STR_ARG(sign), by - 1));
}

/** By anything that is not below 0: 1 or -1 times the magnitude. */
static struct str by_any(struct arena *a, struct str value, char op, struct str by)
{
	const char *one = arena_printf(a, "(1 | -" STR_FMT ")", STR_ARG(sign_of(a, value)));
	return str_from(arena_printf(a, "((int64)((uint64)(" STR_FMT " * %s) %c " STR_FMT ") * %s)",
				     STR_ARG(value), one, op, STR_ARG(by), one));
}

static struct str shift(struct arena *a, struct str value, struct str by)
{
	uint64_t n;
	if (read_number(by, &n) && n >= 1 && n < 64)
		return str_from(arena_printf(a,
					     "((int64)(((uint64)" STR_FMT
					     " ^ 0x8000000000000000) >> %" PRIu64 ") - %" PRIu64
					     ")",
					     STR_ARG(value), n, (uint64_t)1 << (63 - n)));
	const char *ones = arena_printf(a, "-" STR_FMT, STR_ARG(sign_of(a, value)));
	return str_from(arena_printf(a, "((int64)((uint64)(" STR_FMT " ^ %s) >> " STR_FMT ") ^ %s)",
				     STR_ARG(value), ones, STR_ARG(by), ones));
}

static struct str step(struct arena *a, struct str value, struct str op, struct str by)
{
	uint64_t n;
	if (str_eqz(op, "*"))
		return str_from(
		    arena_printf(a, "(" STR_FMT " * " STR_FMT ")", STR_ARG(value), STR_ARG(by)));
	if (str_eqz(op, ">>"))
		return shift(a, value, by);
	if (read_number(by, &n) && n > 1 && n <= INT64_MAX)
		return by_constant(a, value, op.p[0], n);
	return by_any(a, value, op.p[0], by);
}

struct str quotient_text(struct arena *a, const struct token *before, struct str value,
			 struct token *op, struct token **last)
{
	static const char *const stronger[] = {"+", "-", "*", "/", "%", ".", NULL};
	bool shifts = tok_is(op, ">>");
	struct token *end = last_number(op, shifts);
	if (!end || !is_free(before, shifts) || (shifts && is_one_of(end->next, stronger)))
		return STR("");
	*last = end;
	for (;; op = op->next->next) {
		value = step(a, value, op->text, op->next->text);
		if (op->next == end)
			return value;
	}
}

bool quotient_is_repeatable(const struct token *first, const struct token *last)
{
	static const char *const effects[] = {"++", "--", "rand", NULL};
	for (const struct token *t = first;; t = t->next) {
		if (is_one_of(t, effects))
			return false;
		if (t == last)
			return true;
	}
}
