/**
 * argument - what the program says of an expression that is an argument of a probe: its type and name
 * by declarations, debug information or lists.
 *
 *	bool is_guess;
 *	struct ctype *t = argument_meant(b, n->expr, &is_guess);
 */
#ifndef SEMA_ARGUMENT_H
#define SEMA_ARGUMENT_H

#include "sema/expr.h"

/**
 * The C type that @e has in the program, as far as that is known: that of an argN, too, which to
 * bpftrace is a number. NULL: not known, or not the same for all that may be there. *@is_guess: it
 * is inferred or listed, not declared. Debug information is read for it only when it is asked for.
 */
struct ctype *argument_meant(const struct bind *b, const struct expr *e, bool *is_guess);
/**
 * The enum whose names %s prints of the number @e: of its type, or of the declared type of the
 * argN that it is; NULL: none. A host's script has none of a target's.
 */
struct ctype *argument_shown_enum(const struct bind *b, const struct expr *e);
/** The argument that @e is, of the first probe of its clause; NULL for none. */
const struct probearg *argument_of(const struct bind *b, const struct expr *e);

/**
 * The sign of argument @n over all sites of all probes of the clause: a narrow unsigned one is
 * compatible with either. @size: its bytes, 0 where sites disagree.
 */
enum sign argument_sign(const struct bind *b, const struct attach_clause *c, unsigned n,
			unsigned *size);

#endif
