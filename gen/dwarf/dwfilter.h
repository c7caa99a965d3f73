/**
 * dwfilter - types by name in a plain .debug_info, without walking units that do not have the name.
 *
 * dwfilter.c explains the method. Other modules ask dwfind.h.
 */
#pragma once

#include "dwarf/dwname.h"

/** Bytes of .debug_info; 0 when the debug information is not plain. */
uint64_t dwfilter_size(struct dwsrc *src);
/** The debug information is plain, and large: reading all of it takes longer than a user notices. */
bool dwfilter_is_large(struct dwsrc *src);
/**
 * Calls @fn for each DIE that fits @q, in the order of the file, in units that begin before @most.
 * False, before any call, when all units have to be walked.
 */
bool dwfilter_find(struct dwsrc *src, const struct dwquery *q, uint64_t most, dwname_fn *fn,
		   void *ctx);
/** @function is one that is looked for. */
typedef bool dwfilter_fits_fn(void *ctx, struct dwsrc *src, Dwarf_Die *function);
typedef void dwfilter_unit_fn(struct dwsrc *src, Dwarf_Die *unit);
/**
 * Calls @fn for the units that may describe a function that @fits, in whose name or symbol @word comes first: `put` of
 * put<int>. False, before any call, when all units have to be walked.
 */
bool dwfilter_functions(struct dwsrc *src, struct str word, dwfilter_fits_fn *fits, void *ctx,
			dwfilter_unit_fn *fn);
/** .debug_str, decompressed; empty when the debug information is not plain. */
struct str dwfilter_strings(struct dwsrc *src);
/**
 * As dwsrc_open(); false, too, when the file is not open yet and no name in it has @text in it. libdw decompresses all
 * of a debug package when it opens it: 0.2 s for glibc's.
 */
bool dwfilter_open_for(struct dwsrc *src, struct str text);
/** False when no name in the debug information has @text in it. */
bool dwfilter_may_have(struct dwsrc *src, struct str text);
