#include "emit/join.h"

#include "lang/print.h"
#include "sema/expr.h"
#include "dialect/dialect.h"

/**
 * Tokens of what is joined. The larger a clause, the more likely a version has something against it: with twice as
 * many, 0.17 kept the address of an argument in a register, which the kernel refuses.
 */
enum { MOST_JOINED = 250 };

static bool is_variable(const struct token *t)
{
	return t->kind == TOK_IDENT && t->text.p[0] == '$' &&
	       str_is_ident(str_from_offset(t->text, 1));
}

struct str join_new_variable(struct arena *a, struct map *taken, struct str name)
{
	struct str ret = name, last = {0};
	uintptr_t n = 1;
	if (map_get(taken, name)) { // the last number that it was given is there, too
		last = str_printf(a, STR_FMT "#", STR_ARG(name));
		n += (uintptr_t)map_get(taken, last);
	}
	while (!map_add(a, taken, ret))
		ret = str_printf(a, STR_FMT "_%zu", STR_ARG(name), (size_t)++n);
	if (last.n)
		map_put(a, taken, last, (void *)(n - 1));
	return ret;
}

/**
 * Before 0.22 a variable is the whole clause's, blocks or not: the names of each body are made its
 * own.
 */
static void rename_variables(const struct bind *b, struct map *taken, const struct script_clause *c,
			     struct map *names)
{
	for (const struct token *t = c->node->first; t != c->node->last; t = t->next) {
		if (!is_variable(t) || map_get(names, t->text))
			continue;
		struct str *name = arena_new(b->arena, struct str);
		*name = join_new_variable(b->arena, taken, t->text);
		map_put(b->arena, names, t->text, name);
	}
}

static bool ends_early(const struct node *n)
{
	return n->kind == NODE_RETURN || node_is(n, NODE_CALL, "exit");
}

const struct token *join_early_end(const struct script_clause *c)
{
	const struct node *n = node_find(c->node, ends_early);
	return n ? n->first : NULL;
}

/** Clause @next becomes a part of clause @first. */
static void join(const struct bind *b, struct map *taken, struct join_plan *p, size_t first,
		 size_t next)
{
	p->is_gone[next] = true;
	p->last[first] = next;
	p->into[next] = first;
	vec_push(b->arena, &b->made->joins,
		 (struct src_join){b->found.script.clauses.v[first]->node->first->use,
				   b->found.script.clauses.v[next]->node->first->use});
	rename_variables(b, taken, b->found.script.clauses.v[next], &p->names[next]);
}

struct map join_variables(const struct bind *b)
{
	struct map names = {0};
	for (struct token *t = b->found.script.program->first; t->kind != TOK_EOF; t = t->next)
		if (is_variable(t))
			map_add(b->arena, &names, t->text);
	return names;
}

// --- clauses on the same probes

/** Its variables would have to fit on the stack beside those of another clause. */
static bool has_big_variable(const struct bind *b, const struct script_clause *c)
{
	const struct map *variables = uses_variables(&b->found.uses, c);
	if (dialect_has_blocks(b->given->version))
		return false;
	for (struct map_entry *e = NULL; (e = map_next(variables, e));)
		for (const struct use *u = ((struct used_name *)e->value)->first; u; u = u->next)
			if (u->value && !(u->value->expr && u->value->expr->kind == EXPR_NUMBER))
				return true;
	return false;
}

/** All attach points, as they are printed. */
static struct str attach_text(const struct bind *b, const struct script_clause *c)
{
	struct str *texts = arena_array(b->arena, struct str, c->attach.n + 1);
	for (size_t i = 0; i < c->attach.n; i++)
		texts[i] = str_trim(print_text(b->arena, c->attach.v[i].node));
	return str_join(b->arena, texts, c->attach.n, ", ");
}

/** A macro's return would be the end of more than its clause. */
static bool has_early_macro(const struct bind *b)
{
	for (size_t i = 0; i < b->found.script.clauses.n; i++) {
		const struct script_clause *c = b->found.script.clauses.v[i];
		if (c->node->kind == NODE_MACRO && join_early_end(c))
			return true;
	}
	return b->found.script.has_import;
}

/** A clause that others with its attach points may be joined to. */
struct joined {
	size_t clause;
	unsigned n_tokens;
	bool ends_early;
};

static unsigned count_tokens(const struct script_clause *c)
{
	unsigned n = 1;
	for (const struct token *t = c->node->first; t != c->node->last; t = t->next)
		n++;
	return n;
}

