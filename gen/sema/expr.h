/**
 * expr - what is known of an expression of a program: filled in by exprtype.h, read by everybody behind
 * it.
 */
#ifndef SEMA_EXPR_H
#define SEMA_EXPR_H

#include "bind/bind.h"
#include "lang/vocabulary.h"
#include "sema/sign.h"

/** What bpftrace has in an expression's place. */
enum expr_kind {
	EXPR_OPEN, /**< not known */
	EXPR_NUMBER,
	EXPR_TEXT,
	EXPR_SHOWN, /**< what is only printed, with %s: a stack, a symbol */
	EXPR_BYTES, /**< of buf(): printed with %r */
	EXPR_TUPLE,
	EXPR_AGGREGATE,	  /**< a struct or union, or an array but of characters */
	EXPR_AGGREGATION, /**< of a map: count() and the like */
	EXPR_MIXED,	  /**< sometimes one and sometimes another */
};

struct expr {
	// Without padding: equal ones have equal bytes, and a large script has a million of these.
	struct ctype *type; /**< NULL: not known */
	/** The argument of these probes, unchanged, that it is; NULL: none. See argument_meant(). */
	const struct attach_clause *arg_of;
	struct ctype *meant; /**< of retval: what it is in the program, which `type` need not be */
	struct ctype *
	    enumerator_of; /**< of an enumerator, and a name that holds only such: its enum, or NULL */
	unsigned arg;	   /**< of arg_of: its number */
	enum expr_kind kind : 8;
	enum sign sign : 8;
	enum effect effect : 8;
	bool is_guess; /**< `type` comes from an argument whose type is inferred or listed */
	bool
	    is_mixed; /**< a name that is assigned different types or arguments: `type` is one of them */
	bool is_truth; /**< a comparison or the like: true or false to bpftrace from 0.24 on */
	unsigned char bits : 7;	   /**< that its value may need; 0: not known */
	unsigned char is_time : 1; /**< a time is in it, or another word of 64 bits */
	bool
	    is_substituted; /**< a parameter of a macro or a call of one: it may do more than be read */
	bool is_value;	    /**< in a struct that bpftrace holds as a value */
	bool is_place;	    /**< in memory: the rest holds */
	/**
	 * Counted from the pointer that the first child is (x->m, p[i], *p), not from the place
	 * that it is (x.m, a[i]).
	 */
	bool via_pointer;
	bool by_address;	 /**< bpftrace cannot follow it: to be read by its address */
	unsigned char bit_size;	 /**< of a bitfield, else 0 */
	unsigned char bit_shift; /**< where it begins in what stands at the address */
	unsigned char
	    bit_bytes;	     /**< how much of that is to be read: 1, 2, 4 or 8; 0: byte by byte */
	bool is_shared;	     /**< of several nodes, and never changed */
	uint32_t n_elements; /**< of a tuple */
	struct expr **elements; /**< each may be NULL */
	uint64_t offset;	/**< of a member, bytes from there */
	uint64_t element_size;	/**< of an index: bytes of an element */
	struct ctype *in;	/**< of a member: the aggregate that lists it */
};

/** It may need more than the 32 bits that %d prints. */
static inline bool expr_is_wide(const struct expr *e)
{
	return e->bits > 32;
}

/** %u and %x of what may be negative, as ~n and a - b, print two's complement of 32 bits, as in C. */
static inline bool expr_prints_wide(const struct expr *e, char letter)
{
	bool may_be_negative = e->sign != SIGN_NONE && e->sign != SIGN_UNSIGNED;
	bool is_complement = may_be_negative && letter != 'd' && letter != 'i';
	return e->bits > (is_complement ? 34 : 32);
}

/** What evaluating @n again does. */
static inline enum effect expr_effect(const struct node *n)
{
	return n->expr ? n->expr->effect : EFFECT_CHANGES;
}

#endif
