/**
 * dwpick - which of several definitions of a name is meant.
 *
 * The images that the question comes from (see dwnear.h) are looked at first; the others only when those do not have
 * the name. What is found is compared. When it differs, the definition in the unit that the question comes from is
 * meant; failing that the first one is taken, and a warning says so, with the units and what they have. Nothing is said of
 * definitions that are the same. Where the question comes from several probes, each means what it would mean alone: when
 * those are not the same, that is a difference, too.
 *
 * A type that a function has to itself goes before those of its file, in the block that has it and those inside. Function
 * bodies are looked at only where the search has seen that one of them may define the name.
 *
 * Where a name without a keyword is both a typedef and the tag of another type, it is the typedef, as in C; when
 * they are of different units, that counts as a difference.
 *
 * In large debug information not every definition is compared, and so there the unit is looked at before all others.
 *
 * For dwtypes.c alone, which adds the memory.
 */
#ifndef DWARF_DWPICK_H
#define DWARF_DWPICK_H

#include "dwarf/dwquery.h"

/** A type, or an enumerator of it with its value. */
struct dwdef {
	struct img *img;
	struct ctype *type; /**< NULL: nothing was found */
	int64_t value;
};

struct dwtypes;

struct dwpick {
	struct dwtypes *types;
	struct dwquery q;
	unsigned tags;	  /**< kinds that are asked for: of tags, or NAME_ENUMERATOR */
	unsigned others;  /**< likewise typedefs and numbers; 0: none */
	struct str owner; /**< name of the enum that the enumerator must be of; empty: of any */
	struct img *own;  /**< of a declaration whose definition is wanted: asked first; or NULL */
	bool depends;	  /**< set when the answer may be another one for another dwnear */
};

/** *@ret is what is meant; false, silently, when no image has it. */
bool dwpick_find(struct dwpick *p, struct dwdef *ret);

#endif
