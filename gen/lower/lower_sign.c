// Numbers that may be negative, or beside one that may.
#include "lower/division.h"
#include "lang/format.h"
#include "lower/lower_priv.h"
#include "lang/change.h"
#include "lang/print.h"
#include "out/dialect.h"

/**
 * bpftrace up to 0.23 makes an unsigned number of a signed one and an unsigned one, and has other
 * maps for them.
 */
static bool mixes_signs(const struct lowerer *lo)
{
	return lo->b->files && !dialect_has_libbpf_usdt(lo->b->version);
}

/**
 * Would a cast to a signed type take the highest bit of @n for its sign? bpftrace before 0.24 does
 * so with unsigned numbers of less than 64 bits: (int64) of an uint8_t of 200 is -56.
 */
static bool sign_extends(const struct lowerer *lo, const struct node *n)
{
	return mixes_signs(lo) && n->expr && n->expr->sign == SIGN_NONE;
}

/** The node as an operand of what stands behind a cast. */
static struct node *operand(struct lowerer *lo, struct node *n)
{
	static const char *const casts[] = {"(int64)", "((int64)", "(((int64)"};
	struct arena *a = lo->b->arena;
	if (n->kind == NODE_NUMBER)
		return n;
	n = change_copy(a, n);
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
	return change_text(a, n, sign_extends(lo, n) ? "(int64)(uint64)%n" : "(int64)%n", n);
}

/**
 * @n becomes @made, a cast of @was: its old self, which stays below it, so that later rules still
 * see what is read there.
 */
static void become_cast(struct lowerer *lo, struct node *n, struct node *was,
			const struct node *made)
{
	change(lo->b->arena, n, "%n", made);
	n->kind = NODE_CAST; // so it needs no brackets
	n->child = n->last_child = was;
}

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
	if ((division_repeats_value(&q) && !division_is_repeatable(left)) ||
	    (q.by_is_signed && !division_is_repeatable(right))) {
		say_not_repeatable(lo, n, shift);
		return NULL;
	}
	return division_make(lo->b->arena, &q);
}

void lower_division(struct lowerer *lo, struct node *n)
{
	if (!lo->good || (!divides(n->name) && !shifts_right(n->name)))
		return;
	const struct node *quotient = divide(lo, n);
	if (!quotient || !lower_fits(lo, quotient))
		return;
	if (n->kind == NODE_ASSIGN) {
		change(lo->b->arena, n, "%n = %n", n->child, quotient);
		return;
	}
	become_cast(lo, n, change_copy(lo->b->arena, n), quotient);
}

/** A number that is never negative, which is unsigned to bpftrace, becomes signed. */
static void make_signed(struct lowerer *lo, struct node *n)
{
	struct arena *a = lo->b->arena;
	const struct node *number = node_ungrouped(n);
	uint64_t value;
	if (!lo->good || n->expr->sign != SIGN_NONE ||
	    (number->kind == NODE_NUMBER &&
	     (!mixes_signs(lo) || (str_to_u64(node_text(number), &value) && value <= INT32_MAX))))
		return;
	// Of less than 64 bits some versions would take the highest for a sign.
	struct node *was = change_copy(a, n);
	become_cast(lo, n, was,
		    n->kind == NODE_MAP ? operand(lo, was)
					: change_text(a, n, "(int64)(uint64)(%n)", was));
}

void lower_cast(struct lowerer *lo, struct node *n)
{
	struct node *value = n->child->next;
	if (!lo->good || n->expr->sign != SIGN_SIGNED || !sign_extends(lo, value) ||
	    value->kind == NODE_NUMBER || value->kind == NODE_MAP)
		return;
	change(lo->b->arena, value, "(uint64)%n", value);
}

/** -x, where x has no sign: newer versions have maps and variables of 8 bits without one. */
void lower_minus(struct lowerer *lo, struct node *n)
{
	if (lo->b->files && tok_is(n->name, "-"))
		make_signed(lo, n->child);
}

/**
 * As C does it: what is narrower than 64 bits is compared with its sign, and an int64 with an
 * uint64 without.
 */
static void lower_comparison(struct lowerer *lo, struct node *n)
{
	struct node *left = n->child, *right = left->next;
	enum sign l = left->expr->sign, r = right->expr->sign;
	struct node *odd = l == SIGN_SIGNED ? left : right;
	if (mixes_signs(lo) && (l == SIGN_MIXED || r == SIGN_MIXED))
		warn_of_mixed(lo, n->name);
	if (!lo->b->files || l == r || (l != SIGN_UNSIGNED && r != SIGN_UNSIGNED) ||
	    odd->expr->sign != SIGN_SIGNED)
		return;
	change(lo->b->arena, odd, "(uint64)(%n)", odd);
}

void lower_mixture(struct lowerer *lo, struct node *n)
{
	static const char *const operators[] = {"+", "-", "*", "<", ">", "<=", ">=", NULL};
	struct node *left = n->child, *right = left->next;
	if (!lo->good || !tok_is_any(n->name, operators))
		return;
	if (compares(n->name))
		lower_comparison(lo, n);
	bool may_fall = tok_is(n->name, "-") && n->expr->sign == SIGN_SIGNED;
	if (mixes_signs(lo) && (may_fall || right->expr->sign == SIGN_SIGNED))
		make_signed(lo, left);
	if (mixes_signs(lo) && (may_fall || left->expr->sign == SIGN_SIGNED))
		make_signed(lo, right);
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
 */
void lower_kept(struct lowerer *lo, struct node *n)
{
	static const char *const operators[] = {"+=", "-=", "*=", NULL};
	struct node *target = n->child, *value = target->next;
	bool is_compound = tok_is_any(n->name, operators);
	if (!lo->good || !mixes_signs(lo) || target->expr->sign != SIGN_SIGNED ||
	    (!is_compound && !tok_is(n->name, "=")))
		return;
	make_signed(lo, value);
	if (is_compound && target->kind == NODE_MAP && !division_is_repeatable(target))
		warn_of_lost_sign(lo, target);
	else if (is_compound && target->kind == NODE_MAP)
		change(lo->b->arena, n, "%n = %n %t (%n)", target, operand(lo, target),
		       str_slice(n->name->text, 0, 1), value);
}

/**
 * Is what comes of @n kept as a number, or computed with? In a condition, a variable, a tuple and
 * printf() it is right.
 */
static bool is_kept_as_number(const struct node *n, const struct node *parent)
{
	switch (parent->kind) {
	case NODE_BINARY:
		return !tok_is(parent->name, "&&") && !tok_is(parent->name, "||");
	case NODE_UNARY:
		return !tok_is(parent->name, "!");
	case NODE_TERNARY:
		return parent->child != n;
	case NODE_ASSIGN:
		return parent->child->kind == NODE_MAP || !tok_is(parent->name, "=");
	case NODE_CALL:
		return !format_find(parent) && !tok_is(parent->name, "print");
	default:
		return parent->kind == NODE_MAP || parent->kind == NODE_CAST;
	}
}

/** Where x and y are signed, bpftrace 0.23 takes true for -1, but not what `!` makes of it. */
void lower_truth(struct lowerer *lo, struct node *n, const struct node *parent)
{
	static const char *const operators[] = {"==", "!=", "<", ">", "<=", ">=", NULL};
	const struct node *inner = node_ungrouped(n);
	if (!lo->good || !mixes_signs(lo) || inner->kind != NODE_BINARY ||
	    !tok_is_any(inner->name, operators) || !is_kept_as_number(n, parent))
		return;
	change(lo->b->arena, n, "!!(%n)", n);
	n->kind = NODE_CAST;
}
