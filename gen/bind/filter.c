#include "bind/filter.h"

#include "lang/change.h"

/** "pid == 42", or "(pid == 42 || pid == 43)" */
static const char *is_traced(struct bind *b)
{
	const char *test = arena_printf(b->arena, "pid == %d", b->proc->pid);
	for (size_t i = 1; i < b->n_pids; i++)
		test = arena_printf(b->arena, "%s || pid == %d", test, b->pids[i]);
	return b->n_pids > 1 ? arena_printf(b->arena, "(%s)", test) : test;
}

static void add_filter(struct bind *b, const struct script_clause *c)
{
	struct arena *a = b->arena;
	struct node *condition = script_condition(a, c);
	struct node *last = c->attach.v[c->attach.n - 1].node;
	if (condition)
		change(a, script_predicate(c), "/ %s && (%n)/", is_traced(b), condition);
	else
		change(a, last, "%n /%s/", last, is_traced(b));
}

bool filter_add_all(struct bind *b)
{
	bool good = true;
	if (!b->proc || b->scope == BIND_HOST)
		return true;
	for (size_t i = 0; i < b->script.clauses.n; i++) {
		const struct attach_clause *c = &b->clauses[i];
		bool needed =
		    b->scope == BIND_BY_FILTER ? c->has_user : c->has_uprobe && b->version < 23;
		if (!needed)
			continue;
		if (c->has_other) {
			struct diag_place place = tok_place(c->clause->attach.v[0].node->first);
			good = diag_error(b->diag, &place,
					  "this clause mixes probes of the process, which need a "
					  "filter by PID here, with others: write two clauses");
			continue;
		}
		add_filter(b, c->clause);
	}
	return good;
}
