#include "sema/macrosign.h"

#include "sema/expr.h"

struct walk {
	const struct bind *b;
	const struct node *macro, *call;
	bool is_last;  // all signs are known
	bool is_other; // an argument has another sign than the parameter, which is of all calls
};

/** What the parameter @n is in this call; NULL: it is none. */
static const struct node *argument_of(const struct walk *w, const struct node *n)
{
	const struct node *p = w->macro->child, *argument = w->call->child;
	if (n->kind != NODE_NAME && n->kind != NODE_VARIABLE && n->kind != NODE_MAP)
		return NULL;
	for (; argument && p->next; argument = argument->next, p = p->next)
		if (p->kind == n->kind && n->name && str_eq(p->name->text, n->name->text))
			return argument;
	return NULL;
}

/** Are the operands compared, or divided, as unsigned numbers? As in C, if one of them is. */
static bool is_unsigned(enum sign a, enum sign b)
{
	return a == SIGN_UNSIGNED || b == SIGN_UNSIGNED;
}

static void look_at_operator(const struct walk *w, const struct node *n, enum sign a, enum sign b)
{
	bool is_shift = node_operator(n) == OP_SHR;
	enum sign left = n->child->expr->sign,
		  right = is_shift ? SIGN_NONE : n->child->next->expr->sign;
	b = is_shift ? SIGN_NONE : b;
	bool is_signed = a == SIGN_SIGNED || b == SIGN_SIGNED;
	bool was_signed = left == SIGN_SIGNED || right == SIGN_SIGNED;
	bool differs = a == SIGN_MIXED || b == SIGN_MIXED ||
		       (is_unsigned(a, b) ? was_signed && !is_unsigned(left, right)
					  : is_signed && is_unsigned(left, right));
	if (w->is_last && differs && (node_operator(n) & (OP_ORDER | OP_QUOTIENT | OP_SHR)))
		map_add_ptr(w->b->arena, &w->b->cache->signs_differ, n);
}

static enum sign walk(struct walk *w, const struct node *n);

static enum sign walk_binary(struct walk *w, const struct node *n)
{
	enum sign a = walk(w, n->child), b = walk(w, n->child->next);
	unsigned op = node_operator(n);
	look_at_operator(w, n, a, b);
	if (op == OP_SUB && a == SIGN_NONE && b == SIGN_NONE) // a difference of times has no sign
		return n->expr->sign == SIGN_OTHER ? SIGN_OTHER : SIGN_SIGNED;
	return sign_of_result(op, a, b);
}

/** The sign of an expression of the body; of a block that of its last one. */
static enum sign walk(struct walk *w, const struct node *n)
{
	const struct node *argument = argument_of(w, n);
	if (!n->expr && n->kind != NODE_EXPRESSION && n->kind != NODE_BLOCK)
		return SIGN_OPEN;
	if (argument) {
		w->is_other |= argument->expr->sign != n->expr->sign;
		return argument->expr->sign;
	}
	if (n->kind == NODE_BINARY)
		return walk_binary(w, n);
	enum sign last = SIGN_NONE, before = SIGN_NONE;
	for (const struct node *c = n->child; c; c = c->next) {
		before = last;
		last = walk(w, c);
	}
	switch (n->kind) {
	case NODE_GROUP:
	case NODE_EXPRESSION:
	case NODE_BLOCK:
		return last;
	case NODE_TERNARY:
		return sign_of_both(before, last);
	case NODE_UNARY:
		if (tok_is(n->name, "-") || tok_is(n->name, "~"))
			return last == SIGN_NONE ? SIGN_SIGNED : last;
		break;
	case NODE_VARIABLE:
	case NODE_IF:
	case NODE_CALL:
	case NODE_NAME:
		// From a parameter, on a way that is not followed: a variable, a condition, another macro.
		if (w->is_other && n->expr->sign != SIGN_NONE &&
		    (n->kind == NODE_VARIABLE || n->kind == NODE_IF || n->expr->is_substituted))
			return SIGN_MIXED;
		break;
	default:
		break;
	}
	return n->expr ? n->expr->sign : SIGN_NONE;
}

enum sign macrosign_of_call(const struct bind *b, const struct node *macro, const struct node *call,
			    bool is_last)
{
	struct walk w = {b, macro, call, false, false};
	walk(&w, macro->last_child); // for is_other
	w.is_last = is_last;
	return walk(&w, macro->last_child);
}

bool macrosign_differs(const struct bind *b, const struct node *n)
{
	return map_get_ptr(&b->cache->signs_differ, n) != NULL;
}
