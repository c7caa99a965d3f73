#include "lower/strings.h"

#include "lower/exprtype.h"
#include "out/dialect.h"

bool strings_is_read(const struct node *n)
{
	const struct expr *x = n->expr;
	bool is_array = x && x->kind == EXPR_TEXT && x->is_place; // of characters
	return node_is(n, NODE_CALL, "str") || is_array;
}

static bool is_text(const struct node *n)
{
	return strings_is_read(n) || (n->expr && n->expr->kind == EXPR_TEXT);
}

// --- beside a call ---

struct variables {
	struct arena *arena;
	struct map names;
	unsigned n;
};

static bool find_variable(void *ctx, struct node *n, struct node *parent)
{
	struct variables *v = ctx;
	bool is_set = (n->kind == NODE_ASSIGN || n->kind == NODE_LET) && n->child->next &&
		      n->child->kind == NODE_VARIABLE && is_text(n->last_child);
	(void)parent;
	v->n += is_set && map_add(v->arena, &v->names, n->child->name->text);
	return true;
}

static bool find_string(void *ctx, struct node *n, struct node *parent)
{
	bool *found = ctx;
	(void)parent;
	*found |= strings_is_read(n) || (n->kind == NODE_VARIABLE && is_text(n));
	return !*found;
}

/** Is @call in @n? Then the conditions above it that read strings are added to @ret. */
static bool find_call(struct node *n, const struct node *call, unsigned *ret)
{
	bool is_here = n == call, reads = false;
	for (struct node *c = n->child; c && !is_here; c = c->next) {
		is_here = find_call(c, call, ret);
		if (!is_here && n->kind == NODE_IF && c->kind != NODE_BLOCK)
			node_walk(c, find_string, &reads);
	}
	*ret += is_here && reads;
	return is_here;
}

unsigned strings_beside(struct arena *a, const struct node *clause, const struct node *call)
{
	struct variables v = {.arena = a};
	unsigned n = 0;
	node_walk((struct node *)clause, find_variable, &v);
	find_call((struct node *)clause, call, &n);
	return v.n + n;
}

// --- in a call ---

unsigned strings_printed(struct node *n)
{
	n = node_ungrouped(n);
	if (!n || !is_text(n))
		return 0;
	if (n->kind == NODE_TERNARY && n->child->next->next)
		return 1 + strings_printed(n->child->next) + strings_printed(n->last_child);
	return n->kind == NODE_MAP ? STRINGS_OF_MAP + 1 : 1;
}

unsigned strings_limit(const struct bind *b, unsigned strings)
{
	unsigned limit = dialect_max_strlen(b->version, strings);
	unsigned ceiling = dialect_strlen_ceiling(b->version, strings);
	unsigned wanted = b->longest_string < UINT32_MAX ? b->longest_string + 1 : UINT32_MAX;
	if (wanted <= limit)
		return limit;
	return wanted < ceiling ? wanted : ceiling;
}
