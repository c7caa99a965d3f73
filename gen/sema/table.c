#include "sema/table.h"

#include "conf/enumconf.h"

/** `enum MAP TYPE [PREFIX]`; TYPE may be written `enum x` and with C++ scopes, MAP with @. */
static bool parse_pragma(const struct bind *b, const struct pp_pragma *p, struct bind_table *ret)
{
	const struct token *t = p->tokens->next; // after `enum`
	struct diag_place place = tok_place(p->tokens);
	*ret = (struct bind_table){.pragma = t};
	if (tok_is(t, "@"))
		t = t->next;
	if (t->kind != TOK_IDENT)
		return diag_error(b->diag, &place, "#pragma enum: expected MAP TYPE [PREFIX]");
	ret->map = t->text;
	t = t->next;
	if (tok_is(t, "enum"))
		t = t->next;
	if (t->kind != TOK_IDENT)
		return diag_error(b->diag, &place,
				  "#pragma enum: expected a type after the map's name");
	ret->place = tok_place(t);
	struct strbuf type = {0};
	strbuf_adds(&type, t->text);
	for (t = t->next; tok_is(t, ":") || tok_is(t, "::"); t = t->next) {
		strbuf_adds(&type, t->text);
		if (t->next->kind == TOK_IDENT) {
			t = t->next;
			strbuf_adds(&type, t->text);
		}
	}
	ret->type = strbuf_take(&type, b->arena);
	struct strbuf prefixes = {0};
	for (; t->kind == TOK_IDENT || tok_is(t, "|"); t = t->next)
		strbuf_adds(&prefixes, t->text);
	ret->prefix = strbuf_take(&prefixes, b->arena);
	if (t->kind != TOK_EOF) {
		place = tok_place(t);
		return diag_error(b->diag, &place, "#pragma enum: unexpected text after the type");
	}
	return true;
}

/** If units have different enums of that name, the clauses that read @map decide. */
static struct lookup *lookup_for(const struct bind *b, struct str map)
{
	struct lookup *lk = bind_lookup(b);
	struct context *near = arena_new(b->arena, struct context);
	for (size_t i = 0; i < b->found.script.clauses.n; i++) {
		const struct context *its = &b->found.clauses[i]->near;
		bool reads = false;
		for (const struct use *u = uses_of_map(&b->found.uses, map); u; u = u->next)
			reads |= u->clause == b->found.script.clauses.v[i];
		for (size_t k = 0; k < its->places.n && reads; k++)
			context_add(b->arena, near, &its->places.v[k]);
	}
	b->cache->dwarf->context = near->places.n ? near : b->cache->all_near;
	return lk;
}

static bool find_names(const struct bind *b, struct bind_table *w)
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

const struct enumtab *table_names(const struct bind *b, struct str name)
{
	for (size_t i = 0; i < b->found.tables.n && b->given->files; i++)
		if (str_eq(b->found.tables.v[i].map, name))
			return find_names(b, &b->found.tables.v[i]) ? &b->found.tables.v[i].names
								    : NULL;
	return NULL;
}

static bool collect_pragmas(struct bind *b, struct map *named)
{
	const struct pp *pp = b->found.pp;
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
			vec_push(b->arena, &b->found.tables, w);
		}
	}
	return good;
}

static bool collect_conf(struct bind *b, struct map *named)
{
	b->found.listed = arena_new(b->arena, struct enumconf);
	if (b->given->conf && !enumconf_load(b->arena, b->diag, b->given->conf, b->found.listed))
		return false;
	vec_each(const struct enumconf_entry, e, &b->found.listed->entries) {
		const struct use *u = uses_of_map(&b->found.uses, e->map);
		unsigned does = uses_do_with_map(&b->found.uses, e->map);
		if (!u || (does & (USE_WRITES | USE_EMPTIES | USE_DELETE)) ||
		    !map_add(b->arena, named, e->map))
			continue;
		vec_push(b->arena, &b->found.tables,
			 (struct bind_table){.map = e->map,
					     .type = e->type,
					     .prefix = e->prefix,
					     .place = tok_place(u->at)});
	}
	return true;
}

bool table_find_names(const struct bind *b, struct bind_table *w)
{
	return find_names(b, w) ||
	       lookup_report_unknown(lookup_for(b, w->map), &w->place, "enum", w->type, NAME_ENUM);
}

bool table_find_all(struct bind *b)
{
	struct map named = {0};
	return collect_pragmas(b, &named) && collect_conf(b, &named);
}

bool table_names_of(const struct bind *b, size_t clause, const struct node *n,
		    const struct enumtab **ret)
{
	const struct node *second = n->child ? n->child->next : NULL;
	*ret = NULL;
	if (node_is(n, NODE_CALL, "enum_name") && second && !second->next)
		*ret = enumname_lookup(b, clause, n);
	else if (n->kind == NODE_MAP && n->name && n->child && !second)
		*ret = table_names(b, n->name->text);
	else
		return false;
	return true;
}
