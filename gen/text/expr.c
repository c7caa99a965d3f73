/*
 * The value of an #if expression
 *
 * Integer arithmetic in intmax_t and uintmax_t (C11 6.10.1): operands with a u suffix, or too large
 * for intmax_t, make an operation unsigned. What C leaves undefined is defined as gcc does it:
 * overflow wraps, a shift by more than the width gives 0 (or -1), by a negative count goes the
 * other way. The half of ?: && || that is not evaluated may divide by zero.
 */
#include "text/pp_priv.h"

#include <limits.h>
#include <string.h>

#define MAX_DEPTH 200 // parentheses, unary operators and ?: in one another

struct value {
	bool is_unsigned;
	uint64_t v; /**< two's complement when signed */
};

struct parser {
	const struct token *t;
	unsigned depth;
	unsigned unevaluated; /**< nesting of halves that are not evaluated */
	const struct token *bad_at;
	const char *why;
};

static struct value fail(struct parser *p, const struct token *at, const char *why)
{
	if (!p->why) {
		p->bad_at = at;
		p->why = why;
	}
	return (struct value){0};
}

static bool is_neg(struct value a)
{
	return !a.is_unsigned && (int64_t)a.v < 0;
}

static struct value of_bool(bool b)
{
	return (struct value){false, b};
}

/** u, l, ll and their mixtures; false for anything else. */
static bool suffix(struct str s, bool *is_unsigned)
{
	unsigned u = 0, l = 0;
	for (size_t i = 0; i < s.n; i++) {
		if ((s.p[i] | 32) == 'u') {
			u++;
		} else if ((s.p[i] | 32) == 'l') {
			// ll must stand together and in one case.
			if (l++ == 1 && s.p[i] != s.p[i - 1])
				return false;
		} else {
			return false;
		}
	}
	*is_unsigned = u != 0;
	return u <= 1 && l <= 2;
}

static int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 32;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

/** The exponent of bpftrace's integers like 1e6; false when the number does not fit. */
static bool scale(uint64_t *v, struct str *rest)
{
	unsigned e = 0;
	size_t i = 1;
	for (; i < rest->n && rest->p[i] >= '0' && rest->p[i] <= '9'; i++)
		e = e < 100 ? e * 10 + (unsigned)(rest->p[i] - '0') : e;
	for (unsigned k = 0; k < e && *v; k++)
		if (__builtin_mul_overflow(*v, (uint64_t)10, v))
			return false;
	*rest = str_from_offset(*rest, i);
	return true;
}

static struct value number(struct parser *p, const struct token *t)
{
	struct str s = t->text;
	int base = 10;
	if (s.n > 2 && s.p[0] == '0' && ((s.p[1] | 32) == 'x' || (s.p[1] | 32) == 'b')) {
		base = (s.p[1] | 32) == 'x' ? 16 : 2;
		s = str_from_offset(s, 2);
	} else if (s.n > 1 && s.p[0] == '0') {
		base = 8;
	}
	struct value r = {0};
	size_t i = 0;
	for (; i < s.n; i++) {
		if (s.p[i] == '_' && i > 0 && i + 1 < s.n && digit_value(s.p[i + 1]) < base)
			continue; // bpftrace's 1_000_000
		int d = digit_value(s.p[i]);
		if (d >= base)
			break;
		if (__builtin_mul_overflow(r.v, (uint64_t)base, &r.v) ||
		    __builtin_add_overflow(r.v, (uint64_t)d, &r.v))
			return fail(p, t, "this number is too large for #if");
	}
	struct str rest = str_from_offset(s, i);
	if (i == 0)
		return fail(p, t, "this is not a number that #if can use");
	if (base == 8 && rest.n && (rest.p[0] == '8' || rest.p[0] == '9'))
		return fail(p, t, "invalid digit in an octal number");
	if (base == 10 && rest.n > 1 && (rest.p[0] | 32) == 'e' && digit_value(rest.p[1]) < 10 &&
	    !scale(&r.v, &rest))
		return fail(p, t, "this number is too large for #if");
	if (str_find(rest, '.') < rest.n || (s.n && s.p[0] == '.'))
		return fail(p, t, "#if takes integers only");
	if (!suffix(rest, &r.is_unsigned))
		return fail(p, t, "this is not a number that #if can use");
	r.is_unsigned |= r.v > INT64_MAX;
	return r;
}

