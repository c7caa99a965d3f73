// Numbers as C has them: 64 bits, with the sign of their type (btgen-template(5), NUMBERS).
//
// What bpftrace holds for an expression is another thing than its value in C, and differs between
// versions: a narrow unsigned member has 8 bits in one sum and 64 in the next, true is -1, a signed
// number beside an unsigned one loses its sign. held_of() says what a node is to bpftrace as it is
// printed by now; number() makes 64 bits of it, with a sign or without; and each operator asks for
// what it needs. Nothing else in here knows how a number is written.
#include "lower/division.h"
#include "lang/format.h"
#include "lower/lower_priv.h"
#include "lang/change.h"
#include "lang/print.h"
#include "lang/vocabulary.h"
#include "out/dialect.h"

static bool mixes_signs(const struct lowerer *lo)
{
	return lo->b->files && dialect_mixes_signs(lo->b->version);
}

// --- what bpftrace has ---

static bool is_truth(const struct node *n)
{
	return n->expr && n->expr->is_truth;
}

/** A number whose type says so. */
static enum held held_of_type(const struct expr *e)
{
	struct ctype *t = ctype_strip(e->type);
	if (!lower_is_number_type(t))
		return HELD_UNSIGNED;
	if (t->is_signed)
		return HELD_SIGNED;
	return t->size < 8 || (e->bit_size && e->bit_size < 64) ? HELD_NARROW : HELD_UNSIGNED;
}

/** Of two operands, or of the arms of a choice. */
static enum held join_held(const struct lowerer *lo, enum held a, enum held b)
{
	if (a == b)
		return a;
	// From 0.24 on a literal is an int64.
	if (a == HELD_ANY || b == HELD_ANY)
		return !mixes_signs(lo) ? HELD_SIGNED : a == HELD_ANY ? b : a;
	// One with a sign, or 64 bits, and another.
	return mixes_signs(lo) ? HELD_UNSIGNED : HELD_SIGNED;
}

static enum held held_of(const struct lowerer *lo, const struct node *n)
{
	const struct expr *e = n->expr;
	uint64_t value;
	if (!e || e->held)
		return e ? e->held : HELD_UNSIGNED;
	if (is_truth(n))
		return HELD_NARROW;
	switch (n->kind) {
	case NODE_GROUP:
	case NODE_COMPTIME:
		return held_of(lo, n->child);
	case NODE_NUMBER:
		return mixes_signs(lo) && str_to_u64(node_text(n), &value) && value > INT32_MAX
			   ? HELD_UNSIGNED
			   : HELD_ANY;
	case NODE_UNARY:
		return e->is_place || e->is_value ? held_of_type(e) : held_of(lo, n->child);
	case NODE_BINARY:
		if (tok_is(n->name, "<<") || tok_is(n->name, ">>"))
			return held_of(lo, n->child);
		return join_held(lo, held_of(lo, n->child), held_of(lo, n->child->next));
	case NODE_TERNARY:
		return n->child->next->next ? join_held(lo, held_of(lo, n->child->next),
							held_of(lo, n->child->next->next))
					    : HELD_UNSIGNED;
	case NODE_CAST:
	case NODE_MEMBER:
	case NODE_INDEX:
		return e->arg_of ? (e->sign == SIGN_SIGNED ? HELD_SIGNED : HELD_UNSIGNED)
				 : held_of_type(e);
	case NODE_VARIABLE: // from 0.24 on it is as wide as what it was first given
	case NODE_MAP:
		if (!mixes_signs(lo) && lower_is_number_type(ctype_strip(e->type)))
			return held_of_type(e);
		// fall through
	default:
		return e->sign == SIGN_SIGNED || e->sign == SIGN_MIXED ? HELD_SIGNED
								       : HELD_UNSIGNED;
	}
}

// --- what is made of it ---

/**
 * @n becomes @made, which is @held: its old self @was stays below it, so that later rules still see
 * what is read there.
 */
static void become_cast(struct lowerer *lo, struct node *n, struct node *was,
			const struct node *made, enum held held)
{
	struct expr *e = arena_new(lo->b->arena, struct expr);
	*e = *n->expr;
	e->held = held;
	e->is_truth = false;
	n->expr = e;
	change(lo->b->arena, n, "%n", made);
	n->kind = NODE_CAST; // so it needs no brackets
	n->child = n->last_child = was;
}

