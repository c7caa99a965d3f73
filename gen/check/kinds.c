// What a map or variable holds, and what operators take: of one kind each.
#include "check/check_priv.h"

#include <string.h>

/** What bpftrace takes no other in place of; NULL for what is not known, or may be either. */
static const char *class_of(const struct node *n)
{
	static const char *const classes[] = {[EXPR_NUMBER] = "a number",
					      [EXPR_TEXT] = "a text",
					      [EXPR_SHOWN] = NULL,
					      [EXPR_BYTES] = "a buffer",
					      [EXPR_TUPLE] = "a tuple",
					      [EXPR_AGGREGATE] = NULL,
					      [EXPR_AGGREGATION] = "count() or the like",
					      [EXPR_MIXED] = NULL};
	return n->expr ? classes[n->expr->kind] : NULL;
}

/** The first value of a map or variable. */
struct first {
	const struct node *at;
	const char *what;
	bool is_said;
};

/** That of @holder, in the script or, of a variable, its clause: @what if there was none. */
static struct first *first_of(struct checker *k, const struct node *holder, const char *what)
{
	struct arena *a = k->b->arena;
	struct str name = holder->name ? holder->name->text : STR("");
	size_t scope = holder->kind == NODE_MAP ? 0 : k->i + 1;
	struct str key = str_printf(a, "kind of %zu " STR_FMT, scope, STR_ARG(name));
	struct first *f = map_get(&k->said, key);
	if (!f) {
		f = arena_new(a, struct first);
		*f = (struct first){.at = holder, .what = what};
		map_put(a, &k->said, key, f);
	}
	return f;
}

/** `x = y`, `x++`: what @holder is given. */
static void check_holder(struct checker *k, const struct node *holder, const char *what)
{
	if ((holder->kind != NODE_MAP && holder->kind != NODE_VARIABLE) || !what || !holder->expr ||
	    holder->expr->kind != EXPR_MIXED)
		return;
	struct first *f = first_of(k, holder, what);
	if (f->is_said || strcmp(f->what, what) == 0)
		return;
	struct diag_place at = tok_place(holder->first), before = tok_place(f->at->first);
	f->is_said = true;
	k->good &= diag_check(k->b->diag, "kind", DIAG_ERROR, &at,
			      "%s is given %s here, and bpftrace keeps one kind of value in it",
			      check_text(k, holder), what);
	diag_note(k->b->diag, &before, "it is given %s here", f->what);
}

/** What an operator is applied to, or a condition: bpftrace takes numbers only. */
static void check_operand(struct checker *k, const struct node *n, const char *what_for)
{
	const char *what = class_of(n);
	if (!what || n->expr->kind == EXPR_NUMBER || n->expr->kind == EXPR_AGGREGATION)
		return;
	if (n->kind == NODE_STRING && (strcmp(what_for, "||") == 0 || strcmp(what_for, "&&") == 0))
		return; // comm == "bash" || "sh": see flow.c
	check_say(k, n, "kind", DIAG_ERROR, "%s takes numbers, and this is %s", what_for, what);
}

/** Of == and != compare.c speaks; * and & are about addresses. */
static void check_operator(struct checker *k, const struct node *n)
{
	bool is_unary = n->kind == NODE_UNARY;
	if (is_unary ? tok_is(n->name, "*") || tok_is(n->name, "&")
		     : tok_is(n->name, "==") || tok_is(n->name, "!="))
		return;
	const char *name = str_dup(k->b->arena, n->name->text);
	unsigned n_errors = k->b->diag->n_errors;
	for (const struct node *c = n->child; c && k->b->diag->n_errors == n_errors; c = c->next)
		check_operand(k, c, name);
}

void check_kinds(struct checker *k, struct node *n, struct node *parent)
{
	const struct node *value = n->child ? n->child->next : NULL;
	if (k->clause->clause->node->kind == NODE_MACRO)
		return; // its parameters are now this and now that
	(void)parent;
	if (n->kind == NODE_ASSIGN)
		check_holder(k, n->child, tok_is(n->name, "=") ? class_of(value) : "a number");
	if (n->kind == NODE_LET && value && value->kind != NODE_TYPE && value->kind != NODE_TYPEOF)
		check_holder(k, n->child, class_of(value));
	if (n->kind == NODE_POSTFIX ||
	    (n->kind == NODE_UNARY && (tok_is(n->name, "++") || tok_is(n->name, "--"))))
		check_holder(k, n->child, "a number");
	else if (n->kind == NODE_BINARY || n->kind == NODE_UNARY)
		check_operator(k, n);
	if ((n->kind == NODE_PREDICATE && n->child) || n->kind == NODE_TERNARY ||
	    node_is(n, NODE_WHILE, "while"))
		check_operand(k, n->child, "a condition");
	for (const struct node *c = n->kind == NODE_IF ? n->child : NULL; c; c = c->next)
		if (c->kind != NODE_BLOCK)
			check_operand(k, c, "a condition");
}
