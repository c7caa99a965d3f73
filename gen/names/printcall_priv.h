/**
 * printcall_priv - what the files of printcall share: printcall.c has the calls that print, and
 * printfield.c what becomes of their values, printstruct.c of whole structs.
 */
#ifndef NAMES_PRINTCALL_PRIV_H
#define NAMES_PRINTCALL_PRIV_H

#include "lang/format.h"
#include "names/printcall.h"
#include "record/shape.h"

/** What the program's clauses have in common. */
struct printer {
	struct bind *b;
	size_t clause;		   /**< its index */
	struct map variables;	   /**< of the program, with $ */
	struct map set;		   /**< those that the clause sets, */
	size_t n_variables;	   /**< and how many these are */
	struct str key;		   /**< the variable that has KEY */
	VEC(struct str) addresses; /**< variables that have those of structs */
	struct node *statement;	   /**< that is looked at */
	bool has_key;		   /**< it stands in front of that already */
};

/** A call that becomes a record. */
struct printing {
	struct printer *p;
	struct arena *arena;
	struct node *call;
	bool is_statement; /**< all of it: no part of an expression */
	struct shape shape;
	VEC(struct node *) numbers;
	VEC(struct node *) texts;
	VEC(struct node *) structs; /**< whose bytes are among the numbers */
};

/**
 * What @text, a part of a literal, prints: escapes, and of a format %%, decoded. False for what is
 * left to bpftrace: an escape that it may not know, a zero byte.
 */
bool printfield_literal(struct arena *a, struct str text, bool is_format, struct str *ret);
/** The conversion @c of @format, for a value that @e is known of. */
void printfield_convert(struct str format, const struct conversion *c, const struct expr *e,
			struct shape_field *f);
/** What @n is for print(); false where only bpftrace knows. */
bool printfield_print(struct printing *g, struct node *n, struct shape_field *f);
/** Adds what @n travels as, by the letter of @f, which gets all else. False: bpftrace is to print it. */
bool printfield_add(struct printing *g, struct node *n, struct shape_field *f);
/** With @rest, the next argument, behind a point: does it print one number, as x / 1000 and x % 1000? */
void printfield_join(struct printing *g, struct node *n, struct shape_field *f, struct node *rest,
		     const struct shape_field *rest_f);

/** A struct or array in memory of @size bytes: as many of these as fit are read from its address. */
void printstruct_add(struct printing *g, struct node *n, uint64_t size, struct shape_field *f);

#endif
