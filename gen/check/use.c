// Maps that are read and never set, set and never seen, or used with different keys.
#include "check/check_priv.h"

#include <limits.h>

#include "conf/enumconf.h"
#include "sema/table.h"
#include "dialect/dialect.h"

static bool is_listed(const struct bind *b, struct str name)
{
	for (size_t i = 0; i < b->found.listed->entries.n; i++)
		if (str_eq(b->found.listed->entries.v[i].map, name))
			return true;
	return false;
}

/** `@name`, for messages. */
static const char *map_text(struct checker *k, struct str name)
{
	return arena_printf(k->b->arena, "@" STR_FMT, STR_ARG(name));
}

/** Of the @ and the name. */
static struct diag_place place_of(const struct use *u)
{
	struct diag_place at = tok_place(u->node->first);
	at.len = (unsigned)u->name.n + 1;
	return at;
}

/** The map most like @name that is set or filled; empty: none. */
static struct str near_map(const struct bind *b, struct str name)
{
	struct str near = {0};
	unsigned best = UINT_MAX;
	for (struct map_entry *e = NULL; (e = map_next(&b->found.uses.maps, e));)
		if ((uses_do_with_map(&b->found.uses, e->key) & USE_MAY_SET) &&
		    str_is_nearer(name, e->key, &best))
			near = e->key;
	for (size_t i = 0; i < b->found.tables.n; i++)
		if (str_is_nearer(name, b->found.tables.v[i].map, &best))
			near = b->found.tables.v[i].map;
	for (size_t i = 0; i < b->found.listed->entries.n; i++)
		if (str_is_nearer(name, b->found.listed->entries.v[i].map, &best))
			near = b->found.listed->entries.v[i].map;
	return near;
}

/** @u is the first one of a map that nothing sets. */
static void report_unset(struct checker *k, const struct use *u, unsigned all)
{
	const struct bind *b = k->b;
	struct diag_place at = place_of(u);
	const char *verb = u->does & USE_READ	   ? "read"
			   : u->does & USE_EMPTIES ? "cleared"
						   : "deleted from";
	// What #if leaves out may set it: bpftrace from 0.24 on takes it for 0 then.
	bool is_taken = dialect_reads_unset_maps(b->given->version) && (u->does & USE_READ) &&
			!u->is_whole &&
			check_count_hidden(k, u->node->first->loc.file, map_text(k, u->name));
	// Of an error that is not shown nobody needs to know more.
	bool is_shown = b->diag->n_errors <= DIAG_MAX_ERRORS;
	struct str near = is_shown ? near_map(b, u->name) : STR("");
	k->good &= diag_finding(b->diag, "unset", is_taken ? DIAG_WARNING : DIAG_ERROR, &at,
				"%s is %s but never set", map_text(k, u->name), verb);
	if ((all & (USE_EMPTIES | USE_DELETE)) && is_listed(b, u->name))
		diag_note(
		    b->diag, NULL,
		    "btgen would fill it with names, as listed in its enum table, if the script "
		    "only read it");
	else if (near.n && !str_eq(near, u->name)) {
		diag_note(b->diag, NULL, "did you mean @" STR_FMT "?", STR_ARG(near));
		map_add(b->arena, &k->meant, near);
	}
}

/** Nobody sees it: not in the script, nor at its end. */
static void check_unused(struct checker *k, const struct use *u, unsigned all)
{
	const struct bind *b = k->b;
	const struct use *set = NULL, *cleared = NULL;
	for (; u; u = u->next) {
		if ((u->does & USE_MAY_SET) && !set)
			set = u;
		if ((u->does & USE_EMPTIES) && use_is_in(u, WHEN_END) && !cleared)
			cleared = u;
	}
	if (!set || (all & USE_READ) || !cleared)
		return; // bpftrace prints it
	const char *word = map_text(k, set->name);
	if (check_count_hidden(k, set->node->first->loc.file, word))
		return;
	struct diag_place at = place_of(set), there = place_of(cleared);
	k->good &=
	    diag_finding(b->diag, "unused", DIAG_WARNING, &at, "%s is set but never read", word);
	diag_note(b->diag, &there, "without this bpftrace would print it at exit");
}

// --- keys ---

/** How many values make a key of @map; 0 when that is not certain: one may be a whole tuple. */
static unsigned count_keys(struct checker *k, const struct node *map)
{
	unsigned n = 0;
	for (const struct node *c = map->child; c; c = c->next)
		n++;
	const struct node *only = n == 1 ? node_ungrouped(map->child) : NULL;
	if (only && only->kind == NODE_TUPLE) {
		for (n = 0, only = only->child; only; only = only->next)
			n++;
		return n;
	}
	return only && !check_what_it_is(k, only) ? 0 : n;
}

