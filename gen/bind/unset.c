#include "bind/unset.h"

#include "bind/edit.h"

/** The last token of a map's use: its name, or the bracket behind its key. */
static struct token *end_of(const struct script_map_use *u)
{
	if (u->close)
		return u->close;
	return u->name.n ? u->at->next : u->at;
}

void unset_add_clause(struct bind *b, struct unset *u, const struct script_clause *c)
{
	for (size_t i = 0; i < c->maps.n; i++) {
		const struct script_map_use *m = &c->maps.v[i];
		if (m->is_set && !map_get(&u->names, m->name))
			map_put(b->arena, &u->names, m->name, end_of(m)->next->next);
	}
}

void unset_keep_clause(struct bind *b, struct unset *u, const struct script_clause *c)
{
	for (size_t i = 0; i < c->maps.n; i++)
		if (c->maps.v[i].is_set)
			map_add(b->arena, &u->stay, c->maps.v[i].name);
}

static bool is_unset(const struct unset *u, struct str name)
{
	return map_get(&u->names, name) && !map_get(&u->stay, name);
}

bool unset_is_awaited(const struct unset *u, const struct script_clause *c)
{
	for (size_t i = 0; i < c->maps.n; i++) {
		const struct script_map_use *m = &c->maps.v[i];
		if (m->at == c->predicate.first && end_of(m) == c->predicate.last)
			return is_unset(u, m->name);
	}
	return false;
}

/** What the map would have held, as what is never set reads: "" or 0. */
static struct str empty_value(const struct unset *u, struct str name)
{
	static const char *const texts[] = {"str", "comm", "probe", "func", "kstr", "strftime"};
	const struct token *value = map_get(&u->names, name);
	bool is_text = value->kind == TOK_STRING;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		is_text |= tok_is(value, texts[i]);
	return is_text ? STR("\"\"") : STR("0");
}

/** The statement `clear(@m);` whose argument is @m: true, with its tokens. */
static bool is_statement(const struct script_clause *c, const struct script_map_use *m,
			 struct script_range *ret)
{
	static const char *const words[] = {"clear", "delete", "zero", "print"};
	struct token *word = NULL, *open = NULL;
	for (struct token *t = c->body.first; t != c->body.last; word = t, t = t->next) {
		open = t->next;
		if (word && open == m->at && tok_is(t, "(")) {
			open = t;
			break;
		}
	}
	if (!open || open->next != m->at)
		return false;
	bool is_word = false;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		is_word |= tok_is(word, words[i]);
	if (!is_word)
		return false;
	unsigned depth = 1;
	struct token *t = open->next;
	for (; t != c->body.last; t = t->next) {
		if (tok_is(t, "("))
			depth++;
		else if (tok_is(t, ")") && --depth == 0)
			break;
	}
	if (t == c->body.last || !(tok_is(t->next, ";") || tok_is(t->next, "}")))
		return false;
	*ret = (struct script_range){word, tok_is(t->next, ";") ? t->next : t};
	return true;
}

/** Forgets the uses of maps in @r, which is about to go. */
static void forget_uses(struct script_clause *c, struct script_range r)
{
	size_t n = 0;
	for (size_t i = 0; i < c->maps.n; i++) {
		const struct token *t = r.first;
		while (t != r.last && t != c->maps.v[i].at)
			t = t->next;
		if (t != c->maps.v[i].at)
			c->maps.v[n++] = c->maps.v[i];
	}
	c->maps.n = n;
}

void unset_rewrite(struct bind *b, const struct unset *u, struct token **list,
		   struct script_clause *c)
{
	for (size_t i = 0; i < c->maps.n;) {
		struct script_map_use m = c->maps.v[i];
		if (!is_unset(u, m.name)) {
			i++;
			continue;
		}
		struct script_range r;
		if (is_statement(c, &m, &r)) {
			forget_uses(c, r);
			edit_remove(list, r);
			continue;
		}
		r = (struct script_range){m.at, end_of(&m)};
		forget_uses(c, r);
		bool ends_predicate = r.last == c->predicate.last;
		edit_replace_lexed(b->arena, &r, empty_value(u, m.name));
		if (ends_predicate)
			c->predicate.last = r.last;
	}
}
