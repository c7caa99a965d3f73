#include "sema/strings.h"

#include "sema/exprtype.h"
#include "dialect/dialect.h"

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

static bool needs_string(const struct node *n)
{
	return strings_is_read(n) || (n->kind == NODE_VARIABLE && is_text(n));
}

/** Adds the calls in @n, which depend on @above conditions that read strings. */
static void find_calls(struct strings *s, struct node *n, unsigned above)
{
	bool reads = false;
	if (n->kind == NODE_CALL && above)
		map_put_ptr(s->arena, &s->conditions, n, (void *)(uintptr_t)above);
	for (struct node *c = n->child; c; c = c->next) {
		find_calls(s, c, above + reads);
		if (n->kind == NODE_IF && c->kind != NODE_BLOCK)
			reads |= node_find(c, needs_string) != NULL;
	}
}

void strings_find(const struct bind *b, const struct script_clause *c, struct strings *ret)
{
	const struct map *variables = uses_variables(&b->found.uses, c);
	*ret = (struct strings){.arena = b->arena};
	for (struct map_entry *e = NULL; (e = map_next(variables, e));) {
		const struct use *u = ((const struct used_name *)e->value)->first;
		while (u && !(u->value && is_text(u->value)))
			u = u->next;
		ret->n_variables += u != NULL;
	}
	find_calls(ret, c->node, 0);
}

unsigned strings_beside(const struct strings *s, const struct node *call)
{
	return s->n_variables + (unsigned)(uintptr_t)map_get_ptr(&s->conditions, call);
}

// --- in a call ---

unsigned strings_printed(const struct node *n)
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
	unsigned limit = dialect_max_strlen(b->given->version, strings);
	unsigned ceiling = dialect_strlen_ceiling(b->given->version, strings);
	unsigned wanted =
	    b->made->longest_string < UINT32_MAX ? b->made->longest_string + 1 : UINT32_MAX;
	if (wanted <= limit)
		return limit;
	return wanted < ceiling ? wanted : ceiling;
}