/** @n has 64 bits from now on, and a sign if @is_signed; its value is what it was. */
static void number(struct lowerer *lo, struct node *n, bool is_signed)
{
	struct arena *a = lo->b->arena;
	enum held held = held_of(lo, n), want = is_signed ? HELD_SIGNED : HELD_UNSIGNED;
	if (!lo->good || !lo->b->files || held == HELD_ANY || held == want)
		return;
	const char *cast = !is_signed		 ? "(uint64)"
			   : held == HELD_NARROW ? "(int64)(uint64)"
						 : "(int64)";
	struct node *was = change_copy(a, n);
	bool is_simple = n->kind == NODE_VARIABLE || n->kind == NODE_NAME || n->kind == NODE_CAST ||
			 n->kind == NODE_GROUP || n->kind == NODE_NUMBER ||
			 n->kind == NODE_MEMBER || n->kind == NODE_INDEX || n->kind == NODE_CALL ||
			 n->kind == NODE_UNARY;
	// 0.17 casts no map that a clause further down fills, but adds to it.
	const char *format = n->kind == NODE_MAP ? "%s(%n + 0)" : is_simple ? "%s%n" : "%s(%n)";
	become_cast(lo, n, was, change_text(a, n, format, cast, was), want);
}

/** What has fewer bits gets all 64. */
static void widen(struct lowerer *lo, struct node *n)
{
	if (held_of(lo, n) == HELD_NARROW)
		number(lo, n, false);
}

/** True and false become 1 and 0, with which can be computed. */
static void count_truth(struct lowerer *lo, struct node *n)
{
	if (is_truth(n))
		number(lo, n, true);
}

/** The node as an operand of what stands behind a cast. */
static struct node *operand(struct lowerer *lo, struct node *n)
{
	static const char *const casts[] = {"(int64)", "((int64)", "(((int64)"};
	struct arena *a = lo->b->arena;
	if (n->kind == NODE_NUMBER)
		return n;
	n = change_copy(a, n);
	if (held_of(lo, n) == HELD_NARROW) {
		number(lo, n, true);
		return n;
	}
	if (n->kind == NODE_BINARY || n->kind == NODE_TERNARY || n->kind == NODE_ASSIGN ||
	    n->kind == NODE_IF || n->kind == NODE_BLOCK)
		return change_text(a, n, "(%n)", n);
	// 0.17 casts no map that a clause further down fills, but adds to it.
	if (n->kind == NODE_MAP)
		return change_text(a, n, "(int64)(%n + 0)", n);
	// Newer versions have variables and casts of less than 64 bits.
	struct str text = print_text(a, n);
	for (size_t i = 0; i < sizeof(casts) / sizeof(casts[0]); i++)
		if (str_has_prefix(text, str_from(casts[i])))
			return n;
	return change_text(a, n, "(int64)%n", n);
}

// --- operators ---

static bool divides(const struct token *op)
{
	return tok_is(op, "/") || tok_is(op, "%") || tok_is(op, "/=") || tok_is(op, "%=");
}

static bool shifts_right(const struct token *op)
{
	return tok_is(op, ">>") || tok_is(op, ">>=");
}

static bool compares(const struct token *op)
{
	static const char *const names[] = {"<", ">", "<=", ">=", NULL};
	return tok_is_any(op, names);
}

static void warn_of_mixed(struct lowerer *lo, const struct token *op)
{
	struct diag_place at = tok_place(op);
	const char *name = divides(op) ? "division" : compares(op) ? "sign" : "shift";
	if (op->loc.file)
		lo->good &= diag_check(
		    lo->b->diag, name, DIAG_WARNING, &at,
		    "bpftrace %s unsigned, and the signedness of this operand is unknown: "
		    "write (int64)(...) or (uint64)(...)",
		    divides(op)	   ? "divides"
		    : compares(op) ? "compares"
				   : "shifts");
}

/** What is evaluated once stays so: with --force it is computed without a sign. */
static void say_not_repeatable(struct lowerer *lo, const struct node *n, bool is_shift)
{
	struct diag_place at = tok_place(n->child->first);
	lo->good = diag_check(lo->b->diag, is_shift ? "shift" : "division", DIAG_ERROR, &at,
			      "to %s this as C does, it must be evaluated more than once: keep it "
			      "in a variable first",
			      is_shift ? "shift" : "divide");
}

/** The sign of a difference of times is the same a moment later. */
static bool is_repeatable(const struct node *n)
{
	return expr_effect(n) < EFFECT_RANDOM;
}

