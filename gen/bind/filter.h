/**
 * filter - only the events that are meant.
 *
 * Of the target: without -p, and for uprobes before 0.23, whose -p lets every process through,
 * `pid == N` joins the predicates of clauses that fire in user code. For a family, processes and those
 * that they fork, the program keeps a map of who belongs to it.
 *
 * Of the trace: the caller's `gate` (template/gate.h) joins the predicates of all clauses but BEGIN, END
 * and interval.
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
 * To be called when all clauses are bound. An error for a clause of which only a part may be
 * filtered.
 */
bool filter_add_all(struct bind *b);

#endif
