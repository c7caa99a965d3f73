// Variables that are read where they are not set, or set and never read. They belong to one clause,
// and from 0.22 on to one block of it.
#include "check/check_priv.h"

#include <limits.h>

#include "lang/vocabulary.h"
#include "dialect/dialect.h"

struct variable {
	struct str name;      // with its $
	const struct node *n; // where it is declared or first set
	const char *what;     // it holds, see check_what_it_is()
	bool is_set, is_read;
	bool is_given; // by a loop, a parameter, or a call for its own sake: it need not be read
	struct variable *outer; // of the same name, which this one hides
};

/** A variable that is read where there is none. */
struct lack {
	const struct node *n;
	bool is_gone; // a block that is over had one
};

struct scope {
	struct checker *k;
	VEC(struct variable *) all;
	struct map visible; // name -> struct variable
	struct map gone;    // names of those whose block is over
	struct map lacks;   // name -> struct lack
	struct map loose;   // names of which not all is known
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
		map_add(a, &s->gone, v->name);
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
	struct arena *a = s->k->b->arena;
	struct variable *v = find(s, node_text(n));
	if (v) {
		v->is_read = true;
	} else if (!map_get(&s->lacks, node_text(n))) {
		struct lack *lack = arena_new(a, struct lack);
		*lack = (struct lack){n, map_get(&s->gone, node_text(n))};
		map_put(a, &s->lacks, node_text(n), lack);
	}
}

/**
 * `$ignore = delete(@m, key)`: what the call does is why it is there. What no variable can hold
 * is values.c's.
 */
static bool is_action(const struct node *value)
{
	enum word_gives gives =
	    value->kind == NODE_CALL ? vocabulary_word(node_text(value))->gives : GIVES_NUMBER;
	return gives == GIVES_OTHER || gives == GIVES_AGGREGATION;
}

static void check_same_kind(struct scope *s, struct variable *v, const struct node *n,
			    const struct node *value)
{
	const char *is = check_what_it_is(s->k, value);
	if (!is || !v->what) {
		v->what = is ? is : v->what;
		return;
	}
	if (str_eqz(str_from(is), v->what))
		return;
	check_report_at(s->k, n->first, "mixed", DIAG_ERROR,
			STR_FMT " is assigned %s here and %s there", STR_ARG(v->name), is, v->what);
	check_note_at(s->k, v->n->first, "there");
}

static void look_at_set(struct scope *s, const struct node *n, const struct node *value)
{
	struct variable *v = find(s, node_text(n));
	if (!v)
		v = declare(s, n);
	v->is_set = true;
	v->is_given |= is_action(value);
	check_same_kind(s, v, n, value);
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
	const struct variable *before = find(s, node_text(name));
	if (before && dialect_has_blocks(s->k->b->given->version)) {
		check_report_at(s->k, name->first, "shadow", DIAG_ERROR,
				STR_FMT " is declared already: use another name",
				STR_ARG(node_text(name)));
		check_note_at(s->k, before->n->first, "the first one is here");
	}
	bool has_value = n->last_child != name && n->last_child->kind != NODE_TYPE &&
			 n->last_child->kind != NODE_TYPEOF;
	struct variable *v = declare(s, name);
	v->is_set = has_value;
	v->is_given = has_value && is_action(n->last_child);
	v->what = has_value ? check_what_it_is(s->k, n->last_child) : NULL;
}

