// Numbers as C has them: 64 bits, with the sign of their type (btgen-template(5), NUMBERS).
//
// The value of an expression in bpftrace may differ from its value in C, and between versions: a narrow
// unsigned member has 8 bits in one sum and 64 in the next, true is -1, a signed number loses its sign
// beside an unsigned one. number_repr() returns the representation of a node as it is written;
// number_make() converts it to 64 bits, signed or unsigned; each operator asks for what it needs. Nothing
// else in this file knows how a number is written.
#include "emit/emit_priv.h"
#include "sema/macrosign.h"
#include "sema/targettype.h"
#include "dialect/dialect.h"

static bool mixes_signs(const struct emitter *e)
{
	return e->b->given->files && dialect_mixes_signs(e->b->given->version);
}

// --- representation in bpftrace ---

static enum repr repr_of_sign(enum sign sign)
{
	return sign == SIGN_SIGNED || sign == SIGN_MIXED ? REPR_SIGNED : REPR_UNSIGNED;
}

/** By the type of a number. Elements of tuples have none, only a sign, and literals among them are signed. */
static enum repr repr_of_type(const struct expr *x)
{
	struct ctype *t = ctype_strip(x->type);
	if (!ctype_is_number(t))
		return x->sign == SIGN_NONE ? REPR_UNKNOWN : repr_of_sign(x->sign);
	if (t->is_signed)
		return REPR_SIGNED;
	return t->size < 8 || (x->bit_size && x->bit_size < 64) ? REPR_NARROW : REPR_UNSIGNED;
}

/** Of two operands, or of the arms of a choice. */
static enum repr join_repr(const struct emitter *e, enum repr a, enum repr b)
{
	if (a == b)
		return a;
	if (mixes_signs(e)) // signed or 64 bits, and something else
		return a == REPR_LITERAL ? b : b == REPR_LITERAL ? a : REPR_UNSIGNED;
	// From 0.24 on what is never negative is an uint64 beside a literal that is not, either.
	if (a == REPR_SIGNED || b == REPR_SIGNED)
		return REPR_SIGNED;
	return a == REPR_UNKNOWN || b == REPR_UNKNOWN ? REPR_UNKNOWN : REPR_UNSIGNED;
}

enum repr number_repr_of_literal(const struct emitter *e, uint64_t value)
{
	return value > (mixes_signs(e) ? INT32_MAX : INT64_MAX) ? REPR_UNSIGNED : REPR_LITERAL;
}

enum repr number_repr(struct emitter *e, const struct node *n, const struct text *const *children)
{
	const struct expr *x = n->expr;
	enum repr looped;
	uint64_t value;
	if (!x)
		return REPR_UNSIGNED;
	if (n->kind == NODE_GROUP || n->kind == NODE_COMPTIME)
		return children[0]->repr;
	if (x->is_bool && n->kind != NODE_TERNARY)
		return REPR_NARROW;
	switch (n->kind) {
	case NODE_NUMBER:
		return str_to_u64(node_text(n), &value) ? number_repr_of_literal(e, value)
							: REPR_LITERAL;
	case NODE_UNARY:
		if (x->is_place || x->is_value)
			return repr_of_type(x);
		// From 0.24 on ~1 is an uint64 (emit_unary()), and -1 an int64 whatever is beside it.
		if (mixes_signs(e) || children[0]->repr != REPR_LITERAL)
			return children[0]->repr;
		return tok_is(n->name, "~")   ? REPR_UNSIGNED
		       : tok_is(n->name, "-") ? REPR_SIGNED
					      : children[0]->repr;
	case NODE_BINARY:
		if (node_operator(n) & OP_SHIFT)
			return children[0]->repr;
		return tok_is(n->name, "-") && !mixes_signs(e)
			   ? REPR_SIGNED
			   : join_repr(e, children[0]->repr, children[1]->repr);
	case NODE_TERNARY:
		return n->child->next->next ? join_repr(e, children[1]->repr, children[2]->repr)
					    : REPR_UNSIGNED;
	case NODE_CAST:
	case NODE_MEMBER:
	case NODE_INDEX:
		if (store_repr_in_loop(e, n, &looped))
			return looped;
		if (!x->arg_of)
			return repr_of_type(x);
		return x->sign == SIGN_SIGNED || dialect_has_signed_args(e->b->given->version)
			   ? REPR_SIGNED
			   : REPR_UNSIGNED;
	case NODE_VARIABLE:
	case NODE_MAP:
		return store_repr(e, n);
	default: // argN, too
		return x->arg_of && x->sign == SIGN_UNSIGNED &&
			       !(e->clause && e->clause->by_address.n) &&
			       dialect_has_signed_args(e->b->given->version)
			   ? REPR_SIGNED
			   : repr_of_sign(x->sign);
	}
}

