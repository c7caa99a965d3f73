/**
 * dwnear - where a question about a name is asked from: the units that have the code of some probes or functions.
 *
 * In C each unit may have a struct, an enum or an enumerator of its own under one name, and so may each library of a
 * process. The one that is meant is that of the unit whose code hands the value out. Finding a unit by an address
 * costs time, so it waits until somebody needs it.
 *
 * A unit brings along those that it imports (dwz, LTO) and the type units that it refers to. Code that LTO made belongs
 * to the unit of the function's source.
 *
 * Before its unit's types code sees those of the blocks around it, up to the function's outermost one, which may be inlined
 * into others. clang puts the types of all blocks there, so that it is not known which part of the function sees them.
 *
 *	struct dwnear near = {0};
 *	dwnear_add(arena, &near, src, site->pc);
 *	if (dwnear_resolve(arena, &near)) use(near.units.v, near.units.n);
 */
#ifndef DWARF_DWNEAR_H
#define DWARF_DWNEAR_H

#include "dwarf/dwsrc.h"

struct dwnear_place {
	struct dwsrc *src;
	uint64_t addr;		  /**< link-time */
	struct dwnear_body *body; /**< NULL until dwnear_body() */
};

/** The blocks of the function around a place, innermost first; none where that is not known. */
struct dwnear_body {
	struct dwsrc *src;
	VEC(Dwarf_Die) blocks;
	size_t n_around; /**< those that are around the place; behind them some that may be */
	bool is_flat;	 /**< the types of inner blocks may be in the outermost one */
};

struct dwnear_unit {
	struct dwsrc *src;
	Dwarf_Die die; /**< the top DIE, in the handle of @src */
};

struct dwnear {
	VEC(struct dwnear_place) places;
	VEC(struct dwnear_unit) units; /**< once they were found */
	struct map known;	       /**< the addresses of their DIEs */
	struct str
	    missing; /**< the .dwo file of a unit whose types cannot be read; empty: all can */
	bool is_resolved;
	bool is_asked; /**< the user named the place: its units come first, whatever others have */
};

/** Adds the code at link-time address @addr of @src's image; before the first question. */
void dwnear_add(struct arena *a, struct dwnear *n, struct dwsrc *src, uint64_t addr);
bool dwnear_has_image(const struct dwnear *n, const struct img *img);
/** Finds the units; false, silently, when debug information knows none. */
bool dwnear_resolve(struct arena *a, struct dwnear *n);
/** Blocks around place @i; it costs a walk of the unit's functions. */
const struct dwnear_body *dwnear_body(struct arena *a, struct dwnear *n, size_t i);

#endif
