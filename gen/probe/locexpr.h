/**
 * locexpr - a DWARF location expression as steps that a tracing program can repeat.
 *
 * Where a variable is at one address is written for a stack machine (DWARF 5, sections 2.5 and 2.6) that can
 * ask for more than a probe has: registers of callers, other threads' memory. What is left when the frame
 * is known are numbers, registers, addresses of the file and reads of memory, in postfix order:
 *
 *	DW_OP_fbreg -20, frame base rbp+16	is_place	REGISTER 6, NUMBER -4, ADD
 *	DW_OP_breg3 0, lit1, and, stack_value			REGISTER 3, NUMBER 1, AND
 *	DW_OP_addr 0x4018			is_place	ADDRESS 0x4018
 *	DW_OP_reg5, piece 8, reg4, piece 8	bytes 8 to 11:	REGISTER 4, UNSIGNED 32
 *
 * Everything else is refused with the reason: a location is never guessed.
 */
#pragma once

#include <elfutils/libdw.h>

#include "base/vec.h"

enum locexpr_op {
	LOCEXPR_NUMBER,	  /**< n */
	LOCEXPR_REGISTER, /**< DWARF's number n */
	LOCEXPR_ADDRESS,  /**< n, link-time address of the image */
	LOCEXPR_READ,	  /**< n bytes at the address before it, 1, 2, 4 or 8, unsigned */
	LOCEXPR_UNSIGNED, /**< the n low bits of the value before it */
	LOCEXPR_SIGNED,	  /**< likewise */
	// Of the value before it, unsigned in 64 bits:
	LOCEXPR_NOT,
	LOCEXPR_ADD,
	LOCEXPR_SUB,
	LOCEXPR_MUL,
	LOCEXPR_AND,
	LOCEXPR_OR,
	LOCEXPR_XOR,
	LOCEXPR_SHL,
	LOCEXPR_SHR,
};

struct locexpr_step {
	enum locexpr_op op;
	int64_t n;
};

struct locexpr {
	VEC(struct locexpr_step) steps; /**< empty: refused */
	bool is_place;			/**< the address of the variable; else its value */
	bool is_of_frame;		/**< an offset in the frame */
	const char *why_not;
};

/** Of the function at the address: where its frame is. */
struct locexpr_frame {
	int cfa_reg, base_reg; /**< -1: not known */
	int64_t cfa_off, base_off;
	uint64_t
	    bias; /**< link-time address of the image = address in the debug information + bias */
	bool
	    is_cfa; /**< the base is the CFA by the debug information, not a register that may be it */
};

/** Of a variable of @whole bytes those that are asked for. */
struct locexpr_part {
	uint64_t off, size, whole;
};

/** @attr, of a variable of which @part is asked for, is @ops at one address. False when it is refused. */
bool locexpr_read(struct arena *a, Dwarf_Attribute *attr, const Dwarf_Op *ops, size_t n,
		  const struct locexpr_frame *frame, const struct locexpr_part *part,
		  struct locexpr *ret);
/**
 * Is an address of the stack (register @sp, or the frame's) taken for a number? clang up to 15 forgets to read what it
 * has moved there: rsp + 88 times 9. Of a pointer, @is_pointer, it may be the value.
 */
bool locexpr_takes_stack(const struct locexpr *e, const struct locexpr_frame *frame, int sp,
			 bool is_pointer);
/** Why a value in register @reg of DWARF, of x86-64 or aarch64, cannot be read: the kernel passes none of floating-point numbers. */
const char *locexpr_no_register(uint64_t reg);
