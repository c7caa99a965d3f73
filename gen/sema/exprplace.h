/**
 * exprplace - results of `.`, `->`, `[]` and `*`: the type of the member or element, its place in memory,
 * and whether bpftrace reads it there by itself.
 *
 * Each fills in @e, still empty, for a step from @of; what is not known stays empty. With @say a missing
 * member or element is an error, and so is one of a type that is declared and nowhere defined: then false.
 */
#pragma once

#include "sema/expr.h"

/** `of.name`, `of->name`: @n is the whole. */
bool exprplace_member(const struct bind *b, const struct node *n, const struct expr *of, bool say,
		      struct expr *e);
/** `of[index]`, of an array in memory or of a pointer: @n is the whole. */
bool exprplace_index(const struct bind *b, const struct node *n, const struct expr *of, bool say,
		     struct expr *e);
/** `*of`: bpftrace itself reads it correctly unless it is a struct or pointer. */
bool exprplace_pointee(const struct bind *b, const struct node *n, const struct expr *of, bool say,
		       struct expr *e);
/** `&of` of a place in memory; of a value of bpftrace nothing is known. */
bool exprplace_address(const struct bind *b, const struct node *n, const struct expr *of, bool say,
		       struct expr *e);
/** Can pointer arithmetic as in `p++` or `p += n`, @n, change its operand? Otherwise it reports an error. */
bool exprplace_moves(const struct bind *b, const struct node *n);
