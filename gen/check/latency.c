// Maps that hold when something began, until it ends: @start[tid] = nsecs.
#include "check/check_priv.h"

#include "lang/print.h"
#include "lang/vocabulary.h"

/** nsecs alone, and not what is computed of it. */
static bool is_clock(const struct node *n)
{
	n = n->kind == NODE_GROUP ? n->child : n;
	return (n->kind == NODE_NAME || n->kind == NODE_CALL) &&
	       vocabulary_word(node_text(n))->effect == EFFECT_CLOCK;
}

/** A map of times: what is known of all its places. */
struct times {
	struct checker *k;
	const struct use *first;
	bool is_ended; // something is deleted from it, or it is cleared
};

/** Nothing but the time is put there, under a key, while the trace goes on. */
static bool gather(struct checker *k, const struct use *u, struct times *ret)
{
	bool is_set = false;
	*ret = (struct times){k, u, false};
	for (; u; u = u->next) {
		bool is_time = u->value && is_clock(u->value);
		bool is_zero =
		    u->value && u->value->kind == NODE_NUMBER && str_eqz(node_text(u->value), "0");
		bool is_end = is_zero || (u->does & (USE_DELETE | USE_EMPTIES));
		if ((u->does & USE_MAY_SET) &&
		    ((!is_time && !is_end) || !u->node->child || use_is_in(u, WHEN_BEGIN)))
			return false;
		is_set |= is_time;
		ret->is_ended |= is_end;
	}
	return is_set;
}

// --- what is subtracted ---

static bool is_subtracted(const struct checker *k, const struct use *u, struct str variable)
{
	const struct used_name *name =
	    map_get(uses_variables(&k->b->found.uses, u->clause), variable);
	for (u = name ? name->first : NULL; u; u = u->next)
		if (node_is(u->node->parent, NODE_BINARY, "-") && !u->node->next)
			return true;
	return false;
}

/** `nsecs - @start[tid]`, or the same by way of a variable. */
static bool is_measured(const struct checker *k, const struct use *u)
{
	const struct node *p = u->node->parent;
	if (!(u->does & USE_READ) || u->is_whole || !u->node->child)
		return false;
	if (node_is(p, NODE_BINARY, "-"))
		return p->child->next == u->node && is_clock(p->child);
	bool is_kept = (p->kind == NODE_ASSIGN || p->kind == NODE_LET) &&
		       p->child->kind == NODE_VARIABLE && p->last_child == u->node;
	return is_kept && is_subtracted(k, u, node_text(p->child));
}

static bool depends(const struct node *n)
{
	return n->kind == NODE_MAP || n->kind == NODE_VARIABLE || n->kind == NODE_CALL ||
	       n->kind == NODE_OPAQUE;
}

static bool tests(const struct node *n)
{
	bool is_test = n->kind == NODE_PREDICATE || n->kind == NODE_IF || n->kind == NODE_TERNARY ||
		       n->kind == NODE_WHILE || (node_operator(n) & OP_LOGIC);
	for (const struct node *c = is_test ? n->child : NULL; c; c = c->next)
		if (c->kind != NODE_BLOCK && node_find(c, depends))
			return true;
	return n->kind == NODE_FOR || n->kind == NODE_OPAQUE;
}

/** Does anything in the clause depend on a map or variable? Then it may be this one. */
static bool is_tested(struct checker *k, const struct use *u)
{
	enum { NO = 1, YES };
	if (!map_get_ptr(&k->tested, u->clause))
		map_put_ptr(k->arena, &k->tested, u->clause,
			    (void *)(uintptr_t)(node_find(u->clause->node, tests) ? YES : NO));
	return (uintptr_t)map_get_ptr(&k->tested, u->clause) == YES;
}

static void check_first(const struct times *t, const struct use *u)
{
	if (is_tested(t->k, u))
		return;
	const char *map = check_text(t->k, u->node);
	check_report_at(
	    t->k, u->node->first, "latency", DIAG_WARNING,
	    "%s is 0 if the operation began before the trace: test it first, as in /%s/", map, map);
}

/** Of a clause that only time starts, or that ends the trace, nobody expects that it deletes. */
static bool is_event(const struct use *u)
{
	const struct script_clause *c = u->clause;
	return c->attach.n && !vec_any(const struct script_attach, at, &c->attach,
				       at->provider->when > WHEN_COUNT);
}