// --- conversions ---

const struct text *number_set_repr(struct text *t, enum repr repr)
{
	t->repr = repr;
	t->needs_no_parens = t->is_made = true;
	t->is_bool = false;
	return t;
}

/** `(int64)x` */
static struct text *cast(struct emitter *e, const struct node *n, const char *to,
			 const struct text *t)
{
	// 0.17 cannot cast a map that only a later clause fills, but can add to it.
	return text_format(e, n, n->kind == NODE_MAP ? "%s(%n + 0)" : "%s%c", to, t);
}

const struct text *number_make(struct emitter *e, const struct node *n, const struct text *t,
			       bool is_signed)
{
	enum repr want = is_signed ? REPR_SIGNED : REPR_UNSIGNED;
	if (!e->good || !e->b->given->files || t->repr == REPR_LITERAL || t->repr == want)
		return t;
	const char *to = !is_signed		  ? "(uint64)"
			 : t->repr == REPR_NARROW ? "(int64)(uint64)"
						  : "(int64)";
	return number_set_repr(cast(e, n, to, t), want);
}

/** Extends a narrow number to 64 bits. */
static const struct text *widen(struct emitter *e, const struct node *n, const struct text *t)
{
	return t->repr == REPR_NARROW ? number_make(e, n, t, false) : t;
}

/** true and false as 1 and 0, to compute with. */
static const struct text *bool_to_int(struct emitter *e, const struct node *n, const struct text *t)
{
	return t->is_bool ? number_make(e, n, t, true) : t;
}

const struct text *number_of_bool(struct emitter *e, const struct node *n, const struct text *t)
{
	// Where x and y are signed, bpftrace 0.23 takes true for -1; from 0.24 on it is a type of its own.
	return t->is_bool ? number_make(e, n, t, false) : t;
}

const struct text *number_for_store(struct emitter *e, const struct node *n, const struct text *t)
{
	// From 0.24 on u64 & i32 is an int64, and shown as one; so is a variable that holds it.
	bool may_be_signed = t->repr == REPR_SIGNED || t->repr == REPR_UNKNOWN;
	if (!mixes_signs(e) && may_be_signed && n->expr && n->expr->kind == EXPR_NUMBER &&
	    n->expr->sign == SIGN_UNSIGNED && !ctype_pointee(n->expr->type))
		return number_make(e, n, t, false);
	return number_of_bool(e, n, t);
}

/** @t as an operand of an operator whose result is cast. */
static const struct text *operand(struct emitter *e, const struct node *n, const struct text *t)
{
	if (t->is_number)
		return t;
	if (t->repr == REPR_NARROW)
		return number_make(e, n, t, true);
	if (!t->needs_no_parens)
		return text_format(e, n, "(%n)", t);
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
	const struct node *mixed = n->child->expr->sign == SIGN_MIXED ? n->child : n->child->next;
	bool of_macro = mixed->expr->is_substituted || macrosign_differs(e->b, n);
	if (n->name->loc.file)
		e->good &= diag_finding(
		    e->b->diag, name, DIAG_WARNING, tok_at(n->name),
		    "bpftrace %s unsigned, and %s: write (int64)(...) or (uint64)(...)",
		    op & OP_QUOTIENT ? "divides"
		    : op & OP_ORDER  ? "compares"
				     : "shifts",
		    of_macro ? "the operands are signed in some calls of a macro"
			     : "the signedness of this operand is unknown");
}

