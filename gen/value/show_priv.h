/**
 * show_priv - what the files of show.h share: showtype.c, which walks over memory by its type, and show.c, which
 * knows what of a value has travelled.
 */
#pragma once

#include "value/show.h"

/** Bytes of memory, and where what they mean is written to: text, or JSON where @j is not NULL. */
struct walk {
	const struct render *how;
	enum value_style style;
	const struct value *value; // that is shown: it, or something in it
	struct str bytes;
	uint64_t addr;	 // where they are in the program
	struct str text; // of the std::string that they are, where it has travelled
	struct strbuf *out;
	struct json *j;
	bool needs_comma; // of text
	unsigned depth;
	unsigned left; // values that may still be shown
};

/** What is at @p: one of the values that @w may still show, and after it a comma is needed. */
void showtype_at(struct walk *w, const struct ctype_place *p);
/** The same, whose type has no typedefs, and of which nothing is counted. */
void showtype_value(struct walk *w, const struct ctype_place *p);
/** Something that cannot be read. */
void showtype_missing(struct walk *w);
/** A text; @is_cut: there is more of it. */
void showtype_string(struct walk *w, struct str s, bool is_cut);
/** A function's name, or of an address in a key a variable's; empty: none is known. @room: of what is made for it, or NULL. */
struct str showtype_name(const struct walk *w, const struct ctype *t, uint64_t v,
			 struct strbuf *room);
