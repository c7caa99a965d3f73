/**
 * dwcode - what debug information says about a place in the code: function, source line, variables.
 *
 * A variable's place is the one it has at that very address: a register, memory at a register and an offset (with the
 * frame base worked out through the call frame information), or a constant. Places that take more than that to compute are
 * left out: a variable is then not there, never somewhere else.
 *
 *	struct dwcode at;
 *	if (dwcode_at(img, site->pc, &at))
 *		for (size_t i = 0; i < at.vars.n; i++) use(&at.vars.v[i]);
 */
#ifndef TYPES_DWCODE_H
#define TYPES_DWCODE_H

#include "types/ctype.h"
#include "types/dwsrc.h"

enum dwvar_kind {
	DWVAR_REG,    /**< the value is in register `reg` */
	DWVAR_MEM,    /**< the value is in memory at `reg` + `off` */
	DWVAR_STATIC, /**< the value is in memory at link-time address `off` */
	DWVAR_CONST,  /**< the value is `off` */
};

struct dwvar {
	struct str name;
	struct ctype *type; /**< never NULL */
	enum dwvar_kind kind;
	unsigned reg; /**< DWARF register number of the machine's ABI */
	int64_t off;
	unsigned depth; /**< of its scope: larger is further inside */
	bool is_param;
};

struct dwcode {
	struct str
	    function; /**< the innermost one, inlined or not, with its scopes; may be empty */
	struct str
	    caller; /**< the function whose code this is, when `function` was inlined into it */
	struct str file; /**< source file as the compiler was given it; may be empty */
	unsigned line;	 /**< from 1; 0 when it is not known */
	VEC(struct dwvar)
	vars; /**< of every scope around the place; `depth` tells which is nearer */
};

/** False, silently, when no unit is known for link-time address @pc. */
bool dwcode_at(struct img *img, uint64_t pc, struct dwcode *ret);
/** The unit that has the code at @pc, in the handle that image/debuginfo.h gives. */
bool dwcode_unit(struct img *img, uint64_t pc, Dwarf_Die *ret);

#endif
