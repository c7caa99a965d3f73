#include "bind/codecall.h"

#include <string.h>

#include "bind/attach.h"
#include "bind/call.h"
#include "bind/edit.h"

/** `usym ( ... )` and nothing behind it? */
static bool is_usym(const struct call_arg *arg)
{
	int depth = 0;
	if (!tok_is(arg->first, "usym") || !tok_is(arg->first->next, "("))
		return false;
	for (const struct token *t = arg->first->next; t != arg->last; t = t->next) {
		depth += tok_is(t, "(") - tok_is(t, ")");
		if (depth == 0)
			return false;
	}
	return tok_is(arg->last, ")");
}

/** %s, %-20s, %20s, %.30s: what stands between % and s. */
static bool is_plain(struct str how)
{
	size_t i = str_has_prefix(how, STR("-"));
	unsigned n_points = 0;
	for (; i < how.n; i++) {
		n_points += how.p[i] == '.';
		if (!strchr("0123456789.", how.p[i]))
			return false;
	}
	return n_points < 2;
}

/** `usym(X)` becomes the number X. */
static void make_number(struct arena *a, struct call_arg *arg)
{
	struct script_range usym = {arg->first, arg->first};
	struct token *open = arg->first->next, *last = open;
	while (last->next != arg->last)
		last = last->next;
	// Before 0.24 a map that only a later clause fills can be added to, but neither cast nor named.
	if (tok_is(open->next, "@"))
		edit_insert_lexed(a, last, STR(" + 0"));
	edit_replace_lexed(a, &usym, STR("(uint64)"));
}

static void mark_call(struct bind *b, struct call *c)
{
	struct arena *a = b->arena;
	struct str rest = c->format->text;
	struct strbuf format;
	size_t at = 0, end = 0, done = 0;
	strbuf_init(&format);
	for (size_t i = 0; i < c->n_args && call_next_conversion(rest, &at, &end); i++, at = end) {
		struct str how = str_slice(rest, at + 1, end - at - 2);
		if (rest.p[end - 1] != 's' || !is_plain(how) || !is_usym(&c->args[i]))
			continue;
		strbuf_adds(&format, str_slice(rest, done, at - done));
		strbuf_addf(&format, "%s" STR_FMT ":%%lx>", b->code_mark, STR_ARG(how));
		done = end;
		make_number(a, &c->args[i]);
		b->marks_code = true;
	}
	strbuf_adds(&format, str_from_offset(rest, done));
	c->format->text = str_copy(a, strbuf_str(&format));
	strbuf_fini(&format);
}

/** The key of @m when it is nothing but usym(...). */
static bool find_named_key(const struct script_map_use *m, struct call_arg *ret)
{
	if (!m->has_key || m->open->next == m->close)
		return false;
	ret->first = ret->last = m->open->next;
	while (ret->last->next != m->close)
		ret->last = ret->last->next;
	return is_usym(ret);
}

/** @m without a key, as the argument of what does not look at keys. */
static bool is_whole(const struct script_clause *c, const struct script_map_use *m)
{
	static const char *const words[] = {"clear", "print", "zero", NULL};
	if (m->has_key)
		return false;
	for (const struct token *t = c->body.first; t != c->body.last; t = t->next)
		if (t->next->next == m->at)
			return tok_is(t->next, "(") && tok_is_any(t, words);
	return false;
}

/** Notes maps of which not every use can be written with another key. */
static void find_unnamed(struct bind *b, const struct attach_clause *c, struct map *unnamed)
{
	for (size_t i = 0; i < c->clause->maps.n; i++) {
		const struct script_map_use *m = &c->clause->maps.v[i];
		struct call_arg key;
		bool is_named = c->has_user && !c->has_other && find_named_key(m, &key);
		if (!is_named && !is_whole(c->clause, m))
			map_add(b->arena, unnamed, m->name);
	}
}

/** @map[usym(X)] becomes @map[KEY, (uint64)(X)]. */
static void mark_keys(struct bind *b, const struct attach_clause *c, const struct map *unnamed)
{
	for (size_t i = 0; i < c->clause->maps.n; i++) {
		const struct script_map_use *m = &c->clause->maps.v[i];
		struct call_arg key;
		if (map_get(unnamed, m->name) || !find_named_key(m, &key))
			continue;
		make_number(b->arena, &key);
		struct script_range open = {key.first, key.first};
		edit_replace_lexed(b->arena, &open,
				   str_from(arena_printf(b->arena, "%s, (", b->code_key)));
		b->marks_code = true;
	}
}

void codecall_rewrite(struct bind *b)
{
	if (!b->code_mark || !b->proc || b->host_scope || b->n_pids > 1)
		return;
	for (size_t i = 0; i < b->script.clauses.n; i++) {
		const struct attach_clause *clause = &b->clauses[i];
		struct script_range body = b->script.clauses.v[i].body;
		if (!clause->has_user || clause->has_other)
			continue;
		for (struct token *t = body.first; t && t != body.last; t = t->next) {
			struct call c;
			if (tok_is(t, "printf") && call_parse(t, &c))
				mark_call(b, &c);
		}
	}
	struct map unnamed = {0};
	for (size_t i = 0; i < b->script.clauses.n; i++)
		find_unnamed(b, &b->clauses[i], &unnamed);
	for (size_t i = 0; i < b->script.clauses.n; i++)
		mark_keys(b, &b->clauses[i], &unnamed);
}
