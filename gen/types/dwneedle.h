/**
 * dwneedle - which units can have a name, found without reading them.
 *
 * Names are stored once, in .debug_str, and referred to by their offset in it: four bytes that seldom occur by
 * chance. So the name is searched in .debug_str and its offset in .debug_info, at the speed of memory. Names that stand in
 * .debug_info themselves (DW_FORM_string) are searched there. A unit that is not marked does not have the name; one
 * that is may not have it either.
 *
 * The search goes on only as far as it is asked for, since a common name is met early; when much is left, two threads share it.
 *
 *	dwneedle_begin(units, name);
 *	for (size_t i = 0; i < units->units.n; i++) {
 *		dwneedle_mark(units, i);
 *		if (units->units.v[i].is_candidate) ...
 */
#ifndef TYPES_DWNEEDLE_H
#define TYPES_DWNEEDLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct dwunits;

/** More places in .debug_str than this, and every unit is looked at. */
enum { DWNEEDLE_MAX = 8 };

struct dwneedle {
	struct str name;	  /**< with its NUL, which is counted; empty: none yet */
	char at[DWNEEDLE_MAX][4]; /**< its places in .debug_str, as a DIE has them */
	unsigned n;
	bool is_any;	 /**< every unit may have it */
	size_t n_marked; /**< units that were searched */
	size_t alone;	 /**< bytes that one thread searches before a second one helps */
};

/** Starts the search for @name, or goes on with it when it is the last one again. */
void dwneedle_begin(struct dwunits *s, struct str name);
/** Sees to it that is_candidate of unit @i is set. */
void dwneedle_mark(struct dwunits *s, size_t i);

#endif
