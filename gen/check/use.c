// Maps that are read and never set, and tables of names that nothing uses.
#include "check/check_priv.h"

#include "conf/enumconf.h"
#include "sema/table.h"
#include "dialect/dialect.h"

/** `@name`, for messages. */
static const char *map_text(struct checker *k, struct str name)
{
	return arena_printf(k->b->arena, "@" STR_FMT, STR_ARG(name));
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
	struct diag_place at = tok_place(u->node->first); // the @, and the name
	at.len = (unsigned)u->name.n + 1;
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

static void check_table(struct checker *k, const struct bind_table *w)
{
	const struct token *name = w->pragma;
	bool has_clauses = false; // without: tables for many scripts
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

void check_use(struct checker *k)
{
	const struct bind *b = k->b;
	if (b->found.uses.is_open || b->found.uses.is_cut)
		return;
	for (struct map_entry *e = NULL; (e = map_next(&b->found.uses.maps, e));) {
		const struct used_name *map = e->value;
		if (!(map->does & (USE_OPAQUE | USE_MAY_SET)) &&
		    !check_table_of(k, map->first->name))
			report_unset(k, map->first, map->does);
	}
	for (size_t i = 0; i < b->found.tables.n; i++)
		check_table(k, &b->found.tables.v[i]);
}
