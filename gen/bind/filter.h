/**
 * filter - which clauses must ask whether an event is the target's.
 *
 * Those that fire in user code, without -p; and uprobes before 0.23, whose -p lets every process
 * through. How they ask is emit/traced.c's.
 */
#pragma once

#include "bind/bind.h"

/**
 * Why the builtin pid is never the PID by which we know process @p, with what helps; empty: it is, when
 * bpftrace of @version runs beside us.
 */
struct str filter_why_blind(struct arena *a, unsigned version, const struct proc *p);

/** Must clause @c ask who fires it? An error for one of which only a part may be filtered. */
bool filter_find(const struct bind *b, const struct attach_clause *c, bool *ret);
/** Do the filters of clauses compare with a process that the kernel can report? If not, an error. */
bool filter_check(const struct bind *b);
/** Clauses that keep the map of a family, see emit/traced.c. */
enum { FILTER_FAMILY_CLAUSES = 2 };
