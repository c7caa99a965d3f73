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
		edit_insert_after(a, last, STR(" + 0"));
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
}
