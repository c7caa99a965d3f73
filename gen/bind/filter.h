/**
 * filter - only the events of the target.
 *
 * Without -p, and for uprobes before 0.23, whose -p lets every process through,
 * `pid == N` joins the predicates of clauses that fire in user code. For a family, processes and those
 * that they fork, the program keeps a map of who belongs to it.
 */
#ifndef BIND_FILTER_H
#define BIND_FILTER_H

#include "bind/bind.h"

/**
 * Why the builtin pid is never the PID by which we know process @p, with what helps; empty: it is, when
 * bpftrace of @version runs beside us.
 */
struct str filter_why_blind(struct arena *a, unsigned version, const struct proc *p);

/**
 * What must hold in clause @c, NULL: nothing. An error for a clause of which only a part may be
 * filtered.
 */
bool filter_find(const struct bind *b, const struct attach_clause *c, const char **ret);
/** Where a clause has one: is what it asks for what the kernel says? If not, an error. */
bool filter_check(const struct bind *b);
enum { FILTER_FAMILY_CLAUSES = 2 }; /**< that keep its map */
/** With given->has_family: what BEGIN and END do for it, and the clauses that keep its map. */
void filter_follow_family(const struct bind *b, struct str *begin, struct str *clauses,
			  struct str *end);

#endif
