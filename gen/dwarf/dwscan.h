/**
 * dwscan - finds DIEs by name without decoding what it does not need.
 *
 * Three observations make it fast. A name is stored once, in .debug_str: when it is not there, no type has it. DIEs
 * refer to it by its offset, four bytes that seldom occur by chance: units in which they do not occur need not be
 * looked at. And in a unit only the top and the inside of namespaces and classes matter; everything else is stepped
 * over by compiled abbreviations (dwabbrev.h) and DW_AT_sibling.
 *
 * What it says is exact for what it handles: one plain .debug_info of DWARF 2 to 5, 32 or 64 bit, either byte order,
 * with strp, strx and inline names. For anything else (type units, split units, dwz, relocatable files, forms
 * that it does not know) it refuses, and the caller walks with libdw, which is also its oracle in the tests.
 */
#ifndef DWARF_DWSCAN_H
#define DWARF_DWSCAN_H

#include "dwarf/dwfind.h"

struct dwscan;

/**
 * NULL when the image's debug information is not of the kind that it handles. Kept in @src; for a large file it may turn
 * out with the first question that it is not: then @s is gone, and @src has none any more.
 */
struct dwscan *dwscan_open(struct dwsrc *src);
/** Before the image is closed; @s may be NULL. */
void dwscan_close(struct dwscan *s);

/**
 * Finds what @q asks for and calls @fn, as dwfind() does, which is the one to call. False when a walk with libdw is
 * needed instead; @fn was not called then.
 */
bool dwscan_find(struct dwscan *s, const struct dwquery *q, dwfind_fn *fn, void *ctx);
/**
 * Calls @fn for each named type, and enumerator when @kinds has it, with names and scopes but without DIEs. A name without
 * scopes comes at least once, not for each unit that has it.
 */
bool dwscan_names(struct dwscan *s, unsigned kinds, dwfind_fn *fn, void *ctx);

/** The same in the first @most bytes of .debug_info only, whose units are in no particular order. */
void dwscan_try(struct dwscan *s, const struct dwquery *q, uint64_t most, dwfind_fn *fn, void *ctx);
/** So much .debug_info that looking at all of it takes longer than a user notices. */
bool dwscan_is_large(struct dwscan *s);
/** The string at *@at of .debug_str, which goes on to the next; false at the end. Start at 0. */
bool dwscan_next_string(const struct dwscan *s, uint64_t *at, struct str *ret);
#endif
