#include "template/split.h"

#include "lang/change.h"
#include "lang/print.h"
#include "out/dialect.h"

struct points {
	VEC(struct str) texts;
};

/** What @c is attached to, one by one, as bpftrace gets it. */
static struct points find_points(struct bind *b, const struct script_clause *c)
{
	struct points p = {0};
	for (size_t i = 0; i < c->attach.n; i++) {
		const struct script_attach *at = &c->attach.v[i];
		for (size_t k = 0; k < at->bound.n; k++)
			vec_push(b->arena, &p.texts,
				 script_long_form(b->arena, at, at->bound.v[k]));
		if (!at->bound.n)
			vec_push(b->arena, &p.texts,
				 script_long_form(b->arena, at, print_text(b->arena, at->node)));
	}
	return p;
}

/** @before, then the clause @c with other attach points. */
static struct node *add_clause(struct bind *b, struct node *before, const struct script_clause *c,
			       struct str attach, struct node *tail)
{
	struct node *predicate = script_predicate(c), *none = change_text(b->arena, c->node, "");
	return change_text(b->arena, c->node, "%n%s%t%n %n %n", before ? before : none,
			   before ? " " : "", attach, tail, predicate ? predicate : none,
			   c->node->last_child);
}

static void split(struct bind *b, struct map *alone, struct script_clause *c,
		  const struct points *points)
{
	struct strbuf rest;
	struct script_attach *last = &c->attach.v[c->attach.n - 1];
	struct node *tail = change_text(b->arena, last->node, ""), *all = NULL;
	strbuf_init(&rest);
	for (size_t i = 0; i < points->texts.n; i++) {
		if (map_get(alone, points->texts.v[i]))
			continue;
		strbuf_addz(&rest, rest.n ? ", " : "");
		strbuf_adds(&rest, points->texts.v[i]);
	}
	if (rest.n)
		all = add_clause(b, all, c, str_copy(b->arena, strbuf_str(&rest)), tail);
	strbuf_fini(&rest);
	for (size_t i = 0; i < points->texts.n; i++)
		if (map_get(alone, points->texts.v[i]))
			all = add_clause(b, all, c, points->texts.v[i], tail);
	change(b->arena, c->node, "%n", all);
	last->node = tail; // a filter stands behind the last attach point
}

void split_lists(struct bind *b)
{
	size_t n = b->script.clauses.n;
	struct points *points = arena_array(b->arena, struct points, n);
	struct map alone = {0}; // what some clause is for, and for nothing else
	if (!dialect_confuses_lists(b->version))
		return;
	for (size_t i = 0; i < n; i++) {
		points[i] = find_points(b, &b->script.clauses.v[i]);
		if (points[i].texts.n == 1)
			map_add(b->arena, &alone, points[i].texts.v[0]);
	}
	for (size_t i = 0; i < n; i++) {
		bool is_mixed = false;
		for (size_t k = 0; points[i].texts.n > 1 && k < points[i].texts.n; k++)
			is_mixed |= map_get(&alone, points[i].texts.v[k]) != NULL;
		if (is_mixed)
			split(b, &alone, &b->script.clauses.v[i], &points[i]);
	}
}
