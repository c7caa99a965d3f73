#include "sema/enumname.h"

#include "conf/probesig.h"

/** `enum ns::state` without its keyword and blanks. */
static struct str type_text(const struct bind *b, const struct node *type)
{
	struct strbuf text = {0};
	for (const struct token *t = type->first; t != type->last->next; t = t->next)
		if (t != type->first || !tok_is(t, "enum"))
			strbuf_adds(&text, t->text);
	return strbuf_take(&text, b->arena);
}

struct str enumname_table(const struct bind *b, struct str type, struct ctype *means,
			  const struct token *at)
{
	vec_each(const struct bind_table, t, &b->made->enum_tables)
		if (str_eq(t->type, type) &&
		    (!means || !t->means || ctype_is_same(means, t->means)))
			return t->map;
	struct str first =
	    str_to_ident(b->arena, str_printf(b->arena, "enum_" STR_FMT, STR_ARG(type)));
	struct bind_table t = {.map = first, .type = type, .means = means, .place = tok_place(at)};
	// Another enum of this name, or `a::b` and `a__b`.
	for (unsigned n = 2; vec_any(const struct bind_table, other, &b->made->enum_tables,
				     str_eq(other->map, t.map));
	     n++)
		t.map = str_printf(b->arena, STR_FMT "_%u", STR_ARG(first), n);
	vec_push(b->arena, &b->made->enum_tables, t);
	return t.map;
}

struct str enumname_of_call(const struct bind *b, size_t i, const struct node *call)
{
	const struct node *type = call->child, *value = type ? type->next : NULL;
	struct str text = type ? type_text(b, type) : STR("");
	struct ctype *means = NULL;
	if (!value || value->next)
		diag_error(b->diag, tok_at(call->first), "enum_name() takes a type and a value");
	else if (!text.n || text.p[0] < 'A')
		diag_error(b->diag, tok_at(call->first),
			   "the first argument of enum_name() must be the name of an enum");
	if (!value || value->next || !text.n || text.p[0] < 'A')
		return STR("");
	struct lookup *lk = bind_lookup_from(b, i);
	if (lk) // source files may have different enums of that name
		lookup_type(lk, text, NAME_ENUM | NAME_TYPEDEF, &means);
	return enumname_table(b, text, means, type->first);
}

const struct enumtab *enumname_lookup(const struct bind *b, size_t i, const struct node *call)
{
	struct enumtab *tab = arena_new(b->arena, struct enumtab);
	struct str type = type_text(b, call->child);
	if (b->given->functions && str_eq(type, b->given->functions->name))
		return b->given->functions;
	struct lookup *lk = bind_lookup_from(b, i);
	return (lk && enumtab_lookup(lk, type, tab)) || enumname_listed(b, type, tab) ? tab : NULL;
}

bool enumname_listed(const struct bind *b, struct str type, struct enumtab *ret)
{
	struct ctype *t =
	    b->given->files ? probesig_find_enum(b->given->files->signatures, type) : NULL;
	return t && enumtab_from_type(b->arena, t, ret);
}

bool enumname_has_addresses(const struct bind *b, size_t clause)
{
	const struct attach_clause *c = b->found.clauses[clause];
	return b->given->proc && b->found.scope != BIND_HOST && b->given->n_pids <= 1 &&
	       c->has_user && !c->has_other;
}

bool enumname_is_usym(const struct bind *b, size_t clause, const struct node *n)
{
	return node_is(n, NODE_CALL, "usym") && n->child && !n->child->next &&
	       enumname_has_addresses(b, clause);
}

bool enumname_is_symbol(const struct bind *b, size_t clause, const struct node *n)
{
	return enumname_is_usym(b, clause, n) ||
	       (node_is(n, NODE_NAME, "func") && enumname_has_addresses(b, clause));
}
