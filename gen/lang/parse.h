/**
 * parse - tokens become a tree.
 *
 * The grammar is the union of those of bpftrace 0.17 to 0.27, so that one template may choose by
 * #if; what a version does not take is bpftrace's own to refuse. A recursive descent with
 * precedence climbing; there is no backtracking but for types, which are looked at before they are
 * taken. A statement or clause that does not fit the grammar is one NODE_OPAQUE up to where the
 * next one can begin. Only what leaves no way to tell where that is, is an error: brackets that do
 * not match, a predicate without an end, and nesting deeper than any bpftrace takes.
 *
 *	struct node *program = parse_program(&arena, &diag, pp.out);
 *	if (!program)
 *		return false;
 */
#pragma once

#include "lang/tree.h"

/** The NODE_PROGRAM of @tokens (a list that ends in TOK_EOF); NULL after an error. All of it is @a's. */
struct node *parse_program(struct arena *a, struct diag *d, struct token *tokens);
/**
 * The expression that C's @text is, in @a; NULL, silently, when it is none, or of a form that bpftrace
 * does not have, such as a = b or f({1}).
 */
struct node *parse_c_expression(struct arena *a, struct str text);
