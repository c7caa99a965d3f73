/**
 * dwquery - what is looked for by name in debug information, and what is found.
 */
#ifndef DWARF_DWQUERY_H
#define DWARF_DWQUERY_H

#include "ctype/namequery.h"
#include "dwarf/dwsrc.h"

struct dwquery {
	struct namequery name;
	bool no_decls; /**< definitions only; dwquery_parse() leaves it off */
	bool *
	    in_body; /**< dwfind() sets it when function bodies, too, may define the name; or NULL */
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
unsigned dwquery_kind_of_tag(int tag);
/** Scopes that hold types by name; function bodies are not among them. */
bool dwquery_is_scope(int tag);

/** "ns::Outer::name" of a hit. */
struct str dwhit_name(struct arena *a, const struct dwhit *hit);
void dwhit_add_name(struct strbuf *b, const struct dwhit *hit);
/**
 * Names of the scopes around @die, or around the declaration that it completes, found by walking
 * the unit.
 */
unsigned dwquery_outer_scopes(Dwarf_Die *die, struct str ret[DWSRC_MAX_DEPTH]);
/** "ns::Outer::name" of any DIE, found likewise. */
struct str dwquery_qualified_name(struct arena *a, Dwarf_Die *die);

#endif
