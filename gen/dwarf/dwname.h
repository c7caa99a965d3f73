/**
 * dwname - types by their names, as libdw reads them: what is looked for, what is found, and in
 * which scopes.
 *
 * DIEs do not know their parents. The first question of dwname_whole() about a unit lists the
 * places where its namespaces and classes begin and end; after that an answer is a binary search.
 */
#pragma once

#include "ctype/namequery.h"
#include "dwarf/dwsrc.h"

struct dwhit;
/** False on a hit stops the walk. */
typedef bool dwname_fn(void *ctx, const struct dwhit *hit);

struct dwquery {
	struct namequery name;
	bool no_decls; /**< definitions only; dwquery_parse() leaves it off */
	bool *
	    in_body; /**< dwfind() sets it when function bodies, too, may define the name; or NULL */
	/** Would a definition change nothing? Asked of what looks like one; NULL: each may. */
	dwname_fn *is_known;
};

struct dwhit {
	Dwarf_Die die;
	Dwarf_Die owner;	  /**< of an enumerator: its enum */
	unsigned kind;		  /**< one of NAME_* */
	bool is_decl;		  /**< a declaration, not the definition */
	const struct str *scopes; /**< names of the scopes around it; an unnamed one is empty */
	unsigned n_scopes;
	struct str name;
};

/**
 * Cuts @text (a keyword and scopes are optional) for a search among @kinds; false when it is no
 * name at all.
 */
bool dwquery_parse(struct str text, unsigned kinds, struct dwquery *ret);
/**
 * The hit has the name and the scopes that @q asks for, and is no declaration if none are wanted;
 * its kind is not looked at.
 */
bool dwquery_fits(const struct dwquery *q, const struct dwhit *hit);
/** One of NAME_*, or 0 for a DIE that is no type. */
unsigned dwname_kind_of_tag(int tag);
/** Scopes that hold types by name; function bodies are not among them. */
bool dwname_is_scope(int tag);

/** "ns::Outer::name" of a hit. */
struct str dwhit_name(struct arena *a, const struct dwhit *hit);
void dwhit_add_name(struct strbuf *b, const struct dwhit *hit);
/** A copy in @a of the names of @hit's scopes, which are lent. */
const struct str *dwhit_copy_scopes(struct arena *a, const struct dwhit *hit);
/** ns::Outer::name of @die, or of the declaration that it completes; in C the name. Empty: it has none. */
struct str dwname_whole(struct dwsrc *src, Dwarf_Die die);

/** Calls @fn for each named type, and enumerator when @kinds has it, of the image. */
void dwname_walk(struct dwsrc *src, unsigned kinds, dwname_fn *fn, void *ctx);
/** The same for one unit, given its top DIE, or @only for DIEs around these; false when @fn stopped it. */
bool dwname_walk_unit(struct dwsrc *src, Dwarf_Die *unit, const struct dwplaces *only,
		      unsigned kinds, dwname_fn *fn, void *ctx);

/** Lets through what @q asks for: dwname_walk(src, kinds, dwname_filter, &filter). */
struct dwname_filter {
	const struct dwquery *q;
	dwname_fn *fn;
	void *ctx;
	size_t n_passed;
};
bool dwname_filter(void *ctx, const struct dwhit *hit);
