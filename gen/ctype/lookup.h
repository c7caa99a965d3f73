/**
 * lookup - types and enumerators by name, in everything that a run knows.
 *
 * A run has sources of types (ctype/source.h): the images of a process, kernel BTF. They are asked
 * in the order in which they were added; the first that has the name answers.
 *
 *	struct lookup lk;
 *	lookup_init(&lk, &arena, &diag);
 *	lookup_add(&lk, &images.source);
 *	struct ctype *t;
 *	if (!lookup_type(&lk, name, NAME_TYPES, &t))
 *		return lookup_report_unknown(&lk, NULL, "type", name, NAME_TYPES);
 */
#pragma once

#include "ctype/source.h"

struct lookup {
	struct arena *arena;
	struct diag *diag;
	VEC(struct type_source *) sources;
	struct type_source *first; /**< of these, asked before the others; NULL: none */
};

void lookup_init(struct lookup *lk, struct arena *a, struct diag *d);
/** Asks @s after those that were added before; it lives as long as @lk. */
void lookup_add(struct lookup *lk, struct type_source *s);

/**
 * The definition of @name ("struct x", "x", "ns::x") among @kinds (NAME_*). False, without a
 * message, when nobody has one.
 */
bool lookup_type(struct lookup *lk, struct str name, unsigned kinds, struct ctype **ret);
/** The enumerator @name (`NVMF_TGT_RUNNING`, `ns::E::A`): its value and its enum. */
bool lookup_enumerator(struct lookup *lk, struct str name, int64_t *value, struct ctype **of);
/** The known name that is nearest to @name; empty when none is near. */
struct str lookup_nearest(struct lookup *lk, struct str name, unsigned kinds);
/** Calls @fn for each named type among @kinds; false after an error: there is nothing that could have any. */
bool lookup_walk(struct lookup *lk, unsigned kinds, type_source_name_fn *fn, void *ctx);

/**
 * Reports why @name was not found: no debug information at all (which files, what to install), only
 * declared, a .dwo file that is missing, or simply unknown, with the nearest name. Returns false.
 * @what: "enum", "type".
 */
bool lookup_report_unknown(struct lookup *lk, const struct diag_place *at, const char *what,
			   struct str name, unsigned kinds);