static void look_at_for(struct scope *s, struct node *n)
{
	size_t from = s->all.n;
	struct node *name = n->child;
	for (struct node *c = name->next; c; c = c->next) {
		if (c->kind == NODE_BLOCK && name->kind == NODE_VARIABLE) {
			struct variable *v = declare(s, name);
			v->is_set = v->is_given = true;
		}
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
	} else if (n->kind == NODE_NAME) { // `start` where $start is meant, which known.c says
		struct str name = str_printf(s->k->b->arena, "$" STR_FMT, STR_ARG(node_text(n)));
		struct variable *v = vocabulary_is_word(node_text(n)) ? NULL : find(s, name);
		if (v)
			v->is_read = true;
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

// --- all clauses ---

/** Of the variables of all clauses. */
struct variables {
	struct map n_setting, n_wanting; /**< name -> in how many it is set; named and not set */
	struct map of_macros;
};

/** What clause @i does with its variable @name; 0: it has none. */
static unsigned does_with(struct checker *k, size_t i, struct str name)
{
	const struct used_name *v =
	    map_get(uses_variables(&k->b->found.uses, k->b->found.script.clauses.v[i]), name);
	return v ? v->does : 0;
}

bool check_has_variable(struct checker *k, struct str name)
{
	return does_with(k, k->i, name);
}

/** Those of all clauses, looked for once. */
static const struct variables *variables_of(struct checker *k)
{
	struct arena *a = k->b->arena;
	const struct script *s = &k->b->found.script;
	if (k->variables)
		return k->variables;
	struct variables *all = k->variables = arena_new(a, struct variables);
	for (size_t i = 0; i < s->clauses.n; i++) {
		const struct map *names = uses_variables(&k->b->found.uses, s->clauses.v[i]);
		bool is_macro = s->clauses.v[i]->node->kind == NODE_MACRO;
		for (struct map_entry *e = NULL; (e = map_next(names, e));) {
			bool sets = ((const struct used_name *)e->value)->does & USE_SET;
			struct map *counts = sets ? &all->n_setting : &all->n_wanting;
			uintptr_t n = (uintptr_t)map_get(counts, e->key);
			map_put(a, counts, e->key, (void *)(n + 1));
			if (is_macro)
				map_add(a, &all->of_macros, e->key);
		}
	}
	return all;
}

static struct str near_name(struct checker *k, struct str name)
{
	const struct map *names = uses_variables(&k->b->found.uses, k->clause->clause);
	struct str near = {0};
	unsigned best = UINT_MAX;
	for (struct map_entry *e = NULL; (e = map_next(names, e));)
		if ((does_with(k, k->i, e->key) & USE_SET) &&
		    str_is_nearer(str_from_offset(name, 1), str_from_offset(e->key, 1), &best))
			near = e->key;
	return near;
}

static void report_lack(struct scope *s, const struct lack *lack)
{
	const struct bind *b = s->k->b;
	struct str name = node_text(lack->n), bare = str_from_offset(name, 1);
	const char *why;
	if (lack->is_gone)
		why = " is set in a block and visible only there: set it before the block";
	else if (does_with(s->k, s->k->i, name) & USE_SET)
		why = " is read before it is set";
	else if (map_get(&variables_of(s->k)->n_setting, name))
		why = arena_printf(b->arena,
				   " is set in another clause, and variables are local to a "
				   "clause: use a map, such as @" STR_FMT "[tid]",
				   STR_ARG(bare));
	else
		why = " is read but never set";
	// Of an error that is not shown nobody needs to know more.
	struct str near = b->diag->n_errors > DIAG_MAX_ERRORS ? STR("") : near_name(s->k, name);
	check_report_at(s->k, lack->n->first, "unset", DIAG_ERROR, STR_FMT "%s", STR_ARG(name),
			why);
	if (!near.n || str_eq(near, name))
		return;
	diag_note(b->diag, NULL, "did you mean " STR_FMT "?", STR_ARG(near));
	map_add(b->arena, &s->loose, near); // what is wrong with it may follow from this
}

static void report_variable(struct scope *s, const struct variable *v)
{
	unsigned does = does_with(s->k, s->k->i, v->name);
	bool is_wanted_here =
	    does && !(does & USE_SET); // where another clause reads it, it is said there
	if (v->is_read && !v->is_set)
		check_report_at(s->k, v->n->first, "unset", DIAG_WARNING,
				STR_FMT " is read but never set", STR_ARG(v->name));
	else if (!v->is_read && !v->is_given && !v->n->first->from_macro &&
		 !check_count_hidden(s->k, v->n->first->loc.file,
				     str_dup(s->k->b->arena, v->name)) &&
		 (uintptr_t)map_get(&variables_of(s->k)->n_wanting, v->name) <= is_wanted_here)
		check_report_at(s->k, v->n->first, "unused", DIAG_WARNING, STR_FMT " is %s",
				STR_ARG(v->name), v->is_set ? "set but never read" : "never used");
}

/**
 * What is not understood, and what is given to a macro or has the name of a macro's own (0.27
 * shares them with the clause: measured), may be set and read there.
 */
static bool is_loose(const struct scope *s, struct str name)
{
	return (does_with(s->k, s->k->i, name) & (USE_GIVEN | USE_OPAQUE)) ||
	       map_get(&s->loose, name) || map_get(&variables_of(s->k)->of_macros, name);
}

void check_variables(struct checker *k)
{
	struct scope s = {.k = k};
	struct node *clause = k->clause->clause->node;
	if (clause->kind == NODE_MACRO)
		return;
	for (struct node *n = clause->child; n; n = n->next) {
		if (clause->kind == NODE_FUNCTION && n->kind == NODE_LET) {
			struct variable *v = declare(&s, n->child);
			v->is_set = v->is_given = true;
		} else if (n->kind != NODE_ATTACH) {
			look(&s, n, clause);
		}
	}
	for (struct map_entry *e = NULL; (e = map_next(&s.lacks, e));)
		if (!is_loose(&s, e->key))
			report_lack(&s, e->value);
	for (size_t i = 0; i < s.all.n; i++)
		if (!is_loose(&s, s.all.v[i]->name) && !map_get(&s.lacks, s.all.v[i]->name))
			report_variable(&s, s.all.v[i]);
}
