/**
 * print - a tree as text.
 *
 * Each node writes its own tokens, with the blanks and comments before them, and its children between
 * those: print(parse(x)) is x, but for line splices, which shows that a tree is sound. A changed node
 * (lang/change.h) writes its text.
 */
#pragma once

#include "lang/tree.h"

/** The text of @n, without the blanks and comments before its first token. */
struct str print_text(struct arena *a, const struct node *n);
/** The same on one line, without comments. */
struct str print_line(struct arena *a, const struct node *n);
