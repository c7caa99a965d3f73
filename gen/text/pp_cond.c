// Conditionals: which groups of lines are read and which are skipped (C11 6.10.1, C23's #elifdef).
#include "text/expr.h"
#include "text/pp_priv.h"

struct token *pp_truth(struct pp *pp, const struct token *at, bool yes)
{
	struct token *t = pp_copy(pp, at);
	t->kind = TOK_NUMBER;
	t->text = yes ? STR("1") : STR("0");
	return t;
}

static bool is_defined(struct pp *pp, const struct token *name)
{
	struct macro *m = map_get(&pp->macros, name->text);
	if (m)
		m->used = true;
	bool yes = m || map_get(&pp->external, name->text) || tok_is(name, "__has_include");
	if (!yes)
		pp_c_confirm_undefined(pp, name);
	return yes;
}

/** A word of #if that is no macro of the template: bpftrace's, or none, which is 0. NULL after an error. */
static struct token *word_value(struct pp *pp, struct token *name)
{
	const char *value = map_get(&pp->external, name->text);
	if (value && !*value) {
		pp_error(pp, name, "only bpftrace knows the value of " STR_FMT,
			 STR_ARG(name->text));
		return NULL;
	}
	if (!value) {
		pp_c_confirm_undefined(pp, name);
		return name;
	}
	struct token *t = pp_truth(pp, name, true);
	t->text = str_from(value);
	return t;
}

/** The operand of `defined`, from the list being read. */
static struct token *defined_operator(struct pp *pp, const struct token *op)
{
	struct token *t = pp_next_raw(pp);
	bool paren = tok_is(t, "(");
	if (paren)
		t = pp_next_raw(pp);
	if (t->kind != TOK_IDENT) {
		pp_error(pp, t->kind == TOK_EOF ? op : t, "\"defined\" needs the name of a macro");
		return NULL;
	}
	bool yes = is_defined(pp, t);
	if (paren && !tok_is(t = pp_next_raw(pp), ")")) {
		pp_error(pp, t->kind == TOK_EOF ? op : t, "this ( has no )");
		return NULL;
	}
	return pp_truth(pp, op, yes);
}

/** The value of an #if line; false after an error too. */
static bool evaluate(struct pp *pp, const struct token *name)
{
	struct token *line = pp_line(pp);
	if (line->kind == TOK_EOF)
		return pp_error(pp, name, "#" STR_FMT " needs an expression", STR_ARG(name->text));
	pp_begin_list(pp, line);
	struct toklist l = {0};
	struct token *t;
	bool good = true;
	do {
		t = pp_next(pp);
		if (tok_is(t, "defined"))
			t = defined_operator(pp, t);
		else if (tok_is(t, "__has_include"))
			t = pp_has_include(pp, t);
		else if (t->kind == TOK_IDENT)
			t = word_value(pp, t);
		if (!t) {
			good = false;
			break;
		}
		list_add(&l, t);
	} while (t->kind != TOK_EOF);
	pp_end_list(pp);

	bool yes;
	const struct token *bad_at;
	const char *why;
	if (!good || pp->fatal)
		return false;
	if (expr_eval(l.head, &yes, &bad_at, &why))
		return yes;
	return pp_error(pp, bad_at->kind == TOK_EOF ? name : bad_at, "%s", why);
}

/** #ifdef and #elifdef: is the macro named by the line defined? */
static bool ifdef(struct pp *pp, const struct token *directive)
{
	struct token *t = pp_line(pp);
	if (t->kind != TOK_IDENT)
		return pp_error(pp, t->kind == TOK_EOF ? directive : t,
				"#" STR_FMT " needs the name of a macro", STR_ARG(directive->text));
	pp_no_more(pp, t->next, str_dup(pp->arena, directive->text));
	return is_defined(pp, t);
}

enum conditional { COND_NONE, COND_IF, COND_ELIF, COND_ELSE, COND_ENDIF };

