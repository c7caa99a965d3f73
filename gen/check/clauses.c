// Clauses that are written twice, and what they are attached to.
#include "check/check_priv.h"

#include "lang/print.h"
#include "out/dialect.h"

static struct str text_of(struct checker *k, const struct node *n)
{
	return print_text(k->b->arena, n);
}

/** An event of it would run the clause twice; 0.23 does not even load the program. */
static void check_attach_points(struct checker *k, const struct script_clause *c)
{
	for (size_t i = 1; i < c->attach.n; i++)
		for (size_t m = 0; m < i; m++) {
			const struct node *n = c->attach.v[i].node;
			if (!str_eq(text_of(k, n), text_of(k, c->attach.v[m].node)))
				continue;
			struct diag_place at = tok_place(n->first);
			bool is_refused = dialect_refuses_same_probes(k->b->version);
			k->good &= diag_check(k->b->diag, "duplicate",
					      is_refused ? DIAG_ERROR : DIAG_WARNING, &at,
					      "this probe is in the list already: %s",
					      is_refused ? "bpftrace 0.23 cannot load that"
							 : "the clause would run twice");
			return;
		}
}

/** Word for word the same as one before it: @seen has those by their text. */
static void check_clause(struct checker *k, struct map *seen, const struct node *n)
{
	struct str text = text_of(k, n);
	const struct node *before = map_get(seen, text);
	if (!before) {
		map_put(k->b->arena, seen, text, (void *)n);
		return;
	}
	struct diag_place at = tok_place(n->first), there = tok_place(before->first);
	k->good &= diag_check(k->b->diag, "duplicate", DIAG_WARNING, &at,
			      "this clause is there already: both run for each event");
	diag_note(k->b->diag, &there, "the first one is here");
}

/** break and continue where there is no loop; loops that bpftrace does not unroll. */
static void check_loops(struct checker *k, const struct node *n, bool in_loop)
{
	uint64_t times;
	const struct node *number =
	    node_is(n, NODE_WHILE, "unroll") ? node_ungrouped(n->child) : NULL;
	struct diag_place at = tok_place(n->first);
	if (n->kind == NODE_JUMP && !in_loop) {
		k->good &= diag_check(k->b->diag, "loop", DIAG_ERROR, &at,
				      STR_FMT " outside of a loop: return ends the clause",
				      STR_ARG(n->first->text));
	} else if (number && number->kind == NODE_NUMBER && str_to_u64(node_text(number), &times) &&
		   (!times || times > 100)) {
		at = tok_place(number->first);
		k->good &= diag_check(k->b->diag, "loop", DIAG_ERROR, &at,
				      "unroll() takes 1 to 100: use while for more");
	}
	in_loop |= n->kind == NODE_WHILE || n->kind == NODE_FOR;
	for (const struct node *c = n->child; c; c = c->next)
		check_loops(k, c, in_loop);
}

void check_clauses(struct checker *k)
{
	struct map seen = {0};
	for (size_t i = 0; i < k->b->script.clauses.n; i++) {
		const struct script_clause *c = k->b->clauses[i].clause;
		check_attach_points(k, c);
		if (c->node->kind != NODE_MACRO)
			check_loops(k, c->node, false);
		if (c->attach.n)
			check_clause(k, &seen, c->node);
	}
}
