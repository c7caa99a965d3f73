// Tables of names, which BEGIN fills and END clears.

#include "emit/emit_priv.h"
#include "sema/targettype.h"
#include "sema/table.h"
#include "dialect/dialect.h"

/** Reports uses of a table other than reading it and adding names. */
static bool check_uses(const struct bind *b, struct str map)
{
	for (const struct use *u = uses_of_map(&b->found.uses, map); u; u = u->next) {
		const struct expr *x = u->value ? u->value->expr : NULL;
		bool may_be_text = u->value && (!x || x->kind == EXPR_OPEN || x->kind == EXPR_TEXT);
		if ((u->does & USE_WRITES) && !may_be_text &&
		    !diag_finding(b->diag, "table", DIAG_ERROR, tok_at(u->at),
				  "@" STR_FMT
				  " is a table of names: another map needs another name",
				  STR_ARG(u->name)))
			return false;
	}
	return true;
}

static bool add_table(struct emitter *e, struct bind_table *w, struct code *begin, struct code *end)
{
	const struct bind *b = e->b;
	if (!table_find_names(b, w) || !check_uses(b, w->map))
		return false;
	// Not if all its names are added after bpftrace has printed the values, or bpftrace knows them.
	const struct defined_enum *def = map_get(&e->enums, w->map);
	if (!map_get(&e->tables_used, w->map) && (b->given->shapes || (def && def->is_possible)))
		return true;
	struct enumtab tab = w->names;
	if (tab.n_items > dialect_max_table(b->given->version))
		diag_finding(b->diag, "table", DIAG_WARNING, &w->place,
			     "enum " STR_FMT " has %zu names: bpftrace " DIALECT_FMT
			     " will be slow to start",
			     STR_ARG(tab.name), tab.n_items, DIALECT_ARG(b->given->version));
	// All keys of a map have one type, which is signed from 0.24 on.
	if (tab.size == 8 && !dialect_mixes_signs(b->given->version))
		tab.is_signed = true;
	// In a program to be read, one a line.
	bool is_read = !b->given->shapes;
	enumtab_print(begin, w->map, &tab, is_read ? "\n\t" : " ", is_read ? "" : " ");
	// An unknown 0 would print as nothing.
	if (!enumtab_get(&tab, 0)) {
		code_z(begin, is_read ? "\n\t@" : " @");
		code_ident(begin, w->map);
		code_z(begin, "[0] = \"0\";");
	}
	code_z(end, " clear(@");
	code_ident(end, w->map);
	code_z(end, ");");
	return true;
}

/** The names of @map, the table of an enum_name() or of the script, which then does nothing else with it. */
static const struct enumtab *names_of(struct emitter *e, struct str map, struct str *tag)
{
	const struct bind *b = e->b;
	const struct bind_table *t =
	    vec_find(const struct bind_table, one, &b->made->enum_tables, str_eq(one->map, map));
	*tag = map;
	if (!t)
		return b->found.uses.is_open || uses_do_with_map(&b->found.uses, map) != USE_READ
			   ? NULL
			   : table_names(b, map);
	const struct enumtab *names = t->means ? enumtab_of(e->arena, t->means) : NULL;
	if (names)
		*tag = names->name;
	return names;
}

/** Is @word unused, so that a definition can have it? */
static bool is_free(struct emitter *e, struct map *words, struct str word)
{
	return types_has_room(e, word) && !map_get(&e->words, word) &&
	       map_add(e->arena, words, word);
}

/** The enum for the names of @map; is_possible: bpftrace accepts it. */
static const struct defined_enum *define(struct emitter *e, struct str map)
{
	struct defined_enum *def = map_get(&e->enums, map);
	struct map words = {0};
	if (def)
		return def;
	def = arena_new(e->arena, struct defined_enum);
	map_put(e->arena, &e->enums, map, def);
	def->names = names_of(e, map, &def->tag);
	// A value below 0 without a name would be printed as a large one.
	if (!def->names || def->names->is_signed || !def->names->n_items ||
	    !is_free(e, &words, def->tag))
		return def;
	for (size_t i = 0; i < def->names->n_items; i++)
		if (!is_free(e, &words, def->names->items[i].text))
			return def;
	if (!closure_reserve(&e->types, def->tag))
		return def;
	for (struct map_entry *w = NULL; (w = map_next(&words, w));)
		map_add(e->arena, &e->words, w->key);
	vec_push(e->arena, &e->defined, def);
	def->is_possible = true;
	return def;
}

bool tables_cast(struct emitter *e, const struct name_lookup *name, struct safe_word *tag)
{
	const struct expr *x = name->key->expr;
	bool is_certain = x && (x->sign == SIGN_NONE || x->sign == SIGN_UNSIGNED);
	// A number that is no enumerator would be an error.
	if (!is_certain || node_ungrouped(name->key)->kind == NODE_NUMBER ||
	    !dialect_names_enums(e->b->given->version) || e->makes_records)
		return false;
	const struct defined_enum *def = define(e, name->map);
	return def->is_possible && word_take(def->tag, ALPHABET_WORD, tag);
}

void tables_define(struct emitter *e, struct token **program)
{
	struct code c = {0};
	for (size_t i = 0; i < e->defined.n; i++) {
		const struct enumtab *tab = e->defined.v[i]->names;
		code_z(&c, "enum ");
		code_ident(&c, e->defined.v[i]->tag);
		code_z(&c, " {\n");
		for (size_t k = 0; k < tab->n_items; k++) {
			code_z(&c, "\t");
			code_ident(&c, tab->items[k].text);
			code_f(&c, " = %" PRIu64 ",\n", (uint64_t)tab->items[k].value);
		}
		code_z(&c, "};\n");
	}
	types_prepend(e, program, &c);
	code_fini(&c);
}

bool tables_add(struct emitter *e)
{
	const struct bind *b = e->b;
	struct code begin = {0}, end = {0};
	bool good = true;
	for (size_t i = 0; i < b->found.tables.n; i++)
		vec_push(b->arena, &b->made->tables, b->found.tables.v[i]);
	vec_each(const struct bind_table, t, &b->made->enum_tables) {
		struct bind_table w = *t;
		if (!map_get(&e->tables_used, t->map) || !map_add(e->arena, &e->tables, t->map))
			continue;
		if (t->means && enumtab_from_type(b->arena, t->means, &w.names))
			w.is_sought = w.is_found = true;
		vec_push(b->arena, &b->made->tables, w);
	}
	if (!b->made->tables.n)
		return true;
	if (!b->given->files)
		return diag_error(b->diag, &b->made->tables.v[0].place,
				  "the names of enum " STR_FMT
				  " are needed: give a PID, or a file with -x",
				  STR_ARG(b->made->tables.v[0].type));
	for (size_t i = 0; i < b->made->tables.n; i++)
		good &= add_table(e, &b->made->tables.v[i], &begin, &end);
	if (good)
		name_warn_of_unnamed(e);
	if (good && code_str(&begin).n) {
		clause_add_begin(e, str_copy(e->arena, code_str(&begin)));
		clause_add_end(e, str_copy(e->arena, code_str(&end)));
	}
	code_fini(&begin);
	code_fini(&end);
	return good;
}
