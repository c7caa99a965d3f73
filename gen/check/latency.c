// Maps that hold when something began, until it ends: @start[tid] = nsecs.
#include "check/check_priv.h"

#include "lang/print.h"

/** nsecs alone, and not what is computed of it. */
static bool is_clock(const struct node *n)
{
	n = n->kind == NODE_GROUP ? n->child : n;
	return (n->kind == NODE_NAME || n->kind == NODE_CALL) &&
	       vocabulary_word(node_text(n))->effect == EFFECT_CLOCK;
}

static bool is_zero(const struct node *n)
{
	return n->kind == NODE_NUMBER && str_eqz(node_text(n), "0");
}

/** What is known of a clause, found when it is first asked for. */
struct clause_facts {
	bool is_tested; // something in it depends on a map or variable
	struct arena *arena;
	struct map subtracted; // the variables that are
	struct map statements; // those without a condition around, by what they do
};

struct latency {
	struct checker *k;
	struct clause_facts **clauses; // of the script, NULL: not asked for
	struct map limited;	       // maps that are declared with a size
	struct map maps;	       // name -> struct times
};

/** What is known of all places of a map. */
struct times {
	struct checker *k;
	struct latency *all;
	const struct mapuse *first;
	struct str name;
	bool
	    is_only_time; // nothing but the time is put there, under a key, while the trace goes on
	bool is_ended;	  // something is deleted from it, or it is cleared; or it is set to 0
	bool is_deleted;  // the same without 0
	bool is_keyed_other; // some place sets it under a key that context_key() does not know
	const struct mapuse *set, *given; // the first place that does, and that gives a value
	bool is_given_again;
	struct map keys; // those of context_key() that it is set under
	struct map clauses_setting;
	bool is_key_said;
};

static const struct token *context_key(const struct node *map);

static void gather_use(struct times *t, const struct mapuse *u, bool *is_other)
{
	struct arena *a = t->k->b->arena;
	bool is_time = u->value && is_clock(u->value);
	bool is_deleted = u->is_deleted || u->is_cleared;
	bool is_end = is_deleted || (u->value && is_zero(u->value));
	t->is_only_time |= is_time;
	t->is_ended |= is_end;
	t->is_deleted |= is_deleted;
	t->is_given_again |= u->value && t->given;
	if (u->value && !t->given)
		t->given = u;
	if (!u->is_set)
		return;
	*is_other |= (!is_time && !is_end) || !u->node->child || mapuse_is_in(u, WHEN_BEGIN);
	map_add_u64(a, &t->clauses_setting, u->i);
	const struct token *key = u->is_opaque ? NULL : context_key(u->node);
	t->is_keyed_other |= !key;
	if (key)
		map_add(a, &t->keys, key->text);
	t->set = t->set ? t->set : u;
}

static struct times *gather(struct latency *all, const struct mapuse *u)
{
	struct times *t = arena_new(all->k->b->arena, struct times);
	bool is_other = false;
	*t = (struct times){.k = all->k, .all = all, .first = u, .name = u->name};
	for (; u; u = u->next)
		gather_use(t, u, &is_other);
	t->is_only_time &= !is_other;
	return t;
}

// --- what is subtracted ---

static bool find_subtracted(void *ctx, struct node *n, struct node *parent)
{
	struct clause_facts *f = ctx;
	(void)parent;
	if (node_is(n, NODE_BINARY, "-") && n->child->next->kind == NODE_VARIABLE)
		map_add(f->arena, &f->subtracted, node_text(n->child->next));
	return true;
}

static bool find_test(void *ctx, struct node *n, struct node *parent);

static const struct clause_facts *facts_of(const struct times *t, const struct mapuse *u)
{
	struct clause_facts *f = t->all->clauses[u->i];
	struct node *clause = u->clause->clause->node;
	if (f)
		return f;
	f = t->all->clauses[u->i] = arena_new(t->k->b->arena, struct clause_facts);
	f->arena = t->k->b->arena;
	node_walk(clause, find_subtracted, f);
	node_walk(clause, find_test, &f->is_tested);
	for (const struct node *n = clause->last_child->child; n; n = n->next)
		map_add_ptr(f->arena, &f->statements, n->child);
	return f;
}

