/**
 * expr - the value of an #if expression.
 *
 * Integer arithmetic in intmax_t and uintmax_t (C11 6.10.1): operands with a u suffix, or too large
 * for intmax_t, make an operation unsigned. What C leaves undefined is defined as gcc does it:
 * overflow wraps, a shift by more than the width gives 0 (or -1), by a negative count goes the
 * other way. The half of ?: && || that is not evaluated may divide by zero.
 *
 *	bool yes;
 *	if (!expr_eval(diag, tokens, &yes)) ... // reported, with its place
 */
#ifndef TEXT_EXPR_H
#define TEXT_EXPR_H

#include "text/lex.h"

/**
 * Is @list not zero? It ends in TOK_EOF, whose place is that of the directive's end; `defined` and
 * macros have been replaced, any identifier left is 0. False with an error in *@bad_at and *@why
 * when it is malformed.
 */
bool expr_eval(const struct token *list, bool *ret, const struct token **bad_at, const char **why);

#endif
