#include "lang/uses.h"

/** What a name meant before a `let` or loop, until the block ends. */
struct hidden {
	struct str name;
	const struct node *was;
};

struct finder {
	struct uses *uses;
	const struct script *script;
	const struct script_clause *clause;
	struct map lets; /**< name, with $ -> the `let` or loop whose variable it is here */
	VEC(struct hidden) hidden;
};

static void add_use(struct arena *a, struct map *names, const struct use *u)
{
	struct used_name *name = map_get(names, u->name);
	struct use *use = arena_new(a, struct use);
	*use = *u;
	if (!name) {
		name = arena_new(a, struct used_name);
		map_put(a, names, u->name, name);
		name->first = use;
	} else {
		name->last->next = use;
	}
	name->last = use;
	name->does |= use->does;
}

/** The variables of @c, to be added to. */
static struct map *variables_of(struct uses *u, const struct script_clause *c)
{
	struct map *names = map_get_ptr(&u->variables, c);
	if (!names) {
		names = arena_new(u->arena, struct map);
		map_put_ptr(u->arena, &u->variables, c, names);
	}
	return names;
}

/**
 * May @call change what its @argument names? find(@m, key, $value) does; a function of bpftrace's does not, nor does a macro whose
 * parameter has neither $ nor @.
 */
static bool may_change(const struct script *s, const struct node *call, const struct node *argument)
{
	const struct node *macro = script_macro(s, call);
	if (!macro)
		return tok_is(call->name, "find") || !vocabulary_word(node_text(call))->name;
	const struct node *parameter = macro->child;
	for (const struct node *c = call->child; c != argument; c = c->next)
		parameter = parameter->next;
	bool is_map = argument->kind == NODE_MAP && !argument->child;
	return parameter->kind != NODE_NAME || is_map;
}

static unsigned does_in_call(const struct finder *f, const struct use *u, bool *is_whole)
{
	const struct node *call = u->node->parent;
	unsigned does = call->child == u->node ? vocabulary_word(node_text(call))->does : 0;
	bool is_given = may_change(f->script, call, u->node);
	*is_whole = !u->node->child && (does || is_given);
	return is_given ? USE_READ | USE_GIVEN : does ? does : USE_READ;
}

/** What is done with the map or variable @u->node. */
static void classify(const struct finder *f, struct use *u)
{
	const struct node *parent = u->node->parent;
	bool is_first = parent->child == u->node;
	bool is_statement = parent->parent->kind == NODE_EXPRESSION;
	if (parent->kind == NODE_ASSIGN && is_first) {
		u->does = tok_is(parent->name, "=") ? USE_SET : USE_ADD;
		u->value = u->node->next;
	} else if (parent->kind == NODE_LET && is_first) {
		struct node *last = parent->last_child;
		u->does = USE_SET;
		if (last != u->node && last->kind != NODE_TYPE && last->kind != NODE_TYPEOF)
			u->value = last;
	} else if (node_is_step(parent)) {
		u->does = USE_ADD | (is_statement ? 0 : USE_READ);
	} else if (node_is(parent, NODE_BINARY, "==") && is_first && is_statement) {
		u->does = USE_SET; // check/flow.c reports that it should be =
	} else if (parent->kind == NODE_FOR && u->node->kind == NODE_MAP) {
		u->does = USE_READ | USE_LOOP;
		u->is_whole = true;
	} else if (parent->kind == NODE_FOR && is_first) {
		u->does = USE_LOOP;
	} else if (parent->kind == NODE_CALL && u->node->kind == NODE_MAP) {
		u->does = does_in_call(f, u, &u->is_whole);
	} else {
		u->does = USE_READ;
	}
}

static void add_opaque(struct finder *f, struct node *n)
{
	for (const struct token *t = n->first; t != n->last->next; t = t->next) {
		bool is_map = tok_is(t, "@");
		bool is_named = t != n->last && t->next->kind == TOK_IDENT && !t->next->space;
		struct use u = {.clause = f->clause,
				.node = n,
				.at = t,
				.does = USE_READ | USE_OPAQUE,
				.is_whole = true};
		if (is_map)
			u.name = is_named ? t->next->text : STR("");
		else if (t->kind == TOK_IDENT && t->text.p[0] == '$')
			u.name = t->text;
		else
			continue;
		add_use(f->uses->arena, is_map ? &f->uses->maps : variables_of(f->uses, f->clause),
			&u);
	}
}

