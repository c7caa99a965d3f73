#include "names/enumname.h"

#include "conf/probesig.h"
#include "ctype/enumtab.h"
#include "lang/change.h"

/** `enum ns::state` without its keyword and blanks. */
static struct str type_text(struct bind *b, const struct node *type)
{
	struct strbuf text;
	strbuf_init(&text);
	for (const struct token *t = type->first; t != type->last->next; t = t->next)
		if (t != type->first || !tok_is(t, "enum"))
			strbuf_adds(&text, t->text);
	return strbuf_take(&text, b->arena);
}

/** "enum_" and the type, respelled as a name. */
static struct str map_name(struct bind *b, struct str type)
{
	return str_to_ident(b->arena, str_printf(b->arena, "enum_" STR_FMT, STR_ARG(type)));
}

static bool is_taken(const struct bind *b, struct str map)
{
	for (size_t i = 0; i < b->enum_tables.n; i++)
		if (str_eq(b->enum_tables.v[i].map, map))
			return true;
	return false;
}

/**
 * The table of what @type is in clause @i; source files may have enums of their own under that
 * name.
 */
static struct str table_for(struct bind *b, size_t i, struct str type, const struct token *at)
{
	struct lookup *lk = bind_lookup_from(b, i);
	struct ctype *means = NULL;
	if (lk)
		lookup_type(lk, type, NAME_ENUM | NAME_TYPEDEF, &means);
	for (size_t k = 0; k < b->enum_tables.n; k++) {
		const struct bind_enum_table *t = &b->enum_tables.v[k];
		if (str_eq(t->type, type) &&
		    (!means || !t->means || ctype_is_same(means, t->means)))
			return t->map;
	}
	struct str first = map_name(b, type);
	struct bind_enum_table t = {first, type, means, tok_place(at)};
	// Another enum of this name, or `a::b` and `a__b`.
	for (unsigned n = 2; is_taken(b, t.map); n++)
		t.map = str_printf(b->arena, STR_FMT "_%u", STR_ARG(first), n);
	vec_push(b->arena, &b->enum_tables, t);
	return t.map;
}

struct rewriter {
	struct bind *b;
	size_t clause; // its index
	bool good;
};

static bool rewrite(void *ctx, struct node *n, struct node *parent)
{
	struct rewriter *r = ctx;
	struct bind *b = r->b;
	struct node *type = n->child, *value = type ? type->next : NULL;
	if (!node_is(n, NODE_CALL, "enum_name"))
		return true;
	struct diag_place at = tok_place(n->first);
	if (!value || value->next)
		return r->good = diag_error(b->diag, &at, "enum_name() takes a type and a value");
	struct str text = type_text(b, type);
	if (!text.n || text.p[0] < 'A')
		return r->good = diag_error(
			   b->diag, &at,
			   "the first argument of enum_name() must be the name of an enum");
	struct token *name = arena_new(b->arena, struct token);
	*name = *n->name;
	name->text = table_for(b, r->clause, text, type->first);
	change(b->arena, n, "@%t[%n]", name->text, value);
	n->kind = NODE_MAP;
	n->name = name;
	n->child = value;
	vec_push(
	    b->arena, &b->script.clauses.v[r->clause].maps,
	    (struct script_map_use){
		.name = name->text, .at = n->first, .has_key = true, .parent = parent, .node = n});
	return true;
}

bool enumname_rewrite(struct bind *b)
{
	struct rewriter r = {.b = b, .good = true};
	for (; r.clause < b->script.clauses.n; r.clause++)
		node_walk(b->script.clauses.v[r.clause].node, rewrite, &r);
	return r.good;
}

const struct enumtab *enumname_lookup(struct bind *b, size_t i, const struct node *call)
{
	struct lookup *lk = bind_lookup_from(b, i);
	struct enumtab *tab = arena_new(b->arena, struct enumtab);
	struct str type = type_text(b, call->child);
	return (lk && enumtab_lookup(lk, type, tab)) || enumname_listed(b, type, tab) ? tab : NULL;
}

bool enumname_listed(const struct bind *b, struct str type, struct enumtab *ret)
{
	struct ctype *t = b->files ? probesig_find_enum(b->files->signatures, type) : NULL;
	return t && enumtab_from_type(b->arena, t, ret);
}
