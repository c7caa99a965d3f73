/**
 * exprtype - the facts about each expression of a program: its C type, its kind in bpftrace, whether it can
 * be negative, and its place in memory.
 *
 * The types come from casts, from declarations (`let $x : T`, parameters of fn) and from members; they
 * propagate through variables, maps, tuples and loops. An assignment in one clause counts in all, so the
 * pass over the program is repeated until it finds nothing new. What is not known stays unknown.
 *
 *	exprtype_find(b);		// b->found.script.program->...->expr
 *	if (n->expr && n->expr->is_place)
 *		lower(n);
 */
#pragma once

#include "sema/expr.h"

/**
 * Finds the types of all expressions of the clauses. False, with errors, for members that a struct
 * does not have and indices beyond an array.
 */
bool exprtype_find(const struct bind *b);

/** A struct or array in memory that can be read whole; *@size is its bytes. */
bool exprtype_is_whole(const struct expr *e, uint64_t *size);
