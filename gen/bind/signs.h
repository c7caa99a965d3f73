/**
 * signs - a warning of arguments of functions that are compared as if they had a sign.
 */
#ifndef BIND_SIGNS_H
#define BIND_SIGNS_H

#include "bind/attach.h"

/**
 * Warns where argN or retval of a function is asked for being below 0, without a cast: bpftrace does not know that it is an
 * int, and takes it for a large number.
 */
void signs_warn(struct bind *b, const struct attach_clause *c);

#endif
