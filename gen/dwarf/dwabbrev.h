/**
 * dwabbrev - an abbreviation table, compiled into programs that skip a DIE.
 *
 * A DIE is a number that names an abbreviation, and then the attributes' values in the order and the forms that
 * the abbreviation lists (DWARF 5 section 7.5.3). Somebody who looks for a name wants two or three of them and must step
 * over the rest. So each abbreviation becomes a short program: "8 bytes, a LEB128, the name as strp, 12 bytes":
 * neighbours of fixed size are one step. A DIE then costs a few additions.
 */
#ifndef DWARF_DWABBREV_H
#define DWARF_DWABBREV_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"
#include "base/vec.h"

enum dwop {
	DWOP_SKIP,   /**< n bytes */
	DWOP_LEB,    /**< a LEB128 number */
	DWOP_STRING, /**< up to a NUL */
	DWOP_BLOCK1, /**< a length of 1, 2, 4 bytes or LEB128, and as many bytes */
	DWOP_BLOCK2,
	DWOP_BLOCK4,
	DWOP_BLOCK,
	DWOP_NAME,    /**< DW_AT_name, its form in n */
	DWOP_SIBLING, /**< DW_AT_sibling, a reference of n bytes into the unit, or LEB128 for 0 */
	DWOP_DECL,    /**< DW_AT_declaration as a byte; as flag_present it is in `is_decl` */
	DWOP_LANG,    /**< a unit's DW_AT_language, n bytes, or LEB128 for 0 */
	DWOP_STRBASE, /**< a unit's DW_AT_str_offsets_base, n bytes */
};

struct dwstep {
	uint8_t op;
	uint32_t n;
};

struct dwabbrev {
	uint16_t tag;
	bool has_children;
	bool is_decl;	     /**< DW_AT_declaration is implied */
	bool has_spec;	     /**< DW_AT_specification: the name is elsewhere */
	bool has_signature;  /**< DW_AT_signature: a stand-in */
	bool has_enum_class; /**< DW_AT_enum_class */
	bool is_known;	     /**< the code is in use */
	uint16_t lang;	     /**< DW_AT_language, when it is implied */
	uint32_t first;	     /**< its program: steps[first] to steps[first + n - 1] */
	uint32_t n;
};

struct dwabbrevs {
	struct arena *arena;
	unsigned (*wants)(int tag); /**< 0 for those whose programs are not needed; NULL: all are */
	VEC(struct dwabbrev) by_code; /**< [0] is unused */
	VEC(struct dwstep) steps;
	uint64_t off;	 /**< where in .debug_abbrev this table came from */
	unsigned layout; /**< the unit's sizes that went into it */
	bool refers_out; /**< there are references to other units */
	bool is_valid;
};

/**
 * Compiles the table at @off of @section for units of DWARF @version with addresses of @addr_size and offsets of
 * @off_size bytes. Kept when it is asked for again. False when it is damaged, or has forms that cannot be skipped.
 */
bool dwabbrevs_compile(struct dwabbrevs *t, struct str section, bool big, uint64_t off,
		       unsigned version, unsigned addr_size, unsigned off_size);

#endif
