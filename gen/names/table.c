#include "names/table.h"

#include "bind/bind.h"
#include "bind/beginend.h"
#include "names/enumname.h"
#include "names/nameless.h"
#include "out/dialect.h"
#include "conf/enumconf.h"
#include "ctype/enumtab.h"
#include "lower/expr.h"

/** Only read, in all clauses of the program? And where first. */
static bool is_only_read(const struct bind *b, struct str map, struct token **ret_at)
{
	*ret_at = NULL;
	for (size_t i = 0; i < b->script.clauses.n; i++) {
		const struct script_clause *c = &b->script.clauses.v[i];
		for (size_t k = 0; k < c->maps.n; k++) {
			const struct script_map_use *use = &c->maps.v[k];
			if (!str_eq(use->name, map))
				continue;
			if (use->is_written)
				return false;
			if (!*ret_at)
				*ret_at = use->at;
		}
	}
	return *ret_at != NULL;
}

static bool is_word(const struct token *t)
{
	return t->kind == TOK_IDENT;
}

/** `enum MAP TYPE [PREFIX]`; TYPE may be written `enum x` and with C++ scopes, MAP with @. */
static bool parse_pragma(struct bind *b, const struct pp_pragma *p, struct bind_table *ret)
{
	const struct token *t = p->tokens->next; // behind `enum`
	struct diag_place place = tok_place(p->tokens);
	*ret = (struct bind_table){.pragma = t};
	if (tok_is(t, "@"))
		t = t->next;
	if (!is_word(t))
		return diag_error(b->diag, &place, "#pragma enum: expected MAP TYPE [PREFIX]");
	ret->map = t->text;
	t = t->next;
	if (tok_is(t, "enum"))
		t = t->next;
	if (!is_word(t))
		return diag_error(b->diag, &place,
				  "#pragma enum: expected a type after the map's name");
	ret->place = tok_place(t);
	struct strbuf type;
	strbuf_init(&type);
	strbuf_adds(&type, t->text);
	for (t = t->next; tok_is(t, ":") || tok_is(t, "::"); t = t->next) {
		strbuf_adds(&type, t->text);
		if (is_word(t->next)) {
			t = t->next;
			strbuf_adds(&type, t->text);
		}
	}
	ret->type = strbuf_take(&type, b->arena);
	struct strbuf prefixes;
	strbuf_init(&prefixes);
	for (; is_word(t) || tok_is(t, "|"); t = t->next)
		strbuf_adds(&prefixes, t->text);
	ret->prefix = strbuf_take(&prefixes, b->arena);
	if (t->kind != TOK_EOF) {
		place = tok_place(t);
		return diag_error(b->diag, &place, "#pragma enum: unexpected text after the type");
	}
	return true;
}

/** The clauses that read @map tell whose enum is meant, if units have different ones. */
static struct lookup *lookup_for(struct bind *b, struct str map)
{
	struct lookup *lk = bind_lookup(b);
	struct context *near = arena_new(b->arena, struct context);
	for (size_t i = 0; i < b->script.clauses.n; i++) {
		const struct script_clause *c = &b->script.clauses.v[i];
		const struct context *its = &b->clauses[i].near;
		bool reads = false;
		for (size_t k = 0; k < c->maps.n; k++)
			reads |= str_eq(c->maps.v[k].name, map);
		for (size_t k = 0; k < its->places.n && reads; k++)
			context_add(b->arena, near, its->places.v[k].src, its->places.v[k].addr);
	}
	dwtypes_ask_from(b->dwarf, near->places.n ? near : b->all_near);
	return lk;
}

static bool find_names(struct bind *b, struct bind_table *w)
{
	if (!w->is_sought) {
		w->is_found = enumtab_lookup(lookup_for(b, w->map), w->type, &w->names) ||
			      enumname_listed(b, w->type, &w->names);
		if (w->is_found)
			enumtab_strip(&w->names, w->prefix);
	}
	w->is_sought = true;
	return w->is_found;
}

