/**
 * exprtype - what is known of each expression of a program: its C type, what bpftrace makes of it,
 * whether it can be negative, and whose place in memory it is.
 *
 * The types come from casts, from declarations (`let $x : T`, parameters of fn) and from the
 * members that are read; they go on through variables, maps, tuples and loops. What is assigned in
 * one clause is known in all, so the pass over the program is repeated until it finds nothing new.
 * What is not known stays unknown.
 *
 *	exprtype_find(b);		// b->found.script.program->...->expr
 *	if (n->expr && n->expr->is_place)
 *		lower(n);
 */
#ifndef SEMA_EXPRTYPE_H
#define SEMA_EXPRTYPE_H

#include "bind/bind.h"
#include "sema/expr.h"
#include "lang/tree.h"

/**
 * Finds the types of all expressions of the clauses. False, with errors, for members that a struct
 * does not have and indices beyond an array.
 */
bool exprtype_find(const struct bind *b);

/** A struct or array in memory, all of which can be read; *@size is its bytes. */
bool exprtype_is_whole(const struct expr *e, uint64_t *size);

#endif
