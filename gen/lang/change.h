/**
 * change - a node replaced by a text.
 *
 * What only the target or the caller knows is put into the tree before facts are found: the binding of an
 * attach point, a marker's value, removed optional parts. Nothing changes the tree after that; emit/ writes
 * the program.
 */
#pragma once

#include "lang/tree.h"

/** @n is @text from now on; its kind and children stay. */
void change(struct arena *a, struct node *n, struct str text);
/** @n is a leaf of another kind now, and @text is all of it: a number, string, name or variable. */
void change_leaf(struct arena *a, struct node *n, enum node_kind kind, struct str text);
/**
 * @n is not printed any more, nor are the tokens around it from @first to @last; and whoever walks the tree
 * finds nothing in it.
 */
void change_remove(struct node *n, struct token *first, struct token *last);
/** Writes copies of the tokens from @first to @last at *@end; what is written next goes to what it returns. */
struct token **change_copy(struct arena *a, struct token **end, const struct token *first,
			   const struct token *last);
/** @program begins with @first, which was put before its first token. */
void change_first(struct node *program, struct token *first);