/** `nsecs - @start[tid]`, or the same by way of a variable. */
static bool is_measured(const struct times *t, const struct mapuse *u)
{
	const struct node *p = u->parent;
	if (!u->is_read || u->is_whole || !u->node->child || !p)
		return false;
	if (node_is(p, NODE_BINARY, "-"))
		return p->child->next == u->node && is_clock(p->child);
	bool is_kept = (p->kind == NODE_ASSIGN || p->kind == NODE_LET) &&
		       p->child->kind == NODE_VARIABLE && p->last_child == u->node;
	return is_kept && map_get(&facts_of(t, u)->subtracted, node_text(p->child));
}

static bool depends(void *ctx, struct node *n, struct node *parent)
{
	bool *does = ctx;
	(void)parent;
	*does |= n->kind == NODE_MAP || n->kind == NODE_VARIABLE || n->kind == NODE_CALL ||
		 n->kind == NODE_OPAQUE;
	return !*does;
}

static bool find_test(void *ctx, struct node *n, struct node *parent)
{
	bool *is_tested = ctx;
	(void)parent;
	if (n->kind == NODE_PREDICATE || n->kind == NODE_IF || n->kind == NODE_TERNARY ||
	    n->kind == NODE_WHILE || node_is(n, NODE_BINARY, "&&") || node_is(n, NODE_BINARY, "||"))
		for (struct node *c = n->child; c; c = c->next)
			if (c->kind != NODE_BLOCK)
				node_walk(c, depends, is_tested);
	*is_tested |= n->kind == NODE_FOR || n->kind == NODE_OPAQUE;
	return !*is_tested;
}

static void check_first(const struct times *t, const struct mapuse *u)
{
	if (facts_of(t, u)->is_tested)
		return; // it may be this one
	struct diag_place at = tok_place(u->node->first);
	const char *map = check_text(t->k, u->node);
	t->k->good &= diag_check(t->k->b->diag, "latency", DIAG_WARNING, &at,
				 "%s is 0 for what began before the trace, and this is no time "
				 "then: test it, as in /%s/",
				 map, map);
}

/** Of a clause that only time starts, or that ends the trace, nobody expects that it deletes. */
static bool is_event(const struct mapuse *u)
{
	const struct script_clause *c = u->clause->clause;
	for (size_t i = 0; i < c->attach.n; i++)
		if (c->attach.v[i].provider->when > WHEN_COUNT)
			return false;
	return c->attach.n > 0;
}

static void find_limited(struct latency *all)
{
	for (const struct node *n = all->k->b->script.program->child; n; n = n->next)
		if (n->kind == NODE_MAP_TYPE && n->child->name)
			map_add(all->k->b->arena, &all->limited, node_text(n->child));
}

/** As many as there are processors, or as are written in the script. */
static bool has_few_keys(const struct node *map)
{
	for (const struct node *key = map->child; key; key = key->next)
		if (!node_is(key, NODE_NAME, "cpu") && key->kind != NODE_NUMBER &&
		    key->kind != NODE_STRING)
			return false;
	return true;
}

/** Without an end the keys stay, and bpftrace prints them with the rest. */
static void check_left(const struct times *t, const struct mapuse *u)
{
	if (t->is_ended || !is_event(u) || has_few_keys(u->node) ||
	    map_get(&t->all->limited, t->name))
		return;
	struct diag_place at = tok_place(u->node->first);
	t->k->good &=
	    diag_check(t->k->b->diag, "latency", DIAG_WARNING, &at,
		       "this stays in @" STR_FMT " and is printed at the end: add delete(%s)",
		       STR_ARG(t->name), check_text(t->k, u->node));
}

// --- a time that begins where it ends ---

static struct str attach_text(const struct times *t, const struct mapuse *u)
{
	const struct script_clause *c = u->clause->clause;
	return c->attach.n == 1 ? print_text(t->k->b->arena, c->attach.v[0].node) : STR("");
}

/** Every event of the clause sets it: there is no condition around. */
static bool is_always_set(const struct times *t, const struct mapuse *u)
{
	return !script_predicate(u->clause->clause) &&
	       map_get_ptr(&facts_of(t, u)->statements, u->parent);
}

