#include "bind/fresh.h"

bool fresh_is_variable(const struct token *t)
{
	return t->kind == TOK_IDENT && t->text.p[0] == '$' &&
	       str_is_ident(str_from_offset(t->text, 1));
}

static void take(struct fresh *f, const struct token *first, const struct token *last)
{
	for (const struct token *t = first; t; t = t == last ? NULL : t->next)
		if (fresh_is_variable(t))
			map_add(f->arena, &f->taken, t->text);
}

void fresh_init(struct fresh *f, struct arena *a, const struct script *s)
{
	*f = (struct fresh){.arena = a};
	for (size_t i = 0; i < s->clauses.n; i++) {
		take(f, s->clauses.v[i].predicate.first, s->clauses.v[i].predicate.last);
		take(f, s->clauses.v[i].body.first, s->clauses.v[i].body.last);
	}
}

struct str fresh_variable(struct fresh *f, struct str stem)
{
	struct str name = stem;
	for (unsigned n = 2; !map_add(f->arena, &f->taken, name); n++)
		name = str_from(arena_printf(f->arena, STR_FMT "_%u", STR_ARG(stem), n));
	return name;
}
