#include "bind/enumname.h"

#include "bind/edit.h"

/** The parenthesis that closes @open, or NULL; *@comma is the first comma between the two. */
static struct token *find_close(struct token *open, struct token **comma)
{
	int depth = 0;
	*comma = NULL;
	for (struct token *t = open; t->kind != TOK_EOF; t = t->next) {
		depth += tok_is(t, "(") - tok_is(t, ")");
		if (depth == 0)
			return t;
		if (depth == 1 && tok_is(t, ",") && !*comma)
			*comma = t;
	}
	return NULL;
}

/** `enum ns::state` without its keyword and blanks. */
static struct str type_text(struct bind *b, const struct token *first, const struct token *comma)
{
	struct strbuf text;
	strbuf_init(&text);
	for (const struct token *t = first; t != comma; t = t->next)
		if (t != first || !tok_is(t, "enum"))
			strbuf_adds(&text, t->text);
	struct str s = str_copy(b->arena, strbuf_str(&text));
	strbuf_fini(&text);
	return s;
}

/** "enum_" and the type, respelled as a name. */
static struct str map_name(struct bind *b, struct str type)
{
	char *p = arena_printf(b->arena, "enum_" STR_FMT, STR_ARG(type));
	struct str s = str_from(p);
	for (size_t i = 0; i < s.n; i++)
		if (!str_is_ident((struct str){p + i, 1}) && !(p[i] >= '0' && p[i] <= '9'))
			p[i] = '_';
	return s;
}

static bool is_taken(const struct bind *b, struct str map)
{
	for (size_t i = 0; i < b->enum_tables.n; i++)
		if (str_eq(b->enum_tables.v[i].map, map))
			return true;
	return false;
}

/** The table of what @type is in clause @i; source files may have enums of their own under that name. */
static struct str table_for(struct bind *b, size_t i, struct str type, const struct token *at)
{
	struct lookup *lk = bind_lookup_from(b, i);
	struct ctype *means = NULL;
	if (lk)
		lookup_type(lk, type, DWFIND_ENUM | DWFIND_TYPEDEF, &means);
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
		t.map = str_from(arena_printf(b->arena, STR_FMT "_%u", STR_ARG(first), n));
	vec_push(b->arena, &b->enum_tables, t);
	return t.map;
}

/** The tokens of EXPR stay what they are: others may point at them. */
static bool rewrite(struct bind *b, size_t i, struct token *word)
{
	struct token *open = word->next, *comma, *close = find_close(open, &comma);
	struct diag_place at = tok_place(word);
	if (!close || !comma || comma == open->next || comma->next == close)
		return diag_error(b->diag, &at, "enum_name() takes a type and a value");
	struct str type = type_text(b, open->next, comma);
	if (!type.n || type.p[0] < 'A')
		return diag_error(b->diag, &at,
				  "the first argument of enum_name() is the name of an enum");
	struct str map = table_for(b, i, type, open->next);
	word->kind = open->kind = TOK_PUNCT;
	word->text = STR("@");
	open->kind = TOK_IDENT;
	open->text = map;
	open->space = open->bol = false;
	comma->text = STR("[");
	comma->space = comma->bol = false;
	close->text = STR("]");
	vec_push(b->arena, &b->script.clauses.v[i].maps,
		 (struct script_map_use){
		     .name = map, .at = word, .has_key = true, .open = comma, .close = close});
	open->next = comma;
	comma->next->space = comma->next->bol = false;
	return true;
}

bool enumname_rewrite(struct bind *b)
{
	bool good = true;
	for (size_t i = 0; i < b->script.clauses.n; i++) {
		const struct script_clause *c = &b->script.clauses.v[i];
		struct script_range parts[2] = {{c->predicate_open, c->predicate_close}, c->body};
		for (int k = 0; k < 2; k++)
			for (struct token *t = parts[k].first; t && t != parts[k].last; t = t->next)
				if (t->kind == TOK_IDENT && tok_is(t, "enum_name") &&
				    tok_is(t->next, "("))
					good &= rewrite(b, i, t);
	}
	return good;
}
