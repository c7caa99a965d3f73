#include "text/constant.h"

struct constant {
	const struct token *body; /**< NULL: not known */
	uint64_t plus;		  /**< to the value of that */
	bool is_found, has_value; /**< `value` is right, once that was asked for */
	struct constant_value value;
};

static bool is_same(const struct token *a, const struct token *b)
{
	for (; a->kind != TOK_EOF && b->kind != TOK_EOF; a = a->next, b = b->next)
		if (!str_eq(a->text, b->text))
			return false;
	return a->kind == b->kind;
}

static void add_constants(struct arena *a, struct map *constants, struct str name,
			  const struct token *body, uint64_t plus)
{
	struct constant *was = map_get(constants, name);
	if (was) {
		if (!was->body || !body || was->plus != plus || !is_same(was->body, body))
			was->body = NULL;
		return;
	}
	struct constant *c = arena_new(a, struct constant);
	c->body = body;
	c->plus = plus;
	map_put(a, constants, name, c);
}

/** Means the same wherever it is put: 5, -5, (3 - 8); not 3 - 8. */
static bool is_closed(const struct token *t)
{
	unsigned depth = 0;
	if (tok_is(t, "-") || tok_is(t, "~"))
		t = t->next;
	do {
		depth = depth + tok_is(t, "(") - tok_is(t, ")");
		t = t->next;
	} while (depth && t && t->kind != TOK_EOF);
	return t && t->kind == TOK_EOF;
}

void constant_add_macro(struct arena *a, struct map *constants, struct str name,
			const struct token *body)
{
	bool is_known = body && body->kind != TOK_EOF && is_closed(body);
	add_constants(a, constants, name, is_known ? body : NULL, 0);
}

/** From *@t up to the comma or brace that ends it, which *@t becomes. */
static const struct token *cut_expression(struct arena *a, const struct token **t)
{
	struct token *list = NULL, **tail = &list;
	unsigned depth = 0;
	bool is_known = true;
	for (; (*t)->kind != TOK_EOF; *t = (*t)->next) {
		if (!depth && (tok_is(*t, ",") || tok_is(*t, "}")))
			break;
		depth = depth + tok_is(*t, "(") - tok_is(*t, ")");
		is_known &= (*t)->kind != TOK_DIRECTIVE;
		*tail = arena_new(a, struct token);
		**tail = **t;
		tail = &(*tail)->next;
	}
	*tail = arena_new(a, struct token);
	(*tail)->kind = TOK_EOF;
	return is_known ? list : NULL;
}

void constant_add_enum(struct arena *a, struct map *constants, const struct token *t)
{
	static const struct token eof = {.kind = TOK_EOF}, zero = {.kind = TOK_NUMBER,
								   .text = {"0", 1},
								   .next = (struct token *)&eof};
	const struct token *body = &zero;
	for (uint64_t plus = 0; t->kind != TOK_EOF && !tok_is(t, "}"); t = t->next) {
		if (t->kind == TOK_DIRECTIVE)
			body = NULL;
		if (t->kind != TOK_IDENT)
			continue;
		struct str name = t->text;
		for (t = t->next; t->kind == TOK_DIRECTIVE; t = t->next)
			body = NULL;
		if (tok_is(t, "=")) {
			t = t->next;
			body = cut_expression(a, &t);
			plus = 0;
		} else if (!tok_is(t, ",") && !tok_is(t, "}")) {
			body = NULL; // an attribute
		}
		add_constants(a, constants, name, body, plus++);
		while (t->kind != TOK_EOF && !tok_is(t, ",") && !tok_is(t, "}"))
			t = t->next;
		if (!tok_is(t, ","))
			return;
	}
}

bool constant_find(const struct map *constants, struct str name, unsigned depth,
		   struct constant_value *ret)
{
	struct constant *c = map_get(constants, name);
	if (!c)
		return false;
	if (!c->is_found && c->body) {
		c->is_found = true; // a name that needs itself has no value
		c->has_value =
		    expr_eval_constant(c->body, constant_find, constants, depth, &c->value);
		c->value.value += c->plus;
	}
	*ret = c->value;
	return c->has_value;
}