static const char *key_words(struct checker *k, const struct node *map)
{
	unsigned n = count_keys(k, map);
	if (!map->child)
		return "without a key";
	return n > 1 ? arena_printf(k->b->arena, "with a key of %u values", n) : "with a key";
}

/** Why bpftrace refuses a map that is used as @a and as @u; NULL: it may not. */
static const char *why_not(struct checker *k, const struct node *a, const struct node *u)
{
	unsigned n = count_keys(k, a), m = count_keys(k, u);
	if (!a->child != !u->child || (n && m && n != m))
		return arena_printf(k->b->arena, "is used %s here, and %s there", key_words(k, u),
				    key_words(k, a));
	const struct node *x = a->child, *y = u->child;
	for (; x && y && n == m; x = x->next, y = y->next) {
		const char *is = check_what_it_is(k, y), *was = check_what_it_is(k, x);
		if (is && was && !str_eqz(str_from(is), was))
			return arena_printf(k->b->arena, "is keyed by %s here and by %s there", is,
					    was);
	}
	return NULL;
}

/** The first place of a map settles its keys. */
static void check_keys(struct checker *k, const struct use *u)
{
	const struct bind *b = k->b;
	const struct use *first = NULL;
	for (; u; u = u->next) {
		if (u->is_whole)
			continue;
		// Of a format that is given the map without the key that it needs format.c says so.
		bool is_said = u->parent->kind == NODE_CALL && check_lacks_key(k, u->node) &&
			       vocabulary_word(node_text(u->parent))->takes == TAKES_FORMAT;
		if (is_said)
			continue;
		const char *why = first ? why_not(k, first->node, u->node) : NULL;
		if (!first)
			first = u;
		if (!why)
			continue;
		struct diag_place at = place_of(u), there = place_of(first);
		k->good &= diag_finding(b->diag, "key", DIAG_ERROR, &at, "%s %s",
					map_text(k, u->name), why);
		diag_note(b->diag, &there, "there");
		return;
	}
}

// --- values ---

/** All that is put in it must be of one kind. */
static void check_values_of(struct checker *k, const struct use *u)
{
	const struct use *first = NULL;
	const char *was = NULL;
	for (; u; u = u->next) {
		if (!(u->does & (USE_SET | USE_ADD)))
			continue;
		const char *is =
		    u->value && !(u->does & USE_ADD) ? check_what_it_is(k, u->value) : "a number";
		if (!is || (was && str_eqz(str_from(is), was)))
			continue;
		if (!was) {
			was = is;
			first = u;
			continue;
		}
		struct diag_place at = place_of(u), there = place_of(first);
		k->good &= diag_finding(k->b->diag, "mixed", DIAG_ERROR, &at,
					"%s is assigned %s here and %s there", map_text(k, u->name),
					is, was);
		diag_note(k->b->diag, &there, "there");
		return;
	}
}

// --- tables ---

static void check_table(struct checker *k, const struct bind_table *w)
{
	const struct token *name = w->pragma;
	bool has_clauses =
	    false; // a file without, of tables for many scripts, may have more than one needs
	for (size_t i = 0; name && i < k->b->found.script.clauses.n; i++)
		has_clauses |=
		    k->b->found.script.clauses.v[i]->node->first->loc.file == name->loc.file;
	if (!has_clauses)
		return;
	const char *word = map_text(k, w->map);
	bool has_at = tok_is(name, "@");
	if (check_count_hidden(k, name->loc.file, word) > has_at)
		return;
	if (uses_of_map(&k->b->found.uses, w->map) || map_get(&k->meant, w->map))
		return;
	check_report_at(k, has_at ? name->next : name, "table", DIAG_WARNING,
			"the names of %s are never used", word);
}

static void check_map(struct checker *k, const struct used_name *map)
{
	const struct use *first = map->first;
	if (map->does & USE_OPAQUE)
		return;
	if (!(map->does & USE_MAY_SET) && !check_table_of(k, first->name))
		report_unset(k, first, map->does);
	check_unused(k, first, map->does);
	check_keys(k, first);
	check_values_of(k, first);
}

void check_use(struct checker *k)
{
	const struct bind *b = k->b;
	if (b->found.uses.is_open || b->found.uses.is_cut)
		return;
	for (struct map_entry *e = NULL; (e = map_next(&b->found.uses.maps, e));)
		check_map(k, e->value);
	for (size_t i = 0; i < b->found.tables.n; i++)
		check_table(k, &b->found.tables.v[i]);
}
