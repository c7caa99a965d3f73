#include "template/import.h"

#include <limits.h>
#include <stdlib.h>

static bool resolve(void *ctx, struct node *n, struct node *parent)
{
	const struct bind *b = ctx;
	char path[PATH_MAX];
	struct token *name = n->first->next;
	(void)parent;
	if (n->kind != NODE_IMPORT || name->kind != TOK_STRING || !name->loc.file)
		return true;
	struct str file = lex_string_value(b->arena, name);
	const char *beside = arena_printf(b->arena, STR_FMT "/" STR_FMT,
					  STR_ARG(name->loc.file->dir), STR_ARG(file));
	// What is not there is bpftrace's own (stdlib), or for it to miss.
	if (!file.n || file.p[0] == '/' || !realpath(beside, path))
		return true;
	name->text = lex_quote(b->arena, str_copy(b->arena, str_from(path)));
	// bpftrace reads members and arguments wrongly in there as anywhere, and we cannot see
	// where.
	if (b->given->files)
		diag_warning(b->diag, tok_at(name),
			     "macros of an imported file see no types of the target: use #include "
			     "to bring them in");
	return true;
}

void import_resolve(struct bind *b)
{
	node_walk(b->found.script.program, resolve, b);
}
