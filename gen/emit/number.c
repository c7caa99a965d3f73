// Numbers as C has them: 64 bits, with the sign of their type (btgen-template(5), NUMBERS).
//
// What bpftrace holds for an expression is another thing than its value in C, and differs between
// versions: a narrow unsigned member has 8 bits in one sum and 64 in the next, true is -1, a signed
// number beside an unsigned one loses its sign. number_held() says what a node is to bpftrace as it is
// written; number_make() makes 64 bits of it, with a sign or without; and each operator asks for
// what it needs. Nothing else in here knows how a number is written.
#include "emit/emit_priv.h"
#include "sema/targettype.h"
#include "lang/vocabulary.h"
#include "dialect/dialect.h"

static bool mixes_signs(const struct emitter *e)
{
	return e->b->given->files && dialect_mixes_signs(e->b->given->version);
}

// --- what bpftrace has ---

static enum held held_of_sign(enum sign sign)
{
	return sign == SIGN_SIGNED || sign == SIGN_MIXED ? HELD_SIGNED : HELD_UNSIGNED;
}

/** A number whose type says so; elements of tuples have none, but a sign. */
static enum held held_of_type(const struct expr *x)
{
	struct ctype *t = ctype_strip(x->type);
	if (!ctype_is_number(t))
		return held_of_sign(x->sign);
	if (t->is_signed)
		return HELD_SIGNED;
	return t->size < 8 || (x->bit_size && x->bit_size < 64) ? HELD_NARROW : HELD_UNSIGNED;
}

/** Of two operands, or of the arms of a choice. */
static enum held join_held(const struct emitter *e, enum held a, enum held b)
{
	if (a == b)
		return a;
	// From 0.24 on a literal is an int64.
	if (a == HELD_ANY || b == HELD_ANY)
		return !mixes_signs(e) ? HELD_SIGNED : a == HELD_ANY ? b : a;
	// One with a sign, or 64 bits, and another.
	return mixes_signs(e) ? HELD_UNSIGNED : HELD_SIGNED;
}

enum held number_held_literal(const struct emitter *e, uint64_t value)
{
	return value > (mixes_signs(e) ? INT32_MAX : INT64_MAX) ? HELD_UNSIGNED : HELD_ANY;
}

enum held number_held(struct emitter *e, const struct node *n, const struct text *const *children)
{
	const struct expr *x = n->expr;
	uint64_t value;
	if (!x)
		return HELD_UNSIGNED;
	if (n->kind == NODE_GROUP || n->kind == NODE_COMPTIME)
		return children[0]->held;
	if (x->is_truth && n->kind != NODE_TERNARY)
		return HELD_NARROW;
	switch (n->kind) {
	case NODE_NUMBER:
		return str_to_u64(node_text(n), &value) ? number_held_literal(e, value) : HELD_ANY;
	case NODE_UNARY:
		if (x->is_place || x->is_value)
			return held_of_type(x);
		// From 0.24 on ~1 is an uint64 (emit_unary()), and -1 an int64 whatever is beside it.
		if (mixes_signs(e) || children[0]->held != HELD_ANY)
			return children[0]->held;
		return tok_is(n->name, "~")   ? HELD_UNSIGNED
		       : tok_is(n->name, "-") ? HELD_SIGNED
					      : children[0]->held;
	case NODE_BINARY:
		if (node_operator(n) & OP_SHIFT)
			return children[0]->held;
		return tok_is(n->name, "-") && !mixes_signs(e)
			   ? HELD_SIGNED
			   : join_held(e, children[0]->held, children[1]->held);
	case NODE_TERNARY:
		return n->child->next->next ? join_held(e, children[1]->held, children[2]->held)
					    : HELD_UNSIGNED;
	case NODE_CAST:
	case NODE_MEMBER:
	case NODE_INDEX:
		if (!x->arg_of)
			return held_of_type(x);
		return x->sign == SIGN_SIGNED || dialect_has_signed_args(e->b->given->version)
			   ? HELD_SIGNED
			   : HELD_UNSIGNED;
	case NODE_VARIABLE:
	case NODE_MAP:
		return store_held(e, n);
	default:
		return held_of_sign(x->sign);
	}
}