/** What `left op right` becomes; NULL when it stays as it is. */
static struct node *divide(struct lowerer *lo, const struct node *n)
{
	struct node *left = n->child, *right = left->next;
	const struct token *op = n->name;
	bool shift = shifts_right(op);
	enum sign l = left->expr->sign, r = shift ? SIGN_NONE : right->expr->sign;
	if (l == SIGN_MIXED || r == SIGN_MIXED || (r == SIGN_SIGNED && l == SIGN_OTHER))
		warn_of_mixed(lo, op);
	bool is_signed = l == SIGN_SIGNED || (r == SIGN_SIGNED && l == SIGN_NONE);
	if (!is_signed || l == SIGN_UNSIGNED || r == SIGN_UNSIGNED)
		return NULL;
	struct division q = {
	    .value = operand(lo, left),
	    .value_is_signed = l == SIGN_SIGNED,
	    .op = op->text.p[0],
	    .by = operand(lo, right),
	    .by_is_signed = r == SIGN_SIGNED,
	};
	if ((division_repeats_value(&q) && !is_repeatable(left)) ||
	    (q.by_is_signed && !is_repeatable(right))) {
		say_not_repeatable(lo, n, shift);
		return NULL;
	}
	return division_make(lo->b->arena, &q);
}

static void lower_division(struct lowerer *lo, struct node *n)
{
	if (!lo->good || (!divides(n->name) && !shifts_right(n->name)))
		return;
	const struct node *quotient = divide(lo, n);
	// Divided without a sign, and kept where all else has one.
	if (!quotient && n->kind == NODE_ASSIGN && mixes_signs(lo) &&
	    held_of(lo, n->child) == HELD_SIGNED && held_of(lo, n->child->next) == HELD_UNSIGNED)
		quotient = change_text(lo->b->arena, n, "(int64)((uint64)%n %t (%n))", n->child,
				       str_slice(n->name->text, 0, 1), n->child->next);
	if (!quotient || !lower_fits(lo, quotient))
		return;
	if (n->kind == NODE_ASSIGN) {
		change(lo->b->arena, n, "%n = %n", n->child, quotient);
		return;
	}
	become_cast(lo, n, change_copy(lo->b->arena, n), quotient, HELD_SIGNED);
}

/** A number of which only bpftrace knows how wide it is: pid, a loop's variable, a macro's parameter. */
static void become_narrow(struct lowerer *lo, struct node *n)
{
	struct expr *e = arena_new(lo->b->arena, struct expr);
	*e = *n->expr;
	e->held = HELD_NARROW;
	n->expr = e;
}

/** -x, ~x */
static void lower_unary(struct lowerer *lo, struct node *n)
{
	struct node *of = n->child;
	bool is_plain = of->expr && of->expr->sign == SIGN_NONE && !of->expr->held &&
			of->kind != NODE_NUMBER && !is_truth(of) && held_of(lo, of) != HELD_ANY;
	if (!tok_is(n->name, "-") && !tok_is(n->name, "~"))
		return;
	if (is_plain) // pid, a macro's parameter: of no more bits than that bpftrace gives it
		become_narrow(lo, of);
	if (held_of(lo, of) == HELD_NARROW)
		number(lo, of, true);
}

/**
 * As C does it: what is narrower than 64 bits is compared with its sign, and an int64 with an
 * uint64 without.
 */
static void lower_comparison(struct lowerer *lo, struct node *n)
{
	struct node *both[] = {n->child, n->child->next};
	enum sign l = both[0]->expr->sign, r = both[1]->expr->sign;
	bool is_unsigned = l == SIGN_UNSIGNED || r == SIGN_UNSIGNED;
	bool is_signed = !is_unsigned && (l == SIGN_SIGNED || r == SIGN_SIGNED);
	if (mixes_signs(lo) && compares(n->name) && (l == SIGN_MIXED || r == SIGN_MIXED))
		warn_of_mixed(lo, n->name);
	for (int i = 0; i < 2; i++) {
		enum sign sign = both[i]->expr->sign;
		if (is_truth(both[i]))
			count_truth(lo, both[i]);
		else if (is_unsigned && held_of(lo, both[i]) == HELD_SIGNED &&
			 (sign == SIGN_SIGNED || sign == SIGN_UNSIGNED))
			number(lo, both[i], false);
		else if (is_signed && mixes_signs(lo) && (sign == SIGN_SIGNED || sign == SIGN_NONE))
			number(lo, both[i], true);
	}
}

