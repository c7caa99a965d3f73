/**
 * What the files that make records share: record.c has the calls that print, field.c their values,
 * whole.c structs.
 */
#pragma once

#include "emit/emit_priv.h"
#include "lang/format.h"
#include "record/shape.h"

/** An argument of the printf(): a value of the script, or (NULL) generated words. */
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
 * @text, a part of a literal, with escapes and (in a format) %% decoded. False if it is left to bpftrace:
 * an escape that it may not know, a zero byte.
 */
bool printfield_literal(struct arena *a, struct str text, bool is_format, struct str *ret);
/** The conversion @c of @format, for a value that @e is known of. */
void printfield_convert(struct str format, const struct conversion *c, const struct expr *e,
			struct shape_field *f);
/** The field for print(@n); false where only bpftrace knows what that prints. */
bool printfield_print(struct printing *g, struct node *n, struct shape_field *f);
/** Adds the arguments for @n, by the letter of @f, and fills in @f. False: bpftrace has to print it. */
bool printfield_add(struct printing *g, struct node *n, struct shape_field *f);
/** Joins @n and @rest, printed as "%d.%03d", if they are x / 1000 and x % 1000: one number. */
void printfield_join(struct printing *g, struct node *n, struct shape_field *f, struct node *rest,
		     const struct shape_field *rest_f);

/** Adds a struct or array in memory of @size bytes: as many as fit are read from its address. */
void printstruct_add(struct printing *g, struct node *n, uint64_t size, struct shape_field *f);
