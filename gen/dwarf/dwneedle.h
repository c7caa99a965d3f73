/**
 * dwneedle - which units can have a name, found without reading them.
 *
 * Names are stored once, in .debug_str, and referred to by their offset in it: four bytes that seldom occur by
 * chance. So the name is searched in .debug_str and its offset in .debug_info, at the speed of memory, and with it the
 * name itself, which may stand there in full (DW_FORM_string). What is found is a type's name or not by the bytes before
 * it (dwnameat.h). A unit that is not marked does not have the name; one that is may not have it either.
 *
 * The search goes on only as far as it is asked for, since a common name is met early; when much is left, two threads share it.
 *
 *	dwneedle_begin(units, name, UINT64_MAX);
 *	for (size_t i = 0; dwneedle_mark(units, i); i++)
 *		if (units->units.v[i].kinds & NAME_ENUM) ...
 */
#ifndef DWARF_DWNEEDLE_H
#define DWARF_DWNEEDLE_H

#include "base/wordset.h"

struct dwunits;

struct dwneedle {
	struct str name; /**< with its NUL, which is counted; empty: none yet */
	struct wordset
	    words; /**< the beginning of the name, then its places in .debug_str, as a DIE has them */
	uint64_t most;	 /**< no unit from there on will be asked for */
	bool is_any;	 /**< every unit may have it */
	size_t n_marked; /**< units that were searched */
};

/** Starts the search for @name in the first @most bytes, or goes on with it when it is the last one again. */
void dwneedle_begin(struct dwunits *s, struct str name, uint64_t most);
/** Sees to it that `kinds` of unit @i is set; false when there is no such unit, or units are refused. */
bool dwneedle_mark(struct dwunits *s, size_t i);

#endif
