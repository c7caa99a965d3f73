/**
 * typed - expressions of a template whose type the target's debug information tells.
 *
 * Walks chains such as `((struct foo *)arg1)->a.b[$i]->name`, knowing the type of each step, and rewrites the ones that
 * some bpftrace reads wrongly or not at all:
 *  - a char array is read as a string of its own length by address: `str((uint64)(base) + 24, 224)`;
 *  - a narrow signed member is sign-extended; a signed bitfield, too;
 *  - an index that is not a constant, a further dimension and a flexible array are read by address.
 * The types come from casts, from variables and maps that were assigned such values, and from nothing else: a chain
 * that starts with anything else is left as it is.
 */
#ifndef BIND_TYPED_H
#define BIND_TYPED_H

#include "bind/bind.h"

/** To be called before typeuse_resolve(), which renames. An error for a member that a struct does not have. */
bool typed_rewrite(struct bind *b);

#endif