// --- what is made of it ---

/** @t, a text that nothing else has yet, is a number that bpftrace holds so; no brackets are needed. */
static const struct text *hold(struct text *t, enum held held)
{
	t->held = held;
	t->is_tight = t->is_made = true;
	t->is_truth = false;
	return t;
}

/** `(int64)x`; @is_map: x is one. */
static struct text *cast(struct emitter *e, const struct node *n, const char *to,
			 const struct text *t)
{
	// 0.17 casts no map that a clause further down fills, but adds to it.
	return made(e, n, n->kind == NODE_MAP ? "%s(%n + 0)" : "%s%c", to, t);
}

const struct text *number_make(struct emitter *e, const struct node *n, const struct text *t,
			       bool is_signed)
{
	enum held want = is_signed ? HELD_SIGNED : HELD_UNSIGNED;
	if (!e->good || !e->b->given->files || t->held == HELD_ANY || t->held == want)
		return t;
	const char *to = !is_signed		  ? "(uint64)"
			 : t->held == HELD_NARROW ? "(int64)(uint64)"
						  : "(int64)";
	return hold(cast(e, n, to, t), want);
}

/** What has fewer bits gets all 64. */
static const struct text *widen(struct emitter *e, const struct node *n, const struct text *t)
{
	return t->held == HELD_NARROW ? number_make(e, n, t, false) : t;
}

/** True and false become 1 and 0, with which can be computed. */
static const struct text *count_truth(struct emitter *e, const struct node *n, const struct text *t)
{
	return t->is_truth ? number_make(e, n, t, true) : t;
}

const struct text *number_counted(struct emitter *e, const struct node *n, const struct text *t,
				  bool is_sample)
{
	// Where x and y are signed, bpftrace 0.23 takes true for -1; from 0.24 on aggregations refuse it.
	return t->is_truth && (is_sample || mixes_signs(e)) ? number_make(e, n, t, false) : t;
}

const struct text *number_kept(struct emitter *e, const struct node *n, const struct text *t,
			       bool is_sample)
{
	// From 0.24 on u64 & i32 is an int64, and shown as one; so is a variable that has it.
	bool may_be_signed = t->held == HELD_SIGNED || t->held == HELD_OPEN;
	if (!mixes_signs(e) && may_be_signed && n->expr && n->expr->kind == EXPR_NUMBER &&
	    n->expr->sign == SIGN_UNSIGNED && !ctype_pointee(n->expr->type))
		return number_make(e, n, t, false);
	return number_counted(e, n, t, is_sample);
}

/** As an operand of what stands behind a cast. */
static const struct text *operand(struct emitter *e, const struct node *n, const struct text *t)
{
	if (t->is_number)
		return t;
	if (t->held == HELD_NARROW)
		return number_make(e, n, t, true);
	if (!t->is_tight)
		return made(e, n, "(%n)", t);
	// Newer versions have variables and casts of less than 64 bits.
	if (n->kind != NODE_MAP &&
	    (text_has_prefix(t, "(int64)") || text_has_prefix(t, "((int64)") ||
	     text_has_prefix(t, "(((int64)")))
		return t;
	return cast(e, n, "(int64)", t);
}

// --- operators ---

static void warn_of_mixed(struct emitter *e, const struct node *n)
{
	unsigned op = node_operator(n);
	const char *name = op & OP_QUOTIENT ? "division" : op & OP_ORDER ? "sign" : "shift";
	if (n->name->loc.file)
		e->good &= diag_finding(
		    e->b->diag, name, DIAG_WARNING, tok_at(n->name),
		    "bpftrace %s unsigned, and the signedness of this operand is unknown: "
		    "write (int64)(...) or (uint64)(...)",
		    op & OP_QUOTIENT ? "divides"
		    : op & OP_ORDER  ? "compares"
				     : "shifts");
}

