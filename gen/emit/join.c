#include "emit/join.h"

#include "lang/print.h"
#include "sema/expr.h"
#include "dialect/dialect.h"

/**
 * Tokens of merged clauses. The larger a clause, the likelier a version fails on it: with twice as many, 0.17
 * kept the address of an argument in a register, which the kernel refuses.
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
	if (map_get(taken, name)) { // so is the number that it got last
		last = str_printf(a, STR_FMT "#", STR_ARG(name));
		n += (uintptr_t)map_get(taken, last);
	}
	while (!map_add(a, taken, ret))
		ret = str_printf(a, STR_FMT "_%zu", STR_ARG(name), (size_t)++n);
	if (last.n)
		map_put(a, taken, last, (void *)(n - 1));
	return ret;
}

/** Before 0.22 a variable's scope is the whole clause, not its block: each body gets variables of its own. */
static void rename_variables(const struct bind *b, struct map *taken, struct written *w)
{
	const struct node *n = w->clause->node;
	w->names = arena_new(b->arena, struct map);
	for (const struct token *t = n->first; t != n->last; t = t->next) {
		if (!is_variable(t) || map_get(w->names, t->text))
			continue;
		struct str *name = arena_new(b->arena, struct str);
		*name = join_new_variable(b->arena, taken, t->text);
		map_put(b->arena, w->names, t->text, name);
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

/** Makes clause @next a part of clause @first. */
static void join_clauses(const struct bind *b, struct map *taken, struct written *first,
			 struct written *next)
{
	next->is_part = true;
	first->n_tokens += next->n_tokens;
	first->last->next = next;
	first->last = next;
	rename_variables(b, taken, next);
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

/** Has it a variable too large to share the stack with those of another clause? */
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

/** Does a macro return? In merged clauses that would end more than its own. */
static bool has_early_macro(const struct bind *b)
{
	for (size_t i = 0; i < b->found.script.clauses.n; i++) {
		const struct script_clause *c = b->found.script.clauses.v[i];
		if (c->node->kind == NODE_MACRO && join_early_end(c))
			return true;
	}
	return b->found.script.has_import;
}

static void join_same_probes(const struct bind *b, struct map *taken, const written_clauses *all)
{
	struct map seen = {0}; // clauses that others with their attach points may be joined to
	bool were_many = false;
	if (has_early_macro(b))
		return;
	vec_each(struct written, w, all) {
		if (!b->found.clauses[w - all->v]->has_user)
			continue;
		struct str text = attach_text(b, w->clause);
		struct written *to = map_get(&seen, text);
		w->n_tokens = 1;
		for (const struct token *t = w->clause->node->first; t != w->clause->node->last;
		     t = t->next)
			w->n_tokens++;
		if (to && !join_early_end(to->last->clause) &&
		    to->n_tokens + w->n_tokens <= MOST_JOINED && !has_big_variable(b, w->clause)) {
			join_clauses(b, taken, to, w);
			continue;
		}
		// Clauses in between may have some of the same probes, and all must run in the
		// order of the script.
		bool are_many = str_has(text, ",*?[");
		if (are_many || were_many)
			seen = (struct map){0};
		were_many = are_many;
		map_put(b->arena, &seen, text, w);
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

static bool join_ends(const struct bind *b, struct map *taken, const written_clauses *all,
		      enum provider_when when)
{
	struct written *first = NULL;
	const struct token *end = NULL;
	vec_each(struct written, w, all) {
		const struct script_clause *c = w->clause;
		if (c->attach.n != 1 || c->attach.v[0].provider->when != when)
			continue;
		// After exit() in BEGIN nothing matters any more.
		if (end && (tok_is(end, "return") || when == WHEN_END))
			return report_early_end(b, end, c);
		end = end ? end : join_early_end(c);
		if (first)
			join_clauses(b, taken, first, w);
		else
			first = w;
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

/** The attach points in @points that are not in @alone, as one list; then each of the others. */
static struct join_list split_points(const struct bind *b, const struct map *alone,
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

static void split_lists(const struct bind *b, const written_clauses *all)
{
	struct map alone = {0}; // attach points of clauses that have only one
	vec_each(struct written, w, all) {
		if (!w->is_part)
			w->splits = join_points(b, w->clause);
		if (w->splits.n == 1)
			map_add(b->arena, &alone, w->splits.v[0]);
	}
	vec_each(struct written, w, all) {
		bool is_list = w->splits.n > 1;
		if (is_list && vec_any(struct str, point, &w->splits, map_get(&alone, *point)))
			w->splits = split_points(b, &alone, &w->splits);
		else
			w->splits.n = 0;
	}
}

bool join_find(const struct bind *b, struct map *taken, written_clauses *ret)
{
	ret->n = b->found.script.clauses.n;
	ret->v = arena_array(b->arena, struct written, ret->n);
	for (size_t i = 0; i < ret->n; i++)
		ret->v[i] =
		    (struct written){.clause = b->found.script.clauses.v[i], .last = &ret->v[i]};
	if (!dialect_has_many_begins(b->given->version) &&
	    (!join_ends(b, taken, ret, WHEN_BEGIN) || !join_ends(b, taken, ret, WHEN_END)))
		return false;
	join_same_probes(b, taken, ret);
	if (dialect_confuses_lists(b->given->version))
		split_lists(b, ret);
	return true;
}
