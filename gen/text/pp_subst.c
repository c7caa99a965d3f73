// Replacement lists with arguments put in: # ## and GNU's comma (C11 6.10.3.1 to 6.10.3.3).
#include "text/pp_priv.h"

struct subst {
	struct pp *pp;
	const struct macro *m;
	struct arg *args;
	const struct token *call;
};

static bool is_paste(const struct macro *m, size_t i)
{
	return tok_is(&m->body[i], "##");
}

/** A token made here: spelled in the macro's definition, standing where the macro is called. */
static struct token *make_token(const struct subst *s, const struct token *body)
{
	struct token *t = pp_copy(s->pp, body);
	t->from_macro = true;
	t->use = s->call->use;
	t->no_expand = false;
	return t;
}

/**
 * The argument after macro expansion, which happens as if it were the rest of the file (C11 6.10.3.1). Once
 * for all uses of the parameter: expanding it has side effects (__COUNTER__).
 */
static struct toklist *expanded(const struct subst *s, struct arg *arg)
{
	if (arg->is_expanded)
		return &arg->expanded;
	arg->is_expanded = true;
	struct pp *pp = s->pp;
	if (pp->nesting >= PP_MAX_NESTING) {
		pp_error(pp, s->call, "macro calls are nested more than %u deep", PP_MAX_NESTING);
		pp->fatal = true;
		return &arg->expanded;
	}
	pp->nesting++;
	bool pad = pp->pad, vanished = pp->vanished;
	pp->pad = pp->vanished = false;
	struct toklist copy = {0};
	for (const struct token *t = arg->raw; t && !pp->fatal; t = t->next)
		list_add(&copy, pp_copy(pp, t));
	pp_begin_list(pp, copy.head);
	struct token *t;
	while ((t = pp_next(pp))->kind != TOK_EOF) {
		arg->expanded.lead |= !arg->expanded.head && pp->vanished;
		list_add(&arg->expanded, t);
	}
	pp_end_list(pp);
	arg->expanded.pad = pp->pad;
	pp->pad = pad;
	pp->vanished = vanished;
	pp->nesting--;
	return &arg->expanded;
}

/** Copies the tokens of an argument; the first one gets the place of the parameter @p. */
static void add_arg(const struct subst *s, const struct token *p, struct arg *arg, bool raw,
		    struct toklist *l)
{
	const struct toklist *e = raw ? NULL : expanded(s, arg);
	bool attach = p->attach;
	l->lead = e && e->lead;
	for (const struct token *t = raw ? arg->raw : e->head; t && !s->pp->fatal; t = t->next) {
		struct token *c = pp_copy(s->pp, t);
		if (!l->head) {
			c->space = p->space || (e && e->lead && c->space);
			// Keeps the line and the comment of a body given as an argument.
			if (!c->space)
				c->before = STR("");
			else if (c->from_macro || str_find(c->before, '\n') == c->before.n)
				c->before = STR(" ");
		}
		// What fills a hole in an attach point is part of it, up to a blank.
		attach = attach && (!l->head || !c->space);
		c->attach |= attach;
		list_add(l, c);
	}
	l->pad |= e && e->pad;
}

/**
 * # (C11 6.10.3.2): blanks between tokens become one each, and only strings and character constants
 * have their quotes and backslashes escaped: the result, read again, is the spelling of the
 * argument.
 */
static struct token *stringize(const struct subst *s, const struct token *hash,
			       const struct token *list)
{
	struct strbuf b = {0};
	strbuf_addc(&b, '"');
	size_t backslashes = 0; // at the end, outside of strings
	for (const struct token *t = list; t; t = t->next) {
		if (t != list && t->space)
			strbuf_addc(&b, ' ');
		bool quoted = t->kind == TOK_STRING || t->kind == TOK_CHAR;
		for (size_t i = 0; i < t->text.n; i++) {
			if (quoted && (t->text.p[i] == '"' || t->text.p[i] == '\\'))
				strbuf_addc(&b, '\\');
			strbuf_addc(&b, t->text.p[i]);
		}
		backslashes = str_eqz(t->text, "\\") ? (t->space ? 1 : backslashes + 1) : 0;
		if (!pp_spend_bytes(s->pp, t->text.n))
			break;
	}
	if (backslashes % 2) {
		pp_warning(s->pp, hash, "the string made by # ends in a \\, which is dropped");
		b.n--;
	}
	strbuf_addc(&b, '"');
	struct token *t = make_token(s, hash);
	t->kind = TOK_STRING;
	t->text = strbuf_take(&b, s->pp->arena);
	struct token check;
	// A backslash by itself before a quote undoes the quote's own.
	if (!s->pp->fatal && !lex_one(s->pp->arena, t->text, &check))
		pp_error(s->pp, hash, "# makes " STR_FMT ", which is not a single string",
			 STR_ARG(str_slice(t->text, 0, 200)));
	return t;
}

