/**
 * dwdie - reads the DIEs of one unit one after the other, by compiled abbreviations, for who wants little of each.
 *
 *	struct dwreader r = {.u = &units, .abbrevs.arena = arena};
 *	if (dwdie_begin(&r, span, &d) && d.ab->has_children)
 *		while (dwdie_next(&r, &d)) ...		// false at the end of the siblings
 *	if (r.has_failed) ...				// damage, or a form that is not known
 *	dwdie_fini(&r);
 */
#ifndef DWARF_DWDIE_H
#define DWARF_DWDIE_H

#include "dwarf/dwabbrev.h"
#include "dwarf/dwunits.h"

struct dwreader {
	struct dwunits *u;
	struct dwabbrevs abbrevs; /**< of the unit, kept for the next one */
	struct dwheader h;
	const uint8_t *unit, *p, *end;	/**< the unit's bytes; where it is read */
	const struct dwunit_span *span; /**< the unit */
	uint64_t unit_off;		/**< of the unit in .debug_info */
	struct dwview view;		/**< of them; dwdie_fini() gives it back */
	uint64_t str_base;		/**< where DW_FORM_strx counts from in .debug_str_offsets */
	bool is_c;			/**< no types inside of types in this language */
	bool has_failed; /**< damage, or something that is not known; sticky until the next unit */
};

struct dwdie {
	const struct dwabbrev *ab;
	uint64_t off; /**< in .debug_info */
	bool is_decl;
	unsigned name_form; /**< 0: none */
	uint64_t name_at;   /**< value of the form, or place in .debug_info for an inline one */
	const uint8_t *sibling;
};

/** Reads the top DIE of @span into *@top; next come its children, if it has any. */
bool dwdie_begin(struct dwreader *r, const struct dwunit_span *span, struct dwdie *top);
/** Gives back the memory; the abbreviations are the arena's. */
void dwdie_fini(struct dwreader *r);
/** Reads the next DIE; false at the end of a list of siblings, and on damage. */
bool dwdie_next(struct dwreader *r, struct dwdie *d);
/** Steps over the children of @d, which was just read. */
void dwdie_skip_children(struct dwreader *r, const struct dwdie *d);
/** DW_AT_name of @d itself; empty when it has none. */
struct str dwdie_name(struct dwreader *r, const struct dwdie *d);
/** The same, compared with @name without measuring it first. */
bool dwdie_has_name(struct dwreader *r, const struct dwdie *d, struct str name);

#endif
