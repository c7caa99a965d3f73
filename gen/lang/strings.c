#include "lang/strings.h"

#include "base/map.h"

#define MAP_WEIGHT 3

/** The token after the bracket that closes the one at @t, or the end. */
static struct token *skip_brackets(struct token *t)
{
	int depth = 0;
	for (; t->kind != TOK_EOF; t = t->next) {
		if (tok_is(t, "(") || tok_is(t, "[") || tok_is(t, "{"))
			depth++;
		else if ((tok_is(t, ")") || tok_is(t, "]") || tok_is(t, "}")) && --depth == 0)
			return t->next;
	}
	return t;
}

static bool is_str_call(const struct token *t)
{
	return tok_is(t, "str") && tok_is(t->next, "(");
}

/** Is this use of a map `@x[...] = str(`? */
static bool takes_string(const struct script_map_use *m)
{
	struct token *t = m->close ? m->close->next : m->at->next->next;
	return m->is_written && t->kind != TOK_EOF && tok_is(t, "=") && is_str_call(t->next);
}

static unsigned in_call(struct token *open, const struct map *holders, const struct map *tables)
{
	struct token *end = skip_brackets(open);
	unsigned n = 0;
	for (struct token *t = open; t != end && t->kind != TOK_EOF; t = t->next) {
		n += is_str_call(t);
		if (!tok_is(t, "@"))
			continue;
		// By its name: bind/ may have written the call anew since the script was parsed.
		bool has_name = t->next->kind == TOK_IDENT && !t->next->space;
		struct str name = has_name ? t->next->text : STR("");
		n += map_get(tables, name) != NULL;
		if (map_get(holders, name))
			n += MAP_WEIGHT;
	}
	return n;
}

unsigned strings_most_in_call(struct arena *a, const struct script *s, const struct map *tables)
{
	struct map holders = {0};
	for (size_t i = 0; i < s->clauses.n; i++)
		for (size_t k = 0; k < s->clauses.v[i].maps.n; k++)
			if (takes_string(&s->clauses.v[i].maps.v[k]))
				map_put(a, &holders, s->clauses.v[i].maps.v[k].name, &holders);

	unsigned most = 0;
	for (size_t i = 0; i < s->clauses.n; i++) {
		const struct script_clause *c = &s->clauses.v[i];
		const struct token *loop_end = NULL;
		for (struct token *t = c->body.first; t && t != c->body.last; t = t->next) {
			if (t == loop_end)
				loop_end = NULL;
			if (!loop_end && tok_is(t, "while") && tok_is(t->next, "("))
				loop_end = skip_brackets(skip_brackets(t->next));
			struct token *open = NULL;
			if (tok_is(t, "printf") && tok_is(t->next, "("))
				open = t->next;
			else if (tok_is(t, "@") && tok_is(t->next->next, "["))
				open = t->next->next;
			unsigned n = open ? in_call(open, &holders, tables) : 0;
			n += n && loop_end; // what the loop counts with stays on the stack
			most = n > most ? n : most;
		}
	}
	return most;
}