const struct enumtab *table_names(struct bind *b, struct str name)
{
	for (size_t i = 0; i < b->tables.n && b->files; i++)
		if (str_eq(b->tables.v[i].map, name))
			return find_names(b, &b->tables.v[i]) ? &b->tables.v[i].names : NULL;
	return NULL;
}

struct search {
	struct str map;
	bool found;
};

static bool find_reader(void *ctx, struct node *n, struct node *parent)
{
	struct search *r = ctx;
	(void)parent;
	r->found |= n->kind == NODE_MAP && n->name && str_eq(n->name->text, r->map);
	return !r->found;
}

/** Not where all names that it has are given to what is printed behind the program. */
static bool is_needed(struct bind *b, struct str map)
{
	struct search r = {.map = map};
	node_walk(b->script.program, find_reader, &r);
	return r.found || !b->shapes;
}

/** A script may add names of its own to a table, and nothing else. */
static bool holds_names(struct bind *b, const struct script_map_use *use)
{
	const struct expr *e = use->value ? use->value->expr : NULL;
	bool may_be_text = use->value && (!e || e->kind == EXPR_OPEN || e->kind == EXPR_TEXT);
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

static bool add_table(struct bind *b, struct bind_table *w, struct code *begin, struct code *end)
{
	if (!find_names(b, w))
		return lookup_say_unknown(lookup_for(b, w->map), &w->place, "enum", w->type,
					  NAME_ENUM);
	if (!check_uses(b, w->map))
		return false;
	if (!is_needed(b, w->map))
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
	// An unknown 0 would print as nothing: see nameless.h.
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

static bool collect_pragmas(struct bind *b, struct map *named)
{
	const struct pp *pp = b->pp;
	bool good = true;
	for (size_t i = 0; i < pp->pragmas.n; i++) {
		struct bind_table w;
		if (!tok_is(pp->pragmas.v[i].tokens, "enum"))
			continue;
		if (!parse_pragma(b, &pp->pragmas.v[i], &w)) {
			good = false;
		} else if (!map_add(b->arena, named, w.map)) {
			good = diag_error(b->diag, &w.place,
					  "#pragma enum: map @" STR_FMT " already has a table",
					  STR_ARG(w.map));
		} else {
			vec_push(b->arena, &b->tables, w);
		}
	}
	return good;
}

static bool collect_conf(struct bind *b, struct map *named)
{
	b->listed = arena_new(b->arena, struct enumconf);
	if (b->conf && !enumconf_load(b->arena, b->diag, b->conf, b->listed))
		return false;
	for (size_t i = 0; i < b->listed->entries.n; i++) {
		const struct enumconf_entry *e = &b->listed->entries.v[i];
		struct token *at;
		if (!is_only_read(b, e->map, &at) || !map_add(b->arena, named, e->map))
			continue;
		vec_push(b->arena, &b->tables,
			 (struct bind_table){.map = e->map,
					     .type = e->type,
					     .prefix = e->prefix,
					     .place = tok_place(at)});
	}
	return true;
}

bool table_find_all(struct bind *b)
{
	struct map named = {0};
	return collect_pragmas(b, &named) && collect_conf(b, &named);
}

bool table_add_all(struct bind *b)
{
	struct map named = {0};
	for (size_t i = 0; i < b->tables.n; i++)
		map_add(b->arena, &named, b->tables.v[i].map);
	for (size_t i = 0; i < b->enum_tables.n; i++) {
		const struct bind_enum_table *t = &b->enum_tables.v[i];
		struct bind_table w = {.map = t->map, .type = t->type, .place = t->at};
		if (!map_add(b->arena, &named, t->map))
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

	struct code begin, end;
	code_init(&begin);
	code_init(&end);
	bool good = true;
	for (size_t i = 0; i < b->tables.n; i++)
		good &= add_table(b, &b->tables.v[i], &begin, &end);
	good = good && nameless_rewrite(b, &named);
	if (good && code_str(&begin).n) {
		beginend_add_begin(b, code_str(&begin));
		beginend_add_end(b, code_str(&end));
	}
	code_fini(&begin);
	code_fini(&end);
	return good;
}