/** What is evaluated once stays so: with --force it is computed without a sign. */
static void report_not_repeatable(struct emitter *e, const struct node *n, bool is_shift)
{
	e->good = diag_finding(e->b->diag, is_shift ? "shift" : "division", DIAG_ERROR,
			       tok_at(n->child->first),
			       "to %s as C does, this would be evaluated more than once: assign it "
			       "to a variable first",
			       is_shift ? "shift" : "divide");
}

/** The sign of a difference of times is the same a moment later. */
static bool is_repeatable(const struct node *n)
{
	return expr_effect(n) < EFFECT_RANDOM;
}

/** What `left op right` becomes; NULL when it stays as it is. */
static struct text *divide(struct emitter *e, const struct node *n,
			   const struct text *const *children)
{
	const struct node *left = n->child, *right = left->next;
	bool shift = node_operator(n) == OP_SHR;
	enum sign l = left->expr->sign, r = shift ? SIGN_NONE : right->expr->sign;
	if (l == SIGN_MIXED || r == SIGN_MIXED || (r == SIGN_SIGNED && l == SIGN_OTHER))
		warn_of_mixed(e, n);
	bool is_signed = l == SIGN_SIGNED || (r == SIGN_SIGNED && l == SIGN_NONE);
	if (!is_signed || l == SIGN_UNSIGNED || r == SIGN_UNSIGNED)
		return NULL;
	struct division q = {
	    .value = operand(e, left, children[0]),
	    .value_is_signed = l == SIGN_SIGNED,
	    .op = n->name->text.p[0],
	    .by = operand(e, right, children[1]),
	    .by_is_signed = r == SIGN_SIGNED,
	};
	if ((division_repeats_value(&q) && !is_repeatable(left)) ||
	    (q.by_is_signed && !is_repeatable(right))) {
		report_not_repeatable(e, n, shift);
		return NULL;
	}
	return division_make(e->arena, &q);
}

static const struct text *emit_division(struct emitter *e, const struct node *n,
					const struct text *const *children)
{
	struct text *quotient = divide(e, n, children);
	// Divided without a sign, and kept where all else has one.
	bool is_kept = n->kind == NODE_ASSIGN && mixes_signs(e);
	bool is_int64 = is_kept && store_is_int64(e, n->child);
	if (!quotient && is_kept && (children[0]->held == HELD_SIGNED || is_int64) &&
	    (children[1]->held == HELD_UNSIGNED || (is_int64 && children[1]->held == HELD_NARROW)))
		quotient = made(e, n, "(int64)((uint64)%n %t (%n))", children[0],
				str_slice(n->name->text, 0, 1), children[1]);
	if (!quotient || !emit_fits(e, n, quotient))
		return NULL;
	return n->kind == NODE_ASSIGN ? made(e, n, "%n = %n", children[0], quotient)
				      : hold(quotient, HELD_SIGNED);
}

/** -x, ~x; what it becomes, or NULL when it stays as it is. */
static const struct text *emit_unary(struct emitter *e, const struct node *n,
				     const struct text **children)
{
	const struct node *of = n->child;
	const struct text *t = children[0];
	if (!tok_is(n->name, "-") && !tok_is(n->name, "~"))
		return NULL;
	// pid, a macro's parameter: of no more bits than that bpftrace gives it
	bool is_plain = of->expr && of->expr->sign == SIGN_NONE && !t->is_made && !t->is_number &&
			!t->is_truth && t->held != HELD_ANY;
	if (is_plain)
		children[0] = hold(cast(e, of, "(int64)(uint64)", t), HELD_SIGNED);
	else if (t->held == HELD_NARROW)
		children[0] = number_make(e, of, t, true);
	if (mixes_signs(e) || t->held != HELD_ANY || !tok_is(n->name, "~"))
		return NULL;
	// From 0.24 on a literal's ~ is an uint64, and computed with as one.
	const struct text *mask = emit_written(e, n, children);
	struct text *cast_mask = made(e, n, "(int64)%n", mask);
	cast_mask->mask = mask;
	return hold(cast_mask, HELD_SIGNED);
}

/**
 * As C does it: what is narrower than 64 bits is compared with its sign, and an int64 with an
 * uint64 without.
 */
