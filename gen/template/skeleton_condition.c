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

/** What begins at a token: an argument, NAME or args.NAME, and the members after it. */
struct operand {
	const struct skeleton_field *f; // NULL: none
	struct ctype *type;		// NULL: not known
	size_t end;			// its last token
	bool has_members;
};

static const char *const members[] = {".", "->", NULL};

static struct operand find_operand(const struct condition *c, const struct skeleton_probe *p,
				   size_t i)
{
	const struct token *t = c->tokens.v;
	size_t n = c->tokens.n;
	bool is_full = i + 2 < n && tok_is(&t[i], "args") && tok_is(&t[i + 1], ".");
	struct operand o = {.end = is_full ? i + 2 : i};
	struct ctype_place m;
	struct str bad;
	if (is_full || is_name(c, i))
		o.f = skeleton_find_field(c->arena, p, t[o.end].text);
	o.type = o.f && o.f->arg ? ctype_as_pointer(c->arena, o.f->arg->type) : NULL;
	for (; o.type && o.end + 2 < n && tok_is_any(&t[o.end + 1], members); o.end += 2) {
		struct ctype *pointer =
		    tok_is(&t[o.end + 1], "->") ? cxxclass_pointer(o.type) : NULL;
		struct ctype *to = ctype_pointee(pointer ? pointer : o.type);
		struct ctype *in = to ? to : o.type;
		bool found = ctype_resolve(in, t[o.end + 2].text, &m, &bad, &in);
		o.type = found ? ctype_as_pointer(c->arena, m.type) : NULL;
		o.has_members = true;
	}
	return o;
}

/** Does str() of @o read the text of a class? */
static bool is_text_class(const struct operand *o)
{
	struct cxxclass class;
	bool is_named = o->f && (o->f->by_name || str_has_prefix(o->f->value.s, STR("vars.")));
	struct ctype *t = o->has_members ? ctype_strip(o->type) : ctype_pointee(o->type);
	return t && is_named && cxxclass_read(t, &class) && class.kind == CXXCLASS_TEXT;
}

/** Is @o, which begins at token @i, compared with a text, and shown as one? A class with text is compared with anything. */
static bool is_compared_text(const struct condition *c, const struct skeleton_probe *p, size_t i,
			     const struct operand *o)
{
	static const char *const equality[] = {"==", "!=", NULL};
	const struct token *t = c->tokens.v;
	bool is_class = is_text_class(o), is_before = i > 1 && tok_is_any(&t[i - 1], equality),
	     is_after = o->end + 2 < c->tokens.n && tok_is_any(&t[o->end + 1], equality);
	if (!is_before && !is_after)
		return false;
	size_t at = is_after ? o->end + 2 : i - 2;
	while (!is_after && at > 1 && tok_is_any(&t[at - 1], members))
		at -= 2;
	struct operand other = find_operand(c, p, at);
	return is_class ||
	       ((o->has_members ? ctype_is_text(o->type) : o->f->shape.value.how == VALUE_STRING) &&
		(t[at].kind == TOK_STRING || is_text_class(&other)));
}

/** Writes token @i; @end: of a text that has begun, its last one. */
static void write_token(struct condition *c, const struct skeleton_probe *p, size_t i, size_t *end,
			struct code *out)
{
	struct str text = c->tokens.v[i].text;
	struct operand o = find_operand(c, p, i);
	bool is_alone = is_name(c, i), is_shown = o.f && !str_eqz(o.f->value.s, "?");
	struct safe_word enumerator;
	if (is_shown && is_compared_text(c, p, i, &o)) {
		code_z(out, "str(");
		*end = o.end;
	}
	if (o.f && !is_shown && is_alone)
		code_z(out, "args."); // its error has why
	if (is_shown && is_alone)
		skeleton_write_value(o.f, true, out);
	else if (is_alone &&
		 word_take(find_enumerator(c->arena, p, text), ALPHABET_SCOPED_WORD, &enumerator))
		code_word(out, enumerator);
	else
		code_text(out, text);
	code_z(out, *end == i ? ")" : "");
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
	size_t n = c->tokens.n, off = code_str(out).n, end = n;
	code_z(out, open);
	quote(c, &t[0], off, out); // 0.17 has the place of the whole condition
	for (size_t i = 0; i < n; i++) {
		code_text(out, t[i].before);
		off = code_str(out).n;
		write_token(c, p, i, &end, out);
		quote(c, &t[i], off, out);
	}
	off = code_str(out).n;
	code_z(out, close);
	quote(c, &t[n - 1], off, out);
}
