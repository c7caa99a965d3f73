#include "bind/signs.h"

#include "bind/edit.h"
#include "bind/sign.h"
#include "image/sdtarg.h"
#include "out/dialect.h"

/** Bytes of argument @n when it has one size and that sign at every site of every probe of the clause; else 0. */
static unsigned common_size(struct bind *b, const struct attach_clause *c, unsigned n,
			    bool is_signed)
{
	unsigned size = 0;
	for (size_t i = 0; i < c->probes.n; i++) {
		const struct attach_match *m = &c->probes.v[i];
		for (size_t k = 0; k < m->probe->n_sites; k++) {
			struct sdtarg *args;
			size_t n_args;
			sdtarg_parse(b->arena, m->image->img->machine, m->probe->sites[k].args,
				     &args, &n_args);
			if (n >= n_args || args[n].is_signed != is_signed || args[n].is_float ||
			    (size && args[n].size != size))
				return 0;
			size = args[n].size;
		}
	}
	return size == 1 || size == 2 || size == 4 || size == 8 ? size : 0;
}

/** Operators whose result depends on the sign of what they are applied to. */
static bool minds_sign(const struct token *t)
{
	static const char *const names[] = {"<", ">", "<=", ">=", "/", "%", ">>"};
	for (size_t i = 0; t && i < sizeof(names) / sizeof(names[0]); i++)
		if (tok_is(t, names[i]))
			return true;
	return false;
}

/** What must stand before argN: a cast, or nothing. */
static const char *cast_text(struct bind *b, const struct attach_clause *c,
			     const struct script_arg *use, const struct token *before)
{
	if (!dialect_has_libbpf_usdt(b->version)) {
		unsigned size = common_size(b, c, use->n, true);
		if (size == 8)
			return "(int64)";
		return size ? arena_printf(b->arena, "(int64)(int%u)", size * 8) : NULL;
	}
	if (!minds_sign(before) && !minds_sign(use->token->next))
		return NULL;
	return common_size(b, c, use->n, false) == 8 ? "(uint64)" : NULL;
}

/** The token before @t; the uses come mostly in order, and @from is where the last one was found. */
static struct token *find_before(const struct script_clause *c, struct token **from,
				 const struct token *t)
{
	for (struct token *p = *from; p && p->kind != TOK_EOF && p != c->body.last; p = p->next)
		if (p->next == t)
			return *from = p;
	return (struct token *)script_token_before(c, t);
}

void signs_extend(struct bind *b, struct attach_clause *c)
{
	if (c->has_other || c->has_uprobe)
		return;
	struct token *from =
	    c->clause->predicate_open ? c->clause->predicate_open : c->clause->body.first;
	for (size_t i = 0; i < c->clause->args.n; i++) {
		struct script_arg *use = &c->clause->args.v[i];
		struct token *before = find_before(c->clause, &from, use->token);
		const char *cast = cast_text(b, c, use, before);
		unsigned size = common_size(b, c, use->n, false);
		if (common_size(b, c, use->n, true))
			sign_note(b, use->token, SIGN_SIGNED);
		else if (size && size < 8)
			sign_note(b, use->token, SIGN_NONE);
		struct script_range r = {use->token, use->token};
		if (cast)
			edit_replace_lexed(
			    b->arena, &r,
			    str_from(arena_printf(b->arena, "%sarg%u", cast, use->n)));
	}
}

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