/** The sign of a difference of times is the same a moment later. */
static bool is_repeatable(const struct node *n)
{
	return expr_effect(n) < EFFECT_RANDOM;
}

/** `left op right` as in C; NULL: it stays as it is. */
static struct text *divide(struct emitter *e, const struct node *n,
			   const struct text *const *children)
{
	const struct node *left = n->child, *right = left->next;
	bool shift = node_operator(n) == OP_SHR;
	enum sign l = left->expr->sign, r = shift ? SIGN_NONE : right->expr->sign;
	if (l == SIGN_MIXED || r == SIGN_MIXED || (r == SIGN_SIGNED && l == SIGN_OTHER) ||
	    macrosign_differs(e->b, n))
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
		// With --force the operation is unsigned.
		e->good = diag_finding(e->b->diag, shift ? "shift" : "division", DIAG_ERROR,
				       tok_at(n->child->first),
				       "to %s as C does, this would be evaluated more than once: "
				       "assign it to a variable first",
				       shift ? "shift" : "divide");
		return NULL;
	}
	return division_make(e->arena, &q);
}

static const struct text *emit_division(struct emitter *e, const struct node *n,
					const struct text *const *children)
{
	struct text *quotient = divide(e, n, children);
	// An unsigned quotient, stored in a signed map or variable.
	bool is_kept = n->kind == NODE_ASSIGN && mixes_signs(e);
	bool is_int64 = is_kept && store_is_int64(e, n->child);
	if (!quotient && is_kept && (children[0]->repr == REPR_SIGNED || is_int64) &&
	    (children[1]->repr == REPR_UNSIGNED || (is_int64 && children[1]->repr == REPR_NARROW)))
		quotient = text_format(e, n, "(int64)((uint64)%n %t (%n))", children[0],
				       str_slice(n->name->text, 0, 1), children[1]);
	if (!quotient || !emit_fits(e, n, quotient))
		return NULL;
	return n->kind == NODE_ASSIGN ? text_format(e, n, "%n = %n", children[0], quotient)
				      : number_set_repr(quotient, REPR_SIGNED);
}

/** -x and ~x; NULL: it stays as it is. */
static const struct text *emit_unary(struct emitter *e, const struct node *n,
				     const struct text **children)
{
	const struct node *of = n->child;
	const struct text *t = children[0];
	if (!tok_is(n->name, "-") && !tok_is(n->name, "~"))
		return NULL;
	// pid, a macro's parameter, and from 0.24 on a choice of literals: its width depends on the version
	bool is_choice = node_ungrouped(of)->kind == NODE_TERNARY;
	bool is_plain = of->expr && of->expr->sign == SIGN_NONE && !t->is_made && !t->is_number &&
			!t->is_bool && (t->repr != REPR_LITERAL || is_choice);
	if (is_plain)
		children[0] = number_set_repr(cast(e, of, "(int64)(uint64)", t), REPR_SIGNED);
	else if (t->repr == REPR_NARROW)
		children[0] = number_make(e, of, t, true);
	if (mixes_signs(e) || t->repr != REPR_LITERAL || !tok_is(n->name, "~"))
		return NULL;
	// From 0.24 on ~ of a literal is an uint64 in all operations.
	const struct text *mask = emit_with_children(e, n, children);
	struct text *cast_mask = text_format(e, n, "(int64)%n", mask);
	cast_mask->mask = mask;
	return number_set_repr(cast_mask, REPR_SIGNED);
}

