/**
 * namequery - the name of a type or an enumerator as a user writes it, taken apart for a search.
 *
 * A name is written as in the program: `nvmf_tgt_state`, `enum nvmf_tgt_state`, `ns::Outer::E`,
 * `vec<int>`; a keyword narrows the search to its kind. Blanks inside template arguments do not
 * matter, and scopes without a name (anonymous and inline namespaces, anonymous structs) need not
 * be written.
 *
 *	struct namequery q;
 *	if (namequery_parse(STR("enum ns::E"), NAME_TYPES, &q))
 *		// q.kinds is NAME_ENUM, q.parts "ns" and "E"
 */
#pragma once

#include "ctype/ctype.h"

/** What a name may stand for; a set of them is a mask. */
enum {
	NAME_STRUCT = 1, /**< and class */
	NAME_UNION = 2,
	NAME_ENUM = 4,
	NAME_TAGS = 7,
	NAME_TYPEDEF = 8,
	NAME_BASE = 16, /**< int, unsigned char ... */
	NAME_TYPES = 31,
	NAME_ENUMERATOR = 32,
};

enum { NAME_MAX_PARTS = 16 };

struct namequery {
	struct str text;		  /**< as it was asked */
	unsigned kinds;			  /**< a mask of NAME_* */
	struct str parts[NAME_MAX_PARTS]; /**< scopes, then the name */
	unsigned n_parts;
};

/** NAME_* of a struct, union or enum's tag; 0 for another type. */
unsigned namequery_tag(const struct ctype *t);
/** Takes @text apart for a search among @kinds; false when it is no name at all. */
bool namequery_parse(struct str text, unsigned kinds, struct namequery *ret);
/** @name is what @q asks for, whatever the scopes are. */
bool namequery_is_last(const struct namequery *q, struct str name);
/** @name inside @scopes, outermost first and an unnamed one empty, is what @q asks for; kinds are not looked at. */
bool namequery_fits(const struct namequery *q, struct str name, const struct str *scopes,
		    unsigned n_scopes);
