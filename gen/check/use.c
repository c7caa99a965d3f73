// Maps that are read and never set, or set and never seen; variables that are set and never read.
#include "check/check_priv.h"

#include <limits.h>

#include "conf/enumconf.h"
#include "lang/vocabulary.h"
#include "sema/table.h"
#include "dialect/dialect.h"

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
	if ((all & (USE_EMPTIES | USE_DELETE)) && enumconf_find(b->found.listed, u->name))
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

// --- variables ---

/** `$ignore = delete(@m, key)`: what the call does is why it is there. */
static bool is_action(const struct node *value)
{
	enum word_gives gives = value && value->kind == NODE_CALL
				    ? vocabulary_word(node_text(value))->gives
				    : GIVES_NUMBER;
	return gives == GIVES_OTHER || gives == GIVES_AGGREGATION;
}

/** Those of macros, looked for once: 0.27 shares them with the clause that calls one (measured). */
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

static void check_variable(struct checker *k, const struct used_name *variable)
{
	const struct use *first = variable->first;
	const struct token *t = first->node->first;
	bool is_set = false;
	// Of one that is read and never set bpftrace speaks.
	if (!(first->does & USE_SET) || (variable->does & (USE_READ | USE_LOOP)) || t->from_macro)
		return;
	for (const struct use *u = first; u; u = u->next) {
		if (u->node->parent->kind == NODE_BINARY || is_action(u->value))
			return;
		is_set |= u->value != NULL;
	}
	if (map_get(of_macros(k), first->name) ||
	    check_count_hidden(k, t->loc.file, str_dup(k->b->arena, first->name)))
		return;
	check_report_at(k, t, "unused", DIAG_WARNING, STR_FMT " is %s", STR_ARG(first->name),
			is_set ? "set but never read" : "never used");
}

void check_variables(struct checker *k)
{
	const struct script_clause *c = k->clause->clause;
	const struct map *variables = uses_variables(&k->b->found.uses, c);
	if (c->node->kind != NODE_MACRO && c->node->kind != NODE_FUNCTION) // whose own are given
		for (struct map_entry *e = NULL; (e = map_next(variables, e));)
			check_variable(k, e->value);
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
