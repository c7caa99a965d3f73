#include "bind/filter.h"

#include "bind/edit.h"

/** "pid == 42", or "(pid == 42 || pid == 43)" */
static const char *is_traced(struct bind *b)
{
	const char *test = arena_printf(b->arena, "pid == %d", b->proc->pid);
	for (size_t i = 1; i < b->n_pids; i++)
		test = arena_printf(b->arena, "%s || pid == %d", test, b->pids[i]);
	return b->n_pids > 1 ? arena_printf(b->arena, "(%s)", test) : test;
}

static void add_filter(struct bind *b, struct script_clause *c)
{
	struct arena *a = b->arena;
	const char *test = is_traced(b);
	if (!c->predicate.first) {
		struct token *before = c->attach.v[c->attach.n - 1].range.last;
		edit_insert_after(a, before, str_from(arena_printf(a, "/%s/", test)));
		return;
	}
	edit_insert_after(a, c->predicate_open, str_from(arena_printf(a, "%s && (", test)));
	struct token *last =
	    c->predicate_open; // what the predicate ends in may have been rewritten
	while (last->next != c->predicate_close)
		last = last->next;
	edit_insert_after(a, last, STR(")"));
}

bool filter_add_all(struct bind *b, struct attach_clause *clauses, size_t n)
{
	bool good = true;
	if (!b->proc || b->host_scope)
		return true;
	for (size_t i = 0; i < n; i++) {
		struct attach_clause *c = &clauses[i];
		bool needed = b->no_pid ? c->has_user : c->has_uprobe && b->version < 23;
		if (!needed)
			continue;
		if (c->has_other) {
			struct diag_place place = tok_place(c->clause->attach.v[0].range.first);
			good = diag_error(b->diag, &place,
					  "this clause mixes probes of the process with others, "
					  "and its probes must be "
					  "filtered by process here: write two clauses");
			continue;
		}
		add_filter(b, c->clause);
	}
	return good;
}