/** Without an end the keys stay, and bpftrace prints them with the rest. */
static void check_left(const struct times *t, const struct use *u)
{
	const struct node *key = u->node->child;
	// As many as there are processors, or as are written in the script, are few.
	while (key && (node_is(key, NODE_NAME, "cpu") || key->kind == NODE_NUMBER ||
		       key->kind == NODE_STRING))
		key = key->next;
	if (t->is_ended || !is_event(u) || !key)
		return;
	for (const struct node *n = t->k->b->found.script.program->child; n; n = n->next)
		if (n->kind == NODE_MAP_TYPE && n->child->name &&
		    str_eq(node_text(n->child), u->name))
			return; // its size is limited
	check_report_at(t->k, u->node->first, "latency", DIAG_WARNING,
			"this stays in @" STR_FMT " and is printed at exit: add delete(%s)",
			STR_ARG(u->name), check_text(t->k, u->node));
}

// --- a time that begins where it ends ---

static struct str attach_text(const struct times *t, const struct use *u)
{
	const struct script_clause *c = u->clause;
	return c->attach.n == 1 ? print_text(t->k->b->arena, c->attach.v[0].node) : STR("");
}

/** Every event of the clause sets it: there is no condition around. */
static bool is_always_set(const struct use *u)
{
	const struct node *clause = u->clause->node;
	if (script_predicate(u->clause))
		return false;
	for (const struct node *n = clause->last_child->child; n; n = n->next)
		if (n->child == u->node->parent)
			return true;
	return false;
}

static void check_same_probe(const struct times *t, const struct use *u)
{
	const struct use *set = NULL, *before = t->first;
	for (const struct use *other = t->first; other; other = other->next) {
		if (other->value && set)
			return;
		if (other->value)
			set = other;
	}
	while (before != u && before != set)
		before = before->next;
	struct str here = attach_text(t, u);
	if (!set || before == u || set->clause == u->clause || !here.n ||
	    !str_eq(here, attach_text(t, set)) ||
	    !str_eq(print_text(t->k->b->arena, set->node), print_text(t->k->b->arena, u->node)) ||
	    !is_always_set(set)) // last: it looks through the clause
		return;
	check_report_at(t->k, u->node->first, "latency", DIAG_WARNING,
			"set by the same event: the difference measures no duration");
	diag_note(t->k->b->diag, tok_at(set->node->first), "here");
}

