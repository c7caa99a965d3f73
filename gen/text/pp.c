#include "text/pp_priv.h"

// Notes about macro calls and #includes after one message; the rest of a longer chain is counted.
#define MAX_NOTES 8

void list_add(struct toklist *l, struct token *t)
{
	if (l->pad && !t->space) {
		t->space = true;
		t->before = STR(" ");
	}
	l->pad = false;
	t->next = NULL;
	*(l->last ? &l->last->next : &l->head) = t;
	l->last = t;
}

void list_join(struct toklist *l, struct toklist *more)
{
	for (struct token *t = more->head, *next; t; t = next) {
		next = t->next;
		list_add(l, t);
	}
	l->pad |= more->pad;
}

struct token *pp_copy(struct pp *pp, const struct token *t)
{
	pp_spend(pp);
	struct token *c = arena_alloc(pp->arena, sizeof(*c));
	*c = *t;
	c->next = NULL;
	return c;
}

static bool over_limit(struct pp *pp, const char *what)
{
	if (pp->fatal)
		return false;
	pp->fatal = pp->failed = true;
	struct diag_place at = {0};
	if (pp->level)
		at = src_place((struct src_loc){pp->level->file, pp->level->lex.pos}, 1);
	diag_error(pp->diag, pp->level ? &at : NULL, "%s", what);
	return pp_notes(pp);
}

bool pp_spend(struct pp *pp)
{
	if (++pp->n_tokens <= PP_MAX_TOKENS)
		return true;
	return over_limit(
	    pp, "the program exceeds 2 million tokens here: does a macro multiply itself?");
}

bool pp_spend_bytes(struct pp *pp, size_t n)
{
	pp->n_bytes += n;
	if (pp->n_bytes <= PP_MAX_BYTES)
		return true;
	return over_limit(pp, "# and ## exceed 64 MiB of text here");
}

static void note_macros(struct pp *pp)
{
	unsigned n = 0;
	for (struct pp_context *c = pp->context; c; c = c->outer) {
		if (!c->call || n++ >= MAX_NOTES)
			continue;
		diag_note(pp->diag, diag_at(src_place(c->call->loc, c->call->text.n)),
			  "in the expansion of macro \"" STR_FMT "\"", STR_ARG(c->call->text));
	}
	if (n > MAX_NOTES)
		diag_note(pp->diag, NULL, "(%u more macro expansions around it)", n - MAX_NOTES);
}

bool pp_notes(struct pp *pp)
{
	note_macros(pp);
	unsigned n = 0;
	bool again = false; // once round a circle is enough
	for (struct pp_level *l = pp->level; l && l->included.file; l = l->outer) {
		again |= l != pp->level && l->file == pp->level->file;
		if (n++ >= MAX_NOTES || again)
			continue;
		struct diag_place at = src_place(l->included, 1);
		at.source = STR("");
		diag_note(pp->diag, &at, "\"" STR_FMT "\" is included from here",
			  STR_ARG(l->file->name));
	}
	if (n > MAX_NOTES && !again)
		diag_note(pp->diag, NULL, "(included by %u more files)", n - MAX_NOTES);
	return false;
}

void pp_lex(struct pp *pp, struct token *ret)
{
	struct lexer *lex = &pp->level->lex;
	lexer_next(lex, ret);
	if (lex->failed) {
		lex->failed = false;
		pp->failed = true;
		pp_notes(pp);
	}
}

struct token *pp_line(struct pp *pp)
{
	struct toklist l = {0};
	do {
		list_add(&l, arena_new(pp->arena, struct token));
		pp_lex(pp, l.last);
	} while (l.last->kind != TOK_EOF && pp_spend(pp));
	if (l.last->kind != TOK_EOF)
		list_add(&l, arena_new(pp->arena, struct token));
	return l.head;
}

struct token *pp_expanded_line(struct pp *pp, struct token *line)
{
	struct toklist l = {0};
	pp_begin_list(pp, line);
	do
		list_add(&l, pp_next(pp));
	while (l.last->kind != TOK_EOF);
	pp_end_list(pp);
	return l.head;
}

void pp_no_more(struct pp *pp, const struct token *t, const char *directive)
{
	if (t->kind != TOK_EOF)
		pp_warning(pp, t, "extra text after #%s", directive);
}

bool pp_fail(struct pp *pp)
{
	pp->failed = true;
	// More would not be shown.
	pp->fatal |= pp->diag->n_errors > DIAG_MAX_ERRORS;
	return pp_notes(pp);
}

static struct token *new_eof(struct pp *pp, struct src_loc loc)
{
	struct token *t = arena_new(pp->arena, struct token);
	t->loc = t->use = loc;
	t->bol = t->space = true;
	return t;
}

void pp_init(struct pp *pp, struct arena *a, struct diag *d)
{
	*pp = (struct pp){.arena = a, .diag = d};
	pp->out = new_eof(pp, (struct src_loc){0});
	pp->tail = &pp->out;
	pp_add_builtins(pp);
}

void pp_add_dir(struct pp *pp, const char *dir)
{
	vec_push(pp->arena, &pp->dirs, dir);
}

void pp_emit(struct pp *pp, struct token *t)
{
	if (pp->lost->n) {
		strbuf_adds(pp->lost, t->before);
		t->before = str_copy(pp->arena, strbuf_str(pp->lost));
		strbuf_clear(pp->lost);
	}
	// A macro can bring the text of an attach point anywhere; in a body it is none.
	if (pp->braces > 0)
		t->attach = false;
	if (tok_is(t, "{"))
		pp->braces++;
	else if (tok_is(t, "}") && pp->braces > 0)
		pp->braces--;
	*pp->tail = t;
	pp->tail = &t->next;
}

void pp_enter_file(struct pp *pp, const struct src_file *f, struct src_loc at)
{
	if (!pp_spend_bytes(pp, f->text.n))
		return;
	struct pp_level level = {.outer = pp->level, .file = f, .included = at};
	lexer_init(&level.lex, pp->arena, pp->diag, f);
	size_t lost = pp->lost->n;
	struct token **tail = pp->tail;
	pp->level = &level;

	struct token *t;
	while ((t = pp_next(pp))->kind != TOK_EOF)
		pp_emit(pp, t);
	for (struct pp_cond *c = level.conds; c; c = c->outer) {
		struct token hash = {.text = STR("#"), .loc = c->loc};
		pp_error(pp, &hash, "this conditional has no #endif");
	}
	if (at.file && tail == pp->tail) {
		// Nothing came of this file: its blank lines are of no use to the one that included it.
		pp->lost->n = lost;
	} else {
		strbuf_adds(pp->lost, t->before);
	}
	pp->level = level.outer;
}

bool pp_file(struct pp *pp, const struct src_file *f)
{
	struct strbuf lost = {0};
	pp->lost = &lost;
	pp->failed = false;
	pp->pad = false;
	vec_push(pp->arena, &pp->files, (struct src_file *)f);
	if (!pp->fatal)
		pp_enter_file(pp, f, (struct src_loc){0});

	struct token *eof = new_eof(pp, (struct src_loc){f, (uint32_t)f->text.n});
	eof->before = str_copy(pp->arena, strbuf_str(&lost));
	*pp->tail = eof;
	strbuf_fini(&lost);
	pp->lost = NULL;
	return !pp->failed && !pp->fatal;
}