static void emit_comparison(struct emitter *e, const struct node *n, const struct text **children)
{
	const struct node *both[] = {n->child, n->child->next};
	enum sign l = both[0]->expr->sign, r = both[1]->expr->sign;
	bool is_unsigned = l == SIGN_UNSIGNED || r == SIGN_UNSIGNED;
	bool is_signed = !is_unsigned && (l == SIGN_SIGNED || r == SIGN_SIGNED);
	if (mixes_signs(e) && (node_operator(n) & OP_ORDER) && (l == SIGN_MIXED || r == SIGN_MIXED))
		warn_of_mixed(e, n);
	for (int i = 0; i < 2; i++) {
		enum sign sign = both[i]->expr->sign;
		if (children[i]->is_truth)
			children[i] = number_make(e, both[i], children[i], !is_unsigned);
		else if (is_unsigned &&
			 (children[i]->held == HELD_SIGNED || children[i]->held == HELD_OPEN) &&
			 (sign == SIGN_SIGNED || sign == SIGN_UNSIGNED || sign == SIGN_NONE))
			children[i] = number_make(e, both[i], children[i], false);
		else if (is_signed && mixes_signs(e) && (sign == SIGN_SIGNED || sign == SIGN_NONE))
			children[i] = number_make(e, both[i], children[i], true);
	}
}

/** `x + y`, `x & y`: in 64 bits, and with a sign if one of the two has one. */
static void emit_sum(struct emitter *e, const struct node *n, const struct text **children)
{
	const struct node *both[] = {n->child, n->child->next};
	bool can_grow = node_operator(n) & (OP_MOVE | OP_MUL);
	bool is_signed = both[0]->expr->sign == SIGN_SIGNED || both[1]->expr->sign == SIGN_SIGNED ||
			 (tok_is(n->name, "-") && n->expr->sign == SIGN_SIGNED);
	for (int i = 0; i < 2; i++)
		children[i] = count_truth(e, both[i], children[i]);
	for (int i = 0; i < 2; i++) {
		enum held other = children[1 - i]->held;
		if (children[i]->mask && !children[1 - i]->mask &&
		    (other == HELD_UNSIGNED || (other != HELD_ANY && tok_is(n->name, "&"))))
			children[i] = children[i]->mask;
	}
	if (!mixes_signs(e))
		return;
	for (int i = 0; i < 2 && is_signed; i++)
		if (both[i]->expr->sign == SIGN_SIGNED || both[i]->expr->sign == SIGN_NONE)
			children[i] = number_make(e, both[i], children[i], true);
	if (!is_signed && can_grow && number_held(e, n, children) == HELD_NARROW)
		for (int i = 0; i < 2; i++)
			children[i] = widen(e, both[i], children[i]);
}

/** `p + n` is n elements on, also where p is a number to bpftrace. */
static void scale(struct emitter *e, const struct node *n, const struct text **children)
{
	const struct node *both[] = {n->child, n->child->next};
	uint64_t sizes[] = {targettype_stride(both[0]->expr->type),
			    tok_is(n->name, "+") ? targettype_stride(both[1]->expr->type) : 0};
	bool is_right = !sizes[0];
	if (!(node_operator(n) & OP_MOVE) || !sizes[is_right] ||
	    ctype_pointee(both[!is_right]->expr->type))
		return;
	children[is_right] = made(e, both[is_right], "(uint64)%c", children[is_right]);
	children[!is_right] =
	    made(e, both[!is_right], "(uint64)%c * %u", children[!is_right], sizes[is_right]);
}

static void emit_binary(struct emitter *e, const struct node *n, const struct text **children)
{
	scale(e, n, children);
	unsigned op = node_operator(n);
	if ((op & OP_ORDER) || ((op & OP_EQUALITY) && mixes_signs(e)))
		emit_comparison(e, n, children);
	else if (op & (OP_MOVE | OP_MUL | OP_BITS))
		emit_sum(e, n, children);
	else if (op == OP_SHL && mixes_signs(e))
		children[0] = widen(e, n->child, children[0]);
	if (op & (OP_QUOTIENT | OP_SHIFT)) {
		children[0] = count_truth(e, n->child, children[0]);
		children[1] = count_truth(e, n->child->next, children[1]);
	}
}