static void check_same_probe(const struct times *t, const struct mapuse *u)
{
	const struct mapuse *set = t->given;
	struct str here = attach_text(t, u);
	if (!set || t->is_given_again || set->i >= u->i || !is_always_set(t, set) || !here.n ||
	    !str_eq(here, attach_text(t, set)) ||
	    !str_eq(print_text(t->k->b->arena, set->node), print_text(t->k->b->arena, u->node)))
		return;
	struct diag_place at = tok_place(u->node->first), there = tok_place(set->node->first);
	t->k->good &= diag_check(t->k->b->diag, "latency", DIAG_WARNING, &at,
				 "the same event has just set this: it is no time between two");
	diag_note(t->k->b->diag, &there, "here");
}

static void check_times(const struct times *t)
{
	bool is_said = false;
	for (const struct mapuse *u = t->first; u && !is_said; u = u->next) {
		if (!is_measured(t, u))
			continue;
		unsigned before = t->k->b->diag->n_warnings + t->k->b->diag->n_errors;
		check_first(t, u);
		if (map_get_u64(&t->clauses_setting, u->i))
			continue;
		check_left(t, u);
		check_same_probe(t, u);
		is_said = before != t->k->b->diag->n_warnings + t->k->b->diag->n_errors;
	}
}

// --- another key ---

/** What there is one of for each event, so that another one is another key; NULL: something else. */
static const struct token *context_key(const struct node *map)
{
	static const char *const names[] = {"pid", "tid", "cpu", "uid", "gid", NULL};
	const struct node *key = map->child;
	return key && !key->next && key->kind == NODE_NAME && tok_is_any(key->name, names)
		   ? key->name
		   : NULL;
}

static void say_key(struct checker *k, const struct mapuse *u, const struct mapuse *set,
		    const char *why)
{
	struct diag_place at = tok_place(u->node->child->first),
			  there = tok_place(set->node->child->first);
	k->good &= diag_check(k->b->diag, "key", DIAG_WARNING, &at, "%s", why);
	diag_note(k->b->diag, &there, "set here");
}

/** `@start[tid] = nsecs`, and then `@start[pid]`. */
static void check_context(struct times *t, const struct mapuse *u)
{
	const struct token *key = context_key(u->node);
	if (!key || !t->set || t->is_keyed_other || t->is_key_said || map_get(&t->keys, key->text))
		return;
	t->is_key_said = true;
	say_key(t->k, u, t->set,
		arena_printf(t->k->b->arena, "@" STR_FMT " has " STR_FMT " for a key, not " STR_FMT,
			     STR_ARG(u->name), STR_ARG(context_key(t->set->node)->text),
			     STR_ARG(key->text)));
}

// --- keys that never come again ---

static bool is_new_each_time(const struct node *key)
{
	return is_clock(key) || node_is(key, NODE_NAME, "rand");
}

static void check_growth(const struct times *t, const struct mapuse *u)
{
	const struct node *key = u->node->child;
	while (key && !is_new_each_time(key))
		key = key->next;
	if (!key || !u->is_set || t->is_deleted || mapuse_is_in(u, WHEN_BEGIN) ||
	    mapuse_is_in(u, WHEN_END))
		return;
	struct diag_place at = tok_place(key->first);
	t->k->good &=
	    diag_check(t->k->b->diag, "growth", DIAG_OFF, &at,
		       "@" STR_FMT " gets a new key with each event, and is full after 4096",
		       STR_ARG(u->name));
}

void check_latency(struct checker *k, const struct mapuses *all)
{
	struct arena *a = k->b->arena;
	struct latency l = {
	    .k = k, .clauses = arena_array(a, struct clause_facts *, k->b->script.clauses.n)};
	find_limited(&l);
	for (size_t i = 0; i < all->uses.n && !all->is_open; i++) {
		const struct mapuse *u = &all->uses.v[i];
		struct times *t = map_get(&l.maps, u->name);
		bool is_new = !t;
		if (is_new) {
			t = gather(&l, u);
			map_put(a, &l.maps, u->name, t);
		}
		if (is_new && t->is_only_time && !u->is_opaque && !map_get(&all->meant, u->name))
			check_times(t);
		if (!u->is_opaque)
			check_growth(t, u);
	}
	for (size_t i = 0; i < all->uses.n && !all->is_open; i++) {
		const struct mapuse *u = &all->uses.v[i];
		if (!u->is_opaque && !u->is_set)
			check_context(map_get(&l.maps, u->name), u);
	}
}
