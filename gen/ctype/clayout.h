/**
 * clayout - the members of a struct as C can write them down: in order of place, without overlaps.
 *
 * Base classes are spread out into the struct (C++ reads p->x of a base without naming it). What C
 * has no words for becomes bytes or padding: a member that shares bytes with the next one, one of a
 * type that is only declared, a base's member hidden by one of the derived class. Each such case is
 * a remark.
 */
#pragma once

#include "ctype/ctype.h"

struct clayout_field {
	struct str name;     /**< as C and bpftrace can spell it; empty for an anonymous member */
	struct str own_name; /**< as in the program */
	struct ctype *type;
	uint64_t bit_off; /**< from the start of the struct */
	uint64_t bits;	  /**< size; 0 for an array without a length */
	bool is_bitfield;
	bool is_empty;	/**< a class without members; none is left in the end */
	bool is_bytes;	/**< to be written as bits / 8 bytes */
	unsigned level; /**< 0: own, 1: of a base, ... */
	size_t order;	/**< as it was met */
};

struct clayout {
	uint64_t size; /**< bytes */
	VEC(struct clayout_field) fields;
	VEC(struct str) remarks;
};

/** False when the type cannot be written: *@why is the reason. */
bool clayout_of(struct arena *a, struct ctype *t, bool for_bpftrace, struct clayout *ret,
		const char **why);
