/**
 * dwscan - types by name in one plain .debug_info, without reading what does not have the name.
 *
 * How, and why that is right, stands at the top of dwscan.c. dwfind.h is for everybody else.
 */
#ifndef DWARF_DWSCAN_H
#define DWARF_DWSCAN_H

#include "dwarf/dwname.h"

/** The debug information is of the kind that is read here. */
bool dwscan_is_plain(struct dwsrc *src);
/** It is plain, and so much that looking at all of it takes longer than a user notices. */
bool dwscan_is_large(struct dwsrc *src);
/**
 * Calls @fn for each DIE that fits @q, in the order of the file, in units that begin before @most.
 * False when libdw would have to walk all units: that is known before @fn is called.
 */
bool dwscan_find(struct dwsrc *src, const struct dwquery *q, uint64_t most, dwname_fn *fn,
		 void *ctx);
/** Calls @fn, which must not look up other names, for each name among @kinds; hits have no DIE. */
void dwscan_names(struct dwsrc *src, unsigned kinds, dwname_fn *fn, void *ctx);
/** .debug_str, decompressed. */
struct str dwscan_strings(struct dwsrc *src);

#endif
