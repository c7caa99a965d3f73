/**
 * signs - signed probe arguments narrower than 64 bits.
 *
 * A probe tells that an argument is an `int` (-4@...), but bpftrace before 0.24 takes every argN for an unsigned
 * 64-bit number: `arg2 < 0` is never true. There each use becomes `(int64)(int32)argN`.
 */
#ifndef BIND_SIGNS_H
#define BIND_SIGNS_H

#include "bind/attach.h"

/** To be called when the clause is bound and its arguments are checked. Sites that disagree are left alone. */
void signs_extend(struct bind *b, struct attach_clause *c);

#endif
