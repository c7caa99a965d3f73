/**
 * signs - the sign of probe arguments.
 *
 * A probe tells that an argument is an `int` (-4@...) or unsigned (8@...). bpftrace before 0.24 takes every argN for an
 * unsigned 64-bit number: `arg2 < 0` is never true; there each use of a signed one becomes `(int64)(int32)argN`. From
 * 0.24 on it takes every argN for a signed number: there an unsigned one of 64 bits becomes `(uint64)argN` where
 * the sign matters. Narrower ones are never below 0.
 */
#ifndef BIND_SIGNS_H
#define BIND_SIGNS_H

#include "bind/attach.h"

/** To be called when the clause is bound and its arguments are checked. Sites that disagree are left alone. */
void signs_extend(struct bind *b, struct attach_clause *c);
/**
 * Warns where argN or retval of a function is asked for being below 0, without a cast: bpftrace does not know that it is an
 * int, and takes it for a large number.
 */
void signs_warn(struct bind *b, const struct attach_clause *c);

#endif