/** Is @n compared as what it is not, at times? A parameter of a macro is signed in one call, and unsigned in another. */
static bool is_mixed(const struct emitter *e, const struct node *n)
{
	return n->expr->sign == SIGN_MIXED && (mixes_signs(e) || n->expr->is_substituted);
}

/** As in C: narrower numbers are compared signed, an int64 with an uint64 unsigned. */
static void emit_comparison(struct emitter *e, const struct node *n, const struct text **children)
{
	const struct node *both[] = {n->child, n->child->next};
	enum sign l = both[0]->expr->sign, r = both[1]->expr->sign;
	bool is_unsigned = l == SIGN_UNSIGNED || r == SIGN_UNSIGNED;
	bool is_signed = !is_unsigned && (l == SIGN_SIGNED || r == SIGN_SIGNED);
	if ((node_operator(n) & OP_ORDER) &&
	    (is_mixed(e, both[0]) || is_mixed(e, both[1]) || macrosign_differs(e->b, n)))
		warn_of_mixed(e, n);
	for (int i = 0; i < 2; i++) {
		enum sign sign = both[i]->expr->sign;
		if (children[i]->is_bool)
			children[i] = number_make(e, both[i], children[i], !is_unsigned);
		else if (is_unsigned &&
			 (children[i]->repr == REPR_SIGNED || children[i]->repr == REPR_UNKNOWN) &&
			 (sign == SIGN_SIGNED || sign == SIGN_UNSIGNED || sign == SIGN_NONE))
			children[i] = number_make(e, both[i], children[i], false);
		else if (is_signed && mixes_signs(e) && (sign == SIGN_SIGNED || sign == SIGN_NONE))
			children[i] = number_make(e, both[i], children[i], true);
	}
}

/** `x + y`, `x & y`: in 64 bits, signed if one of the two is. */
static void emit_sum(struct emitter *e, const struct node *n, const struct text **children)
{
	const struct node *both[] = {n->child, n->child->next};
	bool can_grow = node_operator(n) & (OP_MOVE | OP_MUL);
	bool is_signed = both[0]->expr->sign == SIGN_SIGNED || both[1]->expr->sign == SIGN_SIGNED ||
			 (tok_is(n->name, "-") && n->expr->sign == SIGN_SIGNED);
	for (int i = 0; i < 2; i++)
		children[i] = bool_to_int(e, both[i], children[i]);
	for (int i = 0; i < 2; i++) {
		enum repr other = children[1 - i]->repr;
		if (children[i]->mask && !children[1 - i]->mask &&
		    (other == REPR_UNSIGNED || (other != REPR_LITERAL && tok_is(n->name, "&"))))
			children[i] = children[i]->mask;
	}
	if (!mixes_signs(e))
		return;
	for (int i = 0; i < 2 && is_signed; i++)
		if (both[i]->expr->sign == SIGN_SIGNED || both[i]->expr->sign == SIGN_NONE)
			children[i] = number_make(e, both[i], children[i], true);
	if (!is_signed && can_grow && number_repr(e, n, children) == REPR_NARROW)
		for (int i = 0; i < 2; i++)
			children[i] = widen(e, both[i], children[i]);
}

/** `p + n` is n elements further, also where p is a number to bpftrace. */
static void scale(struct emitter *e, const struct node *n, const struct text **children)
{
	const struct node *both[] = {n->child, n->child->next};
	uint64_t sizes[] = {targettype_stride(both[0]->expr->type),
			    tok_is(n->name, "+") ? targettype_stride(both[1]->expr->type) : 0};
	bool is_right = !sizes[0];
	if (!(node_operator(n) & OP_MOVE) || !sizes[is_right] ||
	    ctype_pointee(both[!is_right]->expr->type))
		return;
	children[is_right] = text_format(e, both[is_right], "(uint64)%c", children[is_right]);
	children[!is_right] = text_format(e, both[!is_right], "(uint64)%c * %u",
					  children[!is_right], sizes[is_right]);
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
		children[0] = bool_to_int(e, n->child, children[0]);
		children[1] = bool_to_int(e, n->child->next, children[1]);
	}
}

