#include "bind/choice.h"

#include "bind/edit.h"
#include "bind/typeuse.h"

#define MAX_DEPTH 20 // of choices in choices; deeper ones are left alone

static int bracket(const struct token *t)
{
	return tok_is(t, "(") + tok_is(t, "[") - tok_is(t, ")") - tok_is(t, "]");
}

static struct token *closing(struct token *open, const struct token *end)
{
	int depth = 0;
	for (struct token *t = open;; t = t->next) {
		depth += bracket(t);
		if (depth == 0)
			return t;
		if (t == end)
			return NULL;
	}
}

/** Is the expression the same whenever it is read in a clause? Arguments, variables, numbers and arithmetic are. */
static bool is_steady(const struct token *first, const struct token *last)
{
	static const char *const good[] = {
	    "(", ")", "+", "-",	 "/",  "%",  "&",  "|",	 "^",  "~",   "<<",  ">>",
	    "<", ">", "!", "==", "!=", "<=", ">=", "&&", "||", "pid", "tid", "retval"};
	const struct token *prev = NULL;
	for (const struct token *t = first;; prev = t, t = t->next) {
		bool steady = t->kind == TOK_NUMBER || t->text.p[0] == '$';
		if (t->kind == TOK_IDENT)
			steady |=
			    str_has_prefix(t->text, STR("arg")) || typeuse_is_builtin(t->text);
		for (size_t i = 0; i < sizeof(good) / sizeof(good[0]) && !steady; i++)
			steady = tok_is(t, good[i]);
		// `a * b`, not what `*a` points at
		steady |= tok_is(t, "*") && prev &&
			  (prev->kind == TOK_NUMBER || prev->text.p[0] == '$' ||
			   str_has_prefix(prev->text, STR("arg")));
		if (!steady)
			return false;
		if (t == last)
			return true;
	}
}

/** `@map[key]` and nothing else, @map a table. Two keys make none: bpftrace is to refuse those. */
static bool parse_name(struct fresh *fresh, const struct map *tables, struct choice *c)
{
	struct token *at = c->first, *name = at->next, *open = name->next;
	if (!tok_is(at, "@") || name->kind != TOK_IDENT || !map_get(tables, name->text) ||
	    !tok_is(open, "[") || open->next == c->last || closing(open, c->last) != c->last)
		return false;
	int depth = 0;
	for (struct token *t = open->next; t != c->last; t = t->next) {
		depth += bracket(t);
		if (depth == 0 && tok_is(t, ","))
			return false;
		c->key_last = t;
	}
	c->key_first = open->next;
	c->kind = CHOICE_NAME;
	c->is_steady = is_steady(c->key_first, c->key_last);
	c->key = c->is_steady ? edit_text(fresh->arena, c->key_first, c->key_last)
			      : fresh_variable(fresh, STR("$key"));
	return true;
}

static struct choice *parse(struct fresh *fresh, const struct map *tables, struct token *first,
			    struct token *last, unsigned depth);

/** `condition ? yes : no`, either of them with a name in it. */
static void parse_either(struct fresh *fresh, const struct map *tables, struct choice *c,
			 unsigned depth)
{
	struct token *mark = NULL, *colon = NULL, *before_mark = NULL, *before_colon = NULL;
	struct token *prev = NULL;
	int level = 0, marks = 0;
	for (struct token *t = c->first; !colon; prev = t, t = t->next) {
		level += bracket(t);
		if (level == 0 && tok_is(t, "?") && marks++ == 0) {
			mark = t;
			before_mark = prev;
		} else if (level == 0 && tok_is(t, ":") && --marks == 0) {
			colon = t;
			before_colon = prev;
		}
		if (t == c->last)
			break;
	}
	if (!colon || !before_mark || before_colon == mark || colon == c->last)
		return;
	c->yes = parse(fresh, tables, mark->next, before_colon, depth + 1);
	c->no = parse(fresh, tables, colon->next, c->last, depth + 1);
	if (c->yes->kind == CHOICE_PLAIN && c->no->kind == CHOICE_PLAIN)
		return;
	c->kind = CHOICE_EITHER;
	c->if_first = c->first;
	c->if_last = before_mark;
}

static struct choice *parse(struct fresh *fresh, const struct map *tables, struct token *first,
			    struct token *last, unsigned depth)
{
	while (tok_is(first, "(") && first->next != last && closing(first, last) == last) {
		struct token *t = first->next;
		while (t->next != last)
			t = t->next;
		first = first->next;
		last = t;
	}
	struct choice *c = arena_new(fresh->arena, struct choice);
	*c = (struct choice){.first = first, .last = last};
	if (depth < MAX_DEPTH && !parse_name(fresh, tables, c))
		parse_either(fresh, tables, c, depth);
	return c;
}

struct choice *choice_parse(struct fresh *fresh, const struct map *tables, struct token *first,
			    struct token *last)
{
	return parse(fresh, tables, first, last, 0);
}

struct str choice_name(struct arena *a, const struct choice *c)
{
	return str_from(arena_printf(a, "@" STR_FMT "[" STR_FMT "]", STR_ARG(c->first->next->text),
				     STR_ARG(c->key)));
}
