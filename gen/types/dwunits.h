/**
 * dwunits - the sections of plain DWARF as bytes, and the units in .debug_info.
 *
 * What dwscan works on: the sections are those that libdw holds, decompressed, and live as long as the image.
 * Only the plain kind is taken: no type units, split units, alternate file or relocations.
 */
#ifndef TYPES_DWUNITS_H
#define TYPES_DWUNITS_H

#include "base/reader.h"
#include "types/dwsrc.h"

struct dwunit_span {
	uint64_t off, end; /**< in .debug_info, header included */
	bool is_candidate; /**< dwneedle's answer: the unit may have the name */
};

struct dwunits {
	struct dwsrc *src;
	struct str info, abbrev, str, line_str, str_offsets;
	bool big;
	struct str marked;	       /**< the name that is_candidate answers for */
	VEC(struct dwunit_span) units; /**< in order, without gaps */
};

/** A unit's header, DWARF 5 section 7.5.1. */
struct dwheader {
	unsigned version, off_size, addr_size, type;
	uint64_t abbrev_off;
	uint64_t length_end; /**< one past the unit */
};

/** False when the debug information of @src is of another kind, or damaged. */
bool dwunits_open(struct dwsrc *src, struct dwunits *ret);
/** Reads a header; the reader ends at the unit's first DIE. False for units of another kind, and damage. */
bool dwunits_read_header(struct reader *r, struct dwheader *h);

#endif