/** `name op= x`: with the sign of the name; bpftrace makes the map of @x += y unsigned, whatever y is. */
static const struct text *emit_compound(struct emitter *e, const struct node *n,
					const struct text **children)
{
	const struct node *target = n->child, *value = target->next;
	bool is_signed = target->expr->sign == SIGN_SIGNED || target->expr->sign == SIGN_MIXED;
	if (children[1]->is_bool)
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
		// @x[k] = @x[k] - y would evaluate the key twice.
		e->good &=
		    diag_finding(e->b->diag, "sign", DIAG_WARNING, tok_at(target->first),
				 "bpftrace before 0.24 loses the sign here: assign the key to "
				 "a variable first");
		return NULL;
	}
	return text_format(e, n, "%n = %n %t (%n)", children[0], operand(e, target, children[0]),
			   str_slice(n->name->text, 0, 1), children[1]);
}

/** `(uint64)x` of what is one already, where a cast costs a search of all debug information. */
static bool is_needless(const struct emitter *e, const struct node *value, const struct text *t,
			const struct ctype *to)
{
	unsigned unused;
	return e->clause && e->clause->params && dialect_searches_casts(e->b->given->version) &&
	       to->size == 8 && !to->is_signed && t->repr == REPR_UNSIGNED &&
	       (!ctype_pointee(value->expr->type) ||
		vocabulary_arg_number(text_str(e->arena, t), &unused));
}

/** `(int32)x`: x is extended by its own sign first, the result by that of the type. */
static const struct text *emit_cast(struct emitter *e, const struct node *n,
				    const struct text **children)
{
	const struct node *value = n->child->next;
	const struct ctype *t = ctype_strip(n->expr->type);
	if (!ctype_is_number(t))
		return NULL;
	const struct ctype *of = ctype_strip(value->expr->type);
	bool is_signed = children[1]->repr == REPR_SIGNED;
	bool is_narrow = children[1]->bits
			     ? children[1]->bits <= t->size * 8
			     : ctype_is_number(of) && of->is_signed && of->size <= t->size &&
				   !value->expr->is_mixed && !children[1]->is_whole;
	bool is_fitting = t->is_signed && t->size < 8 && is_signed && is_narrow;
	if (is_needless(e, value, children[1], t))
		return number_set_repr(
		    text_format(e, n, children[1]->needs_no_parens ? "%n" : "(%n)", children[1]),
		    REPR_UNSIGNED);
	if (is_fitting || (t->is_signed && t->size == 8 && is_signed && children[1]->is_made))
		return number_set_repr(
		    text_format(e, n, children[1]->needs_no_parens ? "%n" : "(%n)", children[1]),
		    REPR_SIGNED);
	if (mixes_signs(e) && (t->is_signed || t->size < 8))
		children[1] = widen(e, value, children[1]);
	if (t->is_signed && t->size < 8 && n->child->kind == NODE_TYPE)
		return number_set_repr(
		    text_format(e, n, "(int64)%n", emit_with_children(e, n, children)),
		    REPR_SIGNED);
	return NULL;
}

const struct text *number_operator(struct emitter *e, const struct node *n,
				   const struct text **children)
{
	bool is_host = !e->b->given->files; // the script of a host changes only in divisions
	const struct text *t = NULL;
	if (n->kind == NODE_UNARY && !is_host)
		t = emit_unary(e, n, children);
	else if (n->kind == NODE_BINARY && !is_host)
		emit_binary(e, n, children);
	else if (node_is(n, NODE_ASSIGN, "=") && !is_host)
		children[1] = store_value(e, n->child, n->child->next, children[1]);
	else if (n->kind == NODE_ASSIGN && !is_host)
		t = emit_compound(e, n, children);
	else if (n->kind == NODE_CAST && !is_host)
		t = emit_cast(e, n, children);
	if (!t && e->good && (node_operator(n) & (OP_QUOTIENT | OP_SHR)))
		t = emit_division(e, n, children);
	return t;
}

