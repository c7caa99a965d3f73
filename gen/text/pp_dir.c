// Directives: which one it is, and those that are no more than a line.
#include "text/pp_priv.h"

/** The message of #error and #warning: the rest of the line, unchanged. */
static void report_line(struct pp *pp, const struct token *name)
{
	struct str text = str_trim(lexer_rest_of_line(&pp->level->lex));
	const char *blank = text.n ? " " : "";
	if (tok_is(name, "error"))
		pp_error(pp, name, "#error%s" STR_FMT, blank, STR_ARG(text));
	else
		pp_warning(pp, name, "#warning%s" STR_FMT, blank, STR_ARG(text));
}

static void unknown(struct pp *pp, const struct token *name)
{
	static const char *const known[] = {
	    "if",    "ifdef", "ifndef",	 "elif",  "elifdef", "elifndef", "else",
	    "endif", "error", "warning", "undef", "define",  "include",	 "pragma",
	};
	unsigned best = 3;
	const char *guess = NULL;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (str_is_nearer(name->text, str_from(known[i]), &best))
			guess = known[i];
	if (tok_is(name, "include_next") || tok_is(name, "import"))
		pp_error(pp, name, "#" STR_FMT " is not supported; use #pragma once and #include",
			 STR_ARG(name->text));
	else if (guess)
		pp_error(pp, name, "unknown directive #" STR_FMT "; did you mean #%s?",
			 STR_ARG(name->text), guess);
	else
		pp_error(pp, name, "unknown directive #" STR_FMT, STR_ARG(name->text));
}

static void dispatch(struct pp *pp, const struct token *hash, const struct token *name)
{
	if (name->kind == TOK_EOF || str_is_digits(name->text)) // `# 1 "file"`, of cpp
		return;
	if (name->kind != TOK_IDENT || pp_conditional(pp, name)) {
		if (name->kind != TOK_IDENT)
			unknown(pp, name);
		return;
	}
	if (tok_is(name, "define")) {
		pp->level->lex.braces = 0; // it may hold attach points
		pp_define_line(pp, pp_line(pp), false);
	} else if (tok_is(name, "undef")) {
		pp_undef_line(pp, pp_line(pp));
	} else if (tok_is(name, "include")) {
		if (pp->in_args)
			pp_error(pp, name, "#include cannot be inside the arguments of a macro");
		else
			pp_include(pp, name);
	} else if (tok_is(name, "pragma")) {
		pp_pragma(pp, hash, name);
	} else if (tok_is(name, "error") || tok_is(name, "warning")) {
		report_line(pp, name);
	} else {
		unknown(pp, name);
	}
}

void pp_directive(struct pp *pp, const struct token *hash)
{
	struct lexer *lex = &pp->level->lex;
	bool pad = pp->pad, in_args = pp->in_args;
	int braces = lex->braces;
	size_t start = hash->loc.off;
	if (!in_args)
		strbuf_adds(pp->lost, hash->before);

	lex->in_directive = true;
	lex->braces = 1;
	lex->word = LEX_WORD_NONE;
	struct token name, rest;
	pp_lex(pp, &name);
	dispatch(pp, hash, &name);
	lex->in_directive = true;
	lex->quiet = true;
	do
		lexer_next(lex, &rest);
	while (rest.kind != TOK_EOF);
	lex->in_directive = lex->quiet = false;
	lex->word = LEX_WORD_NONE;
	lex->word_may_start = true;
	lex->braces = braces;
	pp->pad = pad;

	struct str seen = str_slice(pp->level->file->text, start, lex->pos - start);
	for (size_t i = 0; !in_args && i < seen.n; i++)
		if (seen.p[i] == '\n')
			strbuf_addc(pp->lost, '\n');
}
