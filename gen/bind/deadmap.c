#include "bind/deadmap.h"

#include "lang/change.h"

void deadmap_find(const struct bind *b, const bool *gone, struct deadmap *m)
{
	struct map out = {0};
	for (size_t i = 0; i < b->found.script.clauses.n; i++)
		if (gone[i])
			map_add_ptr(b->arena, &out, b->found.script.clauses.v[i]);
	m->dead = (struct map){0};
	for (struct map_entry *e = NULL; (e = map_next(&m->uses.maps, e));) {
		struct use *set = NULL;
		bool stays = false;
		for (struct use *u = ((struct used_name *)e->value)->first; u; u = u->next) {
			bool is_out = map_get_ptr(&out, u->clause);
			stays |= !is_out && (u->does & USE_MAY_SET);
			if (is_out && (u->does & USE_MAY_SET) && !set)
				set = u;
		}
		if (set && !stays)
			map_put(b->arena, &m->dead, e->key, set);
	}
}

/** What set the map @n, if it is one that nothing sets any more; or NULL. */
static const struct use *find_dead(const struct deadmap *m, const struct node *n)
{
	return n && n->kind == NODE_MAP ? map_get(&m->dead, n->name ? n->name->text : STR(""))
					: NULL;
}

bool deadmap_is_awaited(const struct deadmap *m, const struct script_clause *c)
{
	const struct node *predicate = script_predicate(c);
	return predicate && find_dead(m, predicate->child);
}

/** Would the map have held text? What is never set reads as "" then, else as 0. */
static bool is_text(const struct use *use)
{
	return use->value &&
	       (use->value->kind == NODE_STRING ||
		(use->value->name && vocabulary_word(use->value->name->text)->gives == GIVES_TEXT));
}

/** A statement that is about nothing but such a map. */
static bool is_about(const struct deadmap *m, const struct node *n)
{
	const struct node *call = n->kind == NODE_EXPRESSION ? n->child : NULL;
	if (n->kind == NODE_FOR)
		return find_dead(m, n->child->next);
	return call && call->kind == NODE_CALL &&
	       (vocabulary_word(node_text(call))->does & ~USE_READ) && find_dead(m, call->child);
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
	const struct use *set = find_dead(r->dead, n);
	if (!set)
		return true;
	bool text = is_text(set);
	change_leaf(r->arena, n, text ? NODE_STRING : NODE_NUMBER, text ? STR("\"\"") : STR("0"));
	return false;
}

void deadmap_rewrite(const struct bind *b, const struct deadmap *m, struct script_clause *c)
{
	struct rewriter r = {b->arena, m};
	node_walk(c->node, rewrite, &r);
}
