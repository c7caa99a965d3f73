#include "check/mapuse.h"

struct finder {
	struct bind *b;
	struct mapuses *all;
	const struct attach_clause *clause;
	size_t i;
};

/** In a macro its parameters stand for other maps. */
static bool is_parameter(const struct node *clause, const struct node *map)
{
	if (clause->kind != NODE_MACRO || !map->name)
		return false;
	for (const struct node *p = clause->child; p->next; p = p->next)
		if (p->kind == NODE_MAP && p->name && str_eq(node_text(p), node_text(map)))
			return true;
	return false;
}

/** bpftrace's functions that are given a map, not its value. */
static bool takes_map(const struct node *call)
{
	static const char *const names[] = {"print", "clear",	"zero", "delete",
					    "len",   "has_key", NULL};
	return tok_is_any(call->name, names);
}

bool mapuse_is_known_call(struct bind *b, const struct node *call)
{
	if (script_macro(&b->script, call) || tok_is(call->name, "find")) // find(@m, key, $value)
		return false;
	return vocabulary_word(node_text(call))->name != NULL;
}

static void add_call(struct bind *b, struct mapuse *u, const struct node *call)
{
	bool is_first = call->child == u->node;
	u->is_whole = !u->node->child && is_first && takes_map(call);
	u->is_deleted = is_first && tok_is(call->name, "delete");
	u->is_cleared = is_first && (tok_is(call->name, "clear") || tok_is(call->name, "zero"));
	u->is_read = !u->is_deleted && !u->is_cleared;
	if (!mapuse_is_known_call(b, call)) {
		u->is_read = u->is_set = true;
		u->is_whole = !u->node->child;
	}
}

static void add_map(struct finder *f, struct node *n, const struct node *parent,
		    const struct node *above)
{
	struct mapuse u = {.name = n->name ? node_text(n) : STR(""),
			   .clause = f->clause,
			   .i = f->i,
			   .node = n,
			   .parent = parent};
	if (parent && parent->kind == NODE_ASSIGN && parent->child == n) {
		u.is_set = true;
		u.value = n->next;
	} else if (node_is_step(parent)) {
		u.is_set = true;
		u.is_read = !above || above->kind != NODE_EXPRESSION;
	} else if (node_is(parent, NODE_BINARY, "==") && parent->child == n && above &&
		   above->kind == NODE_EXPRESSION) {
		u.is_set = true; // `@on == 1;` was to set it, as flow.c says
	} else if (parent && parent->kind == NODE_CALL) {
		add_call(f->b, &u, parent);
	} else {
		u.is_read = true;
		u.is_whole = parent && parent->kind == NODE_FOR;
	}
	vec_push(f->b->arena, &f->all->uses, u);
}

static void add_opaque(struct finder *f, struct node *n)
{
	for (const struct token *t = n->first; t != n->last->next; t = t->next)
		if (tok_is(t, "@") && t != n->last)
			vec_push(f->b->arena, &f->all->uses,
				 (struct mapuse){.name = t->next->text,
						 .clause = f->clause,
						 .i = f->i,
						 .node = n,
						 .is_read = true,
						 .is_set = true,
						 .is_whole = true,
						 .is_opaque = true});
}

static void look(struct finder *f, struct node *n, const struct node *parent,
		 const struct node *above)
{
	if (n->kind == NODE_MAP && !is_parameter(f->clause->clause->node, n))
		add_map(f, n, parent, above);
	else if (n->kind == NODE_OPAQUE)
		add_opaque(f, n);
	for (struct node *c = n->child; c; c = c->next)
		look(f, c, n, parent);
}

static void link_uses(struct arena *a, struct mapuses *all)
{
	struct map last = {0};
	for (size_t i = 0; i < all->uses.n; i++) {
		struct mapuse *u = &all->uses.v[i], *before = map_get(&last, u->name);
		if (before)
			before->next = u;
		map_put(a, &last, u->name, u);
	}
}

void mapuse_find(struct bind *b, struct mapuses *ret)
{
	struct finder f = {.b = b, .all = ret};
	*ret = (struct mapuses){0};
	for (const struct node *n = b->script.program->child; n; n = n->next)
		ret->is_open |= n->kind == NODE_IMPORT || n->kind == NODE_OPAQUE;
	for (; f.i < b->script.clauses.n; f.i++) {
		f.clause = b->clauses[f.i];
		for (struct node *n = f.clause->clause->node->child; n; n = n->next)
			if (n->kind != NODE_ATTACH)
				look(&f, n, f.clause->clause->node, NULL);
	}
	link_uses(b->arena, ret);
}

const char *mapuse_text(struct bind *b, const struct mapuse *u)
{
	return arena_printf(b->arena, "@" STR_FMT, STR_ARG(u->name));
}

bool mapuse_is_in(const struct mapuse *u, enum provider_when when)
{
	const struct script_clause *c = u->clause->clause;
	for (size_t i = 0; i < c->attach.n; i++)
		if (c->attach.v[i].provider->when != when)
			return false;
	return c->attach.n > 0;
}
