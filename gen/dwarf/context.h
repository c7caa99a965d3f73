/**
 * context - which of several definitions of a name is meant, by the code that the question comes
 * from.
 *
 * In C each source file may have a struct, an enum or a typedef of its own under one name, each
 * function and each block in it, too, and so may each library of a process. A struct of a common
 * header, on the other hand, is defined in every unit that includes it: a name has hundreds of
 * definitions, which are nearly always the same.
 *
 * Where. The context of a question is a list of places in the code: the sites of a clause's probes,
 * or a function. Each place means the nearest definition:
 *
 *	1. block	in the blocks around the place, innermost first, up to its function; of
 *			code that was inlined into others, in the function as it was written
 *	2. unit		in the place's unit, in the units that it imports (dwz, LTO) and in the
 *			type units that it refers to
 *	3. image	anywhere else in the images of the context's places
 *	4. the rest	in the other images, in the order in which they were added
 *
 * What. Two types are the same when a reader of memory cannot tell them apart (ctype_is_same()),
 * two enumerators when their values are. A name without a keyword that is both a typedef and the
 * tag of another type is the typedef, as in C (C11 6.2.3); where the two are of different units,
 * that counts as a difference.
 *
 * When there is a warning. When the choice is arbitrary: the nearest definitions of a place differ (two of
 * its image, say, and its unit has none), or places mean different ones. The first is taken, that of the
 * first place, and the warning names both. No warning for definitions that are the same.
 *
 * What it costs. Finding a unit by an address takes time, and blocks more. So the images of the
 * context are searched first: if all their definitions are the same, that of the unit is, too. The
 * places are looked at only when they differ, or when the search has seen that a function may
 * define the name. In large debug information not every definition is compared, and so there the
 * places come first.
 *
 *	struct context c = {0};
 *	context_add(arena, &c, src, site->pc);
 *	types->context = &c;
 */
#pragma once

#include "ctype/namequery.h"
#include "dwarf/dwsite.h"

/** A unit and those that it brings along. */
struct context_unit {
	VEC(Dwarf_Die) parts; /**< their top DIEs, its own first */
};

/** The blocks of the function around a place, innermost first; none where that is not known. */
struct context_blocks {
	struct dwsrc *src;
	VEC(Dwarf_Die) dies;
	size_t n_around; /**< those that are around the place; after them some that may be */
	bool is_flat;	 /**< the types of inner blocks may be in the outermost one */
};

struct context_place {
	struct dwsrc *src;
	uint64_t addr;		       /**< link-time */
	struct dwasked asked;	       /**< of the functions around, that one is meant */
	struct context_unit *unit;     /**< NULL until context_resolve(), or when it is not known */
	struct context_blocks *blocks; /**< NULL until context_blocks_at() */
};

struct context {
	VEC(struct context_place) places;
	struct map units; /**< address of a unit's DIE -> struct context_unit */
	size_t n_parts;	  /**< of all units */
	struct str
	    missing; /**< the .dwo file of a unit whose types cannot be read; empty: all can */
	bool is_resolved;
	bool is_asked; /**< the user named the place: its unit comes first, whatever others have */
};

/** Adds @place, whose source, address and who asks for it are known; before the first question. */
void context_add(struct arena *a, struct context *c, const struct context_place *place);
/** There is a place in the image of @src. */
bool context_has_image(const struct context *c, const struct dwsrc *src);

/** Finds the units of the places; false, silently, when debug information knows none. */
bool context_resolve(struct arena *a, struct context *c);
/** The blocks around place @i; it costs a walk over the unit's functions. */
const struct context_blocks *context_blocks_at(struct arena *a, struct context *c, size_t i);
