/** The program that a list of tokens is, @main the template whose lines it keeps. */
#include "text/program.h"

static void emit_tokens(const struct token *tokens, const struct src_file *main, struct program *p)
{
	struct program_sink w;
	program_begin(&w, p, main);
	for (; tokens && tokens->kind != TOK_EOF; tokens = tokens->next)
		program_put(&w, tokens, tokens);
	program_end(&w, tokens);
}