/** `x + y`, `x & y`: in 64 bits, and with a sign if one of the two has one. */
static void lower_sum(struct lowerer *lo, struct node *n)
{
	struct node *left = n->child, *right = left->next;
	bool can_grow = tok_is(n->name, "+") || tok_is(n->name, "-") || tok_is(n->name, "*");
	bool is_signed = left->expr->sign == SIGN_SIGNED || right->expr->sign == SIGN_SIGNED ||
			 (tok_is(n->name, "-") && n->expr->sign == SIGN_SIGNED);
	count_truth(lo, left);
	count_truth(lo, right);
	if (!mixes_signs(lo))
		return;
	for (struct node *x = left; x && is_signed; x = x->next)
		if (x->expr->sign == SIGN_SIGNED || x->expr->sign == SIGN_NONE)
			number(lo, x, true);
	if (!is_signed && can_grow && held_of(lo, n) == HELD_NARROW) {
		widen(lo, left);
		widen(lo, right);
	}
}

static void lower_binary(struct lowerer *lo, struct node *n)
{
	static const char *const sums[] = {"+", "-", "*", "&", "|", "^", NULL};
	bool is_equal = tok_is(n->name, "==") || tok_is(n->name, "!=");
	if (compares(n->name) || (is_equal && mixes_signs(lo)))
		lower_comparison(lo, n);
	else if (tok_is_any(n->name, sums))
		lower_sum(lo, n);
	else if (tok_is(n->name, "<<") && mixes_signs(lo))
		widen(lo, n->child);
	if (divides(n->name) || shifts_right(n->name) || tok_is(n->name, "<<")) {
		count_truth(lo, n->child);
		count_truth(lo, n->child->next);
	}
}

/** Its key cannot stand there twice, as in @x[k] = @x[k] - y. */
static void warn_of_lost_sign(struct lowerer *lo, const struct node *map)
{
	struct diag_place at = tok_place(map->first);
	lo->good &=
	    diag_check(lo->b->diag, "sign", DIAG_WARNING, &at,
		       "bpftrace before 0.24 keeps no negative number here: keep the key in a "
		       "variable first");
}

/**
 * What a name is given that may be negative elsewhere; @x += y makes an unsigned map whatever y is.
 * A variable that begins as a narrow number stays one: 0.17 drops what is assigned to it later, 0.23
 * refuses what is wider.
 */
static void lower_kept(struct lowerer *lo, struct node *n)
{
	static const char *const operators[] = {"+=", "-=", "*=", "&=", "|=", "^=", NULL};
	struct node *target = n->child, *value = target->next;
	bool is_compound = tok_is_any(n->name, operators), is_plain = tok_is(n->name, "=");
	if (!lo->good || (!is_compound && !is_plain))
		return;
	if (is_compound)
		count_truth(lo, value);
	if (!mixes_signs(lo))
		return;
	if (target->expr->sign != SIGN_SIGNED && target->expr->sign != SIGN_MIXED) {
		if (target->kind == NODE_VARIABLE)
			widen(lo, value);
		return;
	}
	if (value->expr->sign == SIGN_NONE || value->expr->sign == SIGN_SIGNED ||
	    value->expr->sign == SIGN_UNSIGNED)
		number(lo, value, true);
	if (is_compound && target->kind == NODE_MAP && expr_effect(target) > EFFECT_READS)
		warn_of_lost_sign(lo, target);
	else if (is_compound && target->kind == NODE_MAP)
		change(lo->b->arena, n, "%n = %n %t (%n)", target, operand(lo, target),
		       str_slice(n->name->text, 0, 1), value);
}

/** `(int32)x`: what is cast has its own sign and width first, and the result those of the type. */
static void lower_cast(struct lowerer *lo, struct node *n)
{
	struct node *value = n->child->next;
	struct ctype *t = ctype_strip(n->expr->type);
	if (!lower_is_number_type(t))
		return;
	struct ctype *of = ctype_strip(value->expr->type);
	bool is_fitting = t->is_signed && t->size < 8 && held_of(lo, value) == HELD_SIGNED &&
			  lower_is_number_type(of) && of->is_signed && of->size <= t->size;
	if (is_fitting && value->is_changed) {
		become_cast(lo, n, change_copy(lo->b->arena, n), value, HELD_SIGNED);
		return;
	}
	if (t->is_signed && t->size == 8 && value->expr && value->expr->held == HELD_SIGNED) {
		become_cast(lo, n, change_copy(lo->b->arena, n), value, HELD_SIGNED);
		return;
	}
	if (mixes_signs(lo) && (t->is_signed || t->size < 8))
		widen(lo, value);
	if (t->is_signed && t->size < 8 && n->child->kind == NODE_TYPE)
		become_cast(lo, n, change_copy(lo->b->arena, n),
			    change_text(lo->b->arena, n, "(int64)%n", change_copy(lo->b->arena, n)),
			    HELD_SIGNED);
}

