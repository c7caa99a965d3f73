/**
 * argdecl - the declared types of a probe's arguments, in a program that was built with
 * btgen/usdt.h.
 *
 * For argument K (from 1) of the site with id ID there is a local variable `__usdt_ID_K` in the
 * scope of the site, a pointer to the type. docs/usdt-notes.md, "From the debug information to
 * types".
 */
#ifndef PROBE_ARGDECL_H
#define PROBE_ARGDECL_H

#include "ctype/ctype.h"
#include "dwarf/dwsite.h"

/** Fills ret[0..n) with the types, NULL where there is none; false when no scope has any. */
bool argdecl_types(struct dwsrc *src, const struct dwsite *at, uint32_t id, size_t n,
		   struct ctype **ret);

#endif
