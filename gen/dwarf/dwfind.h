/**
 * dwfind - finds types and enumerators by name in the debug information of an image.
 *
 * Names are looked up at the top of each unit and inside namespaces, structs and classes, never in
 * function bodies. The answer is the same for every kind of debug information; for the plain kind
 * it takes milliseconds, because units without the name are skipped (dwfilter.c).
 *
 *	struct dwquery q;
 *	if (dwquery_parse(name, NAME_TYPES, &q))
 *		dwfind(src, &q, each_hit, ctx);
 */
#pragma once

#include "dwarf/dwname.h"

/** Calls @fn for each DIE that fits, declarations included, in the order of the file. */
void dwfind(struct dwsrc *src, const struct dwquery *q, dwname_fn *fn, void *ctx);
/**
 * The name in the image that is nearest to what @q asks for, with its scopes; empty when none is
 * near. With many names only the nearest strings are tried.
 */
struct str dwfind_nearest(struct dwsrc *src, const struct dwquery *q);