static enum conditional kind_of(const struct token *name)
{
	if (tok_is(name, "if") || tok_is(name, "ifdef") || tok_is(name, "ifndef"))
		return COND_IF;
	if (tok_is(name, "elif") || tok_is(name, "elifdef") || tok_is(name, "elifndef"))
		return COND_ELIF;
	if (tok_is(name, "else"))
		return COND_ELSE;
	return tok_is(name, "endif") ? COND_ENDIF : COND_NONE;
}

static bool condition(struct pp *pp, const struct token *name)
{
	if (tok_is(name, "ifdef") || tok_is(name, "elifdef"))
		return ifdef(pp, name);
	if (tok_is(name, "ifndef") || tok_is(name, "elifndef")) {
		unsigned errors = pp->diag->n_errors;
		return !ifdef(pp, name) && errors == pp->diag->n_errors;
	}
	return evaluate(pp, name);
}

/** #elif, #else or #endif of the innermost conditional: true when lines after it are read. */
static bool next_group(struct pp *pp, const struct token *name, enum conditional kind)
{
	struct pp_level *level = pp->level;
	struct pp_cond *c = level->conds;
	if (kind == COND_ENDIF) {
		pp_no_more(pp, pp_line(pp), "endif");
		level->conds = c->outer;
		level->n_conds--;
		return true;
	}
	if (c->seen_else) {
		pp_error(pp, name, "#" STR_FMT " after #else", STR_ARG(name->text));
		return diag_note(pp->diag, diag_at(src_place(c->else_at, 4)), "the #else is here");
	}
	if (kind == COND_ELSE) {
		c->seen_else = true;
		c->else_at = name->loc;
		if (!c->taken)
			pp_no_more(pp, pp_line(pp), "else");
	}
	if (c->taken || (kind == COND_ELIF && !condition(pp, name)))
		return false;
	c->taken = true;
	return true;
}

/** Reads over lines that are not wanted, up to the group that is or the end of the conditional. */
static void skip(struct pp *pp)
{
	struct lexer *lex = &pp->level->lex;
	unsigned nested = 0;
	lex->braces = pp->braces;
	for (;;) {
		struct token t, name;
		// What is left of the directive's line, and the lines that are no directives.
		lex->quiet = true;
		do
			lexer_next(lex, &t);
		while (lex->in_directive && t.kind != TOK_EOF);
		bool line_ended = lex->in_directive;
		lex->in_directive = false;
		if (line_ended)
			continue;
		if (t.kind == TOK_EOF)
			break;
		if (!t.bol || !tok_is(&t, "#"))
			continue;
		lex->in_directive = true;
		int braces = lex->braces;
		lex->braces = 1;
		lexer_next(lex, &name);
		lex->quiet = false;
		enum conditional kind = kind_of(&name);
		if (kind == COND_IF)
			nested++;
		else if (kind == COND_ENDIF && nested)
			nested--;
		else if (kind != COND_NONE && !nested && next_group(pp, &name, kind))
			break;
		lex->braces = braces;
	}
	lex->quiet = false;
	lex->in_directive = true;
}

bool pp_conditional(struct pp *pp, const struct token *name)
{
	struct pp_level *level = pp->level;
	enum conditional kind = kind_of(name);
	if (kind == COND_NONE)
		return false;
	if (kind == COND_IF) {
		if (++level->n_conds > PP_MAX_CONDS) {
			pp_error(pp, name, "conditionals are nested more than %u deep",
				 PP_MAX_CONDS);
			pp->fatal = true;
			return true;
		}
		struct pp_cond *c = arena_new(pp->arena, struct pp_cond);
		c->outer = level->conds;
		c->loc = name->loc;
		level->conds = c;
		c->taken = condition(pp, name);
		if (!c->taken)
			skip(pp);
		return true;
	}
	if (!level->conds) {
		pp_error(pp, name, "#" STR_FMT " without #if", STR_ARG(name->text));
		return true;
	}
	if (!next_group(pp, name, kind))
		skip(pp);
	return true;
}
