/**
 * What the parts of a record's making share: record.c has the calls that print, field.c what becomes
 * of their values, aggregate.c whole structs.
 */
#ifndef EMIT_RECORD_PRIV_H
#define EMIT_RECORD_PRIV_H

#include "emit/emit_priv.h"
#include "lang/format.h"
#include "record/shape.h"

/** What travels: a value of the script, or (NULL) words of ours. */
struct passed {
	const struct node *node;
	struct str words;
};

/** A call that becomes a record. */
struct printing {
	struct emitter *e;
	struct arena *arena;
	const struct node *call;
	struct shape shape;
	VEC(struct passed) numbers;
	VEC(struct passed) texts;
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
