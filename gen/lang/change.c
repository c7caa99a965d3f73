#define TREE_IS_MADE_HERE
#include "lang/change.h"

void change(struct arena *a, struct node *n, struct str text)
{
	n->text = arena_new(a, struct str);
	*n->text = str_copy(a, text);
	n->is_changed = true;
}

void change_leaf(struct arena *a, struct node *n, enum node_kind kind, struct str text)
{
	struct token *t = arena_new(a, struct token);
	*t = *n->first;
	t->kind = kind == NODE_NUMBER ? TOK_NUMBER : kind == NODE_STRING ? TOK_STRING : TOK_IDENT;
	change(a, n, text);
	t->text = *n->text;
	n->kind = kind;
	n->name = t;
	n->child = n->last_child = NULL;
}

void change_remove(struct node *n, struct token *first, struct token *last)
{
	n->kind = NODE_OPAQUE;
	n->first = first;
	n->last = last;
	n->child = n->last_child = NULL;
	static struct str none;
	n->text = &none;
	n->is_changed = true;
}

void change_first(struct node *program, struct token *first)
{
	program->first = first;
}

struct token **change_copy(struct arena *a, struct token **end, const struct token *first,
			   const struct token *last)
{
	for (const struct token *t = first;; t = t->next) {
		*end = arena_new(a, struct token);
		**end = *t;
		end = &(*end)->next;
		if (t == last)
			return end;
	}
}
