/**
 * dwfind - finds types and enumerators by name in the debug information of an image.
 *
 * A name is written as in the program: `nvmf_tgt_state`, `enum nvmf_tgt_state`, `ns::Outer::E`, `vec<int>`; with
 * a keyword only that kind is found. Names are looked up at the top of each unit and inside namespaces, structs and
 * classes, never in function bodies. Blanks inside template arguments do not matter.
 *
 *	struct dwquery q;
 *	if (dwquery_parse(name, DWFIND_TYPES, &q))
 *		dwfind(src, &q, each_hit, ctx);
 */
#ifndef TYPES_DWFIND_H
#define TYPES_DWFIND_H

#include "types/dwsrc.h"

enum {
	DWFIND_STRUCT = 1, /**< and class */
	DWFIND_UNION = 2,
	DWFIND_ENUM = 4,
	DWFIND_TYPEDEF = 8,
	DWFIND_BASE = 16,
	DWFIND_TYPES = 31,
	DWFIND_ENUMERATOR = 32,
};

enum { DWFIND_MAX_PARTS = 16 };

struct dwquery {
	struct str text; /**< as it was asked */
	unsigned kinds;
	struct str parts[DWFIND_MAX_PARTS]; /**< scopes, then the name */
	unsigned n_parts;
};

struct dwhit {
	Dwarf_Die die;
	Dwarf_Die owner;	  /**< of an enumerator: its enum */
	unsigned kind;		  /**< one of DWFIND_* */
	bool is_decl;		  /**< a declaration, not the definition */
	const struct str *scopes; /**< names of the scopes around it; an unnamed one is empty */
	unsigned n_scopes;
	struct str name;
};

/** False on a hit stops the walk. */
typedef bool dwfind_fn(void *ctx, const struct dwhit *hit);

/** Cuts @text (a keyword and scopes are optional) for a search among @kinds; false when it is no name at all. */
bool dwquery_parse(struct str text, unsigned kinds, struct dwquery *ret);
/**
 * Calls @fn for each DIE that fits, declarations included, in the order of the file. The first questions are
 * answered by a walk; when more come, an index of all names is made.
 */
void dwfind(struct dwsrc *src, const struct dwquery *q, dwfind_fn *fn, void *ctx);
/** Calls @fn for each named type, and enumerator when @kinds has it, of the image. */
void dwfind_walk(struct dwsrc *src, unsigned kinds, dwfind_fn *fn, void *ctx);
/** The name in the image that is nearest to what @q asks for, with its scopes; empty when none is near. */
struct str dwfind_nearest(struct dwsrc *src, const struct dwquery *q);

/** "ns::Outer::name" of a hit. */
struct str dwhit_name(struct arena *a, const struct dwhit *hit);
/** The same for any DIE, found by walking its unit. */
struct str dwfind_qualified_name(struct arena *a, Dwarf_Die *die);

#endif
