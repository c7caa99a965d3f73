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

/** A map of times: what is known of all its places. */
struct times {
	struct checker *k;
	const struct mapuses *all;
	struct str name;
	bool is_ended; // something is deleted from it, or it is cleared
};

/** Nothing but the time is put there, under a key, while the trace goes on. */
static bool gather(struct checker *k, const struct mapuses *all, struct str name, struct times *ret)
{
	bool is_set = false;
	*ret = (struct times){k, all, name, false};
	for (size_t i = 0; i < all->uses.n; i++) {
		const struct mapuse *u = &all->uses.v[i];
		if (!str_eq(u->name, name))
			continue;
		bool is_time = u->value && is_clock(u->value);
		bool is_end = u->is_deleted || u->is_cleared || (u->value && is_zero(u->value));
		if (u->is_set &&
		    ((!is_time && !is_end) || !u->node->child || mapuse_is_in(u, WHEN_BEGIN)))
			return false;
		is_set |= is_time;
		ret->is_ended |= is_end;
	}
	return is_set;
}

static bool is_set_in(const struct times *t, size_t i)
{
	for (size_t k = 0; k < t->all->uses.n; k++) {
		const struct mapuse *u = &t->all->uses.v[k];
		if (u->i == i && u->is_set && str_eq(u->name, t->name))
			return true;
	}
	return false;
}

// --- what is subtracted ---

struct search {
	struct str variable; // that holds the map's value
	bool is_found;
};

static bool is_subtracted(void *ctx, struct node *n, struct node *parent)
{
	struct search *s = ctx;
	(void)parent;
	if (node_is(n, NODE_BINARY, "-") && n->child->next->kind == NODE_VARIABLE &&
	    str_eq(node_text(n->child->next), s->variable))
		s->is_found = true;
	return true;
}

/** `nsecs - @start[tid]`, or the same by way of a variable. */
static bool is_measured(const struct mapuse *u)
{
	const struct node *p = u->parent;
	if (!u->is_read || u->is_whole || !u->node->child || !p)
		return false;
	if (node_is(p, NODE_BINARY, "-"))
		return p->child->next == u->node && is_clock(p->child);
	bool is_kept = (p->kind == NODE_ASSIGN || p->kind == NODE_LET) &&
		       p->child->kind == NODE_VARIABLE && p->last_child == u->node;
	struct search s = {.variable = is_kept ? node_text(p->child) : STR("")};
	if (is_kept)
		node_walk(u->clause->clause->node, is_subtracted, &s);
	return s.is_found;
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

/** Does anything in the clause depend on a map or variable? Then it may be this one. */
static bool is_tested(const struct mapuse *u)
{
	bool is_tested = false;
	node_walk(u->clause->clause->node, find_test, &is_tested);
	return is_tested;
}

static void check_first(const struct times *t, const struct mapuse *u)
{
	if (is_tested(u))
		return;
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

static bool is_limited(const struct bind *b, struct str name)
{
	for (const struct node *n = b->script.program->child; n; n = n->next)
		if (n->kind == NODE_MAP_TYPE && n->child->name && str_eq(node_text(n->child), name))
			return true;
	return false;
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
	if (t->is_ended || !is_event(u) || has_few_keys(u->node) || is_limited(t->k->b, t->name))
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
static bool is_always_set(const struct mapuse *u)
{
	const struct node *clause = u->clause->clause->node;
	if (script_predicate(u->clause->clause))
		return false;
	for (const struct node *n = clause->last_child->child; n; n = n->next)
		if (n->child == u->parent)
			return true;
	return false;
}

static void check_same_probe(const struct times *t, const struct mapuse *u)
{
	const struct mapuse *set = NULL;
	for (size_t i = 0; i < t->all->uses.n; i++) {
		const struct mapuse *other = &t->all->uses.v[i];
		if (other->value && str_eq(other->name, t->name) && set)
			return;
		if (other->value && str_eq(other->name, t->name))
			set = other;
	}
	struct str here = attach_text(t, u);
	if (!set || set->i >= u->i || !is_always_set(set) || !here.n ||
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
	for (size_t i = 0; i < t->all->uses.n; i++) {
		const struct mapuse *u = &t->all->uses.v[i];
		if (!str_eq(u->name, t->name) || !is_measured(u) || is_said)
			continue;
		unsigned before = t->k->b->diag->n_warnings + t->k->b->diag->n_errors;
		check_first(t, u);
		if (is_set_in(t, u->i))
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

/** The first place that sets @name under the key of @u, or, without one, any. */
static const struct mapuse *find_set(const struct mapuses *all, const struct mapuse *u,
				     struct str key)
{
	const struct mapuse *set = NULL;
	for (size_t i = 0; i < all->uses.n; i++) {
		const struct mapuse *other = &all->uses.v[i];
		if (!str_eq(other->name, u->name) || !other->is_set)
			continue;
		const struct token *its = other->is_opaque ? NULL : context_key(other->node);
		if (!its || str_eq(its->text, key))
			return NULL;
		set = set ? set : other;
	}
	return set;
}

/** `@start[tid] = nsecs`, and then `@start[pid]`. */
static bool check_context(struct checker *k, const struct mapuses *all, const struct mapuse *u)
{
	const struct token *key = context_key(u->node);
	const struct mapuse *set = key ? find_set(all, u, key->text) : NULL;
	if (!set)
		return false;
	say_key(k, u, set,
		arena_printf(k->b->arena, "@" STR_FMT " has " STR_FMT " for a key, not " STR_FMT,
			     STR_ARG(u->name), STR_ARG(context_key(set->node)->text),
			     STR_ARG(key->text)));
	return true;
}

// --- keys that never come again ---

static bool is_new_each_time(const struct node *key)
{
	return is_clock(key) || node_is(key, NODE_NAME, "rand");
}

static void check_growth(struct checker *k, const struct mapuses *all, const struct mapuse *u)
{
	const struct node *key = u->node->child;
	while (key && !is_new_each_time(key))
		key = key->next;
	if (!key || !u->is_set || mapuse_is_in(u, WHEN_BEGIN) || mapuse_is_in(u, WHEN_END))
		return;
	for (size_t i = 0; i < all->uses.n; i++) {
		const struct mapuse *other = &all->uses.v[i];
		if (str_eq(other->name, u->name) && (other->is_deleted || other->is_cleared))
			return;
	}
	struct diag_place at = tok_place(key->first);
	k->good &= diag_check(k->b->diag, "growth", DIAG_OFF, &at,
			      "@" STR_FMT " gets a new key with each event, and is full after 4096",
			      STR_ARG(u->name));
}

void check_latency(struct checker *k, const struct mapuses *all)
{
	struct map seen = {0};
	for (size_t i = 0; i < all->uses.n && !all->is_open; i++) {
		const struct mapuse *u = &all->uses.v[i];
		struct times t;
		if (u->is_opaque)
			continue;
		if (map_add(k->b->arena, &seen, u->name) && !map_get(&all->meant, u->name) &&
		    gather(k, all, u->name, &t))
			check_times(&t);
		check_growth(k, all, u);
	}
	seen = (struct map){0};
	for (size_t i = 0; i < all->uses.n && !all->is_open; i++) {
		const struct mapuse *u = &all->uses.v[i];
		if (!u->is_opaque && !u->is_set && !map_get(&seen, u->name) &&
		    check_context(k, all, u))
			map_add(k->b->arena, &seen, u->name);
	}
}