/** One character of a character constant, escapes resolved. */
static bool character(struct str *s, unsigned *ret)
{
	*ret = (unsigned char)s->p[0];
	*s = str_from_offset(*s, 1);
	if (*ret != '\\')
		return true;
	*ret = str_has_prefix(*s, STR("?")) ? '?' : '\033';
	if (str_take(s, STR("?")) || str_take(s, STR("e"))) // GNU's \e
		return true;
	bool is_hex = str_has_prefix(*s, STR("x"));
	bool good = str_take_escape(s, ret);
	for (; is_hex && *ret <= 0xff && s->n && digit_value(s->p[0]) < 16;
	     *s = str_from_offset(*s, 1))
		*ret = *ret * 16 + (unsigned)digit_value(s->p[0]);
	return good && *ret <= 0xff;
}

static struct value char_constant(struct parser *p, const struct token *t)
{
	struct str s = str_slice(t->text, 1, t->text.n - 2);
	unsigned n = 0;
	uint32_t v = 0;
	if (t->text.n < 3)
		return fail(p, t, "an empty character constant");
	while (s.n) {
		unsigned c;
		if (!character(&s, &c))
			return fail(p, t, "unknown escape in a character constant");
		if (++n > 4)
			return fail(p, t, "a character constant of more than four characters");
		v = v << 8 | c;
	}
	// As gcc: one character is a (signed, on x86) char, several are an int.
	int64_t value = n == 1 && CHAR_MIN < 0 ? (int64_t)(signed char)v : (int64_t)(int32_t)v;
	return (struct value){false, (uint64_t)value};
}

static struct value conditional(struct parser *p);

static struct value primary(struct parser *p)
{
	const struct token *t = p->t;
	if (t->kind == TOK_NUMBER) {
		p->t = t->next;
		return number(p, t);
	}
	if (t->kind == TOK_CHAR) {
		p->t = t->next;
		return char_constant(p, t);
	}
	if (t->kind == TOK_IDENT) {
		p->t = t->next;
		return tok_is(p->t, "(") ? fail(p, t, "no macro of this name is defined")
					 : (struct value){0};
	}
	if (tok_is(t, "(")) {
		p->t = t->next;
		struct value r = conditional(p);
		if (p->why)
			return r;
		if (!tok_is(p->t, ")"))
			return fail(p, p->t->kind == TOK_EOF ? t : p->t,
				    "this parenthesis of the #if expression is not closed");
		p->t = p->t->next;
		return r;
	}
	if (t->kind == TOK_STRING)
		return fail(p, t, "#if cannot use strings");
	return fail(p, t,
		    t->kind == TOK_EOF ? "the #if expression ends where a value is expected"
				       : "expected a value in the #if expression");
}

static struct value unary(struct parser *p)
{
	const struct token *t = p->t;
	if (p->why)
		return (struct value){0};
	if (t->kind != TOK_PUNCT || t->text.n != 1 || !strchr("+-!~", t->text.p[0]) ||
	    !t->text.p[0])
		return primary(p);
	if (++p->depth > MAX_DEPTH)
		return fail(p, t, "the #if expression is nested too deeply");
	p->t = t->next;
	struct value a = unary(p);
	p->depth--;
	char op = t->text.p[0];
	if (op == '!')
		return of_bool(!a.v);
	a.v = op == '-' ? -a.v : op == '~' ? ~a.v : a.v;
	return a;
}

/** Binds tighter the higher it is; 0 for what is no binary operator. */
static int precedence(const struct token *t)
{
	static const struct {
		char op[3];
		int level;
	} table[] = {{"||", 1}, {"&&", 2}, {"|", 3}, {"^", 4},	{"&", 5},  {"==", 6},
		     {"!=", 6}, {"<", 7},  {">", 7}, {"<=", 7}, {">=", 7}, {"<<", 8},
		     {">>", 8}, {"+", 9},  {"-", 9}, {"*", 10}, {"/", 10}, {"%", 10}};
	if (t->kind != TOK_PUNCT)
		return 0;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (str_eqz(t->text, table[i].op))
			return table[i].level;
	return 0;
}

