/**
 * dwfind - finds types and enumerators by name in the debug information of an image.
 *
 * Names are looked up at the top of each unit and inside namespaces, structs and classes, never in
 * function bodies. The answer is the same for every kind of debug information; for the plain kind
 * it takes milliseconds, as dwscan.c tells.
 *
 *	struct dwquery q;
 *	if (dwquery_parse(name, NAME_TYPES, &q))
 *		dwfind(src, &q, each_hit, ctx);
 */
#ifndef DWARF_DWFIND_H
#define DWARF_DWFIND_H

#include "dwarf/dwname.h"

/** Calls @fn for each DIE that fits, declarations included, in the order of the file. */
void dwfind(struct dwsrc *src, const struct dwquery *q, dwname_fn *fn, void *ctx);
/**
 * Faster variant for callers that need only names, scopes and kinds: a hit may have no DIE. @fn
 * must not look up other names.
 */
void dwfind_names(struct dwsrc *src, unsigned kinds, dwname_fn *fn, void *ctx);
/**
 * The name in the image that is nearest to what @q asks for, with its scopes; empty when none is
 * near. Of large debug information only the nearest strings are tried.
 */
struct str dwfind_nearest(struct dwsrc *src, const struct dwquery *q);

#endif
