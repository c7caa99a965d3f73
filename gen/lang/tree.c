#include "lang/tree.h"

bool node_is(const struct node *n, enum node_kind kind, const char *name)
{
	return n && n->kind == kind && n->name && tok_is(n->name, name);
}

bool node_is_named(const struct node *n)
{
	return n->kind == NODE_MEMBER &&
	       (node_is(n->child, NODE_NAME, "args") || node_is(n->child, NODE_NAME, "vars"));
}

bool node_is_step(const struct node *n)
{
	return n && (n->kind == NODE_UNARY || n->kind == NODE_POSTFIX) &&
	       (tok_is(n->name, "++") || tok_is(n->name, "--"));
}

bool node_is_comparison(const struct node *n)
{
	static const char *const names[] = {"==", "!=", "<", ">", "<=", ">=", NULL};
	return n->kind == NODE_BINARY && tok_is_any(n->name, names);
}

struct str node_text(const struct node *n)
{
	return n->name->text;
}

struct node *node_ungrouped(const struct node *n)
{
	while (n && n->kind == NODE_GROUP)
		n = n->child;
	return (struct node *)n; // as its parent has it
}

static void walk(struct node *n, struct node *parent,
		 bool (*visit)(void *ctx, struct node *n, struct node *parent), void *ctx)
{
	if (!visit(ctx, n, parent))
		return;
	for (struct node *c = n->child; c; c = c->next)
		walk(c, n, visit, ctx);
}

void node_walk(const struct node *n, bool (*visit)(void *ctx, struct node *n, struct node *parent),
	       void *ctx)
{
	walk((struct node *)n, NULL, visit, ctx);
}
