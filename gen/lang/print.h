/**
 * print - a tree as text.
 *
 * Each node writes its own tokens, with the blanks and comments before them, and its children where they stand between
 * those: print(parse(x)) is x, but for line splices, and that is what tells whether a tree is sound.
 */
#ifndef LANG_PRINT_H
#define LANG_PRINT_H

#include "lang/tree.h"

/** Adds the text of @n to @out, without what stands before its first token. */
void print_node(const struct node *n, struct strbuf *out);

#endif
