#include "names/enumname.h"

#include "conf/probesig.h"
#include "ctype/enumtab.h"
#include "lang/change.h"
#include "lang/format.h"
#include "lower/argument.h"

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

/** The table of the enum @means (NULL: not known) that @at calls @type. */
static struct str table_of(struct bind *b, struct str type, struct ctype *means,
			   const struct token *at)
{
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

/** @n becomes `@map[value]`. */
static void look_up(struct rewriter *r, struct node *n, struct node *value, struct str map,
		    struct node *parent)
{
	struct bind *b = r->b;
	struct token *name = arena_new(b->arena, struct token);
	*name = *n->first;
	name->text = map;
	change(b->arena, n, "@%t[%n]", map, value);
	n->kind = NODE_MAP;
	n->name = name;
	n->child = n->last_child = value;
	vec_push(b->arena, &b->script.clauses.v[r->clause].maps,
		 (struct script_map_use){
		     .name = map, .at = n->first, .has_key = true, .parent = parent, .node = n});
}

/** %s of the number @n, where that prints a name; a choice may have one on each side. */
static void name_number(struct rewriter *r, struct node *n, struct node *parent)
{
	struct bind *b = r->b;
	struct ctype *t = argument_shown_enum(b, n->expr), *plain = ctype_strip(t);
	if (n->kind == NODE_GROUP) {
		name_number(r, n->child, n);
		return;
	}
	for (struct node *c = n->child; n->kind == NODE_TERNARY && !t && c; c = c->next)
		if (c != n->child)
			name_number(r, c, n);
	if (!t)
		return;
	struct str name = plain->name.n ? plain->name : t->name;
	struct node *value = change_copy(b->arena, n);
	n->expr = arena_new(b->arena, struct expr);
	*n->expr = (struct expr){.kind = EXPR_TEXT, .sign = SIGN_OTHER};
	look_up(r, n, value, table_of(b, name, t, n->first), parent);
}

/** What printcall.h leaves to bpftrace, of which 0.23 alone knows names. */
static void name_numbers(struct rewriter *r, struct node *call)
{
	struct node *format = format_find(call);
	struct conversion c = {0};
	for (struct node *n = format ? format->next : NULL;
	     n && format_next(format->name->text, &c); n = n->next)
		if (c.letter == 's')
			name_number(r, n, call);
}

static bool rewrite(void *ctx, struct node *n, struct node *parent)
{
	struct rewriter *r = ctx;
	struct bind *b = r->b;
	struct node *type = n->child, *value = type ? type->next : NULL;
	if (n->kind == NODE_CALL)
		name_numbers(r, n);
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
	struct lookup *lk = bind_lookup_from(b, r->clause);
	struct ctype *means = NULL;
	if (lk) // source files may have enums of their own under that name
		lookup_type(lk, text, NAME_ENUM | NAME_TYPEDEF, &means);
	look_up(r, n, value, table_of(b, text, means, type->first), parent);
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
