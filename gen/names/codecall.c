#include "names/codecall.h"

#include <string.h>

#include "bind/bind.h"
#include "lang/format.h"
#include "lang/change.h"

static bool is_usym(const struct node *n)
{
	return node_is(n, NODE_CALL, "usym") && n->child && !n->child->next;
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

/** What is before the number X that `usym(X)` becomes. */
static void make_number(struct bind *b, struct node *usym, const char *before)
{
	// Before 0.24 a map that only a later clause fills can be added to, but neither cast nor
	// named.
	bool is_map = usym->child->kind == NODE_MAP;
	change(b->arena, usym, "%s(uint64)(%n%s)", before, usym->child, is_map ? " + 0" : "");
	b->marks_code = true;
}

static bool mark_call(void *ctx, struct node *n, struct node *parent)
{
	struct bind *b = ctx;
	struct node *format = format_find(n);
	struct conversion c = {0};
	(void)parent;
	if (!format || !tok_is(n->name, "printf"))
		return true;
	struct str text = format->name->text;
	struct strbuf marked;
	size_t done = 0;
	strbuf_init(&marked);
	for (struct node *arg = format->next; arg && format_next(text, &c); arg = arg->next) {
		struct str how = str_slice(text, c.at + 1, c.end - c.at - 2);
		if (c.letter != 's' || !is_plain(how) || !is_usym(arg))
			continue;
		strbuf_adds(&marked, str_slice(text, done, c.at - done));
		strbuf_addf(&marked, "%s" STR_FMT ":%%lx>", b->code_mark, STR_ARG(how));
		done = c.end;
		make_number(b, arg, "");
	}
	strbuf_adds(&marked, str_from_offset(text, done));
	if (done)
		change_leaf(b->arena, format, NODE_STRING, str_copy(b->arena, strbuf_str(&marked)));
	strbuf_fini(&marked);
	return true;
}

static bool is_in_target(const struct attach_clause *c)
{
	return c->has_user && !c->has_other;
}

/** Is its key nothing but usym(...)? */
static bool has_named_key(const struct script_map_use *m)
{
	return m->node && is_usym(m->node->child) && !m->node->child->next;
}

/** @m without a key, as the argument of what does not look at keys. */
static bool is_whole(const struct script_map_use *m)
{
	static const char *const words[] = {"clear", "print", "zero", NULL};
	const struct node *call = m->parent;
	return !m->has_key && call && call->kind == NODE_CALL && call->child == m->node &&
	       tok_is_any(call->name, words);
}

/** Notes maps of which not every use can be written with another key. */
static void find_unnamed(struct bind *b, const struct attach_clause *c, struct map *unnamed)
{
	for (size_t i = 0; i < c->clause->maps.n; i++) {
		const struct script_map_use *m = &c->clause->maps.v[i];
		if (!(is_in_target(c) && has_named_key(m)) && !is_whole(m))
			map_add(b->arena, unnamed, m->name);
	}
}

/** @map[usym(X)] becomes @map[KEY, (uint64)(X)]. */
static void mark_keys(struct bind *b, const struct attach_clause *c, const struct map *unnamed)
{
	for (size_t i = 0; i < c->clause->maps.n; i++) {
		const struct script_map_use *m = &c->clause->maps.v[i];
		if (!map_get(unnamed, m->name) && has_named_key(m))
			make_number(b, m->node->child, arena_printf(b->arena, "%s, ", b->code_key));
	}
}

void codecall_rewrite(struct bind *b)
{
	struct map unnamed = {0};
	size_t n = b->script.clauses.n;
	if (!b->code_mark || !b->proc || b->scope == BIND_HOST || b->n_pids > 1)
		return;
	for (size_t i = 0; i < n; i++)
		if (is_in_target(&b->clauses[i]))
			node_walk(b->script.clauses.v[i].node->last_child, mark_call, b);
	for (size_t i = 0; i < n; i++)
		find_unnamed(b, &b->clauses[i], &unnamed);
	for (size_t i = 0; i < n; i++)
		mark_keys(b, &b->clauses[i], &unnamed);
}
