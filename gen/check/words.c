#include "check/check_priv.h"

#include "lang/vocabulary.h"

static bool warn_of_new(void *ctx, struct node *n, struct node *parent)
{
	struct bind *b = ctx;
	bool is_used = n->kind == NODE_NAME || n->kind == NODE_CALL;
	const struct word *w = is_used ? vocabulary_word(n->name->text) : NULL;
	struct diag_place at = tok_place(n->first);
	(void)parent;
	if (w && w->since > b->version && (n->kind == NODE_CALL || w->is_bare))
		diag_check(b->diag, "version", DIAG_WARNING, &at,
			   "bpftrace 0.%u has no %s: it was added in 0.%u", b->version, w->name,
			   w->since);
	return true;
}

void check_words(struct bind *b, const struct script_clause *c)
{
	if (b->files) // a script of the host is all bpftrace's
		node_walk(c->node, warn_of_new, b);
}
