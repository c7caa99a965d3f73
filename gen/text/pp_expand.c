// Reading tokens from files and lists, and calling macros.
#include "text/pp_priv.h"

static void push(struct pp *pp, struct token *list, struct macro *m, struct token *call)
{
	struct pp_context *c = arena_new(pp->arena, struct pp_context);
	*c = (struct pp_context){.outer = pp->context, .next = list, .macro = m, .call = call};
	pp->context = c;
	if (m)
		m->off = true;
}

// The tokens of a directive end with its line: reading stops at the barrier, not after it.
void pp_begin_list(struct pp *pp, struct token *list)
{
	push(pp, list, NULL, NULL);
	pp->context->barrier = true;
}

void pp_end_list(struct pp *pp)
{
	bool barrier = false;
	while (pp->context && !barrier) {
		struct pp_context *c = pp->context;
		barrier = c->barrier;
		if (c->macro)
			c->macro->off = false;
		pp->context = c->outer;
	}
}

/** The end of what is being read; made anew, since the caller may link it. */
static struct token *end_token(struct pp *pp)
{
	struct token *t = arena_new(pp->arena, struct token);
	if (pp->level)
		t->loc = t->use = (struct src_loc){pp->level->file, pp->level->lex.pos};
	return t;
}

/** The next token of the innermost file; directives on the way are carried out. */
static struct token *next_of_file(struct pp *pp)
{
	struct pp_level *level = pp->level;
	for (;;) {
		if (pp->fatal || level->at_end || !pp_spend(pp))
			return end_token(pp);
		// Tokens of arguments are not in the program yet: until they are, the lexer's own count
		// applies.
		if (!pp->in_args)
			level->lex.braces = pp->braces;
		struct token *t = arena_alloc(pp->arena, sizeof(*t));
		pp_lex(pp, t);
		level->at_end = t->kind == TOK_EOF;
		if (!t->bol || !tok_is(t, "#"))
			return t;
		pp_directive(pp, t);
	}
}

struct token *pp_next_raw(struct pp *pp)
{
	while (pp->context) {
		struct pp_context *c = pp->context;
		struct token *t = c->next;
		if (t && t->kind != TOK_EOF) {
			c->next = t->next;
			t->next = NULL;
			return t;
		}
		if (c->barrier)
			return end_token(pp);
		if (c->macro)
			c->macro->off = false;
		pp->pad |= c->pad;
		pp->context = c->outer;
	}
	return next_of_file(pp);
}

/** Adds the blank that something empty before @t left. */
static void pay_pad(struct pp *pp, struct token *t)
{
	if (pp->pad && !t->space && t->kind != TOK_EOF) {
		t->space = true;
		t->before = STR(" ");
	}
	pp->pad = false;
}

static void put_back(struct pp *pp, struct token *t)
{
	if (t->kind != TOK_EOF)
		push(pp, t, NULL, NULL);
}

/** A token read without expanding it; a macro's name inside that macro is marked all the same. */
static struct token *next_argument_token(struct pp *pp)
{
	struct token *t = pp_next_raw(pp);
	const struct macro *m = t->kind == TOK_IDENT ? map_get(&pp->macros, t->text) : NULL;
	t->no_expand |= m && m->off;
	return t;
}

/** Arguments of one call, as they are collected. */
struct call_args {
	VEC(struct arg) v;
	struct toklist cur;
};

static void end_arg(struct pp *pp, struct call_args *a)
{
	vec_push(pp->arena, &a->v, (struct arg){.raw = a->cur.head});
	a->cur = (struct toklist){0};
}

/** Splits the arguments of a call, after the opening parenthesis; false at the end of the file. */
static bool split_args(struct pp *pp, const struct macro *m, struct call_args *a)
{
	unsigned depth = 0;
	for (;;) {
		struct token *t = next_argument_token(pp);
		if (t->kind == TOK_EOF)
			return false;
		if (depth == 0 && tok_is(t, ")"))
			break;
		bool rest = m->variadic && a->v.n + 1 == m->n_params;
		if (depth == 0 && tok_is(t, ",") && !rest) {
			end_arg(pp, a);
			continue;
		}
		if (tok_is(t, "("))
			depth++;
		else if (tok_is(t, ")"))
			depth--;
		list_add(&a->cur, t);
	}
	end_arg(pp, a);
	return true;
}

