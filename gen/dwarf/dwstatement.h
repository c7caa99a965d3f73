/**
 * dwstatement - the code of source lines: where their statements begin, by the line tables.
 *
 * A line has one such place for each copy that compilers made of it: in inlined functions, clones and
 * unrolled loops. Rows that follow each other in one block are one statement in several pieces: the
 * first begins it. DWARF 5, section 6.2.
 *
 *	struct dwstatements s;
 *	dwstatement_find(src, STR("net/FILE"), 120, 120, &s);
 *	for (size_t i = 0; i < s.list.n; i++) use(s.list.v[i].addr);
 */
#ifndef DWARF_DWSTATEMENT_H
#define DWARF_DWSTATEMENT_H

#include "dwarf/dwsrc.h"

struct dwstatement {
	uint64_t addr; /**< link-time */
	unsigned line;
};

struct dwstatements {
	VEC(struct dwstatement) list; /**< each address and line once, unit by unit */
	struct str file;  /**< whole path of the file that was meant; empty: there is none */
	struct str other; /**< another file that @file may mean; empty: there is none */
	unsigned next;	  /**< the first line after those asked for that has code; 0: none */
};

/** Lines @first to @last of the file whose path ends in @file, at a slash. What costs too much is not read. */
void dwstatement_find(struct dwsrc *src, struct str file, unsigned first, unsigned last,
		      struct dwstatements *ret);

#endif
