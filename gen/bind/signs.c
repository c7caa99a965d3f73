#include "bind/signs.h"

/** `< 0`, `>= 0` and comparisons with a negative number, of which an unsigned one is always or never true. */
static bool asks_for_sign(const struct token *op)
{
	static const char *const names[] = {"<", ">", "<=", ">=", "==", "!="};
	bool is_op = false;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		is_op |= tok_is(op, names[i]);
	if (!is_op)
		return false;
	bool minus = tok_is(op->next, "-") && op->next->next->kind == TOK_NUMBER;
	return minus || ((tok_is(op, "<") || tok_is(op, ">=")) && str_eqz(op->next->text, "0"));
}

static void warn_of(struct bind *b, const struct token *before, const struct token *t)
{
	if (tok_is(before, ")") || !asks_for_sign(t->next))
		return; // a cast
	struct diag_place at = tok_place(t);
	diag_warning(b->diag, &at,
		     "to bpftrace " STR_FMT
		     " of a function is a 64-bit number without a sign, never "
		     "below 0: write (int32)" STR_FMT " for an int, (int64)" STR_FMT " for a long",
		     STR_ARG(t->text), STR_ARG(t->text), STR_ARG(t->text));
}

static bool is_function(const struct provider *p)
{
	return p && (p->kind == PROVIDER_UPROBE || p->kind == PROVIDER_URETPROBE ||
		     p->kind == PROVIDER_KPROBE || p->kind == PROVIDER_KRETPROBE);
}

void signs_warn(struct bind *b, const struct attach_clause *c)
{
	for (size_t i = 0; i < c->clause->attach.n; i++)
		if (!is_function(c->clause->attach.v[i].provider))
			return;
	for (size_t i = 0; i < c->clause->args.n; i++) {
		const struct token *t = c->clause->args.v[i].token;
		warn_of(b, script_token_before(c->clause, t), t);
	}
	struct script_range parts[2] = {{c->clause->predicate_open, c->clause->predicate_close},
					c->clause->body};
	for (int k = 0; k < 2; k++)
		for (const struct token *t = parts[k].first; t && t != parts[k].last; t = t->next)
			if (t->next && tok_is(t->next, "retval"))
				warn_of(b, t, t->next);
}