// --- choices ---

static bool is_branch(const struct node *n)
{
	// A comparison of strings is to bpftrace a loop over characters.
	bool is_equality = node_operator(n) & OP_EQUALITY;
	return n->kind == NODE_MAP || n->kind == NODE_TERNARY || (node_operator(n) & OP_LOGIC) ||
	       (is_equality && n->child->expr && n->child->expr->kind == EXPR_TEXT) ||
	       node_is(n, NODE_CALL, "strcontains") || node_is(n, NODE_CALL, "strncmp");
}

bool number_sums_choice(struct emitter *e, const struct node *n)
{
	struct node *yes = n->child->next, *no = yes->next;
	if (!e->b->given->files || !dialect_confuses_choices(e->b->given->version))
		return false;
	bool found = node_find(yes, is_branch) || node_find(no, is_branch);
	// A sum repeats the condition and computes both parts.
	if (!found || (expr_effect(n->child) < EFFECT_CLOCK && expr_effect(yes) < EFFECT_CHANGES &&
		       expr_effect(no) < EFFECT_CHANGES))
		return found;
	e->good = diag_error(e->b->diag, tok_at(n->first),
			     "bpftrace " DIALECT_FMT
			     " computes this conditional expression wrongly: use if and else",
			     DIALECT_ARG(e->b->given->version));
	return false;
}

/** A choice as a sum: each part times 1 or 0. */
static const struct text *sum_choice(struct emitter *e, const struct node *n,
				     const struct text **children)
{
	bool is_signed = n->expr->sign == SIGN_SIGNED;
	const char *to = is_signed ? "(int64)" : "";
	const struct node *yes = n->child->next;
	children[1] = number_make(e, yes, children[1], is_signed);
	children[2] = number_make(e, yes->next, children[2], is_signed);
	struct text *sum = text_format(e, n, "(%s(uint64)!!(%n) * (%n) + %s(uint64)!(%n) * (%n))",
				       to, children[0], children[1], to, children[0], children[2]);
	emit_fits(e, n, sum);
	return number_set_repr(sum, is_signed ? REPR_SIGNED : REPR_UNSIGNED);
}

/** From 0.24 on a choice is an int64, which cannot hold 1 << 63. */
static const struct text *bind_literals(struct emitter *e, const struct node *n,
					const struct text *t, bool is_signed)
{
	if (mixes_signs(e) || t->repr != REPR_LITERAL || node_ungrouped(n)->kind != NODE_BINARY)
		return t;
	return number_set_repr(cast(e, n, is_signed ? "(int64)" : "(uint64)", t),
			       is_signed ? REPR_SIGNED : REPR_UNSIGNED);
}

/** Both numbers get one type: bpftrace 0.23 ends by a signal if their widths differ, 0.27 if one is unsigned. */
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
	// From 0.24 on a truth is a bool, but what a map or tuple keeps of one is a number: no choice is a bool.
	if (children[1]->is_bool || children[2]->is_bool) {
		children[1] = bool_to_int(e, yes, children[1]);
		children[2] = bool_to_int(e, no, children[2]);
	}
	if (children[1]->repr != children[2]->repr) {
		children[1] = bind_literals(e, yes, children[1], !is_unsigned);
		children[2] = bind_literals(e, no, children[2], !is_unsigned);
	}
	enum repr y = children[1]->repr, z = children[2]->repr;
	if ((y != z && y != REPR_LITERAL && z != REPR_LITERAL) || (is_signed && mixes_signs(e))) {
		children[1] = number_make(e, yes, children[1], !is_unsigned);
		children[2] = number_make(e, no, children[2], !is_unsigned);
	} else if (mixes_signs(e)) {
		children[1] = widen(e, yes, children[1]);
		children[2] = widen(e, no, children[2]);
	}
	return NULL;
}
