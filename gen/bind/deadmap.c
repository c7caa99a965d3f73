#include "bind/deadmap.h"

#include "lang/change.h"

void deadmap_add_clause(struct bind *b, struct deadmap *m, const struct script_clause *c)
{
	for (size_t i = 0; i < c->maps.n; i++)
		if (c->maps.v[i].is_set && !map_get(&m->set, c->maps.v[i].name))
			map_put(b->arena, &m->set, c->maps.v[i].name, &c->maps.v[i]);
}

void deadmap_keep_clause(struct bind *b, struct deadmap *m, const struct script_clause *c)
{
	for (size_t i = 0; i < c->maps.n; i++)
		if (c->maps.v[i].is_set)
			map_add(b->arena, &m->stay, c->maps.v[i].name);
}

static bool is_dead(const struct deadmap *m, struct str name)
{
	return map_get(&m->set, name) && !map_get(&m->stay, name);
}

/** Is @n such a map? */
static bool is_dead_map(const struct deadmap *m, const struct node *n)
{
	return n && n->kind == NODE_MAP && is_dead(m, n->name ? n->name->text : STR(""));
}

bool deadmap_is_awaited(const struct deadmap *m, const struct script_clause *c)
{
	const struct node *predicate = script_predicate(c);
	return predicate && is_dead_map(m, predicate->child);
}

/** Would the map have held text? What is never set reads as "" then, else as 0. */
static bool is_text(const struct deadmap *m, struct str name)
{
	const struct script_map_use *use = map_get(&m->set, name);
	return use->value &&
	       (use->value->kind == NODE_STRING ||
		(use->value->name && vocabulary_word(use->value->name->text)->gives == GIVES_TEXT));
}

/** A statement that is about nothing but such a map. */
static bool is_about(const struct deadmap *m, const struct node *n)
{
	static const char *const words[] = {"clear", "delete", "zero", "print", NULL};
	const struct node *call = n->kind == NODE_EXPRESSION ? n->child : NULL;
	if (n->kind == NODE_FOR)
		return is_dead_map(m, n->child->next);
	return call && call->kind == NODE_CALL && tok_is_any(call->name, words) &&
	       is_dead_map(m, call->child);
}

struct rewriter {
	struct arena *arena;
	const struct deadmap *dead;
};

static bool rewrite(void *ctx, struct node *n, struct node *parent)
{
	struct rewriter *r = ctx;
	(void)parent;
	if (is_about(r->dead, n)) {
		change_remove(n, n->first, n->last);
		return false;
	}
	if (!is_dead_map(r->dead, n))
		return true;
	bool text = is_text(r->dead, n->name ? n->name->text : STR(""));
	change_leaf(r->arena, n, text ? NODE_STRING : NODE_NUMBER, text ? STR("\"\"") : STR("0"));
	return false;
}

void deadmap_rewrite(struct bind *b, const struct deadmap *m, struct script_clause *c)
{
	struct rewriter r = {b->arena, m};
	size_t n = 0;
	node_walk(c->node, rewrite, &r);
	for (size_t i = 0; i < c->maps.n; i++)
		if (!is_dead(m, c->maps.v[i].name))
			c->maps.v[n++] = c->maps.v[i];
	c->maps.n = n;
}
