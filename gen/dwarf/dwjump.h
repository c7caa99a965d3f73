/**
 * dwjump - libdw's handle of a DIE, without libdw's look at every unit before it.
 *
 * libdw knows a unit once it has read the headers of all units before it, and keeps an object for each: for the last unit
 * of a kernel image a page of the file, copied or mapped with its neighbours, and a kB of memory, 2,000 times, which
 * takes as long as a quarter of the whole search. But of DIEs that refer to nothing outside of their unit libdw needs that
 * unit alone. So a second handle for the same sections finds one unit in the place of all those before: while it
 * looks, a header that spans them stands where the first of them begins, in this process's private copy of that page.
 * Offsets and addresses of DIEs are the same in both handles.
 */
#ifndef DWARF_DWJUMP_H
#define DWARF_DWJUMP_H

#include "dwarf/dwunits.h"

/**
 * The DIE at @off of unit @u (one of s->units), which must not refer to other units. False when it cannot be had in this
 * way, and libdw has to be asked in its own.
 */
bool dwjump_die(struct dwunits *s, const struct dwunit_span *u, uint64_t off, Dwarf_Die *ret);

#endif