/** C11 6.10.3 paragraph 4, and GNU's: the variable arguments may be left out altogether. */
static bool count_args(struct pp *pp, const struct macro *m, const struct token *name,
		       struct call_args *a)
{
	size_t want = m->n_params, got = a->v.n;
	if (want == 0 && got == 1 && !a->v.v[0].raw)
		return true;
	if (m->variadic && got + 1 == want) {
		end_arg(pp, a);
		a->v.v[got].omitted = true;
		return true;
	}
	if (got == want) {
		a->v.v[got - 1].omitted = m->variadic && got == 1 && !a->v.v[0].raw;
		return true;
	}
	if (m->variadic)
		want--;
	pp_error(pp, name, "macro \"" STR_FMT "\" takes %s%zu argument%s, not %zu",
		 STR_ARG(m->name), m->variadic ? "at least " : "", want, want == 1 ? "" : "s", got);
	return diag_note(pp->diag, diag_at(src_place(m->loc, m->name.n)),
			 "\"" STR_FMT "\" is defined here", STR_ARG(m->name));
}

/** Gives the first token of an expansion the place of the macro's name; an empty expansion leaves its blank. */
static void place_expansion(struct pp *pp, struct toklist *l, const struct token *name)
{
	if (!l->head) {
		pp->vanished = true;
		pp->pad |= name->space;
		if (pp->lost && !name->from_macro && !pp->context && !pp->in_args)
			strbuf_adds(pp->lost, name->before);
		return;
	}
	l->head->bol = name->bol;
	l->head->space = name->space || (l->lead && l->head->space);
	if (name->space || !l->head->space)
		l->head->before = name->before;
	// Inside an attach point nothing may be put between its parts, wherever they come from.
	for (struct token *t = l->head; name->attach && t; t = t->next) {
		if ((t != l->head && t->space) || tok_is(t, "{") || tok_is(t, ","))
			break;
		t->attach = true;
	}
}

/** Reads an expansion next. */
static void read_expansion(struct pp *pp, struct toklist *l, struct macro *m, struct token *name)
{
	place_expansion(pp, l, name);
	push(pp, l->head, m, name);
	pp->context->pad = l->pad;
}

static void expand_object(struct pp *pp, struct macro *m, struct token *name)
{
	struct toklist l = {0};
	if (m->kind == MACRO_OBJECT)
		pp_substitute(pp, m, NULL, name, &l);
	else
		list_add(&l, pp_builtin(pp, m, name));
	read_expansion(pp, &l, m, name);
}

/** Calls @m when a parenthesis follows; false when none does. */
static bool expand_function(struct pp *pp, struct macro *m, struct token *name)
{
	bool outer = pp->in_args;
	struct pp_context *chain = pp->context; // for messages: reading the arguments leaves it
	pp->in_args = true;
	struct token *paren = next_argument_token(pp);
	if (!tok_is(paren, "(")) {
		pp->in_args = outer;
		pay_pad(pp, paren);
		put_back(pp, paren);
		return false;
	}
	struct call_args args = {0};
	bool closed = split_args(pp, m, &args);
	pp->in_args = outer;
	pp->pad = false;

	struct pp_context *now = pp->context;
	pp->context = chain;
	bool good = closed;
	if (!closed && !pp->fatal)
		pp_error(pp, name, "the arguments of macro \"" STR_FMT "\" lack a closing )",
			 STR_ARG(m->name));
	else if (closed)
		good = count_args(pp, m, name, &args);
	pp->context = now;
	if (!good) {
		name->no_expand = true; // reported once
		put_back(pp, name);
		return true;
	}
	struct toklist l = {0};
	pp_substitute(pp, m, args.v.v, name, &l);
	read_expansion(pp, &l, m, name);
	return true;
}

struct token *pp_next(struct pp *pp)
{
	for (;;) {
		struct token *t = pp_next_raw(pp);
		if (t->kind == TOK_EOF)
			return t;
		pay_pad(pp, t);
		if (t->kind != TOK_IDENT || t->no_expand)
			return t;
		struct macro *m = map_get(&pp->macros, t->text);
		if (!m)
			return t;
		m->used = true;
		if (m->off) { // C11 6.10.3.4 paragraph 2: never again, even where the macro is on
			t->no_expand = true;
			return t;
		}
		if (!pp_spend(pp))
			return end_token(pp);
		if (m->kind != MACRO_FUNCTION)
			expand_object(pp, m, t);
		else if (!expand_function(pp, m, t))
			return t;
	}
}
