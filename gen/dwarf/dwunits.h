/**
 * dwunits - the sections of plain DWARF as bytes, and the units in .debug_info.
 *
 * What dwscan works on: the sections are those that libdw holds, decompressed, and live as long as the image.
 * Only the plain kind is taken: no type units, split units, alternate file or relocations.
 *
 * A .debug_info of 200 MB that is mapped and looked at is 200 MB of memory. So what passes over all of it does so through a
 * dwview, when it stands in the file as it is: a mapping of its own, like libdw's of the whole file, of which each piece is
 * given back before the next one. Reading the pieces instead takes a fifth more time. Should the file shrink meanwhile,
 * elf/debuginfo.h's handler ends the program.
 */
#ifndef DWARF_DWUNITS_H
#define DWARF_DWUNITS_H

#include "base/reader.h"
#include "dwarf/dwneedle.h"
#include "dwarf/dwquery.h"

struct dwunit_span {
	uint64_t off, end; /**< in .debug_info, header included */
	uint64_t abbrev_off;
	uint8_t version, addr_size, off_size; /**< as in its header */
	uint8_t jump;	/**< dwjump's handle that knows the unit, from 1 on; 0: none */
	uint16_t kinds; /**< dwneedle's answer: what of the name it may have, as dwnameat_kinds() */
	uint8_t n_defs
	    [NAME_N_KINDS]; /**< and how many definitions of each kind, anywhere in it; 255: or more */
};

/** A handle of libdw that knows some units only (dwjump.h). */
struct dwjump {
	Dwarf *dbg;
	uint64_t end; /**< of the last unit that it knows */
};
enum { DWUNITS_JUMPS = 16 };

struct dwunits {
	struct dwsrc *src;
	struct str info, abbrev, str, line_str, str_offsets;
	bool big;
	bool swapped;	   /**< the other byte order than this machine's */
	int file;	   /**< that `info` is mapped from; -1: it is in memory */
	uint64_t info_off; /**< where in that file */
	uint8_t *map;	   /**< its bytes, when they are to be looked at in pieces; else NULL */
	size_t map_n, map_skip; /**< bytes that are mapped; of those, before .debug_info */
	struct dwjump jumps[DWUNITS_JUMPS];
	unsigned n_jumps;
	struct map inline_names;       /**< dwdie's: names in .debug_info -> struct str */
	struct dwneedle needle;	       /**< what `kinds` answers for */
	size_t n_prepared;	       /**< dwunits_prepare()'s */
	VEC(struct dwunit_span) units; /**< in order, without gaps, up to `listed` */
	uint64_t listed;
	bool is_listed;	 /**< all of them are */
	bool is_refused; /**< units are of another kind, or damaged */
};

/** A piece of `map` that is looked at; zero it first. */
struct dwview {
	uint64_t off;
	size_t n;
};

/** A unit's header, DWARF 5 section 7.5.1. */
struct dwheader {
	unsigned version, off_size, addr_size, type;
	uint64_t abbrev_off;
	uint64_t start, length; /**< where the length is counted from, within the unit; bytes */
};

/** False when the debug information of @src is of another kind, or damaged. */
bool dwunits_open(struct dwsrc *src, struct dwunits *ret);
void dwunits_close(struct dwunits *s);
/**
 * In a large file `units` is filled by who passes over it: adds the one at s->listed, of which @n bytes are at @p, 24 or up to the
 * end of the section. False at the end, and for units of another kind or damage: then is_refused is set.
 */
bool dwunits_list_next(struct dwunits *s, const uint8_t *p, size_t n);
/** Adds all that are missing; false when one of them is refused. */
bool dwunits_list_all(struct dwunits *s);
/** Bytes that hold any header: a length of 12, version, type, sizes and an offset of 8. */
enum { DWUNITS_HEADER = 24 };
/** Reads a header; the reader ends at the unit's first DIE. False for units of another kind, and damage. */
bool dwunits_read_header(struct reader *r, struct dwheader *h);

/** @n bytes of .debug_info at @off, until the next call with @v. */
const uint8_t *dwunits_view(const struct dwunits *s, struct dwview *v, uint64_t off, size_t n);
/** The piece is not needed any more. */
void dwview_drop(const struct dwunits *s, struct dwview *v);
/**
 * To be called before libdw is asked for a DIE at @off: libdw looks at the header of each unit before it, and for each
 * the kernel maps 16 pages of the file. Here they get one page each.
 */
void dwunits_prepare(struct dwunits *s, uint64_t off);

#endif
