/**
 * dwneedle - which units can have a name, found without reading them.
 *
 * Names are stored once, in .debug_str, and referred to by their offset in it: four bytes that seldom occur by
 * chance. So the name is searched in .debug_str and its offset in .debug_info, at the speed of memory. Names that stand in
 * .debug_info themselves (DW_FORM_string) are searched there. A unit that is not marked does not have the name; one
 * that is may not have it either.
 */
#ifndef TYPES_DWNEEDLE_H
#define TYPES_DWNEEDLE_H

#include "types/dwunits.h"

/** Sets is_candidate of each unit. */
void dwneedle_mark(struct dwunits *s, struct str name);
void dwneedle_mark_all(struct dwunits *s, bool candidate);

#endif
