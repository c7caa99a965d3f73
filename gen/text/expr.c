#include "text/expr.h"

#define MAX_DEPTH 200 // parentheses, unary operators and ?: in one another

struct parser {
	const struct token *t;
	unsigned depth;
	unsigned unevaluated; /**< nesting of halves that are not evaluated */
	const struct token *bad_at;
	const char *why;
	expr_find_fn *find;
	const struct map *constants; /**< of C, for @find; NULL in #if */
};

static struct constant_value fail(struct parser *p, const struct token *at, const char *why)
{
	if (!p->why) {
		p->bad_at = at;
		p->why = why;
	}
	return (struct constant_value){0};
}

static struct constant_value of_bool(bool b)
{
	return (struct constant_value){.value = b};
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

static struct constant_value number(struct parser *p, const struct token *t)
{
	struct str s = t->text;
	int base = 10;
	if (s.n > 2 && s.p[0] == '0' && ((s.p[1] | 32) == 'x' || (s.p[1] | 32) == 'b')) {
		base = (s.p[1] | 32) == 'x' ? 16 : 2;
		s = str_from_offset(s, 2);
	} else if (s.n > 1 && s.p[0] == '0') {
		base = 8;
	}
	struct constant_value r = {0};
	size_t i = 0;
	for (; i < s.n; i++) {
		if (s.p[i] == '_' && i > 0 && i + 1 < s.n && digit_value(s.p[i + 1]) < base)
			continue; // bpftrace's 1_000_000
		int d = digit_value(s.p[i]);
		if (d >= base)
			break;
		if (__builtin_mul_overflow(r.value, (uint64_t)base, &r.value) ||
		    __builtin_add_overflow(r.value, (uint64_t)d, &r.value))
			return fail(p, t, "this number is too large for #if");
	}
	struct str rest = str_from_offset(s, i);
	if (i == 0)
		return fail(p, t, "this is not a number that #if can use");
	if (base == 8 && rest.n && (rest.p[0] == '8' || rest.p[0] == '9'))
		return fail(p, t, "invalid digit in an octal number");
	if (base == 10 && rest.n > 1 && (rest.p[0] | 32) == 'e' && digit_value(rest.p[1]) < 10 &&
	    !scale(&r.value, &rest))
		return fail(p, t, "this number is too large for #if");
	if (str_find(rest, '.') < rest.n || (s.n && s.p[0] == '.'))
		return fail(p, t, "#if takes integers only");
	if (!suffix(rest, &r.is_unsigned))
		return fail(p, t, "this is not a number that #if can use");
	r.is_unsigned |= r.value > INT64_MAX;
	r.is_long = str_find(rest, 'l') < rest.n || str_find(rest, 'L') < rest.n ||
		    r.value > (base == 10 && !r.is_unsigned ? INT32_MAX : UINT32_MAX);
	r.is_unsigned |= p->constants && !r.is_long && r.value > INT32_MAX;
	return r;
}

/** @r, which @op made of operands of C. */
static struct constant_value check_width(struct parser *p, const struct token *op,
					 struct constant_value r)
{
	bool fits = r.is_unsigned ? r.value <= UINT32_MAX : (int64_t)r.value == (int32_t)r.value;
	if (p->constants && !r.is_long && !fits && !p->unevaluated)
		return fail(p, op, "C has 32 bits here");
	return r;
}

static struct constant_value conditional(struct parser *p);

static struct constant_value primary(struct parser *p)
{
	const struct token *t = p->t;
	struct constant_value v;
	if (t->kind == TOK_NUMBER) {
		p->t = t->next;
		return number(p, t);
	}
	if (t->kind == TOK_IDENT) {
		p->t = t->next;
		if (p->constants)
			return p->find(p->constants, t->text, p->depth + 1, &v)
				   ? v
				   : fail(p, t, "not a constant");
		return tok_is(p->t, "(") ? fail(p, t, "no macro of this name is defined")
					 : (struct constant_value){0};
	}
	if (tok_is(t, "(")) {
		p->t = t->next;
		struct constant_value r = conditional(p);
		if (p->why)
			return r;
		if (!tok_is(p->t, ")"))
			return fail(p, p->t->kind == TOK_EOF ? t : p->t,
				    "this parenthesis of the #if expression is not closed");
		p->t = p->t->next;
		return r;
	}
	if (t->kind == TOK_STRING || t->kind == TOK_CHAR)
		return fail(p, t, "#if cannot use strings or characters");
	return fail(p, t,
		    t->kind == TOK_EOF ? "the #if expression ends where a value is expected"
				       : "expected a value in the #if expression");
}

static struct constant_value unary(struct parser *p)
{
	const struct token *t = p->t;
	if (p->why)
		return (struct constant_value){0};
	if (t->kind != TOK_PUNCT || t->text.n != 1 || !strchr("+-!~", t->text.p[0]) ||
	    !t->text.p[0])
		return primary(p);
	if (++p->depth > MAX_DEPTH)
		return fail(p, t, "the #if expression is nested too deeply");
	p->t = t->next;
	struct constant_value a = unary(p);
	p->depth--;
	char op = t->text.p[0];
	if (op == '!')
		return of_bool(!a.value);
	a.value = op == '-' ? -a.value : op == '~' ? ~a.value : a.value;
	return check_width(p, t, a);
}

/** Precedence is C's, as in every bpftrace. */
static const struct {
	char op[3];
	unsigned level;
} operators[] = {{"||", 1}, {"&&", 2}, {"|", 3}, {"^", 4},  {"&", 5},  {"==", 6},
		 {"!=", 6}, {"<", 7},  {">", 7}, {"<=", 7}, {">=", 7}, {"<<", 8},
		 {">>", 8}, {"+", 9},  {"-", 9}, {"*", 10}, {"/", 10}, {"%", 10}};

unsigned expr_operator(struct str text, unsigned *level)
{
	for (unsigned i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
		if (!str_eqz(text, operators[i].op))
			continue;
		if (level)
			*level = operators[i].level;
		return 1U << i;
	}
	return 0;
}

static struct constant_value shift(struct parser *p, const struct token *op,
				   struct constant_value a, struct constant_value by)
{
	uint64_t n = by.value & 63;
	if (by.value > 63 && !p->unevaluated)
		return fail(p, op, "shift count is out of range (0 to 63)");
	if (op->text.p[0] == '<')
		a.value <<= n;
	else
		a.value = a.is_unsigned ? a.value >> n : (uint64_t)((int64_t)a.value >> n);
	return a;
}

static struct constant_value divide(struct parser *p, const struct token *op,
				    struct constant_value a, struct constant_value b)
{
	bool rem = op->text.p[0] == '%';
	bool is_unsigned = a.is_unsigned || b.is_unsigned, is_long = a.is_long || b.is_long;
	if (!b.value) {
		if (!p->unevaluated)
			return fail(p, op, "division by zero in #if");
		return (struct constant_value){is_unsigned, 0, is_long};
	}
	if (is_unsigned)
		return (struct constant_value){true, rem ? a.value % b.value : a.value / b.value,
					       is_long};
	if (b.value == UINT64_MAX) // -1: INTMAX_MIN / -1 wraps
		return (struct constant_value){false, rem ? 0 : -a.value, is_long};
	int64_t x = (int64_t)a.value, y = (int64_t)b.value;
	return (struct constant_value){false, (uint64_t)(rem ? x % y : x / y), is_long};
}

static struct constant_value apply(struct parser *p, const struct token *op,
				   struct constant_value a, struct constant_value b)
{
	char c = op->text.p[0], d = op->text.n > 1 ? op->text.p[1] : '\0';
	bool is_unsigned = a.is_unsigned || b.is_unsigned, is_long = a.is_long || b.is_long;
	bool less = is_unsigned ? a.value < b.value : (int64_t)a.value < (int64_t)b.value;
	switch (c) {
	case '/':
	case '%':
		return divide(p, op, a, b);
	case '=':
		return of_bool(a.value == b.value);
	case '!':
		return of_bool(a.value != b.value);
	case '<':
		return d == '<' ? shift(p, op, a, b) : of_bool(less || (d && a.value == b.value));
	case '>':
		return d == '>' ? shift(p, op, a, b) : of_bool(!less && (d || a.value != b.value));
	case '&':
		return d ? of_bool(a.value && b.value)
			 : (struct constant_value){is_unsigned, a.value & b.value, is_long};
	case '|':
		return d ? of_bool(a.value || b.value)
			 : (struct constant_value){is_unsigned, a.value | b.value, is_long};
	default:
		return (struct constant_value){is_unsigned,
					       c == '*'	  ? a.value * b.value
					       : c == '+' ? a.value + b.value
					       : c == '-' ? a.value - b.value
							  : a.value ^ b.value,
					       is_long};
	}
}

/** @a as an operand beside @b: an unsigned int becomes a long beside one. */
static struct constant_value convert(const struct parser *p, struct constant_value a,
				     struct constant_value b)
{
	a.is_unsigned &= !p->constants || a.is_long || !b.is_long;
	return a;
}

static struct constant_value binary(struct parser *p, unsigned min)
{
	struct constant_value a = unary(p);
	for (;;) {
		const struct token *op = p->t;
		unsigned level = 0;
		if (p->why || !expr_operator(op->text, &level) || level < min)
			return a;
		p->t = op->next;
		bool known = (level == 1 && a.value) || (level == 2 && !a.value);
		p->unevaluated += known;
		struct constant_value b = binary(p, level + 1); // at most ten deep
		p->unevaluated -= known;
		if (!p->why)
			a = check_width(p, op, apply(p, op, convert(p, a, b), convert(p, b, a)));
	}
}

static struct constant_value conditional(struct parser *p)
{
	if (++p->depth > MAX_DEPTH)
		return fail(p, p->t, "the #if expression is nested too deeply");
	struct constant_value c = binary(p, 1);
	if (!p->why && tok_is(p->t, "?")) {
		const struct token *q = p->t;
		p->t = q->next;
		p->unevaluated += !c.value;
		struct constant_value a = conditional(p);
		p->unevaluated -= !c.value;
		if (!p->why && !tok_is(p->t, ":"))
			return fail(p, q, "this ? has no :");
		if (p->why)
			return c;
		p->t = p->t->next;
		p->unevaluated += c.value != 0;
		struct constant_value b = conditional(p);
		p->unevaluated -= c.value != 0;
		struct constant_value first = convert(p, a, b), second = convert(p, b, a);
		c = c.value ? first : second;
		c.is_unsigned = first.is_unsigned || second.is_unsigned;
		c.is_long = a.is_long || b.is_long;
	}
	p->depth--;
	return c;
}

static struct constant_value eval(struct parser *p)
{
	struct constant_value v = conditional(p);
	if (!p->why && p->t->kind != TOK_EOF)
		fail(p, p->t, "expected an operator before this in the #if expression");
	return v;
}

bool expr_eval(const struct token *list, bool *ret, const struct token **bad_at, const char **why)
{
	struct parser p = {.t = list};
	*ret = eval(&p).value != 0;
	*bad_at = p.bad_at;
	*why = p.why;
	return !p.why;
}

bool expr_eval_constant(const struct token *list, expr_find_fn *find, const struct map *constants,
			unsigned depth, struct constant_value *ret)
{
	struct parser p = {.t = list, .depth = depth, .find = find, .constants = constants};
	*ret = eval(&p);
	return !p.why;
}
