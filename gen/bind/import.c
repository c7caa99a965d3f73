#include "bind/import.h"

#include <limits.h>
#include <stdlib.h>

#include "bind/edit.h"

/** At the start of a statement, import is the word that it looks like. */
static bool is_import(const struct token *prev, const struct token *t)
{
	return tok_is(t, "import") && t->next->kind == TOK_STRING && t->next->loc.file &&
	       (!prev || prev->kind == TOK_DIRECTIVE || tok_is(prev, ";") || tok_is(prev, "{") ||
		tok_is(prev, "}"));
}

void import_resolve(struct bind *b, struct token *list)
{
	char path[PATH_MAX];
	const struct token *prev = NULL;
	for (struct token *t = list; t->kind != TOK_EOF; prev = t, t = t->next) {
		if (!is_import(prev, t))
			continue;
		struct token *name = t->next;
		struct str file = lex_string_value(b->arena, name);
		const char *beside = arena_printf(b->arena, STR_FMT "/" STR_FMT,
						  STR_ARG(name->loc.file->dir), STR_ARG(file));
		// What is not there is bpftrace's own (stdlib), or for it to miss.
		if (file.n && file.p[0] != '/' && realpath(beside, path))
			name->text = edit_quote(b->arena, str_copy(b->arena, str_from(path)));
	}
}
