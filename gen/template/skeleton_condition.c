// --filter: an expression of the user's, of which the clauses of a made script get what is right for their probe.
#include "template/skeleton_priv.h"

#include "ctype/cxxclass.h"

bool condition_read(struct arena *a, struct diag *d, const char *text, struct condition *ret)
{
	struct lexer lx;
	struct token t;
	*ret = (struct condition){.arena = a};
	lexer_init(&lx, a, d, src_from_text(a, STR("--filter"), str_from(text)));
	lx.braces = 1; // no attach points
	for (lexer_next(&lx, &t); t.kind != TOK_EOF; lexer_next(&lx, &t)) {
		if (tok_is(&t, "="))
			return diag_error(d, tok_at(&t), "= assigns: write == to compare");
		vec_push(a, &ret->tokens, t);
	}
	return !lx.failed &&
	       (ret->tokens.n || diag_error(d, NULL, "--filter: the condition is empty"));
}

/** Are the tokens from @i on "::"? */
static bool is_scope(const struct condition *c, size_t i)
{
	const struct token *t = &c->tokens.v[i];
	return i + 1 < c->tokens.n && tok_is(t, ":") && tok_is(t + 1, ":") && !t[1].space;
}

/** Can the token @i be the name of an argument or an enumerator? */
static bool is_name(const struct condition *c, size_t i)
{
	static const char *const before[] = {".", "->", "@", "struct", "union", "enum", NULL};
	const struct token *t = &c->tokens.v[i];
	return t->kind == TOK_IDENT && !vocabulary_is_builtin(t->text) &&
	       !(i && tok_is_any(t - 1, before)) && !(i > 1 && is_scope(c, i - 2)) &&
	       !(i + 1 < c->tokens.n && tok_is(t + 1, "(")) && !is_scope(c, i + 1);
}

/** An enumerator of @tab as C++ has it outside of its scope: ns::state::ON, ns::STATE_ON. */
static struct str scoped(struct arena *a, const struct enumtab *tab, const struct enumtab_item *e)
{
	size_t n = tab->name.n - str_last(tab->name, ':').n;
	return str_eq(e->text, e->name)
		   ? str_printf(a, STR_FMT STR_FMT, (int)n, tab->name.p, STR_ARG(e->name))
		   : e->text;
}

/** The enumerator that the enums of @p's arguments call @name; empty: none, or two. */
static struct str find_enumerator(struct arena *a, const struct skeleton_probe *p, struct str name)
{
	struct str found = STR("");
	for (size_t i = 0; i < p->n_fields; i++) {
		const struct probearg *arg = p->fields[i].arg;
		const struct enumtab *tab = arg ? enumtab_of(a, arg->type) : NULL;
		for (size_t k = 0; tab && k < tab->n_items; k++) {
			if (!str_eq(tab->items[k].name, name))
				continue;
			struct str full = scoped(a, tab, &tab->items[k]);
			if (found.n && !str_eq(found, full))
				return STR("");
			found = full;
		}
	}
	return found;
}

/** Does str() of the argument read the text of a class? */
static bool is_text_class(const struct condition *c, const struct skeleton_field *f)
{
	struct cxxclass class;
	struct ctype *to =
	    f && f->arg ? ctype_pointee(ctype_as_pointer(c->arena, f->arg->type)) : NULL;
	return to && (f->by_name || str_has_prefix(f->value.s, STR("vars."))) &&
	       cxxclass_read(to, &class) && class.kind == CXXCLASS_TEXT;
}

/** Is the argument @f, the token @i, compared with a text, and shown as one? A class with text is compared with anything. */
static bool is_compared_text(const struct condition *c, const struct skeleton_probe *p, size_t i,
			     const struct skeleton_field *f)
{
	static const char *const equality[] = {"==", "!=", NULL};
	size_t others[] = {i - 2, i + 2};
	bool is_class = is_text_class(c, f);
	for (size_t k = 0; k < 2; k++) {
		size_t at = others[k];
		if (at >= c->tokens.n || !tok_is_any(&c->tokens.v[k ? i + 1 : i - 1], equality))
			continue;
		const struct token *t = &c->tokens.v[at];
		if (is_class || (f->shape.value.how == VALUE_STRING &&
				 (t->kind == TOK_STRING ||
				  (is_name(c, at) &&
				   is_text_class(c, skeleton_find_field(c->arena, p, t->text))))))
			return true;
	}
	return false;
}

static void write_token(struct condition *c, const struct skeleton_probe *p, size_t i,
			struct code *out)
{
	struct str text = c->tokens.v[i].text;
	const struct skeleton_field *f =
	    is_name(c, i) ? skeleton_find_field(c->arena, p, text) : NULL;
	struct safe_word enumerator;
	bool is_shown = f && !str_eqz(f->value.s, "?"); // the error of args.NAME has why
	if (f && !is_shown)
		code_z(out, "args.");
	bool is_text = is_shown && is_compared_text(c, p, i, f);
	code_z(out, is_text ? "str(" : "");
	if (is_shown)
		skeleton_write_value(f, true, out);
	else if (is_name(c, i) &&
		 word_take(find_enumerator(c->arena, p, text), ALPHABET_SCOPED_WORD, &enumerator))
		code_word(out, enumerator);
	else
		code_text(out, text);
	code_z(out, is_text ? ")" : "");
}

/** What @out got from @off on is the user's @t. */
static void quote(struct condition *c, const struct token *t, size_t off, const struct code *out)
{
	struct str text = str_from_offset(code_str(out), off);
	struct src_quote q = {(uint32_t)off, (uint32_t)text.n, t->loc, (uint32_t)t->text.n,
			      str_eq(text, t->text)};
	vec_push(c->arena, &c->written, q);
}

void condition_write(struct condition *c, const struct skeleton_probe *p, const char *open,
		     const char *close, struct code *out)
{
	const struct token *t = c->tokens.v;
	size_t n = c->tokens.n, off = code_str(out).n;
	code_z(out, open);
	quote(c, &t[0], off, out); // 0.17 has the place of the whole condition
	for (size_t i = 0; i < n; i++) {
		code_text(out, t[i].before);
		off = code_str(out).n;
		write_token(c, p, i, out);
		quote(c, &t[i], off, out);
	}
	off = code_str(out).n;
	code_z(out, close);
	quote(c, &t[n - 1], off, out);
}
