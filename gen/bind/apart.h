/**
 * apart - clauses of their own for probes that are attached to by address (bind/byaddress.h).
 *
 * Such a clause reads arguments and says `probe` in its own way, and is for one probe alone: lists and
 * patterns are taken apart before anything is bound.
 */
#ifndef BIND_APART_H
#define BIND_APART_H

#include "bind/bind.h"

/**
 * Takes such probes out of lists and patterns of @pp, each into a copy of the clause. False: there
 * were none. Else the program is to be parsed anew.
 */
bool apart_split(const struct bind *b, struct pp *pp);
/**
 * When all is bound: finds what `probe` is in such clauses. An error for what is no word of a usdt
 * clause, or may not be allowed together with these attach points.
 */
bool apart_finish(struct bind *b);

#endif
