/**
 * mapuse - every place where a script names a map, and what is done with it there.
 *
 * A map belongs to the whole program: what one clause sets another reads. So what is wrong with one
 * is seen only in all its places together.
 *
 *	struct mapuses all;
 *	mapuse_find(b, &all);
 *	for (size_t i = 0; i < all.uses.n; i++)
 *		if (all.uses.v[i].is_set) ...
 */
#ifndef CHECK_MAPUSE_H
#define CHECK_MAPUSE_H

#include "bind/bind.h"

struct mapuse {
	struct str name; /**< without @ */
	const struct attach_clause *clause;
	size_t i;	   /**< the clause's number */
	struct node *node; /**< NODE_MAP, or a NODE_OPAQUE that names it */
	const struct node *parent;
	/** What happens here: several of them for `$x = @m++`, or a map that a macro is given. */
	bool is_read, is_set, is_cleared, is_deleted;
	bool is_whole;		  /**< all of the map: print(@m), delete(@m, key), a loop over it */
	bool is_opaque;		  /**< not understood: anything may happen */
	const struct node *value; /**< what is assigned to it, or NULL */
	const struct mapuse *next; /**< of the same map */
};

struct mapuses {
	VEC(struct mapuse) uses; /**< in the order of the script */
	/** Something of the program is not at hand or not understood: it may use any map. */
	bool is_open;
	/** Maps that another finding names as the ones that are meant: theirs may follow from it. */
	struct map meant;
};

void mapuse_find(struct bind *b, struct mapuses *ret);
/**
 * Is it a function of bpftrace's? A macro, or a function that is not known, may do anything with
 * what it is given.
 */
bool mapuse_is_known_call(struct bind *b, const struct node *call);
/** `@name`, for messages. */
const char *mapuse_text(struct bind *b, const struct mapuse *u);

/** Does a clause of this kind run once, when the trace begins or ends? */
bool mapuse_is_in(const struct mapuse *u, enum provider_when when);

#endif
