/**
 * dwfind - finds types and enumerators by name in the debug information of an image.
 *
 * Names are looked up at the top of each unit and inside namespaces, structs and classes, never in
 * function bodies. The answer is the same for every kind of debug information; for the plain kind
 * it takes milliseconds, as dwfind.c tells.
 *
 *	struct dwquery q;
 *	if (dwquery_parse(name, NAME_TYPES, &q))
 *		dwfind(src, &q, each_hit, ctx);
 */
#ifndef DWARF_DWFIND_H
#define DWARF_DWFIND_H

#include "dwarf/dwquery.h"

/** False on a hit stops the walk. */
typedef bool dwfind_fn(void *ctx, const struct dwhit *hit);

/** Calls @fn for each DIE that fits, declarations included, in the order of the file. */
void dwfind(struct dwsrc *src, const struct dwquery *q, dwfind_fn *fn, void *ctx);
/**
 * The same, for tests: false, when libdw would have to walk all units. That is known before @fn is
 * called.
 */
bool dwfind_scan(struct dwsrc *src, const struct dwquery *q, dwfind_fn *fn, void *ctx);
/** Calls @fn for each named type, and enumerator when @kinds has it, of the image; libdw alone. */
void dwfind_walk(struct dwsrc *src, unsigned kinds, dwfind_fn *fn, void *ctx);
/**
 * Faster variant for callers that need only names, scopes and kinds: a hit may have no DIE. @fn
 * must not look up other names.
 */
void dwfind_names(struct dwsrc *src, unsigned kinds, dwfind_fn *fn, void *ctx);
/** As dwfind_walk() for one unit, given its top DIE; false when @fn stopped it. */
bool dwfind_unit(struct dwsrc *src, Dwarf_Die *unit, unsigned kinds, dwfind_fn *fn, void *ctx);
/** So much debug information that looking at all of it takes longer than a user notices. */
bool dwfind_is_large(struct dwsrc *src);
/**
 * The name in the image that is nearest to what @q asks for, with its scopes; empty when none is
 * near. Of large debug information only the nearest strings are tried.
 */
struct str dwfind_nearest(struct dwsrc *src, const struct dwquery *q);

#endif