static struct value shift(struct value a, struct value by, bool left)
{
	uint64_t n = by.v;
	if (is_neg(by)) {
		left = !left;
		n = -by.v;
	}
	uint64_t fill = is_neg(a) && !left ? UINT64_MAX : 0;
	if (n >= 64)
		a.v = fill;
	else if (left)
		a.v <<= n;
	else if (n)
		a.v = a.v >> n | (fill ? fill << (64 - n) : 0);
	return a;
}

static struct value divide(struct parser *p, const struct token *op, struct value a, struct value b)
{
	bool rem = op->text.p[0] == '%';
	bool is_unsigned = a.is_unsigned || b.is_unsigned;
	if (!b.v) {
		if (!p->unevaluated)
			return fail(p, op, "division by zero in #if");
		return (struct value){is_unsigned, 0};
	}
	if (is_unsigned)
		return (struct value){true, rem ? a.v % b.v : a.v / b.v};
	if (b.v == UINT64_MAX) // -1: INTMAX_MIN / -1 wraps
		return (struct value){false, rem ? 0 : -a.v};
	int64_t x = (int64_t)a.v, y = (int64_t)b.v;
	return (struct value){false, (uint64_t)(rem ? x % y : x / y)};
}

static struct value apply(struct parser *p, const struct token *op, struct value a, struct value b)
{
	char c = op->text.p[0], d = op->text.n > 1 ? op->text.p[1] : '\0';
	bool is_unsigned = a.is_unsigned || b.is_unsigned;
	bool less = is_unsigned ? a.v < b.v : (int64_t)a.v < (int64_t)b.v;
	switch (c) {
	case '/':
	case '%':
		return divide(p, op, a, b);
	case '=':
		return of_bool(a.v == b.v);
	case '!':
		return of_bool(a.v != b.v);
	case '<':
		return d == '<' ? shift(a, b, true) : of_bool(less || (d && a.v == b.v));
	case '>':
		return d == '>' ? shift(a, b, false) : of_bool(!less && (d || a.v != b.v));
	case '&':
		return d ? of_bool(a.v && b.v) : (struct value){is_unsigned, a.v & b.v};
	case '|':
		return d ? of_bool(a.v || b.v) : (struct value){is_unsigned, a.v | b.v};
	default:
		return (struct value){is_unsigned, c == '*'   ? a.v * b.v
						   : c == '+' ? a.v + b.v
						   : c == '-' ? a.v - b.v
							      : a.v ^ b.v};
	}
}

static struct value binary(struct parser *p, int min)
{
	struct value a = unary(p);
	for (;;) {
		const struct token *op = p->t;
		int level = p->why ? 0 : precedence(op);
		if (!level || level < min)
			return a;
		p->t = op->next;
		bool known = (level == 1 && a.v) || (level == 2 && !a.v);
		p->unevaluated += known;
		struct value b = binary(p, level + 1); // at most ten deep
		p->unevaluated -= known;
		if (!p->why)
			a = apply(p, op, a, b);
	}
}

static struct value conditional(struct parser *p)
{
	if (++p->depth > MAX_DEPTH)
		return fail(p, p->t, "the #if expression is nested too deeply");
	struct value c = binary(p, 1);
	if (!p->why && tok_is(p->t, "?")) {
		const struct token *q = p->t;
		p->t = q->next;
		p->unevaluated += !c.v;
		struct value a = conditional(p);
		p->unevaluated -= !c.v;
		if (!p->why && !tok_is(p->t, ":"))
			return fail(p, q, "this ? has no :");
		if (p->why)
			return c;
		p->t = p->t->next;
		p->unevaluated += c.v != 0;
		struct value b = conditional(p);
		p->unevaluated -= c.v != 0;
		bool is_unsigned = a.is_unsigned || b.is_unsigned;
		c = c.v ? a : b;
		c.is_unsigned = is_unsigned;
	}
	p->depth--;
	return c;
}

bool expr_eval(const struct token *list, bool *ret, const struct token **bad_at, const char **why)
{
	struct parser p = {.t = list};
	struct value v = conditional(&p);
	if (!p.why && p.t->kind != TOK_EOF)
		fail(&p, p.t, "expected an operator before this in the #if expression");
	*bad_at = p.bad_at;
	*why = p.why;
	*ret = v.v != 0;
	return !p.why;
}
