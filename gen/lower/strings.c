#include "lower/strings.h"

#include "lower/exprtype.h"
#include "out/dialect.h"

#define MAP_WEIGHT 3

/** The sets of maps that hold strings and names, and what was counted. */
struct counter {
	struct map holders;
	const struct map *tables;
	unsigned in_call, most;
};

static bool is_string(const struct node *n)
{
	return node_is(n, NODE_CALL, "str") || (n->expr && n->expr->is_string);
}

static bool count_strings(void *ctx, struct node *n, struct node *parent)
{
	struct counter *k = ctx;
	struct str name = n->name ? n->name->text : STR("");
	k->in_call += is_string(n);
	// Whether a table has a name is no string more.
	if (n->kind == NODE_MAP && map_get(k->tables, name))
		k->in_call += !parent || parent->kind != NODE_BINARY;
	if (n->kind == NODE_MAP && map_get(&k->holders, name))
		k->in_call += MAP_WEIGHT;
	return true;
}

static void count(struct counter *k, struct node *n, bool in_loop)
{
	in_loop |= node_is(n, NODE_WHILE, "while");
	bool has_key = n->kind == NODE_MAP && n->child;
	k->in_call = 0;
	for (struct node *c = n->child; c && (has_key || node_is(n, NODE_CALL, "printf"));
	     c = c->next)
		node_walk(c, count_strings, k);
	if (k->in_call)
		k->in_call += in_loop; // what the loop counts with stays on the stack
	if (k->in_call > k->most)
		k->most = k->in_call;
	for (struct node *c = n->child; c; c = c->next)
		count(k, c, in_loop);
}

unsigned strings_most_in_call(struct arena *a, const struct script *s, const struct map *tables)
{
	struct counter k = {.tables = tables};
	for (size_t i = 0; i < s->clauses.n; i++)
		for (size_t m = 0; m < s->clauses.v[i].maps.n; m++) {
			const struct script_map_use *use = &s->clauses.v[i].maps.v[m];
			if (use->value && is_string(use->value))
				map_add(a, &k.holders, use->name);
		}
	count(&k, s->program, false);
	return k.most;
}

unsigned strings_limit(const struct bind *b, const struct map *tables)
{
	unsigned strings = strings_most_in_call(b->arena, &b->script, tables);
	unsigned limit = dialect_max_strlen(b->version, strings);
	unsigned ceiling = dialect_strlen_ceiling(b->version, strings);
	unsigned wanted = b->longest_string < UINT32_MAX ? b->longest_string + 1 : UINT32_MAX;
	if (wanted <= limit)
		return limit;
	return wanted < ceiling ? wanted : ceiling;
}
