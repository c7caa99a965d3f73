// Words that bpftrace does not know, or not in a clause of this kind.
#include "check/check_priv.h"

#include "lang/vocabulary.h"
#include "sema/result.h"

/** What to do about a builtin that a clause does not have, by its place; NULL: it may have it. */
typedef const char *const by_place[PLACE_RETURN + 1];

static by_place of_args = {[PLACE_NONE] = "it has no arguments"};
static by_place of_argument = {
    [PLACE_NONE] = "it has no arguments",
    [PLACE_TRACEPOINT] = "write args->NAME",
    [PLACE_RETURN] = "save it in a map at function entry, as in @arg[tid]",
};
static by_place of_retval = {
    [PLACE_NONE] = "it belongs to the end of a function",
    [PLACE_USDT] = "it belongs to the end of a function: kretprobe or uretprobe",
    [PLACE_TRACEPOINT] = "write args->ret",
    [PLACE_ENTRY] = "it belongs to the end of a function: kretprobe or uretprobe",
};

static const char *const *remedies_of(const struct node *n)
{
	unsigned i;
	if (vocabulary_arg_number(node_text(n), &i))
		return of_argument;
	if (tok_is(n->name, "retval"))
		return of_retval;
	return tok_is(n->name, "args") ? of_args : NULL;
}

static bool check_place(struct checker *k, const struct node *n)
{
	const struct script_clause *c = k->clause->clause;
	const char *const *remedies = remedies_of(n);
	for (size_t i = 0; remedies && i < c->attach.n; i++) {
		const struct provider *p = c->attach.v[i].provider;
		if (p->is_typed || !remedies[p->place])
			continue;
		check_report_at(k, n->first, "argument", DIAG_ERROR,
				STR_FMT " is not available in a clause of " STR_FMT ": %s",
				STR_ARG(node_text(n)), STR_ARG(c->attach.v[i].kind),
				remedies[p->place]);
		return false;
	}
	const char *why = tok_is(n->name, "retval") ? result_why_none(k->b, k->clause) : NULL;
	if (why)
		check_report_at(k, n->first, "argument", DIAG_WARNING,
				"retval is whatever the register holds: %s", why);
	return true;
}

/** What may stand there that is no word of the language: a type, a mode, what a header defines. */
static bool may_be_other(struct checker *k, const struct node *n, const struct node *parent)
{
	const struct node *clause = k->clause->clause->node;
	bool is_in_call = parent && parent->kind == NODE_CALL;
	const struct word *call =
	    is_in_call ? vocabulary_word(node_text(parent)) : vocabulary_word(STR(""));
	if (call->modes[0] || call->takes == TAKES_TYPE || script_macro(&k->b->found.script, n) ||
	    (clause->kind == NODE_MACRO && script_is_parameter(clause, n)))
		return true;
	if (n->kind == NODE_CALL)
		return false;
	// Enumerators and constants: those of the program, of the script and of headers.
	return k->b->found.pp->n_c_headers || k->b->found.script.definitions.n ||
	       n->first != n->last || (n->expr && n->expr->enumerator_of) ||
	       str_eqz(node_text(n), "_");
}

const char *check_missing_sigil(struct checker *k, const struct node *n)
{
	if (n->kind != NODE_NAME || vocabulary_is_word(node_text(n)))
		return NULL;
	if (check_has_variable(k, str_printf(k->b->arena, "$" STR_FMT, STR_ARG(node_text(n)))))
		return "$";
	return uses_of_map(&k->b->found.uses, node_text(n)) ? "@" : NULL;
}

/** Only what is nearly a word that there is: bpftrace says the rest better. */
static void check_spelling(struct checker *k, const struct node *n, const struct node *parent)
{
	struct str text = node_text(n);
	if (vocabulary_is_word(text) || may_be_other(k, n, parent) ||
	    script_has_function(&k->b->found.script, text))
		return;
	// Said once, and looked for once.
	if (!map_add(k->b->arena, &k->said,
		     str_printf(k->b->arena, "word " STR_FMT, STR_ARG(text))))
		return;
	const char *sigil = check_missing_sigil(k, n);
	const char *near = sigil ? NULL : vocabulary_nearest(text);
	const char *brackets = n->kind == NODE_CALL ? "()" : "";
	if (sigil)
		check_report_at(k, n->name, "unknown", DIAG_ERROR,
				"bpftrace has no " STR_FMT ": did you mean %s" STR_FMT "?",
				STR_ARG(text), sigil, STR_ARG(text));
	else if (near && vocabulary_word(str_from(near))->is_bare == (n->kind == NODE_NAME))
		check_report_at(k, n->name, "unknown", DIAG_ERROR,
				"bpftrace has no " STR_FMT "%s: did you mean %s%s?", STR_ARG(text),
				brackets, near, brackets);
}

void check_known(struct checker *k, struct node *n, struct node *parent)
{
	bool is_word = n->kind == NODE_NAME && !n->is_changed;
	if (parent && node_is(parent, NODE_CALL, "offsetof") && n != parent->child)
		return; // the name of a member, which may be that of a builtin
	if (is_word && !check_place(k, n))
		return;
	if (is_word || n->kind == NODE_CALL)
		check_spelling(k, n, parent);
}