/** One past the last token of the operand that starts at @i: a token, or `# x`. */
static size_t operand_end(const struct macro *m, size_t i)
{
	return i + (m->kind == MACRO_FUNCTION && tok_is(&m->body[i], "#")) + 1;
}

/** The tokens of the operand at @i; with @raw (next to ##) arguments are not expanded. */
static void add_operand(const struct subst *s, size_t i, bool raw, struct toklist *l)
{
	const struct macro *m = s->m;
	const struct token *t = &m->body[i];
	*l = (struct toklist){0};
	if (operand_end(m, i) > i + 1) {
		list_add(l, stringize(s, t, s->args[m->param[i + 1]].raw));
	} else if (m->param[i] >= 0) {
		add_arg(s, t, &s->args[m->param[i]], raw, l);
	} else {
		list_add(l, make_token(s, t));
	}
}

/**
 * ## (C11 6.10.3.3): joins the last token of @l and the first of @rhs into one, and adds the rest
 * of @rhs. An operand without tokens (a placemarker, there) leaves the other as it is.
 */
static void paste(const struct subst *s, const struct token *op, struct toklist *l,
		  struct toklist *rhs)
{
	if (!l->head || !rhs->head) {
		list_join(l, rhs);
		return;
	}
	struct pp *pp = s->pp;
	struct token *a = l->last, *b = rhs->head, joined;
	if (!pp_spend_bytes(pp, a->text.n + b->text.n))
		return;
	struct str text =
	    str_printf(pp->arena, STR_FMT STR_FMT, STR_ARG(a->text), STR_ARG(b->text));
	if (!lex_one(pp->arena, text, &joined)) {
		pp_error(pp, op, "## makes \"" STR_FMT "\", which is not a single token",
			 STR_ARG(text));
		list_join(l, rhs);
		return;
	}
	a->kind = joined.kind;
	a->text = joined.text;
	a->no_expand = false;
	a->from_macro = true;
	a->loc = op->loc;
	a->use = s->call->use;
	rhs->head = b->next;
	list_join(l, rhs);
}

static void substitute(const struct subst *s, struct toklist *out)
{
	const struct macro *m = s->m;
	for (size_t i = 0, e; i < m->n_body && !s->pp->fatal; i = e) {
		const struct token *first = &m->body[i];
		e = operand_end(m, i);
		bool pasted = e < m->n_body && is_paste(m, e);
		bool comma = pasted && tok_is(first, ",");
		struct toklist l, rhs;
		add_operand(s, i, pasted, &l);
		while (e < m->n_body && is_paste(m, e)) {
			size_t op = e, r = e + 1;
			while (is_paste(m, r)) // gcc takes several for one
				r++;
			e = operand_end(m, r);
			add_operand(s, r, true, &rhs);
			if (comma && m->variadic && m->param[r] == (int)m->n_params - 1) {
				// GNU's `, ## args`: nothing is pasted, the comma goes when there are none.
				if (s->args[m->param[r]].omitted)
					l = (struct toklist){0};
				list_join(&l, &rhs);
			} else {
				bool empty = !l.head;
				paste(s, &m->body[op], &l, &rhs);
				if (empty && l.head) {
					l.head->space = first->space;
					l.head->before = first->space ? STR(" ") : STR("");
				}
			}
			comma = false;
		}
		if (!l.head)
			out->pad |= first->space;
		out->lead |= !out->head && (!l.head || l.lead);
		list_join(out, &l);
	}
}

void pp_substitute(struct pp *pp, struct macro *m, struct arg *args, const struct token *call,
		   struct toklist *ret)
{
	struct subst s = {.pp = pp, .m = m, .args = args, .call = call};
	// An empty list, only so that messages know about this call.
	struct pp_context here = {.outer = pp->context, .call = (struct token *)call};
	pp->context = &here;
	substitute(&s, ret);
	pp->context = here.outer;
}
