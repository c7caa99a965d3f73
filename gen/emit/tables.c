// Tables of names, which BEGIN fills and END clears.
#include "ctype/enumtab.h"
#include "emit/emit_priv.h"
#include "names/enumname.h"
#include "names/table.h"
#include "out/dialect.h"

/** A script may add names of its own to a table, and nothing else. */
static bool holds_names(struct bind *b, const struct script_map_use *use)
{
	const struct expr *x = use->value ? use->value->expr : NULL;
	bool may_be_text = use->value && (!x || x->kind == EXPR_OPEN || x->kind == EXPR_TEXT);
	struct diag_place place = tok_place(use->at);
	return !use->is_set || may_be_text ||
	       diag_check(b->diag, "table", DIAG_ERROR, &place,
			  "@" STR_FMT " is a table of names: another map needs another name",
			  STR_ARG(use->name));
}

/** Does the script use @map as a table? */
static bool check_uses(struct bind *b, struct str map)
{
	for (size_t i = 0; i < b->script.clauses.n; i++) {
		const struct script_clause *c = &b->script.clauses.v[i];
		for (size_t k = 0; k < c->maps.n; k++)
			if (str_eq(c->maps.v[k].name, map) && !holds_names(b, &c->maps.v[k]))
				return false;
	}
	return true;
}

static bool add_table(struct emitter *e, struct bind_table *w, struct code *begin, struct code *end)
{
	struct bind *b = e->b;
	if (!table_find_names(b, w) || !check_uses(b, w->map))
		return false;
	// Not where all names that it has are given to what is printed behind the program.
	if (!map_get(&e->tables_used, w->map) && b->shapes)
		return true;
	struct enumtab tab = w->names;
	if (tab.n_items > dialect_max_table(b->version))
		diag_check(b->diag, "table", DIAG_WARNING, &w->place,
			   "enum " STR_FMT " has %zu names: bpftrace " DIALECT_FMT
			   " will be slow to start",
			   STR_ARG(tab.name), tab.n_items, DIALECT_ARG(b->version));
	// The keys of a map are of one type, which is signed from 0.24 on.
	if (tab.size == 8 && !dialect_mixes_signs(b->version))
		tab.is_signed = true;
	enumtab_print(begin, w->map, &tab, " ", " ");
	// An unknown 0 would print as nothing.
	if (!enumtab_get(&tab, 0)) {
		code_z(begin, " @");
		code_ident(begin, w->map);
		code_z(begin, "[0] = \"0\";");
	}
	code_z(end, " clear(@");
	code_ident(end, w->map);
	code_z(end, ");");
	return true;
}

bool tables_add(struct emitter *e)
{
	struct bind *b = e->b;
	struct code begin, end;
	bool good = true;
	for (size_t i = 0; i < b->enum_tables.n; i++) {
		const struct bind_enum_table *t = &b->enum_tables.v[i];
		struct bind_table w = {.map = t->map, .type = t->type, .place = t->at};
		map_add(e->arena, &e->tables_used, t->map);
		if (!map_add(e->arena, &e->tables, t->map))
			continue;
		if (t->means && enumtab_from_type(b->arena, t->means, &w.names))
			w.is_sought = w.is_found = true;
		vec_push(b->arena, &b->tables, w);
	}
	if (!b->tables.n)
		return true;
	if (!b->files)
		return diag_error(b->diag, &b->tables.v[0].place,
				  "the names of enum " STR_FMT
				  " are needed: give a PID, or a file with -x",
				  STR_ARG(b->tables.v[0].type));
	code_init(&begin);
	code_init(&end);
	for (size_t i = 0; i < b->tables.n; i++)
		good &= add_table(e, &b->tables.v[i], &begin, &end);
	if (good)
		name_warn_of_nameless(e);
	if (good && code_str(&begin).n) {
		clause_add_begin(e, str_copy(e->arena, code_str(&begin)));
		clause_add_end(e, str_copy(e->arena, code_str(&end)));
	}
	code_fini(&begin);
	code_fini(&end);
	return good;
}
