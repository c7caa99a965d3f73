/**
 * arg_fact - facts about an expression that is an argument of a probe: its type and name, by declarations,
 * debug information or lists.
 *
 *	bool is_guess;
 *	struct ctype *t = arg_fact_type(b, n->expr, &is_guess);
 */
#pragma once

#include "sema/expr.h"

/**
 * The C type of @e in the program, also of an argN, which is a number to bpftrace. NULL: not known, or not
 * the same for all probes and sites. *@is_guess: it is inferred or listed, not declared. Debug information
 * is read on first use.
 */
struct ctype *arg_fact_type(const struct bind *b, const struct expr *e, bool *is_guess);
/**
 * The enum whose names %s prints for the number @e: its type, or the declared type of an argN; NULL: none.
 * The script of a host has none of a target.
 */
struct ctype *arg_fact_enum(const struct bind *b, const struct expr *e);
/** The argument, of the first probe of its clause, that @e is; NULL: none. */
const struct probearg *arg_fact_of(const struct bind *b, const struct expr *e);

/**
 * The sign of argument @n over all sites of all probes of the clause; a narrow unsigned one is compatible
 * with either. @size: its bytes, 0 if sites disagree.
 */
enum sign arg_fact_sign(const struct bind *b, const struct attach_clause *c, unsigned n,
			unsigned *size);
