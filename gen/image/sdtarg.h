/**
 * sdtarg - one operand of a probe's argument string, e.g. "-4@%ebx": size, sign and place.
 *
 * Grammar (systemtap's wiki page "UserSpaceProbeImplementation"): [-]SIZE[f]@OPERAND, where OPERAND is what the
 * assembler prints for the constraint: x86 AT&T syntax ($5, %rax, 8(%rbp), -8(%rax,%rbx,4), sym+8(%rip)) or
 * aarch64 syntax (5, x0, [sp, 16], [x0, x1, lsl 2], [x0, #:lo12:sym]). SIZE may be absent.
 */
#ifndef IMAGE_SDTARG_H
#define IMAGE_SDTARG_H

#include "base/arena.h"
#include "base/str.h"

enum sdtarg_kind {
	SDTARG_UNKNOWN, /**< an operand that we cannot read; `text` has it */
	SDTARG_CONST,	/**< value */
	SDTARG_REG,	/**< base */
	SDTARG_MEM,	/**< at disp + base + index * scale + symbol */
};

struct sdtarg {
	enum sdtarg_kind kind;
	unsigned size; /**< bytes; 0 when the string does not say */
	bool is_signed;
	bool is_float;	  /**< an `f` after the size, or a vector register */
	int64_t value;	  /**< of SDTARG_CONST */
	struct str base;  /**< register without %, as spelled ("eax", "x0", "xmm1"), or empty */
	struct str index; /**< register or empty */
	unsigned scale;	  /**< 1, 2, 4, 8 ... */
	int64_t disp;
	struct str symbol; /**< symbol name or empty */
	struct str text;   /**< the whole operand with its size, as in the note */
};

/** Splits @args of a file for machine @machine (EM_*) into operands; never fails: what is not understood is SDTARG_UNKNOWN. */
void sdtarg_parse(struct arena *a, unsigned machine, struct str args, struct sdtarg **ret,
		  size_t *ret_n);

#endif
