/**
 * What the parts of lower share: the walk (lower.c), places in memory (lower_place.c), numbers (number.c).
 */
#ifndef LOWER_LOWER_PRIV_H
#define LOWER_LOWER_PRIV_H

#include "bind/bind.h"
#include "lower/exprtype.h"
#include "lower/lower.h"

struct lowerer {
	struct bind *b;
	const struct attach_clause *clause;
	bool good;
};

/** Applies the rules to @n and all below it. */
void lower_node(struct lowerer *lo, struct node *n, const struct node *parent);
/**
 * Is what takes the place of an expression, in which that may stand several times, of a bounded
 * size? If not, an error.
 */
bool lower_fits(struct lowerer *lo, const struct node *n);
bool lower_is_number_type(const struct ctype *t);
/** A char array, or one of any bytes when @bytes; *@n is its length. */
bool lower_is_char_array(struct ctype *t, bool bytes, uint64_t *n);

/** A member, element or pointee becomes what this bpftrace reads it right by. */
void lower_place(struct lowerer *lo, struct node *n, const struct node *parent);

/**
 * An operator, assignment or cast, whose operands have been lowered: they become the numbers that it
 * needs, and it what C makes of them. Of `/`, `%` and `>>`: see lower/division.h.
 */
void lower_operator(struct lowerer *lo, struct node *n);
/** `c ? x : y` of numbers */
void lower_choice(struct lowerer *lo, struct node *n);
/** Must @n, a choice, be written without one? False, too, after an error. */
bool lower_sums_choice(struct lowerer *lo, const struct node *n);
/** `@ = x < y` */
void lower_truth(struct lowerer *lo, struct node *n, const struct node *parent);

#endif
