/**
 * filter - only the target's events, where bpftrace itself lets others through.
 *
 * Without -p, and for uprobes before 0.23, whose -p lets every process through, `pid == N` joins
 * the predicates of clauses that fire in user code.
 */
#ifndef BIND_FILTER_H
#define BIND_FILTER_H

#include "bind/bind.h"

/**
 * To be called when all clauses are bound. An error for a clause of which only a part may be
 * filtered.
 */
bool filter_add_all(struct bind *b);

#endif
