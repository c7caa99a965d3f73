#include "lang/tree.h"

#include "lang/vocabulary.h"

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

unsigned node_operator(const struct node *n)
{
	if (n->kind != NODE_BINARY && n->kind != NODE_ASSIGN)
		return 0;
	struct str text = n->name->text;
	return expr_operator(str_slice(text, 0, text.n - (n->kind == NODE_ASSIGN)), NULL);
}

struct str node_text(const struct node *n)
{
	return n->name->text;
}

unsigned node_count(const struct node *n)
{
	unsigned count = 0;
	for (const struct node *c = n->child; c; c = c->next)
		count++;
	return count;
}

struct node *node_ungrouped(const struct node *n)
{
	while (n && n->kind == NODE_GROUP)
		n = n->child;
	return (struct node *)n; // as its parent has it
}

struct node *node_next(const struct node *root, const struct node *n)
{
	if (n->child)
		return n->child;
	while (n != root && !n->next)
		n = n->parent;
	return n == root ? NULL : n->next;
}

const struct node *node_find(const struct node *n, bool (*is)(const struct node *n))
{
	const struct node *root = n;
	while (n && !is(n))
		n = node_next(root, n);
	return n;
}

bool node_fold(const struct node *n, unsigned depth, uint64_t *ret)
{
	uint64_t a, b;
	n = node_ungrouped(n);
	if (n->kind == NODE_NUMBER)
		return str_to_u64(node_text(n), ret);
	if (n->kind != NODE_BINARY || !depth || !node_fold(n->child, depth - 1, &a) ||
	    !node_fold(n->child->next, depth - 1, &b))
		return false;
	if (tok_is(n->name, "+"))
		return !__builtin_add_overflow(a, b, ret);
	if (tok_is(n->name, "-"))
		return !__builtin_sub_overflow(a, b, ret);
	if (tok_is(n->name, "*"))
		return !__builtin_mul_overflow(a, b, ret);
	if (tok_is(n->name, "/") && b)
		*ret = a / b;
	else if (tok_is(n->name, "<<") && b < 64 && a << b >> b == a)
		*ret = a << b;
	else
		return false;
	return true;
}