/** `name op= x`: with the sign of the name; @x += y makes an unsigned map whatever y is. */
static const struct text *emit_compound(struct emitter *e, const struct node *n,
					const struct text **children)
{
	const struct node *target = n->child, *value = target->next;
	bool is_signed = target->expr->sign == SIGN_SIGNED || target->expr->sign == SIGN_MIXED;
	if (children[1]->is_truth)
		children[1] =
		    number_make(e, value, children[1], is_signed || target->kind == NODE_VARIABLE);
	if (!(node_operator(n) & (OP_MOVE | OP_MUL | OP_BITS)) || !mixes_signs(e))
		return NULL;
	if (!is_signed && target->kind == NODE_VARIABLE && !store_is_int64(e, target))
		children[1] = widen(e, value, children[1]);
	else if (is_signed ? value->expr->sign == SIGN_NONE || value->expr->sign == SIGN_SIGNED ||
				 value->expr->sign == SIGN_UNSIGNED
			   : target->kind == NODE_VARIABLE)
		children[1] = number_make(e, value, children[1], true);
	if (!is_signed || target->kind != NODE_MAP)
		return NULL;
	if (expr_effect(target) > EFFECT_READS) {
		// Its key cannot stand there twice, as in @x[k] = @x[k] - y.
		e->good &=
		    diag_finding(e->b->diag, "sign", DIAG_WARNING, tok_at(target->first),
				 "bpftrace before 0.24 loses the sign here: assign the key to "
				 "a variable first");
		return NULL;
	}
	return made(e, n, "%n = %n %t (%n)", children[0], operand(e, target, children[0]),
		    str_slice(n->name->text, 0, 1), children[1]);
}

static const struct text *emit_kept(struct emitter *e, const struct node *n,
				    const struct text **children)
{
	if (!tok_is(n->name, "="))
		return emit_compound(e, n, children);
	children[1] = store_value(e, n->child, n->child->next, children[1]);
	return NULL;
}

/** `(int32)x`: what is cast has its own sign and width first, and the result those of the type. */
static const struct text *emit_cast(struct emitter *e, const struct node *n,
				    const struct text **children)
{
	const struct node *value = n->child->next;
	const struct ctype *t = ctype_strip(n->expr->type);
	if (!ctype_is_number(t))
		return NULL;
	const struct ctype *of = ctype_strip(value->expr->type);
	bool is_signed = children[1]->held == HELD_SIGNED;
	bool is_narrow = children[1]->bits ? children[1]->bits <= t->size * 8
					   : ctype_is_number(of) && of->is_signed &&
						 of->size <= t->size && !children[1]->is_whole;
	bool is_fitting = t->is_signed && t->size < 8 && is_signed && is_narrow;
	if (is_fitting || (t->is_signed && t->size == 8 && is_signed && children[1]->is_made))
		return hold(made(e, n, children[1]->is_tight ? "%n" : "(%n)", children[1]),
			    HELD_SIGNED);
	if (mixes_signs(e) && (t->is_signed || t->size < 8))
		children[1] = widen(e, value, children[1]);
	if (t->is_signed && t->size < 8 && n->child->kind == NODE_TYPE)
		return hold(made(e, n, "(int64)%n", emit_written(e, n, children)), HELD_SIGNED);
	return NULL;
}

const struct text *number_operator(struct emitter *e, const struct node *n,
				   const struct text **children)
{
	bool is_host = !e->b->given->files; // such a script stays as it is, but for divisions
	const struct text *t = NULL;
	if (n->kind == NODE_UNARY && !is_host)
		t = emit_unary(e, n, children);
	else if (n->kind == NODE_BINARY && !is_host)
		emit_binary(e, n, children);
	else if (n->kind == NODE_ASSIGN && !is_host)
		t = emit_kept(e, n, children);
	else if (n->kind == NODE_CAST && !is_host)
		t = emit_cast(e, n, children);
	if (!t && e->good && (node_operator(n) & (OP_QUOTIENT | OP_SHR)))
		t = emit_division(e, n, children);
	return t;
}

