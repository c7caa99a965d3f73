#include "check/check_priv.h"

#include "lang/vocabulary.h"

/** bpftrace does not know that argN and retval of functions may be an int. */
static bool is_of_function(const struct attach_clause *c)
{
	for (size_t i = 0; i < c->clause->attach.n; i++) {
		const struct provider *p = c->clause->attach.v[i].provider;
		if (!p || (p->kind != PROVIDER_UPROBE && p->kind != PROVIDER_URETPROBE &&
			   p->kind != PROVIDER_KPROBE && p->kind != PROVIDER_KRETPROBE))
			return false;
	}
	return true;
}

/**
 * `< 0`, `>= 0` and comparisons with a negative number, of which an unsigned one is always or never
 * true.
 */
static bool asks_for_sign(const struct node *n)
{
	static const char *const names[] = {"<", ">", "<=", ">=", "==", "!=", NULL};
	const struct node *with = n->child->next;
	if (node_is(with, NODE_UNARY, "-"))
		return tok_is_any(n->name, names) && with->child->kind == NODE_NUMBER;
	return (tok_is(n->name, "<") || tok_is(n->name, ">=")) && with->kind == NODE_NUMBER &&
	       str_eqz(with->name->text, "0");
}

void check_compare(struct checker *k, struct node *n, struct node *parent)
{
	unsigned i;
	(void)parent;
	if (n->kind != NODE_BINARY || !is_of_function(k->clause) || !asks_for_sign(n))
		return;
	const struct node *word = node_ungrouped(n->child);
	if (!node_is(word, NODE_NAME, "retval") &&
	    (word->kind != NODE_NAME || !vocabulary_arg_number(word->name->text, &i)))
		return;
	struct diag_place at = tok_place(word->first);
	struct str text = word->name->text;
	k->good &= diag_check(k->b->diag, "sign-compare", DIAG_WARNING, &at,
			      "to bpftrace " STR_FMT
			      " of a function is an unsigned 64-bit number: write (int32)" STR_FMT
			      " for an int, (int64)" STR_FMT " for a long",
			      STR_ARG(text), STR_ARG(text), STR_ARG(text));
}
