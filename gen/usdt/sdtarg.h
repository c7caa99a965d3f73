/**
 * sdtarg - one operand of a probe's argument string, e.g. "-4@%ebx": size, sign and place.
 *
 * Grammar (systemtap's wiki page "UserSpaceProbeImplementation"): [-]SIZE[f]@OPERAND, where OPERAND
 * is what the assembler prints for the constraint: x86 AT&T syntax ($5, %rax, 8(%rbp),
 * -8(%rax,%rbx,4), sym+8(%rip)) or aarch64 syntax (5, x0, [sp, 16], [x0, x1, lsl 2], [x0,
 * #:lo12:sym]). SIZE may be absent. Blanks separate operands, except inside brackets.
 *
 *	struct sdtarg *args;
 *	size_t n;
 *	sdtarg_parse(&arena, EM_X86_64, STR("-4@$5 8@16(%rsp)"), &args, &n); // CONST 5; MEM, base "rsp", disp 16
 */
#pragma once

#include "base/str.h"

/** Operands that are read one by one; a longer string ends in one SDTARG_UNKNOWN with the rest. */
#define SDTARG_MAX 64

enum sdtarg_kind {
	SDTARG_UNKNOWN, /**< an operand that we cannot read; `text` has it */
	SDTARG_CONST,	/**< value */
	SDTARG_REG,	/**< base */
	SDTARG_MEM,	/**< at disp + base + index * scale + symbol */
	SDTARG_ADDR,	/**< the address symbol + disp itself, not what is there ("$sym+4") */
	SDTARG_SEGMENT, /**< as SDTARG_MEM, plus the base address of `segment` (thread-local data) */
};

struct sdtarg {
	enum sdtarg_kind kind;
	unsigned size; /**< bytes; 0 when the string does not say */
	bool is_signed;
	bool may_be_signed_enum; /**< unsigned, in C++: <sys/sdt.h> writes so of every enum */
	bool is_float; /**< an `f` after the size, or a vector or floating-point register */
	/**
	 * Of SDTARG_CONST: the argument's value, cut to its size and extended by its sign:
	 * compilers write -1 for the unsigned 4294967295. Sizes of 8 and more: the 64 bits that are
	 * written.
	 */
	int64_t value;
	struct str base;   /**< register without %, as spelled ("eax", "x0", "xmm1"), or empty */
	struct str index;  /**< register or empty */
	bool index_signed; /**< aarch64: a 32-bit index is sign-extended (sxtw) */
	unsigned scale;	   /**< 1, 2, 4, 8 or 16; 0 when there is no index */
	int64_t disp;
	/**
	 * Symbol name as spelled, with an @suffix if it has one ("x@tpoff"), or empty.
	 * "sym+8(%rip)" and "[x21, #:lo12:sym+8]" are symbol + 8, without a base: the register only
	 * helps the encoding.
	 */
	struct str symbol;
	struct str segment; /**< "fs" or "gs", of SDTARG_SEGMENT */
	/**
	 * libbpf's parser (libbpf 1.x, usdt.c, parse_usdt_arg) refuses it, and with it the whole
	 * site: floating-point numbers, symbols, thread-local data, sizes other than 1, 2, 4 and 8,
	 * and what we cannot read either. bpftrace uses libbpf for USDT from 0.24 on.
	 */
	bool is_beyond_libbpf;
	/**
	 * bcc's parser, which bpftrace uses up to 0.23, does not read it, or has stopped at one
	 * before it. It attaches all the same, and where a symbol is the place, "G(%rip)", it reads
	 * what an uninitialised pointer points to: measured with 0.17.0 and 0.23.2, status 0. Who
	 * reads one of 176 bytes, or of 16, ends it by SIGABRT; who does not, takes no harm.
	 */
	bool bcc_misreads;
	bool after_bcc_stops; /**< bcc has stopped at the last one before it that is not */
	struct str text;      /**< the whole operand with its size, as in the note */
	struct str place;     /**< the part of `text` after SIZE@ */
};

/**
 * Splits @args of a file for machine @machine (EM_*) into operands; never fails: what is not
 * understood is SDTARG_UNKNOWN.
 */
void sdtarg_parse(struct arena *a, unsigned machine, struct str args, struct sdtarg **ret,
		  size_t *ret_n);
/**
 * The texts of the operands, and how many there are: blanks end one, but not inside brackets, and
 * one that has a size goes on until the next that has one: "8@QWORD PTR [rbp-8]" (from -masm=intel)
 * is one operand, although one that we do not read.
 */
size_t sdtarg_split(struct str args, struct str ret[static SDTARG_MAX + 1]);

/** Number of the register @name in DWARF, of any part of it that starts at bit 0; -1: none. */
int sdtarg_register(unsigned machine, struct str name);
/** It has another size than 1, 2, 4 or 8: a struct by value, __int128. No bpftrace reads it. */
bool sdtarg_has_odd_size(const struct sdtarg *arg);
/** Adds in words what @arg is: "signed, 4 bytes, in ebx" or "4 bytes, at rsp + 16"; text from the file is escaped. */
void sdtarg_describe(struct strbuf *b, const struct sdtarg *arg);
