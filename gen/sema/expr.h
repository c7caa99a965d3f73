/**
 * expr - facts about an expression of a program: filled in by exprtype.h, then read-only.
 */
#pragma once

#include "bind/bind.h"
#include "sema/sign.h"

/** The kind of an expression in bpftrace. */
enum expr_kind {
	EXPR_OPEN, /**< not known */
	EXPR_NUMBER,
	EXPR_TEXT,
	EXPR_SHOWN, /**< can only be printed, with %s: a stack, a symbol */
	EXPR_BYTES, /**< of buf(): printed with %r */
	EXPR_TUPLE,
	EXPR_AGGREGATE,	  /**< a struct or union, or an array other than of char */
	EXPR_AGGREGATION, /**< of a map: count() and the like */
	EXPR_MIXED,	  /**< sometimes one, sometimes another */
};

enum {
	WIDTH_UNKNOWN,
	WIDTH_LITERAL, /**< of a literal, or of a name that holds only literals: that of the other operand, else of int */
	WIDTH_DIFFERS, /**< of a name that holds values of several widths: 64 bits */
};

struct expr {
	// Without padding: equal ones have equal bytes, and a large script has a million of these.
	struct ctype *type; /**< NULL: not known */
	/** The probes of which it is an argument, unchanged; NULL: none. See arg_fact_type(). */
	const struct attach_clause *arg_of;
	struct ctype *meant; /**< of retval: its type in the program */
	struct ctype
	    *enumerator_of; /**< the enum of enumerators and names of only these, or NULL */
	unsigned arg;	    /**< of arg_of: its number */
	enum expr_kind kind : 8;
	enum sign sign : 8;
	enum effect effect : 8;
	bool is_guess; /**< `type` comes from an argument whose type is inferred or listed */
	bool is_mixed; /**< assigned different types or arguments: `type` is one */
	bool is_bool;  /**< a comparison or the like: bool in bpftrace from 0.24 on */
	unsigned char bits : 7;	   /**< that the value may need; 0: not known */
	unsigned char is_time : 1; /**< contains a time or another word of 64 bits */
	bool is_substituted;	   /**< a parameter of a macro or a call of one */
	bool is_value;		   /**< in a struct that bpftrace copied into a value */
	bool is_place;		   /**< in memory; if so: */
	/**
	 * The offset counts from the pointer that the first child is (x->m, p[i], *p), not from the place
	 * that it is (x.m, a[i]).
	 */
	bool via_pointer;
	bool by_address;	     /**< bpftrace cannot reach it: read it by its address */
	unsigned char bit_size;	     /**< of a bitfield, else 0 */
	unsigned char bit_shift;     /**< its lowest bit in the unit at the address */
	unsigned char bit_bytes : 7; /**< size of that unit: 1, 2, 4 or 8; 0: byte by byte */
	unsigned char is_shared : 1; /**< of several nodes, and never changed */
	unsigned char width;	     /**< in C, or WIDTH_*; of an operator: 64 */
	uint32_t n_elements;	     /**< of a tuple */
	struct expr **elements;	     /**< each may be NULL */
	uint64_t offset;	     /**< of a member: bytes from the base */
	uint64_t element_size;	     /**< of an index: bytes of an element */
	struct ctype *in;	     /**< of a member: the aggregate that lists it */
};

/** May it need more than the 32 bits that %d prints? */
static inline bool expr_is_wide(const struct expr *e)
{
	return e->bits > 32;
}

/** %u and %x of a number that may be negative, as ~n and a - b, print two's complement of 32 bits, as in C. */
static inline bool expr_prints_wide(const struct expr *e, char letter)
{
	bool may_be_negative = e->sign != SIGN_NONE && e->sign != SIGN_UNSIGNED;
	bool is_complement = may_be_negative && letter != 'd' && letter != 'i';
	return e->bits > (is_complement ? 34 : 32);
}

/** Its width in C in bits; 0: not known. */
static inline unsigned expr_width(const struct expr *e)
{
	return e->width == WIDTH_LITERAL   ? e->bits > 32 ? 64 : 32
	       : e->width == WIDTH_DIFFERS ? 64
					   : e->width;
}

/** The effect of evaluating @n again. */
static inline enum effect expr_effect(const struct node *n)
{
	return n->expr ? n->expr->effect : EFFECT_CHANGES;
}
