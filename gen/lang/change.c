#define TREE_IS_MADE_HERE
#include "lang/change.h"

void change(struct arena *a, struct node *n, struct str text)
{
	n->text = str_copy(a, text);
	n->is_changed = true;
}

void change_leaf(struct arena *a, struct node *n, enum node_kind kind, struct str text)
{
	struct token *t = arena_new(a, struct token);
	*t = *n->first;
	t->kind = kind == NODE_NUMBER ? TOK_NUMBER : kind == NODE_STRING ? TOK_STRING : TOK_IDENT;
	change(a, n, text);
	t->text = n->text;
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
	n->text = STR("");
	n->is_changed = true;
}

void change_first(struct node *program, struct token *first)
{
	program->first = first;
}
