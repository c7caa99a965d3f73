/**
 * closure - which types must be defined so that some can be used, in which order, under which tags.
 *
 * A struct needs everything it embeds by value, defined before it. What it points to is needed only
 * where somebody follows the pointer: the caller's follow() decides; other pointers are printed as
 * void *. Each definition gets a tag of its own: the program's, respelled where C cannot take it,
 * renamed where the kernel has one of that name. The same struct met in several units is one
 * definition; a different one of the same name gets a number.
 *
 *	struct closure c;
 *	closure_init(&c, &arena, &diag, &options);
 *	struct str tag;
 *	if (closure_add(&c, type, name, &tag))	// "struct <tag>" can be used
 *		cprint_definitions(&b, &c, false);
 */
#pragma once

#include "base/diag.h"
#include "ctype/ctype.h"

/** What the tag of a type begins with when its own belongs to somebody else. */
#define CLOSURE_PREFIX "user_"

struct closure_options {
	/** The pointer (or array of pointers) @m of @owner is dereferenced; NULL: none is. */
	bool (*follow)(void *ctx, struct ctype *owner, const struct ctype_member *m);
	/** The tag belongs to somebody else (as the kernel) and must not be used; NULL: none does. */
	bool (*is_taken)(void *ctx, struct str tag);
	void *ctx;
	bool for_bpftrace; /**< spelling that every bpftrace accepts; enums are plain integers */
};

enum closure_state { CLOSURE_OPEN, CLOSURE_DONE, CLOSURE_FAILED };

struct cdef {
	struct ctype *type;
	struct str tag;	 /**< as it is printed, after struct, union or enum */
	struct str name; /**< as in the program */
	enum closure_state state;
};

struct closure {
	struct arena *arena;
	struct diag *diag;
	struct closure_options opt;
	VEC(struct cdef *) defs;  /**< complete ones, in the order in which they must be printed */
	struct map by_place;	  /**< address of a ctype -> struct cdef */
	struct map by_tag;	  /**< tag -> struct cdef */
	VEC(struct cdef *) queue; /**< reached through pointers, not yet defined */
	struct map enumerators;	  /**< names that printed enums have defined */
	unsigned depth;
	unsigned n_looked_at; /**< structs and unions whose members were */
};

void closure_init(struct closure *c, struct arena *a, struct diag *d,
		  const struct closure_options *opt);
/**
 * Adds @t (typedefs looked through; @name names it when it has no tag) and all it needs; *@tag is
 * what to write after the keyword. False, with an error, when it is not a struct, union or enum,
 * only declared, corrupt, or cannot be laid out.
 */
bool closure_add(struct closure *c, struct ctype *t, struct str name, struct str *tag);
/**
 * Nobody else gets @tag from here on: C has one list of tags for structs, unions and enums. False
 * when a type has it already.
 */
bool closure_reserve(struct closure *c, struct str tag);
/** The definition of @t if the closure has it or is about to, else NULL. */
struct cdef *closure_get(const struct closure *c, const struct ctype *t);