// --- choices ---

static bool is_branch(const struct node *n)
{
	return n->kind == NODE_MAP || n->kind == NODE_TERNARY || (node_operator(n) & OP_LOGIC);
}

bool number_sums_choice(struct emitter *e, const struct node *n)
{
	struct node *yes = n->child->next, *no = yes->next;
	if (!e->b->given->files || !dialect_confuses_choices(e->b->given->version))
		return false;
	bool found = node_find(yes, is_branch) || node_find(no, is_branch);
	// The condition stands twice, and both parts are computed.
	if (!found || (expr_effect(n->child) < EFFECT_CLOCK && expr_effect(yes) < EFFECT_CHANGES &&
		       expr_effect(no) < EFFECT_CHANGES))
		return found;
	e->good = diag_error(e->b->diag, tok_at(n->first),
			     "bpftrace " DIALECT_FMT
			     " computes this conditional expression wrongly: use if and else",
			     DIALECT_ARG(e->b->given->version));
	return false;
}

/** A choice as a sum: each part times whether it is chosen. */
static const struct text *sum_choice(struct emitter *e, const struct node *n,
				     const struct text **children)
{
	bool is_signed = n->expr->sign == SIGN_SIGNED;
	const char *to = is_signed ? "(int64)" : "";
	const struct node *yes = n->child->next;
	children[1] = number_make(e, yes, children[1], is_signed);
	children[2] = number_make(e, yes->next, children[2], is_signed);
	struct text *sum = made(e, n, "(%s(uint64)!!(%n) * (%n) + %s(uint64)!(%n) * (%n))", to,
				children[0], children[1], to, children[0], children[2]);
	emit_fits(e, n, sum);
	return hold(sum, is_signed ? HELD_SIGNED : HELD_UNSIGNED);
}

/** From 0.24 on 1 << 63 is more than the int64 holds that a choice is. */
static const struct text *bind_literals(struct emitter *e, const struct node *n,
					const struct text *t, bool is_signed)
{
	if (mixes_signs(e) || t->held != HELD_ANY || node_ungrouped(n)->kind != NODE_BINARY)
		return t;
	return hold(cast(e, n, is_signed ? "(int64)" : "(uint64)", t),
		    is_signed ? HELD_SIGNED : HELD_UNSIGNED);
}

/**
 * Numbers: both alike. bpftrace 0.23 ends by a signal where one has more bits, 0.27 where one has no
 * sign.
 */
const struct text *number_choice(struct emitter *e, const struct node *n,
				 const struct text **children)
{
	const struct node *yes = n->child->next, *no = yes->next;
	bool is_signed = n->expr->sign == SIGN_SIGNED, is_unsigned = n->expr->sign == SIGN_UNSIGNED;
	if (yes->expr->kind != EXPR_NUMBER || no->expr->kind != EXPR_NUMBER ||
	    ctype_pointee(yes->expr->type) || ctype_pointee(no->expr->type))
		return NULL;
	if (number_sums_choice(e, n))
		return sum_choice(e, n, children);
	if (children[1]->is_truth != children[2]->is_truth) {
		children[1] = count_truth(e, yes, children[1]);
		children[2] = count_truth(e, no, children[2]);
	}
	if (children[1]->held != children[2]->held) {
		children[1] = bind_literals(e, yes, children[1], !is_unsigned);
		children[2] = bind_literals(e, no, children[2], !is_unsigned);
	}
	enum held y = children[1]->held, z = children[2]->held;
	if ((y != z && y != HELD_ANY && z != HELD_ANY) || (is_signed && mixes_signs(e))) {
		children[1] = number_make(e, yes, children[1], !is_unsigned);
		children[2] = number_make(e, no, children[2], !is_unsigned);
	} else if (mixes_signs(e)) {
		children[1] = widen(e, yes, children[1]);
		children[2] = widen(e, no, children[2]);
	}
	return NULL;
}