static bool find_branch(void *ctx, struct node *n, struct node *parent)
{
	(void)parent;
	*(bool *)ctx |= n->kind == NODE_MAP || n->kind == NODE_TERNARY ||
			node_is(n, NODE_BINARY, "&&") || node_is(n, NODE_BINARY, "||");
	return true;
}

bool lower_sums_choice(struct lowerer *lo, const struct node *n)
{
	struct node *yes = n->child->next, *no = yes->next;
	bool found = false;
	if (!lo->b->files || !dialect_confuses_choices(lo->b->version))
		return false;
	node_walk(yes, find_branch, &found);
	node_walk(no, find_branch, &found);
	// The condition stands twice, and both parts are computed.
	if (!found || (expr_effect(n->child) < EFFECT_CLOCK && expr_effect(yes) < EFFECT_CHANGES &&
		       expr_effect(no) < EFFECT_CHANGES))
		return found;
	struct diag_place at = tok_place(n->first);
	lo->good =
	    diag_error(lo->b->diag, &at,
		       "bpftrace " DIALECT_FMT " computes this choice wrong: use if and else",
		       DIALECT_ARG(lo->b->version));
	return false;
}

/** A choice as a sum: each part times whether it is chosen. */
static void sum_choice(struct lowerer *lo, struct node *n, bool is_signed)
{
	struct node *c = n->child, *yes = c->next, *no = yes->next;
	struct arena *a = lo->b->arena;
	const char *cast = is_signed ? "(int64)" : "";
	number(lo, yes, is_signed);
	number(lo, no, is_signed);
	become_cast(lo, n, change_copy(a, n),
		    change_text(a, n, "(%s(uint64)!!(%n) * (%n) + %s(uint64)!(%n) * (%n))", cast, c,
				yes, cast, c, no),
		    is_signed ? HELD_SIGNED : HELD_UNSIGNED);
}

/**
 * `c ? x : y` of numbers: both alike. bpftrace 0.23 ends by a signal where one has more bits, 0.27
 * where one has no sign.
 */
void lower_choice(struct lowerer *lo, struct node *n)
{
	struct node *yes = n->child->next, *no = yes->next;
	bool is_signed = n->expr->sign == SIGN_SIGNED, is_unsigned = n->expr->sign == SIGN_UNSIGNED;
	if (yes->expr->kind != EXPR_NUMBER || no->expr->kind != EXPR_NUMBER ||
	    ctype_pointee(yes->expr->type) || ctype_pointee(no->expr->type))
		return;
	if (lower_sums_choice(lo, n)) {
		sum_choice(lo, n, is_signed);
		return;
	}
	if (is_truth(yes) != is_truth(no)) {
		count_truth(lo, yes);
		count_truth(lo, no);
	}
	enum held y = held_of(lo, yes), z = held_of(lo, no);
	if ((y != z && y != HELD_ANY && z != HELD_ANY) || (is_signed && mixes_signs(lo))) {
		number(lo, yes, !is_unsigned);
		number(lo, no, !is_unsigned);
	} else if (mixes_signs(lo)) {
		widen(lo, yes);
		widen(lo, no);
	}
}

void lower_operator(struct lowerer *lo, struct node *n)
{
	bool is_host = !lo->b->files; // such a script stays as it is, but for divisions
	if (n->kind == NODE_UNARY && !is_host)
		lower_unary(lo, n);
	else if (n->kind == NODE_BINARY && !is_host)
		lower_binary(lo, n);
	else if (n->kind == NODE_ASSIGN && !is_host)
		lower_kept(lo, n);
	else if (n->kind == NODE_CAST && !is_host)
		lower_cast(lo, n);
	if (n->kind == NODE_BINARY || n->kind == NODE_ASSIGN)
		lower_division(lo, n);
}

/**
 * `@ = x < y`, `@[x < y]`, `sum(x < y)`: in a condition, a variable, a tuple and printf() it is
 * right. Where x and y are signed, bpftrace 0.23 takes true for -1; from 0.24 on aggregations
 * refuse it.
 */
void lower_truth(struct lowerer *lo, struct node *n, const struct node *parent)
{
	bool is_call = parent->kind == NODE_CALL && !format_find(parent);
	bool is_sample = is_call && vocabulary_word(parent->name->text)->gives == GIVES_AGGREGATION;
	bool is_kept =
	    parent->kind == NODE_MAP || (is_call && !tok_is(parent->name, "print")) ||
	    (parent->kind == NODE_ASSIGN && parent->child->kind == NODE_MAP && parent->child != n);
	if (is_truth(n) && (is_sample || (is_kept && mixes_signs(lo))))
		number(lo, n, false);
}
