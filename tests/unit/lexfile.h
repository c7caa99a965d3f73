/** All tokens of a file in which nothing is a directive, up to TOK_EOF; false, with an error, for what is no token. */
#include "text/lex.h"

static bool lex_file(struct arena *a, struct diag *d, const struct src_file *f, struct token **ret)
{
	struct lexer lx;
	lexer_init(&lx, a, d, f);
	*ret = lexer_list(&lx);
	return !lx.failed;
}
