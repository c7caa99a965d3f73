/**
 * exprplace - where `.`, `->`, `[]` and `*` lead to: the member's or the element's type, its place in
 * memory, and whether bpftrace reads it there by itself.
 *
 * Each fills in @e, of which nothing is known yet, for a step behind @of; what is not known stays so.
 * With @say a member or element that is not there is an error, and so is one of a type that is declared
 * and nowhere defined: then false.
 */
#ifndef SEMA_EXPRPLACE_H
#define SEMA_EXPRPLACE_H

#include "sema/expr.h"
#include "lang/tree.h"

/** `of.name`, `of->name`: @n is the whole. */
bool exprplace_member(const struct bind *b, const struct node *n, const struct expr *of, bool say,
		      struct expr *e);
/** `of[index]`, of an array in memory or of a pointer: @n is the whole. */
bool exprplace_index(const struct bind *b, const struct node *n, const struct expr *of, bool say,
		     struct expr *e);
/** `*of`: where that is no struct or pointer, bpftrace itself reads it right. */
bool exprplace_pointee(const struct bind *b, const struct node *n, const struct expr *of, bool say,
		       struct expr *e);
/** `&of`: of a place in memory; of what bpftrace holds itself nothing is known. */
bool exprplace_address(const struct bind *b, const struct node *n, const struct expr *of, bool say,
		       struct expr *e);
/** Can what @n, `p++` or `p += n`, changes be moved so? Otherwise that is an error. */
bool exprplace_moves(const struct bind *b, const struct node *n);

#endif