/** From here on the name means the variable of @n, a `let` or loop. */
static void hide(struct finder *f, const struct node *n)
{
	struct str name = node_text(n->child);
	struct hidden h = {name, map_get(&f->lets, name)};
	vec_push(f->uses->arena, &f->hidden, h);
	map_put(f->uses->arena, &f->lets, name, (void *)(uintptr_t)n);
}

static void unhide(struct finder *f, size_t n)
{
	while (f->hidden.n > n) {
		const struct hidden *h = &f->hidden.v[--f->hidden.n];
		map_put(f->uses->arena, &f->lets, h->name, (void *)(uintptr_t)h->was);
	}
}

/** @is_given: it is in what a macro or an unknown function is given. */
static void find_uses(struct finder *f, struct node *n, bool is_given)
{
	struct use u = {.clause = f->clause, .node = n, .at = n->first};
	const struct node *clause = f->clause->node; // of a macro parameters stand for other maps
	bool is_parameter = clause->kind == NODE_MACRO && script_is_parameter(clause, n);
	if (n->kind == NODE_MAP && !is_parameter) {
		u.name = n->name ? n->name->text : STR("");
		classify(f, &u);
		add_use(f->uses->arena, &f->uses->maps, &u);
	} else if (n->kind == NODE_VARIABLE) {
		u.name = node_text(n);
		classify(f, &u);
		u.does |= is_given ? USE_GIVEN : 0;
		bool declares = (n->parent->kind == NODE_LET || n->parent->kind == NODE_FOR) &&
				n->parent->child == n;
		u.let = declares ? n->parent : map_get(&f->lets, u.name);
		add_use(f->uses->arena, variables_of(f->uses, f->clause), &u);
	} else if (n->kind == NODE_OPAQUE) {
		add_opaque(f, n);
	}
	size_t n_hidden = f->hidden.n;
	for (struct node *c = n->child; c; c = c->next) {
		find_uses(f, c, is_given || (n->kind == NODE_CALL && may_change(f->script, n, c)));
		if (n->kind == NODE_FOR && c == n->child && c->kind == NODE_VARIABLE)
			hide(f, n);
	}
	if (n->kind == NODE_FOR || n->kind == NODE_BLOCK)
		unhide(f, n_hidden);
	else if (n->kind == NODE_LET && n->child->kind == NODE_VARIABLE)
		hide(f, n);
}

void uses_find(struct arena *a, const struct script *s, struct uses *ret)
{
	struct finder f = {.uses = ret, .script = s};
	*ret = (struct uses){.arena = a};
	for (const struct node *n = s->program->child; n; n = n->next)
		if (n->kind == NODE_OPAQUE && n->is_changed)
			ret->is_cut = true;
		else
			ret->is_open |= n->kind == NODE_IMPORT || n->kind == NODE_OPAQUE;
	for (size_t i = 0; i < s->clauses.n; i++) {
		f.clause = s->clauses.v[i];
		for (struct node *n = f.clause->node->child; n; n = n->next)
			if (n->kind != NODE_ATTACH)
				find_uses(&f, n, false);
		unhide(&f, 0);
	}
}

const struct use *uses_of_map(const struct uses *u, struct str name)
{
	const struct used_name *n = map_get(&u->maps, name);
	return n ? n->first : NULL;
}

unsigned uses_do_with_map(const struct uses *u, struct str name)
{
	const struct used_name *n = map_get(&u->maps, name);
	return n ? n->does : 0;
}

const struct map *uses_variables(const struct uses *u, const struct script_clause *c)
{
	static const struct map none;
	const struct map *names = map_get_ptr(&u->variables, c);
	return names ? names : &none;
}

bool use_is_in(const struct use *u, enum provider_when when)
{
	const struct script_clause *c = u->clause;
	return c->attach.n &&
	       !vec_any(const struct script_attach, at, &c->attach, at->provider->when != when);
}
