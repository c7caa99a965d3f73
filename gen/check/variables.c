// Variables that are set and never read. They belong to one clause, and from 0.22 on to one block of it.
// Of one that is read and never set bpftrace speaks.
#include "check/check_priv.h"

#include "lang/vocabulary.h"
#include "dialect/dialect.h"

struct variable {
	struct str name;      // with its $
	const struct node *n; // where it is declared or first set
	bool is_set, is_read;
	bool is_given; // by a loop, a parameter, or a call for its own sake: it need not be read
	struct variable *outer; // of the same name, which this one hides
};

struct scope {
	struct checker *k;
	VEC(struct variable *) all;
	struct map visible; // name -> struct variable
	struct map lost;    // names that are read where there is none
};

static void look(struct scope *s, struct node *n, const struct node *parent);

static struct variable *find(const struct scope *s, struct str name)
{
	return map_get(&s->visible, name);
}

static struct variable *declare(struct scope *s, const struct node *n)
{
	struct arena *a = s->k->b->arena;
	struct variable *v = arena_new(a, struct variable);
	*v = (struct variable){.name = node_text(n), .n = n, .outer = find(s, node_text(n))};
	vec_push(a, &s->all, v);
	map_put(a, &s->visible, v->name, v);
	return v;
}

/** Those that were declared from @from on are no more. */
static void end_block(struct scope *s, size_t from)
{
	struct arena *a = s->k->b->arena;
	for (size_t i = s->all.n; i-- > from && dialect_has_blocks(s->k->b->given->version);) {
		struct variable *v = s->all.v[i];
		if (find(s, v->name) != v)
			continue; // its own block has ended before
		if (v->outer)
			map_put(a, &s->visible, v->name, v->outer);
		else
			map_remove(&s->visible, v->name);
	}
}

static void look_at_children(struct scope *s, struct node *n)
{
	for (struct node *c = n->child; c; c = c->next)
		look(s, c, n);
}

static void look_at_read(struct scope *s, const struct node *n)
{
	struct variable *v = find(s, node_text(n));
	if (v)
		v->is_read = true;
	else
		map_add(s->k->b->arena, &s->lost, node_text(n));
}

/** `$ignore = delete(@m, key)`: what the call does is why it is there. */
static bool is_action(const struct node *value)
{
	enum word_gives gives =
	    value->kind == NODE_CALL ? vocabulary_word(node_text(value))->gives : GIVES_NUMBER;
	return gives == GIVES_OTHER || gives == GIVES_AGGREGATION;
}

static void look_at_set(struct scope *s, const struct node *n, const struct node *value)
{
	struct variable *v = find(s, node_text(n));
	if (!v)
		v = declare(s, n);
	v->is_set = true;
	v->is_given |= is_action(value);
}

static void look_at_let(struct scope *s, struct node *n)
{
	struct node *name = n->child;
	if (name->kind != NODE_VARIABLE) {
		look_at_children(s, n);
		return;
	}
	for (struct node *c = name->next; c; c = c->next)
		look(s, c, n);
	struct variable *v = declare(s, name);
	v->is_set = n->last_child != name && n->last_child->kind != NODE_TYPE &&
		    n->last_child->kind != NODE_TYPEOF;
	v->is_given = v->is_set && is_action(n->last_child);
}

static void look_at_for(struct scope *s, struct node *n)
{
	size_t from = s->all.n;
	struct node *name = n->child;
	for (struct node *c = name->next; c; c = c->next) {
		if (c->kind == NODE_BLOCK && name->kind == NODE_VARIABLE)
			declare(s, name)->is_given = true;
		look(s, c, n);
	}
	end_block(s, from);
}

/** `$x++;` and `$x += 1;` read what they set, but nobody sees it. */
static void look_at_step(struct scope *s, struct node *n, const struct node *parent)
{
	struct variable *v = find(s, node_text(n->child));
	if (!v || !parent || parent->kind != NODE_EXPRESSION)
		look_at_read(s, n->child);
	for (struct node *c = n->child->next; c; c = c->next)
		look(s, c, n);
}

static void look(struct scope *s, struct node *n, const struct node *parent)
{
	bool is_step = node_is_step(n) || (n->kind == NODE_ASSIGN && !tok_is(n->name, "="));
	if (n->kind == NODE_VARIABLE) {
		look_at_read(s, n);
	} else if (n->kind == NODE_LET) {
		look_at_let(s, n);
	} else if (n->kind == NODE_FOR) {
		look_at_for(s, n);
	} else if (n->kind == NODE_BLOCK) {
		size_t from = s->all.n;
		look_at_children(s, n);
		end_block(s, from);
	} else if (is_step && n->child->kind == NODE_VARIABLE) {
		look_at_step(s, n, parent);
	} else if (n->kind == NODE_ASSIGN && n->child->kind == NODE_VARIABLE) {
		look(s, n->child->next, n);
		look_at_set(s, n->child, n->child->next);
	} else {
		look_at_children(s, n);
	}
}

/** The variables that macros have, looked for once. */
static const struct map *of_macros(struct checker *k)
{
	const struct script *s = &k->b->found.script;
	if (k->of_macros)
		return k->of_macros;
	k->of_macros = arena_new(k->b->arena, struct map);
	for (size_t i = 0; i < s->clauses.n; i++) {
		const struct map *names = s->clauses.v[i]->node->kind == NODE_MACRO
					      ? uses_variables(&k->b->found.uses, s->clauses.v[i])
					      : NULL;
		for (struct map_entry *e = NULL; names && (e = map_next(names, e));)
			map_add(k->b->arena, k->of_macros, e->key);
	}
	return k->of_macros;
}

/**
 * What is not understood, and what is given to a macro or has the name of a macro's own (0.27
 * shares them with the clause: measured), may be read there.
 */
static bool is_loose(struct scope *s, struct str name)
{
	const struct used_name *v =
	    map_get(uses_variables(&s->k->b->found.uses, s->k->clause->clause), name);
	return (v && (v->does & (USE_GIVEN | USE_OPAQUE))) || map_get(&s->lost, name) ||
	       map_get(of_macros(s->k), name);
}

static void check_variable(struct scope *s, const struct variable *v)
{
	if (v->is_read || v->is_given || v->n->first->from_macro || is_loose(s, v->name) ||
	    check_count_hidden(s->k, v->n->first->loc.file, str_dup(s->k->b->arena, v->name)))
		return;
	check_report_at(s->k, v->n->first, "unused", DIAG_WARNING, STR_FMT " is %s",
			STR_ARG(v->name), v->is_set ? "set but never read" : "never used");
}

void check_variables(struct checker *k)
{
	struct scope s = {.k = k};
	struct node *clause = k->clause->clause->node;
	if (clause->kind == NODE_MACRO)
		return;
	for (struct node *n = clause->child; n; n = n->next) {
		if (clause->kind == NODE_FUNCTION && n->kind == NODE_LET)
			declare(&s, n->child)->is_given = true;
		else if (n->kind != NODE_ATTACH)
			look(&s, n, clause);
	}
	for (size_t i = 0; i < s.all.n; i++)
		check_variable(&s, s.all.v[i]);
}