static void join_same_probes(const struct bind *b, struct map *taken, struct join_plan *p)
{
	struct map seen = {0};
	bool were_many = false, is_possible = !has_early_macro(b);
	for (size_t i = 0; i < b->found.script.clauses.n && is_possible; i++) {
		struct script_clause *c = b->found.script.clauses.v[i];
		if (!b->found.clauses[i]->has_user)
			continue;
		struct str text = attach_text(b, c);
		struct joined *to = map_get(&seen, text);
		unsigned n_tokens = count_tokens(c);
		if (to && !to->ends_early && to->n_tokens + n_tokens <= MOST_JOINED &&
		    !has_big_variable(b, c)) {
			join(b, taken, p, to->clause, i);
		} else {
			// Those between it and the first one may be on some of the same probes, and
			// all run in the order in which they are written.
			bool are_many = str_has(text, ",*?[");
			if (are_many || were_many)
				seen = (struct map){0};
			were_many = are_many;
			to = arena_new(b->arena, struct joined);
			to->clause = i;
			map_put(b->arena, &seen, text, to);
		}
		to->n_tokens += n_tokens;
		to->ends_early = join_early_end(c) != NULL;
	}
}

// --- BEGIN and END

static bool report_early_end(const struct bind *b, const struct token *end,
			     const struct script_clause *next)
{
	const char *kind = next->attach.v[0].provider->name;
	diag_error(b->diag, tok_at(end),
		   "this would also skip the next %s: bpftrace " DIALECT_FMT
		   " runs only one, so btgen joins them; put the rest inside an if",
		   kind, DIALECT_ARG(b->given->version));
	return diag_note(b->diag, tok_at(next->node->last_child->first), "the next %s is here",
			 kind);
}

static bool join_ends(const struct bind *b, struct map *taken, struct join_plan *p,
		      enum provider_when when)
{
	size_t first = SIZE_MAX;
	const struct token *end = NULL;
	for (size_t i = 0;
	     i < b->found.script.clauses.n && !dialect_has_many_begins(b->given->version); i++) {
		const struct script_clause *c = b->found.script.clauses.v[i];
		if (c->attach.n != 1 || c->attach.v[0].provider->when != when)
			continue;
		// After exit() in BEGIN nothing is of interest any more.
		if (end && (tok_is(end, "return") || when == WHEN_END))
			return report_early_end(b, end, c);
		end = end ? end : join_early_end(c);
		if (first != SIZE_MAX)
			join(b, taken, p, first, i);
		else
			first = i;
	}
	return true;
}

// --- lists of attach points

struct join_list join_points(const struct bind *b, const struct script_clause *c)
{
	struct join_list p = {0};
	vec_each(const struct script_attach, at, &c->attach) {
		for (size_t k = 0; k < at->bound.n; k++)
			vec_push(b->arena, &p, script_long_form(b->arena, at, at->bound.v[k]));
		if (!at->bound.n)
			vec_push(b->arena, &p,
				 script_long_form(b->arena, at, print_text(b->arena, at->node)));
	}
	return p;
}

/** The attach points in @points that no other clause is for alone, as one list; then each of the others. */
static struct join_list split(const struct bind *b, const struct map *alone,
			      const struct join_list *points)
{
	struct join_list ret = {0}, others = {0};
	for (size_t i = 0; i < points->n; i++)
		if (!map_get(alone, points->v[i]))
			vec_push(b->arena, &others, points->v[i]);
	if (others.n)
		vec_push(b->arena, &ret, str_join(b->arena, others.v, others.n, ", "));
	for (size_t i = 0; i < points->n; i++)
		if (map_get(alone, points->v[i]))
			vec_push(b->arena, &ret, points->v[i]);
	return ret;
}

static void split_lists(const struct bind *b, struct join_plan *p)
{
	size_t n = b->found.script.clauses.n;
	struct join_list *points = arena_array(b->arena, struct join_list, n);
	struct map alone = {0}; // what some clause is for, and for nothing else
	for (size_t i = 0; i < n; i++) {
		if (p->is_gone[i])
			continue;
		points[i] = join_points(b, b->found.script.clauses.v[i]);
		if (points[i].n == 1)
			map_add(b->arena, &alone, points[i].v[0]);
	}
	for (size_t i = 0; i < n; i++) {
		bool is_mixed = false;
		for (size_t k = 0; points[i].n > 1 && k < points[i].n; k++)
			is_mixed |= map_get(&alone, points[i].v[k]) != NULL;
		if (is_mixed)
			p->splits[i] = split(b, &alone, &points[i]);
	}
}

bool join_find(const struct bind *b, struct map *taken, struct join_plan *ret)
{
	size_t n = b->found.script.clauses.n;
	*ret = (struct join_plan){.is_gone = arena_array(b->arena, bool, n),
				  .into = arena_array(b->arena, size_t, n),
				  .last = arena_array(b->arena, size_t, n),
				  .names = arena_array(b->arena, struct map, n),
				  .splits = arena_array(b->arena, struct join_list, n)};
	if (!join_ends(b, taken, ret, WHEN_BEGIN) || !join_ends(b, taken, ret, WHEN_END))
		return false;
	join_same_probes(b, taken, ret);
	if (dialect_confuses_lists(b->given->version))
		split_lists(b, ret);
	return true;
}
