/**
 * difference - what changed between two builds of a program, as far as a tracer sees it.
 *
 * Probes that came and went, arguments that have another number, type or name, enumerators of the
 * types of arguments that have another value. Addresses, sites and source lines are expected to
 * change and are not looked at; what only one of the two knows (types, when the other is stripped)
 * is no difference.
 *
 *	struct difference df;
 *	difference_find(&df, &arena, old_images, new_images);
 *	for (size_t i = 0; i < df.changes.n; i++) ...
 */
#ifndef LOCK_DIFFERENCE_H
#define LOCK_DIFFERENCE_H

#include "bind/bind.h"
#include "probe/probeargs.h"

enum change_kind {
	CHANGE_PROBE_REMOVED,
	CHANGE_PROBE_ADDED,
	CHANGE_COUNT,	     /**< another number of arguments */
	CHANGE_TYPE,	     /**< of argument `arg`, or its size or sign */
	CHANGE_NAME,	     /**< of argument `arg` */
	CHANGE_ENUM_REMOVED, /**< an enumerator */
	CHANGE_ENUM_ADDED,
	CHANGE_ENUM_VALUE,
};

struct change {
	enum change_kind kind;
	struct str subject;	   /**< "provider:name", or "enum x" */
	unsigned arg;		   /**< N of argN */
	struct str was, is;	   /**< texts; empty when there is none */
	VEC(const char *) scripts; /**< those that rely on it */
};

struct difference {
	struct arena *arena;
	VEC(struct change) changes;
	struct str
	    untyped[2]; /**< a file of the old, the new build whose types are not known; or empty */
};

void difference_find(struct difference *ret, struct arena *a, struct targetfiles *before,
		     struct targetfiles *after);
/**
 * Notes for each change whether the script that was bound as @b (to the old build) relies on it: it
 * attaches to the probe, and uses the argument. Enumerators are compared by their use, see
 * cmd_diff.c. Returns how many it does.
 */
size_t difference_mark(struct difference *df, const struct bind *b, const char *script);

#endif