static void check_times(const struct times *t)
{
	bool is_said = false;
	for (const struct use *u = t->first; u && !is_said; u = u->next) {
		if (!is_measured(t->k, u))
			continue;
		unsigned before = t->k->b->diag->n_warnings + t->k->b->diag->n_errors;
		check_first(t, u);
		const struct use *set = t->first; // in the same clause
		while (set && !(set->clause == u->clause && (set->does & USE_MAY_SET)))
			set = set->next;
		if (set)
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

/** The first place that sets the map, if none does under the key of @u; or NULL. */
static const struct use *find_set(const struct use *u, struct str key)
{
	const struct use *set = NULL;
	for (; u; u = u->next) {
		if (!(u->does & USE_MAY_SET))
			continue;
		const struct token *its = context_key(u->node);
		if (!its || str_eq(its->text, key))
			return NULL;
		set = set ? set : u;
	}
	return set;
}

/** `@start[tid] = nsecs`, and then `@start[pid]`. */
static bool check_context(struct checker *k, const struct use *first, const struct use *u)
{
	const struct token *key = context_key(u->node);
	const struct use *set = key ? find_set(first, key->text) : NULL;
	if (!set)
		return false;
	check_report_at(k, key, "key", DIAG_WARNING,
			"@" STR_FMT " is keyed by " STR_FMT ", not " STR_FMT, STR_ARG(u->name),
			STR_ARG(context_key(set->node)->text), STR_ARG(key->text));
	diag_note(k->b->diag, tok_at(set->node->child->first), "set here");
	return true;
}

void check_latency(struct checker *k)
{
	const struct uses *uses = &k->b->found.uses;
	if (uses->is_open || uses->is_cut)
		return;
	for (struct map_entry *e = NULL; (e = map_next(&uses->maps, e));) {
		const struct used_name *map = e->value;
		struct times t;
		bool is_said = false;
		if (map->does & USE_OPAQUE)
			continue;
		if (!map_get(&k->meant, e->key) && gather(k, map->first, &t))
			check_times(&t);
		for (const struct use *u = map->first; u && !is_said; u = u->next)
			is_said = !(u->does & USE_MAY_SET) && check_context(k, map->first, u);
	}
}

// --- a time whose map is named after another unit: @ms = hist((nsecs - @start[tid]) / 1000) ---

static const struct unit {
	const char *name;
	const char *divisor; // of nanoseconds, for a remedy
	uint64_t nanoseconds;
	const char *words[6]; // what the names of maps have for it
} units[] = {
    {"nanoseconds", NULL, 1, {"ns", "nsec", "nsecs", "nanoseconds"}},
    {"microseconds", "1000", 1000, {"us", "usec", "usecs", "microseconds"}},
    {"milliseconds", "1000000", 1000000, {"ms", "msec", "msecs", "milliseconds"}},
    {"seconds", "1000000000", 1000000000, {"sec", "secs", "seconds"}},
};
enum { N_UNITS = sizeof(units) / sizeof(units[0]) };

/** The unit that the last word of a map's name is, as in @read_us; NULL: none. */
static const struct unit *unit_of_name(struct str name)
{
	while (str_find(name, '_') < name.n)
		name = str_from_offset(name, str_find(name, '_') + 1);
	for (size_t i = 0; i < N_UNITS; i++)
		if (str_is_any(name, units[i].words))
			return &units[i];
	return NULL;
}

/** `nsecs - x` */
static bool is_difference(const struct node *n)
{
	if (!node_is(n, NODE_BINARY, "-"))
		return false;
	const struct node *from = node_ungrouped(n->child), *what = node_ungrouped(from->next);
	return (node_is(from, NODE_NAME, "nsecs") || node_is(from, NODE_NAME, "elapsed")) &&
	       (what->kind == NODE_MAP || what->kind == NODE_VARIABLE);
}

/** The difference of two times, or a variable that holds such ones only. */
static bool is_time(const struct checker *k, const struct node *n)
{
	n = node_ungrouped(n);
	if (n->kind != NODE_VARIABLE)
		return is_difference(n);
	const struct used_name *name =
	    map_get(uses_variables(&k->b->found.uses, k->clause->clause), node_text(n));
	bool is_set = false;
	for (const struct use *u = name ? name->first : NULL; u; u = u->next) {
		if (!(u->does & USE_MAY_SET))
			continue;
		if (!u->value || !is_difference(node_ungrouped(u->value)))
			return false;
		is_set = true;
	}
	return is_set;
}

static bool read_divisor(struct checker *k, struct node *n, uint64_t *ret)
{
	static const char *const powers[] = {"1e0", "1e3", "1e6", "1e9"};
	struct constant c;
	for (size_t i = 0; i < N_UNITS; i++)
		if (n->kind == NODE_NUMBER && str_eqz(node_text(n), powers[i])) {
			*ret = units[i].nanoseconds;
			return true;
		}
	if (!check_constant(k, n, &c))
		return false;
	*ret = c.bits;
	return true;
}

/** The unit of a time that is divided by literals, (nsecs - @start[tid]) / 1000; NULL: not known. */
static const struct unit *unit_of_value(struct checker *k, struct node *n)
{
	uint64_t all = 1, by;
	for (n = node_ungrouped(n); node_is(n, NODE_BINARY, "/"); n = node_ungrouped(n->child)) {
		if (!read_divisor(k, node_ungrouped(n->child->next), &by) || by > UINT32_MAX ||
		    all > UINT32_MAX)
			return NULL;
		all *= by;
	}
	for (size_t i = 0; i < N_UNITS; i++)
		if (all == units[i].nanoseconds && is_time(k, n))
			return &units[i];
	return NULL;
}

void check_unit(struct checker *k, struct node *n)
{
	if (!node_is(n, NODE_ASSIGN, "=") || n->child->kind != NODE_MAP || !n->child->name)
		return;
	struct node *value = node_ungrouped(n->last_child);
	if (value->kind == NODE_CALL &&
	    vocabulary_word(value->name->text)->gives == GIVES_AGGREGATION)
		value = value->child;
	const struct unit *named = unit_of_name(n->child->name->text);
	const struct unit *is = named && value ? unit_of_value(k, value) : NULL;
	if (!is || is == named)
		return;
	check_report_at(k, value->first, "unit", DIAG_WARNING,
			"this is in %s, but the name @" STR_FMT " suggests %s%s%s", is->name,
			STR_ARG(n->child->name->text), named->name,
			named->divisor ? ": divide nanoseconds by " : ": do not divide it",
			named->divisor ? named->divisor : "");
}
