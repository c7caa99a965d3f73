#include "lower/strings.h"

#include "lower/exprtype.h"
#include "out/dialect.h"

#define MAP_WEIGHT 3

/** The sets of maps that hold strings and names, and what was counted. */
struct counter {
	struct arena *arena;
	struct map holders;
	const struct map *tables;
	struct node *clause; // that is looked at
	unsigned in_call, most;
	bool reads; // a string, for the call
};

static bool is_string(const struct node *n)
{
	return node_is(n, NODE_CALL, "str") || (n->expr && n->expr->is_string);
}

static bool is_text(const struct node *n)
{
	return is_string(n) || (n->expr && n->expr->kind == EXPR_TEXT);
}

// --- beside a call ---

struct variables {
	struct arena *arena;
	struct map names;
	unsigned n;
};

static bool find_variable(void *ctx, struct node *n, struct node *parent)
{
	struct variables *v = ctx;
	bool is_set = (n->kind == NODE_ASSIGN || n->kind == NODE_LET) && n->child->next &&
		      n->child->kind == NODE_VARIABLE && is_text(n->last_child);
	(void)parent;
	v->n += is_set && map_add(v->arena, &v->names, n->child->name->text);
	return true;
}

static bool find_string(void *ctx, struct node *n, struct node *parent)
{
	bool *found = ctx;
	(void)parent;
	*found |= is_string(n) || (n->kind == NODE_VARIABLE && is_text(n));
	return !*found;
}

/** Is @call in @n? Then the conditions above it that read strings are added to @ret. */
static bool find_call(struct node *n, const struct node *call, unsigned *ret)
{
	bool is_here = n == call, reads = false;
	for (struct node *c = n->child; c && !is_here; c = c->next) {
		is_here = find_call(c, call, ret);
		if (!is_here && n->kind == NODE_IF && c->kind != NODE_BLOCK)
			node_walk(c, find_string, &reads);
	}
	*ret += is_here && reads;
	return is_here;
}

unsigned strings_beside(struct arena *a, struct node *clause, const struct node *call)
{
	struct variables v = {.arena = a};
	unsigned n = 0;
	node_walk(clause, find_variable, &v);
	find_call(clause, call, &n);
	return v.n + n;
}

// --- in a call ---

unsigned strings_printed(struct node *n)
{
	n = node_ungrouped(n);
	if (!is_text(n))
		return 0;
	if (n->kind == NODE_TERNARY && n->child->next->next)
		return 1 + strings_printed(n->child->next) + strings_printed(n->last_child);
	return n->kind == NODE_MAP ? MAP_WEIGHT + 1 : 1;
}

static bool count_strings(void *ctx, struct node *n, struct node *parent)
{
	struct counter *k = ctx;
	struct str name = n->name ? n->name->text : STR("");
	k->reads |= is_string(n);
	k->in_call += is_string(n) || (n->kind == NODE_VARIABLE && is_text(n));
	// Whether a table has a name is no string more.
	if (n->kind == NODE_MAP && map_get(k->tables, name))
		k->in_call += !parent || parent->kind != NODE_BINARY;
	if (n->kind == NODE_MAP && map_get(&k->holders, name)) {
		k->in_call += MAP_WEIGHT;
		k->reads = true;
	}
	return true;
}

static void count(struct counter *k, struct node *n, bool in_loop)
{
	in_loop |= node_is(n, NODE_WHILE, "while");
	bool has_key = n->kind == NODE_MAP && n->child;
	k->in_call = 0;
	k->reads = false;
	for (struct node *c = n->child; c && (has_key || node_is(n, NODE_CALL, "printf"));
	     c = c->next)
		node_walk(c, count_strings, k);
	if (k->in_call)
		k->in_call += in_loop; // what the loop counts with stays on the stack
	if (k->in_call && !has_key)
		k->in_call += strings_beside(k->arena, k->clause, n);
	if (k->in_call && !has_key && !k->reads)
		k->in_call--; // which needs a buffer of its own
	if (k->in_call > k->most)
		k->most = k->in_call;
	for (struct node *c = n->child; c; c = c->next)
		count(k, c, in_loop);
}

unsigned strings_most_in_call(struct arena *a, const struct script *s, const struct map *tables)
{
	struct counter k = {.arena = a, .tables = tables};
	for (size_t i = 0; i < s->clauses.n; i++)
		for (size_t m = 0; m < s->clauses.v[i].maps.n; m++) {
			const struct script_map_use *use = &s->clauses.v[i].maps.v[m];
			if (use->value && is_string(use->value))
				map_add(a, &k.holders, use->name);
		}
	for (size_t i = 0; i < s->clauses.n; i++) {
		k.clause = s->clauses.v[i].node;
		count(&k, k.clause, false);
	}
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
